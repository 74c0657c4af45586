import WakeModel
import WakeRouter

/// How sure a rule is, in the word of the rulebook.
enum Confidences {
    static func word(_ rule: RuleID) -> String { RuleCatalogue.entry(rule).confidence.word }
}
