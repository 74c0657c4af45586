import Foundation
import Testing
import WakeModel
import WakeReports
import WakeRouter

@Suite("Timeline, trace, JUnit and the page")
struct RenderingTests {
    let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    private func log() throws -> RunLog {
        var log = try fixture.run(
            [
                [fixture.resume(1, at: second(10))], [fixture.resume(2, at: second(11))],
                [fixture.forceQuit(3, at: second(12))], [fixture.nobody(4, at: second(13))],
            ],
            outcomes: [fixture.outcome(1, value: "0648")]
        )
        log.moves = [
            StateMove(app: "com.acme.heart", at: second(9), from: .background, to: .suspended, pid: 4711),
            StateMove(app: "com.acme.heart", at: second(10), from: .suspended, to: .background, pid: 4711),
        ]
        log.exits = [
            ExitEntry(
                number: 17,
                app: "com.acme.heart",
                at: second(12),
                generation: 1,
                cause: .userForceQuit,
                code: -9,
                stateBefore: .suspended,
                pid: 4711
            )
        ]
        log.notes = [.init(text: "strap back in range", app: nil, at: second(13))]
        return log
    }

    @Test("The timeline has decisions, ends and notes in order of time, repeats folded")
    func timeline() throws {
        let notified = "characteristic-notified heart-rate-belt/2A37"
        let rows = [
            ["TIME", "APP", "EVENT", "VERDICT", "REASON", "PID", "VALUE"],
            ["T+00:00:10.000", "com.acme.heart", "\(notified) (x2 over 1s)", "resume", "Resumed", "4711", "0648"],
            ["T+00:00:12.000", "com.acme.heart", "region-entered home", "deny", "ForceQuit", "-"],
            ["T+00:00:12.000", "com.acme.heart", "process ended", "-", "user-force-quit", "4711"],
            ["T+00:00:13.000", "-", notified, "drop", "NoRegistration", "-"],
            ["T+00:00:13.000", "-", "strap back in range", "-", "-", "-"],
        ]
        let lines = Timeline.text(try log()).split(separator: "\n").map(String.init)
        let cells = lines.map { line in
            line.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        #expect(cells == rows)
        let column = try #require(lines[0].range(of: "VERDICT")).lowerBound.utf16Offset(in: lines[0])
        let verdicts = lines.dropFirst().map { line in String(line.dropFirst(column).prefix { $0 != " " }) }
        #expect(verdicts == ["resume", "deny", "-", "drop", "-"])
    }

    @Test("The summary counts verdicts in the order of SYS-4")
    func summary() throws {
        #expect(Timeline.summary(try log()) == "4 decisions: 2 resume, 1 drop, 1 deny")
        #expect(Timeline.summary(counts: Array(repeating: 0, count: 8)) == "0 decisions")
    }

    @Test("A line while the run goes on lies under its head")
    func liveLine() {
        let row = Timeline.Row(fixture.resume(1, at: second(10)), pid: 4711, value: "0648", names: fixture.names.text)
        let line = Timeline.line(row)
        #expect(line.hasPrefix("T+00:00:10.000 com.acme.heart "))
        for word in ["VERDICT", "PID", "VALUE"] {
            let cell = ["VERDICT": "resume", "PID": "4711", "VALUE": "0648"][word] ?? ""
            let headOffset = Timeline.head.range(of: word).map {
                Timeline.head.distance(from: Timeline.head.startIndex, to: $0.lowerBound)
            }
            let lineOffset = line.range(of: cell).map { line.distance(from: line.startIndex, to: $0.lowerBound) }
            #expect(headOffset == lineOffset, "\(word)")
        }
    }

    @Test("JUnit names each expectation and what was seen instead, and stays XML")
    func junit() {
        let text = JUnitReport.text(
            suite: "night",
            lasted: .milliseconds(12_345),
            [
                .init(name: "heart: resume, 3", place: "night.yaml:31"),
                .init(name: "heart: <deny>", place: "night.yaml:32", failure: "seen \"0\" & more", details: "a\u{1}b"),
            ]
        )
        #expect(
            text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites tests="2" failures="1">
                <testsuite name="night" tests="2" failures="1" errors="0" skipped="0" time="12.345">
                <testcase classname="night.yaml:31" name="heart: resume, 3"/>
                <testcase classname="night.yaml:32" name="heart: &lt;deny&gt;"><failure \
                message="seen &quot;0&quot; &amp; more">a\u{fffd}b</failure></testcase>
                </testsuite>
                </testsuites>

                """
        )
    }

    @Test("The trace is JSON whose arrows have one start, and whose slices on a row never overlap")
    func trace() throws {
        let text = ChromeTrace.text(try log(), wallStart: 0)
        let trace = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let events = try #require(trace["traceEvents"] as? [[String: Any]])
        let starts = events.filter { $0["ph"] as? String == "s" }.compactMap { $0["id"] as? Int }
        #expect(starts == [1, 2, 3])
        #expect(Set(starts).count == starts.count)
        for phase in ["t", "f"] {
            #expect(events.filter { $0["ph"] as? String == phase }.compactMap { $0["id"] as? Int } == starts)
        }
        var ends: [String: Int] = [:]
        for event in events where event["ph"] as? String == "X" {
            let row = "\(event["pid"] ?? 0)/\(event["tid"] ?? 0)"
            let start = try #require(event["ts"] as? Int)
            #expect(start >= ends[row] ?? 0, "\(row)")
            ends[row] = start + (event["dur"] as? Int ?? 0)
        }
        let other = try #require(trace["otherData"] as? [String: Any])
        #expect(other["schema"] as? String == "wake.trace/1")
        #expect(other["wall_start"] as? String == "1970-01-01T00:00:00.000Z")
    }

    @Test("A state that lasts to the end of the trace is closed there and says that it is open")
    func openState() throws {
        let text = ChromeTrace.text(try log())
        #expect(
            text.contains(
                #""cat":"state","name":"background","args":{"schema":"wake.trace/1","os_pid":4711,"open":true}"#
            )
        )
    }

    @Test("The page is one file without links, with every verdict of the run and the failed expectation")
    func page() throws {
        let page = HTMLReport.text(
            try log(),
            title: "a <night>",
            cases: [.init(name: "heart: resume", place: "night.yaml:3", failure: "seen 0")]
        )
        #expect(page.contains("<title>a &lt;night&gt;</title>"))
        #expect(!page.contains("http") && !page.contains("src=") && !page.contains("href="))
        for verdict in ["resume", "drop", "deny"] { #expect(page.contains("class=\"v-\(verdict)\"")) }
        for word in ["ForceQuit", "LAUNCH-2", "x-17", "user-force-quit", "0648", "seen 0", "s-suspended"] {
            #expect(page.contains(word), "\(word)")
        }
    }

    @Test("A page of many decisions stays small enough to open")
    func largePage() throws {
        let log = DecisionLog(header: ReportFixture.header, profile: .ios17, names: fixture.names.text)
        for number in 1...8_000 as ClosedRange<UInt64> {
            let at = second(Int64(number))
            try log.append(batch: [number % 2 == 0 ? fixture.resume(number, at: at) : fixture.forceQuit(number, at: at)]
            )
        }
        try Data(log.contents.utf8).write(to: URL(fileURLWithPath: fixture.decisionsPath))
        let page = HTMLReport.text(try RunLog(folder: fixture.folder.path), title: "long")
        #expect(page.utf8.count < 6 << 20)
        #expect(page.contains("3000 more lines are in decisions.ndjson"))
    }
}

@Suite("The rule catalogue")
struct RuleCatalogueTests {
    @Test("Every rule is there once, in the order of the ids")
    func complete() {
        #expect(RuleCatalogue.entries.map(\.id) == RuleID.allCases)
        #expect(RuleCatalogue.entry(.launch2).sentence.hasPrefix("An app force-quit by the user is not launched"))
    }

    @Test("Every rule has a sentence, and a public source unless it is a rule of the bench", arguments: RuleID.allCases)
    func sentences(rule: RuleID) {
        let entry = RuleCatalogue.entry(rule)
        #expect(entry.sentence.hasSuffix("."))
        #expect(!entry.profiles.isEmpty)
        #expect(entry.sources.isEmpty == (entry.confidence == .design))
    }

    @Test("An alias names a rule that is none itself")
    func aliases() {
        let aliases = RuleCatalogue.entries.compactMap(\.aliasOf)
        #expect(aliases.count == 4)
        #expect(aliases.allSatisfy { RuleCatalogue.entry($0).aliasOf == nil })
    }

    @Test("The checks of a decision are in the order of the rulebook")
    func order() {
        let rules = Check.allCases.map(\.rule)
        #expect(rules == rules.sorted { $0.rawValue < $1.rawValue })
    }
}
