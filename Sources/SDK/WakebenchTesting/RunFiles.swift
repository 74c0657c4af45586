import Foundation

/// Reads what a run wrote.
struct RunFiles {
    let folder: String
    /// The answer of `wakebench log`.
    let log: Data
    /// What the user calls the scenario's file, which lies elsewhere while it is played.
    let name: String

    /// - Parameter kept: where the folder stays; nil when it does not.
    func run(exitCode: Int32, talk: String, kept: String?) throws(Wakebench.Failure) -> Wakebench.Run {
        let results: Results = try decode(try contents("results.json"), "results.json")
        let outcomes = try contents("outcomes.ndjson")
        let apps: [AppLine] = try lines(outcomes, "wake.app/1", "outcomes.ndjson")
        let exits: [ExitLine] = try lines(outcomes, "wake.exit/1", "outcomes.ndjson")
        let decisions: [DecisionLine] = try lines(log, "wake.decision/2", "decisions.ndjson")
        var logs: [String: String] = [:]
        for app in apps {
            // One that never ran has none.
            guard let path = app.log, let data = try? Data(contentsOf: URL(filePath: "\(folder)/\(path)")) else {
                continue
            }
            logs[app.app] = String(decoding: data, as: UTF8.self)
        }
        return Wakebench.Run(
            decisions: decisions.map(\.decision),
            exits: exits.map { .init(app: $0.app, time: $0.t.sinceStart, cause: $0.cause, code: $0.code) },
            failedExpectations: results.expectations.compactMap { expectation -> Wakebench.Run.FailedExpectation? in
                guard let found = expectation.failure else { return nil }
                return .init(
                    expected: expectation.expected,
                    found: found,
                    place: own(expectation.place, in: results.file),
                    details: expectation.details
                )
            },
            fault: results.fault.map { fault in
                .init(
                    kind: fault.kind,
                    message: own(fault.message, in: results.file),
                    details: own(fault.details, in: results.file)
                )
            },
            exitCode: exitCode,
            end: results.end.sinceStart,
            talk: own(talk, in: results.file),
            folder: kept,
            apps: apps.map { .init(identifier: $0.app, name: $0.name) },
            logs: logs
        )
    }

    /// A text with the user's name for the scenario's file.
    private func own(_ text: String, in file: String) -> String {
        file.isEmpty ? text : text.replacing("\(file):", with: "\(name):")
    }

    private func contents(_ name: String) throws(Wakebench.Failure) -> Data {
        do { return try Data(contentsOf: URL(filePath: "\(folder)/\(name)"), options: .alwaysMapped) } catch {
            throw .unusable("\(folder)/\(name): cannot be read; is wakebench of the same version as WakebenchTesting?")
        }
    }

    /// The lines of a schema, which each begins with.
    private func lines<Line: Decodable>(
        _ data: Data,
        _ schema: String,
        _ name: String
    ) throws(Wakebench.Failure) -> [Line] {
        let start = Data("{\"schema\":\"\(schema)\"".utf8)
        var found: [Line] = []
        for line in data.split(separator: 0x0a) where line.starts(with: start) { found.append(try decode(line, name)) }
        return found
    }

    private func decode<Value: Decodable>(_ data: Data, _ name: String) throws(Wakebench.Failure) -> Value {
        do { return try JSONDecoder().decode(Value.self, from: data) } catch {
            throw .unusable(
                "\(folder)/\(name): a line that WakebenchTesting does not know; take wakebench of the same version"
            )
        }
    }
}

private struct Results: Decodable {
    var file: String
    var end: LogTime
    var fault: Fault?
    var expectations: [Expectation]

    struct Fault: Decodable {
        var kind: String
        var message: String
        var details: String
    }

    struct Expectation: Decodable {
        var expected: String
        var place: String
        /// Nil when it was met.
        var failure: String?
        var details: String
    }
}

private struct AppLine: Decodable {
    var app: String
    var name: String
    var log: String?
}

private struct ExitLine: Decodable {
    var app: String
    var t: LogTime
    var cause: Wakebench.ExitCause
    var code: Int
}

private struct DecisionLine: Decodable {
    var id: String
    var t: LogTime
    var event: Event
    var app: App?
    var verdict: Wakebench.Verdict
    var reason: Wakebench.Reason
    var rule: String
    var checks: [Check]
    var wouldHave: WouldHave?
    var fix: [String]
    var supersedes: String?

    struct Event: Decodable {
        var kind: Wakebench.EventKind
        var subject: String?
    }

    struct App: Decodable {
        var bundle: String
    }

    struct Check: Decodable {
        var rule: String
        var name: String
        var result: Wakebench.Decision.Check.Result
        var decisive: Bool?
    }

    struct WouldHave: Decodable {
        var verdict: Wakebench.Verdict?
    }

    enum CodingKeys: String, CodingKey {
        case id, t, event, app, verdict, reason, rule, checks, fix, supersedes
        case wouldHave = "would_have"
    }

    var decision: Wakebench.Decision {
        Wakebench.Decision(
            id: id,
            time: t.sinceStart,
            kind: event.kind,
            subject: event.subject ?? "",
            app: app?.bundle,
            verdict: verdict,
            reason: reason,
            rule: rule,
            checks: checks.map {
                .init(rule: $0.rule, name: $0.name, result: $0.result, isDecisive: $0.decisive ?? false)
            },
            wouldHave: wouldHave?.verdict,
            fix: fix,
            supersedes: supersedes
        )
    }
}

extension Wakebench.EventKind: Decodable {}
extension Wakebench.Verdict: Decodable {}
extension Wakebench.Reason: Decodable {}
extension Wakebench.ExitCause: Decodable {}
extension Wakebench.Decision.Check.Result: Decodable {}

/// A time of a log: `T+02:14:07.250`.
struct LogTime: Decodable {
    let sinceStart: Duration

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let time = Self.duration(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is no time")
        }
        sinceStart = time
    }

    /// `T+02:14:07.250`: milliseconds, cut.
    static func text(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let parts = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map(two).joined(separator: ":")
        return "T+\(parts)." + "\(1_000 + attoseconds / 1_000_000_000_000_000)".dropFirst()
    }

    /// The time of a text; nil when it is none.
    static func duration(_ text: String) -> Duration? {
        guard text.hasPrefix("T+") else { return nil }
        let parts = text.dropFirst(2).split(separator: ":", omittingEmptySubsequences: false)
        let seconds = (parts.last ?? "").split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let hours = Int64(parts[0]), let minutes = Int64(parts[1]),
            let whole = Int64(seconds[0]),
            (0..<2_000_000).contains(hours), (0..<60).contains(minutes), (0..<60).contains(whole), seconds.count < 3
        else { return nil }
        var nanoseconds: Int64 = 0
        if seconds.count == 2 {
            let digits = seconds[1]
            guard digits.count <= 9, let fraction = Int64(digits), fraction >= 0 else { return nil }
            nanoseconds = (digits.count..<9).reduce(fraction) { product, _ in product * 10 }
        }
        return .seconds((hours * 60 + minutes) * 60 + whole) + .nanoseconds(nanoseconds)
    }
}
