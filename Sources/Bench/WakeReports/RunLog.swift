import WakeJSON
import WakeModel

/// The logs of one run, read from its folder.
package struct RunLog: Sendable {
    package var header: LogHeader
    package var decisions: [DecisionRecord] = []
    /// The last outcome of each decision, by decision.
    package var outcomes: [UInt64: Outcome] = [:]
    package var moves: [StateMove] = []
    package var exits: [ExitEntry] = []
    package var notes: [Note] = []
    /// What apps marked for the trace, in the order in which it was heard.
    package var signposts: [SignpostEntry] = []
    /// How long each app kept the receiver on, in the order of the scenario; those that did not are left out (LOC-9).
    package var receiver: [(app: String, time: Instant.Span)] = []
    /// The apps of the run, in the order of the scenario; none in a log of an older version.
    package var roster: [AppEntry] = []
    package var acts: [Act] = []
    /// What each app is registered for, as last told.
    package var registrations: [String: RegistrationEntry] = [:]
    package var ranges: [RangeEntry] = []
    /// Where it was read; empty for a log that was made in memory.
    package var folder = ""
    /// The last instant that the logs name.
    package var end: Instant = .zero
    package static let decisionsName = "decisions.ndjson"
    package static let outcomesName = "outcomes.ndjson"

    package struct Note: Hashable, Sendable {
        package var text: String
        package var app: String?
        package var at: Instant

        package init(text: String, app: String?, at: Instant) {
            self.text = text
            self.app = app
            self.at = at
        }
    }

    /// Reads both logs of a folder; without outcomes.ndjson there are no outcomes. Lines that are cut or unknown are
    /// left out.
    ///
    /// - Parameters:
    ///   - app: keeps the lines of this app only, and events that nobody registered for.
    ///   - checks: false leaves out the checks of decisions, which are most of them.
    package init(folder: String, app: String? = nil, checks: Bool = true) throws(ReportError) {
        try self.init(
            decisions: folder + "/" + Self.decisionsName,
            outcomes: folder + "/" + Self.outcomesName,
            app: app,
            checks: checks
        )
        self.folder = folder
    }

    package init(
        decisions path: String,
        outcomes: String,
        app: String? = nil,
        checks: Bool = true
    ) throws(ReportError) {
        var lines = try LineReader(path)
        guard let first = try lines.next().flatMap(JSONValue.init(parsing:)), let header = LogHeader(first) else {
            throw ReportError(.foreign("not a log of wakebench"), path: path)
        }
        self.header = header
        var reader = DecisionReader(checks: checks)
        decisions.reserveCapacity(lines.size / Self.recordSize)
        while let line = try lines.next() {
            guard let record = reader.record(of: line), app == nil || record.app == nil || record.app == app else {
                continue
            }
            if record.at > end { end = record.at }
            decisions.append(record)
        }
        try readOutcomes(outcomes, app: app)
    }

    /// Gives the lines of a run's decisions to `body`, the first line and each record in full, until it says false.
    ///
    /// - Parameter app: leaves out the records of other apps, and those of no app.
    package static func eachRecord(
        folder: String,
        app: String? = nil,
        _ body: ([UInt8]) -> Bool
    ) throws(ReportError) {
        let path = folder + "/" + decisionsName
        var lines = try LineReader(path)
        guard let first = try lines.next(), JSONValue(parsing: first).flatMap(LogHeader.init) != nil else {
            throw ReportError(.foreign("not a log of wakebench"), path: path)
        }
        let wanted = app.map { app in
            var fragment = LineBuffer()
            fragment.append("\"app\":{\"bundle\":")
            fragment.append(quoted: app)
            return fragment.bytes
        }
        guard body(first) else { return }
        var shapes = ShapedLines()
        while let line = try lines.next() {
            guard let record = shapes.record(of: line), wanted.map(record.contains) != false else { continue }
            guard body(record) else { return }
        }
    }

    private mutating func readOutcomes(_ path: String, app: String?) throws(ReportError) {
        do {
            var lines = try LineReader(path)
            var texts = TextPool()
            while let line = try lines.next() {
                if let move = StateMove(line, &texts) {
                    if app == nil || move.app == app { take(move) }
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

    private mutating func take(_ move: StateMove) {
        if move.at > end { end = move.at }
        moves.append(move)
    }

    private mutating func take(_ value: JSONValue) {
        if let at = value["t"]?.string.flatMap(LogTime.instant), at > end { end = at }
        switch value["schema"]?.string {
        case "wake.outcome/1":
            if let outcome = Outcome(value) { outcomes[outcome.decision.number] = outcome }
        case "wake.state/1":
            if let move = StateMove(value) { moves.append(move) }
        case "wake.exit/1":
            if let exit = ExitEntry(value) { exits.append(exit) }
        case "wake.receiver/1":
            // No run is longer than an instant can say.
            guard let app = value["app"]?.string, let time = value["on_ms"]?.integer,
                (0...Int64.max / 1_000_000).contains(time)
            else { break }
            // A run that was gone on with says it again.
            receiver.removeAll { $0.app == app }
            receiver.append((app, .milliseconds(time)))
        case "wake.app/1":
            if let entry = AppEntry(value) { roster.append(entry) }
        case "wake.act/1":
            if let act = Act(value) { acts.append(act) }
        case "wake.registrations/1":
            if let entry = RegistrationEntry(value) { registrations[entry.app] = entry }
        case "wake.range/1":
            if let entry = RangeEntry(value) { ranges.append(entry) }
        case "wake.signpost/1":
            if let entry = SignpostEntry(value) { signposts.append(entry) }
        case "wake.note/1":
            if let note = value["note"]?.string, let at = value["t"]?.string.flatMap(LogTime.instant) {
                notes.append(Note(text: note, app: value["app"]?.string, at: at))
            }
        default: break
        }
    }

    /// The later decision that replaced each, by the earlier one's number.
    package var supersededBy: [UInt64: DecisionID] {
        var later: [UInt64: DecisionID] = [:]
        for decision in decisions where decision.supersedes != .none { later[decision.supersedes.number] = decision.id }
        return later
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

extension LogHeader {
    init?(_ line: JSONValue) {
        guard line["schema"]?.string?.hasPrefix("wake.log/") == true else { return nil }
        self.init(
            version: line["version"]?.string ?? "",
            phone: line["phone"]?.string ?? "",
            seed: line["seed"]?.unsigned ?? 0,
            profile: line["profile"]?.string ?? "",
            determinism: line["determinism"]?.string ?? "",
            settings: Dictionary(
                line["settings"]?.members.compactMap { member in member.value.string.map { (member.key, $0) } } ?? [],
                uniquingKeysWith: { first, _ in first }
            )
        )
    }
}
