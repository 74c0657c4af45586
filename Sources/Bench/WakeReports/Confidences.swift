import WakeModel

/// How sure a rule is, in the words of the rulebook.
enum Confidences {
    static func word(_ rule: RuleID) -> String { RuleCatalogue.entry(rule).confidence.word }

    /// With what of it is assumed: `documented; assumed: the inward margin`.
    static func words(_ rule: RuleID) -> String {
        let entry = RuleCatalogue.entry(rule)
        return entry.confidence.word + (entry.assumed.map { "; assumed: \($0)" } ?? "")
    }
}
