/// Which decisions are meant.
package struct DecisionFilter: Hashable, Sendable {
    package var verdict: Verdict?
    package var reason: Reason?
    package var kind: EventKind?
    package var rule: RuleID?

    package init(verdict: Verdict? = nil, reason: Reason? = nil, kind: EventKind? = nil, rule: RuleID? = nil) {
        self.verdict = verdict
        self.reason = reason
        self.kind = kind
        self.rule = rule
    }

    /// Whether a decision fits; what is nil fits anything.
    package func matches(_ decision: Decision) -> Bool {
        (verdict == nil || verdict == decision.verdict) && (reason == nil || reason == decision.reason)
            && (kind == nil || kind == decision.kind) && (rule == nil || rule == decision.rule)
    }
}
