/// Writes trace events; slices of one row never overlap, because readers of traces do not accept it.
struct TraceWriter {
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

    /// - Parameter began: when the run began, in nanoseconds since 1970; 0 when that is not known.
    init(_ header: LogHeader, began: Int64, file: LogFile) {
        self.file = file
        line.append("{\"displayTimeUnit\":\"ms\",\"otherData\":")
        line.begin("wake.trace/1")
        line.put("version", header.version)
        line.put("phone", header.phone)
        line.put("profile", header.profile)
        line.put("seed", header.seed)
        line.put("determinism", header.determinism)
        line.put("clock", header.isVirtual ? "virtual" : "real")
        if began > 0 {
            // What aligns it with other traces, such as a sniffer's: 0 of this trace by the wall clock.
            line.put("wall_start", WallTime.text(began))
            line.put("wall_start_us", began / 1_000)
        }
        if let date = header.settings["date"] { line.put("date", date) }
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
        line.append("{")
        line.put("ph", phase)
        line.put("pid", Int64(process))
        line.put("tid", Int64(thread))
    }

    mutating func name(process: Int, _ name: String) {
        metadata("process_name", process, 1) { $0.put("name", name) }
        metadata("process_sort_index", process, 1) { $0.put("sort_index", Int64(process)) }
    }

    mutating func name(thread: Int, of process: Int, _ name: String) {
        metadata("thread_name", process, thread) { $0.put("name", name) }
        metadata("thread_sort_index", process, thread) { $0.put("sort_index", Int64(thread)) }
    }

    private mutating func metadata(
        _ name: String,
        _ process: Int,
        _ thread: Int,
        _ argument: (inout LineBuffer) -> Void
    ) {
        begin("M", process, thread)
        line.put("name", name)
        close(with: argument)
    }

    /// Ends an event with its arguments.
    private mutating func close(with arguments: (inout LineBuffer) -> Void) {
        line.put("args") { line in
            line.append("{")
            arguments(&line)
            line.append("}")
        }
        line.append("}")
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
            line.put("at_us", micros)
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
        line.put("ts", start)
        line.put("dur", max(0, end - start))
        line.put("cat", category)
        line.put("name", name)
        close(with: arguments)
    }

    /// One part of an arrow; all its parts share id, category and name, and lie inside their slices.
    mutating func arrow(_ phase: String, id: UInt64, in slice: Slice) {
        begin(phase, slice.process, slice.thread)
        if phase == "f" { line.put("bp", "e") }
        line.put("ts", slice.start + 10)
        line.put("cat", "wake")
        line.put("name", "wake")
        line.put("id", id)
        line.append("}")
    }

    mutating func counter(_ process: Int, at micros: Int64, _ name: String, _ key: String, _ value: Int64) {
        begin("C", process, 1)
        line.put("ts", micros)
        line.put("name", name)
        close { line in
            line.key(key)
            line.append(value)
        }
    }

    /// A moment on a row, `i`, or an end of a span that others of its process may overlap: `b` and `e`, with the same number.
    mutating func mark(
        _ phase: String,
        of number: Int? = nil,
        _ process: Int,
        _ thread: Int,
        at micros: Int64,
        category: String,
        name: String,
        _ arguments: (inout LineBuffer) -> Void
    ) {
        begin(phase, process, thread)
        line.put("ts", micros)
        line.put("cat", category)
        line.put("name", name)
        if let number { line.put("id", Int64(number)) } else { line.put("s", "t") }
        close(with: arguments)
    }
}
