import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench rules`.
enum RulesCommand {
    static let options: [Arguments.Option] = [
        .flag("--reasons", "list the reasons that decisions give, each with its rule"),
        .flag("--settings", "list the switches and figures of a profile: name, value, range, rule, meaning"),
        .value("--profile", "NAME", "whose values --settings shows; default ios17"),
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        if arguments.has("--reasons") {
            for reason in Reason.allCases { print("\(reason.word)\t\(reason.rule.text)") }
            return .done
        }
        if arguments.has("--settings") {
            let profile = try RunCommand.profile(arguments) ?? .ios17
            let rows = ProfileSetting.all.map { setting in
                let value = SettingText.text(setting.value(profile))
                return [setting.name, value, SettingText.range(of: setting), setting.rule.text, setting.meaning]
            }
            // On a terminal a table that fits it, elsewhere a line each for programs.
            let lines =
                Terminal.width.map { TextTable.lines(rows, width: $0) } ?? rows.map { $0.joined(separator: "\t") }
            for line in lines { print(line) }
            return .done
        }
        if arguments.rest.isEmpty {
            for line in RuleText.list() { Terminal.print(line, hanging: 22) }
            return .done
        }
        let text = try arguments.only("ID").uppercased()
        guard let rule = RuleID(text: text) else {
            let near = Suggestion.nearest(to: text, among: RuleID.allCases.map(\.text))
            throw CommandFailure(
                .notFound,
                "no rule \(text)",
                hint: near.map { "did you mean \($0)?" } ?? "'wakebench rules' lists them"
            )
        }
        Terminal.print(RuleText.page(rule), hanging: 14)
        return .done
    }
}
