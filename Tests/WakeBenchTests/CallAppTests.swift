import ChildProcess
import Foundation
import Testing

@Suite("Real apps with calls")
struct CallAppTests {
    // MARK: The stage

    /// A bench with SIPPhone or CallApp, and a server that says what the plan says.
    private func stage(
        _ app: String,
        modes: [String] = ["voip"],
        sdk: String = "iphoneos9.3",
        plan: String = "",
        faults: String = ""
    ) throws -> BenchProgram {
        let bench = try BenchProgram()
        let bundle = bench.folder.appending(path: "apps/\(app).app")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        try link(try BenchProgram.built(app), to: bundle.appending(path: app).path)
        let words = modes.map { "<string>\($0)</string>" }.joined()
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>com.example.calls</string>
            <key>CFBundleExecutable</key><string>\(app)</string>
            <key>DTSDKName</key><string>\(sdk)</string>
            <key>UIBackgroundModes</key><array>\(words)</array>
            </dict></plist>
            """
        try Data(list.utf8).write(to: bundle.appending(path: "Info.plist"))
        try bench.write("device: call-server\nmessages: lines\nplan:\n\(plan)\n\(faults)\n", to: "server.yaml")
        return bench
    }

    private func write(_ steps: String, until: String, settings: String = "", app: String, to bench: BenchProgram)
        throws
    {
        try bench.write(
            """
            scenario: calls
            \(settings)
            devices: [{file: server.yaml, name: server}]
            apps: [{bundle: \(app).app, name: app}]
            steps:
              - {at: 0, launch: app}
              - {at: 5s, home: app}
            \(steps)
            until: \(until)
            """,
            to: "calls.yaml"
        )
    }

    private func play(_ bench: BenchProgram, doing words: String = "") throws {
        let run = try bench.run(
            ["run", "calls.yaml", "--apps", "apps", "--out", "out", "--quiet"],
            environment: ["WAKEBENCH_APP_CALL_APP": words]
        )
        #expect(run.code == 0, "\(run.errors)")
    }

    /// The words of each decision: time, kind and verdict.
    private func decisions(_ bench: BenchProgram) throws -> [String] {
        try bench.records(of: "out/decisions.ndjson").compactMap { record in
            guard let event = record["event"] as? [String: Any], let kind = event["kind"] as? String,
                let verdict = record["verdict"] as? String, let time = record["t"] as? String
            else { return nil }
            return "\(time.dropFirst(2).prefix(8)) \(kind) \(verdict)"
        }
    }

    private func exits(_ bench: BenchProgram) throws -> [[String: Any]] {
        try bench.records(of: "out/outcomes.ndjson").filter { $0["schema"] as? String == "wake.exit/1" }
    }

    private func log(_ bench: BenchProgram) throws -> [String] {
        try bench.lines(of: "out/apps/com.example.calls.log").map { String($0.replacing(/pid=\d+/, with: "pid=N")) }
    }

    // MARK: Calls

    /// Plays the call of Devices/Scenarios/voip-call.yaml with modes of the test's own.
    private func call(modes: [String]) throws -> (code: Int32, bench: BenchProgram) {
        let bench = try stage("SIPPhone", modes: modes)
        let scenario = BenchProgram.repository.appending(path: "Devices/Scenarios/voip-call.yaml").path
        let run = try bench.run(["run", scenario, "--apps", "apps", "--out", "out", "--quiet"])
        return (run.code, bench)
    }

    @Test("VOIP-1, VOIP-8: the SIP phone takes a call that wakes it, and runs while it sounds, each time the same")
    func phone() throws {
        var logs: [String] = []
        for _ in 0..<2 {
            let (code, bench) = try call(modes: ["voip", "audio"])
            #expect(code == 0)
            #expect(
                try decisions(bench) == [
                    "00:00:15 voip-data resume", "00:00:15 audio-activated background-deliver",
                    "00:00:15 audio-started background-deliver", "00:00:35 audio-stopped background-deliver",
                ]
            )
            logs.append(try log(bench).joined(separator: "\n"))
        }
        let expected = """
            didFinishLaunching pid=N
            connect watched=true
            setKeepAliveTimeout true
            received SIP/2.0 200 OK pid=N
            didEnterBackground
            received INVITE sip:phone@127.0.0.1 SIP/2.0 pid=N
            answer 100
            answer 180
            answer 200
            received ACK sip:phone@127.0.0.1 SIP/2.0 pid=N
            call established
            call sounds
            received BYE sip:phone@127.0.0.1 SIP/2.0 pid=N
            answer 200
            call ended
            """
        #expect(logs == [expected, expected])
    }

    @Test(
        "VOIP-8, AUD-3: without the audio mode the call is silent, the phone is suspended in it, and the caller's end wakes it"
    )
    func silentCall() throws {
        let (code, bench) = try call(modes: ["voip"])
        // It expects sound.
        #expect(code == 7)
        #expect(
            try decisions(bench) == [
                "00:00:15 voip-data resume", "00:00:15 audio-activated deny", "00:00:35 voip-data resume",
            ]
        )
        #expect(
            try log(bench).suffix(3) == ["received BYE sip:phone@127.0.0.1 SIP/2.0 pid=N", "answer 200", "call ended"]
        )
    }

    @Test(
        "VOIP-1: a phone in another language, whose socket no stream has, takes the call that wakes it",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3")
    )
    func otherLanguage() throws {
        let bench = try BenchProgram()
        let bundle = bench.folder.appending(path: "apps/SIPPhone.app")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let source = BenchProgram.repository.appending(path: "Sources/Examples/SIPPhonePython")
        for name in ["sip_phone.py", "Info.plist"] {
            try link(source.appending(path: name).path, to: bundle.appending(path: name).path)
        }
        let scenario = BenchProgram.repository.appending(path: "Devices/Scenarios/voip-call.yaml").path
        _ = try bench.run(["run", scenario, "--apps", "apps", "--out", "out", "--quiet"])
        #expect(try decisions(bench) == ["00:00:15 voip-data resume", "00:00:35 voip-data resume"])
        let log = try bench.lines(of: "out/apps/com.example.sipphone.python.log").map {
            String($0.replacing(/\ pid=\d+/, with: ""))
        }
        // The server may answer before the bench does.
        #expect(log.contains("connect watched=True"))
        #expect(log.contains("setKeepAliveTimeout=True"))
        #expect(
            log.suffix(9) == [
                "received INVITE sip:phone@127.0.0.1 SIP/2.0", "answer 100", "answer 180", "answer 200",
                "received ACK sip:phone@127.0.0.1 SIP/2.0", "call established",
                "received BYE sip:phone@127.0.0.1 SIP/2.0", "answer 200", "call ended",
            ]
        )
    }

    @Test("VOIP-3: the keep-alive handler of the SIP phone runs once in ten minutes of virtual time")
    func keepAlive() throws {
        let bench = try stage("SIPPhone", plan: "  - pause: 1h")
        try write("", until: "31m", app: "SIPPhone", to: bench)
        try play(bench)
        #expect(
            try decisions(bench) == [
                "00:10:00 voip-keep-alive resume", "00:20:00 voip-keep-alive resume",
                "00:30:00 voip-keep-alive resume",
            ]
        )
        #expect(try log(bench).filter { $0 == "keepAlive" }.count == 3)
    }

    @Test("VOIP-2: without the mode, and without the mark, bytes wake nobody and are there when the app is seen again")
    func asAnyOther() throws {
        for (modes, words, verdicts) in [([], "", ["00:00:30 voip-data deny"]), (["voip"], "unmarked", [])] {
            let bench = try stage("CallApp", modes: modes, plan: "  - {pause: 30s}\n  - {send: \"RING\\n\"}")
            try write("  - {at: 60s, launch: app}", until: "70s", app: "CallApp", to: bench)
            try play(bench, doing: words)
            #expect(try decisions(bench) == verdicts)
            let lines = try log(bench)
            #expect(lines.contains("line RING"))
            #expect(lines.firstIndex(of: "line RING") ?? 0 > lines.firstIndex(of: "didEnterBackground") ?? .max)
        }
    }

    @Test(
        "VOIP-7: the peer's reset wakes the app, which finds the failure, and so does its close",
        arguments: ["reset", "close"]
    )
    func ends(way: String) throws {
        let bench = try stage("CallApp", plan: "  - pause: 30s\n  - \(way): true")
        try write("", until: "60s", app: "CallApp", to: bench)
        try play(bench)
        #expect(try decisions(bench) == ["00:00:30 voip-closed resume"])
        #expect(try log(bench).last == (way == "reset" ? "failed" : "closed"))
    }

    @Test("TASK-7: an expiring activity keeps its app running until its time ends, and the block learns so")
    func expiringActivity() throws {
        let bench = try stage("CallApp", modes: [], plan: "  - pause: 1h")
        try write("", until: "120s", app: "CallApp", to: bench)
        try play(bench, doing: "activity")
        let lines = try log(bench).filter { $0.contains("activity") }
        #expect(
            lines == [
                "activity expired=false", "activity expired=true", "late activity expired=true", "activity ends",
            ]
        )
        let moves = try bench.records(of: "out/outcomes.ndjson").filter { $0["schema"] as? String == "wake.state/1" }
        #expect(moves.last?["to"] as? String == "suspended")
        // Left at 5 s, with 30 s of which the last 5 are for the end.
        #expect((moves.last?["t"] as? String)?.hasPrefix("T+00:00:30") == true)
        #expect(try exits(bench).filter { $0["cause"] as? String == "watchdog" }.isEmpty)
    }

    @Test("RESP-3: after the setting an app without the mode finds its connection ended when it is seen again")
    func tornDown() throws {
        let bench = try stage("CallApp", modes: [], plan: "  - pause: 1h")
        try write(
            "  - {at: 60s, launch: app}",
            until: "70s",
            settings: "settings: {connectionsLast: 30s}",
            app: "CallApp",
            to: bench
        )
        try play(bench)
        let lines = try log(bench)
        #expect(lines.firstIndex(of: "closed") ?? 0 > lines.firstIndex(of: "didEnterBackground") ?? .max)
    }

    @Test("VOIP-4: a VoIP app is launched at the first unlock after boot, and connects again")
    func boot() throws {
        let bench = try stage("CallApp", plan: "  - pause: 30s\n  - send: \"RING\\n\"")
        try write(
            "  - {at: 10s, phone: reboot}\n  - {at: 20s, phone: unlock}",
            until: "70s",
            app: "CallApp",
            to: bench
        )
        try play(bench)
        #expect(try decisions(bench) == ["00:00:20 voip-after-boot relaunch", "00:00:50 voip-data resume"])
        let lines = try log(bench)
        #expect(
            lines.filter { $0.hasPrefix("did") } == [
                "didFinishLaunching pid=N", "didEnterBackground", "didFinishLaunching pid=N",
            ],
            "\(lines)"
        )
    }

    @Test("VOIP-5: a VoIP app that fails is launched again")
    func failure() throws {
        let bench = try stage("CallApp", plan: "  - pause: 30s\n  - send: \"RING\\n\"\n  - pause: 1h")
        try write("", until: "50s", app: "CallApp", to: bench)
        try play(bench, doing: "crash")
        #expect(try decisions(bench) == ["00:00:30 voip-data resume", "00:00:30 voip-after-exit relaunch"])
        #expect(try exits(bench).map { $0["code"] as? Int } == [3])
    }

    @Test("VOIP-6: the 16th wake within 300 s ends the app with 0xbad22222")
    func limit() throws {
        let plan = (0..<20).map { _ in "  - pause: 12s\n  - send: \"RING\\n\"" }.joined(separator: "\n")
        let bench = try stage("CallApp", plan: plan)
        try write("", until: "10m", app: "CallApp", to: bench)
        try play(bench)
        let verdicts = try decisions(bench).map { $0.split(separator: " ").last }
        #expect(verdicts == Array(repeating: "resume", count: 15) + ["deny", "deny"])
        let exits = try exits(bench)
        #expect(exits.map { $0["code"] as? Int } == [0xbad2_2222])
        #expect(exits.map { $0["cause"] as? String } == ["policy"])
    }

    @Test(
        "VOIP-1: of 100 MB over a socket not one byte is lost or out of place, whenever the app is suspended",
        .timeLimit(.minutes(10))
    )
    func hundredMegabytes() throws {
        // The app is suspended between the pieces, and in the middle of them when it says that it is done.
        let piece = "  - pause: 12s\n  - pour: 4MB\n"
        let plan = "  - await: HELLO\n" + String(repeating: piece, count: 25) + "  - close: true"
        let bench = try stage("CallApp", plan: plan)
        try write("", until: "24h", settings: "voip: {wakeLimit: off}", app: "CallApp", to: bench)
        try play(bench, doing: "pour")
        let last = try #require(try log(bench).last)
        #expect(last.hasPrefix("total=100000000 same=true"), "\(last)")
        let wakes = try decisions(bench).filter { $0.hasSuffix("resume") }
        #expect(wakes.count >= 25, "\(wakes.count) wakes")
        let lifted = try bench.lines(of: "out/decisions.ndjson").contains {
            $0.contains("\"lifted_by\":\"voip.wakeLimit: off\"")
        }
        #expect(lifted)
    }

    @Test("VOIP-1: when an app dies the bench lets go of its socket")
    func death() throws {
        let bench = try stage("CallApp", modes: [], plan: "  - pause: 1h")
        try write("", until: "60s", app: "CallApp", to: bench)
        let process = try bench.start([
            "run", "calls.yaml", "--apps", "apps", "--out", "out", "--clock", "real", "--quiet",
        ])
        let end = Date().addingTimeInterval(BenchProgram.patience)
        func pid() throws -> Int32? {
            try bench.lines(of: "out/apps/com.example.calls.log").first?.split(separator: "=").last.flatMap {
                Int32($0)
            }
        }
        while try !log(bench).contains("watched=true"), Date() < end { moment(milliseconds: 5) }
        let app = try #require(try pid())
        let held = connections(of: app).intersection(connections(of: process.processIdentifier))
        #expect(!held.isEmpty)
        kill(app, SIGKILL)
        while !connections(of: process.processIdentifier).isDisjoint(with: held), Date() < end {
            moment(milliseconds: 5)
        }
        #expect(connections(of: process.processIdentifier).isDisjoint(with: held))
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
    }

    /// The sockets that a process has open, by their inodes.
    private func connections(of pid: Int32) -> Set<String> {
        let folder = "/proc/\(pid)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let targets = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
        return Set(targets.filter { $0.hasPrefix("socket:") })
    }
}
