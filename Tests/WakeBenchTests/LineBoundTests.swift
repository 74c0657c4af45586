import Foundation
import Testing
import WakeModel
import WakeReports

@testable import WakeBench
@testable import WakeRouter

/// What apps can have a run write without end has a bound.
@Suite("Bounds of what apps have a run write", .serialized)
struct LineBoundTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/line-bound-\(UUID())"
    private let names = NameTable()

    private func inFolder(_ body: (_ path: String) throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/outcomes.ndjson")
    }

    private func recorder(_ outcomes: OutcomeLog) -> RunRecorder {
        let decisions = DecisionLog(header: .blank, profile: .ios17, names: names.text)
        let recorder = RunRecorder(decisions: decisions, outcomes: outcomes, names: names)
        recorder.add(bundle: "com.example.app", name: "app", log: nil)
        return recorder
    }

    private func lines(_ path: String) throws -> [Substring] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    }

    private func observe(_ count: Int, _ recorder: RunRecorder) {
        var output = RouterOutput()
        output.actions = [.did(AppID(0), .toldTimeRemaining)]
        for _ in 0..<count { recorder.observe(InboxItem(input: .timeReached), output, at: .zero) }
    }

    @Test("Deeds of an app beyond the bound are counted, and a resumed run counts them on")
    func deeds() throws {
        try inFolder { path in
            let first = recorder(try OutcomeLog(creating: path))
            observe(RunRecorder.mostDeeds + 10, first)
            try first.finish(at: .zero)
            let written = try lines(path)
            #expect(written.count { $0.hasPrefix("{\"schema\":\"wake.deed/1\"") } == RunRecorder.mostDeeds)
            let notes = written.filter { $0.hasPrefix("{\"schema\":\"wake.note/1\"") }
            #expect(notes.count == 2)
            #expect(notes[0].contains("\"has \(RunRecorder.mostDeeds) deeds; later ones are not kept\""))
            #expect(notes[1].contains("\"10 deeds after the first \(RunRecorder.mostDeeds) were not kept\""))
            // The bench died, and the same inputs are read back.
            let second = recorder(try OutcomeLog(continuing: path))
            second.isReplaying = true
            observe(RunRecorder.mostDeeds + 10, second)
            second.isReplaying = false
            try second.finish(at: .zero)
            #expect(try lines(path) == written)
        }
    }

    @Test("The logs of a daemon, which begin anew when they have grown long, keep all")
    func rolled() throws {
        try inFolder { path in
            let recorder = recorder(try OutcomeLog(creating: path))
            recorder.isRolled = true
            observe(RunRecorder.mostDeeds + 10, recorder)
            try recorder.finish(at: .zero)
            #expect(try lines(path).count { $0.hasPrefix("{\"schema\":\"wake.deed") } == RunRecorder.mostDeeds + 10)
        }
    }

    @Test("Notes of what an app does wrong or holds beyond the bound are counted, and the bench's own are kept")
    func notes() throws {
        try inFolder { path in
            let recorder = recorder(try OutcomeLog(creating: path))
            for number in 0..<RunRecorder.mostNotes + 10 { recorder.note(.held("holds \(number)"), of: AppID(0)) }
            recorder.note("silence", of: AppID(0))
            try recorder.finish(at: .zero)
            let written = try lines(path)
            #expect(written.count { $0.contains("\"note\":\"holds ") } == RunRecorder.mostNotes)
            for said in [
                "has \(RunRecorder.mostNotes) notes; later ones are not kept", "silence",
                "10 notes after the first \(RunRecorder.mostNotes) were not kept",
            ] { #expect(written.contains { $0.contains("\"note\":\"\(said)\"") }, "\(said)") }
        }
    }

    @Test("What an app is registered for is written as it changes, then once a second, and at the end as it is")
    func registrations() throws {
        try inFolder { path in
            let recorder = recorder(try OutcomeLog(creating: path))
            var subject = NameID.none
            func register(_ number: Int64, isLast: Bool = false) {
                subject = names.intern("device-\(number)")
                recorder.disturbAll()
                let at = Instant(nanoseconds: number * 1_000_000)
                recorder.register(at: at, isLast: isLast) { _ in
                    [KeptRegistration(via: .connection, subject: subject, since: .zero)]
                }
            }
            let count = Int64(RunRecorder.mostRegistrations) + 5_000
            for number in 1...count { register(number) }
            register(count + 1, isLast: true)
            try recorder.finish(at: .zero)
            let written = try lines(path).filter { $0.hasPrefix("{\"schema\":\"wake.registrations/1\"") }
            #expect((RunRecorder.mostRegistrations + 5...RunRecorder.mostRegistrations + 7).contains(written.count))
            #expect(written.last?.contains("\"device-\(count + 1)\"") == true)
        }
    }

    @Test("Of what an app has lost the latest are kept for steps that reach nobody, and they outlive a snapshot")
    func losses() throws {
        try inFolder { path in
            let recorder = recorder(try OutcomeLog(creating: path))
            let subjects = (0..<70).map { names.intern("device-\($0)") }
            var output = RouterOutput()
            output.actions = subjects.map { .lost(AppID(0), .connection, subject: $0, .lostToForceQuit, .none) }
            recorder.observe(InboxItem(input: .timeReached), output, at: .zero)
            #expect(recorder.loss(of: 0, [.connection], subjects[0]) == nil)
            let last = "lost its connection to device-69, at T+00:00:00: gone with the force quit, LAUNCH-2"
            #expect(recorder.loss(of: 0, [.connection], subjects[69]) == last)
            var coder = SnapshotCoder()
            try recorder.code(with: &coder)
            let other = self.recorder(try OutcomeLog(creating: path + ".other"))
            var reading = SnapshotCoder(reading: coder.bytes)
            try other.code(with: &reading)
            #expect(other.loss(of: 0, [.connection], subjects[69]) == last)
        }
    }

    @Test("A wake has room for so many callbacks")
    func callbacks() {
        var open = OpenOutcomes()
        open.addApp()
        let id = DecisionID(1)
        open.begin(Outcome(decision: id, event: .none, app: "a", at: .zero, wall: 0, pid: 7), of: 0)
        let callback = Outcome.Callback(name: "didUpdateState", at: .zero)
        let kept = (0..<OpenOutcomes.mostCallbacks + 3).map { _ in
            open.sent(callback, for: .none, to: 0, inForeground: false)
        }
        #expect(kept.count { $0 } == OpenOutcomes.mostCallbacks)
        #expect(open.takeAll(of: 0).map(\.delivered.count) == [OpenOutcomes.mostCallbacks])
    }

    @Test("An app that asks without end for what no task is leaves a run that ends", .enabled(if: BenchProgram.python))
    func flood() throws {
        let program = try BenchProgram()
        let extra = 500
        let app = """
            #!/usr/bin/python3
            import json, os, socket
            wire = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
            def send(**message): wire.send(json.dumps(message).encode())
            send(type="hello", version=1, client="python", pid=os.getpid())
            while packet := wire.recv(65536):
                message = json.loads(packet)
                if message["type"] == "welcome":
                    for number in range(\(RunRecorder.mostDeeds + extra)): send(type="task.end", token=number)
                    send(type="launched")
                elif message["type"] in ("callback", "deliver"):
                    send(type="ack", delivery=message["delivery"])

            """
        try program.makeApp("Asker", "com.example.asker", text: app)
        try program.write(
            """
            scenario: asker
            apps: [{bundle: Asker.app, name: asker}]
            steps:
              - {at: 0, launch: asker}
              - {at: 1h, note: the end}

            """,
            to: "scenario.yaml"
        )
        let (code, errors) = try program.run(["run", "scenario.yaml", "--apps", "apps", "--out", "out"])
        #expect(code == 0, "\(errors)")
        let records = try program.records(of: "out/outcomes.ndjson")
        #expect(records.count { $0["schema"] as? String == "wake.deed/1" } == RunRecorder.mostDeeds)
        let notes = records.compactMap { $0["note"] as? String }
        #expect(notes.contains("has \(RunRecorder.mostDeeds) deeds; later ones are not kept"))
        let lost = notes.compactMap { $0.wholeMatch(of: #/(\d+) deeds after the first \d+ were not kept/#)?.output.1 }
        #expect(lost.count == 1 && lost.allSatisfy { (Int($0) ?? 0) >= extra }, "\(lost)")
    }
}

/// A bench that died carries out again what its journal says nothing of.
@Suite("What came to nothing, and is found again after the bench died")
struct RepeatedMissTests {
    @Test("A step that reached nobody is in the log once, though the reason is another after the restart")
    func reason() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/repeated-miss-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/outcomes.ndjson"
        func recorder(_ outcomes: OutcomeLog) -> RunRecorder {
            let names = NameTable()
            let decisions = DecisionLog(header: .blank, profile: .ios17, names: names.text)
            let recorder = RunRecorder(decisions: decisions, outcomes: outcomes, names: names)
            recorder.add(bundle: "com.example.strap", name: "strap", log: nil)
            return recorder
        }
        func texts() throws -> [String] {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap {
                $0.firstMatch(of: /"note":"([^"]*)"/).map { String($0.output.1) }
            }
        }
        let (early, late) = (Instant(nanoseconds: 1), Instant(nanoseconds: 2))
        let first = recorder(try OutcomeLog(creating: path))
        first.miss("notify strap 2A37 01", "nobody is subscribed", of: AppID(0), at: early)
        first.miss("script of strap: waited 1 s", of: AppID(0), at: early, isReplayed: false)
        try first.flush()
        let second = recorder(try OutcomeLog(continuing: path))
        var said: [String] = []
        second.follow = { said.append($0.note ?? "") }
        second.miss("notify strap 2A37 01", "it does not run", of: AppID(0), at: early)
        second.miss("script of strap: waited 1 s", of: AppID(0), at: late, isReplayed: false)
        second.miss("notify strap 2A37 01", "it does not run", of: AppID(0), at: late)
        second.committed()
        try second.flush()
        let script = "script of strap: waited 1 s"
        #expect(
            try texts() == [
                "notify strap 2A37 01: nobody is subscribed", script, script, "notify strap 2A37 01: it does not run",
            ]
        )
        #expect(said == ["notify strap 2A37 01: it does not run", script, "notify strap 2A37 01: it does not run"])
    }
}
