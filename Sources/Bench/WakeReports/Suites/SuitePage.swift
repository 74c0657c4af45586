/// A suite as one page that needs no network, with a link to the page of each run.
package enum SuitePage {
    package static let name = "index.html"

    package static func text(_ suite: SuiteResults) -> String {
        let title = "\(suite.count(.passed)) of \(Plural.text(suite.entries.count, "run")) passed"
        var page = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(Markup.escaped(title))</title>
            <style>\(style)</style>
            <h1>\(Markup.escaped(title))</h1>
            <p class="soft">\(Markup.escaped(suite.summary)) · \(Markup.escaped(String(WallTime.text(suite.began))))</p>
            <table>
            <thead><tr><th>Result</th><th>Run</th><th>Time</th><th>Decisions</th><th>What failed</th></tr></thead>
            <tbody>

            """
        for entry in suite.entries { page += row(entry) }
        return page + "</tbody>\n</table>\n</html>\n"
    }

    private static func row(_ entry: SuiteEntry) -> String {
        let name = Markup.escaped(entry.name)
        let link = entry.report.map { "<a href=\"\(Markup.escaped(address($0)))\">\(name)</a>" } ?? name
        let complaints = entry.complaints.map { "<div>\(Markup.escaped($0))</div>" }.joined()
        return """
            <tr class="\(entry.outcome.rawValue)"><td>\(SuiteTable.word(entry.outcome))</td><td>\(link)</td>\
            <td class="number">\(SuiteTable.seconds(entry.took))</td>\
            <td class="number">\(entry.results.map { "\($0.decisions)" } ?? "")</td><td>\(complaints)</td></tr>

            """
    }

    /// A path as an address that is relative to the page.
    private static func address(_ path: String) -> String {
        var address = "./"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                address.unicodeScalars.append(Unicode.Scalar(byte))
            default: address += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return address
    }

    /// The colours of the page of a run.
    private static let style = """
        :root { color-scheme: light dark; --back: #fff; --text: #1d2129; --soft: #646b78; --edge: #dfe2e8; --good: #0b8a63; --bad: #d1490c; --link: #1f5fb4; }
        @media (prefers-color-scheme: dark) {
          :root { --back: #14161a; --text: #e3e6ec; --soft: #969daa; --edge: #31353e; --good: #35c79a; --bad: #ff7a45; --link: #6ea8f7; }
        }
        body { margin: 24px; font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; color: var(--text); background: var(--back); }
        h1 { font-size: 20px; } .soft { color: var(--soft); } a { color: var(--link); }
        table { border-collapse: collapse; } th, td { padding: 3px 14px 3px 0; border-bottom: 1px solid var(--edge); text-align: left; vertical-align: top; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        .passed td:first-child { color: var(--good); } .failed td:first-child, .error td:first-child { color: var(--bad); font-weight: 600; }
        """
}
