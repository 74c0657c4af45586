import WakeModel

/// The rulebook as lines for people.
package enum RuleText {
    /// One line a rule: id, whether this version decides by it, confidence, sentence, and what of it is assumed.
    package static func list() -> [String] {
        RuleCatalogue.entries.map { entry in
            let id = entry.id.text + String(repeating: " ", count: max(1, 10 - entry.id.text.count))
            let standing = RuleCoverage.standing(of: entry.id).word
            let confidence = entry.confidence.word
            return id + standing + String(repeating: " ", count: max(1, 9 - standing.count)) + confidence
                + String(repeating: " ", count: max(1, 12 - confidence.count)) + entry.sentence
                + (entry.assumed.map { " [assumed: \($0)]" } ?? "")
        }
    }

    /// One line about each mode that has no effect in this version, or not all of it.
    package static func notes(on modes: [BackgroundMode]) -> [String] {
        modes.compactMap { mode in
            let rule = RuleCoverage.rule(of: mode).text
            return switch RuleCoverage.standing(of: mode) {
            case .decided: nil
            case .inPart(let missing): "the mode \(mode.plistValue) has its effect (\(rule)) without \(missing)"
            case .undecided: "the mode \(mode.plistValue) has no effect yet: this version does not decide by \(rule)"
            }
        }
    }

    /// All about one rule.
    package static func page(_ rule: RuleID) -> String {
        let entry = RuleCatalogue.entry(rule)
        var lines = ["\(entry.id.text)  \(entry.sentence)"]
        switch RuleCoverage.standing(of: rule) {
        case .decided: break
        case .inPart(let missing): lines.append("  in part     this version decides by it without \(missing)")
        case .undecided: lines.append("  not yet     this version does not decide by it")
        }
        if let figure = entry.figure { lines.append("  figure      \(figure)") }
        lines.append("  profiles    \(entry.profiles)")
        lines.append("  confidence  \(entry.confidence.word)\(entry.note.map { " (\($0))" } ?? "")")
        if let assumed = entry.assumed { lines.append("  assumed     \(assumed)") }
        for source in entry.sources { lines.append("  source      \(source)") }
        if let alias = entry.aliasOf { lines.append("  shares      code and test with \(alias.text)") }
        for setting in ProfileSetting.all where setting.rule == rule {
            lines.append("  setting     \(setting.name): \(setting.meaning)")
        }
        let reasons = Reason.allCases.filter { $0.rule == rule }.map(\.word)
        if !reasons.isEmpty { lines.append("  reasons     \(reasons.joined(separator: " "))") }
        return lines.joined(separator: "\n")
    }
}
