import Foundation
import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench rules`.
enum RulesCommand {
    static let options: [Arguments.Option] = [
        .flag("--reasons", "list the reasons that decisions give, each with its rule"),
        .flag("--settings", "list the switches and figures of a profile: name, value, range, rule, meaning"),
        .flag("--matrix", "show which mechanism relaunches an app, by how it ended: asked of the router itself"),
        .value("--profile", "NAME", "of which --settings and --matrix are; default ios17"),
        .flag(
            "--coverage",
            "count how often each rule decided, and was asked, in runs: folders, or a folder of folders"
        ),
        .json,
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let json = arguments.has("--json")
        if arguments.has("--reasons") {
            if json { return try show(ReasonsPage()) }
            for reason in Reason.allCases { print("\(reason.word)\t\(reason.rule.text)") }
            return .done
        }
        if arguments.has("--matrix") {
            let profile = try RunCommand.profile(arguments) ?? .ios17
            let table = RelaunchTable(profile: profile)
            if json { return try show(RelaunchPage(table, profile)) }
            for line in table.lines { print(line) }
            return .done
        }
        if arguments.has("--coverage") { return try coverage(arguments.rest, json: json) }
        if arguments.has("--settings") { return try settings(try RunCommand.profile(arguments) ?? .ios17, json: json) }
        if arguments.rest.isEmpty {
            if json { return try show(RulesPage(RuleID.allCases)) }
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
        if json { return try show(RulesPage([rule])) }
        Terminal.print(RuleText.page(rule), hanging: 14)
        return .done
    }

    private static func show(_ page: some Encodable) throws(CommandFailure) -> ExitCode {
        print(try Output.json(page: page))
        return .done
    }

    private static func settings(_ profile: Profile, json: Bool) throws(CommandFailure) -> ExitCode {
        if json { return try show(SettingsPage(profile)) }
        let rows = ProfileSetting.all.map { setting in
            let value = SettingText.text(setting.value(profile))
            return [setting.name, value, SettingText.range(of: setting), setting.rule.text, setting.meaning]
        }
        // On a terminal a table that fits it, elsewhere a line each for programs.
        let lines = Terminal.width.map { TextTable.lines(rows, width: $0) } ?? rows.map { $0.joined(separator: "\t") }
        for line in lines { print(line) }
        return .done
    }

    private static func coverage(_ paths: [String], json: Bool) throws(CommandFailure) -> ExitCode {
        var use = RuleUse()
        for path in try paths.isEmpty ? [RunPlace.latest()] : paths {
            for folder in try runs(at: path) { use.add(try WhyCommand.read(folder)) }
        }
        if json { return try show(CoveragePage(use)) }
        for line in use.lines { print(line) }
        print("")
        Terminal.print(use.summary, hanging: 2)
        return .done
    }

    /// The folder of a run, or those of the runs in a folder, in the order of their names.
    private static func runs(at path: String) throws(CommandFailure) -> [String] {
        func isRun(_ folder: String) -> Bool {
            FileManager.default.fileExists(atPath: folder + "/" + RunLog.decisionsName)
        }
        if isRun(path) { return [path] }
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        // The link to the latest run names one that has a folder of its own.
        let runs = entries.sorted().filter { $0 != "latest" }.map { "\(path)/\($0)" }.filter(isRun)
        guard !runs.isEmpty else {
            throw CommandFailure(
                .notFound,
                "\(path) is no run, and no folder of runs",
                hint: "give folders that 'wakebench run --out' made"
            )
        }
        return runs
    }
}
