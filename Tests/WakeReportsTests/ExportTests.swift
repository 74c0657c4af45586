import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("A run in the forms that others read")
struct ExportTests {
    let fixture: ReportFixture
    let log: RunLog

    init() throws {
        fixture = try ReportFixture()
        var log = try fixture.run(
            [
                [fixture.resume(1, at: second(20))], [fixture.forceQuit(2, at: second(90), quitAt: second(60))],
                [fixture.nobody(3, at: second(95))],
            ],
            outcomes: [fixture.outcome(1, value: "0048")]
        )
        log.moves = [
            StateMove(app: "com.acme.heart", at: second(20), from: .suspended, to: .background),
            StateMove(app: "com.acme.heart", at: second(30), from: .background, to: .suspended),
            StateMove(app: "com.acme.heart", at: second(60), from: .suspended, to: .notRunning),
            // The last instant of a run is inside of the drawing.
            StateMove(app: "com.acme.heart", at: second(95), from: .notRunning, to: .background),
        ]
        log.acts = [
            Act(event: EventID(8), at: second(40), word: "lock", locked: true),
            Act(
                event: EventID(9),
                at: second(60),
                word: "force quit",
                app: "com.acme.heart",
                origin: "a, \"b\".yaml:3"
            ),
        ]
        log.notes = [Note(text: "back <in> range, & \"well\"\nagain", at: second(50))]
        self.log = log
    }

    /// The names of the elements, each closed where it was opened; nil for a text that is not well-formed.
    private func elements(_ xml: String) -> [String]? {
        var (open, seen): ([String], [String]) = ([], [])
        var rest = xml[...]
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            guard !rest[..<start].contains(">") else { return nil }
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("?") { continue }
            if tag.hasPrefix("/") {
                guard open.popLast() == String(tag.dropFirst()) else { return nil }
                continue
            }
            let name = String(tag.prefix { $0 != " " && $0 != "/" })
            seen.append(name)
            if !tag.hasSuffix("/") { open.append(name) }
        }
        return open.isEmpty ? seen : nil
    }

    @Test("The drawing is well-formed, needs nothing beside it, and shows what was refused as hollow")
    func drawing() throws {
        let text = TimelineSVG.text(log, title: "night <1> & \"2\"")
        let names = try #require(elements(text))
        #expect(names.first == "svg")
        #expect(names.contains("title"))
        #expect(!text.replacing("http://www.w3.org/2000/svg", with: "").contains("http"))
        #expect(text.contains("class=\"hollow\""))
        #expect(text.contains("class=\"locked\""))
        #expect(text.contains("prefers-color-scheme:dark"))
        #expect(text.contains(">com.acme.heart</text>"))
        #expect(TimelineSVG.text(log, title: "x") == TimelineSVG.text(log, title: "x"))
    }

    @Test("No mark of the drawing lies outside of it")
    func inside() throws {
        let text = TimelineSVG.text(log, title: "x")
        for match in text.matches(of: #/ x="(\d+)" y="\d+" width="(\d+)"/#) {
            let (x, width) = (try #require(Int(match.output.1)), try #require(Int(match.output.2)))
            #expect(x + width <= TimelineSVG.width)
        }
    }

    @Test("However long the run, the drawing stays small")
    func bounded() throws {
        var long = log
        let decision = log.decisions[0]
        long.decisions = (0..<20_000).map { number in
            var other = decision
            other.at = second(Int64(number))
            other.app = "com.acme.app\(number % 80)"
            return other
        }
        long.end = second(20_000)
        let text = TimelineSVG.text(long, title: "x")
        #expect(text.utf8.count < 2 << 20)
        #expect(text.contains("and 21 more apps"))
    }

    @Test("The table has Battery Historian's columns in each row, and quotes what needs it")
    func table() throws {
        let lines = HistorianCSV.text(log, start: 1_000_000_000_000_000_000).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        #expect(lines.first == "metric,type,start_time,end_time,value,opt")
        #expect(lines.contains("App state,string,1000000020000,1000000030000,background,com.acme.heart"))
        #expect(lines.contains("Wakeup,string,1000000020000,1000000020000,bluetooth:heart-rate-belt/2A37,d-000001"))
        #expect(lines.contains("Wakeup refused,string,1000000090000,1000000090000,ForceQuit,d-000002"))
        #expect(lines.contains("Locked,bool,1000000040000,1000000095000,true,"))
        let note = #"Note,string,1000000050000,1000000050000,"back <in> range, & ""well""\nagain","#
        #expect(lines.contains(Substring(note)))
        let plain = lines.filter { !$0.contains("\"") && !$0.isEmpty }
        #expect(plain.allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == 6 })
    }

    @Test(
        "No cell of the table is a formula to a spreadsheet, or anything that a terminal obeys",
        arguments: [
            ("=HYPERLINK(1)", "'=HYPERLINK(1)"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(1)", "'@SUM(1)"),
            ("\t=1", #"'\t=1"#), ("\r=1", #"'\r=1"#), ("a\u{1b}[2J\u{7}b", #"a\u{1B}[2J\u{7}b"#), ("1=1", "1=1"),
            ("=a,\"b\"", #""'=a,""b""""#), ("\u{ff1d}1", "'\u{ff1d}1"), ("\u{ff0b}1", "'\u{ff0b}1"),
            ("\u{ff0d}1", "'\u{ff0d}1"), ("\u{ff20}SUM(1)", "'\u{ff20}SUM(1)"), ("1\u{ff1d}1", "1\u{ff1d}1"),
        ]
    )
    func cells(text: String, cell: String) {
        var other = log
        (other.acts, other.moves) = ([], [])
        other.notes = [Note(text: text, app: text, at: second(1))]
        let lines = HistorianCSV.text(other, start: 0).split(separator: "\n")
        #expect(lines.contains(Substring("Note,string,1000,1000,\(cell),\(cell)")))
    }

    @Test("The summary says what was not met, and why events did not reach the app")
    func summary() throws {
        var results = RunResults(title: "night|1", file: "night.yaml")
        results.cases = [
            .init(name: "heart deny: 0", place: "night.yaml:31", failure: "found 1", details: "by T+1"),
            .init(name: "heart resume: at least 1", place: "night.yaml:32"),
        ]
        let text = MarkdownSummary.text(log, results: results, title: "x")
        #expect(text.hasPrefix("## night\\|1: 1 of 2 expectations not met\n"))
        #expect(text.contains("| **not met** | heart deny: 0 | found 1 | `night.yaml:31` |"))
        #expect(text.contains("| ForceQuit | LAUNCH-2 | com.acme.heart | 1 | T+00:01:30.000 region-entered home |"))
        #expect(text.contains("| com.acme.heart | 1 | 0 | 0 | 1 | 0 |"))
    }

    @Test("The trace says when it began by the wall clock, for traces that are laid beside it")
    func wallStart() throws {
        let place = fixture.folder.appending(path: "trace.json").path
        try ChromeTrace.save(log, to: place, began: 1_795_233_611_120_000_000)
        let data = try Data(contentsOf: URL(fileURLWithPath: place))
        let other = try (JSONSerialization.jsonObject(with: data) as? [String: Any])?["otherData"] as? [String: Any]
        #expect(other?["wall_start"] as? String == WallTime.text(1_795_233_611_120_000_000))
        #expect(other?["wall_start_us"] as? Int == 1_795_233_611_120_000)
        #expect(other?["clock"] as? String == "virtual")
    }
}
