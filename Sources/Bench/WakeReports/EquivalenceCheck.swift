import WakeModel

/// Whether two runs came to the same: for each app the same verdicts in the same order, and the same values.
///
/// Consecutive repeats count once, because a real radio repeats itself. Values are compared up to the end of the
/// shorter run, which may be at most a tenth shorter.
package enum EquivalenceCheck {
    /// What must be equal of a decision.
    private struct Step: Hashable, CustomStringConvertible {
        var kind: String
        var subject: String
        var verdict: Verdict
        var reason: Reason
        var rule: RuleID

        var description: String { "\(kind) \(subject): \(verdict.word), \(reason.word), \(rule.text)" }
    }

    /// The differences, one line each; empty when the runs are equal.
    ///
    /// - Parameter names: what the runs are called in the lines.
    package static func differences(
        _ left: RunLog,
        _ right: RunLog,
        names: (String, String) = ("simulated", "real")
    ) -> [String] {
        var lines: [String] = []
        let (leftSteps, rightSteps) = (steps(left), steps(right))
        for app in Set(leftSteps.keys).union(rightSteps.keys).sorted() {
            lines += compare(app, leftSteps[app] ?? [], rightSteps[app] ?? [], names)
        }
        let (leftValues, rightValues) = (values(left), values(right))
        for app in Set(leftValues.keys).union(rightValues.keys).sorted() {
            lines += compare(app, values: leftValues[app] ?? [], rightValues[app] ?? [], names)
        }
        if lines.isEmpty, left.decisions.isEmpty { lines.append("no decisions to compare") }
        return lines
    }

    /// By app; `-` for events that nobody registered for.
    private static func steps(_ log: RunLog) -> [String: [Step]] {
        var steps: [String: [Step]] = [:]
        for decision in log.decisions {
            let step = Step(
                kind: decision.kind,
                subject: decision.subject,
                verdict: decision.verdict,
                reason: decision.reason,
                rule: decision.rule
            )
            let app = decision.app ?? "-"
            if steps[app]?.last != step { steps[app, default: []].append(step) }
        }
        return steps
    }

    /// What each app read, in the order of the decisions.
    private static func values(_ log: RunLog) -> [String: [String]] {
        var values: [String: [String]] = [:]
        for (_, outcome) in log.outcomes.sorted(by: { $0.key < $1.key }) {
            values[outcome.app, default: []] += outcome.delivered.compactMap(\.value)
        }
        return values
    }

    /// The first place at which both have something, and not the same.
    private static func difference<Item: Equatable>(
        _ what: String,
        _ left: [Item],
        _ right: [Item],
        _ names: (String, String)
    ) -> String? {
        for (position, (one, other)) in zip(left, right).enumerated() where one != other {
            return "\(what) \(position + 1): \(names.0) has \(one); \(names.1) has \(other)"
        }
        return nil
    }

    private static func compare(
        _ app: String,
        _ left: [Step],
        _ right: [Step],
        _ names: (String, String)
    ) -> [String] {
        if let difference = difference("\(app), step", left, right, names) { return [difference] }
        guard left.count != right.count else { return [] }
        let (longer, more) = left.count > right.count ? (left, names.0) : (right, names.1)
        let position = min(left.count, right.count)
        return ["\(app), step \(position + 1): only \(more) has \(longer[position])"]
    }

    private static func compare(
        _ app: String,
        values left: [String],
        _ right: [String],
        _ names: (String, String)
    ) -> [String] {
        if let difference = difference("\(app), value", left, right, names) { return [difference] }
        let (shorter, longer) = (min(left.count, right.count), max(left.count, right.count))
        guard (longer - shorter) * 10 > longer else { return [] }
        return [
            "\(app): \(names.0) has \(left.count) values, \(names.1) \(right.count); the shorter may lack a tenth"
        ]
    }
}
