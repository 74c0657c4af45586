import ChildProcess
import Foundation
import Testing
import WakeReports
import WakeWire

@testable import WakeBench

/// What apps mark reaches the trace of their run.
@Suite("Signposts of real apps", .serialized, .enabled(if: BenchProgram.python, "needs python3"))
struct SignpostRunTests {
    /// An app that speaks the wire itself, with what it does at its launch and at callbacks.
    private static func app(launch: String, callback: String = "pass") -> String {
        """
        #!/usr/bin/python3
        import json, os, socket, time
        wire = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        def send(**message): wire.send(json.dumps(message).encode())
        def mark(kind, name, **more): send(type="signpost", mark=kind, name=name, **more)
        send(type="hello", version=1, client="python", pid=os.getpid())
        while True:
            packet = wire.recv(65536)
            if not packet: break
            message = json.loads(packet)
            if message["type"] == "welcome":
                \(launch)
                send(type="launched")
            elif message["type"] == "callback":
                \(callback)
                send(type="ack", delivery=message["delivery"])
            elif message["type"] == "deliver":
                send(type="ack", delivery=message["delivery"])

        """
    }

    private func program(_ app: String, _ steps: String) throws -> BenchProgram {
        let program = try BenchProgram()
        try program.makeApp("Marker", "com.example.marker", text: app)
        try program.write(
            """
            scenario: marker
            apps: [{bundle: Marker.app, name: marker}]
            steps:
            \(steps)

            """,
            to: "scenario.yaml"
        )
        return program
    }

    private static let command = ["run", "scenario.yaml", "--apps", "apps", "--out", "out"]

    private func run(_ program: BenchProgram, _ options: [String] = []) throws {
        let (code, errors) = try program.run(Self.command + options)
        #expect(code == 0, "\(errors)")
    }

    /// What the trace has of signposts: phase, name and microseconds.
    private func marks(_ program: BenchProgram) throws -> [[String: Any]] {
        let data = try Data(contentsOf: program.folder.appending(path: "out/trace.json"))
        let trace = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (trace?["traceEvents"] as? [[String: Any]] ?? []).filter { $0["cat"] as? String == "signpost" }
    }

    private func lines(_ program: BenchProgram) throws -> [String] {
        try marks(program).map { "\($0["ph"] ?? "") \($0["name"] ?? "") \($0["ts"] ?? "")" }
    }

    @Test("In virtual time they stand at the run's clock, a span over a suspension too, and one run's are another's")
    func virtualTime() throws {
        let program = try program(
            Self.app(
                launch: """
                    mark("begin", "load"); time.sleep(0.25); mark("end", "load"); mark("begin", "life", span="7")
                    """,
                callback: #"mark("event", message["name"], time=time.monotonic())"#
            ),
            """
              - {at: 1s, launch: marker}
              - {at: 3s, home: marker}
              - {when: {app: marker, state: suspended}, note: asleep}
              - {at: 40s, terminate: marker, cause: memory}
              - {at: 50s, note: the end}
            """
        )
        try run(program)
        let first = try lines(program)
        #expect(
            first == [
                "b load 1000000", "e load 1250000", "b life 1250000", "e life 40000000",
                "i didBecomeActive 1250000", "i willResignActive 3000000", "i didEnterBackground 3000000",
            ]
        )
        let end = try #require(
            try marks(program).first { $0["ph"] as? String == "e" && $0["name"] as? String == "life" }
        )
        #expect((end["args"] as? [String: Any])?["open"] as? Bool == true)
        try run(program, ["--force"])
        #expect(try lines(program) == first)
        // Made anew from the logs alone.
        try FileManager.default.removeItem(at: program.folder.appending(path: "out/trace.json"))
        #expect(try program.run(["report", "out"]).code == 0)
        #expect(try lines(program) == first)
    }

    @Test("What a Swift app marks with OSSignposter and os_signpost is in the trace, and a line in its log")
    func swiftApp() throws {
        let app = try BenchProgram.built("SceneApp")
        let program = try program("#!/bin/sh\nexec '\(app)' signposts\n", "  - {at: 1s, launch: marker}")
        try run(program)
        #expect(
            try lines(program) == ["b load 1000000", "e load 1001000", "i found 1001000", "i plain 1001000"]
        )
        let messages = try marks(program).map { ($0["args"] as? [String: Any])?["message"] as? String }
        #expect(messages == ["from disk", "3 records", "", "50%"])
        let log = try program.lines(of: "out/apps/com.example.marker.log").filter { $0.hasPrefix("signpost ") }
        #expect(
            log.map { $0.replacing(/at=[0-9.]+/, with: "at=T") } == [
                "signpost [test.scenes:launch] begin load id=18446744073709551614 at=T from disk",
                "signpost [test.scenes:launch] event found id=exclusive at=T",
                "signpost [test.scenes:launch] end load id=18446744073709551614 at=T 3 records",
                "signpost event plain id=exclusive at=T 50%",
            ]
        )
    }

    @Test("In real time they stand where the app's monotonic clock says, and never later than they came")
    func realTime() throws {
        let program = try program(
            Self.app(
                launch: """
                    now = time.monotonic(); \
                            mark("begin", "timed", time=now - 0.25); mark("end", "timed", time=now - 0.125); \
                            mark("event", "future", time=now + 100); mark("event", "past", time=0.5)
                    """
            ),
            """
              - {at: 500ms, launch: marker}
            until: 1s
            """
        )
        try run(program, ["--clock", "real"])
        let marks = try marks(program)
        let times = try marks.map { try #require($0["ts"] as? Int) }
        try #require(times.count == 4)
        #expect(abs(times[1] - times[0] - 125_000) <= 1, "\(times)")
        #expect(times[0] >= 250_000 && times[1] < times[2] && times[2] < 30_000_000, "\(times)")
        #expect(times[3] == 0)
    }

    @Test("An app that makes more than the run keeps goes on as ever, and notes say how many were left out")
    func flood() throws {
        let extra = 1_000
        let program = try program(
            Self.app(launch: "for n in range(\(SignpostBound.most + extra)): mark('event', str(n))"),
            """
              - {at: 0, launch: marker}
              - {at: 1h, note: the end}
            """
        )
        try run(program)
        let marks = try marks(program)
        #expect(marks.count == SignpostBound.most)
        #expect(marks.last?["name"] as? String == "\(SignpostBound.most - 1)")
        let notes = try program.records(of: "out/outcomes.ndjson").compactMap { $0["note"] as? String }
        #expect(notes.contains("has made \(SignpostBound.most) signposts; later ones are not kept"))
        #expect(notes.contains("\(extra) signposts after the first \(SignpostBound.most) were not kept"))
    }

    @Test("What is kept of an app's signposts has a bound in bytes too, whatever their texts are")
    func bytes() {
        var bound = SignpostBound(held: HeldSignposts())
        var kept = 0
        while bound.admits() {
            bound.keeps(bytes: 8_000)
            kept += 1
        }
        #expect(kept == SignpostBound.mostBytes / 8_000 + 1)
        let isLater = bound.admits()
        #expect(!isLater)
        #expect((bound.kept.count, bound.lost) == (kept, 2))
    }

    @Test("A run that is gone on with after a kill keeps what was written, and its spans end with their process")
    func goingOn() throws {
        // The first process never answers; the bench is killed while it waits for that.
        let program = try program(
            Self.app(
                launch: #"""
                    first = not os.path.exists("again"); open("again", "w").close(); mark("begin", "life")
                    """#,
                callback: """
                    while first: pass
                            mark("event", "after")
                    """
            ),
            """
              - {at: 1s, launch: marker}
              - {at: 10s, launch: marker}
            until: 20s
            """
        )
        let bench = try program.start(Self.command + ["--patience", "600", "--follow"])
        let end = Date().addingTimeInterval(BenchProgram.patience)
        func isHeld() throws -> Bool {
            try program.records(of: "out/outcomes.ndjson").contains { $0["schema"] as? String == "wake.signpost/1" }
        }
        while try !isHeld(), Date() < end { moment(milliseconds: 5) }
        kill(bench.processIdentifier, SIGKILL)
        bench.waitUntilExit()
        #expect(program.waitForTheDead() == [])
        try run(program)
        let found = try lines(program)
        #expect(
            found == [
                "b life 1000000", "e life 1000000", "b life 10000000", "e life 20000000", "i after 10000000",
            ]
        )
    }
}
