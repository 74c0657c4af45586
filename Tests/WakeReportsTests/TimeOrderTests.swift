import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("A log whose times go back")
struct TimeOrderTests {
    /// A run in which one line's time was changed by hand: a state that lasts until it is over an hour before.
    private static let folder =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Logs/times-out-of-order").path
    private let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    /// Makes every form of a run, and checks of each that it is whole.
    private func makeForms(of folder: String) throws {
        let log = try RunLog(folder: folder, evidence: true)
        let results = try #require(try RunResults(folder: Self.folder))
        #expect(TimelineSVG.text(log, title: "x").hasSuffix("</svg>\n"))
        for row in HistorianCSV.text(log, start: 0).split(separator: "\n").dropFirst() {
            let cells = row.split(separator: ",", omittingEmptySubsequences: false)
            let (from, to) = (try #require(Int64(cells[2])), try #require(Int64(cells[3])))
            #expect(from <= to, "\(row)")
        }
        let trace = try ChromeTrace.text(log)
        #expect(try JSONSerialization.jsonObject(with: Data(trace.utf8)) is [String: Any])
        #expect(!trace.contains("\"dur\":-"))
        let run = HTMLReport.Run(log, title: "x", results: results)
        let original = HTMLReport.Run(try RunLog(folder: Self.folder, evidence: true), title: "y", results: results)
        #expect(HTMLReport.bytes(run).starts(with: Array("<!".utf8)))
        #expect(HTMLReport.bytes(run, original).starts(with: Array("<!".utf8)))
        #expect(MarkdownSummary.text(log, results: results, title: "x").hasPrefix("## "))
        #expect(JUnitReport.text(results, header: log.header).hasSuffix("</testsuites>\n"))
        #expect(!Timeline.text(log).isEmpty)
        let accounts = EnergyAccount.all(of: log)
        #expect(accounts.allSatisfy { $0.counts.values.allSatisfy { $0 >= 0 } })
        #expect(!EnergyAccount.lines(accounts, by: EnergyModel()).isEmpty)
        _ = TaskHistory(log, soon: .seconds(60)).lines
        _ = RunComparison(log, original.log, names: ("one", "two")).lines
        for app in log.apps {
            let why = Why(log, app: app)
            #expect(!why.explanation().isEmpty && !why.table().isEmpty && !why.table(since: .seconds(30)).isEmpty)
            _ = (why.page(), why.page(since: .seconds(30)))
        }
    }

    @Test("Every form of a run is made of a log in which a state ends before it begins")
    func backwards() throws {
        try makeForms(of: Self.folder)
    }

    @Test("Every form of a run is made of a log whose times are mixed", arguments: 1...12 as ClosedRange<UInt64>)
    func mixed(seed: UInt64) throws {
        let time = #/T\+\d\d:\d\d:\d\d\.\d+/#
        let names = ["decisions.ndjson", "outcomes.ndjson"]
        let texts = try names.map { try String(contentsOfFile: "\(Self.folder)/\($0)", encoding: .utf8) }
        let times = texts.flatMap { $0.matches(of: time).map { String($0.output) } } + ["T+1999999:59:59.999999999"]
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        for (name, text) in zip(names, texts) {
            let mixed = text.replacing(time) { _ -> String in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return times[Int(state >> 33) % times.count]
            }
            try mixed.write(toFile: fixture.folder.appending(path: name).path, atomically: false, encoding: .utf8)
        }
        try makeForms(of: fixture.folder.path)
    }

    @Test("The earliest and the latest time of day that nanoseconds can say have a text")
    func farTimes() {
        #expect(WallTime.text(.min) == "1677-09-21T00:12:43.145Z")
        #expect(WallTime.text(-1) == "1969-12-31T23:59:59.999Z")
        #expect(WallTime.text(.max) == "2262-04-11T23:47:16.854Z")
    }

    @Test("A state that would end before it begins costs nothing (PWR-1)")
    func energy() throws {
        _ = try fixture.run([[fixture.resume(1, at: second(10))]])
        let (app, outcomes) = ("com.acme.heart", try OutcomeLog(creating: fixture.outcomesPath))
        try outcomes.append(StateMove(app: app, at: second(3_610), from: .suspended, to: .background))
        try outcomes.append(StateMove(app: app, at: second(10), from: .background, to: .suspended))
        try outcomes.flush()
        let accounts = EnergyAccount.all(of: try RunLog(folder: fixture.folder.path))
        #expect(accounts.map { $0.counts[.background] } == [0])
        #expect(EnergyAccount.lines(accounts, by: EnergyModel())[1].hasPrefix(app))
    }
}
