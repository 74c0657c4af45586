import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("Signposts in the trace")
struct SignpostTests {
    let fixture: ReportFixture
    private static let app = "com.acme.heart"

    init() throws { fixture = try ReportFixture() }

    private func mark(
        _ mark: SignpostEntry.Mark,
        _ name: String,
        at milliseconds: Int64,
        span: String? = nil,
        pid: Int32 = 11,
        category: String = "sync",
        message: String = ""
    ) -> SignpostEntry {
        SignpostEntry(
            app: Self.app,
            at: .zero.advanced(by: .milliseconds(milliseconds)),
            pid: pid,
            mark: mark,
            name: name,
            span: span,
            subsystem: Self.app,
            category: category,
            message: message
        )
    }

    private func exit(_ number: UInt64, at milliseconds: Int64, pid: Int32) -> ExitEntry {
        ExitEntry(
            number: number,
            app: Self.app,
            at: .zero.advanced(by: .milliseconds(milliseconds)),
            generation: UInt32(number),
            cause: .memory,
            code: -9,
            stateBefore: .suspended,
            pid: pid
        )
    }

    /// A run's log, written and read again.
    private func log(_ signposts: [SignpostEntry], exits: [ExitEntry] = []) throws -> RunLog {
        _ = try fixture.run([])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(AppEntry(app: Self.app, name: "heart", log: nil))
        for signpost in signposts { _ = try outcomes.append(signpost) }
        for exit in exits { try outcomes.append(exit) }
        try outcomes.append(EndEntry(at: second(60)))
        try outcomes.flush()
        return try RunLog(folder: fixture.folder.path)
    }

    private func events(_ log: RunLog) throws -> [[String: Any]] {
        let json = try JSONSerialization.jsonObject(with: Data(try ChromeTrace.text(log).utf8)) as? [String: Any]
        return try #require(json?["traceEvents"] as? [[String: Any]]).filter { $0["cat"] as? String == "signpost" }
    }

    /// Each span as its name, its begin and its end in milliseconds, and whether it is open.
    private func spans(_ log: RunLog) throws -> [String] {
        let all = try events(log)
        return try all.filter { $0["ph"] as? String == "b" }.map { begin in
            let ends = all.filter { $0["ph"] as? String == "e" && $0["id"] as? Int == begin["id"] as? Int }
            #expect(ends.count == 1)
            let end = try #require(ends.first)
            for key in ["pid", "tid"] { #expect(begin[key] as? Int == end[key] as? Int) }
            let times = try [begin, end].map { try #require($0["ts"] as? Int) / 1_000 }
            let isOpen = (end["args"] as? [String: Any])?["open"] as? Bool == true
            return "\(begin["name"] ?? "") \(times[0]) \(times[1])\(isOpen ? " open" : "")"
        }
    }

    @Test("They are read from the log as they were written")
    func reading() throws {
        let all = [
            mark(.begin, "fetch \"all\"", at: 1, span: "18446744073709551615", message: "\u{1b}[0m"),
            mark(.event, "saved", at: 2),
        ]
        #expect(try log(all).signposts == all)
    }

    @Test("A begin and its end are a span on the app's own row, with both messages, and an event is a moment there")
    func spanAndMoment() throws {
        let log = try log([
            mark(.begin, "fetch", at: 10, span: "1", message: "since noon"),
            mark(.event, "found", at: 12, message: "a record"),
            mark(.end, "fetch", at: 35, span: "1", message: "3 records"),
        ])
        #expect(try spans(log) == ["fetch 10 35"])
        let all = try events(log)
        let arguments = all.map { $0["args"] as? [String: Any] }
        #expect(arguments.map { $0?["message"] as? String } == ["since noon", "3 records", "a record"])
        #expect(arguments[0]?["category"] as? String == "sync" && arguments[0]?["subsystem"] as? String == Self.app)
        #expect((all[2]["ph"] as? String, all[2]["ts"] as? Int) == ("i", 12_000))
        #expect(all.allSatisfy { $0["pid"] as? Int == 100 && $0["tid"] as? Int == 4 })
        let trace = try ChromeTrace.text(log)
        #expect(trace.contains(#""tid":4,"name":"thread_name","args":{"name":"signposts"}"#))
        #expect(try trace == ChromeTrace.text(log))
    }

    @Test("Spans that overlap are told apart by number, category and process; without a number the latest begin ends")
    func overlapping() throws {
        let log = try log([
            mark(.begin, "load", at: 1, span: "1"), mark(.begin, "load", at: 2, span: "2"),
            mark(.begin, "load", at: 3, span: "1", category: "other"), mark(.begin, "load", at: 4, span: "1", pid: 12),
            mark(.end, "load", at: 5, span: "1"), mark(.end, "load", at: 6, span: "2"),
            mark(.end, "load", at: 7, span: "1", category: "other"), mark(.end, "load", at: 8, span: "1", pid: 12),
            mark(.begin, "step", at: 10), mark(.begin, "step", at: 11), mark(.end, "step", at: 12),
            mark(.end, "step", at: 13),
        ])
        #expect(
            try spans(log) == ["load 1 5", "load 2 6", "load 3 7", "load 4 8", "step 10 13", "step 11 12"]
        )
    }

    @Test("A span that is never ended lasts to the end of its process, a suspension or not, or of the run")
    func open() throws {
        let log = try log(
            [
                mark(.begin, "first", at: 10), mark(.begin, "second", at: 30, pid: 12),
                mark(.begin, "third", at: 40, pid: 13), mark(.begin, "unnumbered", at: 41, pid: 14),
            ],
            exits: [exit(1, at: 30, pid: 11), exit(2, at: 35, pid: 12), exit(3, at: 50, pid: 0)]
        )
        #expect(
            try spans(log) == ["first 10 30 open", "second 30 35 open", "third 40 50 open", "unnumbered 41 50 open"]
        )
        let other = try self.log([mark(.begin, "alone", at: 10)])
        #expect(try spans(other) == ["alone 10 60000 open"])
    }

    @Test("An end of what never began is a moment that says so")
    func unmatched() throws {
        let all = try events(try log([mark(.end, "fetch", at: 10)]))
        #expect(all.map { $0["ph"] as? String } == ["i"])
        #expect((all.first?["args"] as? [String: Any])?["begun"] as? Bool == false)
    }

    @Test("A log that is gone on with says how many signposts of each app it has, and their bytes")
    func held() throws {
        var held = HeldSignposts()
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        for name in ["a", "b"] { held.add(bytes: try outcomes.appendMeasured(mark(.event, name, at: 1))) }
        try outcomes.flush()
        #expect(held.count == 2 && held.bytes > 200)
        #expect(try OutcomeLog(continuing: fixture.outcomesPath).held.signposts == [Self.app: held])
    }
}
