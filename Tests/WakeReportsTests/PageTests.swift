import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("The page of a run")
struct PageTests {
    let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    private static let heart = "com.acme.heart"

    private func page(_ log: RunLog, _ results: RunResults? = nil) throws -> PageReading {
        try PageReading(HTMLReport.bytes(.init(log, title: "a run", results: results)))
    }

    /// The folder read anew, with its records in full.
    private func log() throws -> RunLog { try RunLog(folder: fixture.folder.path, evidence: true) }

    private func night() throws -> RunLog {
        _ = try fixture.run(
            [
                [fixture.resume(1, at: second(10))],
                [
                    fixture.resume(2, at: second(11)),
                    fixture.resume(3, at: second(11), event: 2, app: 1, bundle: "com.acme.run"),
                ],
                [fixture.forceQuit(4, at: second(12), event: 9)], [fixture.nobody(5, at: second(13), event: 6)],
            ],
            outcomes: [fixture.outcome(1, value: "0648"), fixture.outcome(3, value: "0649", pid: 12)]
        )
        return try log()
    }

    @Test("It is one file that asks for nothing, with the title, the fault and the expectations as text")
    func oneFile() throws {
        let results = RunResults(
            title: "a <night>",
            file: "night.yaml",
            fault: .init(kind: "timeout", message: "waited <5 s>"),
            cases: [.init(name: "heart: <deny>", place: "night.yaml:32", failure: "seen \"0\" & more", details: "<b>")]
        )
        let text = try page(try night(), results).text
        #expect(!text.contains("http") && !text.contains("src=") && !text.contains("href="))
        #expect(!text.contains("@import") && !text.contains("url("))
        for part in [
            "<title>a &lt;night&gt;</title>", "heart: &lt;deny&gt;", "seen &quot;0&quot; &amp; more", "&lt;b&gt;",
            "timeout: waited &lt;5 s&gt;", "prefers-color-scheme: dark",
        ] { #expect(text.contains(part), "\(part)") }
    }

    @Test("The page of a run that failed begins with what failed, and marks when")
    func failed() throws {
        var results = RunResults(
            title: "night",
            file: "night.yaml",
            end: second(20),
            cases: [
                .init(name: "heart resume: 1", place: "night.yaml:31"),
                .init(name: "heart deny: 0", place: "night.yaml:32", failure: "found 1", at: second(12)),
            ]
        )
        let log = try night()
        let failed = try page(log, results)
        #expect(failed.text.contains("<h1><span class=\"missed\">1 of 2 expectations not met</span> night</h1>"))
        #expect(failed.list("failures") == ["12000000000 -1 not met: heart deny: 0; found 1 night.yaml:32"])
        let places = try [">night.yaml:32<", ">night.yaml:31<", "<p>\(Timeline.summary(log))</p>"].map { part in
            try #require(failed.text.range(of: part), "\(part)").lowerBound
        }
        #expect(places == places.sorted())
        results.fault = .init(kind: "timeout", message: "night.yaml:3: waited 5 s")
        let ended = try page(log, results)
        #expect(ended.text.contains("<span class=\"missed\">ended by timeout, 1 of 2 expectations not met</span>"))
        #expect(ended.list("failures").last == "20000000000 -1 timeout: night.yaml:3: waited 5 s ")
        results.fault = nil
        results.cases.removeLast()
        let passed = try page(log, results)
        #expect(passed.text.contains("<h1>night</h1>"))
        #expect(passed.list("failures") == [])
    }

    @Test("When an expectation was missed is kept with the results: with the first decision too many")
    func missedAt() throws {
        let log = try night()
        let resumes = DecisionFilter(verdict: .resume)
        #expect(NearestDecisions(log).excess(app: Self.heart, sought: resumes, over: 1) == second(11))
        #expect(NearestDecisions(log).excess(app: Self.heart, sought: resumes, over: 2) == nil)
        let missed = JUnitReport.Case(name: "heart resume: 1", place: "n:1", failure: "found 2", at: second(11))
        let results = RunResults(title: "night", file: "night.yaml", cases: [missed, .init(name: "x", place: "n:2")])
        try results.save(to: fixture.folder.path)
        #expect(try RunResults(folder: fixture.folder.path)?.cases == results.cases)
    }

    @Test("Its columns have every decision of the log, with its time, ids, app, event, ruling and window")
    func decisions() throws {
        let log = try night()
        let page = try page(log)
        #expect(try page.sums("decisions time") == log.decisions.map(\.at.nanoseconds))
        #expect(try page.sums("decisions number") == [1, 2, 3, 4, 5])
        #expect(try page.sums("decisions event") == [1, 2, 2, 9, 6])
        let apps = page.texts("apps")
        let (whats, rulings, budgets) = (page.list("whats"), page.list("rulings"), page.list("budgets"))
        #expect(try page.column("decisions app").map { $0 == 0 ? nil : apps[Int($0) - 1] } == log.decisions.map(\.app))
        let happenings = log.decisions.map { "\($0.source) \($0.kind) \($0.subject)" }
        #expect(try page.column("decisions what").map { whats[Int($0)] } == happenings)
        let words = log.decisions.map { "\($0.verdict.word) \($0.reason.word) \($0.rule.text)" }
        #expect(try page.column("decisions ruling").map { rulings[Int($0)] } == words)
        let windows = log.decisions.map { decision in decision.budget.map { "\($0.limit) \($0.left)" } }
        #expect(try page.column("decisions budget").map { $0 == 0 ? nil : budgets[Int($0) - 1] } == windows)
    }

    @Test("It has what became of decisions: process, time, end, and each callback with its value")
    func outcomes() throws {
        let page = try page(try night())
        #expect(try page.column("outcomes decision") == [0, 2])
        #expect(try page.sums("outcomes pid") == [4711, 12])
        #expect(try page.column("outcomes used") == [612_000_001, 612_000_001])
        #expect(try page.column("outcomes calls") == [1, 1])
        let texts = page.texts("texts")
        #expect(try page.column("calls name").map { texts[Int($0)] } == ["didUpdateValueFor", "didUpdateValueFor"])
        #expect(try page.column("calls value").map { texts[Int($0) - 1] } == ["0648", "0649"])
    }

    @Test("Each record in full can be put together again, to the letter")
    func records() throws {
        let page = try page(try night())
        let lines = ShapedLines.records(of: try String(contentsOfFile: fixture.decisionsPath, encoding: .utf8))
        #expect(try page.records() == Array(lines.dropFirst()))
    }

    @Test("So can those of a log that has them in full, whatever their values look like")
    func wholeRecords() throws {
        var lines = try fixture.lines([
            [fixture.resume(1, at: second(10))], [fixture.forceQuit(2, at: second(12))],
            [fixture.nobody(3, at: second(13))],
        ])
        let strange = ["e-5", "d-000001", "x-017", "T+1:2:3", "T+00:00:01.500000", "$0", "a\\u003cb\\\"c", "1e5"]
        for name in strange {
            lines.append(lines[1].replacing(/"subject":"[^"]*"/, with: "\"subject\":\"\(name)\""))
        }
        lines.append(lines[1].replacing(/"limit_ms":[0-9]+/, with: "\"limit_ms\":123456789012345678"))
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: fixture.decisionsPath))
        let log = try log()
        #expect(log.decisions.count == lines.count - 1)
        #expect(try page(log).records() == Array(lines.dropFirst()))
    }

    @Test("What apps and devices are called never leaves its place in the page")
    func hostileNames() throws {
        let name = "</script><script>alert(1)</script><!--\u{2028}]]>&amp;'\""
        let decision = fixture.resume(1, at: second(10), app: 7, bundle: name)
        _ = try fixture.run([[decision]])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(AppEntry(app: name, name: name))
        try outcomes.append(Note(text: name, app: name, at: second(11)))
        try outcomes.append(RangeEntry(device: name, at: second(11), inRange: false))
        try outcomes.append(ReceiverEntry(app: name, at: second(12), milliseconds: 5))
        try outcomes.flush()
        let page = try page(try log())
        let plain = try self.page(try night())
        #expect(page.texts("apps") == [name])
        #expect(page.list("notes") == ["11000000000 0 \(name)"])
        // The scripts of the page itself, and of its data.
        for tag in ["<script", "</script", "<!--"] {
            #expect(
                page.text.components(separatedBy: tag).count == plain.text.components(separatedBy: tag).count,
                "\(tag)"
            )
        }
        #expect(!page.text.contains("alert(1)</script>"))
    }

    @Test("The same run gives the same bytes")
    func sameBytes() throws {
        let first = HTMLReport.bytes(.init(try night(), title: "a run"))
        #expect(try HTMLReport.bytes(.init(log(), title: "a run")) == first)
    }

    @Test("A page of many decisions has all of them, and is small enough to open")
    func large() throws {
        let log = DecisionLog(header: ReportFixture.header, profile: .ios17, names: fixture.names.text)
        for number in 1...8_000 as ClosedRange<UInt64> {
            let at = second(Int64(number))
            try log.append(batch: [number % 2 == 0 ? fixture.resume(number, at: at) : fixture.forceQuit(number, at: at)]
            )
        }
        try Data(log.contents.utf8).write(to: URL(fileURLWithPath: fixture.decisionsPath))
        let page = try page(try self.log())
        #expect(try page.column("decisions number").count == 8_000)
        #expect(page.text.utf8.count < 1 << 20)
    }

    // MARK: What lasts

    @Test("AUD-9: the phone is locked from the act that locked it to the one that unlocked it, whatever they are")
    func locked() throws {
        _ = try fixture.run([])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        // Without a passcode a reboot leaves the phone open; the removal of one opens a locked phone.
        let acts =
            [("reboot", 20, false), ("lock", 30, true), ("passcode removed", 40, false)] as [(String, Int64, Bool)]
        for (number, act) in acts.enumerated() {
            let id = EventID(UInt64(number) + 1)
            try outcomes.append(Act(event: id, at: second(act.1), word: act.0, locked: act.2))
        }
        try outcomes.append(Act(event: EventID(9), at: second(50), word: "charger connected", locked: false))
        try outcomes.append(EndEntry(at: second(60)))
        try outcomes.flush()
        let rows = try page(try log()).runs[0]["phoneRows"] as? [Any] ?? []
        #expect(rows.map(PageReading.bands) == [["30000000000 locked", "40000000000 "], ["50000000000 charging"]])
    }

    @Test("A device is linked from what says that it connected to what says that it went, and out of range in between")
    func devices() throws {
        var connected = fixture.resume(1, at: second(10))
        connected.kind = .peripheralConnected
        var gone = fixture.resume(2, at: second(20))
        gone.kind = .peripheralDisconnected
        _ = try fixture.run([[connected], [gone], [fixture.resume(3, at: second(30))]])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(RangeEntry(device: "heart-rate-belt", at: second(15), inRange: false))
        try outcomes.append(RangeEntry(device: "heart-rate-belt", at: second(25), inRange: true))
        try outcomes.flush()
        let devices = try page(try log()).runs[0]["devices"] as? [[String: Any]] ?? []
        #expect(devices.map { $0["name"] as? String } == ["heart-rate-belt"])
        #expect(devices.map { PageReading.bands($0["link"]) } == [["10000000000 connected", "20000000000 "]])
        let range = ["0 in range", "15000000000 out of range", "25000000000 in range"]
        #expect(devices.map { PageReading.bands($0["range"]) } == [range])
    }

    private func states(_ log: RunLog) throws -> [String] {
        let page = try page(log)
        let times = try page.sums("moves time")
        return zip(times, try page.column("moves state")).map {
            "\($0 / 1_000_000_000) \(PageTracks.Shown.words[Int($1)])"
        }
    }

    @Test("An app that the user swiped away is not merely terminated, whether it had a process or not")
    func forceQuit() throws {
        var log = try fixture.run([])
        let heart = Self.heart
        log.moves = [
            StateMove(app: heart, at: second(1), from: .background, to: .suspended),
            StateMove(app: heart, at: second(2), from: .suspended, to: .notRunning),
            StateMove(app: heart, at: second(5), from: .notRunning, to: .inactive),
            StateMove(app: heart, at: second(6), from: .inactive, to: .notRunning),
        ]
        log.acts = [
            Act(event: EventID(1), at: second(3), word: "force quit", app: heart),
            Act(event: EventID(2), at: second(6), word: "force quit", app: heart),
        ]
        #expect(
            try states(log) == ["1 suspended", "2 terminated", "3 force-quit", "5 inactive", "6 force-quit"]
        )
    }

    @Test("LAUNCH-4: a reboot that lifts the bar of a force quit ends its band", arguments: ["on", "off"])
    func lifted(setting: String) throws {
        var log = try fixture.run([])
        log.header.settings["rebootLiftsForceQuit"] = setting
        log.acts = [
            Act(event: EventID(1), at: second(3), word: "force quit", app: Self.heart),
            Act(event: EventID(2), at: second(6), word: "reboot"),
        ]
        #expect(try states(log) == ["3 force-quit"] + (setting == "on" ? ["6 terminated"] : []))
    }

    @Test("Every state has its word, and every row of the phone an act that there is")
    func words() {
        #expect(PageTracks.Shown.words.count == 7)
        #expect(Set(PageTracks.phone.keys).isSubset(of: Act.words.values))
        #expect(PageTracks.devices.keys.allSatisfy { EventKind(word: $0) != nil })
    }

    // MARK: Two runs

    @Test("The page of two runs has both, what compare says of them, and each event that came to something else")
    func comparison() throws {
        let first = try night()
        _ = try fixture.run([[fixture.resume(1, at: second(10))], [fixture.forceQuit(2, at: second(11), event: 2)]])
        let second = try log()
        let page = try PageReading(HTMLReport.bytes(.init(first, title: "one"), .init(second, title: "two")))
        #expect(page.runs.map { $0["name"] as? String } == ["one", "two"])
        #expect(page.text.contains("<title>one and two, compared</title>"))
        let comparison = try #require(page.comparison)
        #expect(comparison["said"] as? [String] == RunComparison(first, second, names: ("one", "two")).lines)
        let changes = VerdictChanges(first, second).changes
        let told = (comparison["changes"] as? [[Any]] ?? []).map { $0.map { "\($0)" } }
        #expect(told.map { $0[1] } == changes.map(\.app))
        #expect(told.map { $0[6] } == changes.map { "\($0.decisions.first.number)" })
        #expect(told.map { $0[7] } == changes.map { "\($0.decisions.second.number)" })
        #expect(!changes.isEmpty)
    }
}

@Suite("Numbers in as few bytes as they need")
struct PackedBytesTests {
    @Test("Numbers of any size are read back", arguments: 1...4)
    func roundTrip(seed: UInt64) throws {
        var state = seed
        var (packed, signed) = (PackedBytes(), PackedBytes())
        var numbers: [UInt64] = [0, 1, 127, 128, .max]
        for _ in 0..<500 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            numbers.append(state >> (state & 63))
        }
        for number in numbers {
            packed.append(number)
            signed.append(signed: Int64(bitPattern: number))
        }
        var (line, other) = (LineBuffer(), LineBuffer())
        line.append(packed: packed)
        other.append(packed: signed)
        #expect(PageReading.numbers(String(line.text.dropFirst().dropLast())) == numbers)
        let read = PageReading.numbers(String(other.text.dropFirst().dropLast()))
        #expect(read?.map(PageReading.signed) == numbers.map(Int64.init(bitPattern:)))
    }
}
