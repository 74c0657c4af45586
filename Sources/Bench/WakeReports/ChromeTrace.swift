import WakeModel

/// A run in the Chrome trace format, for Perfetto and chrome://tracing.
///
/// Process 1 is the hardware with a row for each source, process 2 the router, and 100 and up are the apps with a row of
/// states, one of wakes (refused ones too) and one of callbacks, and what their own signposts mark. An arrow leads from each
/// event over its decision to the app. Times are microseconds of the bench's clock.
package enum ChromeTrace {
    /// Makes a file at `path`, in place of one that is there.
    ///
    /// - Parameters:
    ///   - began: when the run began, in nanoseconds since 1970; 0 when that is not known.
    ///   - isShared: whether others of the machine may read one that is made.
    package static func save(
        _ log: RunLog,
        to path: String,
        began: Int64 = 0,
        isShared: Bool = false
    ) throws(ReportError) {
        let file = try LogFile(replacing: path, isShared: isShared)
        var writer = TraceWriter(log.header, began: began, file: file)
        write(log, &writer)
        if let failure = writer.failure { throw failure }
        try file.finish()
    }

    private static func write(_ log: RunLog, _ writer: inout TraceWriter) {
        let apps = log.apps
        let sources = Source.allCases.filter { source in log.decisions.contains { $0.source == source.word } }
        writer.name(process: 1, "hardware")
        for (position, source) in sources.enumerated() {
            writer.name(thread: position + 1, of: 1, source.word)
        }
        writer.name(process: 2, "wake router")
        writer.name(thread: 1, of: 2, "decisions")
        for (position, app) in apps.enumerated() {
            writer.name(process: 100 + position, app)
            for (row, name) in ["state", "wakes", "callbacks"].enumerated() {
                writer.name(thread: row + 1, of: 100 + position, name)
            }
        }
        let numbers = Dictionary(uniqueKeysWithValues: apps.enumerated().map { ($0.element, 100 + $0.offset) })
        writeDecisions(log, numbers, sources, &writer)
        writeStates(log, numbers, &writer)
        writeCallbacks(log, numbers, &writer)
        writeSignposts(log, numbers, &writer)
        writer.finish()
    }

    private static func writeDecisions(
        _ log: RunLog,
        _ numbers: [String: Int],
        _ sources: [Source],
        _ writer: inout TraceWriter
    ) {
        var event = EventID.none
        var eventSlice = TraceWriter.Slice(process: 1, thread: 1, start: 0)
        for decision in log.decisions {
            let micros = decision.at.nanoseconds / 1000
            if decision.event != event || event == .none {
                event = decision.event
                let row = (sources.firstIndex { $0.word == decision.source } ?? 0) + 1
                eventSlice = writer.slice(1, row, at: micros, category: "event", name: decision.kind) { line in
                    line.put("event", decision.event)
                    line.put("subject", decision.subject)
                    line.put("origin", decision.origin)
                    if let value = log.value(of: decision) { line.put("value", value) }
                }
            }
            let slice = writer.slice(2, 1, at: micros, category: "decision", name: decision.verdict.word) { line in
                line.put("decision", decision.id)
                line.put("verdict", decision.verdict.word)
                line.put("reason", decision.reason.word)
                line.put("rule", decision.rule.text)
                line.put("event", decision.event)
                line.put("subject", decision.subject)
            }
            guard let process = decision.app.flatMap({ numbers[$0] }) else { continue }
            let wake = writer.slice(process, 2, at: micros, category: "wake", name: decision.verdict.word) { line in
                line.put("decision", decision.id)
                line.put("reason", decision.reason.word)
            }
            writer.arrow("s", id: decision.id.number, in: eventSlice)
            writer.arrow("t", id: decision.id.number, in: slice)
            writer.arrow("f", id: decision.id.number, in: wake)
            if let budget = decision.budget { writer.counter(process, at: micros, "budget", "left_ms", budget.left) }
        }
    }

    private static func writeStates(_ log: RunLog, _ numbers: [String: Int], _ writer: inout TraceWriter) {
        var open: [String: StateMove] = [:]
        for move in log.moves {
            if let before = open[move.app] {
                close(before, at: move.at, open: false, numbers, &writer)
            }
            open[move.app] = move
        }
        for (_, move) in open.sorted(by: { $0.key < $1.key }) {
            close(move, at: log.end, open: true, numbers, &writer)
        }
    }

    private static func close(
        _ move: StateMove,
        at end: Instant,
        open: Bool,
        _ numbers: [String: Int],
        _ writer: inout TraceWriter
    ) {
        guard move.to != .notRunning, let process = numbers[move.app] else { return }
        writer.span(
            process,
            1,
            from: move.at.nanoseconds / 1000,
            to: end.nanoseconds / 1000,
            category: "state",
            name: move.to.word
        ) { line in
            line.put("os_pid", Int64(move.pid))
            if open { line.put("open", true) }
        }
    }

    private static func writeCallbacks(_ log: RunLog, _ numbers: [String: Int], _ writer: inout TraceWriter) {
        for (number, outcome) in log.outcomes.sorted(by: { $0.key < $1.key }) {
            guard let process = numbers[outcome.app] else { continue }
            for callback in outcome.delivered {
                writer.slice(process, 3, at: callback.at.nanoseconds / 1000, category: "callback", name: callback.name)
                {
                    line in
                    line.put("decision", DecisionID(number))
                    if let value = callback.value { line.put("value", value) }
                }
            }
        }
    }
}
