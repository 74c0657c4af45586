import Foundation
import Testing
import WakeModel

@testable import WakeReports

/// What came with events, in a run of played apps, which have no process that could have read it.
@Suite("The values of events")
struct ValueTests {
    let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    private static let values = ["0051", "0051", "0052", "0053"]

    /// One value for two apps, one for the first of them, and one for nobody.
    private func log() throws -> RunLog {
        _ = try fixture.run([
            [
                fixture.resume(1, at: second(10)),
                fixture.resume(2, at: second(10), event: 1, app: 1, bundle: "com.acme.run"),
            ],
            [fixture.resume(3, at: second(70), event: 2)], [fixture.nobody(4, at: second(80), event: 3)],
        ])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        for (event, value) in [(1, "0051"), (2, "0052"), (3, "0053")] as [(UInt64, String)] {
            try outcomes.append(ValueEntry(event: EventID(event), value: value))
        }
        try outcomes.flush()
        return try RunLog(folder: fixture.folder.path, evidence: true)
    }

    @Test("The table has them in its last column, also where nobody got them")
    func table() throws {
        let lines = Timeline.text(try log()).split(separator: "\n")
        #expect(lines.dropFirst().map { $0.split(separator: " ").last.map(String.init) } == Self.values)
    }

    @Test("A long value is cut in tables, and says how many bytes it has; why tells it whole")
    func long() throws {
        let (whole, cut) = (String(repeating: "ab", count: 512), String(repeating: "ab", count: 16) + "… (512 bytes)")
        _ = try fixture.run([[fixture.resume(1, at: second(10))], [fixture.resume(2, at: second(70), event: 2)]])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        for event: UInt64 in [1, 2] { try outcomes.append(ValueEntry(event: EventID(event), value: whole)) }
        try outcomes.flush()
        let log = try RunLog(folder: fixture.folder.path, evidence: true)
        let table = Timeline.text(log)
        #expect(table.hasSuffix(" \(cut)") && !table.contains(whole), "\(table)")
        let decision = fixture.resume(1, at: second(10))
        let row = Timeline.Row(decision, pid: 4711, value: whole, names: fixture.names.text)
        #expect(Timeline.line(row).hasSuffix(" \(cut)"))
        let why = Why(log, app: "com.acme.heart")
        #expect(why.table().contains("value \(cut)"))
        let text = why.explanation()
        #expect(text.contains("\n  value    \(whole)\n"), "\(text)")
        #expect(text.contains("heart-rate-belt/2A37: \(cut)"), "\(text)")
        #expect(why.page().decisions.map(\.values) == [whole])
    }

    @Test("why tells that of the decision that it explains, and those of the others")
    func why() throws {
        let why = Why(try log(), app: "com.acme.heart")
        let text = why.explanation()
        #expect(text.contains("\n  value    0051\n"), "\(text)")
        #expect(text.contains("characteristic-notified heart-rate-belt/2A37: 0052"), "\(text)")
        #expect(why.table().contains("characteristic-notified heart-rate-belt/2A37: value 0052"))
        let page = why.page()
        #expect(page.explained?.value == "0051")
        #expect(page.decisions.map(\.values) == ["0052"])
    }

    @Test("The page has them by decision, the trace by event, and the table for Battery Historian once an event")
    func exports() throws {
        let log = try log()
        let page = try PageReading(HTMLReport.bytes(.init(log, title: "a run")))
        #expect(try page.column("values decision") == [0, 1, 1, 1])
        let texts = page.texts("texts")
        #expect(try page.column("values text").map { texts[Int($0)] } == Self.values)
        let trace = try ChromeTrace.text(log)
        #expect(trace.matches(of: /"value":"(\d+)"/).map { String($0.output.1) } == ["0051", "0052", "0053"])
        let rows = HistorianCSV.text(log, start: 0).split(separator: "\n").filter { $0.hasPrefix("Value,") }
        #expect(
            rows == [
                "Value,string,10000,10000,0051,heart-rate-belt/2A37",
                "Value,string,70000,70000,0052,heart-rate-belt/2A37",
                "Value,string,80000,80000,0053,heart-rate-belt/2A37",
            ]
        )
    }

    @Test("Records are given out with them at their end, and stay as they are in the log")
    func records() throws {
        _ = try log()
        let text = try String(contentsOfFile: fixture.decisionsPath, encoding: .utf8)
        let plain = Array(ShapedLines.records(of: text).dropFirst())
        func read(values: Bool) throws -> [String] {
            var reader = try RecordReader(folder: fixture.folder.path, values: values)
            var records: [String] = []
            while let record = try reader.next() { records.append(String(decoding: record, as: UTF8.self)) }
            return records
        }
        #expect(try read(values: false) == plain)
        let valued = zip(plain, Self.values).map { "\($0.dropLast()),\"value\":\"\($1)\"}" }
        #expect(try read(values: true) == valued)
    }

    @Test("A log of an older version has of them what processes read")
    func older() throws {
        let log = try fixture.run([[fixture.resume(1, at: second(10))]], outcomes: [fixture.outcome(1, value: "0648")])
        #expect(log.values.isEmpty)
        #expect(log.decisions.map { log.value(of: $0) } == ["0648"])
        // The outcome says it already.
        #expect(!Why(log, app: "com.acme.heart").explanation().contains("  value "))
    }
}
