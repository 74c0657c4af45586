import Foundation
import Testing

import WakeModel
@testable import WakeWire

@Suite("WIRE.md")
struct WireDocumentTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .appending(path: "../../Sources/Core/WakeWire")
        .standardizedFileURL

    /// The files of the areas.
    private static func areas() throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "Areas").path)
        return names.filter { $0.hasSuffix(".swift") }.map { "Areas/\($0)" }
    }

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    /// The example packets under the heading, up to the next one: the lines of its blocks of JSON.
    private static func examples(under heading: String) throws -> [String] {
        let sections = try text("WIRE.md").components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix(heading) }, "no heading '\(heading)'")
        return section.components(separatedBy: "\n```json\n").dropFirst().flatMap { block in
            (block.components(separatedBy: "\n```\n").first ?? "").split(separator: "\n").map(String.init)
        }
    }

    /// The words in quotes that the pattern's group finds in the files.
    private static func words(_ pattern: String, in files: [String]) throws -> Set<String> {
        let expression = try NSRegularExpression(pattern: pattern)
        var found: Set<String> = []
        for file in files {
            let source = try text(file)
            for match in expression.matches(in: source, range: NSRange(source.startIndex..., in: source)) {
                found.insert(String(source[try #require(Range(match.range(at: 1), in: source))]))
            }
        }
        return found
    }

    /// The names of an enum's cases, as one of the files declares them.
    private static func cases(of name: String, in files: [String]) throws -> [String] {
        let sources = try files.map { try text($0) }
        let declarations = sources.compactMap { $0.components(separatedBy: "package enum \(name): ").dropFirst().first }
        let body = try #require(declarations.first?.components(separatedBy: "\n}").first, "no enum \(name)")
        return body.split(separator: "\n").filter { $0.hasPrefix("    case ") }.map { line in
            String(line.dropFirst(9).prefix { $0.isLetter || $0.isNumber })
        }
    }

    @Test("Each block of examples is closed before the next one, and has nothing but packets")
    func blocks() throws {
        let fences = try Self.text("WIRE.md").split(separator: "\n").filter { $0.hasPrefix("```") }
        for (place, fence) in fences.enumerated() { #expect(fence == (place % 2 == 0 ? "```json" : "```")) }
        #expect(fences.count % 2 == 0)
        for heading in ["From the app to the bench", "From the bench to the app"] {
            for example in try Self.examples(under: heading) {
                #expect(example.hasPrefix("{") || example.hasPrefix("["), "\(example)")
            }
        }
    }

    @Test("Every example of an app's packet is a message that survives being written again")
    func appExamples() throws {
        let examples = try Self.examples(under: "From the app to the bench")
        #expect(examples.count >= 25)
        for example in examples {
            let message = try AppMessage(decoding: Array(example.utf8))
            #expect(String(decoding: message.encode(), as: UTF8.self) == example)
        }
    }

    @Test("Every example of the bench's packets is a message that survives being written again")
    func benchExamples() throws {
        let examples = try Self.examples(under: "From the bench to the app")
        #expect(examples.count >= 30)
        #expect(examples.contains { $0.hasPrefix("[") })
        var reader = BenchPacketReader()
        for example in examples {
            let messages = try reader.messages(in: Array(example.utf8))
            #expect(messages.count > 1 || !example.hasPrefix("["))
            for message in messages {
                #expect(try BenchMessage(decoding: message.encode()) == message, "\(example)")
            }
        }
    }

    @Test("Every type, kind and callback that the wire reads has an example")
    func everyWordHasAnExample() throws {
        #expect(AppMessage.byWord.count >= 98)
        let appExamples = try Self.examples(under: "From the app to the bench").joined()
        for word in AppMessage.byWord.keys {
            #expect(appExamples.contains("\"type\":\"\(word)\""), "no example of '\(word)'")
        }
        let benchExamples = try Self.examples(under: "From the bench to the app").joined()
        for (key, words) in [
            ("type", Array(BenchMessage.byWord.keys)), ("kind", Array(WireDeliveryBody.byWord.keys)),
            ("name", Array(WireCallback.byWord.keys)),
        ] {
            for word in words {
                #expect(benchExamples.contains("\"\(key)\":\"\(word)\""), "no example of '\(word)'")
            }
        }
    }

    @Test("Every type, kind and callback that the wire writes is one that it reads")
    func everyWordIsRead() throws {
        let areas = try Self.areas()
        let files = ["AppMessage.swift", "BenchMessage.swift"] + areas
        var written = try Self.words(#"case \.[a-zA-Z0-9]+: "([a-zA-Z0-9.]+)""#, in: files)
        for name in ["BenchMessage", "WireCallback"] { written.formUnion(try Self.cases(of: name, in: files)) }
        for file in areas {
            let message = /extension (\w+): AreaMessage \{\n    static let area = "(\w+)"/
            for found in try Self.text(file).matches(of: message) {
                let cases = try Self.cases(of: String(found.output.1), in: files)
                written.formUnion(cases.map { "\(found.output.2).\($0)" })
            }
        }
        let read = Set(AppMessage.byWord.keys).union(BenchMessage.byWord.keys).union(WireDeliveryBody.byWord.keys)
            .union(WireCallback.byWord.keys)
        #expect(written == read)
    }

    @Test("The document names every state, every property and the bounds")
    func namesClosedLists() throws {
        let document = try Self.text("WIRE.md")
        let words =
            WireAppState.allCases.map(\.rawValue) + WireRadioState.allCases.map(\.rawValue)
            + WireLinkState.allCases.map(\.rawValue) + WireWords.properties.map(\.word)
            + WireWords.permissions.map(\.word)
            + WireAuthorization.allCases.map(\.rawValue) + RegionState.allCases.map(\.word)
            + Proximity.allCases.map(\.word) + AudioCategory.allCases.map(\.word)
            + MicrophonePermission.allCases.map(\.word) + AudioPortKind.allCases.map(\.word)
        for word in words + [
            WireLimits.socketVariable, "Version \(WireLimits.version)", "\(WireLimits.valueBytes)",
            "array of 1 to \(WireLimits.messages) such objects",
            "\(WireLimits.regionIdentifierBytes)", "\(WireLimits.listed)",
            "A text has at most \(WireLimits.signpostTextBytes) bytes",
        ] {
            #expect(document.contains(word), "no '\(word)'")
        }
    }
}
