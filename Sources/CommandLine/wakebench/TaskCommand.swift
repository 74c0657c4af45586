import WakeBench
import WakeReports

/// `wakebench task list` and `wakebench task history`.
enum TaskCommand {
    static let options: [Arguments.Option] = [
        .value("--run", "DIR", "the run whose end is looked at; default ./wakebench-runs/latest"),
        .value("--phone", "NAME", short: "-p", "the run of this phone of the daemon, which has to be shut down"),
        RunCommand.appFolder,
        .json,
    ]

    static let historyOptions: [Arguments.Option] = [.json]

    static func list(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        guard arguments.rest.count <= 1 else { throw CommandFailure(.usage, "one APP expected", hint: "see --help") }
        let folder = try RunPlace.folder(arguments)
        try RunPlace.require(folder)
        var bundle: String?
        if let app = arguments.rest.first { bundle = try WhyCommand.app(app, in: try WhyCommand.read(folder), folder) }
        let question = try TaskQuestion(
            run: folder,
            appFolders: arguments.all("--apps") + RunCommand.defaultAppFolders
        )
        if arguments.has("--json") {
            print(try Output.json(page: TaskPage(question.tasks(of: bundle), folder: folder)))
            return .done
        }
        for line in question.lines(of: bundle) { print(line) }
        return .done
    }

    static func history(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: historyOptions)
        guard arguments.rest.count <= 1 else { throw CommandFailure(.usage, "one RUN expected", hint: "see --help") }
        let folder = try RunPlace.folder(arguments, word: arguments.rest.first)
        let history = TaskHistory(of: try WhyCommand.read(folder))
        if arguments.has("--json") {
            print(try Output.json(page: TaskHistoryPage(history, folder: folder)))
            return .done
        }
        for line in history.lines { print(line) }
        return .done
    }

    /// `wake.tasks/1`.
    private struct TaskPage: Encodable {
        struct Task: Encodable {
            /// The bundle identifier.
            var app: String
            var kind: String
            var identifier: String?
            /// When it is tried next; nil where nothing says so.
            var nextChance: String?
            /// Beside its time.
            var waitsFor: [String]
        }

        var schema = "wake.tasks/1"
        var ok = true
        var folder: String
        var tasks: [Task]

        init(_ tasks: [TaskQuestion.Task], folder: String) {
            self.folder = folder
            self.tasks = tasks.map { task in
                Task(
                    app: task.app,
                    kind: task.kind,
                    identifier: task.identifier,
                    nextChance: task.nextChance.map { LogTime.text($0) },
                    waitsFor: task.waitsFor
                )
            }
        }
    }
}
