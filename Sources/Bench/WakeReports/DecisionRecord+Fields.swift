import WakeJSON
import WakeModel

/// A value of a record: in JSON, or in a line of values alone.
protocol RecordScalar {
    var integer: Int64? { get }
    /// The number of `"d-000412"`, `"e-000398"` or `"x-17"`.
    var id: UInt64? { get }
    var instant: Instant? { get }
    func text(_ pool: inout TextPool) -> String?
}

extension JSONValue: RecordScalar {
    var id: UInt64? { string.flatMap(LogTime.number) }
    var instant: Instant? { string.flatMap(LogTime.instant) }
    func text(_ pool: inout TextPool) -> String? { string }
}

// What stands where in a record: one table for records in full and for the values of a shape.
extension DecisionRecord {
    /// Takes a value in, at its place in the list or object that it is in.
    typealias Taking<Value> = @Sendable (inout DecisionRecord, Int, Value) -> Void

    /// What a value of a record is, and where it goes.
    enum Field: Sendable {
        case id(Taking<UInt64>), instant(Taking<Instant>), integer(Taking<Int64>), text(Taking<String>)
        /// One of a closed list; false for a word that is none of it.
        case word(@Sendable (inout DecisionRecord, String) -> Bool)
        /// A member of a check, or in older logs of what it observed. Only a decisive check is quoted with its figures.
        case figure(String)
        /// Readers do not need it.
        case ignored

        /// - Returns: false for a value of another type.
        func take(
            _ value: some RecordScalar,
            at place: Int,
            into record: inout DecisionRecord,
            _ texts: inout TextPool
        ) -> Bool {
            switch self {
            case .id(let take): return value.id.map { take(&record, place, $0) } != nil
            case .instant(let take): return value.instant.map { take(&record, place, $0) } != nil
            case .integer(let take): return value.integer.map { take(&record, place, $0) } != nil
            case .text(let take): return value.text(&texts).map { take(&record, place, $0) } != nil
            case .word(let take): return value.text(&texts).map { take(&record, $0) } ?? false
            case .figure(let name):
                guard record.checks[place].decisive else { return true }
                record.checks[place].figures[name] = value.integer
                if name == "observed" { record.checks[place].observed = value.text(&texts) }
                return true
            case .ignored: return true
            }
        }
    }

    private static func word<Value>(
        _ read: @escaping @Sendable (String) -> Value?,
        _ take: @escaping @Sendable (inout DecisionRecord, Value) -> Void
    ) -> Field {
        .word { record, word in read(word).map { take(&record, $0) } != nil }
    }

    /// The field that keys lead to; nil for none.
    static func field(_ path: String) -> Field? {
        if let field = fields[path] { return field }
        let keys = path.split(separator: " ")
        guard keys.first == "checks", let name = keys.last, name != "[]" else { return nil }
        return keys.count == 2 || keys.count == 3 && keys[1] == "observed" ? .figure(String(name)) : nil
    }

    private static let fields: [String: Field] = [
        "seq": .ignored,
        "id": .id { $0.id = DecisionID($2) },
        "t": .instant { $0.at = $2 },
        "event id": .id { $0.event = EventID($2) },
        "event source": .text { $0.source = $2 },
        "event kind": .text { $0.kind = $2 },
        "event subject": .text { $0.subject = $2 },
        "event origin": .text { $0.origin = $2 },
        "event parent": .id { $0.parent = EventID($2) },
        "app bundle": .text { $0.app = $2 },
        "app state_before": .text { $0.stateBefore = $2 },
        "app since": .instant { $0.stateSince = $2 },
        "app last_exit cause": .text { $0.lastExit = LastExit(cause: $2) },
        "app last_exit id": .text { $0.lastExit?.id = $2 },
        "app last_exit t": .instant { $0.lastExit?.at = $2 },
        "app debugger": .text { record, _, word in record.isExempt = word == Debugger.exempting.word },
        "app generation": .integer { $0.generation = UInt32(clamping: $2) },
        "interest via": .text { $0.via = $2 },
        "interest restore_id": .text { $0.restoreIdentifier = $2 },
        "interest registered_at": .ignored,
        "budget limit_ms": .integer { $0.budget = Budget(limit: $2) },
        "budget used_ms": .integer { $0.budget?.use($2) },
        "budget left_ms": .integer { $0.budget?.left = $2 },
        "verdict": word(Verdict.init(word:)) { $0.verdict = $1 },
        "reason": word(Reason.init(word:)) { $0.reason = $1 },
        "rule": word(RuleID.init(text:)) { $0.rule = $1 },
        "checks since": .instant { $0.checks[$1].since = $2 },
        "checks set_by": .text { $0.checks[$1].setBy = $2 },
        "would_have verdict": word(Verdict.init(word:)) { $0.wouldHave = $1 },
        "would_have also_failing []": .text { record, _, rule in record.alsoFailing.append(rule) },
        "fix []": .text { record, _, advice in record.fix.append(advice) },
        "census apps": .integer { $0.census.apps = Int(clamping: $2) },
        "census woke": .integer { $0.census.woke = Int(clamping: $2) },
        "census by_reason *": .integer { $0.census.byReason[$1].count = Int(clamping: $2) },
        "supersedes": .id { $0.supersedes = DecisionID($2) },
    ]

    /// Of this version, and of the one before it, in which what a check saw was a text, a flag, a number, a list, or an object of figures.
    static let schemas = ["wake.decision/2", "wake.decision/1"]

    /// Without these a line is no decision.
    private static let needed: Set = ["id", "t", "event id", "event kind", "verdict", "reason", "rule"]

    /// Reads a line; nil when it is not a decision.
    init?(_ line: JSONValue, _ texts: inout TextPool) {
        guard let schema = line["schema"]?.string, Self.schemas.contains(schema) else { return nil }
        self.init()
        checks = line["checks"]?.array.compactMap(CheckRecord.init) ?? []
        let counts = line["census"]?["by_reason"]?.members ?? []
        census.byReason = counts.map { ReasonCount(reason: $0.key, count: 0) }
        var missing = Self.needed
        Self.scalars(line) { path, place, value in
            // The checks are read, and there may be fewer than the line has.
            guard !path.hasPrefix("checks "), let field = Self.fields[path] else { return }
            if field.take(value, at: place, into: &self, &texts) { missing.remove(path) }
        }
        guard missing.isEmpty else { return nil }
    }

    /// Tells of each scalar of a record by the keys that lead to it, and with its place in the list of checks or of counts.
    static func scalars(
        _ value: JSONValue,
        _ path: String = "",
        at place: Int = 0,
        _ body: (String, Int, JSONValue) -> Void
    ) {
        switch value {
        case .array(let values):
            let isChecks = path == "checks"
            for (position, value) in values.enumerated() {
                scalars(value, isChecks ? path : path + " []", at: isChecks ? position : place, body)
            }
        case .object(let members):
            let isCounts = path == "census by_reason"
            for (position, member) in members.enumerated() {
                let key = isCounts ? "*" : member.key
                scalars(member.value, path.isEmpty ? key : path + " " + key, at: isCounts ? position : place, body)
            }
        case .null, .bool, .integer, .large, .number, .string: body(path, place, value)
        }
    }
}
