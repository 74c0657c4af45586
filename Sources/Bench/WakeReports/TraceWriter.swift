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

    /// A moment on a row.
    mutating func moment(
        _ process: Int,
        _ thread: Int,
        at micros: Int64,
        category: String,
        name: String,
        _ arguments: (inout LineBuffer) -> Void
    ) {
        begin("i", process, thread)
        place(micros, category: category, name: name)
        line.append(",\"s\":\"t\",\"args\":{")
        arguments(&line)
        line.append("}}")
    }

    /// One end of a span that others of its process may overlap: `b` or `e`, both with the same number.
    mutating func end(
        _ phase: String,
        of number: Int,
        _ process: Int,
        _ thread: Int,
        at micros: Int64,
        category: String,
        name: String,
        _ arguments: (inout LineBuffer) -> Void
    ) {
        begin(phase, process, thread)
        place(micros, category: category, name: name)
        line.append(",\"id\":")
        line.append(Int64(number))
        line.append(",\"args\":{")
        arguments(&line)
        line.append("}}")
    }

    private mutating func place(_ micros: Int64, category: String, name: String) {
        line.append(",\"ts\":")
        line.append(micros)
        line.append(",\"cat\":")
        line.append(quoted: category)
        line.append(",\"name\":")
        line.append(quoted: name)
    }
}
