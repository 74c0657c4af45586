import Foundation
import WakeModel

/// What programs keep between wakes by means of Foundation's that are otherwise here than on a phone: the rows of
/// Tables/state.tsv, each with the beginnings of symbols that show its use.
enum KeptState {
    private static let rows = { () -> [(symbols: [Data], note: String)] in
        do throws(TableError) {
            var rows: [(symbols: [Data], note: String)] = []
            for row in try Table("state.tsv", PackageResources.state_tsv, columns: ["symbols", "note"]).rows {
                let symbols = try row.filled("symbols").split(separator: " ").map { Data($0.utf8) }
                rows.append((symbols, try row.filled("note")))
            }
            return rows
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    private static let noteOnStatic =
        "it has Foundation linked into it (--static-swift-stdlib): what it sets in UserDefaults is kept by synchronize() alone"

    /// A sentence for each that a binary uses. One that has Foundation in it has all of its symbols, so nothing but that is said.
    static func notes(on program: Data) -> [String] {
        guard program.range(of: Data("libFoundation".utf8)) != nil else {
            return program.range(of: Data("CFPreferencesSetAppValue".utf8)) == nil ? [] : [noteOnStatic]
        }
        return rows.filter { row in row.symbols.contains { program.range(of: $0) != nil } }.map(\.note)
    }
}
