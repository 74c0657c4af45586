import WakeModel

/// A run as one page that needs no network: a timeline with a row for each source, the router and each app, and tables.
package enum HTMLReport {
    /// The columns that marks and short states are gathered in, and the most lines of the table; what is beyond is counted.
    private static let columns: Int64 = 2000
    private static let longestTable = 5000

    /// - Parameter cases: the expectations of the scenario, with their results.
    package static func text(_ log: RunLog, title: String, cases: [JUnitReport.Case] = []) -> String {
        var page = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(Markup.escaped(title))</title>
            <style>\(style)</style></head><body>
            <h1>\(Markup.escaped(title))</h1>
            <p>\(Markup.escaped(Timeline.summary(log)))</p>
            <p class="meta">\(Markup.escaped(meta(log)))</p>

            """
        page += results(cases)
        page += legend
        page += timeline(log)
        page += decisions(log)
        page += exits(log)
        page += receiver(log)
        page += "<script>\(script)</script></body></html>\n"
        return page
    }

    private static func meta(_ log: RunLog) -> String {
        let header = log.header
        let settings = header.settings.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return
            (["phone \(header.phone)", "profile \(header.profile)", "seed \(header.seed)"] + settings + [
                "wakebench \(header.version)", "ended \(LogTime.text(log.end))",
            ]).joined(separator: " · ")
    }

    private static func results(_ cases: [JUnitReport.Case]) -> String {
        guard !cases.isEmpty else { return "" }
        var html = "<h2>Expectations</h2><table><tr><th>Result</th><th>Place</th><th>Expected</th><th>Seen</th></tr>\n"
        for each in cases {
            html += """
                <tr class="\(each.failure == nil ? "met" : "missed")"><td>\(each.failure == nil ? "met" : "missed")</td>\
                <td>\(Markup.escaped(each.place))</td><td>\(Markup.escaped(each.name))</td>\
                <td>\(Markup.escaped(each.failure ?? ""))</td></tr>

                """
        }
        return html + "</table>\n"
    }

    // MARK: The timeline

    /// Where an instant lies, in thousandths of a percent of the width.
    private struct Scale {
        var end: Int64

        init(_ log: RunLog) { end = max(1, log.end.nanoseconds) }

        func thousandths(_ at: Instant) -> Int64 {
            let (high, low) = at.nanoseconds.clamped(to: 0...end).multipliedFullWidth(by: 100_000)
            return end.dividingFullWidth((high, low)).quotient
        }

        func percent(_ at: Instant) -> String { Self.text(thousandths(at)) }

        func percent(from start: Instant, to end: Instant) -> String {
            Self.text(max(30, thousandths(end) - thousandths(start)))
        }

        static func text(_ thousandths: Int64) -> String {
            "\(thousandths / 1000).\(String(1000 + thousandths % 1000).dropFirst())%"
        }
    }

    private static func timeline(_ log: RunLog) -> String {
        let scale = Scale(log)
        var rows: [(name: String, marks: String)] = []
        for source in Source.allCases {
            let of = log.decisions.filter { $0.source == source.word }
            if !of.isEmpty { rows.append((source.word, ticks(distinctEvents(of), scale, log))) }
        }
        rows.append(("router", ticks(log.decisions, scale, log)))
        for app in log.apps {
            let states = states(log, app, scale)
            rows.append((app, states + ticks(log.decisions.filter { $0.app == app }, scale, log)))
            let callbacks = callbacks(log, app, scale)
            if !callbacks.isEmpty { rows.append(("callbacks", callbacks)) }
        }
        var html = """
            <h2>Timeline</h2><p><button data-zoom="1.5">+</button> <button data-zoom="0.667">−</button> \
            <button data-zoom="0">fit</button></p>
            <div class="chart"><div class="names">
            """
        for row in rows { html += "<div>\(Markup.escaped(row.name))</div>" }
        html += "<div></div></div><div class=\"scroll\"><div class=\"rows\" id=\"rows\">\n"
        for row in rows { html += "<svg width=\"100%\" height=\"22\">\(row.marks)</svg>\n" }
        return html + axis(scale) + "</div></div></div>\n"
    }

    private static func axis(_ scale: Scale) -> String {
        var marks = ""
        for tenth in 0...9 as ClosedRange<Int64> {
            let at = Instant(nanoseconds: scale.end / 10 * tenth)
            let x = scale.percent(at)
            marks += "<line x1=\"\(x)\" x2=\"\(x)\" y1=\"0\" y2=\"5\" stroke=\"#888\"/>"
            marks += "<text x=\"\(x)\" y=\"16\">\(LogTime.shortText(at))</text>"
        }
        return "<svg width=\"100%\" height=\"22\" class=\"axis\">\(marks)</svg>\n"
    }

    private static func distinctEvents(_ decisions: [DecisionRecord]) -> [DecisionRecord] {
        var last = EventID.none
        return decisions.filter { decision in
            defer { last = decision.event }
            return decision.event != last
        }
    }

    /// A mark for each verdict in each column; a mark for several decisions says how many.
    private static func ticks(_ decisions: [DecisionRecord], _ scale: Scale, _ log: RunLog) -> String {
        var html = ""
        var column: Int64 = -1
        var groups: [(first: DecisionRecord, count: Int)?] = Array(repeating: nil, count: Verdict.allCases.count)
        func flush() {
            for position in groups.indices {
                if let group = groups[position] { html += mark(group.first, count: group.count, scale, log) }
                groups[position] = nil
            }
        }
        for decision in decisions {
            let next = scale.thousandths(decision.at) * columns / 100_000
            if next != column { flush() }
            column = next
            let position = Int(decision.verdict.rawValue)
            groups[position] = (groups[position]?.first ?? decision, (groups[position]?.count ?? 0) + 1)
        }
        flush()
        return html
    }

    private static func mark(_ first: DecisionRecord, count: Int, _ scale: Scale, _ log: RunLog) -> String {
        let more = count > 1 ? "\n… and \(count - 1) more here" : ""
        let outcome = log.outcomes[first.id.number].map { "\n" + Why.words($0, first) } ?? ""
        let title =
            "\(LogTime.text(first.at)) \(first.app ?? "nobody")\n\(first.kind) \(first.subject)\n"
            + "\(first.verdict.word), \(first.reason.word) [\(first.rule.text)]\(outcome)\(more)"
        return """
            <circle cx="\(scale.percent(first.at))" cy="11" r="4" class="v-\(first.verdict.word)">\
            <title>\(Markup.escaped(title))</title></circle>
            """
    }

    private static func states(_ log: RunLog, _ app: String, _ scale: Scale) -> String {
        let moves = log.moves.filter { $0.app == app }
        var html = ""
        var drawnUntil: Int64 = -1
        for (position, move) in moves.enumerated() where move.to != .notRunning {
            let end = position + 1 < moves.count ? moves[position + 1].at : log.end
            let column = scale.thousandths(end) * columns / 100_000
            // What is narrower than a column is drawn once a column.
            if scale.thousandths(end) - scale.thousandths(move.at) < 100_000 / columns, column == drawnUntil {
                continue
            }
            drawnUntil = column
            let word = move.to.word(hasExited: false)
            let pid = move.pid == 0 ? "" : ", pid \(move.pid)"
            html += """
                <rect x="\(scale.percent(move.at))" y="5" height="12" \
                width="\(scale.percent(from: move.at, to: end))" class="s-\(word)">\
                <title>\(word)\(pid)\n\(LogTime.text(move.at)) to \(LogTime.text(end))</title></rect>
                """
        }
        return html
    }

    private static func callbacks(_ log: RunLog, _ app: String, _ scale: Scale) -> String {
        var html = ""
        var last: Int64 = -1
        let outcomes = log.outcomes.values.filter { $0.app == app }.sorted { $0.decision < $1.decision }
        for callback in outcomes.flatMap(\.delivered) {
            let column = scale.thousandths(callback.at) * columns / 100_000
            if column == last { continue }
            last = column
            let value = callback.value.map { " \($0)" } ?? ""
            html += """
                <rect x="\(scale.percent(callback.at))" y="4" width="2" height="14" class="callback">\
                <title>\(Markup.escaped("\(LogTime.text(callback.at)) \(callback.name)\(value)"))</title></rect>
                """
        }
        return html
    }

    // MARK: Tables

    private static func decisions(_ log: RunLog) -> String {
        let folds = Why.folded(log.decisions)
        var html = """
            <h2>Decisions</h2><p><input id="filter" placeholder="app, event, reason or rule"></p>
            <table id="decisions"><tr><th>Time</th><th>App</th><th>Event</th><th>Verdict</th><th>Reason</th>\
            <th>Rule</th><th>Outcome</th></tr>

            """
        for fold in folds.prefix(longestTable) { html += row(fold, log) }
        html += "</table>\n"
        if folds.count > longestTable {
            html += "<p>\(folds.count - longestTable) more lines are in \(RunLog.decisionsName).</p>\n"
        }
        return html
    }

    private static func row(_ fold: Why.Fold, _ log: RunLog) -> String {
        let decision = fold.first
        let repeats =
            fold.count == 1 ? "" : " (x\(fold.count) over \(LogTime.text(fold.last.at.since(fold.first.at))))"
        let outcome = log.outcomes[decision.id.number].map { Why.words($0, decision) } ?? ""
        let advice = decision.fix.first.map { " title=\"\(Markup.escaped($0))\"" } ?? ""
        return """
            <tr><td>\(LogTime.text(decision.at))</td><td>\(Markup.escaped(decision.app ?? "nobody"))</td>\
            <td>\(Markup.escaped("\(decision.kind) \(decision.subject)\(repeats)"))</td>\
            <td><span class="dot b-\(decision.verdict.word)"></span>\(decision.verdict.word)</td>\
            <td\(advice)>\(decision.reason.word)</td><td>\(decision.rule.text)</td>\
            <td>\(Markup.escaped(outcome))</td></tr>

            """
    }

    private static func exits(_ log: RunLog) -> String {
        guard !log.exits.isEmpty else { return "" }
        var html = """
            <h2>Ends of processes</h2>
            <table><tr><th>Time</th><th>App</th><th>Id</th><th>Cause</th><th>Code</th><th>State</th><th>Pid</th></tr>

            """
        for exit in log.exits.prefix(longestTable) {
            html += """
                <tr><td>\(LogTime.text(exit.at))</td><td>\(Markup.escaped(exit.app))</td><td>x-\(exit.number)</td>\
                <td>\(exit.cause.word)</td><td>\(code(exit.code))</td><td>\(exit.stateBefore.word(hasExited: false))</td>\
                <td>\(exit.pid == 0 ? "" : "\(exit.pid)")</td></tr>

                """
        }
        return html + "</table>\n"
    }

    private static func receiver(_ log: RunLog) -> String {
        guard !log.receiver.isEmpty else { return "" }
        var html = "<h2>Receiver on (LOC-9)</h2><table><tr><th>App</th><th>Time</th></tr>\n"
        for each in log.receiver {
            html += "<tr><td>\(Markup.escaped(each.app))</td><td>\(LogTime.text(each.time))</td></tr>\n"
        }
        return html + "</table>\n"
    }

    /// Termination codes in hexadecimal, as iOS prints them; statuses and signals as they are.
    private static func code(_ code: Int64) -> String {
        code > 255 ? "0x" + String(code, radix: 16) : "\(code)"
    }

    // MARK: What never changes

    private static let legend = """
        <p class="legend"><span class="dot b-relaunch"></span>relaunch <span class="dot b-resume"></span>resume \
        <span class="dot b-background-deliver"></span>background <span class="dot b-foreground-deliver"></span>foreground \
        <span class="dot b-defer"></span>defer <span class="dot b-coalesce"></span>coalesce \
        <span class="dot b-drop"></span>drop <span class="dot b-deny"></span>deny \
        <span class="bar s-active"></span>active <span class="bar s-inactive"></span>inactive \
        <span class="bar s-background"></span>background <span class="bar s-suspended"></span>suspended</p>

        """

    private static let style = """
        body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem;color:#222;background:#fff}
        h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:1.5rem}.meta,.legend{color:#555}
        table{border-collapse:collapse;font-size:13px}td,th{padding:2px 10px 2px 0;text-align:left;vertical-align:top}
        tr:nth-child(even){background:#f6f6f6}.missed td:first-child{color:#b00020;font-weight:bold}
        .chart{display:flex;border:1px solid #ddd}.names{flex:none;padding-right:.6rem;background:#fafafa}
        .names div{height:22px;line-height:22px;padding-left:.5rem;white-space:nowrap}
        .scroll{overflow-x:auto;flex:1}.rows{width:100%;min-width:100%}svg{display:block;border-bottom:1px solid #f0f0f0}
        .axis text{font-size:10px;fill:#666}.callback{fill:#333}
        .dot{display:inline-block;width:9px;height:9px;border-radius:5px;margin-right:4px;border:2px solid transparent;\
        box-sizing:border-box}.bar{display:inline-block;width:16px;height:9px;margin:0 4px}
        .v-relaunch{fill:#6a1b9a}.v-resume{fill:#1565c0}.v-background-deliver{fill:#26a69a}.v-foreground-deliver{fill:#43a047}
        .v-defer,.v-coalesce,.v-drop,.v-deny{fill:#fff;stroke-width:2}
        .v-defer{stroke:#ef6c00}.v-coalesce{stroke:#8d6e63}.v-drop{stroke:#757575}.v-deny{stroke:#c62828}
        .b-relaunch{background:#6a1b9a}.b-resume{background:#1565c0}.b-background-deliver{background:#26a69a}
        .b-foreground-deliver{background:#43a047}.b-defer{border-color:#ef6c00}.b-coalesce{border-color:#8d6e63}
        .b-drop{border-color:#757575}.b-deny{border-color:#c62828}
        .s-active{fill:#a5d6a7;background:#a5d6a7}.s-inactive{fill:#fff59d;background:#fff59d}
        .s-background{fill:#90caf9;background:#90caf9}.s-suspended{fill:#e0e0e0;background:#e0e0e0}
        """

    private static let script = """
        let width=100;const rows=document.getElementById('rows');
        document.querySelectorAll('button[data-zoom]').forEach(b=>b.onclick=()=>{
        const z=+b.dataset.zoom;width=z?Math.min(20000,Math.max(100,width*z)):100;rows.style.width=width+'%';});
        const filter=document.getElementById('filter');
        filter.oninput=()=>{const words=filter.value.toLowerCase().split(' ').filter(w=>w);
        document.querySelectorAll('#decisions tr').forEach((r,i)=>{if(i){const t=r.textContent.toLowerCase();
        r.style.display=words.every(w=>t.includes(w))?'':'none';}});};
        """
}

extension Int64 {
    fileprivate func clamped(to range: ClosedRange<Int64>) -> Int64 {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
