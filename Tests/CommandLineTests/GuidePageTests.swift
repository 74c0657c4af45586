import Foundation
import Testing

/// README.md, the pages of the guide, and those of other folders: their commands are run, and their links lead somewhere.
@Suite("The guide")
struct GuidePageTests {
    /// Runs of these take minutes, or a virtual machine: Scripts/test runs them.
    private static let heavy = ["Scripts/demo", "Scripts/test"]
    private static let bundles = ["HeartRate", "Messenger"]
    private static let catalogue = "Sources/CommandLine/wakebench/wakebench.docc/"
    private static let guide = files(in: catalogue).filter { $0.hasSuffix(".md") }.map { catalogue + $0 }

    /// Those with commands that are run here.
    private static let pages = ["README.md"] + guide.filter { (try? text($0))?.contains("\n```sh\n") ?? false }

    /// Those whose links are followed.
    private static let linking =
        ["README.md", "Devices/README.md", "Scripts/README.md", "Sources/README.md"]
        + files(in: "Scripts").map { "Scripts/\($0)/README.md" }.filter { exists($0) } + guide
        + files(in: "Sources/SDK/UIKit/UIKit.docc").map { "Sources/SDK/UIKit/UIKit.docc/\($0)" }

    /// A fenced block: the words after its fence, and its lines.
    private struct Block {
        var kind: String
        var lines: [String] = []
    }

    private static func place(_ path: String) -> URL { Program.repository.appending(path: path) }

    private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: place(path).path) }

    private static func files(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: place(folder).path)) ?? []).sorted()
    }

    private static func text(_ page: String) throws -> String { try String(contentsOf: place(page), encoding: .utf8) }

    private static func blocks(of page: String) throws -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        for line in try text(page).split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            guard line.hasPrefix("```") else {
                open?.lines.append(line)
                continue
            }
            if let block = open {
                blocks.append(block)
                open = nil
            } else {
                open = Block(kind: String(line.dropFirst(3)))
            }
        }
        #expect(open == nil, "\(page): a fence is not closed")
        return blocks
    }

    private static let built = bundles.allSatisfy { name in
        FileManager.default.isExecutableFile(atPath: place(".build/debug/\(name)").path)
    }

    /// A folder with what of a clone the commands need, and the files that the blocks say.
    private static func folder(for blocks: [Block]) throws -> Program {
        let program = try Program()
        for name in ["Devices", "Scripts", "Sources"] {
            let link = program.folder.appending(path: name)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place(name))
        }
        let debug = place(".build/debug")
        let build = program.folder.appending(path: ".build/debug")
        try FileManager.default.createDirectory(at: build, withIntermediateDirectories: true)
        // The program that is tested, with what lies beside it.
        let tested = URL(filePath: Program.path).deletingLastPathComponent()
        for name in try FileManager.default.contentsOfDirectory(atPath: debug.path) {
            let isTested = ["wakebench", "libWakebenchTime.so", "WakebenchTransfers"].contains(name)
            try FileManager.default.createSymbolicLink(
                at: build.appending(path: name),
                withDestinationURL: (isTested ? tested : debug).appending(path: name)
            )
        }
        for block in blocks where block.kind.hasPrefix("yaml ") {
            try program.write(String(block.kind.dropFirst(5)), block.lines.joined(separator: "\n") + "\n")
        }
        return program
    }

    /// What comes before a page's own commands: README.md has the path and the build. What packages of other tests have built is not
    /// built again.
    private static let before =
        [
            #"export PATH="$PWD/.build/debug:$PATH""#,
            #"export SWIFTPM_BUILD_DIR="\#(Program.outside)"; mkdir -p "$SWIFTPM_BUILD_DIR""#,
            #"swift() { [ -e .build ] || ln -s "$SWIFTPM_BUILD_DIR" .build; command swift "$@"; }"#,
        ] + bundles.map { "Scripts/bundle \($0)" }

    @Test(
        "A page needs nothing of the others: its commands end well, and print what it shows",
        .enabled(if: built, "needs the example apps: swift build"),
        arguments: pages
    )
    func commands(page: String) throws {
        let blocks = try Self.blocks(of: page)
        let program = try Self.folder(for: blocks)
        defer { program.clean() }
        let commands = blocks.filter { ["sh", "sh swift"].contains($0.kind) }.flatMap(\.lines).filter { line in
            !Self.heavy.contains { line.hasPrefix($0) }
        }
        #expect(!commands.isEmpty)
        let said = commands.map { "echo \"$ \"'\($0)'; \($0)" }
        let script = (["set -e"] + Self.before + said).joined(separator: "\n")
        let outcome = try program.run("/bin/bash", ["-c", script], limit: 1_200)
        #expect(outcome.code == 0, "\(outcome.output.suffix(2_000))\n\(outcome.errors)")
        // What README.md shows is the demo's.
        guard page != "README.md" else { return }
        let lines = Set(outcome.output.replacing("\t", with: "  ").split(separator: "\n").map(String.init))
        for shown in blocks.filter({ $0.kind == "text" }).flatMap(\.lines) {
            #expect(lines.contains(shown), "\(page) shows what no command prints: \(shown)")
        }
    }

    @Test("README.md is short, and leads to each page of the guide")
    func front() throws {
        let text = try Self.text("README.md")
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
        #expect(Self.guide.count > 8)
        for page in Self.guide where !page.hasSuffix("/wakebench.md") {
            #expect(text.contains("](\(page))"), "\(page)")
        }
    }

    @Test("The heavy commands of README.md exist, and Scripts/test runs them")
    func heavyCommands() throws {
        let table = try Self.text("Scripts/test.d/steps.py")
        let scripts = ["Scripts/lab", "Scripts/lab.d/job", "Scripts/lab.d/clocks", "Scripts/bench", "Scripts/bundle"]
        for name in Self.heavy + scripts {
            #expect(FileManager.default.isExecutableFile(atPath: Self.place(name).path), "\(name)")
        }
        for name in ["Scripts/demo", "Scripts/lab build", "Scripts/lab.d/job {name}", "Scripts/lab.d/clocks"] {
            #expect(table.contains("\"\(name)\""), "\(name)")
        }
    }

    @Test("The scripts that Scripts/README.md names are there")
    func scripts() throws {
        let named = Set(try Self.text("Scripts/README.md").matches(of: /`(Scripts\/[\w.\/]+)/).map { String($0.1) })
        #expect(named.count > 8)
        for name in named { #expect(Self.exists(name), "\(name)") }
    }

    @Test("The exit codes in the guide are those of the program")
    func exitCodes() throws {
        let program = try Program()
        defer { program.clean() }
        let codes = try program.run("exit-codes").output
        #expect(try Self.text(Self.catalogue + "ExitCodes.md").contains(codes.replacing("\t", with: "  ")))
    }

    @Test("Each link of a page leads to a file, and to a heading of it", arguments: linking)
    func links(page: String) throws {
        let folder = Self.place(page).deletingLastPathComponent()
        for link in try Self.text(page).matches(of: /\]\(([^)#\s]*)(?:#([^)\s]+))?\)/) where !link.1.hasPrefix("http") {
            let target = link.1.isEmpty ? Self.place(page) : folder.appending(path: String(link.1))
            #expect(FileManager.default.fileExists(atPath: target.path), "\(page) links to \(link.1)")
            guard let anchor = link.2 else { continue }
            let headings = try String(contentsOf: target, encoding: .utf8).matches(of: /(?m)^#+ (.+)$/).map { heading in
                heading.1.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                    .replacing(" ", with: "-")
            }
            #expect(headings.contains(String(anchor)), "\(page) links to \(link.1)#\(anchor)")
        }
    }
}
