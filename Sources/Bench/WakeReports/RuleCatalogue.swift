import WakeModel

/// How sure a rule is, in the word that records use.
package enum Confidence: UInt8, Worded, Sendable {
    /// A public page, header, note or session says so.
    case documented
    /// Crash logs or measurements show it.
    case observed
    /// A reading: no source says it in one sentence.
    case inferred
    /// Often repeated and never measured.
    case folklore
    /// Chosen, because no source says anything.
    case assumed
    /// Sources differ, and a setting chooses.
    case disputed
    /// A rule of the bench, and not of the phone.
    case design

    // Said of each rule.
    private static let words = allCases.map(\.spelled)

    package var word: String { Self.words[Int(rawValue)] }
}

/// One rule of the rulebook: what it says, how sure it is, and where it can be read.
package struct RuleEntry: Hashable, Sendable {
    package var id: RuleID
    package var sentence: String
    /// The number in the rule, with its unit; nil when it has none.
    package var figure: String?
    /// The profiles it holds in, in words.
    package var profiles: String
    package var confidence: Confidence
    /// What qualifies the confidence, such as an assumed figure.
    package var note: String?
    /// What of the rule, mostly a figure, is chosen because no source says anything; nil when nothing is.
    package var assumed: String?
    /// The titles of documents that anyone can look up.
    package var sources: [String]
    /// The rule with which it shares code and test.
    package var aliasOf: RuleID?
    /// Whether it shows in what the phone does and not in a record: in moves, callbacks, answers, ends and what waits. Tests name it.
    package var isDeed: Bool
    /// Whether an app's process does it itself: no log of a run shows it.
    package var isInProcess: Bool
    /// What this version lacks of it, as the end of a sentence; nil when nothing, or all.
    package var missing: String?

    /// Reads a row of rules.tsv.
    fileprivate init(_ id: RuleID, _ row: Table.Row, titles: [String: String]) throws(TableError) {
        self.id = id
        sentence = try row.filled("sentence")
        figure = row["figure"]
        profiles = try row.filled("profiles")
        confidence = try row.value("confidence", Confidence.init(word:))
        note = row["note"]
        assumed = row["assumed"]
        sources = []
        for source in (row["sources"] ?? "").split(separator: " ") {
            guard let title = titles[String(source)] else { throw row.refusal("sources: there is no \(source)") }
            sources.append(title)
        }
        aliasOf = row["alias"] == nil ? nil : try row.value("alias") { RuleID(text: $0) }
        isDeed = row["deed"] == nil ? false : try row.value("deed") { $0 == "yes" || $0 == "process" ? true : nil }
        isInProcess = row["deed"] == "process"
        missing = row["missing"]
    }
}

/// All rules, in the order in which checks are made: the rows of Tables/rules.tsv, which cite those of Tables/sources.tsv.
package enum RuleCatalogue {
    /// The rule of an id.
    package static func entry(_ id: RuleID) -> RuleEntry { entries[Int(id.rawValue)] }

    /// The rules in the order of ``RuleID``.
    package static let entries: [RuleEntry] = {
        do throws(TableError) {
            return try entries(rules: EmbeddedFile.rulesTSV, sources: EmbeddedFile.sourcesTSV)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    /// Reads the two tables.
    ///
    /// - Throws: with the line, where a rule or a source is missing, is there twice or is none, or a cell says nothing.
    static func entries(rules: [UInt8], sources: [UInt8]) throws(TableError) -> [RuleEntry] {
        var titles: [String: String] = [:]
        for row in try Table("sources.tsv", sources, columns: ["source", "title"]).rows {
            let source = try row.filled("source")
            guard titles.updateValue(try row.filled("title"), forKey: source) == nil else {
                throw row.refusal("\(source) is there already")
            }
        }
        let columns = [
            "id", "sentence", "figure", "profiles", "confidence", "note", "assumed", "sources", "alias", "deed",
            "missing",
        ]
        let rows = try Table("rules.tsv", rules, columns: columns).rows(of: RuleID.self, by: "id", name: \.text)
        var entries: [RuleEntry] = []
        for (id, row) in zip(RuleID.allCases, rows) { entries.append(try RuleEntry(id, row, titles: titles)) }
        return entries
    }
}
