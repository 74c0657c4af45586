/// Why a table is refused, and where.
package struct TableError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The table's file.
    package var table: String
    /// From 1; the columns' names are on the first line.
    package var line: Int
    package var problem: String

    package init(_ table: String, line: Int, _ problem: String) {
        self.table = table
        self.line = line
        self.problem = problem
    }

    package var description: String { "\(table):\(line): \(problem)" }
}

/// A table that is embedded in the program: a row a line and a tab between two cells, below a line with the columns' names.
package struct Table: Sendable {
    /// One row: text by column.
    package struct Row: Sendable {
        /// The table's file, and the line in it.
        package let table: String
        package let line: Int
        fileprivate let columns: [String]
        fileprivate let cells: [String]

        /// What stands in a column; nil where nothing does.
        ///
        /// The column is one of the table's; anything else is our mistake, and traps.
        package subscript(column: String) -> String? {
            guard let place = columns.firstIndex(of: column) else {
                preconditionFailure("\(table) has no column \(column)")
            }
            return cells[place].isEmpty ? nil : cells[place]
        }

        /// What stands in a column that every row fills.
        package func filled(_ column: String) throws(TableError) -> String {
            guard let text = self[column] else { throw refusal("\(column) is empty") }
            return text
        }

        /// What `read` makes of a column's text: anything that has one, such as a rule by its id.
        package func value<Value>(_ column: String, _ read: (String) -> Value?) throws(TableError) -> Value {
            let text = try filled(column)
            guard let value = read(text) else { throw refusal("\(column): there is no \(text)") }
            return value
        }

        package func refusal(_ problem: String) -> TableError { TableError(table, line: line, problem) }
    }

    /// The table's file.
    package let name: String
    package let rows: [Row]

    /// Reads a table.
    ///
    /// - Parameter columns: all that it has, in their order.
    /// - Throws: with the line, where the text is not UTF-8, the columns are others, or a row has more or fewer cells.
    package init(_ name: String, _ bytes: [UInt8], columns: [String]) throws(TableError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            let valid = String(decoding: bytes, as: UTF8.self).prefix { $0 != "\u{FFFD}" }
            throw TableError(name, line: valid.count { $0 == "\n" } + 1, "this is not UTF-8")
        }
        self.name = name
        var rows: [Row] = []
        // By bytes: parting a text looks for whole characters, and takes much longer.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (position, line) in lines.enumerated() {
            // Nothing follows the end of the last line.
            if line.isEmpty, position == lines.count - 1, position > 0 { break }
            let cells = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
            if position == 0 {
                guard cells == columns else {
                    throw TableError(name, line: 1, "expected the columns \(columns.joined(separator: ", "))")
                }
                continue
            }
            guard cells.count == columns.count else {
                throw TableError(name, line: position + 1, "\(cells.count) cells for \(columns.count) columns")
            }
            rows.append(Row(table: name, line: position + 1, columns: columns, cells: cells))
        }
        self.rows = rows
    }

    /// The rows in the order of a closed list: each member has exactly one, and no other row is there.
    ///
    /// - Parameters:
    ///   - column: where a row names its member.
    ///   - name: what it calls it.
    package func rows<Member: CaseIterable>(
        of members: Member.Type,
        by column: String,
        name: (Member) -> String
    ) throws(TableError) -> [Row] {
        var byName: [String: Row] = [:]
        for row in rows {
            let name = try row.filled(column)
            if let first = byName.updateValue(row, forKey: name) {
                throw row.refusal("\(name) is in line \(first.line) already")
            }
        }
        var ordered: [Row] = []
        for member in members.allCases {
            guard let row = byName.removeValue(forKey: name(member)) else {
                throw TableError(self.name, line: (rows.last?.line ?? 1) + 1, "there is no row for \(name(member))")
            }
            ordered.append(row)
        }
        for row in rows {
            if let name = row[column], byName[name] != nil { throw row.refusal("there is no \(name)") }
        }
        return ordered
    }

    /// The rows of a closed list, one a member in its order, which a test compares by the members' names: to ask for a name takes
    /// the language's reflection, and there are hundreds.
    ///
    /// - Parameter isMember: which of the rows are about members at all; all unless said.
    package func rows<Member: CaseIterable>(
        inOrderOf members: Member.Type,
        where isMember: (Row) -> Bool = { _ in true }
    ) throws(TableError) -> [Row] {
        let rows = rows.filter(isMember)
        guard rows.count == members.allCases.count else {
            throw TableError(name, line: 1, "\(rows.count) rows for \(members.allCases.count) members")
        }
        return rows
    }
}
