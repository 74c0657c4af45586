import WakeModel

/// Which rules of the rulebook this version decides by.
package enum RuleCoverage {
    /// How far a rule goes.
    package enum Standing: Hashable, Sendable {
        case decided
        /// What is missing, as the end of a sentence.
        case inPart(without: String)
        case undecided

        /// The word in lists.
        package var word: String {
            switch self {
            case .decided: "decided"
            case .inPart: "in part"
            case .undecided: "not yet"
            }
        }
    }

    /// How far this version goes with a rule.
    package static func standing(of rule: RuleID) -> Standing {
        let entry = RuleCatalogue.entry(rule)
        if let missing = entry.missing { return .inPart(without: missing) }
        return entry.isDeed || owners.contains(rule) ? .decided : .undecided
    }

    /// How far this version goes with a background mode: as far as with the rule that gives it its effect.
    package static func standing(of mode: BackgroundMode) -> Standing { standing(of: rule(of: mode)) }

    /// The rule that gives a background mode its effect.
    package static func rule(of mode: BackgroundMode) -> RuleID {
        guard let rule = rules[mode.plistValue].flatMap(RuleID.init(text:)) else {
            preconditionFailure("modes.tsv has no rule for \(mode.plistValue)")
        }
        return rule
    }

    private static let rules = Table.pairs("modes.tsv", EmbeddedFile.modesTSV, columns: ["mode", "rule"])

    /// The rules with a check, a reason, or a switch or figure of a profile.
    private static let owners = Set(
        Check.allCases.map(\.rule) + Reason.allCases.map(\.rule) + ProfileSetting.all.map(\.rule)
    )
}
