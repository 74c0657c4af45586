import Foundation
import Testing

@Suite("README.md")
struct ReadmeTests {
    /// Runs of these take minutes, or a virtual machine: Scripts/test runs them.
    private static let heavy = ["Scripts/demo", "Scripts/test"]
    private static let bundles = ["HeartRate", "Messenger"]

    /// A fenced block: the words after its fence, and its lines.
    private struct Block {
        var kind: String
        var lines: [String] = []
    }

    private static func text() throws -> String {
        try String(contentsOf: Program.repository.appending(path: "README.md"), encoding: .utf8)
    }

    /// All blocks, or those of one section.
    private static func blocks(of section: String? = nil) throws -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        var heading: Substring?
        for line in try text().split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            guard line.hasPrefix("```") else {
                if open == nil, line.hasPrefix("## ") { heading = line.dropFirst(3) }
                open?.lines.append(line)
                continue
            }
            if let block = open {
                if section == nil || heading.map(String.init) == section { blocks.append(block) }
                open = nil
            } else {
                open = Block(kind: String(line.dropFirst(3)))
            }
        }
        #expect(open == nil, "a fence is not closed")
        return blocks
    }

    private static let built = bundles.allSatisfy { name in
        FileManager.default.isExecutableFile(atPath: Program.repository.appending(path: ".build/debug/\(name)").path)
    }

    /// A folder with what of a clone the commands need, and the files that the blocks say.
    private static func folder(for blocks: [Block]) throws -> Program {
        let program = try Program()
        for name in ["Devices", "Scripts", "Sources"] {
            let link = program.folder.appending(path: name)
            let target = Program.repository.appending(path: name)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        }
        let debug = Program.repository.appending(path: ".build/debug")
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

    /// What the commands of these blocks print, each of which must end well.
    ///
    /// - Parameter kinds: of the blocks; others say what takes hardware, or minutes.
    private static func output(
        of blocks: [Block],
        _ kinds: Set<String> = ["sh"],
        in program: Program,
        after first: [String]
    ) throws -> String {
        let commands = blocks.filter { kinds.contains($0.kind) }.flatMap(\.lines).filter { line in
            !heavy.contains { line.hasPrefix($0) }
        }
        #expect(commands.count > 3)
        let script = (["set -e"] + first + commands.map { "echo \"$ \"'\($0)'; \($0)" }).joined(separator: "\n")
        let outcome = try program.run("/bin/bash", ["-c", script], limit: 1_200)
        #expect(outcome.code == 0, "\(outcome.output.suffix(2_000))\n\(outcome.errors)")
        return outcome.output
    }

    @Test("Each command of README.md does what it says", .enabled(if: built, "needs the example apps: swift build"))
    func commands() throws {
        let blocks = try Self.blocks()
        let program = try Self.folder(for: blocks)
        defer { program.clean() }
        // The bundles come before the first run that wants one.
        let output = try Self.output(of: blocks, in: program, after: Self.bundles.map { "Scripts/bundle \($0)" })
        #expect(output.contains("because  RelaunchedAfterForceQuit"))
        #expect(output.contains("equal verdicts: wakebench-runs/first and wakebench-runs/second"))
    }

    @Test(
        "Who begins with one section needs nothing of the others, and sees what it shows",
        .enabled(if: built, "needs the example apps: swift build"),
        arguments: ["Your accessory", "Your rack", "Your app"]
    )
    func beginning(section: String) throws {
        let table = try Self.text().split(separator: "\n").filter { $0.hasPrefix("| ") }
        #expect(table.contains { $0.contains("[\(section)](#\(section.lowercased().replacing(" ", with: "-")))") })
        let blocks = try Self.blocks(of: section)
        let program = try Self.folder(for: blocks)
        defer { program.clean() }
        // Whoever writes an app builds it, which no other section takes; what packages of other tests have built is not built again.
        let first = [
            #"export PATH="$PWD/.build/debug:$PATH""#,
            #"export SWIFTPM_BUILD_DIR="\#(Program.outside)"; mkdir -p "$SWIFTPM_BUILD_DIR""#,
            #"swift() { [ -e .build ] || ln -s "$SWIFTPM_BUILD_DIR" .build; command swift "$@"; }"#,
        ]
        let output = try Self.output(of: blocks, ["sh", "sh swift"], in: program, after: first)
        let lines = Set(output.split(separator: "\n"))
        for shown in blocks.filter({ $0.kind == "text" }).flatMap(\.lines) {
            #expect(lines.contains(Substring(shown)), "README.md shows what no command prints: \(shown)")
        }
    }

    @Test("The heavy commands of README.md exist, and Scripts/test runs them")
    func heavyCommands() throws {
        let steps = Program.repository.appending(path: "Scripts/test.d/steps.py")
        let table = try String(contentsOf: steps, encoding: .utf8)
        let scripts = ["Scripts/lab", "Scripts/lab.d/job", "Scripts/lab.d/clocks", "Scripts/bench", "Scripts/bundle"]
        for name in Self.heavy + scripts {
            let path = Program.repository.appending(path: name).path
            #expect(FileManager.default.isExecutableFile(atPath: path), "\(name)")
        }
        for name in ["Scripts/demo", "Scripts/lab build", "Scripts/lab.d/job {name}", "Scripts/lab.d/clocks"] {
            #expect(table.contains("\"\(name)\""), "\(name)")
        }
    }

    @Test("The exit codes in README.md are those of the program")
    func exitCodes() throws {
        let program = try Program()
        defer { program.clean() }
        let codes = try program.run("exit-codes").output
        #expect(try Self.text().contains(codes.replacing("\t", with: "  ")))
    }

    @Test("Each link of README.md leads somewhere")
    func links() throws {
        let text = try Self.text()
        let links = text.matches(of: /\]\(([^)#]+)\)/).map { String($0.1) }
        #expect(links.count > 10)
        for link in links where !link.hasPrefix("http") {
            let path = Program.repository.appending(path: link).path
            #expect(FileManager.default.fileExists(atPath: path), "README.md links to \(link)")
        }
    }
}
