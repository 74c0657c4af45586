import ChildProcess
import Foundation
import Testing

@Suite("A full disk", .serialized)
struct FullJournalTests {
    /// Whether a small disk can be mounted here.
    private static let canMount: Bool = {
        guard geteuid() == 0 else { return false }
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-mount-\(UUID())").path
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return call(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]) && call(["umount", folder])
    }()

    private static func call(_ words: [String]) -> Bool {
        let process = ChildProcess("/usr/bin/env", words)
        process.standardError = .null
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test(
        "A run whose journal finds no space ends with code 12 and the file's name, and goes on once there is space",
        .enabled(if: BenchProgram.python, "/usr/bin/python3 is missing"),
        .enabled(if: canMount, "needs root and the right to mount a tmpfs")
    )
    func fullDisk() throws {
        let program = try BenchProgram()
        try Story.virtual.prepare(in: program)
        let out = program.folder.appending(path: "out").path
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        #expect(Self.call(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", out]))
        defer { _ = Self.call(["umount", out]) }
        // Only the journal lies on the small disk.
        let elsewhere = ["decisions.ndjson", "outcomes.ndjson", "junit.xml", "report.html", "trace.json"]
        for name in elsewhere {
            for file in ["\(out)/\(name)", program.folder.appending(path: name).path] {
                _ = FileManager.default.createFile(atPath: file, contents: nil)
            }
            #expect(Self.call(["mount", "--bind", program.folder.appending(path: name).path, "\(out)/\(name)"]))
        }
        defer { for name in elsewhere { _ = Self.call(["umount", "\(out)/\(name)"]) } }
        let arguments = ["run", "scenario.yaml", "--apps", "apps", "--out", "out", "-q"]
        let first = try program.run(arguments)
        #expect(first.code == 12)
        #expect(first.errors.contains("out/journal.sqlite: no space left"), "\(first.errors)")
        #expect(program.waitForTheDead().isEmpty)

        #expect(Self.call(["mount", "-o", "remount,size=64m", out]))
        let second = try program.run(arguments)
        #expect(second.code == 0, "\(second.errors)")
        #expect(program.waitForTheDead().isEmpty)
        var account = Account()
        try CrashTests().examine(program, 0, &account)
        #expect(account.delivered > 100)
    }
}
