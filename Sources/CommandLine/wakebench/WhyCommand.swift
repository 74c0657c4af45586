import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench why` and `wakebench compare`.
enum WhyCommand {
    static let options: [Arguments.Option] = [
        .value("--run", "DIR", "the run folder; default the last run, ./wakebench-runs/latest"),
        RunPlace.phone,
        .value("--event", "ID", "about this event only, such as e-000398"),
        .value("--since", "DURATION", "a table of the last part of the run, such as 1h"),
        .json,
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        guard let first = arguments.rest.first else {
            throw CommandFailure(.usage, "APP is missing", hint: "see --help")
        }
        let folder = try RunPlace.folder(arguments)
        let option = try arguments.value("--event").map { (text) throws(CommandFailure) in try self.event(text) }
        let since = try arguments.value("--since").map { (text) throws(CommandFailure) in try span(text) }
        let log = try read(folder)
        let name = try about(first, log, folder) ?? first
        let asked = Array(arguments.rest.dropFirst(name == first ? 1 : 0))
        if asked.count == 1, let id = DecisionID(text: asked[0]), !log.decisions.contains(where: { $0.id == id }) {
            throw unknown(id, log, folder)
        }
        let event = option ?? (asked.count == 1 ? numbered(asked[0], log) : nil)
        let app = try app(name, in: log, folder)
        let why = Why(log, app: app, width: Terminal.width)
        let question = try asked.isEmpty || event != nil ? nil : question(asked, why, log)
        let answer: (text: String, page: WhyPage)
        if let since {
            answer = (why.table(since: since), why.page(since: since))
        } else if let event {
            guard let text = why.explanation(event: event), let page = why.page(event: event) else {
                throw unknown(event, log, folder)
            }
            answer = (text, page)
        } else if let question {
            guard let text = why.explanation(question), let page = why.page(question) else {
                throw undecided(asked.joined(separator: " "), app, why)
            }
            answer = (text, page)
        } else {
            answer = (why.explanation(), why.page())
        }
        print(try arguments.has("--json") ? Output.json(page: answer.page) : answer.text)
        return .done
    }

    private static func event(_ text: String) throws(CommandFailure) -> EventID {
        if let event = EventID(text: text) { return event }
        throw CommandFailure(.usage, "--event \(text): not an event", hint: "expected an id such as e-000398")
    }

    /// The event of a number, or of the decision of one; nil for any other word.
    private static func numbered(_ word: String, _ log: RunLog) -> EventID? {
        EventID(text: word) ?? DecisionID(text: word).flatMap { id in log.decisions.first { $0.id == id }?.event }
    }

    /// The app that the number of a decision or of an event is about; nil for any other word.
    private static func about(_ word: String, _ log: RunLog, _ folder: String) throws(CommandFailure) -> String? {
        let (event, id) = (EventID(text: word), DecisionID(text: word))
        if event == nil && id == nil || log.app(word) != nil { return nil }
        var seen: Set<String> = []
        let decisions = log.decisions.filter { $0.id == id || $0.event == event }
        let acts = log.acts.filter { $0.event == event }
        let apps = (decisions.map(\.app) + acts.map(\.app)).compactMap(\.self).filter { seen.insert($0).inserted }
        if apps.count == 1 { return apps[0] }
        if let id, decisions.isEmpty { throw unknown(id, log, folder) }
        if let event, decisions.isEmpty, acts.isEmpty { throw unknown(event, log, folder) }
        let whose = apps.isEmpty ? "no app" : "\(apps.count) apps"
        let among = (apps.isEmpty ? log.apps : apps).joined(separator: ", ")
        throw CommandFailure(.usage, "\(word) is about \(whose)", hint: "give APP before it: \(among)")
    }

    private static func span(_ text: String) throws(CommandFailure) -> Instant.Span {
        guard let span = DurationText.span(text) else {
            throw CommandFailure(
                .usage,
                "--since \(text): not a duration",
                hint: "expected one such as 30s, 15m or 2h"
            )
        }
        return span
    }

    /// The bundle identifier of an app that a word of the command line names.
    static func app(_ word: String, in log: RunLog, _ folder: String) throws(CommandFailure) -> String {
        if let app = log.app(word) { return app }
        let near = Suggestion.nearest(to: word, among: log.apps + log.roster.map(\.name))
        let known = log.apps.isEmpty ? "no app at all" : log.apps.joined(separator: ", ")
        throw CommandFailure(
            .notFound,
            "no app \(word) in \(folder)",
            hint: near.map { "did you mean \($0)?" } ?? "the run has \(known)"
        )
    }

    private static func unknown(_ event: EventID, _ log: RunLog, _ folder: String) -> CommandFailure {
        let known = log.decisions.map(\.event) + log.acts.map(\.event)
        let range = known.max().map { "its last event is \(LogTime.text($0))" } ?? "it has no events"
        return CommandFailure(.notFound, "no event \(LogTime.text(event)) in \(folder)", hint: range)
    }

    private static func unknown(_ id: DecisionID, _ log: RunLog, _ folder: String) -> CommandFailure {
        let last = log.decisions.map(\.id).max().map { "its last decision is \(LogTime.text($0))" }
        let hint = last ?? "it has no decisions"
        return CommandFailure(.notFound, "no decision \(LogTime.text(id)) in \(folder)", hint: hint)
    }

    /// What a reason, a rule or an event asks for.
    private static func question(
        _ words: [String],
        _ why: Why,
        _ log: RunLog
    ) throws(CommandFailure) -> Why.Question {
        let known = why.concerning.map { (kind: $0.kind, subject: $0.subject) }
        if let question = try? Why.Question(words, among: known, in: log) { return question }
        let word = words.joined(separator: " ")
        let reasons = Reason.allCases.map(\.word) + RuleID.allCases.map(\.text)
        let near = Suggestion.nearest(to: word, among: reasons + EventKind.allCases.map(\.word))
        throw CommandFailure(
            .notFound,
            "no reason, rule or event \(word)",
            hint: near.map { "did you mean \($0)?" } ?? "'wakebench rules --reasons' lists reasons and rules"
        )
    }

    private static func undecided(_ word: String, _ app: String, _ why: Why) -> CommandFailure {
        var seen: Set<String> = []
        let reasons = why.concerning.map(\.reason.word).filter { seen.insert($0).inserted }
        return CommandFailure(
            .notFound,
            "no decision about \(app) for \(word)",
            hint: reasons.isEmpty ? "there is none at all" : "their reasons are \(reasons.joined(separator: ", "))"
        )
    }

    static let compareOptions: [Arguments.Option] = [.json]

    static func compare(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: compareOptions)
        guard arguments.rest.count == 2 else {
            throw CommandFailure(.usage, "two run folders expected", hint: "see --help")
        }
        let (left, right) = (arguments.rest[0], arguments.rest[1])
        let comparison = RunComparison(
            try read(left, checks: false),
            try read(right, checks: false),
            names: (left, right)
        )
        if arguments.has("--json") {
            print(comparison.json)
        } else {
            for line in comparison.lines { Terminal.print(TerminalText.escaped(line), hanging: 9) }
        }
        return comparison.isEqual ? .done : .nonDeterminism
    }

    static func read(_ folder: String, checks: Bool = true) throws(CommandFailure) -> RunLog {
        do { return try RunLog(folder: folder, checks: checks) } catch {
            if error.kind == .missing { throw RunPlace.missing(error, folder) }
            throw CommandFailure(.invalidFile, error)
        }
    }
}
