import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench can-wake`.
enum CanWakeCommand {
    static let options: [Arguments.Option] = [
        .value("--run", "DIR", "the run whose end is asked about; default ./wakebench-runs/latest"),
        RunCommand.appFolder,
        .json,
    ]

    /// `wake.can-wake/1`.
    private struct Page: Encodable {
        struct Answer: Encodable {
            var wakes: Bool
            var decision: DecisionPage?
        }

        var schema = "wake.can-wake/1"
        /// Whether any of them wakes the app.
        var ok: Bool
        var folder: String
        /// The bundle identifier.
        var app: String
        var kind: String
        /// One for each subject.
        var answers: [Answer]
    }

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
        let folder = try RunPlace.folder(arguments)
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
        let wakes = records.contains { $0.verdict.delivers }
        var page = Page(ok: wakes, folder: folder, app: bundle, kind: kind.word, answers: [])
        for record in records {
            log.decisions = [record]
            let why = Why(log, app: bundle, width: Terminal.width)
            if arguments.has("--json") {
                let decision = why.answerPage(event: record.event)
                page.answers.append(Page.Answer(wakes: record.verdict.delivers, decision: decision))
                continue
            }
            let answer = record.verdict.delivers ? "yes" : "no"
            print("\(answer): \(record.kind) \(record.subject): \(record.verdict.word), \(record.reason.word)")
            if let text = why.explanation(event: record.event) { print(text) }
        }
        if arguments.has("--json") { print(try Output.json(page: page)) }
        return wakes ? .done : .expectationFailed
    }
}
