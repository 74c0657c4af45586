import WakeJSON
import WakeModel

/// A decision as a log has it.
package struct DecisionRecord: Hashable, Sendable {
    package var id = DecisionID.none
    package var at = Instant.zero
    package var event = EventID.none
    package var source = ""
    package var kind = ""
    package var subject = ""
    package var origin = ""
    package var parent = EventID.none
    /// Nil when no app had registered.
    package var app: String?
    /// The word of the state, such as `suspended`.
    package var stateBefore = ""
    package var stateSince = Instant.zero
    package var generation: UInt32 = 0
    /// A debugger exempts the app from limits of time (SYS-5).
    package var isExempt = false
    package var lastExit: LastExit?
    package var via = "none"
    package var restoreIdentifier: String?
    /// The time of the wake; nil in the foreground, and where no app is woken.
    package var budget: Budget?
    package var verdict = Verdict.drop
    package var reason = Reason.noRegistration
    package var rule = RuleID.launch6
    package var checks: [CheckRecord] = []
    /// Nil when there is no telling.
    package var wouldHave: Verdict?
    /// The rules of the other failing checks.
    package var alsoFailing: [String] = []
    package var fix: [String] = []
    package var census = Census()
    package var supersedes = DecisionID.none

    package struct LastExit: Hashable, Sendable {
        package var cause: String
        package var id = ""
        package var at = Instant.zero
    }

    /// One question and its answer.
    package struct CheckRecord: Hashable, Sendable {
        package var rule: RuleID
        package var result: CheckResult
        package var decisive: Bool
        package var since: Instant?
        /// The event that made it so, such as `e-000371`.
        package var setBy: String?
        /// The rule by which it does not stand in the way.
        package var liftedBy: RuleID? = nil
        /// What ends it, such as `user launch`.
        package var clearedBy: [String]
        /// The figures that were looked at, by their names, such as `limit_ms`.
        package var figures: [String: Int64]
        /// What a decisive one saw, such as `denied` or `true`; nil where an older log has no text for it.
        package var observed: String?
    }

    /// Times of a wake, in milliseconds.
    package struct Budget: Hashable, Sendable {
        package var limit: Int64
        package var used: Int64 = 0
        package var left: Int64 = 0

        /// What is left follows, where a record does not say it.
        mutating func use(_ used: Int64) {
            self.used = used
            left = limit.subtractingReportingOverflow(used).partialValue
        }
    }

    /// All the apps that saw the event.
    package struct Census: Hashable, Sendable {
        package var apps = 0
        package var woke = 0
        package var byReason: [ReasonCount] = []
    }

    package struct ReasonCount: Hashable, Sendable {
        package var reason: String
        package var count: Int
    }

    /// `characteristic-notified belt/2A37`.
    var happening: String { subject.isEmpty ? kind : "\(kind) \(subject)" }
    package var decisive: CheckRecord? { checks.first(where: \.decisive) }
    /// A figure of the decisive check.
    func figure(_ name: String) -> Int64? { decisive?.figures[name] }
}

extension DecisionRecord {
    /// The records in the text of a log.
    package static func all(in text: String) -> [DecisionRecord] {
        var reader = DecisionReader()
        return text.utf8.split(separator: 0x0a).compactMap { reader.record(of: Array($0)) }
    }
}

extension DecisionRecord.CheckRecord {
    init?(_ value: JSONValue) {
        guard let rule = value["rule"]?.string.flatMap(RuleID.init(text:)),
            let result = value["result"]?.string.flatMap(CheckResult.init(word:))
        else { return nil }
        self.init(
            rule: rule,
            result: result,
            decisive: value["decisive"]?.bool ?? false,
            since: value["since"]?.string.flatMap(LogTime.instant),
            setBy: value["set_by"]?.string,
            liftedBy: value["lifted_by"]?.string.flatMap(RuleID.init(text:)),
            clearedBy: value["cleared_by"]?.array.compactMap(\.string) ?? [],
            figures: Self.figures(value),
            observed: value["decisive"]?.bool == true ? value["observed"]?.string : nil
        )
    }

    /// Only a decisive check is quoted with its figures.
    private static func figures(_ value: JSONValue) -> [String: Int64] {
        guard value["decisive"]?.bool == true else { return [:] }
        var figures: [String: Int64] = [:]
        // In older logs some are members of what was observed.
        for member in value.members + (value["observed"]?.members ?? []) {
            if let number = member.value.integer { figures[member.key] = number }
        }
        return figures
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
