import WakeJSON
import WakeModel

/// Writes what became of decisions as `wake.outcome/1` lines, with the moves of apps as `wake.state/1`, the values of events as
/// `wake.value/1`, the ends of processes as `wake.exit/1`, notes as `wake.note/1`, how long apps kept the receiver on as
/// `wake.receiver/1`, the signposts of apps as `wake.signpost/1`, what they used as `wake.usage/1`, and the facts of RunFacts.swift.
///
/// An outcome may be written more than once; readers take the last.
package final class OutcomeLog {
    /// What a log that is gone on with holds already.
    package struct Held: Sendable {
        package var apps = 0
        package var moves = 0
        package var acts = 0
        package var deeds = 0
        package var ended = false
        package var lastExit: UInt64 = 0
        package var outcomes: Set<DecisionID> = []
        /// The events whose values it holds.
        package var values: Set<EventID> = []
        /// Those of each app.
        package var signposts: [String: HeldSignposts] = [:]
        /// How often it holds each of them.
        package var facts: [Fact: Int] = [:]
        /// The instant of the latest note.
        package var lastNote: Instant?
    }

    /// A line that a run that goes on would write again, and that no number of a decision tells from others.
    package enum Fact: Hashable, Sendable {
        case note(String, app: String?)
        case range(String, inRange: Bool)
        case traffic(UInt32)
    }

    let file: LogFile
    package private(set) var held = Held()
    /// Lines are spelled when they are written rather than when they are appended: an app may wait then.
    package var isPutOff = false
    /// Those that are to be spelled.
    private var unspelled: [any LogLine] = []
    /// How many of them have happened for good.
    private var settled = 0
    private static let mostUnspelled = 1_024

    deinit {
        // As in the file: the first line that cannot be written has ended the run.
        try? spell()
    }

    /// Makes the file at `path`.
    package init(creating path: String) throws(ReportError) {
        file = try LogFile(creating: path)
    }

    /// Goes on with the file of a run that broke off. A last line without an end is removed.
    ///
    /// - Parameter place: how many bytes it had at the snapshot that the run goes on from; what stands before is not read.
    package init(continuing path: String, from place: Int = 0) throws(ReportError) {
        var length: Int?
        var held = Held()
        do {
            var lines = try LineReader(path, from: place)
            while let line = try lines.next() { Self.count(line, in: &held) }
            length = lines.offset
        } catch  where error.kind == .missing && place == 0 {}
        // The apps are its first lines.
        if place > 0 { held.apps = .max }
        self.held = held
        file = if let length { try LogFile(continuing: path, after: length) } else { try LogFile(creating: path) }
    }

    private static func count(_ line: [UInt8], in held: inout Held) {
        guard let record = JSONValue(parsing: line), let schema = record["schema"]?.string else { return }
        switch schema {
        case AppEntry.schema: held.apps += 1
        case StateMove.schema: held.moves += 1
        case Act.schema: held.acts += 1
        case DeedEntry.schema: held.deeds += 1
        case EndEntry.schema: held.ended = true
        case TrafficEntry.schema:
            if let entry = TrafficEntry(record) { held.facts[.traffic(entry.number), default: 0] += 1 }
        case Note.schema:
            if let note = Note(record) {
                held.facts[.note(note.text, app: note.app), default: 0] += 1
                held.lastNote = max(held.lastNote ?? note.at, note.at)
            }
        case SignpostEntry.schema:
            if let app = record["app"]?.string { held.signposts[app, default: HeldSignposts()].add(bytes: line.count) }
        case RangeEntry.schema:
            if let entry = RangeEntry(record) {
                held.facts[.range(entry.device, inRange: entry.inRange), default: 0] += 1
            }
        case ExitEntry.schema:
            if let number = record["id"]?.string.flatMap(LogTime.number) { held.lastExit = number }
        case Outcome.schema:
            if let outcome = Outcome(record) { held.outcomes.insert(outcome.decision) }
        case ValueEntry.schema:
            if let entry = ValueEntry(record) { held.values.insert(entry.event) }
        default: break
        }
    }

    /// Takes one of those that the log held already when its run was resumed; false when there is none left, and it is to be
    /// written.
    package func claim(_ fact: Fact) -> Bool {
        guard let count = held.facts[fact], count > 0 else { return false }
        held.facts[fact] = count - 1
        return true
    }

    /// Takes the note that the log held already of something that came to nothing and is found again; false when there is none
    /// left, or the log had not come as far.
    ///
    /// - Parameter what: how its text begins, up to the colon before a reason that may have changed; nil where it has none.
    package func claim(_ note: Note, about what: String?) -> Bool {
        guard let last = held.lastNote, note.at <= last else { return false }
        if claim(.note(note.text, app: note.app)) { return true }
        guard let what else { return false }
        let start = what + ": "
        let others = held.facts.compactMap { (fact, count) -> String? in
            guard count > 0, case .note(let text, let app) = fact, app == note.app, text.hasPrefix(start) else {
                return nil
            }
            return text
        }
        return others.min().map { claim(.note($0, app: note.app)) } ?? false
    }

    /// How many bytes of it are in the file.
    package var length: Int { file.length }

    /// - Throws: ``ReportError`` where the file was removed or renamed, or another has its name.
    package func requireInPlace() throws(ReportError) { try file.requireInPlace() }

    /// Keeps the lines in memory: see ``contents``.
    package init() { file = LogFile() }

    /// The lines that have not been written: all of them when the log is in memory.
    package var contents: String { file.line.text }

    /// From now on only what stands before the latest ``settle()`` reaches the file.
    package func hold() { file.hold() }

    /// What was appended so far has happened for good.
    package func settle() throws(ReportError) {
        settled = unspelled.count
        if unspelled.isEmpty { try file.settle() }
    }

    package func flush() throws(ReportError) {
        try spell()
        try file.flush()
    }

    package func append(_ record: some LogLine) throws(ReportError) {
        if isPutOff {
            unspelled.append(record)
            if unspelled.count >= Self.mostUnspelled { try spell() }
        } else {
            try write(record)
        }
    }

    /// Appends a line, and says how long it is.
    ///
    /// - Returns: the bytes that the line takes, without its end.
    package func appendMeasured(_ record: some LogLine) throws(ReportError) -> Int {
        try spell()
        return try write(record)
    }

    private func spell() throws(ReportError) {
        guard !unspelled.isEmpty else { return }
        var spelled = 0
        defer {
            unspelled.removeFirst(spelled)
            settled = 0
        }
        for line in unspelled {
            spelled += 1
            try write(line)
            if spelled == settled { try file.settle() }
        }
    }

    @discardableResult
    private func write(_ record: some LogLine) throws(ReportError) -> Int {
        let start = file.line.count
        file.line.append(line: record)
        let size = file.line.count - start
        try file.endLine()
        return size
    }
}

/// The machine's time of day, in records.
package enum WallTime {
    /// `2026-11-21T04:00:11.120Z`.
    package static func text(_ nanoseconds: Int64) -> String {
        var line = LineBuffer()
        line.append(wall: nanoseconds)
        return line.text
    }
}
