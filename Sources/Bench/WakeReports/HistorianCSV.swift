import WakeModel

/// A run in the columns of Battery Historian: `metric,type,start_time,end_time,value,opt`, times in milliseconds since 1970.
///
/// A metric's type is `string`, `bool`, `int` or `service`; a moment starts and ends at one time. In `opt` is what the row is about:
/// the app, the device, or the decision. No cell is a formula to a spreadsheet, nor anything that a terminal would obey.
package enum HistorianCSV {
    /// - Parameter start: when the run began, in nanoseconds since 1970.
    package static func text(_ log: RunLog, start: Int64) -> String {
        var table = Table(start: start)
        addPhone(log, &table)
        addDecisions(log, &table)
        addApps(log, &table)
        return table.text
    }

    /// Rows so far.
    private struct Table {
        let start: Int64
        var text = "metric,type,start_time,end_time,value,opt\n"

        func time(_ at: Instant) -> String {
            let (sum, overflow) = start.addingReportingOverflow(at.nanoseconds)
            return "\((overflow ? Int64.max : sum) / 1_000_000)"
        }

        mutating func add(
            _ metric: String,
            _ type: String,
            _ from: Instant,
            _ to: Instant? = nil,
            _ value: String,
            _ opt: String = ""
        ) {
            // A row ends no earlier than it begins, also where the times of a log go back.
            let cells = [metric, type, time(from), time(max(from, to ?? from)), Self.cell(value), Self.cell(opt)]
            text += cells.joined(separator: ",") + "\n"
        }

        /// What a spreadsheet takes what begins with it for a formula: also the signs in the width of Chinese characters.
        private static let signs = "=+-@\t\r\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}".unicodeScalars

        /// What apps, devices and notes say, in quotes where RFC 4180 asks for them. The apostrophe makes a formula a text.
        private static func cell(_ text: String) -> String {
            let isFormula = text.unicodeScalars.first.map { signs.contains($0) } ?? false
            let shown = (isFormula ? "'" : "") + TerminalText.escaped(text)
            guard shown.unicodeScalars.contains(where: { $0 == "," || $0 == "\"" }) else { return shown }
            let parts = shown.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
            return "\"" + parts.map { String($0) }.joined(separator: "\"\"") + "\""
        }
    }

    private static func addPhone(_ log: RunLog, _ table: inout Table) {
        var locked: Instant?
        for act in log.acts {
            if act.locked == true { locked = locked ?? act.at }
            if act.locked == false, let since = locked {
                table.add("Locked", "bool", since, act.at, "true")
                locked = nil
            }
        }
        if let since = locked { table.add("Locked", "bool", since, log.end, "true") }
        let findings = log.findings
        for act in log.acts {
            let what = act.word + (findings[act.event].map { ": \($0)" } ?? "")
            table.add("Act", "string", act.at, nil, what, act.app ?? act.origin)
        }
        var gone: [String: Instant] = [:]
        for range in log.ranges {
            if !range.inRange { gone[range.device] = gone[range.device] ?? range.at }
            if range.inRange, let since = gone.removeValue(forKey: range.device) {
                table.add("Out of range", "bool", since, range.at, "true", range.device)
            }
        }
        for (device, since) in gone.sorted(by: { $0.key < $1.key }) {
            table.add("Out of range", "bool", since, log.end, "true", device)
        }
        for note in log.notes { table.add("Note", "string", note.at, nil, note.text, note.app ?? "") }
    }

    private static func addDecisions(_ log: RunLog, _ table: inout Table) {
        var event = EventID.none
        for decision in log.decisions {
            // One that is decided again, or for another app, is told.
            if decision.event != event, decision.supersedes == .none, let value = log.value(of: decision) {
                table.add("Value", "string", decision.at, nil, value, decision.subject)
            }
            event = decision.event
            let what = "\(decision.source):\(decision.subject)"
            let opt = LogTime.text(decision.id)
            switch decision.verdict {
            case .resume, .relaunch: table.add("Wakeup", "string", decision.at, nil, what, opt)
            case .foregroundDeliver, .backgroundDeliver: table.add("Delivery", "string", decision.at, nil, what, opt)
            case .defer, .coalesce, .drop, .deny:
                table.add("Wakeup refused", "string", decision.at, nil, decision.reason.word, opt)
            }
        }
    }

    private static func addApps(_ log: RunLog, _ table: inout Table) {
        let moves = Dictionary(grouping: log.moves, by: \.app)
        for app in log.apps {
            let own = moves[app] ?? []
            for (place, move) in own.enumerated() where move.to != .notRunning {
                let end = place + 1 < own.count ? own[place + 1].at : log.end
                table.add("App state", "string", move.at, end, move.to.word, app)
            }
        }
        for (number, outcome) in log.outcomes.sorted(by: { $0.key < $1.key }) {
            for callback in outcome.delivered {
                table.add("Callback", "service", callback.at, nil, callback.name, LogTime.text(DecisionID(number)))
            }
        }
        for exit in log.exits { table.add("Process ended", "string", exit.at, nil, exit.cause.word, exit.app) }
    }
}
