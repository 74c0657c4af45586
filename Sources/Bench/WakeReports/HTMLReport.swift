import WakeModel

/// A run as one page that needs no network: a timeline with a row for each source, the router and each app, and tables.
package enum HTMLReport {
    /// The most lines of a table; above it stands how many there are.
    private static let longestTable = 5000

    /// - Parameter results: what the run came to; nil when its folder does not say, and then `title` stands for it.
    package static func text(_ log: RunLog, title: String, results: RunResults? = nil) -> String {
        let title = results?.title ?? title
        var chart = HTMLChart(log)
        var page = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
            <title>\(Markup.escaped(title))</title>
            <style>
            \(template(PackageResources.page_css))</style></head><body>
            <h1>\(Markup.escaped(title))</h1>
            <p>\(Markup.escaped(Timeline.summary(log)))</p>
            <p class="meta">\(Markup.escaped(meta(log)))</p>

            """
        page += fault(results?.fault)
        page += expectations(results?.cases ?? [])
        page += template(PackageResources.legend_html)
        page += chart.html()
        page += decisions(log)
        page += exits(log)
        page += receiver(log)
        page += "<script>\n\(template(PackageResources.page_js))</script></body></html>\n"
        return page
    }

    /// What is the same on every page.
    private static func template(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func fault(_ fault: RunResults.Fault?) -> String {
        guard let fault else { return "" }
        let details = fault.details.isEmpty ? "" : "<pre>\(Markup.escaped(fault.details))</pre>"
        return "<p class=\"fault\">\(Markup.escaped("\(fault.kind): \(fault.message)"))</p>\(details)\n"
    }

    private static func meta(_ log: RunLog) -> String {
        let header = log.header
        let settings = header.settings.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return
            (["phone \(header.phone)", "profile \(header.profile)", "seed \(header.seed)"] + settings + [
                "wakebench \(header.version)", "ended \(LogTime.text(log.end))",
            ]).joined(separator: " · ")
    }

    private static func expectations(_ cases: [JUnitReport.Case]) -> String {
        guard !cases.isEmpty else { return "" }
        var html = "<h2>Expectations</h2><table><tr><th>Result</th><th>Place</th><th>Expected</th><th>Seen</th></tr>\n"
        for each in cases {
            html += """
                <tr class="\(each.failure == nil ? "met" : "missed")"><td>\(each.failure == nil ? "met" : "missed")</td>\
                <td>\(Markup.escaped(each.place))</td><td>\(Markup.escaped(each.name))</td>\
                <td>\(Markup.escaped(each.failure ?? ""))\(details(each))</td></tr>

                """
        }
        return html + "</table>\n"
    }

    private static func details(_ each: JUnitReport.Case) -> String {
        each.details.isEmpty ? "" : "<pre>\(Markup.escaped(each.details))</pre>"
    }

    // MARK: Tables

    private static func decisions(_ log: RunLog) -> String {
        let folds = Why.folded(log.decisions)
        var html = """
            <h2>Decisions</h2>\(cut(folds, log))<p><input id="filter" placeholder="app, event, reason or rule"></p>
            <table id="decisions"><tr><th>Time</th><th>App</th><th>Event</th><th>Verdict</th><th>Reason</th>\
            <th>Rule</th><th>Outcome</th></tr>

            """
        for fold in folds.prefix(longestTable) { html += row(fold, log) }
        return html + "</table>\n"
    }

    /// Says what the table lacks.
    private static func cut(_ folds: [Why.Fold], _ log: RunLog) -> String {
        guard folds.count > longestTable else { return "" }
        let last = LogTime.text(folds[longestTable - 1].last.at)
        let command = "wakebench log" + (log.folder.isEmpty ? "" : " " + ShellWord.quoted(log.folder))
        return """
            <p class="cut">The first \(longestTable) of \(folds.count) lines, up to \(last): \
            <code>\(Markup.escaped(command))</code> prints them all.</p>

            """
    }

    private static func row(_ fold: Why.Fold, _ log: RunLog) -> String {
        let decision = fold.first
        let outcome = log.outcomes[decision.id.number].map { Why.words($0, decision) } ?? ""
        let advice = decision.fix.first.map { " title=\"\(Markup.escaped($0))\"" } ?? ""
        return """
            <tr><td>\(LogTime.text(decision.at))</td><td>\(Markup.escaped(decision.app ?? "nobody"))</td>\
            <td>\(Markup.escaped("\(decision.kind) \(decision.subject)\(fold.repeats)"))</td>\
            <td><span class="dot b-\(decision.verdict.word)"></span>\(decision.verdict.word)</td>\
            <td\(advice)>\(decision.reason.word)</td><td>\(decision.rule.text)</td>\
            <td>\(Markup.escaped(outcome))</td></tr>

            """
    }

    private static func exits(_ log: RunLog) -> String {
        guard !log.exits.isEmpty else { return "" }
        let count = log.exits.count
        let cut =
            count > longestTable
            ? "<p class=\"cut\">The first \(longestTable) of \(count); \(RunLog.outcomesName) has them all.</p>" : ""
        var html = """
            <h2>Ends of processes</h2>\(cut)
            <table><tr><th>Time</th><th>App</th><th>Id</th><th>Cause</th><th>Code</th><th>State</th><th>Pid</th></tr>

            """
        for exit in log.exits.prefix(longestTable) {
            html += """
                <tr><td>\(LogTime.text(exit.at))</td><td>\(Markup.escaped(exit.app))</td><td>x-\(exit.number)</td>\
                <td>\(exit.cause.word)</td><td>\(code(exit.code))</td><td>\(exit.stateBefore.word)</td>\
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
}
