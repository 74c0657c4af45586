import WakeBench
import WakeReports

/// `wakebench app exits`.
enum ExitsCommand {
    static let options: [Arguments.Option] = [
        .value("--run", "DIR", "the run folder; default the last run, ./wakebench-runs/latest"), RunPlace.phone, .json,
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let word = try arguments.rest.isEmpty ? nil : arguments.only("APP")
        let folder = try RunPlace.folder(arguments)
        let log = try WhyCommand.read(folder, checks: false)
        let app = try word.map { (word) throws(CommandFailure) in try WhyCommand.app(word, in: log, folder) }
        let page = ExitsPage(log.exits.filter { app == nil || $0.app == app }, folder: folder)
        if arguments.has("--json") {
            print(try Output.json(page: page))
        } else {
            for line in page.lines(width: Terminal.width) { print(line) }
        }
        return .done
    }
}
