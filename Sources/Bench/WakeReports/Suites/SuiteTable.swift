import WakeModel

/// The runs of a suite as rows that people read.
package enum SuiteTable {
    /// What a run's outcome is called.
    package static func word(_ outcome: SuiteEntry.Outcome) -> String {
        outcome == .notRun ? "not run" : outcome.rawValue
    }

    /// Such as `0.412 s`.
    package static func seconds(_ span: Instant.Span) -> String { "\(JUnitReport.seconds(span)) s" }

    /// The line of a run that is over: how it came out, its name, how long it took, and its decisions.
    ///
    /// - Parameter width: the characters of the longest name.
    package static func line(_ entry: SuiteEntry, nameWidth width: Int, isColoured: Bool) -> String {
        let word = word(entry.outcome)
        let paint = isColoured ? paint(entry.outcome) : nil
        let padded = { (text: String, width: Int) in text + String(repeating: " ", count: max(0, width - text.count)) }
        let time = entry.outcome == .notRun ? "-" : seconds(entry.took)
        var line =
            (paint?.on(word) ?? word) + padded("", 11 - word.count) + "  "
            + padded(TerminalText.escaped(entry.name), width)
            + "  " + String(repeating: " ", count: max(0, 10 - time.count)) + time
        if let results = entry.results {
            line += "  \(Plural.text(Int(results.decisions), "decision"))"
        }
        return line
    }

    /// The runs that did not pass, each with all that went wrong and what explains it: the nearest decisions, and a command.
    package static func failures(_ suite: SuiteResults, isColoured: Bool) -> [String] {
        let entries = suite.entries.filter { $0.outcome != .passed }
        let width = entries.map(\.name.count).max() ?? 0
        return entries.flatMap { entry -> [String] in
            var lines = [line(entry, nameWidth: width, isColoured: isColoured)]
            // Expectations about one app often have the same to tell.
            var told: Set<String> = []
            for (place, failure) in entry.failures.enumerated() {
                let complaint = "  " + TerminalText.escaped(failure.complaint)
                if place == 0 { lines[0] += complaint } else { lines.append(complaint) }
                guard told.insert(failure.explanation).inserted else { continue }
                lines += failure.explanation.split(separator: "\n").map { "    " + TerminalText.escaped(String($0)) }
            }
            return lines
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
