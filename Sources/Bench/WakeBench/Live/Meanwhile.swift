import WakeJSON
import WakeModel
import WakeReports

extension LivePhone {
    /// What came while somebody waited.
    struct Meanwhile {
        /// Of decisions: `wake.decision/2`.
        private(set) var records: [[UInt8]] = []
        /// Of what is no decision, an object each: what the user, the phone or a process did, and notes of steps.
        private(set) var happened: [[UInt8]] = []
        /// What reached nobody or changed nothing, and why: such rows are told here alone.
        private(set) var notes: [String] = []

        /// The first so many are kept.
        static let mostRecords = 1_000
        private static let mostHappened = 32
        private static let mostNotes = 32

        mutating func add(record: [UInt8]) {
            if records.count < Self.mostRecords { records.append(record) }
        }

        mutating func add(_ row: Timeline.Row) {
            if let note = row.note {
                if notes.count < Self.mostNotes { notes.append(note) }
                return
            }
            guard happened.count < Self.mostHappened else { return }
            var writer = JSONWriter()
            writer.openObject()
            row.write(into: &writer)
            writer.closeObject()
            happened.append(writer.bytes)
        }
    }

    /// The records of the latest decisions, without a gap.
    struct RecentRecords {
        /// The last decision before them.
        private var before = DecisionID.none
        private var records: [[UInt8]] = []
        private static let most = 256

        mutating func add(_ decision: DecisionID, _ record: [UInt8]) {
            if decision.number != before.number + UInt64(records.count) + 1 {
                forget(through: DecisionID(decision.number - 1))
            }
            records.append(record)
            guard records.count > 2 * Self.most else { return }
            records.removeFirst(Self.most)
            before = DecisionID(before.number + UInt64(Self.most))
        }

        /// Nobody listened to the decisions up to one.
        mutating func forget(through decision: DecisionID) {
            records.removeAll(keepingCapacity: true)
            before = decision
        }

        /// Takes what the logs have, as far as it is all of it.
        mutating func take(_ found: [[UInt8]], after: DecisionID, through: DecisionID) {
            guard found.count <= 2 * Self.most, after.number + UInt64(found.count) == through.number else { return }
            (before, records) = (after, found)
        }

        /// Nil where not all of them are here.
        func records(after: DecisionID, through: DecisionID) -> [[UInt8]]? {
            guard through > after else { return [] }
            guard after >= before, through.number <= before.number + UInt64(records.count) else { return nil }
            let range = Int(after.number - before.number)..<Int(through.number - before.number)
            return Array(records[range].prefix(Meanwhile.mostRecords))
        }
    }
}

extension Timeline.Row {
    /// The members of an object that tells of it.
    func write(into writer: inout JSONWriter) {
        writer.key("at")
        writer.string(LogTime.text(at))
        writer.key("app")
        writer.string(app)
        writer.key("what")
        writer.string(event)
        writer.key("reason")
        writer.string(reason)
        writer.key("pid")
        writer.integer(Int64(pid))
    }
}

extension JSONWriter {
    /// Writes a list of values that are JSON already.
    mutating func objects(_ values: [[UInt8]]) {
        openArray()
        for value in values { encoded(value) }
        closeArray()
    }
}
