import WakeModel

/// The runs of a suite as rows that people read.
package enum SuiteTable {
    /// What a run's outcome is called.
    package static func word(_ outcome: SuiteEntry.Outcome) -> String {
        outcome == .notRun ? "not run" : outcome.rawValue
    }

    /// Such as `0.412 s`.
    package static func seconds(_ span: Instant.Span) -> String { "\(JUnitReport.seconds(span)) s" }

    /// The line of a run that is over: how it came out, its name, how long it took, its decisions, and what went wrong first.
    ///
    /// - Parameter width: the characters of the longest name.
    package static func line(_ entry: SuiteEntry, nameWidth width: Int, isColoured: Bool) -> String {
        let word = word(entry.outcome)
        let paint = isColoured ? paint(entry.outcome) : nil
        let padded = { (text: String, width: Int) in text + String(repeating: " ", count: max(0, width - text.count)) }
        let time = seconds(entry.took)
        var line =
            (paint?.on(word) ?? word) + padded("", 11 - word.count) + "  "
            + padded(TerminalText.escaped(entry.name), width)
            + "  " + String(repeating: " ", count: max(0, 10 - time.count)) + time
        if let results = entry.results { line += "  \(results.decisions) decisions" }
        let complaints = entry.complaints
        if let first = complaints.first {
            line +=
                "  \(TerminalText.escaped(first))" + (complaints.count > 1 ? " (and \(complaints.count - 1) more)" : "")
        }
        return line
    }

    /// The table of a whole suite, the runs that did not pass with all that went wrong.
    package static func lines(_ suite: SuiteResults, width: Int?, isColoured: Bool) -> [String] {
        var rows = [["RESULT", "RUN", "TIME", "DECISIONS", "WHAT FAILED"]]
        var outcomes: [SuiteEntry.Outcome?] = [nil]
        for entry in suite.entries {
            let complaints = entry.complaints
            let decisions = entry.results.map { "\($0.decisions)" } ?? "-"
            let time = entry.outcome == .notRun ? "-" : seconds(entry.took)
            rows.append([word(entry.outcome), entry.name, time, decisions, complaints.first ?? ""])
            outcomes.append(entry.outcome)
            for complaint in complaints.dropFirst() {
                rows.append(["", "", "", "", complaint])
                outcomes.append(nil)
            }
        }
        return TextTable.lines(rows, width: width) { row, column in
            isColoured && column == 0 ? outcomes[row].flatMap(paint) : nil
        }
    }

    private static func paint(_ outcome: SuiteEntry.Outcome) -> Paint? {
        switch outcome {
        case .passed: .green
        case .failed, .error: .red
        case .interrupted, .notRun: .yellow
        }
    }
}
