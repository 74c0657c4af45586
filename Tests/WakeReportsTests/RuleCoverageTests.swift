import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("What this version decides by")
struct RuleCoverageTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// The rules that titles of tests begin with, or name in parentheses; read once.
    private static let titled: Set<RuleID> = {
        var rules: Set<RuleID> = []
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: tests.path)) ?? []
        for file in files where file.hasSuffix(".swift") {
            let text = (try? String(contentsOf: tests.appending(path: file), encoding: .utf8)) ?? ""
            for title in text.matches(of: /@Test\(\s*"([^"]+)"/) {
                let ids = title.1.matches(of: /[A-Z]+-[0-9]+/).filter { id in
                    let before = title.1[..<id.range.lowerBound]
                    return before.allSatisfy { $0.isUppercase || $0.isNumber || "-, ".contains($0) }
                        || before.contains("(")
                }
                rules.formUnion(ids.compactMap { RuleID(text: String($0.0)) })
            }
        }
        return rules
    }()

    @Test("A rule counts as decided when tests show it, and as undecided when none does", arguments: RuleID.allCases)
    func standing(rule: RuleID) {
        let titled = Self.titled
        switch RuleCoverage.standing(of: rule) {
        case .decided: #expect(titled.contains(rule), "\(rule.text) is called decided, and no test is named for it")
        case .inPart: break
        case .undecided: #expect(!titled.contains(rule), "\(rule.text) is called undecided, and a test is named for it")
        }
    }

    @Test("Each mode has all of its effect, but for those that are only known")
    func modes() {
        let lacking = BackgroundMode.allCases.filter { RuleCoverage.standing(of: $0) != .decided }
        #expect(lacking == [.pushToTalk, .nearbyInteraction, .networkAuthentication])
    }
}
