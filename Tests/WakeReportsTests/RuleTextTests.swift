import Foundation
import Testing
import WakeModel
import WakeReports

/// Tests/Rulebook/rulebook.tsv is the rulebook: what the program says of its rules is what stands there.
@Suite("The text of the rules")
struct RuleTextTests {
    private static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Rulebook/rulebook.tsv")

    /// Id, sentence, figure, profiles, confidence, and the rule that it shares code and test with; `-` and nothing for none.
    private static let rows: [[String]] = {
        let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").dropFirst().map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }()

    @Test("Every rule of the rulebook is there once, and no other")
    func complete() {
        #expect(Self.rows.map { $0[0] }.sorted() == RuleID.allCases.map(\.text).sorted())
    }

    @Test("What the program says of a rule is what the rulebook says", arguments: rows)
    func same(row: [String]) throws {
        let rule = try #require(RuleID(text: row[0]), "there is no rule \(row[0])")
        let entry = RuleCatalogue.entry(rule)
        #expect(entry.sentence == row[1])
        #expect(entry.figure ?? "-" == row[2])
        #expect(entry.profiles == row[3])
        #expect(entry.confidence.word == row[4])
        #expect(entry.aliasOf?.text ?? "" == row[5])
    }
}
