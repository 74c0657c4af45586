import Foundation
import Testing

@testable import WakeDevices

@Suite("Trees as YAML")
struct YAMLWriterTests {
    /// Numbers that look random and are the same each time.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 16 ^ state << 20
        }
    }

    private func read(_ text: String) throws(FileError) -> YAMLNode {
        try YAMLReader.read(Array(text.utf8), file: "x.yaml")
    }

    private func expectSame(_ node: YAMLNode, _ comment: Comment? = nil) throws {
        let text = YAMLWriter.text(node)
        let again = try read(text)
        #expect(again.saysTheSame(as: node), "\(text)")
        #expect(YAMLWriter.text(again) == text, comment)
    }

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "Devices")

    @Test("Each shipped device and scenario is read as the same tree when it was written anew")
    func shipped() throws {
        let files = FileManager.default.enumerator(at: Self.folder, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "yaml" }
        for file in try #require(files) {
            let node = try YAMLReader.read(try InputFile.read(file.path), file: file.path)
            try expectSame(node, "\(file.lastPathComponent)")
        }
    }

    private static let letters = Array(
        "ab0 -:#,[]{}&*!|>'\"%@`?~=/\\\n\t\u{7f}\u{85}\u{e9}\u{2028}\u{feff}\u{1f600}\u{0}"
    )

    private func text(_ numbers: inout Numbers, most: Int = 8) -> String {
        String(
            (0..<Int.random(in: 0...most, using: &numbers)).map { _ in Self.letters.randomElement(using: &numbers)! }
        )
    }

    /// A scalar; plain when the text is one that a reader takes as plain.
    private func scalar(_ numbers: inout Numbers) -> YAMLNode {
        let text = text(&numbers)
        if let entry = try? read("k: \(text)").entries.first, case .scalar(_, false) = entry.value.content {
            return entry.value
        }
        return .scalar(text, quoted: true)
    }

    private func node(_ numbers: inout Numbers, depth: Int) -> YAMLNode {
        switch Int.random(in: 0..<(depth > 4 ? 1 : 3), using: &numbers) {
        case 0: return scalar(&numbers)
        case 1:
            return .sequence((0..<Int.random(in: 0...4, using: &numbers)).map { _ in node(&numbers, depth: depth + 1) })
        default:
            var mapping = YAMLNode.mapping([:])
            for _ in 0..<Int.random(in: 0...4, using: &numbers) {
                mapping = mapping.setting(text(&numbers, most: 4), to: node(&numbers, depth: depth + 1))
            }
            return mapping
        }
    }

    @Test("Any tree is read as it was written, whatever its texts hold", arguments: 0..<400 as Range<UInt64>)
    func any(seed: UInt64) throws {
        var numbers = Numbers(state: seed)
        let root = YAMLNode.mapping(["root": node(&numbers, depth: 0), "more": node(&numbers, depth: 2)])
        try expectSame(root, "seed \(seed)")
    }

    @Test("A key of any length, and a plain text of several lines, come back")
    func long() throws {
        try expectSame(.mapping(["k": .mapping([:]).setting(String(repeating: "k:", count: 900), to: .scalar("v"))]))
        try expectSame(try read("k: one\n\n two\n\n\n three\nl:\n  - a\n\n    b\n"))
    }

    @Test("Nothing, a text of that word, and what a merge key took over come back")
    func nothing() throws {
        try expectSame(try read("a: null\nb: [~, 'null', {c: ~}]\nnull: !!str ~\n"))
        try expectSame(try read("d: &d {e: null}\nf: {<<: *d, '<<': 1}\n"))
    }

    @Test("What is short stands on a line, under the lines that say where it is from")
    func looks() throws {
        let text = "scenario: x\nsteps:\n  - {at: 3s, home: [a, b.1-3]}\n  - {at: 4s, notify: b, value: \"00ff\"}\n"
        #expect(YAMLWriter.text(try read(text), comments: ["from\nhere"]) == "# from here\n" + text)
    }
}
