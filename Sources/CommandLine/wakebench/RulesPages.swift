import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// Rules of the rulebook, `wake.rules/1`.
struct RulesPage: Encodable {
    struct Rule: Encodable {
        var rule: String
        var sentence: String
        /// Whether this version decides by it: `decided`, `in part`, `not yet`.
        var standing: String
        /// What this version lacks of it.
        var missing: String?
        var figure: String?
        var profiles: String
        var confidence: String
        var note: String?
        var assumed: String?
        var sources: [String]
        /// The rule with which it shares code and test.
        var aliasOf: String?
        var settings: [String]
        var reasons: [String]

        init(_ id: RuleID) {
            let entry = RuleCatalogue.entry(id)
            (rule, sentence, missing, figure) = (id.text, entry.sentence, entry.missing, entry.figure)
            standing = RuleCoverage.standing(of: id).word
            (profiles, confidence) = (entry.profiles, entry.confidence.word)
            (note, assumed, sources) = (entry.note, entry.assumed, entry.sources)
            aliasOf = entry.aliasOf?.text
            settings = ProfileSetting.all.filter { $0.rule == id }.map(\.name)
            reasons = Reason.allCases.filter { $0.rule == id }.map(\.word)
        }
    }

    var schema = "wake.rules/1"
    var ok = true
    var rules: [Rule]

    init(_ rules: [RuleID]) { self.rules = rules.map(Rule.init) }
}

/// The reasons of decisions, `wake.reasons/1`.
struct ReasonsPage: Encodable {
    struct Entry: Encodable {
        var reason: String
        var rule: String
    }

    var schema = "wake.reasons/1"
    var ok = true
    var reasons = Reason.allCases.map { Entry(reason: $0.word, rule: $0.rule.text) }
}

/// The switches and figures of a profile, `wake.settings/1`.
struct SettingsPage: Encodable {
    struct Setting: Encodable {
        var setting: String
        /// As `--set` takes it.
        var value: String
        var range: String
        var rule: String
        var meaning: String
    }

    var schema = "wake.settings/1"
    var ok = true
    var profile: String
    var settings: [Setting]

    init(_ profile: Profile) {
        self.profile = profile.name
        settings = ProfileSetting.all.map { setting in
            Setting(
                setting: setting.name,
                value: SettingText.text(setting.value(profile)),
                range: SettingText.range(of: setting),
                rule: setting.rule.text,
                meaning: setting.meaning
            )
        }
    }
}

/// What relaunches an app, `wake.relaunches/1`.
struct RelaunchPage: Encodable {
    struct Ending: Encodable {
        /// How the app ended.
        var ended: String
        var relaunched: Bool
        var rule: String?
    }

    struct Mechanism: Encodable {
        var mechanism: String
        var endings: [Ending]
    }

    var schema = "wake.relaunches/1"
    var ok = true
    var profile: String
    var mechanisms: [Mechanism]

    init(_ table: RelaunchTable, _ profile: Profile) {
        self.profile = profile.name
        mechanisms = table.rows.map { row in
            let endings = zip(RelaunchTable.Ending.allCases, row.cells).map { ending, cell in
                Ending(ended: ending.word, relaunched: cell.isRelaunched, rule: cell.rule?.text)
            }
            return Mechanism(mechanism: row.mechanism, endings: endings)
        }
    }
}

/// What rules decided in runs, `wake.rule-coverage/1`.
struct CoveragePage: Encodable {
    struct Count: Encodable {
        var rule: String
        var decided: Int
        var asked: Int
    }

    var schema = "wake.rule-coverage/1"
    var ok = true
    var runs: Int
    var rules: [Count]
    /// Those that decided nothing.
    var unused: [String]

    init(_ use: RuleUse) {
        runs = use.runs
        rules = RuleID.allCases.map { Count(rule: $0.text, decided: use.decided($0), asked: use.asked($0)) }
        unused = use.unused.map(\.text)
    }
}
