import Foundation
import Testing

/// What becomes of the results of transfers that a real app was given and has not taken.
@Suite("Results that are not taken", .enabled(if: BenchProgram.python, "needs Python 3"))
struct TransferResultsTests {
    private static let count = 100
    private static let script = "../../Scripts/crash.d/downloader/main.py"
    private let bench: BenchProgram

    /// An app that asks for 100 files. Their results come while it is gone, and the process that the system launches then
    /// stands still before it takes the first.
    init() throws {
        bench = try BenchProgram()
        try bench.makeApp("Downloader", "com.example.downloader", copy: Self.script, modes: [])
        let files = (1...Self.count).map { "  - {path: /\($0), size: 1000}\n" }.joined()
        try bench.write(
            "device: transfer-server\nhost: files.example.com\nlatency: 3s\nfiles:\n\(files)",
            to: "server.yaml"
        )
    }

    private func write(_ steps: String, until: String = "30m") throws {
        try writeScenario(
            """
              - {at: 1s, home: app}
              - {at: 1500ms, terminate: app, cause: memory}
            \(steps)
            """,
            until: until
        )
    }

    private func writeScenario(_ steps: String, until: String) throws {
        try bench.write(
            """
            scenario: results
            devices: [{file: server.yaml, name: server}]
            apps: [{bundle: Downloader.app, name: app}]
            steps:
              - {at: 0, launch: app}
            \(steps)
            until: \(until)
            """,
            to: "results.yaml"
        )
    }

    private var environment: [String: String] {
        [
            "WAKEBENCH_APP_BASE_URL": "https://files.example.com", "WAKEBENCH_APP_COUNT": "\(Self.count)",
            "WAKEBENCH_APP_STALLS": "5",
        ]
    }

    /// The words of each line of the app behind its instant and process.
    private func told() throws -> [[Substring]] {
        try bench.lines(of: "out/apps/com.example.downloader.log").map { Array($0.split(separator: " ").dropFirst(2)) }
    }

    private func tasks(_ word: String) throws -> [Int] {
        try told().filter { $0.first == word[...] && $0.count > 1 }.compactMap { Int($0[1]) }
    }

    private func wait(for what: String, _ holds: () throws -> Bool) throws {
        let end = Date().addingTimeInterval(BenchProgram.patience)
        while try !holds() {
            guard Date() < end else {
                Issue.record("no \(what): \(try bench.lines(of: "out/apps/com.example.downloader.log").suffix(5))")
                throw CancellationError()
            }
            moment(milliseconds: 5)
        }
    }

    private var bodies: [String] {
        let files = try? FileManager.default.subpathsOfDirectory(atPath: bench.folder.appending(path: "out").path)
        return files?.filter { $0.hasSuffix(".download") || $0.hasSuffix(".body") || $0.hasSuffix(".tmp") } ?? []
    }

    @Test("XFER-3: an app that is killed before it has taken its results gets them all at its next launch, once each")
    func appKilled() throws {
        try write("  - {at: 5s, terminate: app, cause: memory, pressure: critical}\n  - {at: 20s, launch: app}")
        let run = try bench.run(
            ["run", "results.yaml", "--apps", "apps", "--out", "out", "--quiet"],
            environment: environment
        )
        #expect(run.code == 0, "\(run.errors)")
        #expect(try told().contains(["stalls"]))
        #expect(try tasks("finished").sorted() == Array(1...Self.count))
        #expect(try tasks("failed") == [])
        #expect(bodies == [])
    }

    @Test("XFER-3: what an app wrote into the file of a result is not there when that comes again, as it was not taken")
    func spoiled() throws {
        try write("  - {at: 5s, terminate: app, cause: memory, pressure: critical}\n  - {at: 20s, launch: app}")
        let run = try bench.run(
            ["run", "results.yaml", "--apps", "apps", "--out", "out", "--quiet"],
            environment: environment.merging(["WAKEBENCH_APP_SPOILS": "file"]) { $1 }
        )
        #expect(run.code == 0, "\(run.errors)")
        #expect(try told().contains(["spoils"]))
        #expect(try tasks("finished").sorted() == Array(1...Self.count))
        let files = bench.folder.appending(path: "out/apps/com.example.downloader/files")
        for number in 1...Self.count {
            #expect(try Data(contentsOf: files.appending(path: "\(number)")).count == 1_000, "\(number)")
        }
    }

    @Test("XFER-3: what was changed since it was received is not given as a result: the download fails, with a line")
    func changed() throws {
        try write("  - {at: 5s, terminate: app, cause: memory, pressure: critical}\n  - {at: 20s, launch: app}")
        let run = try bench.run(
            ["run", "results.yaml", "--apps", "apps", "--out", "out", "--quiet"],
            environment: environment.merging(["WAKEBENCH_APP_SPOILS": "kept"]) { $1 }
        )
        #expect(run.code == 0, "\(run.errors)")
        #expect(try told().contains(["spoils"]))
        #expect(try tasks("finished").count == Self.count - 2)
        let failed = try told().filter { $0.first == "failed" }.map { $0.last }
        #expect(failed == ["-3000", "-3000"])
        let notes = try bench.lines(of: "out/outcomes.ndjson")
        for sizes in ["10 bytes, and 1000 came", "2000 bytes, and 1000 came"] {
            #expect(notes.contains { $0.contains(".download is not what was received: it has \(sizes)") }, "\(sizes)")
        }
    }

    @Test(
        "XFER-3: what an app left where the file of a result is to be is renamed with a note, and the result comes again",
        arguments: [
            ("folder", ".tmp was in the way", ".tmp/kept"), ("way", "downloader was in the way", "downloader"),
        ]
    )
    func inTheWay(how: String, name: String, kept: String) throws {
        try write("  - {at: 5s, terminate: app, cause: memory, pressure: critical}\n  - {at: 20s, launch: app}")
        let run = try bench.run(
            ["run", "results.yaml", "--apps", "apps", "--out", "out", "--quiet"],
            environment: environment.merging(["WAKEBENCH_APP_SPOILS": how]) { $1 }
        )
        #expect(run.code == 0, "\(run.errors)")
        #expect(try told().contains(["spoils"]))
        #expect(try tasks("finished").sorted() == Array(1...Self.count))
        #expect(try tasks("failed") == [])
        let notes = try bench.lines(of: "out/outcomes.ndjson").filter { $0.contains("in the way of a download's file") }
        #expect(notes.count == 1 && notes[0].contains(name), "\(notes)")
        let home = bench.folder.appending(path: "out/apps/com.example.downloader").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: home)
        let moved = kept.replacing("/", with: ".1/").replacing("downloader", with: "downloader.1")
        #expect(files.contains { $0.hasSuffix(moved) }, "\(moved)")
    }

    @Test("XFER-2, XFER-3, SYS-2: after a kill of the bench the app is told of its session once, and gets all results")
    func benchKilled() throws {
        try write("")
        let words = ["run", "results.yaml", "--apps", "apps", "--out", "out", "--quiet", "--clock", "real"]
        let first = try bench.start(words, environment: environment)
        try wait(for: "result") { try told().contains(["stalls"]) }
        kill(first.processIdentifier, SIGKILL)
        first.waitUntilExit()
        let second = try bench.start(words, environment: environment)
        try wait(for: "end of all transfers") { try Set(tasks("acknowledged")).count == Self.count }
        try wait(for: "removal of the files") { bodies.isEmpty }
        kill(second.processIdentifier, SIGINT)
        second.waitUntilExit()
        #expect(try tasks("finished").sorted() == Array(1...Self.count))
        #expect(try tasks("failed") == [])
        // The process that stood still, and the one after it.
        #expect(try told().count { $0 == ["events"] } == 2)
    }

    @Test("XFER-3, SYS-2: a result that was acknowledged before a kill of the bench is not given again")
    func acknowledged() throws {
        try write("", until: "10s")
        let words = ["run", "results.yaml", "--apps", "apps", "--out", "out", "--quiet", "--clock", "real"]
        var calm = environment
        calm["WAKEBENCH_APP_STALLS"] = "0"
        // The wake goes on until the bench is killed.
        calm["WAKEBENCH_APP_HOLDS"] = "1"
        let first = try bench.start(words, environment: calm)
        try wait(for: "end of all transfers") { try Set(tasks("acknowledged")).count == Self.count }
        // What was brought is removed once it is committed that the app has taken it.
        try wait(for: "removal of the files") { bodies.isEmpty }
        kill(first.processIdentifier, SIGKILL)
        first.waitUntilExit()
        let second = try bench.start(words, environment: calm)
        second.waitUntilExit()
        #expect(second.terminationStatus == 0)
        #expect(try tasks("finished").sorted() == Array(1...Self.count))
        #expect(try tasks("failed") == [])
        let outcomes = try outcomes()
        let decisions = outcomes.compactMap { $0["decision"] as? String }
        #expect(decisions.count >= Self.count && Set(decisions).count == decisions.count, "\(decisions)")
        // Whether the app has acknowledged what it was told of the session itself is left to the instant of the kill.
        let results = try resultDecisions()
        #expect(results.count == Self.count)
        let acknowledged = outcomes.filter { $0["acknowledged"] as? Bool == true }
        #expect(results.isSubset(of: acknowledged.compactMap { $0["decision"] as? String }), "\(outcomes)")
    }

    /// The decisions by which results were given; what is told of their session is the server's event, or of another kind.
    private func resultDecisions() throws -> Set<String> {
        let decisions = try bench.records(of: "out/decisions.ndjson").filter { record in
            let event = record["event"] as? [String: Any]
            return event?["kind"] as? String == "transfer-ended" && event?["origin"] as? String == ""
        }
        return Set(decisions.compactMap { $0["id"] as? String })
    }

    private func outcomes() throws -> [[String: Any]] {
        try bench.records(of: "out/outcomes.ndjson").filter { $0["schema"] as? String == "wake.outcome/1" }
    }

    @Test("XFER-3, SYS-2: what a foreground app took at the instant of a kill of the bench is not given as failed")
    func acknowledgedInForeground() throws {
        try writeScenario("", until: "6s")
        let words = ["run", "results.yaml", "--apps", "apps", "--out", "out", "--quiet", "--clock", "real"]
        let first = try bench.start(words, environment: environment)
        try wait(for: "end of all transfers") { try Set(tasks("acknowledged")).count == Self.count }
        kill(first.processIdentifier, SIGKILL)
        first.waitUntilExit()
        let second = try bench.start(words, environment: environment)
        second.waitUntilExit()
        #expect(second.terminationStatus == 0)
        #expect(try Set(tasks("finished")) == Set(1...Self.count))
        #expect(try tasks("failed") == [])
        let decisions = try outcomes().compactMap { $0["decision"] as? String }
        #expect(Set(decisions).count == decisions.count, "\(decisions)")
    }
}
