import WakeModel

/// A run as lines on a terminal: when, who, what, the verdict and why.
package enum Timeline {
    /// One line.
    package struct Row: Hashable, Sendable {
        package var at: Instant
        package var app: String
        /// `characteristic-notified heart-rate-belt/2A37`.
        package var event: String
        package var verdict: String
        package var reason: String
        package var pid: Int32
        package var value: String

        package init(
            at: Instant,
            app: String,
            event: String,
            verdict: String,
            reason: String,
            pid: Int32 = 0,
            value: String = ""
        ) {
            self.at = at
            self.app = app
            self.event = event
            self.verdict = verdict
            self.reason = reason
            self.pid = pid
            self.value = value
        }

        /// A decision while the run goes on; `names` gives the text of a name.
        package init(_ decision: Decision, pid: Int32 = 0, value: String = "", names: (NameID) -> String) {
            let subject = decision.subject == .none ? "" : " " + names(decision.subject)
            self.init(
                at: decision.at,
                app: decision.app == .none ? "-" : names(decision.snapshot.bundle),
                event: decision.kind.word + subject,
                verdict: decision.verdict.word,
                reason: decision.reason.word,
                pid: pid,
                value: value
            )
        }
    }

    /// The line of a row while the run goes on: columns of fixed width, which longer cells push aside.
    package static func line(_ row: Row) -> String {
        [
            pad(LogTime.text(row.at), 14), pad(row.app, 22), pad(row.event, 46), pad(row.verdict, 18),
            pad(row.reason, 16), pad(row.pid == 0 ? "-" : "\(row.pid)", 7), row.value,
        ]
        .joined(separator: " ").trimmingTrailingSpaces
    }

    /// The head over ``line(_:)``.
    package static let head =
        [
            pad("TIME", 14), pad("APP", 22), pad("EVENT", 46), pad("VERDICT", 18), pad("REASON", 16), pad("PID", 7),
            "VALUE",
        ]
        .joined(separator: " ")

    /// A whole run: decisions, ends of processes and notes in order of time, repeats folded.
    package static func text(_ log: RunLog) -> String {
        var rows: [(at: Instant, cells: [String])] = []
        for fold in Why.folded(log.decisions) { rows.append((fold.first.at, cells(fold, log))) }
        for exit in log.exits {
            let pid = exit.pid == 0 ? "-" : "\(exit.pid)"
            rows.append((exit.at, [LogTime.text(exit.at), exit.app, "process ended", "-", exit.cause.word, pid, ""]))
        }
        for note in log.notes {
            rows.append((note.at, [LogTime.text(note.at), note.app ?? "-", note.text, "-", "-", "-", ""]))
        }
        let sorted = rows.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        let head = ["TIME", "APP", "EVENT", "VERDICT", "REASON", "PID", "VALUE"]
        return TextTable.lines([head] + sorted.map(\.element.cells)).map(\.trimmingTrailingSpaces)
            .joined(separator: "\n")
    }

    private static func cells(_ fold: Why.Fold, _ log: RunLog) -> [String] {
        let decision = fold.first
        let outcome = log.outcomes[decision.id.number]
        let subject = decision.subject.isEmpty ? "" : " \(decision.subject)"
        let repeated =
            fold.count == 1 ? "" : " (x\(fold.count) over \(LogTime.text(fold.last.at.since(fold.first.at))))"
        return [
            LogTime.text(decision.at), decision.app ?? "-", decision.kind + subject + repeated,
            decision.verdict.word, decision.reason.word, outcome.map { $0.pid == 0 ? "-" : "\($0.pid)" } ?? "-",
            fold.values(log),
        ]
    }

    /// `412 decisions: 3 resume, 1 relaunch, 1 deny`, in the order of SYS-4.
    package static func summary(_ log: RunLog) -> String {
        var counts = [Int](repeating: 0, count: Verdict.allCases.count)
        for decision in log.decisions { counts[Int(decision.verdict.rawValue)] += 1 }
        return summary(counts: counts)
    }

    /// The same from counts by the raw value of the verdict.
    package static func summary(counts: [Int]) -> String {
        let total = counts.reduce(0, +)
        let parts = Verdict.allCases.filter { counts[Int($0.rawValue)] > 0 }
            .map { "\(counts[Int($0.rawValue)]) \($0.word)" }
        return "\(total) decision\(total == 1 ? "" : "s")" + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension String {
    var trimmingTrailingSpaces: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
