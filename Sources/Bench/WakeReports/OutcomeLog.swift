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
    package init(continuing path: String) throws(ReportError) {
        var length: Int?
        var held = Held()
        do {
            var lines = try LineReader(path)
            while let line = try lines.next() { Self.count(line, in: &held) }
            length = lines.offset
        } catch  where error.kind == .missing {}
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

    /// Keeps the lines in memory: see ``contents``.
    package init() { file = LogFile() }

    /// The lines that have not been written: all of them when the log is in memory.
    package var contents: String { file.line.text }

    /// From now on only what stands before the latest ``settle()`` reaches the file.
    package func hold() { file.hold() }

    /// What was appended so far has happened for good.
    package func settle() throws(ReportError) { try file.settle() }

    package func flush() throws(ReportError) { try file.flush() }

    package func append(_ outcome: Outcome) throws(ReportError) {
        write(outcome, into: &file.line)
        try file.endLine()
    }

    private func write(_ outcome: Outcome, into line: inout LineBuffer) {
        line.append("{\"schema\":\"wake.outcome/1\",\"decision\":")
        line.append(outcome.decision)
        line.append(",\"event\":")
        line.append(outcome.event)
        head(app: outcome.app, at: outcome.at, into: &line)
        line.append(",\"wall\":\"")
        line.append(wall: outcome.wall)
        line.append("\",\"pid\":")
        line.append(Int64(outcome.pid))
        line.append(",\"spawn_ms\":")
        milliseconds(outcome.spawn, into: &line)
        line.append(",\"delivered\":[")
        for (position, callback) in outcome.delivered.enumerated() {
            if position > 0 { line.append(",") }
            line.append("{\"callback\":")
            line.append(quoted: callback.name)
            line.append(",\"t\":")
            line.append(quoted: callback.at)
            line.append(",\"value\":")
            line.append(quoted: callback.value)
            line.append("}")
        }
        line.append("],\"acknowledged\":")
        line.append(outcome.acknowledged)
        line.append(",\"used_ms\":")
        milliseconds(outcome.used, into: &line)
        line.append(",\"ended\":")
        line.append(quoted: outcome.ended?.word)
        line.append(",\"exit_id\":")
        if outcome.exit == 0 {
            line.append("null")
        } else {
            line.append("\"x-")
            line.append(outcome.exit)
            line.append("\"")
        }
        line.append("}")
    }

    package func append(_ move: StateMove) throws(ReportError) {
        file.line.append("{\"schema\":\"wake.state/1\"")
        head(app: move.app, at: move.at, into: &file.line)
        file.line.append(",\"from\":")
        file.line.append(quoted: move.from.word(hasExited: false))
        file.line.append(",\"to\":")
        file.line.append(quoted: move.to.word(hasExited: false))
        file.line.append(",\"pid\":")
        file.line.append(Int64(move.pid))
        file.line.append("}")
        try file.endLine()
    }

    package func append(_ exit: ExitEntry) throws(ReportError) {
        file.line.append("{\"schema\":\"wake.exit/1\",\"id\":\"x-")
        file.line.append(exit.number)
        file.line.append("\"")
        head(app: exit.app, at: exit.at, into: &file.line)
        file.line.append(",\"generation\":")
        file.line.append(UInt64(exit.generation))
        file.line.append(",\"cause\":")
        file.line.append(quoted: exit.cause.word)
        file.line.append(",\"code\":")
        file.line.append(exit.code)
        file.line.append(",\"state_before\":")
        file.line.append(quoted: exit.stateBefore.word(hasExited: false))
        file.line.append(",\"pid\":")
        file.line.append(Int64(exit.pid))
        file.line.append(",\"at_launch\":")
        file.line.append(exit.atLaunch)
        file.line.append("}")
        try file.endLine()
    }

    /// How long an app has kept the receiver on since the run began (LOC-9).
    package func append(receiver time: Instant.Span, app: String, at: Instant) throws(ReportError) {
        file.line.append("{\"schema\":\"wake.receiver/1\"")
        head(app: app, at: at, into: &file.line)
        file.line.append(",\"on_ms\":")
        file.line.append(time.milliseconds)
        file.line.append("}")
        try file.endLine()
    }

    /// A line for people, such as a scenario's `note` step; `app` is nil when it is about the whole run.
    package func append(note: String, app: String? = nil, at: Instant) throws(ReportError) {
        file.line.append("{\"schema\":\"wake.note/1\",\"app\":")
        file.line.append(quoted: app)
        file.line.append(",\"t\":")
        file.line.append(quoted: at)
        file.line.append(",\"note\":")
        file.line.append(quoted: note)
        file.line.append("}")
        try file.endLine()
    }

    private func head(app: String, at: Instant, into line: inout LineBuffer) {
        line.append(",\"app\":")
        line.append(quoted: app)
        line.append(",\"t\":")
        line.append(quoted: at)
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
