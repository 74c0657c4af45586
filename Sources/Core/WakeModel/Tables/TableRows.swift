/// A row of reasons.tsv.
package struct ReasonRow: Sendable {
    /// In reasons.tsv, from 1.
    package let line: Int
    package let word: String
    package let rule: RuleID
    /// What the reason means for a decision, with places such as `<exit>` for what is read from its record.
    package let because: String
    /// What would make the app wake, with `<mode>` for the event's background mode; nil when nothing is wrong.
    package let advice: String?
    /// What is said instead about events of one background mode.
    package let variants: [Variant]

    package struct Variant: Sendable {
        package let line: Int
        package let mode: BackgroundMode
        /// Nil where the general one holds.
        package let because: String?
        package let advice: String?
    }

    /// Reads reasons.tsv, in the order of ``Reason``. A row with a mode says only what differs for events of that mode.
    ///
    /// - Throws: with the line, where a row is missing or one too many, a mode's is there twice or about no reason, or a cell says nothing.
    package static func all(_ bytes: [UInt8]) throws(TableError) -> [ReasonRow] {
        let columns = ["reason", "mode", "word", "rule", "because", "advice"]
        let table = try Table("reasons.tsv", bytes, columns: columns)
        var variants: [String: [Variant]] = [:]
        for row in table.rows where row["mode"] != nil {
            let reason = try row.filled("reason")
            let mode = try row.value("mode") { BackgroundMode(plistValue: $0) }
            guard variants[reason]?.contains(where: { $0.mode == mode }) != true else {
                throw row.refusal("\(reason) is there already for \(mode.plistValue)")
            }
            let variant = Variant(line: row.line, mode: mode, because: row["because"], advice: row["advice"])
            variants[reason, default: []].append(variant)
        }
        let rows = try table.rows(inOrderOf: Reason.self, where: { $0["mode"] == nil })
        var reasons: [ReasonRow] = []
        for row in rows {
            reasons.append(
                ReasonRow(
                    line: row.line,
                    word: try row.filled("word"),
                    rule: try row.value("rule") { RuleID(text: $0) },
                    because: try row.filled("because"),
                    advice: row["advice"],
                    variants: variants.removeValue(forKey: try row.filled("reason")) ?? []
                )
            )
        }
        if let name = variants.keys.min() { throw TableError("reasons.tsv", line: 1, "reason: there is no \(name)") }
        return reasons
    }
}

/// A row of checks.tsv.
package struct CheckRow: Sendable {
    /// In checks.tsv, from 1.
    package let line: Int
    package let rule: RuleID
    /// The question as a statement that holds when the check passes.
    package let name: String
    /// What a record shows of what the check looked at; the words are the reports'.
    package let observed: String

    /// Reads checks.tsv, in the order of ``Check``.
    ///
    /// - Throws: with the line, where a row is missing or one too many, or a cell says nothing.
    package static func all(_ bytes: [UInt8]) throws(TableError) -> [CheckRow] {
        let table = try Table("checks.tsv", bytes, columns: ["check", "rule", "name", "observed"])
        var checks: [CheckRow] = []
        for row in try table.rows(inOrderOf: Check.self) {
            checks.append(
                CheckRow(
                    line: row.line,
                    rule: try row.value("rule") { RuleID(text: $0) },
                    name: try row.filled("name"),
                    observed: try row.filled("observed")
                )
            )
        }
        return checks
    }
}

/// A row of events.tsv.
package struct EventRow: Sendable {
    /// Its name in code.
    package let kind: String
    package let word: String
    package let source: Source
    package let mode: BackgroundMode
    /// The delegate method that it calls, as outcomes name it; of what both kinds of Bluetooth manager hear, the central's.
    package let callback: String

    /// Reads events.tsv: the number of a kind is that of its row.
    ///
    /// - Throws: with the line, where a kind is there twice, or a cell says nothing.
    package static func all(_ bytes: [UInt8]) throws(TableError) -> [EventRow] {
        let table = try Table("events.tsv", bytes, columns: ["kind", "word", "source", "mode", "callback"])
        var kinds: [EventRow] = []
        for row in table.rows {
            let kind = EventRow(
                kind: try row.filled("kind"),
                word: try row.filled("word"),
                source: try row.value("source") { Source(word: $0) },
                mode: try row.value("mode") { BackgroundMode(plistValue: $0) },
                callback: try row.filled("callback")
            )
            if kinds.contains(where: { $0.kind == kind.kind }) { throw row.refusal("\(kind.kind) is there already") }
            kinds.append(kind)
        }
        return kinds
    }
}

/// A row of deeds.tsv.
package struct DeedRow: Sendable {
    /// The word used in records.
    package let word: String
    package let rule: RuleID
    /// What was done, in words.
    package let sentence: String
    /// Whether it is of everyday life: in the records of a run, and in no timeline for people.
    package let isEveryday: Bool

    /// Reads deeds.tsv, in the order of ``Deed``.
    ///
    /// - Throws: with the line, where a row is missing or one too many, or a cell says nothing.
    package static func all(_ bytes: [UInt8]) throws(TableError) -> [DeedRow] {
        let table = try Table("deeds.tsv", bytes, columns: ["deed", "word", "rule", "sentence", "everyday"])
        var deeds: [DeedRow] = []
        for row in try table.rows(inOrderOf: Deed.self) {
            deeds.append(
                DeedRow(
                    word: try row.filled("word"),
                    rule: try row.value("rule") { RuleID(text: $0) },
                    sentence: try row.filled("sentence"),
                    isEveryday: row["everyday"] != nil
                )
            )
        }
        return deeds
    }
}

/// The embedded tables, each read once.
private enum Tables {
    static let reasons = read { () throws(TableError) in try ReasonRow.all(PackageResources.reasons_tsv) }
    static let checks = read { () throws(TableError) in try CheckRow.all(PackageResources.checks_tsv) }
    static let deeds = read { () throws(TableError) in try DeedRow.all(PackageResources.deeds_tsv) }
    static let events = read { () throws(TableError) in try EventRow.all(PackageResources.events_tsv) }

    // The router asks for these at each decision.
    static let rulesOfReasons = reasons.map(\.rule)
    static let rulesOfChecks = checks.map(\.rule)
    static let sources = events.map(\.source)

    private static func read<Row>(_ rows: () throws(TableError) -> [Row]) -> [Row] {
        do throws(TableError) {
            return try rows()
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension Reason: Worded {
    package var row: ReasonRow { Tables.reasons[Int(rawValue)] }

    /// The word used in records, scenarios and `wakebench rules --reasons`.
    package var word: String { row.word }

    /// The rule that gives the reason.
    package var rule: RuleID { Tables.rulesOfReasons[Int(rawValue)] }
}

extension Check {
    package var row: CheckRow { Tables.checks[Int(rawValue)] }

    /// The rule the question comes from.
    package var rule: RuleID { Tables.rulesOfChecks[Int(rawValue)] }

    /// The question as a statement that holds when the check passes.
    package var statement: String { row.name }
}

extension Deed: Worded {
    package var row: DeedRow { Tables.deeds[Int(rawValue)] }

    /// The word used in records.
    package var word: String { row.word }

    /// The rule by which it is done.
    package var rule: RuleID { row.rule }
}

extension EventKind {
    /// All of them, in the order of their rows.
    public static let allCases = Tables.events.indices.map { EventKind(row: UInt8($0)) }

    /// Its name in code.
    public var description: String { Tables.events[Int(rawValue)].kind }

    /// The word used in records and scenarios.
    package var word: String { Tables.events[Int(rawValue)].word }

    /// The source that reports it.
    package var source: Source { Tables.sources[Int(rawValue)] }

    /// The background mode that lets an app have it; of what either Bluetooth mode does, the central's.
    package var mode: BackgroundMode { Tables.events[Int(rawValue)].mode }

    /// The delegate method that it calls, as outcomes name it.
    package var callback: String { Tables.events[Int(rawValue)].callback }
}
