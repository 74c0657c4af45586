import Foundation
import FoundationXML
import Testing
import WakeModel
import WakeRouter

@testable import WakeReports

@Suite("Timeline, trace and JUnit")
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

    @Test("LIFE-1: an act that changed nothing says so in its row, and notes that repeat one another are one")
    func findings() throws {
        var run = try log()
        run.acts = [
            Act(event: EventID(7), at: second(14), word: "home", app: "com.acme.heart"),
            Act(event: EventID(8), at: second(14), word: "lock"),
        ]
        run.deeds = [DeedEntry(deed: .foundNoProcess, at: second(14), app: "com.acme.heart", event: EventID(7))]
        run.notes = [15, 20, 25].map { Note(text: "nobody is subscribed", app: nil, at: second($0)) }
        let lines = Timeline.text(run).split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.contains("home: nothing changed, as the app does not run (LIFE-1)") }, "\(lines)")
        #expect(lines.contains { $0.contains("  lock  ") }, "\(lines)")
        #expect(lines.filter { $0.contains("nobody is subscribed") }.count == 1, "\(lines)")
        #expect(lines.last?.contains("nobody is subscribed (x3 over 10s)") == true, "\(lines)")
    }

    @Test("Notes are not one where something was done, or a process ended, between them: each stands in its order")
    func notesApart() throws {
        var run = try log()
        run.decisions = []
        run.exits = []
        run.notes = [15, 20, 25, 30].map { Note(text: "nobody is subscribed", app: nil, at: second($0)) }
        run.acts = [Act(event: EventID(7), at: second(22), word: "bluetooth-on")]
        let lines = Timeline.text(run).split(separator: "\n").dropFirst().map { line in
            line.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }[2]
        }
        #expect(
            lines == ["nobody is subscribed (x2 over 5s)", "bluetooth-on", "nobody is subscribed (x2 over 5s)"],
            "\(lines)"
        )
    }

    @Test("The summary counts verdicts in the order of SYS-4")
    func summary() throws {
        #expect(Timeline.summary(try log()) == "4 decisions: 2 resume, 1 drop, 1 deny")
        #expect(Timeline.summary(counts: Array(repeating: 0, count: 8)) == "0 decisions")
    }

    @Test("The cells of a line while the run goes on have places of their own")
    func liveLine() {
        let row = Timeline.Row(fixture.resume(1, at: second(10)), pid: 4711, value: "0648", names: fixture.names.text)
        let line = Timeline.line(row)
        #expect(line.hasPrefix("T+00:00:10.000 com.acme.heart "))
        for (cell, column) in [("resume", 85), ("4711", 121), ("0648", 129)] {
            let offset = line.range(of: cell).map { line.distance(from: line.startIndex, to: $0.lowerBound) }
            #expect(offset == column, "\(cell)")
        }
    }

    private func results(_ fault: RunResults.Fault? = nil) -> RunResults {
        RunResults(
            title: "a <night>",
            file: "night.yaml",
            began: 1_795_233_611_120_000_000,
            took: .milliseconds(1_250),
            end: second(3_600),
            fault: fault,
            cases: [
                .init(name: "heart: resume, 3", place: "night.yaml:31", file: "night.yaml", line: 31),
                .init(
                    name: "heart: <deny>",
                    place: "night.yaml:32",
                    file: "night.yaml",
                    line: 32,
                    failure: "seen \"0\" & more",
                    details: "a\u{1}b"
                ),
                // Of results that an older version wrote.
                .init(name: "heart: resume, 3", place: "night.yaml:40"),
            ]
        )
    }

    @Test(
        "JUnit names each expectation and what was seen instead, in wall time with virtual time beside it, and stays XML"
    )
    func junit() {
        func output(_ line: String) -> String {
            "<system-out>place: night.yaml:\(line)\nvirtual-time: T+01:00:00.000</system-out>"
        }
        #expect(
            JUnitReport.text(results()) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites tests="4" failures="1" errors="0" time="1.250">
                <testsuite name="a &lt;night&gt;" tests="4" failures="1" errors="0" skipped="0" time="1.250" \
                timestamp="2026-11-21T04:00:11">
                <properties>
                <property name="file" value="night.yaml"/>
                <property name="virtual-time" value="T+01:00:00.000"/>
                </properties>
                <testcase classname="a &lt;night&gt;" name="plays to its end" file="night.yaml" time="1.250"/>
                <testcase classname="a &lt;night&gt;" name="heart: resume, 3" file="night.yaml" line="31" \
                time="0.000">\(output("31"))</testcase>
                <testcase classname="a &lt;night&gt;" name="heart: &lt;deny&gt;" file="night.yaml" line="32" \
                time="0.000"><failure \
                type="expectation" message="seen &quot;0&quot; &amp; more">expected heart: &lt;deny&gt;; seen &quot;0&quot; \
                &amp; more  [night.yaml:32]
                a\u{fffd}b</failure>\(output("32"))</testcase>
                <testcase classname="a &lt;night&gt;" name="heart: resume, 3 (2)" time="0.000">\(output("40"))</testcase>
                </testsuite>
                </testsuites>

                """
        )
    }

    @Test("JUnit has no element and no attribute where the schema of Jenkins' xUnit plug-in has none, but for places")
    func junitSchema() throws {
        let attributes: [String: Set<String>] = [
            "testsuites": ["tests", "failures", "errors", "time"],
            "testsuite": ["name", "tests", "failures", "errors", "skipped", "time", "timestamp"],
            "properties": [], "property": ["name", "value"], "system-out": [], "skipped": [],
            "testcase": ["classname", "name", "time", "file", "line"],
            "failure": ["type", "message"], "error": ["type", "message"],
        ]
        let members: [String: Set<String>] = [
            "testsuites": ["testsuite"], "testsuite": ["properties", "testcase"], "properties": ["property"],
            "testcase": ["failure", "error", "skipped", "system-out"],
        ]
        var suite = SuiteResults(began: 0, took: .zero, folder: "out", entries: [])
        suite.entries = [SuiteEntry(name: "a", scenario: "a.yaml"), SuiteEntry(name: "b", scenario: "b.yaml")]
        suite.entries[0].results = results(.init(kind: "timeout", message: "late"))
        suite.entries[1].outcome = .notRun
        let document = try XMLDocument(data: Data(JUnitReport.text(suite).utf8))
        var seen: Set<String> = []
        for case let element as XMLElement in try document.nodes(forXPath: "//*") {
            let name = element.name ?? ""
            seen.insert(name)
            let found = Set((element.attributes ?? []).compactMap(\.name))
            #expect(found.subtracting(attributes[name] ?? []) == [], "\(name)")
            let inside = Set((element.children ?? []).compactMap { $0 as? XMLElement }.compactMap(\.name))
            #expect(inside.subtracting(members[name] ?? []) == [], "\(name)")
        }
        #expect(seen == Set(attributes.keys))
    }

    @Test("A run that was played to its end has the line where its steps begin in JUnit, as far as that is known")
    func junitLine() {
        var played = results()
        let test = "name=\"plays to its end\" file=\"night.yaml\""
        #expect(JUnitReport.text(played).contains(test + " time="))
        played.line = 12
        #expect(JUnitReport.text(played).contains(test + " line=\"12\" time="))
        played.fault = .init(kind: "interrupted", message: "interrupted")
        #expect(JUnitReport.text(played).contains(test + " line=\"12\" time="))
        played.fault = .init(kind: "timeout", message: "late", file: "night.yaml", line: 3)
        #expect(JUnitReport.text(played).contains(test + " line=\"3\" time="))
    }

    @Test("What ends a run early is an error in JUnit, though every expectation was met")
    func junitError() {
        let fault = RunResults.Fault(
            kind: "timeout",
            message: "night.yaml:3: waited 5 s",
            details: "by T+00:00:05.000",
            file: "night.yaml",
            line: 3
        )
        var late = results(fault)
        late.cases.removeAll { $0.failure != nil }
        let text = JUnitReport.text(late, header: ReportFixture.header)
        #expect(text.contains("tests=\"3\" failures=\"0\" errors=\"1\""))
        #expect(
            text.contains(
                "name=\"plays to its end\" file=\"night.yaml\" line=\"3\" time=\"1.250\"><error type=\"timeout\" "
                    + "message=\"night.yaml:3: waited 5 s\">by T+00:00:05.000</error></testcase>"
            )
        )
        #expect(text.contains("<property name=\"freezer\" value=\"cgroup2\"/>"))
    }

    @Test("The results of a run are read back from its folder as they were")
    func savedResults() throws {
        let folder = fixture.folder.path
        #expect(try RunResults(folder: folder) == nil)
        let placed = RunResults.Fault(kind: "timeout", message: "a", details: "a\nb", file: "n/a.yaml", line: 7)
        #expect(placed.explanation == "b")
        let interrupted = results(.init(kind: "interrupted", message: "a\n\"b\"", details: "c"))
        for each in [results(), interrupted, results(placed)] {
            try each.save(to: folder)
            #expect(try RunResults(folder: folder) == each)
        }
        try Data("{}\n".utf8).write(to: fixture.folder.appending(path: RunResults.name))
        let foreign = ReportError(.foreign("not the results of a run"), path: "\(folder)/\(RunResults.name)")
        #expect(throws: foreign) { try RunResults(folder: folder) }
    }

    @Test("One of something is told in the singular, and errors of a suite in the plural")
    func plurals() {
        var entries = ["a", "b"].map { SuiteEntry(name: $0, scenario: "\($0).yaml") }
        for place in entries.indices { entries[place].outcome = .error }
        let two = SuiteResults(began: 0, took: .zero, folder: "out", entries: entries)
        #expect(two.summary == "2 runs: 2 errors; 0.000 s")
        entries.removeLast()
        entries[0].outcome = .passed
        let one = SuiteResults(began: 0, took: .zero, folder: "out", entries: entries)
        #expect(one.summary == "1 run: 1 passed; 0.000 s")
        #expect(SuitePage.text(one).contains("<h1>1 of 1 run passed</h1>"))
        let missed = JUnitReport.Case(name: "heart deny: 1", place: "a.yaml:5", failure: "found 0")
        #expect(RunResults(title: "a", file: "a.yaml", cases: [missed]).failed == "1 of 1 expectation not met")
    }

    @Test("Who has the results open while they are written again has them whole, as they were")
    func resultsAtOnce() throws {
        let folder = fixture.folder
        try results().save(to: folder.path)
        let file = folder.appending(path: RunResults.name)
        let before = try Data(contentsOf: file)
        let opened = try FileHandle(forReadingFrom: file)
        try results(.init(kind: "interrupted", message: "later")).save(to: folder.path)
        #expect(try opened.readToEnd() == before)
        #expect(try Data(contentsOf: file) != before)
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: RunResults.unfinishedName).path))
    }

    @Test(
        "A failure names the moment, how processes ended where that was expected, the nearest decisions, and the command"
    )
    func nearest() throws {
        let text = NearestDecisions(try log()).text(
            app: "com.acme.heart",
            sought: .init(verdict: .resume, kind: .characteristicNotified),
            at: second(12),
            folder: "out"
        )
        let notified = "characteristic-notified heart-rate-belt/2A37"
        #expect(
            text == """
                by T+00:00:12.000
                nearest decisions about com.acme.heart:
                  T+00:00:10.000  \(notified)  resume, Resumed [LIFE-4]  (e-000001)
                  T+00:00:11.000  \(notified)  resume, Resumed [LIFE-4]  (e-000002)
                  T+00:00:12.000  region-entered home  deny, ForceQuit [LAUNCH-2]  (e-000003)
                wakebench why com.acme.heart --run out
                """
        )
        let ends = NearestDecisions(try log()).text(
            app: "com.acme.heart",
            sought: .init(),
            ends: true,
            at: second(12),
            folder: "out"
        )
        let end = "  T+00:00:12.000  user-force-quit  was swiped away by the user  (x-17)"
        #expect(
            ends.hasPrefix("by T+00:00:12.000\nends of com.acme.heart:\n\(end)\nnearest decisions about "),
            "\(ends)"
        )
        let command = NearestDecisions(try log()).text(app: "a", sought: .init(), at: second(1), folder: "it's mine")
        #expect(command.hasSuffix("\nwakebench why a --run 'it'\\''s mine'"), "\(command)")
        let nothing = NearestDecisions(try log()).text(
            app: "com.acme.other",
            sought: .init(),
            at: second(1),
            folder: "o"
        )
        #expect(nothing.contains("nothing was decided about com.acme.other"))
        let none = NearestDecisions(try log()).text(
            app: "com.acme.heart",
            sought: .init(),
            ends: true,
            at: second(11),
            folder: "o"
        )
        #expect(none.hasPrefix("by T+00:00:11.000\nno process of com.acme.heart ended\n"), "\(none)")
    }

    @Test("The trace is JSON whose arrows have one start, and whose slices on a row never overlap")
    func trace() throws {
        let text = try ChromeTrace.text(try log())
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
    }

    @Test("A state that lasts to the end of the trace is closed there and says that it is open")
    func openState() throws {
        let text = try ChromeTrace.text(try log())
        #expect(
            text.contains(
                #""cat":"state","name":"background","args":{"os_pid":4711,"open":true}"#
            )
        )
    }

    @Test("Numbers of a doctored log end no report", arguments: [Int64.min, -999_999_999_999_999_999, .max])
    func doctoredNumbers(number: Int64) throws {
        let text = try fixture.lines([[fixture.resume(1, at: second(10))]]).joined(separator: "\n") + "\n"
        let numbers = text.replacing(/"(left_ms|used_ms|limit_ms)":[0-9]+/) { "\"\($0.1)\":\(number)" }
        for text in [numbers, numbers.replacing(/,"left_ms":[^}]*/, with: "")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: fixture.decisionsPath))
            let exit = #"{"schema":"wake.exit/1","id":"x-1","app":"a","t":"T+00:00:11.000","cause":"crash","code":"#
            let receiver = #"{"schema":"wake.receiver/1","app":"a","on_ms":"#
            let lines = "\(exit)\(number)}\n\(receiver)\(number)}\n"
            try Data(lines.utf8).write(to: URL(fileURLWithPath: fixture.outcomesPath))
            let log = try RunLog(folder: fixture.folder.path, evidence: true)
            #expect(log.decisions.count == 1 && log.exits.count == 1)
            #expect(try PageReading(HTMLReport.bytes(.init(log, title: ""))).runs.count == 1)
            #expect(try !ChromeTrace.text(log).isEmpty)
            for app in log.apps + ["a"] { #expect(!Why(log, app: app).explanation().isEmpty) }
        }
    }

    @Test("What was decided anew stands below the unlock that let it be, though its event is older (LAUNCH-5)")
    func decidedAnew() throws {
        var waiting = fixture.resume(1, at: second(10), event: 1)
        waiting.verdict = .defer
        var later = fixture.resume(2, at: second(300), event: 1)
        later.supersedes = DecisionID(1)
        var log = try fixture.run([[waiting], [later]])
        log.acts = [Act(event: EventID(5), at: second(300), word: "unlock")]
        let events = Timeline.text(log).split(separator: "\n").dropFirst().map { $0.contains("unlock") }
        #expect(events == [false, true, false])
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

    @Test("A row that cites a source of no row, and a source that is there twice, are refused with their lines")
    func sources() throws {
        let rules = Array(
            "id\tsentence\tfigure\tprofiles\tconfidence\tnote\tassumed\tsources\talias\tdeed\tmissing\n".utf8
        )
        var all = rules
        for rule in RuleID.allCases { all += Array("\(rule.text)\tIt is so.\t\tall\tdesign\t\t\tguide\t\t\t\n".utf8) }
        let guide = Array("source\ttitle\nguide\tThe Guide\n".utf8)
        #expect(try RuleCatalogue.entries(rules: all, sources: guide).last?.sources == ["The Guide"])
        #expect(throws: TableError("rules.tsv", line: 2, "sources: there is no guide")) {
            try RuleCatalogue.entries(rules: all, sources: Array("source\ttitle\n".utf8))
        }
        #expect(throws: TableError("sources.tsv", line: 3, "guide is there already")) {
            try RuleCatalogue.entries(rules: all, sources: guide + Array("guide\tThe Guide\n".utf8))
        }
    }

    @Test("An alias names a rule that is none itself")
    func aliases() {
        let aliases = RuleCatalogue.entries.compactMap(\.aliasOf)
        #expect(aliases.count == 5)
        #expect(aliases.allSatisfy { RuleCatalogue.entry($0).aliasOf == nil })
    }

    @Test("The checks of a decision are in the order of the rulebook")
    func order() {
        let rules = Check.allCases.map(\.rule)
        #expect(rules == rules.sorted { $0.rawValue < $1.rawValue })
    }
}
