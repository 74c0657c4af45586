import WakeModel

/// A run in the Chrome trace format, for Perfetto and chrome://tracing.
///
/// Process 1 is the hardware with a row for each source, process 2 the router, and 100 and up are the apps with a row of
/// states, one of wakes (refused ones too) and one of callbacks. An arrow leads from each event over its decision to
/// the app. Times are microseconds of the bench's clock.
package enum ChromeTrace {
    /// - Parameter wallStart: nanoseconds since 1970 at the start of the run, to align with other traces.
    package static func text(_ log: RunLog, wallStart: Int64? = nil) -> String {
        let file = LogFile()
        var writer = TraceWriter(log.header, wallStart: wallStart, file: file)
        write(log, &writer)
        return file.line.text
    }

    /// The same as a file at `path`, in place of one that is there.
    package static func save(_ log: RunLog, to path: String, wallStart: Int64? = nil) throws(ReportError) {
        let file = try LogFile(creating: path)
        var writer = TraceWriter(log.header, wallStart: wallStart, file: file)
        write(log, &writer)
        if let failure = writer.failure { throw failure }
        try file.flush()
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
                    line.append(",\"event\":")
                    line.append(decision.event)
                    line.append(",\"subject\":")
                    line.append(quoted: decision.subject)
                    line.append(",\"origin\":")
                    line.append(quoted: decision.origin)
                }
            }
            let slice = writer.slice(2, 1, at: micros, category: "decision", name: decision.verdict.word) { line in
                describe(decision, &line)
            }
            guard let process = decision.app.flatMap({ numbers[$0] }) else { continue }
            let wake = writer.slice(process, 2, at: micros, category: "wake", name: decision.verdict.word) { line in
                line.append(",\"decision\":")
                line.append(decision.id)
                line.append(",\"reason\":")
                line.append(quoted: decision.reason.word)
            }
            writer.arrow("s", id: decision.id.number, in: eventSlice)
            writer.arrow("t", id: decision.id.number, in: slice)
            writer.arrow("f", id: decision.id.number, in: wake)
            if let budget = decision.budget { writer.counter(process, at: micros, "budget", "left_ms", budget.left) }
        }
    }

    private static func describe(_ decision: DecisionRecord, _ line: inout LineBuffer) {
        line.append(",\"decision\":")
        line.append(decision.id)
        line.append(",\"verdict\":")
        line.append(quoted: decision.verdict.word)
        line.append(",\"reason\":")
        line.append(quoted: decision.reason.word)
        line.append(",\"rule\":")
        line.append(quoted: decision.rule.text)
        line.append(",\"event\":")
        line.append(decision.event)
        line.append(",\"subject\":")
        line.append(quoted: decision.subject)
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
            name: move.to.word(hasExited: false)
        ) { line in
            line.append("\"os_pid\":")
            line.append(Int64(move.pid))
            if open { line.append(",\"open\":true") }
        }
    }

    private static func writeCallbacks(_ log: RunLog, _ numbers: [String: Int], _ writer: inout TraceWriter) {
        for (number, outcome) in log.outcomes.sorted(by: { $0.key < $1.key }) {
            guard let process = numbers[outcome.app] else { continue }
            for callback in outcome.delivered {
                writer.slice(process, 3, at: callback.at.nanoseconds / 1000, category: "callback", name: callback.name)
                {
                    line in
                    line.append(",\"decision\":")
                    line.append(DecisionID(number))
                    if let value = callback.value {
                        line.append(",\"value\":")
                        line.append(quoted: value)
                    }
                }
            }
        }
    }
}

/// Writes trace events; slices of one row never overlap, because readers of traces do not accept it.
private struct TraceWriter {
    private let file: LogFile
    private var line = LineBuffer()
    /// The first error of writing; what comes after it is lost.
    private(set) var failure: ReportError?
    private var first = true
    /// Where the last slice of a row ends, by process and row.
    private var ends: [Int: Int64] = [:]

    struct Slice {
        var process: Int
        var thread: Int
        var start: Int64
    }

    init(_ header: LogHeader, wallStart: Int64?, file: LogFile) {
        self.file = file
        line.append("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"schema\":\"wake.trace/1\",\"version\":")
        line.append(quoted: header.version)
        line.append(",\"phone\":")
        line.append(quoted: header.phone)
        line.append(",\"profile\":")
        line.append(quoted: header.profile)
        line.append(",\"seed\":")
        line.append(header.seed)
        line.append(",\"determinism\":")
        line.append(quoted: header.determinism)
        if let wallStart {
            line.append(",\"wall_start\":")
            line.append(quoted: WallTime.text(wallStart))
        }
        line.append("},\"traceEvents\":[\n")
    }

    mutating func finish() {
        line.append("\n]}\n")
        spill()
    }

    private mutating func spill() {
        file.line.append(line.bytes)
        line.removeAll()
        guard failure == nil else { return file.line.removeAll() }
        do throws(ReportError) { try file.flush() } catch { failure = error }
    }

    private mutating func begin(_ phase: String, _ process: Int, _ thread: Int) {
        if !first { line.append(",\n") }
        first = false
        if line.count >= 128 << 10 { spill() }
        line.append("{\"ph\":")
        line.append(quoted: phase)
        line.append(",\"pid\":")
        line.append(Int64(process))
        line.append(",\"tid\":")
        line.append(Int64(thread))
    }

    mutating func name(process: Int, _ name: String) {
        begin("M", process, 1)
        line.append(",\"name\":\"process_name\",\"args\":{\"name\":")
        line.append(quoted: name)
        line.append("}}")
        begin("M", process, 1)
        line.append(",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":")
        line.append(Int64(process))
        line.append("}}")
    }

    mutating func name(thread: Int, of process: Int, _ name: String) {
        begin("M", process, thread)
        line.append(",\"name\":\"thread_name\",\"args\":{\"name\":")
        line.append(quoted: name)
        line.append("}}")
        begin("M", process, thread)
        line.append(",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":")
        line.append(Int64(thread))
        line.append("}}")
    }

    /// Something that happens at once, drawn 100 µs long and after whatever its row shows at that time.
    @discardableResult
    mutating func slice(
        _ process: Int,
        _ thread: Int,
        at micros: Int64,
        category: String,
        name: String,
        _ arguments: (inout LineBuffer) -> Void
    ) -> Slice {
        let row = process * 1000 + thread
        let start = max(micros, ends[row] ?? 0)
        span(process, thread, from: start, to: start + 100, category: category, name: name) { line in
            line.append("\"at_us\":")
            line.append(micros)
            arguments(&line)
        }
        ends[row] = start + 100
        return Slice(process: process, thread: thread, start: start)
    }

    mutating func span(
        _ process: Int,
        _ thread: Int,
        from start: Int64,
        to end: Int64,
        category: String,
        name: String,
        _ arguments: (inout LineBuffer) -> Void
    ) {
        begin("X", process, thread)
        line.append(",\"ts\":")
        line.append(start)
        line.append(",\"dur\":")
        line.append(max(0, end - start))
        line.append(",\"cat\":")
        line.append(quoted: category)
        line.append(",\"name\":")
        line.append(quoted: name)
        line.append(",\"args\":{")
        arguments(&line)
        line.append("}}")
    }

    /// One part of an arrow; all its parts share id, category and name, and lie inside their slices.
    mutating func arrow(_ phase: String, id: UInt64, in slice: Slice) {
        begin(phase, slice.process, slice.thread)
        if phase == "f" { line.append(",\"bp\":\"e\"") }
        line.append(",\"ts\":")
        line.append(slice.start + 10)
        line.append(",\"cat\":\"wake\",\"name\":\"wake\",\"id\":")
        line.append(id)
        line.append("}")
    }

    mutating func counter(_ process: Int, at micros: Int64, _ name: String, _ key: String, _ value: Int64) {
        begin("C", process, 1)
        line.append(",\"ts\":")
        line.append(micros)
        line.append(",\"name\":")
        line.append(quoted: name)
        line.append(",\"args\":{")
        line.append(quoted: key)
        line.append(":")
        line.append(value)
        line.append("}}")
    }
}
