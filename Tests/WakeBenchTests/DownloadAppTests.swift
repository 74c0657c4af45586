import ChildProcess
import Foundation
import Testing

@Suite("Real apps that transfer")
struct DownloadAppTests {
    @Test(
        "XFER-2, XFER-3: relaunched once when all is done, and told of each transfer",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3"),
        arguments: ["Downloads", "DownloadsPython"]
    )
    func outliveTheProcess(name: String) throws {
        let bench = try BenchProgram()
        try bench.install(name)
        let shipped = BenchProgram.repository.appending(
            path: "Devices/Scenarios/\(name == "Downloads" ? "downloads" : "downloads-python").yaml"
        )
        let server = BenchProgram.repository.appending(path: "Devices/Transfer/podcast-server.yaml").path
        let scenario = try String(contentsOf: shipped, encoding: .utf8)
        try bench.write(scenario.replacing("../Transfer/podcast-server.yaml", with: server), to: "downloads.yaml")
        let run = try bench.run(["run", "downloads.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let identifier = name == "Downloads" ? "com.example.downloads" : "com.example.downloads.python"
        #expect(
            try bench.lines(of: "out/apps/\(identifier).log") == [
                "didFinishLaunching", "tasks 0", "download 1", "upload 2", "didBecomeActive",
                "didSendBodyData 1250000 of 5000000", "didEnterBackground", "didFinishLaunching", "tasks 2",
                "handleEvents com.example.downloads.episodes",
                "didFinishDownloading 1 10000000 bytes", "didComplete 1 status=200 error=0",
                "didComplete 2 status=201 error=0", "didFinishEvents",
            ]
        )
    }

    @Test("Transfers that stand still are told while the run goes on")
    func standStill() throws {
        let bench = try BenchProgram()
        let transfers = bench.folder.appending(path: "out/transfers")
        try FileManager.default.createDirectory(
            at: transfers,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        // The folder is another process's.
        let lock = unsafe open(transfers.appending(path: "lock").path, O_RDWR | O_CREAT, 0o600)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        defer { close(lock) }
        try bench.write(
            "scenario: still\nbackends: {transfer: curl}\napps: [{scripted: com.example.notes, name: notes}]\n"
                + "steps: [{at: 0, launch: notes}]\nuntil: 1h\n",
            to: "still.yaml"
        )
        let run = try bench.start(["run", "still.yaml", "--clock", "real", "--out", "out", "--follow"])
        func isTold() throws -> Bool { try bench.lines(of: "stdout").contains { $0.contains("transfers stand still") } }
        let end = Date().addingTimeInterval(BenchProgram.patience)
        while try !isTold(), run.isRunning, Date() < end { moment(milliseconds: 5) }
        let errors = try bench.lines(of: "stderr")
        #expect(try isTold(), "\(errors)")
        run.send(SIGINT)
        run.waitUntilExit()
    }

    @Test("A download never leaves its app's folder: a link on the way there fails it")
    func linkOnTheWay() throws {
        let bench = try BenchProgram()
        try bench.install("Downloads")
        let shipped = BenchProgram.repository.appending(path: "Devices/Scenarios/downloads.yaml")
        let server = BenchProgram.repository.appending(path: "Devices/Transfer/podcast-server.yaml").path
        let scenario = try String(contentsOf: shipped, encoding: .utf8)
        try bench.write(scenario.replacing("../Transfer/podcast-server.yaml", with: server), to: "downloads.yaml")
        let home = bench.folder.appending(path: "out/apps/com.example.downloads")
        let outside = bench.folder.appending(path: "outside")
        let caches = home.appending(path: "Library/Caches")
        for folder in [caches, outside] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let link = caches.appending(path: "com.apple.nsurlsessiond")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)
        let run = try bench.run(["run", "downloads.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let lines = try bench.lines(of: "out/apps/com.example.downloads.log")
        #expect(lines.contains("didComplete 1 status=0 error=-3000"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
    }
}
