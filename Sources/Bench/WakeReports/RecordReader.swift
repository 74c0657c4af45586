import WakeJSON
import WakeModel

/// Reads the records of a run's decisions in full, as far as they are written: one that has come to the end goes on when there are
/// more.
package struct RecordReader: ~Copyable {
    /// The first line of the log, which tells of the run.
    package let first: [UInt8]
    private var lines: LineReader
    private var shapes = ShapedLines()
    private let path: String
    /// What the records of the app have in them; nil for all.
    private let wanted: [UInt8]?
    /// The last decision that is left out.
    private let cursor: UInt64

    /// - Parameters:
    ///   - app: leaves out the records of other apps, and those of no app.
    ///   - cursor: leaves out the decisions up to this number.
    package init(folder: String, app: String? = nil, after cursor: UInt64 = 0) throws(ReportError) {
        path = folder + "/" + RunLog.decisionsName
        var lines = try LineReader(path)
        guard let first = try lines.next(), JSONValue(parsing: first).flatMap(LogHeader.init(firstLine:)) != nil else {
            throw ReportError(.foreign("not a log of wakebench"), path: path)
        }
        self.first = first
        self.lines = lines
        self.cursor = cursor
        wanted = app.map { app in
            var fragment = LineBuffer()
            fragment.append("\"app\":{\"bundle\":")
            fragment.append(quoted: app)
            return fragment.bytes
        }
    }

    /// The next record; nil where there is none yet.
    package mutating func next() throws(ReportError) -> [UInt8]? {
        guard lines.size >= lines.offset else {
            throw ReportError(.foreign("shorter than it was: its run was gone on with"), path: path)
        }
        while let line = try lines.next() {
            guard let record = shapes.record(of: line), wanted.map(record.contains) != false else { continue }
            if cursor > 0, let number = DecisionChecks.number(record), number <= cursor { continue }
            return record
        }
        return nil
    }
}

/// Looks for the end of a run among its outcomes, as they are written.
package struct EndReader: ~Copyable {
    private let path: String
    /// Nil until the file is there.
    private var lines: LineReader?
    private var hasEnded = false
    private static let start = Array("{\"schema\":\"\(EndEntry.schema)\"".utf8)

    package init(folder: String) { path = folder + "/" + RunLog.outcomesName }

    /// Whether the run has ended: its decisions are all written by then.
    package mutating func find() throws(ReportError) -> Bool {
        do {
            if lines == nil { lines = try LineReader(path) }
            while !hasEnded, let line = try lines?.next() { hasEnded = line.starts(with: Self.start) }
        } catch  where error.kind == .missing {}
        return hasEnded
    }
}
