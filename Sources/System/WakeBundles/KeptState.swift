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

    /// A sentence for each that a binary uses; none for one that has Foundation in it, with all of its symbols.
    static func notes(on program: Data) -> [String] {
        guard program.range(of: Data("libFoundation".utf8)) != nil else { return [] }
        return rows.filter { row in row.symbols.contains { program.range(of: $0) != nil } }.map(\.note)
    }
}
