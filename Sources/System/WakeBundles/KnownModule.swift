import WakeModel

/// A module that apps may ask for: a row of Tables/modules.tsv.
struct KnownModule: Sendable {
    enum Place: String, Sendable {
        /// Apps of the bench have it.
        case here
        /// iOS has it, and the bench does not.
        case absent
        /// No module, but what other languages run on there.
        case runtime
    }

    var name: String
    var place: Place
    /// How names of its C functions begin.
    var prefixes: [Substring]

    private init(_ row: Table.Row) throws(TableError) {
        name = try row.filled("module")
        place = try row.value("place") { Place(rawValue: $0) }
        prefixes = (row["prefixes"] ?? "").split(separator: " ")
    }

    static let all: [KnownModule] = {
        do throws(TableError) {
            let columns = ["module", "place", "prefixes"]
            let table = try Table("modules.tsv", PackageResources.modules_tsv, columns: columns)
            return try table.rows.map(KnownModule.init)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    static let here = Set(all.filter { $0.place == .here }.map(\.name))
    static let absent = Set(all.filter { $0.place == .absent }.map(\.name))
}
