import WakeJSON
import WakeModel

/// The logs of one run, read from its folder.
package struct RunLog: Sendable {
    package var header: LogHeader
    package var decisions: [DecisionRecord] = []
    /// The last outcome of each decision, by decision.
    package var outcomes: [UInt64: Outcome] = [:]
    /// What came with each event that had bytes to read, in hexadecimal, by event.
    package var values: [UInt64: String] = [:]
    package var moves: [StateMove] = []
    package var exits: [ExitEntry] = []
    package var notes: [Note] = []
    /// What apps marked for the trace, in the order in which it was heard.
    package var signposts: [SignpostEntry] = []
    /// How long each app kept the receiver on, in the order of the scenario; those that did not are left out (LOC-9).
    package var receiver: [(app: String, time: Instant.Span)] = []
    /// What the processes of real apps have used.
    package var usage: [UsageEntry] = []
    package var traffic: [TrafficEntry] = []
    /// The apps of the run, in the order of the scenario; none in a log of an older version.
    package var roster: [AppEntry] = []
    package var acts: [Act] = []
    package var deeds: [DeedEntry] = []
    /// What each app is registered for, as last told.
    package var registrations: [String: RegistrationEntry] = [:]
    package var ranges: [RangeEntry] = []
    /// The records in full, for a page; nil where they were not asked for.
    package var evidence: Evidence?
    /// Where it was read; empty for a log that was made in memory.
    package var folder = ""
    /// The last instant that the logs name.
    package var end: Instant = .zero
    package static let decisionsName = "decisions.ndjson"
    package static let outcomesName = "outcomes.ndjson"

    /// The log of outcomes beside one of decisions: `outcomes.3.ndjson` of `decisions.3.ndjson`.
    static func outcomesName(beside name: String) -> String { "outcomes\(name.dropFirst("decisions".count))" }

    /// Reads both logs of a folder; without outcomes.ndjson there are no outcomes. Lines that are cut or unknown are
    /// left out.
    ///
    /// - Parameters:
    ///   - app: keeps the lines of this app only, and events that nobody registered for.
    ///   - checks: false leaves out the checks of decisions, which are most of them.
    ///   - evidence: keeps the records in full beside what is read of them; only of all apps.
    package init(
        folder: String,
        app: String? = nil,
        checks: Bool = true,
        evidence: Bool = false
    ) throws(ReportError) {
        let path = folder + "/" + Self.decisionsName
        var lines = try LineReader(path)
        guard let first = try lines.next().flatMap(JSONValue.init(parsing:)), let header = LogHeader(firstLine: first)
        else {
            throw ReportError(.foreign("not a log of wakebench"), path: path)
        }
        self.header = header
        self.folder = folder
        var reader = DecisionReader(checks: checks)
        decisions.reserveCapacity(lines.size / Self.recordSize)
        if evidence, app == nil { self.evidence = Evidence() }
        while let line = try lines.next() {
            guard let record = reader.record(of: line), app == nil || record.app == nil || record.app == app else {
                continue
            }
            if record.at > end { end = record.at }
            decisions.append(record)
            if self.evidence != nil { reader.keep(record, line, in: &self.evidence!) }
        }
        try readOutcomes(folder + "/" + Self.outcomesName, app: app)
    }

    /// What the first line of a run's log says.
    package static func header(folder: String) throws(ReportError) -> LogHeader {
        let path = folder + "/" + decisionsName
        var lines = try LineReader(path)
        guard let header = try lines.next().flatMap(JSONValue.init(parsing:)).flatMap(LogHeader.init(firstLine:)) else {
            throw ReportError(.foreign("not a log of wakebench"), path: path)
        }
        return header
    }

    /// Gives the lines of a run's decisions to `body`, the first line and each record in full, until it says false.
    ///
    /// - Parameters:
    ///   - name: the log's in its folder: an older part, say.
    ///   - app: leaves out the records of other apps, and those of no app.
    ///   - values: adds to each record what came with its event.
    package static func eachRecord(
        folder: String,
        name: String = RunLog.decisionsName,
        app: String? = nil,
        values: Bool = false,
        _ body: ([UInt8]) -> Bool
    ) throws(ReportError) {
        var reader = try RecordReader(folder: folder, name: name, app: app, values: values)
        guard body(reader.first) else { return }
        while let record = try reader.next() {
            guard body(record) else { return }
        }
    }

    private mutating func readOutcomes(_ path: String, app: String?) throws(ReportError) {
        do {
            var lines = try LineReader(path)
            var texts = TextPool()
            while let line = try lines.next() {
                if let move = StateMove(line, &texts) {
                    guard app == nil || move.app == app else { continue }
                    end = max(end, move.at)
                    moves.append(move)
                    continue
                }
                if let entry = ValueEntry(line, &texts) {
                    values[entry.event.number] = entry.value
                    continue
                }
                guard let value = JSONValue(parsing: line) else { continue }
                if let app, let other = value["app"]?.string, other != app { continue }
                take(value)
            }
        } catch  where error.kind == .missing {
            return
        }
    }

    /// About as many bytes as a decision has.
    private static let recordSize = 270

    private mutating func take(_ value: JSONValue) {
        if let at = value["t"]?.string.flatMap(LogTime.instant), at > end { end = at }
        if let schema = value["schema"]?.string { Self.takers[schema]?(&self, value) }
    }

    private typealias Taker = @Sendable (inout RunLog, JSONValue) -> Void

    /// What becomes of each line of outcomes.ndjson, by its schema.
    private static let takers: [String: Taker] = Dictionary(uniqueKeysWithValues: [
        taker(Outcome.self) { $0.outcomes[$1.decision.number] = $1 },
        taker(ValueEntry.self) { $0.values[$1.event.number] = $1.value },
        taker(StateMove.self) { $0.moves.append($1) },
        taker(ExitEntry.self) { $0.exits.append($1) },
        taker(ReceiverEntry.self) { $0.take($1) },
        taker(UsageEntry.self) { $0.usage.append($1) },
        taker(TrafficEntry.self) { $0.traffic.append($1) },
        taker(AppEntry.self) { $0.roster.append($1) },
        taker(Act.self) { $0.acts.append($1) },
        taker(DeedEntry.self) { $0.deeds.append($1) },
        taker(RegistrationEntry.self) { $0.registrations[$1.app] = $1 },
        taker(RangeEntry.self) { $0.ranges.append($1) },
        taker(SignpostEntry.self) { $0.signposts.append($1) },
        taker(Note.self) { $0.notes.append($1) },
    ])

    private static func taker<Line: LogLine>(
        _: Line.Type,
        _ take: @escaping @Sendable (inout RunLog, Line) -> Void
    ) -> (String, Taker) {
        (Line.schema, { log, value in if let line = Line(value) { take(&log, line) } })
    }

    private mutating func take(_ entry: ReceiverEntry) {
        // No run is longer than an instant can say.
        guard (0...Int64.max / 1_000_000).contains(entry.milliseconds) else { return }
        // A run that was resumed says it again.
        receiver.removeAll { $0.app == entry.app }
        receiver.append((entry.app, .milliseconds(entry.milliseconds)))
    }

    /// What came with the event of a decision, in hexadecimal; nil for nothing.
    package func value(of decision: DecisionRecord) -> String? { value(of: decision.event, decision.id) }

    /// The same. A log of an older version has of values what processes read.
    func value(of event: EventID, _ decision: DecisionID) -> String? {
        if let value = values[event.number] { return value }
        let read = outcomes[decision.number]?.delivered.compactMap(\.value) ?? []
        return read.isEmpty ? nil : read.joined(separator: " ")
    }

    /// The later decision that replaced each, by the earlier one's number.
    package var supersededBy: [UInt64: DecisionID] {
        var later: [UInt64: DecisionID] = [:]
        for decision in decisions where decision.supersedes != .none { later[decision.supersedes.number] = decision.id }
        return later
    }

    /// What became of acts that found an app or the phone as they are not meant for, by their events.
    var findings: [EventID: String] {
        let told = deeds.filter { $0.deed.tellsOfAct && $0.event != .none }
        return Dictionary(told.map { ($0.event, $0.text) }) { first, _ in first }
    }

    /// The acts without those that changed nothing.
    var changes: [Act] {
        let vain = Set(deeds.filter { $0.deed.tellsOfNoChange && $0.event != .none }.map(\.event))
        return vain.isEmpty ? acts : acts.filter { !vain.contains($0.event) }
    }

    /// The apps that have decisions, in the order of their first, and then the others.
    package var apps: [String] {
        var seen: Set<String> = []
        return (decisions.compactMap(\.app) + moves.map(\.app) + roster.map(\.app))
            .filter { seen.insert($0).inserted }
    }

    /// The bundle identifier that a word means: one itself, or what the scenario calls an app. Nil when neither.
    package func app(_ word: String) -> String? {
        if apps.contains(word) { return word }
        return roster.first { $0.name == word }?.app
    }
}
