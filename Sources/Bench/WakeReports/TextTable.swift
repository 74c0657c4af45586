import WakeModel

/// Columns of text, and lines that fit a terminal.
package enum TextTable {
    /// The narrowest that a column is made to fit.
    private static let narrowest = 6

    /// Each column as wide as its widest cell, the last one as it is. What apps and devices say stays in its cell.
    ///
    /// - Parameters:
    ///   - width: the characters of a line of the terminal; the widest columns are folded until a row fits. Nil for rows of
    ///     any width.
    ///   - paint: the colour of a cell by its row and column, which takes no room; nil for none.
    package static func lines(
        _ rows: [[String]],
        width: Int? = nil,
        paint: (Int, Int) -> Paint? = { _, _ in nil }
    ) -> [String] {
        let rows = rows.map { $0.map(TerminalText.escaped) }
        let columns = rows.map(\.count).max() ?? 0
        let widest = (0..<columns).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        guard let width, widest.reduce(0, +) + 2 * (columns - 1) > width else {
            return rows.enumerated().map { number, row in line(row, widest) { paint(number, $0) } }
        }
        let widths = narrowed(widest, to: width)
        return rows.enumerated().flatMap { number, row in
            let cells = zip(row, widths).map { folded($0, to: $1) }
            let height = cells.map(\.count).max() ?? 1
            return (0..<height).map { part in
                line(cells.map { part < $0.count ? $0[part] : "" }, widths) { paint(number, $0) }
                    .trimmingTrailingSpaces
            }
        }
    }

    private static func line(_ row: [String], _ widths: [Int], _ paint: (Int) -> Paint?) -> String {
        row.enumerated().map { column, cell in
            let shown = paint(column)?.on(cell) ?? cell
            return column == row.count - 1
                ? shown : shown + String(repeating: " ", count: max(0, widths[column] - cell.count))
        }
        .joined(separator: "  ")
    }

    /// Takes from the widest column, one character at a time, until a row fits or no column can be narrower.
    private static func narrowed(_ widest: [Int], to width: Int) -> [Int] {
        var widths = widest
        var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - width
        while excess > 0, let most = widths.max(), most > narrowest, let place = widths.firstIndex(of: most) {
            widths[place] -= 1
            excess -= 1
        }
        return widths
    }

    /// A text in lines of at most so many characters, broken at spaces where there are any, else anywhere.
    static func folded(_ text: String, to width: Int) -> [String] {
        guard text.count > width else { return [text] }
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            var rest = word
            if !line.isEmpty, line.count + 1 + rest.count <= width {
                line += " " + rest
                continue
            }
            if !line.isEmpty { lines.append(line) }
            while rest.count > width {
                lines.append(String(rest.prefix(width)))
                rest = rest.dropFirst(width)
            }
            line = String(rest)
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Lines of prose, each folded where it is wider than the terminal; what is left of it begins under its text.
    ///
    /// - Parameter hanging: the column where the text of each line begins; nil for that of lines that begin with a word of
    ///   ``Why``, and 2 for others.
    package static func prose(_ text: String, width: Int?, hanging column: Int? = nil) -> String {
        guard let width, width > 2 * (column ?? hanging) else { return text }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            guard line.count > width else { return [String(line)] }
            let label = column ?? (line.hasPrefix("  ") ? hanging : nil)
            let head = label.map { String(line.prefix($0)) } ?? ""
            let indent = String(repeating: " ", count: label ?? 2)
            let body = folded(String(line.dropFirst(head.count)), to: width - indent.count)
            return body.enumerated().map { ($0 == 0 ? head : indent) + $1 }
        }
        return lines.joined(separator: "\n")
    }

    /// Where the text of a line with a word at its beginning begins.
    private static let hanging = 11
}

/// A colour on a terminal. Nobody else than a terminal's reader is given any.
package enum Paint: Int, Sendable {
    case red = 31
    case green = 32
    case yellow = 33

    /// The text in this colour.
    package func on(_ text: String) -> String { text.isEmpty ? "" : "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

    /// The colour of a verdict's word: green for what woke the app or reached it, red for what was refused, yellow for what
    /// waits; nil for any other word.
    package static func of(verdict word: String) -> Paint? {
        switch Verdict(word: word) {
        case .resume, .relaunch, .foregroundDeliver, .backgroundDeliver: .green
        case .deny, .drop: .red
        case .defer, .coalesce: .yellow
        case nil: nil
        }
    }
}
