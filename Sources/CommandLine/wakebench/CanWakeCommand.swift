import WakeBench
import WakeReports

/// `wakebench can-wake`.
enum CanWakeCommand {
    static let options: [Arguments.Option] = [
        .value("--run", "DIR", "the run whose end is asked about; default ./wakebench-runs/latest"),
        .value("--phone", "NAME", short: "-p", "a phone of the daemon instead, as it stands, booted or not"),
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
        let appFolders = arguments.all("--apps") + RunCommand.defaultAppFolders
        let question: WakeQuestion
        do throws(CommandFailure) { question = try WakeQuestion(run: folder, appFolders: appFolders) } catch {
            // A phone that is booted has its journal to itself, and says it.
            guard arguments.has("--phone"), error.code == .wrongState else { throw error }
            return try LiveAppVerbs.canWake(try LiveCall(arguments))
        }
        let answer = try question.answer(Array(arguments.rest.dropFirst()), for: [bundle], in: log, folder)
        if arguments.has("--json") {
            print(try Output.json(page: answer.page))
        } else {
            print(TextTable.prose(answer.text, width: Terminal.width))
        }
        return answer.page.ok ? .done : .expectationFailed
    }
}
