import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench can-wake`.
enum CanWakeCommand {
    static let options: [Arguments.Option] = [
        .value("--run", "DIR", "the run whose end is asked about; default ./wakebench-runs/latest"),
        RunCommand.appFolder,
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        guard arguments.rest.count == 2 else {
            throw CommandFailure(.usage, "an APP and a kind of EVENT expected", hint: "see --help")
        }
        guard let kind = EventKind(word: arguments.rest[1]) else {
            let near = Suggestion.nearest(to: arguments.rest[1], among: EventKind.allCases.map(\.word))
            throw CommandFailure(
                .usage,
                "no kind of event \(arguments.rest[1])",
                hint: near.map { "did you mean \($0)?" }
            )
        }
        let folder = arguments.value("--run") ?? "wakebench-runs/latest"
        var log = try WhyCommand.read(folder)
        let bundle = try WhyCommand.app(arguments.rest[0], in: log, folder)
        let question = try WakeQuestion(
            run: folder,
            appFolders: arguments.all("--apps") + RunCommand.defaultAppFolders
        )
        let records = question.app(bundle).map { question.records(of: kind, for: $0, in: log) } ?? []
        guard !records.isEmpty else {
            throw CommandFailure(
                .notFound,
                "no \(kind.word) for \(bundle) came in \(folder)",
                hint: "the run has \(question.kinds.map(\.word).joined(separator: ", "))"
            )
        }
        var wakes = false
        for record in records {
            wakes = wakes || record.verdict.delivers
            log.decisions = [record]
            let answer = record.verdict.delivers ? "yes" : "no"
            print("\(answer): \(record.kind) \(record.subject): \(record.verdict.word), \(record.reason.word)")
            if let text = Why(log, app: bundle, width: Terminal.width).explanation(event: record.event) { print(text) }
        }
        return wakes ? .done : .expectationFailed
    }
}
