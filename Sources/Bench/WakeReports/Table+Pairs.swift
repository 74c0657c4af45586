import WakeModel

extension Table {
    /// A table of two columns, the second by the first; a row that lacks one, or that is there twice, is our mistake and traps.
    static func pairs(_ name: String, _ bytes: [UInt8], columns: [String]) -> [String: String] {
        do throws(TableError) {
            var pairs: [String: String] = [:]
            for row in try Table(name, bytes, columns: columns).rows {
                let key = try row.filled(columns[0])
                guard pairs.updateValue(try row.filled(columns[1]), forKey: key) == nil else {
                    throw row.refusal("\(key) is there already")
                }
            }
            return pairs
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
