import WakeBench
import WakeReports

/// `wakebench task list` and `wakebench task history`.
enum TaskCommand {
    static let options: [Arguments.Option] = [
        .value("--run", "DIR", "the run whose end is looked at; default ./wakebench-runs/latest"),
        RunCommand.appFolder,
    ]

    static func list(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        guard arguments.rest.count <= 1 else { throw CommandFailure(.usage, "one APP expected", hint: "see --help") }
        let folder = arguments.value("--run") ?? "wakebench-runs/latest"
        var bundle: String?
        if let app = arguments.rest.first { bundle = try WhyCommand.app(app, in: try WhyCommand.read(folder), folder) }
        let question = try TaskQuestion(
            run: folder,
            appFolders: arguments.all("--apps") + RunCommand.defaultAppFolders
        )
        for line in question.lines(of: bundle) { print(line) }
        return .done
    }

    static func history(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: [])
        guard arguments.rest.count <= 1 else { throw CommandFailure(.usage, "one RUN expected", hint: "see --help") }
        let log = try WhyCommand.read(arguments.rest.first ?? "wakebench-runs/latest")
        for line in TaskHistory(of: log).lines { print(line) }
        return .done
    }
}
