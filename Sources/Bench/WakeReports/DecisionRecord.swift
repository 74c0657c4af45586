import WakeJSON
import WakeModel

/// A decision as a log has it.
package struct DecisionRecord: Hashable, Sendable {
    package var id: DecisionID
    package var at: Instant
    package var event: EventID
    package var source: String
    package var kind: String
    package var subject: String
    package var origin: String
    package var parent: EventID
    /// Nil when no app had registered.
    package var app: String?
    /// The word of the state, such as `suspended`.
    package var stateBefore: String
    package var stateSince: Instant
    package var generation: UInt32
    package var lastExit: LastExit?
    package var via: String
    package var restoreIdentifier: String?
    /// The time of the wake; nil in the foreground, and where no app is woken.
    package var budget: Budget?
    package var verdict: Verdict
    package var reason: Reason
    package var rule: RuleID
    package var checks: [CheckRecord]
    /// Nil when there is no telling.
    package var wouldHave: Verdict?
    /// The rules of the other failing checks.
    package var alsoFailing: [String]
    package var fix: [String]
    package var census: Census
    package var supersedes: DecisionID

    package struct LastExit: Hashable, Sendable {
        package var cause: String
        package var id: String
        package var at: Instant
    }

    /// One question and its answer.
    package struct CheckRecord: Hashable, Sendable {
        package var rule: RuleID
        package var result: CheckResult
        package var decisive: Bool
        package var since: Instant?
        /// The event that made it so, such as `e-000371`.
        package var setBy: String?
        /// What ends it, such as `user launch`.
        package var clearedBy: [String]
        /// The figures that were looked at, by their names, such as `limit_ms`.
        package var figures: [String: Int64]
    }

    /// Times of a wake, in milliseconds.
    package struct Budget: Hashable, Sendable {
        package var limit: Int64
        package var used: Int64
        package var left: Int64
    }

    /// All the apps that saw the event.
    package struct Census: Hashable, Sendable {
        package var apps: Int
        package var woke: Int
        package var byReason: [ReasonCount]
    }

    package struct ReasonCount: Hashable, Sendable {
        package var reason: String
        package var count: Int
    }

    package var decisive: CheckRecord? { checks.first(where: \.decisive) }
    /// A figure of the decisive check.
    func figure(_ name: String) -> Int64? { decisive?.figures[name] }
}

extension DecisionRecord {
    /// Reads a line; nil when it is not a decision.
    init?(_ line: JSONValue) {
        guard line["schema"]?.string == "wake.decision/1",
            let id = line["id"]?.string.flatMap(LogTime.number),
            let at = line["t"]?.string.flatMap(LogTime.instant),
            let event = line["event"],
            let eventID = event["id"]?.string.flatMap(LogTime.number),
            let kind = event["kind"]?.string,
            let verdict = line["verdict"]?.string.flatMap(Verdict.init(word:)),
            let reason = line["reason"]?.string.flatMap(Reason.init(word:)),
            let rule = line["rule"]?.string.flatMap(RuleID.init(text:))
        else { return nil }
        let app = line["app"]
        let wouldHave = line["would_have"]
        self.init(
            id: DecisionID(id),
            at: at,
            event: EventID(eventID),
            source: event["source"]?.string ?? "",
            kind: kind,
            subject: event["subject"]?.string ?? "",
            origin: event["origin"]?.string ?? "",
            parent: EventID(event["parent"]?.string.flatMap(LogTime.number) ?? 0),
            app: app?["bundle"]?.string,
            stateBefore: app?["state_before"]?.string ?? "",
            stateSince: app?["since"]?.string.flatMap(LogTime.instant) ?? .zero,
            generation: UInt32(clamping: app?["generation"]?.integer ?? 0),
            lastExit: app?["last_exit"].flatMap(LastExit.init),
            via: line["interest"]?["via"]?.string ?? "none",
            restoreIdentifier: line["interest"]?["restore_id"]?.string,
            budget: line["budget"].flatMap(Budget.init),
            verdict: verdict,
            reason: reason,
            rule: rule,
            checks: line["checks"]?.array.compactMap(CheckRecord.init) ?? [],
            wouldHave: wouldHave?["verdict"]?.string.flatMap(Verdict.init(word:)),
            alsoFailing: wouldHave?["also_failing"]?.array.compactMap(\.string) ?? [],
            fix: line["fix"]?.array.compactMap(\.string) ?? [],
            census: Census(line["census"]),
            supersedes: DecisionID(line["supersedes"]?.string.flatMap(LogTime.number) ?? 0)
        )
    }
}

extension DecisionRecord.LastExit {
    init?(_ value: JSONValue) {
        guard let cause = value["cause"]?.string, let id = value["id"]?.string else { return nil }
        self.init(cause: cause, id: id, at: value["t"]?.string.flatMap(LogTime.instant) ?? .zero)
    }
}

extension DecisionRecord.CheckRecord {
    private static let results = Dictionary(uniqueKeysWithValues: CheckResult.allCases.map { ($0.word, $0) })
    private static let rules = Dictionary(uniqueKeysWithValues: RuleID.allCases.map { ($0.text, $0) })

    init?(_ value: JSONValue) {
        guard let rule = value["rule"]?.string.flatMap({ Self.rules[$0] }),
            let result = value["result"]?.string.flatMap({ Self.results[$0] })
        else { return nil }
        self.init(
            rule: rule,
            result: result,
            decisive: value["decisive"]?.bool ?? false,
            since: value["since"]?.string.flatMap(LogTime.instant),
            setBy: value["set_by"]?.string,
            clearedBy: value["cleared_by"]?.array.compactMap(\.string) ?? [],
            figures: Self.figures(value)
        )
    }
}

extension DecisionRecord.CheckRecord {
    /// Only a decisive check is quoted with its figures.
    private static func figures(_ value: JSONValue) -> [String: Int64] {
        guard value["decisive"]?.bool == true else { return [:] }
        var figures: [String: Int64] = [:]
        for member in value.members + (value["observed"]?.members ?? []) {
            if let number = member.value.integer { figures[member.key] = number }
        }
        return figures
    }
}

extension DecisionRecord.Budget {
    init?(_ value: JSONValue) {
        guard let limit = value["limit_ms"]?.integer, let used = value["used_ms"]?.integer else { return nil }
        self.init(
            limit: limit,
            used: used,
            left: value["left_ms"]?.integer ?? limit.subtractingReportingOverflow(used).partialValue
        )
    }
}

extension DecisionRecord.Census {
    init(_ value: JSONValue?) {
        self.init(
            apps: Int(clamping: value?["apps"]?.integer ?? 0),
            woke: Int(clamping: value?["woke"]?.integer ?? 0),
            byReason: value?["by_reason"]?.members.map {
                DecisionRecord.ReasonCount(reason: $0.key, count: Int(clamping: $0.value.integer ?? 0))
            } ?? []
        )
    }
}

extension StateMove {
    private static let start = Array("{\"schema\":\"wake.state/1\",\"app\":".utf8)
    private static let time = Array(",\"t\":".utf8)
    private static let from = Array(",\"from\":".utf8)
    private static let to = Array(",\"to\":".utf8)
    private static let pid = Array(",\"pid\":".utf8)

    /// Reads a line as ``OutcomeLog`` writes it, which is most of a log's; nil when it is another.
    init?(_ line: [UInt8], _ texts: inout TextPool) {
        var offset = 0
        guard let app = Value(line, after: Self.start, &offset),
            let at = Value(line, after: Self.time, &offset)?.instant,
            let from = Value(line, after: Self.from, &offset), let to = Value(line, after: Self.to, &offset),
            let pid = Value(line, after: Self.pid, &offset)?.integer, offset + 1 == line.count, line[offset] == 0x7d,
            let app = texts.text(app), let from = texts.text(from).flatMap(AppState.init(recordWord:)),
            let to = texts.text(to).flatMap(AppState.init(recordWord:))
        else { return nil }
        self.init(app: app, at: at, from: from, to: to, pid: Int32(clamping: pid))
    }
}
