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
                == #"{"schema":"wake.log/2","version":"0.1","phone":"lab-1","seed":18446744073709551615,"#
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

    @Test("What a run sets of a rule is named where the rule decides, and where it is looked at")
    func settings() throws {
        var header = ReportFixture.header
        header.settings["wakeWindow"] = "first"
        header.settings["firstUnlockGates"] = "on"
        var decision = fixture.resume(1, at: second(10))
        decision.rule = .life11
        let log = DecisionLog(header: header, profile: .ios17, names: fixture.names.text)
        try log.append(batch: [decision])
        let lines = ShapedLines.records(of: log.contents)
        #expect(lines[0].contains(#""wakeWindow":"first""#))
        #expect(lines[1].contains(#""rule":"LIFE-11","set":{"wakeWindow":"first"}"#))
        #expect(lines[1].contains(#""result":"pass","set":{"firstUnlockGates":"on"},"observed":"true""#))
        #expect(lines[1].matches(of: /"set":/).count == 2)
    }

    @Test("A line tells the same whatever lines came before it")
    func independentLines() throws {
        var decisions: [Decision] = []
        for decision in changed() { decisions += [decision, decision] }
        let together = try fixture.lines(decisions.map { [$0] }).dropFirst()
        let alone = try decisions.map { try fixture.lines([[$0]])[1] }
        #expect(Array(together) == alone)
    }

    /// Decisions each of which differs from the one before in one thing.
    private func changed() -> [Decision] {
        let changes: [(inout Decision) -> Void] = [
            { _ in }, { $0.at = second(11) }, { $0.snapshot.stateSince = second(3) },
            { $0.snapshot.budgetUsed = .seconds(2) },
            { $0.checks[.restoreIdentifier] = .fail }, { $0.verdict = .deny }, { $0.reason = .forceQuit },
            { $0.rule = .launch2 }, { $0.wouldHave = .relaunch }, { $0.kind = .peripheralDisconnected },
            { $0.snapshot.generation += 1 }, { $0.app = AppID(256) }, { $0.supersedes = DecisionID(1) },
            { $0.supersedes = DecisionID(2) }, { $0.snapshot.lastExit = 4 }, { $0.snapshot.lastExit = 5 },
            { $0.snapshot.lastExitAt = second(2) }, { $0.event = EventID(1_000_007) }, { $0.parent = EventID(3) },
            { $0.subject = fixture.names.intern("a \"belt\"\n") }, { $0.origin = fixture.names.intern("x.yaml:2") },
            { $0.snapshot.bundle = fixture.names.intern("com.acme.other") }, { $0.snapshot.restoreIdentifier = .none },
            { $0.snapshot.restoreIdentifier = fixture.names.intern("other") },
            { $0.snapshot.budgetLimit = .seconds(3) },
            { $0.checks[.notForceQuit] = .fail }, { $0.snapshot.forceQuit = true },
            { $0.snapshot.forceQuitAt = second(9) },
            { $0.snapshot.forceQuitBy = EventID(12) }, { $0.at = Instant(nanoseconds: 360_000_000_000_001) },
            { $0.snapshot.unlockedAt = second(2) }, { $0.checks[.beyondDistanceFilter] = .fail },
            { $0.snapshot.movedSquare = 1e-9 }, { $0.checks[.voipWakesLeft] = .pass }, { $0.snapshot.voipWakes = 7 },
            { $0.id = DecisionID(1_234_567) }, { $0.checks[.notForceQuit] = .pass },
            { $0.checks[.restoreIdentifier] = .pass }, { $0.checks[.beyondDistanceFilter] = .pass },
            { $0.checks[.voipWakesLeft] = .fail }, { $0.snapshot.voipWakes = 9 },
            { $0.checks[.voipWakesLeft] = .pass }, { $0.checks[.beyondDistanceFilter] = .fail },
            { $0.snapshot.movedSquare = 1e-8 }, { $0.snapshot.filterChord = 1e-6 },
        ]
        var decisions: [Decision] = []
        for change in changes {
            var next = decisions.last ?? fixture.resume(1, at: second(10), event: 1)
            change(&next)
            decisions.append(next)
        }
        return decisions
    }

    @Test("What records share is written once, and a record is its own values")
    func shapes() throws {
        let batches = (1...500).map { [fixture.resume($0, at: second(Int64($0)))] }
        let lines = try fixture.contents(batches).split(separator: "\n")
        #expect(lines.count == 502)
        #expect(
            lines[1].hasPrefix(#"{"schema":"wake.shape/1","shape":0,"record":{"schema":"wake.decision/2","seq":"$0","#)
        )
        #expect(lines.dropFirst(2).allSatisfy { $0.hasPrefix(#"{"shape":0,"values":["#) && $0.utf8.count < 300 })
        for line in lines {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        }
    }

    @Test("A record reads the same from its shape and in full")
    func sameReading() throws {
        let batches =
            changed().map { [$0, $0] } + [[fixture.nobody(9, at: second(20)), fixture.nobody(9, at: second(21))]]
        let shaped = try fixture.run(batches)
        let full = try fixture.lines(batches).joined(separator: "\n") + "\n"
        try Data(full.utf8).write(to: URL(fileURLWithPath: fixture.decisionsPath))
        let whole = try RunLog(folder: fixture.folder.path)
        #expect(shaped.decisions.count == batches.count * 2)
        #expect(shaped.decisions == whole.decisions)
        // The same without the checks.
        _ = try fixture.run(batches)
        let lean = try RunLog(folder: fixture.folder.path, checks: false)
        #expect(
            lean.decisions
                == whole.decisions.map { decision in
                    var decision = decision
                    decision.checks = []
                    return decision
                }
        )
    }

    @Test("Beyond as many shapes as a log may have, records are written in full, and read the same")
    func manyShapes() throws {
        let reasons = Reason.allCases
        let batches = (0..<4_200 as Range<Int>).map { number in
            var decision = fixture.resume(UInt64(number) + 1, at: second(Int64(number)))
            decision.reason = reasons[number % reasons.count]
            decision.rule = RuleID.allCases[number / reasons.count % 80]
            return [decision]
        }
        let contents = try fixture.contents(batches)
        #expect(contents.split(separator: "\n").contains { $0.hasPrefix(#"{"schema":"wake.decision/2","seq":4200,"#) })
        let lines = ShapedLines.records(of: contents)
        #expect(lines.count == 4_201)
        #expect(try lines.last == fixture.lines([batches[4_199]]).last)
    }

    @Test("A log that broke off at any byte and goes on is the log that never did")
    func goesOnFromAnyByte() throws {
        let batches = changed().enumerated().map { position, decision in
            var decision = decision
            decision.id = DecisionID(UInt64(position) + 1)
            return [decision]
        }
        let whole = Data(try fixture.contents(batches).utf8)
        let start = (whole.firstIndex(of: 0x0a) ?? 0) + 1
        for length in stride(from: start, through: whole.count, by: 997) {
            try whole.prefix(length).write(to: URL(fileURLWithPath: fixture.decisionsPath))
            let (log, last) = try DecisionLog.continuing(
                fixture.decisionsPath,
                header: ReportFixture.header,
                profile: .ios17,
                names: fixture.names.text
            )
            for batch in batches where batch[0].id > last { try log.append(batch: batch[...]) }
            try log.flush()
            #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.decisionsPath)) == whole, "cut at \(length)")
        }
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

    @Test("What a terminal obeys is escaped, reads back as it was, and other characters stay as they are")
    func obeyed() throws {
        let name = "a\u{9b}31m\u{7f}b\u{202e}c\u{e0001}é👨‍👩‍👧"
        var decision = fixture.resume(1, at: second(1))
        decision.subject = fixture.names.intern(name)
        let line = try fixture.lines([[decision]])[1]
        #expect(line.contains(#""subject":"a\u009b31m\u007fb\u202ec\udb40\udc01é👨‍👩‍👧""#), "\(line)")
        #expect(try fixture.run([[decision]]).decisions.first?.subject == name)
    }

    @Test("Who was woken is counted apart from who got it while running")
    func censusOfRunning() throws {
        var running = fixture.resume(2, at: second(10), event: 1)
        running.app = AppID(1)
        running.verdict = .foregroundDeliver
        running.reason = .inForeground
        let lines = try fixture.lines([[fixture.resume(1, at: second(10)), running]])
        let census = #""census":{"apps":2,"woke":1,"by_reason":{"InForeground":1}}"#
        #expect(lines[1...2].allSatisfy { $0.contains(census) })
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
        #expect(try written == fixture.contents(batches))
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
        #expect(throws: ReportError(.noFolder, path: path)) {
            try DecisionLog(creating: path, header: ReportFixture.header, profile: .ios17, names: { _ in "" })
        }
    }

    @Test("A full disk is named", .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/full")))
    func full() throws {
        #expect(throws: ReportError(.full, path: "/dev/full")) {
            try DecisionLog(
                creating: "/dev/full",
                header: ReportFixture.header,
                profile: .ios17,
                names: fixture.names.text
            )
        }
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
