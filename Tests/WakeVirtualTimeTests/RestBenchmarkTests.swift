import ChildProcess
import Foundation
import Testing

@Suite("The check for rest", .timeLimit(.minutes(15)))
struct RestBenchmarkTests {
    @Test(
        "It is never wrong, neither about programs that never rest nor about those that do",
        arguments: ["automatic", "sigstop"]
    )
    func checks(freezer: String) throws {
        let output = Pipe()
        let child = ChildProcess(try built("RestBenchmark"), ["3000", freezer])
        child.standardOutput = .pipe(output)
        try child.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        child.waitUntilExit()
        #expect(child.terminationStatus == 0, "\(text)")
        #expect(text.contains("\n0 wrong in all\n"))
    }

    @Test(
        "Nor is it for an ordinary user, whom the kernel shows less of what has ended",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"), "needs setpriv of util-linux"),
        .enabled(if: getuid() == 0, "needs root, to become another user")
    )
    func ordinaryUser() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-rest-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        for name in ["RestBenchmark", "RestBenchmarkProgram", "libWakebenchTime.so"] {
            try FileManager.default.copyItem(atPath: try built(name), toPath: folder.appending(path: name).path)
        }
        let output = Pipe()
        let program = folder.appending(path: "RestBenchmark").path
        let child = ChildProcess("/usr/bin/setpriv")
        child.arguments = ["--reuid=65534", "--regid=65534", "--clear-groups", program, "1000", "sigstop"]
        child.standardOutput = .pipe(output)
        try child.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        child.waitUntilExit()
        #expect(child.terminationStatus == 0, "\(text)")
        #expect(text.contains("\n0 wrong in all\n"))
    }
}
