import Foundation
import WakeBench
import WakeDevices
import WakeJSON
import WakeModel
import WakeReports

/// A verb that a running daemon carries out, on its way there and back.
struct LiveCall {
    typealias Members = [JSONValue.Member]

    static let daemonOptions: [Arguments.Option] = [
        .value("--socket", "PATH", "the daemon's control socket; default $WAKEBENCH_SOCKET or the usual place"),
        .flag("--json", "print the answer as one JSON object"),
    ]

    static let phoneOptions: [Arguments.Option] =
        daemonOptions + [
            .value(
                "--phone",
                "NAME|UDID|booted",
                short: "-p",
                "the phone; default $WAKEBENCH_PHONE, or the one that is booted"
            )
        ]

    static let commandOptions: [Arguments.Option] =
        phoneOptions + [
            .flag("--no-wait", "do not wait until all that comes of it has been decided and answered"),
            .value("--timeout", "TIME", "the longest wait; default 10s. Exit code 6 when it is over"),
            .value(
                "--id",
                "ID",
                "what to call the command: one with the same is carried out once, and has the first answer however often it is given"
            ),
            .value(
                "--require",
                "VERDICT[:REASON]",
                "exit code 5 unless something was decided so: a verdict, or 'wake' for resume or relaunch"
            ),
        ]

    let arguments: Arguments
    let client: ControlClient

    init(_ arguments: Arguments) throws(CommandFailure) {
        self.arguments = arguments
        client = try ControlClient(socket: Self.socket(arguments))
    }

    static func socket(_ arguments: Arguments) -> String {
        arguments.value("--socket") ?? Daemon.usualSocket(state: Daemon.usualState())
    }

    /// The phone that the command line names.
    var phone: String {
        if let given = arguments.value("--phone") { return given }
        return ProcessInfo.processInfo.environment["WAKEBENCH_PHONE"] ?? "booted"
    }

    func ask(_ op: String, _ members: Members = []) throws(CommandFailure) -> JSONValue {
        try client.ask([.init("op", .string(op))] + members)
    }

    /// Asks for something of the phone that is named.
    func askPhone(_ op: String, _ members: Members = []) throws(CommandFailure) -> JSONValue {
        try ask(op, [.init("phone", .string(phone))] + members)
    }

    /// Prints the whole answer, where JSON was asked for: as one object, with what is wrong in it, if anything is.
    ///
    /// - Parameters:
    ///   - isGood: whether the exit code is 0.
    ///   - failure: what the command ends with in spite of the answer; nil for nothing.
    /// - Returns: whether it was.
    func printed(_ answer: JSONValue, isGood: Bool = true, _ failure: CommandFailure? = nil) -> Bool {
        guard arguments.has("--json") else { return false }
        var members = answer.members
        if let place = members.firstIndex(where: { $0.key == "ok" }) {
            members[place].value = .bool(isGood && failure == nil)
        }
        if let failure { members.append(.init("error", failure.json)) }
        print(String(decoding: JSONValue.object(members).encoded, as: UTF8.self))
        return true
    }

    // MARK: Commands

    /// Gives the phone a command, and shows what came of it.
    func command(_ command: JSONValue.Member...) throws(CommandFailure) -> ExitCode {
        var members: Members = [
            .init("command", .object(command)), .init("wait", .bool(!arguments.has("--no-wait"))),
        ]
        if let id = arguments.value("--id") { members.append(.init("id", .string(id))) }
        if let text = arguments.value("--timeout") { members.append(.init("timeout", .number(try Self.seconds(text)))) }
        let required = try arguments.value("--require").map(Requirement.init)
        let answer = try askPhone("do", members)
        let records = answer["decisions"]?.array ?? []
        let notes = (answer["notes"]?.array ?? []).compactMap(\.string)
        let failure = failure(of: answer, records, notes, required)
        if printed(answer, failure) { return failure?.code ?? .done }
        show(answer, records, notes)
        if let failure { throw failure }
        return .done
    }

    /// What is wrong with what came of a command; nil for nothing.
    private func failure(
        of answer: JSONValue,
        _ records: [JSONValue],
        _ notes: [String],
        _ required: Requirement?
    ) -> CommandFailure? {
        if let required, !records.contains(where: required.isMet) {
            return CommandFailure(
                .verdictMismatch,
                "nothing was decided as \(required.text)",
                hint: records.isEmpty ? notes.first ?? Self.verdicts(records) : Self.verdicts(records)
            )
        }
        if arguments.has("--no-wait") || answer["settled"]?.bool == true { return nil }
        return CommandFailure(
            .timeout,
            "accepted, and not settled in time",
            hint: "give a longer --timeout, or --no-wait"
        )
    }

    /// What was decided, each verdict with its reason once.
    private static func verdicts(_ records: [JSONValue]) -> String {
        var seen: [String] = []
        for record in records {
            let verdict = "\(record["verdict"]?.string ?? "") \(record["reason"]?.string ?? "")"
            if !seen.contains(verdict) { seen.append(verdict) }
        }
        let more = seen.count > 5 ? " and \(seen.count - 5) more" : ""
        return seen.isEmpty
            ? "nothing at all was decided" : "what was decided is \(seen.prefix(5).joined(separator: ", "))\(more)"
    }

    func step(_ members: Members) throws(CommandFailure) -> ExitCode {
        try command(.init("step", .object(members)))
    }

    private func show(_ answer: JSONValue, _ records: [JSONValue], _ notes: [String]) {
        if answer["repeated"]?.bool == true {
            Output.complain(
                "note: a command with this --id was accepted before: this is what came of it; nothing was done again"
            )
        }
        let happened = answer["happened"]?.array ?? []
        // What the user and the phone did comes before what was decided of it at the same instant.
        var lines: [(at: Instant, line: String)] = []
        for row in happened { lines.append((Self.instant(row["at"]), Self.line(happened: row))) }
        for record in records { lines.append((Self.instant(record["t"]), Self.line(record))) }
        let sorted = lines.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        for each in sorted { print(each.element.line) }
        for note in notes { print(TerminalText.escaped(note)) }
        if lines.isEmpty, notes.isEmpty { print("accepted at \(answer["at"]?.string ?? ""); nothing was decided") }
    }

    private static func instant(_ time: JSONValue?) -> Instant { time?.string.flatMap(LogTime.instant) ?? .zero }

    /// Something that is no decision in one line, such as the end of a process.
    private static func line(happened row: JSONValue) -> String {
        let pid = row["pid"]?.integer ?? 0
        let reason = row["reason"]?.string.flatMap { $0 == "-" ? nil : $0 }
        let cells = [row["at"]?.string, row["app"]?.string, row["what"]?.string, reason, pid == 0 ? nil : "pid \(pid)"]
        return cells.compactMap { $0.map(TerminalText.escaped) }.joined(separator: "  ")
    }

    /// A decision in one line.
    static func line(_ record: JSONValue) -> String {
        let event = record["event"]
        let app = record["app"]?["bundle"]?.string ?? "-"
        var cells = [
            record["t"]?.string, app, event?["kind"]?.string, event?["subject"]?.string, record["verdict"]?.string,
            record["reason"]?.string, record["rule"]?.string,
        ]
        if let value = record["value"]?.string { cells.append(value) }
        return cells.map { TerminalText.escaped($0 ?? "-") }.joined(separator: "  ")
    }

    static func seconds(_ text: String) throws(CommandFailure) -> Double {
        guard let span = DurationText.span(text) else {
            throw CommandFailure(.usage, "'\(text)' is no time", hint: "such as 30s, 15m or 2h")
        }
        return Double(span.nanoseconds) / 1e9
    }
}

/// What `--require` asks of what was decided.
struct Requirement {
    let text: String
    private let verdicts: [String]
    private let reason: String?

    init(_ text: String) throws(CommandFailure) {
        self.text = text
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        let known = Verdict.allCases.map(\.word)
        guard let word = parts.first, word == "wake" || known.contains(word) else {
            throw CommandFailure(unknown: "verdict '\(text)' of --require", known: ["wake"] + known)
        }
        verdicts = word == "wake" ? [Verdict.resume.word, Verdict.relaunch.word] : [word]
        reason = parts.count == 2 ? parts[1] : nil
        if let reason, !Reason.allCases.contains(where: { $0.word == reason }) {
            let near = Suggestion.nearest(to: reason, among: Reason.allCases.map(\.word))
            throw CommandFailure(.usage, "no reason '\(reason)'", hint: near.map { "did you mean \($0)?" })
        }
    }

    func isMet(by record: JSONValue) -> Bool {
        verdicts.contains(record["verdict"]?.string ?? "") && (reason == nil || reason == record["reason"]?.string)
    }
}

extension JSONValue.Member {
    init(_ key: String, _ value: JSONValue) { self.init(key: key, value: value) }
    init(_ key: String, _ text: String) { self.init(key: key, value: .string(text)) }
}
