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
        package var pid: Int32 = 0
        package var value = ""
        /// That something reached nobody or changed nothing, and why, as the answer to the command says it; nil for all else.
        package var note: String?
    }

    /// The line of a row while the run goes on: columns of fixed width, which longer cells push aside.
    ///
    /// - Parameters:
    ///   - width: the characters of a line of the terminal; a longer line is folded. Nil for lines of any width.
    ///   - isColoured: the verdict has its colour, for a terminal.
    package static func line(_ row: Row, width: Int? = nil, isColoured: Bool = false) -> String {
        var row = row
        row.app = TerminalText.escaped(row.app)
        row.event = TerminalText.escaped(row.event)
        row.value = short(row.value)
        let verdict = pad(row.verdict, 18)
        let cells = [
            pad(LogTime.tableText(row.at), 14), pad(row.app, 22), pad(row.event, 46), verdict,
            pad(row.reason, 16), pad(row.pid == 0 ? "-" : "\(row.pid)", 7), row.value,
        ]
        let line = cells.joined(separator: " ").trimmingTrailingSpaces
        guard let width, line.count > width else {
            guard isColoured, let paint = Paint.of(verdict: row.verdict) else { return line }
            let before = cells[..<3].joined(separator: " ").count + 1
            let rest = line.dropFirst(before + row.verdict.count)
            return line.prefix(before) + paint.on(row.verdict) + rest
        }
        return folded(row, width, isColoured)
    }

    /// A row in two parts: when, who and the verdict, and below them what it was.
    private static func folded(_ row: Row, _ width: Int, _ isColoured: Bool) -> String {
        let isDecision = row.verdict != "-"
        let painted = isColoured ? Paint.of(verdict: row.verdict)?.on(row.verdict) : nil
        let first = [LogTime.tableText(row.at), row.app] + (isDecision ? [painted ?? row.verdict, row.reason] : [])
        let pid = row.pid == 0 ? "" : "pid \(row.pid)"
        let second = ([row.event] + (isDecision || row.reason == "-" ? [] : [row.reason]) + [pid, row.value])
            .filter { !$0.isEmpty }.joined(separator: "  ")
        let lines = TextTable.folded(second, to: max(20, width - foldedIndent))
        let indent = String(repeating: " ", count: foldedIndent)
        return ([first.joined(separator: "  ")] + lines.map { indent + $0 }).joined(separator: "\n")
    }

    private static let foldedIndent = 16

    /// What came with an event, as a table has it: of a value of more than 32 bytes the first 16, and how many there are.
    ///
    /// - Parameter value: in hexadecimal; those of several writes with spaces between them.
    static func short(_ value: String) -> String {
        value.split(separator: " ").map { part in
            let bytes = part.utf8.count / 2
            return bytes > 32 ? "\(part.prefix(32))… (\(bytes) bytes)" : String(part)
        }.joined(separator: " ")
    }

    /// A whole run: decisions, what the user and the phone did, ends of processes and notes in order of time, repeats
    /// folded. What changed nothing says so.
    ///
    /// - Parameters:
    ///   - width: the characters of a line of the terminal; nil for rows of any width.
    ///   - isColoured: verdicts have colours, for a terminal.
    package static func text(_ log: RunLog, width: Int? = nil, isColoured: Bool = false) -> String {
        // Of one instant what was accepted first comes first; what was decided anew has the number of an event that may be much
        // older, and comes after the acts that let it be. Ends of processes and notes come last.
        var rows: [(at: Instant, event: UInt64, cells: [String])] = []
        let findings = log.findings
        for act in log.acts {
            let what = act.word + (findings[act.event].map { ": \($0)" } ?? "")
            rows.append((act.at, act.event.number, cells(act.at, act.app, what)))
        }
        let acts = Dictionary(log.acts.map { ($0.at, $0.event.number) }, uniquingKeysWith: max)
        for fold in Why.folded(log.decisions) {
            let event = fold.first.event.number
            let isAnew = fold.first.supersedes != .none
            rows.append((fold.first.at, isAnew ? max(event, acts[fold.first.at] ?? 0) : event, cells(fold, log)))
        }
        for exit in log.exits {
            rows.append((exit.at, .max, cells(exit.at, exit.app, "process ended", exit.cause.word, exit.pid)))
        }
        let changes = (log.acts.map(\.at) + log.exits.map(\.at)).sorted()
        for (note, repeats) in folded(withRefusals(log), apartBy: changes) {
            rows.append((note.at, .max, cells(note.at, note.app, note.text + repeats)))
        }
        let sorted = rows.enumerated().sorted { left, right in
            (left.element.at, left.element.event, left.offset) < (right.element.at, right.element.event, right.offset)
        }
        let head = ["TIME", "APP", "EVENT", "VERDICT", "REASON", "PID", "VALUE"]
        let cells = [head] + sorted.map(\.element.cells)
        let lines = TextTable.lines(cells, width: width) { row, column in
            isColoured && head[column] == "VERDICT" ? Paint.of(verdict: cells[row][column]) : nil
        }
        return lines.map(\.trimmingTrailingSpaces).joined(separator: "\n")
    }

    /// The notes, and what apps asked for themselves and were refused: of what a step asked for there is a note.
    private static func withRefusals(_ log: RunLog) -> [Note] {
        let refused = log.deeds.filter { Why.refusals.contains($0.deed) }
        guard !refused.isEmpty else { return log.notes }
        let notes = Dictionary(grouping: log.notes, by: \.at)
        let untold = refused.filter { deed in
            !(notes[deed.at] ?? []).contains { $0.app == deed.app && $0.text.contains(deed.subject) }
        }
        let all = log.notes + untold.map { Note(text: $0.text, app: $0.app, at: $0.at) }
        return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// The first of notes that repeat one another without another in between, with what is said of the others, such as
    /// ` (x6 over 15m)`.
    ///
    /// - Parameter changes: when something was done or a process ended, which comes between notes before and after it, ascending.
    private static func folded(_ notes: [Note], apartBy changes: [Instant]) -> [(note: Note, repeats: String)] {
        var folds: [(first: Note, last: Note, count: Int)] = []
        var next = 0
        for note in notes {
            if let last = folds.last?.last {
                while next < changes.count, changes[next] <= last.at { next += 1 }
            }
            let isApart = next < changes.count && changes[next] <= note.at
            if let fold = folds.last, fold.first.text == note.text, fold.first.app == note.app, !isApart {
                folds[folds.count - 1].last = note
                folds[folds.count - 1].count += 1
            } else {
                folds.append((note, note, 1))
            }
        }
        return folds.map { fold in
            let span = LogTime.text(fold.last.at.since(fold.first.at))
            return (fold.first, fold.count == 1 ? "" : " (x\(fold.count) over \(span))")
        }
    }

    /// The cells of a row that is no decision.
    private static func cells(
        _ at: Instant,
        _ app: String?,
        _ what: String,
        _ reason: String = "-",
        _ pid: Int32 = 0
    ) -> [String] {
        [LogTime.tableText(at), app ?? "-", what, "-", reason, pid == 0 ? "-" : "\(pid)", ""]
    }

    private static func cells(_ fold: Why.Fold, _ log: RunLog) -> [String] {
        let decision = fold.first
        let outcome = log.outcomes[decision.id.number]
        return [
            LogTime.tableText(decision.at), decision.app ?? "-", decision.happening + fold.repeats,
            decision.verdict.word, decision.reason.word, outcome.map { $0.pid == 0 ? "-" : "\($0.pid)" } ?? "-",
            fold.values(log, short),
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
        return Plural.text(total, "decision") + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
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

extension Timeline.Row {
    /// Something that is no decision: what the user or the phone did, the end of a process, a note.
    package init(
        at: Instant,
        app: String?,
        what: String,
        reason: String = "-",
        pid: Int32 = 0,
        note: String? = nil
    ) {
        self.init(at: at, app: app ?? "-", event: what, verdict: "-", reason: reason, pid: pid, note: note)
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
