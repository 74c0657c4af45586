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
    /// What came with events; nil where records stay as they are.
    private let values: ValueReader?

    /// - Parameters:
    ///   - name: the log's in its folder: an older part, say.
    ///   - app: leaves out the records of other apps, and those of no app.
    ///   - cursor: leaves out the decisions up to this number.
    ///   - values: adds to each record what came with its event.
    package init(
        folder: String,
        name: String = RunLog.decisionsName,
        app: String? = nil,
        after cursor: UInt64 = 0,
        values: Bool = false
    ) throws(ReportError) {
        path = folder + "/" + name
        var lines = try LineReader(path)
        guard let first = try lines.next(), JSONValue(parsing: first).flatMap(LogHeader.init(firstLine:)) != nil else {
            throw ReportError(.foreign("not a log of wakebench"), path: path)
        }
        self.first = first
        self.lines = lines
        self.cursor = cursor
        self.values = values ? ValueReader(folder: folder, name: RunLog.outcomesName(beside: name)) : nil
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
            throw ReportError(.foreign("the file became shorter: another process resumed its run"), path: path)
        }
        while let line = try lines.next() {
            guard let record = shapes.record(of: line), wanted.map(record.contains) != false else { continue }
            if cursor > 0, let number = DecisionLog.number(of: record)?.number, number <= cursor { continue }
            return try withValue(record)
        }
        return nil
    }

    private func withValue(_ record: [UInt8]) throws(ReportError) -> [UInt8] {
        guard let values, let event = Self.event(of: record) else { return record }
        return RecordValue.adding(try values.value(of: event), to: record)
    }

    private static let eventKey = Array("\"event\":{\"id\":\"e-".utf8)

    /// The number of the event that a record is about; nil where it has none.
    private static func event(of record: [UInt8]) -> UInt64? {
        guard let place = record.firstPlace(of: eventKey) else { return nil }
        var offset = place + eventKey.count
        return LogTime.whole(record, &offset, record.count)
    }
}

/// A record with what came with its event, as readers of decisions are given it. The log has values apart, once an event.
package enum RecordValue {
    /// The record in full, with the value as its last member; as it is where there is none.
    package static func adding(_ value: String?, to record: [UInt8]) -> [UInt8] {
        guard let value, record.last == 0x7d else { return record }
        var line = LineBuffer()
        line.put("value", value)
        return Array(record.dropLast()) + line.bytes + [0x7d]
    }
}

/// Finds what came with events among a run's outcomes, as they are written. There it stands before the decisions do.
final class ValueReader {
    private let path: String
    /// Nil until the file is there.
    private var lines: LineReader?
    private var texts = TextPool()
    /// Those that were read, by event.
    private var values: [UInt64: String] = [:]

    /// - Parameter name: the log's in its folder.
    init(folder: String, name: String) { path = folder + "/" + name }

    /// What came with an event, in hexadecimal; nil for nothing.
    func value(of event: UInt64) throws(ReportError) -> String? {
        if let value = values[event] { return value }
        do {
            if lines == nil { lines = try LineReader(path) }
            while let line = try lines?.next() {
                guard let entry = ValueEntry(line, &texts) else { continue }
                values[entry.event.number] = entry.value
                if entry.event.number == event { return entry.value }
            }
        } catch  where error.kind == .missing {}
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
