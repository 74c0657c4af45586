import Foundation
import Testing
import WakeModel
import WakeReports

@Suite("The decision log")
struct DecisionLogTests {
    let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    @Test("The first line says what the run was, with settings in order")
    func header() throws {
        let line = try fixture.lines([])[0]
        #expect(
            line
                == #"{"schema":"wake.log/1","version":"0.1","phone":"lab-1","seed":18446744073709551615,"#
                + #""profile":"ios17","determinism":"router","settings":{"backend":"simulated","freezer":"cgroup2"}}"#
        )
    }

    @Test("A denied wake is one line with every check, the decisive one, and what would have been")
    func denied() throws {
        let time = Instant(nanoseconds: 8_047_250_000_000)
        let line = try fixture.lines([[fixture.forceQuit(412, at: time, event: 398)]])[1]
        try RecordAnswers.check(line, "force-quit")
    }

    @Test("A wake is one line with every check, and so is a record about no app")
    func woken() throws {
        let lines = try fixture.lines([[fixture.resume(12, at: second(12))], [fixture.nobody(13, at: second(13))]])
        try RecordAnswers.check(lines[1], "resume")
        try RecordAnswers.check(lines[2], "no-registration")
    }

    @Test("A line tells the same whatever lines came before it")
    func independentLines() throws {
        var decisions: [Decision] = []
        let first = fixture.resume(1, at: second(10), event: 1)
        let changes: [(inout Decision) -> Void] = [
            { _ in }, { $0.at = second(11) }, { $0.snapshot.stateSince = second(3) },
            { $0.snapshot.budgetUsed = .seconds(2) },
            { $0.checks[.restoreIdentifier] = .fail }, { $0.verdict = .deny }, { $0.reason = .forceQuit },
            { $0.rule = .launch2 }, { $0.wouldHave = .relaunch }, { $0.kind = .peripheralDisconnected },
            { $0.snapshot.generation += 1 }, { $0.app = AppID(256) }, { $0.supersedes = DecisionID(1) },
        ]
        for change in changes {
            var next = decisions.last ?? first
            change(&next)
            decisions += [next, next]
        }
        let together = try fixture.lines(decisions.map { [$0] }).dropFirst()
        let alone = try decisions.map { try fixture.lines([[$0]])[1] }
        #expect(Array(together) == alone)
    }

    @Test("Decisions of one event share a census of all apps that saw it")
    func census() throws {
        var other = fixture.forceQuit(2, at: second(10), event: 9)
        other.app = AppID(1)
        var third = fixture.forceQuit(3, at: second(10), event: 9)
        third.app = AppID(2)
        third.reason = .modeMissing
        let lines = try fixture.lines([
            [
                fixture.resume(1, at: second(10), event: 9), other, third,
                fixture.resume(4, at: second(10), event: 10),
            ]
        ])
        let shared = #""census":{"apps":3,"woke":1,"by_reason":{"ForceQuit":1,"ModeMissing":1}}"#
        #expect(lines[1...3].allSatisfy { $0.contains(shared) })
        #expect(lines[4].contains(#""census":{"apps":1,"woke":1,"by_reason":{}}"#))
    }

    @Test("An event that nobody registered for names no app (LAUNCH-6)")
    func nobody() throws {
        let line = try fixture.lines([[fixture.nobody(1, at: second(1))]])[1]
        #expect(line.contains(#""app":null,"interest":{"registered":false},"budget":null,"verdict":"drop","#))
        #expect(line.contains(#""reason":"NoRegistration","rule":"LAUNCH-6""#))
        #expect(line.contains(#""census":{"apps":0,"woke":0,"by_reason":{"NoRegistration":1}}"#))
    }

    @Test("Names are escaped, so that no name breaks a line")
    func escaping() throws {
        var decision = fixture.resume(1, at: second(1))
        decision.subject = fixture.names.intern("a \"belt\"\\\n\u{1}é")
        let lines = try fixture.lines([[decision]])
        #expect(lines.count == 2)
        #expect(lines[1].contains(#""subject":"a \"belt\"\\\n\u0001é""#))
        let parsed = try JSONSerialization.jsonObject(with: Data(lines[1].utf8)) as? [String: Any]
        #expect((parsed?["event"] as? [String: Any])?["subject"] as? String == "a \"belt\"\\\n\u{1}é")
    }

    @Test("Every line is JSON to others too")
    func json() throws {
        let lines = try fixture.lines([
            [fixture.resume(1, at: second(1)), fixture.forceQuit(2, at: second(2)), fixture.nobody(3, at: second(3))]
        ])
        for line in lines { #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) } }
    }

    @Test("The same decisions give the same bytes")
    func deterministic() throws {
        let other = try ReportFixture()
        func batch(_ fixture: ReportFixture) -> [[Decision]] {
            [
                [fixture.resume(1, at: second(1))],
                [fixture.forceQuit(2, at: second(2)), fixture.nobody(3, at: second(3))],
            ]
        }
        #expect(try fixture.lines(batch(fixture)) == other.lines(batch(other)))
    }

    @Test("A file holds what memory holds, also past the size of one piece")
    func file() throws {
        let batches = (1...500).map { [fixture.resume($0, at: second(Int64($0)))] }
        _ = try fixture.run(batches)
        let written = try String(contentsOfFile: fixture.decisionsPath, encoding: .utf8)
        #expect(written.split(separator: "\n").map(String.init) == (try fixture.lines(batches)))
    }

    @Test("A log that broke off goes on after its last whole line, and says which decision that was")
    func continuing() throws {
        _ = try fixture.run([[fixture.resume(1, at: second(1))], [fixture.resume(2, at: second(2))]])
        let whole = try Data(contentsOf: URL(fileURLWithPath: fixture.decisionsPath))
        try whole.prefix(whole.count - 10).write(to: URL(fileURLWithPath: fixture.decisionsPath))
        let (log, last) = try DecisionLog.continuing(
            fixture.decisionsPath,
            header: ReportFixture.header,
            profile: .ios17,
            names: fixture.names.text
        )
        #expect(last == DecisionID(1))
        try log.append(batch: [fixture.resume(2, at: second(2))])
        try log.flush()
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.decisionsPath)) == whole)
    }

    @Test("A log in a folder that is not there is refused with its name")
    func missingFolder() {
        let path = fixture.folder.path + "/none/decisions.ndjson"
        #expect(throws: ReportError(.missing, path: path)) {
            try DecisionLog(creating: path, header: ReportFixture.header, profile: .ios17, names: { _ in "" })
        }
    }

    @Test("A full disk is named", .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/full")))
    func full() throws {
        let log = try DecisionLog(
            creating: "/dev/full",
            header: ReportFixture.header,
            profile: .ios17,
            names: fixture.names.text
        )
        #expect(throws: ReportError(.full, path: "/dev/full")) { try log.flush() }
    }

    @Test(
        "Times show milliseconds, and more only where there is more",
        arguments: [
            (0, "T+00:00:00.000"), (8_047_250_000_000, "T+02:14:07.250"), (1_000_001_000, "T+00:00:01.000001"),
            (1_000_000_001, "T+00:00:01.000000001"), (360_000_000_000_000, "T+100:00:00.000"),
        ] as [(Int64, String)]
    )
    func times(nanoseconds: Int64, text: String) {
        #expect(LogTime.text(Instant(nanoseconds: nanoseconds)) == text)
        #expect(LogTime.instant(text) == Instant(nanoseconds: nanoseconds))
    }

    @Test(
        "What is not a time is not read as one",
        arguments: ["", "T+", "T+1:2", "T+00:61:00", "T+00:00:00.", "T+-1:00:00"]
    )
    func badTimes(text: String) {
        #expect(LogTime.instant(text) == nil)
    }

    @Test(
        "Spans show their two largest units",
        arguments: [(250, "250ms"), (1500, "1.5s"), (19_000, "19s"), (960_000, "16m"), (3_840_000, "1h4m")]
            as [(Int64, String)]
    )
    func spans(milliseconds: Int64, text: String) {
        #expect(LogTime.text(.milliseconds(milliseconds)) == text)
    }
}
