import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench why` and `wakebench compare`.
enum WhyCommand {
    static let options: [Arguments.Option] = [
        .value("--run", "DIR", "the run folder; default ./wakebench-runs/latest"),
        .value("--event", "ID", "about this event only, such as e-000398"),
        .value("--since", "DURATION", "a table of the last part of the run, such as 1h"),
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let app = try arguments.only("APP")
        let folder = arguments.value("--run") ?? "wakebench-runs/latest"
        let log = try read(folder)
        guard log.apps.contains(app) || log.moves.contains(where: { $0.app == app }) else {
            let near = Suggestion.nearest(to: app, among: log.apps)
            let hint = near.map { "did you mean \($0)?" } ?? "the run has \(log.apps.joined(separator: ", "))"
            throw CommandFailure(.notFound, "no app \(app) in \(folder); \(hint)")
        }
        let why = Why(log, app: app)
        if let text = arguments.value("--since") {
            guard let since = DurationText.span(text) else {
                throw CommandFailure(.usage, "--since \(text): expected a duration such as 30s, 15m or 2h")
            }
            print(why.table(since: since))
        } else if let text = arguments.value("--event") {
            guard text.hasPrefix("e-"), let number = UInt64(text.dropFirst(2)) else {
                throw CommandFailure(.usage, "--event \(text): expected an id such as e-000398")
            }
            print(why.explanation(event: EventID(number)))
        } else {
            print(why.explanation())
        }
        return .done
    }

    static func compare(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: [])
        guard arguments.rest.count == 2 else { throw CommandFailure(.usage, "two run folders expected; see --help") }
        let (left, right) = (arguments.rest[0], arguments.rest[1])
        let differences = EquivalenceCheck.differences(
            try read(left, checks: false),
            try read(right, checks: false),
            names: (left, right)
        )
        for line in differences { print(TerminalText.escaped(line)) }
        if differences.isEmpty { print("equal verdicts: \(left) and \(right)") }
        return differences.isEmpty ? .done : .nonDeterminism
    }

    private static func read(_ folder: String, checks: Bool = true) throws(CommandFailure) -> RunLog {
        do { return try RunLog(folder: folder, checks: checks) } catch {
            let code: ExitCode = error.kind == .missing ? .notFound : .invalidFile
            throw CommandFailure(code, error.description)
        }
    }
}
