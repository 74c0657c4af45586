import WakeJSON
import WakeModel

/// Writes what became of decisions as `wake.outcome/1` lines, with the moves of apps as `wake.state/1`, the ends of
/// processes as `wake.exit/1`, notes as `wake.note/1`, how long apps kept the receiver on as `wake.receiver/1`, the signposts of
/// apps as `wake.signpost/1`, and the facts of RunFacts.swift.
///
/// An outcome may be written more than once; readers take the last.
package final class OutcomeLog {
    /// What a log that is gone on with holds already.
    package struct Held: Sendable {
        package var apps = 0
        package var moves = 0
        package var acts = 0
        package var ended = false
        package var lastExit: UInt64 = 0
        package var outcomes: Set<DecisionID> = []
        /// Those of each app.
        package var signposts: [String: HeldSignposts] = [:]
        /// How often it holds each of them.
        package var facts: [Fact: Int] = [:]
    }

    /// A line that a run that goes on would write again, and that no number tells from others.
    package enum Fact: Hashable, Sendable {
        case note(String, app: String?)
        case range(String, inRange: Bool)
    }

    let file: LogFile
    package private(set) var held = Held()

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
        case "wake.app/1": held.apps += 1
        case "wake.state/1": held.moves += 1
        case "wake.act/1": held.acts += 1
        case "wake.end/1": held.ended = true
        case "wake.note/1":
            if let note = record["note"]?.string {
                held.facts[.note(note, app: record["app"]?.string), default: 0] += 1
            }
        case "wake.signpost/1":
            if let app = record["app"]?.string { held.signposts[app, default: HeldSignposts()].add(bytes: line.count) }
        case "wake.range/1":
            if let entry = RangeEntry(record) {
                held.facts[.range(entry.device, inRange: entry.inRange), default: 0] += 1
            }
        case "wake.exit/1":
            if let number = record["id"]?.string?.dropFirst(2) { held.lastExit = UInt64(number) ?? held.lastExit }
        case "wake.outcome/1":
            if let number = record["decision"]?.string.flatMap(LogTime.number) {
                held.outcomes.insert(DecisionID(number))
            }
        default: break
        }
    }

    /// Takes one of those that the log held already when it was gone on with; false when there is none left, and it is to be
    /// written.
    package func claim(_ fact: Fact) -> Bool {
        guard let count = held.facts[fact], count > 0 else { return false }
        held.facts[fact] = count - 1
        return true
    }

    /// How many bytes of it are in the file.
    package var length: Int { file.length }

    /// Keeps the lines in memory: see ``contents``.
    package init() { file = LogFile() }

    /// The lines that have not been written: all of them when the log is in memory.
    package var contents: String { file.line.text }

    /// From now on only what stands before the latest ``settle()`` reaches the file.
    package func hold() { file.hold() }

    /// What was appended so far has happened for good.
    package func settle() throws(ReportError) { try file.settle() }

    package func flush() throws(ReportError) { try file.flush() }

    /// Appends a line of a schema, with the fields that `write` puts.
    ///
    /// - Returns: the bytes that it takes, without the end of the line.
    @discardableResult
    func append(_ schema: StaticString, _ write: (inout LineBuffer) -> Void) throws(ReportError) -> Int {
        let start = file.line.count
        file.line.begin(schema)
        write(&file.line)
        file.line.append("}")
        let size = file.line.count - start
        try file.endLine()
        return size
    }

    package func append(_ outcome: Outcome) throws(ReportError) {
        try append("wake.outcome/1") { line in
            line.put("decision", outcome.decision)
            line.put("event", outcome.event)
            line.put("app", outcome.app)
            line.put("t", outcome.at)
            line.put("wall") {
                $0.append("\"")
                $0.append(wall: outcome.wall)
                $0.append("\"")
            }
            line.put("pid", Int64(outcome.pid))
            line.put("spawn_ms") { milliseconds(outcome.spawn, into: &$0) }
            line.put("delivered", objects: outcome.delivered) { callback, line in
                line.put("callback", callback.name)
                line.put("t", callback.at)
                line.put("value", callback.value)
            }
            line.put("acknowledged", outcome.acknowledged)
            line.put("used_ms") { milliseconds(outcome.used, into: &$0) }
            line.put("ended", outcome.ended?.word)
            line.put("exit_id", exit: outcome.exit)
        }
    }

    package func append(_ move: StateMove) throws(ReportError) {
        try append("wake.state/1") { line in
            line.put("app", move.app)
            line.put("t", move.at)
            line.put("from", move.from.word(hasExited: false))
            line.put("to", move.to.word(hasExited: false))
            line.put("pid", Int64(move.pid))
        }
    }

    package func append(_ exit: ExitEntry) throws(ReportError) {
        try append("wake.exit/1") { line in
            line.put("id", exit: exit.number)
            line.put("app", exit.app)
            line.put("t", exit.at)
            line.put("generation", UInt64(exit.generation))
            line.put("cause", exit.cause.word)
            line.put("code", exit.code)
            line.put("state_before", exit.stateBefore.word(hasExited: false))
            line.put("pid", Int64(exit.pid))
            line.put("at_launch", exit.atLaunch)
        }
    }

    /// How long an app has kept the receiver on since the run began (LOC-9).
    package func append(receiver time: Instant.Span, app: String, at: Instant) throws(ReportError) {
        try append("wake.receiver/1") { line in
            line.put("app", app)
            line.put("t", at)
            line.put("on_ms", time.milliseconds)
        }
    }

    /// A line for people, such as a scenario's `note` step; `app` is nil when it is about the whole run.
    package func append(note: String, app: String? = nil, at: Instant) throws(ReportError) {
        try append("wake.note/1") { line in
            line.put("app", app)
            line.put("t", at)
            line.put("note", note)
        }
    }

    /// Whole milliseconds; less than one in microseconds, as a fraction.
    private func milliseconds(_ span: Instant.Span?, into line: inout LineBuffer) {
        guard let span else { return line.append("null") }
        let microseconds = span.nanoseconds / 1_000
        guard microseconds > 0, microseconds < 1_000 else { return line.append(span.milliseconds) }
        line.append("0.")
        line.append(UInt64(microseconds), width: 3)
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
