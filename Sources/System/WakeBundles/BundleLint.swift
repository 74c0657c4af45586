import Foundation
import WakeModel

/// Something about a bundle that installs and yet will not do on a phone what it was made for.
package struct BundleFinding: Hashable, Sendable {
    /// The rule by which it matters.
    package var rule: RuleID
    /// One sentence without a full stop.
    package var finding: String
    /// What to do about it.
    package var remedy: String
}

/// Looks for what bundles lack: the rows of Tables/lint.tsv, each with the facts that must hold together.
///
/// A fact is `key:NAME` (Info.plist has the key), `flag:NAME` (and it is true), `mode:NAME` (UIBackgroundModes has it), `modes` (it
/// has any), `legacy-sdk` (built with an SDK below 10) or `uses:FRAMEWORK`; `!` before it is its opposite.
enum BundleLint {
    struct Row: Sendable {
        let finding: BundleFinding
        let facts: [Substring]
    }

    static let rows: [Row] = {
        do throws(TableError) {
            return try rows(PackageResources.lint_tsv)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    /// Reads lint.tsv.
    ///
    /// - Throws: with the line, where a cell says nothing, or a fact is none.
    static func rows(_ bytes: [UInt8]) throws(TableError) -> [Row] {
        var rows: [Row] = []
        for row in try Table("lint.tsv", bytes, columns: ["rule", "when", "finding", "remedy"]).rows {
            let facts = try row.filled("when").split(separator: " ")
            for fact in facts where !isKnown(fact.drop { $0 == "!" }) { throw row.refusal("there is no fact \(fact)") }
            let finding = BundleFinding(
                rule: try row.value("rule") { RuleID(text: $0) },
                finding: try row.filled("finding"),
                remedy: try row.filled("remedy")
            )
            rows.append(Row(finding: finding, facts: facts))
        }
        return rows
    }

    private static func isKnown(_ fact: Substring) -> Bool {
        if fact == "modes" || fact == "legacy-sdk" { return true }
        let parts = fact.split(separator: ":")
        guard parts.count == 2 else { return false }
        return parts[0] == "mode"
            ? BackgroundMode(plistValue: String(parts[1])) != nil : ["key", "fixed", "flag", "uses"].contains(parts[0])
    }
}

/// Which frameworks a program uses.
enum FrameworkUse {
    /// The words by which programs without the SDK ask for a framework's work, by framework (WIRE.md).
    private static let words = { () -> [String: [Data]] in
        do throws(TableError) {
            let table = try Table("frameworks.tsv", PackageResources.frameworks_tsv, columns: ["framework", "words"])
            var words: [String: [Data]] = [:]
            for row in table.rows {
                words[try row.filled("framework")] = try row.filled("words").split(separator: " ").map { Data($0.utf8) }
            }
            return words
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    /// Whether a program uses a framework.
    ///
    /// A program with the SDK has the names of its modules, each between two zero bytes, where Swift keeps what it knows of types;
    /// any other speaks over the wire.
    static func uses(_ framework: String, _ program: Data) -> Bool {
        func holds(_ module: String) -> Bool { program.range(of: Data([0] + Array(module.utf8) + [0])) != nil }
        if holds("WakeClient") { return holds(framework) }
        return words[framework]?.contains { program.range(of: $0) != nil } ?? false
    }
}

extension AppBundle {
    /// What it lacks to do on a phone what it was made for; empty when nothing is found. Its Info.plist and program are read.
    ///
    /// - Throws: as ``read(_:)``, when its Info.plist cannot be read any more.
    package func findings() throws(BundleError) -> [BundleFinding] {
        let plist = InfoPlist(bundle: path, values: try InfoPlist.read(path + "/Info.plist", of: path))
        guard let program = try? Data(contentsOf: URL(filePath: executable), options: .mappedIfSafe) else { return [] }
        return BundleLint.rows.filter { row in
            row.facts.allSatisfy { fact in
                fact.hasPrefix("!") ? !holds(fact.dropFirst(), plist, program) : holds(fact, plist, program)
            }
        }
        .map(\.finding)
    }

    private func holds(_ fact: Substring, _ plist: InfoPlist, _ program: Data) -> Bool {
        let parts = fact.split(separator: ":").map(String.init)
        return switch parts[0] {
        case "modes": !modes.members.isEmpty
        case "legacy-sdk": sdk.keepsLegacySockets
        case "key": plist.values[parts[1]] != nil
        // A list with an entry that is no pattern.
        case "fixed": (plist.values[parts[1]] as? [String])?.contains { !$0.hasSuffix("*") } == true
        case "flag": plist.values[parts[1]] as? Bool == true
        case "mode": BackgroundMode(plistValue: parts[1]).map(modes.contains) ?? false
        default: FrameworkUse.uses(parts[1], program)
        }
    }
}
