import WakeBench
import WakeReports

/// `wakebench can-wake`.
enum CanWakeCommand {
    static let options: [Arguments.Option] = [
        .value("--run", "DIR", "the run whose end is asked about; default ./wakebench-runs/latest"),
        RunCommand.appFolder,
        .json,
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        guard let name = arguments.rest.first else {
            throw CommandFailure(.usage, "APP is missing", hint: "see --help")
        }
        let folder = try RunPlace.folder(arguments)
        let log = try WhyCommand.read(folder)
        let bundle = try WhyCommand.app(name, in: log, folder)
        let question = try WakeQuestion(
            run: folder,
            appFolders: arguments.all("--apps") + RunCommand.defaultAppFolders
        )
        let answer = try question.answer(Array(arguments.rest.dropFirst()), for: [bundle], in: log, folder)
        if arguments.has("--json") {
            print(try Output.json(page: answer.page))
        } else {
            print(TextTable.prose(answer.text, width: Terminal.width))
        }
        return answer.wakes ? .done : .expectationFailed
    }
}
