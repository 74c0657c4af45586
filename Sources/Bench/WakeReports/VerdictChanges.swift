import WakeModel

/// Which verdicts are others in a second run of the same scenario, such as one with another profile, and by which rules.
package struct VerdictChanges: Sendable {
    /// What became of an event for an app in one of the runs.
    package struct Ruling: Hashable, Sendable {
        package var verdict: Verdict
        package var reason: Reason
        package var rule: RuleID

        /// Such as `deny ForceQuit LAUNCH-2`.
        package var text: String { "\(verdict.word) \(reason.word) \(rule.text)" }
    }

    /// An event for an app that came to something else.
    package struct Change: Sendable {
        /// The bundle identifier; `-` for what nobody registered for.
        package var app: String
        /// Such as `characteristic-notified belt/2A37`.
        package var event: String
        /// Which of the app's events of that kind and subject it is, from 1.
        package var number: Int
        /// When it came, in the run that has it; the first, where both have.
        package var at: Instant
        /// Nil in a run that has no such event.
        package var first: Ruling?
        package var second: Ruling?
        /// The record that says so in each run; none in a run that has no such event.
        package var decisions: (first: DecisionID, second: DecisionID) = (.none, .none)
    }

    /// In the order of their instants.
    package let changes: [Change]
    /// How many events for apps the runs have between them.
    package let count: Int

    private struct Kind: Hashable {
        var app: String
        var event: String
    }

    private struct Key: Hashable {
        var kind: Kind
        var number: Int
    }

    private struct Entry {
        var at: Instant
        var ruling: Ruling
        var decision: DecisionID
    }

    /// Compares two runs. An event is known again by its app, its kind, its subject, and by being the first, second and so on
    /// of these; of several records of one, the last counts.
    package init(_ first: RunLog, _ second: RunLog) {
        let (left, right) = (Self.entries(first), Self.entries(second))
        let keys = Set(left.keys).union(right.keys)
        count = keys.count
        changes = keys.compactMap { key -> Change? in
            let (one, other) = (left[key], right[key])
            if one?.ruling == other?.ruling { return nil }
            let at = one?.at ?? other?.at ?? .zero
            return Change(
                app: key.kind.app,
                event: key.kind.event,
                number: key.number,
                at: at,
                first: one?.ruling,
                second: other?.ruling,
                decisions: (one?.decision ?? .none, other?.decision ?? .none)
            )
        }
        .sorted { ($0.at, $0.app, $0.event, $0.number) < ($1.at, $1.app, $1.event, $1.number) }
    }

    private static func entries(_ log: RunLog) -> [Key: Entry] {
        var entries: [Key: Entry] = [:]
        var counts: [Kind: Int] = [:]
        var places: [DecisionID: Key] = [:]
        for record in log.decisions {
            let ruling = Ruling(verdict: record.verdict, reason: record.reason, rule: record.rule)
            if record.supersedes != .none, let key = places[record.supersedes] {
                entries[key]?.ruling = ruling
                entries[key]?.decision = record.id
                places[record.id] = key
                continue
            }
            let kind = Kind(app: record.app ?? "-", event: record.happening)
            counts[kind, default: 0] += 1
            let key = Key(kind: kind, number: counts[kind] ?? 1)
            entries[key] = Entry(at: record.at, ruling: ruling, decision: record.id)
            places[record.id] = key
        }
        return entries
    }

    /// A line a change under a heading, and a last one with how many there are.
    ///
    /// - Parameters:
    ///   - names: what the runs are called, such as their profiles.
    ///   - width: the characters of a line of the terminal; nil for rows of any width.
    package func lines(names: (String, String), width: Int? = nil) -> [String] {
        let total = "\(changes.count) of \(Plural.text(count, "event")) came to something else with \(names.1)"
        if changes.isEmpty { return [total] }
        let heading = ["TIME", "APP", "EVENT", names.0.uppercased(), names.1.uppercased()]
        let rows = changes.map { change in
            let event = change.number == 1 ? change.event : "\(change.event) #\(change.number)"
            return [
                LogTime.text(change.at), change.app, event, change.first?.text ?? "-", change.second?.text ?? "-",
            ]
        }
        return TextTable.lines([heading] + rows, width: width) + ["", total]
    }
}
