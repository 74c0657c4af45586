import WakeModel

/// A run as one page that needs no network, or two beside each other: a timeline to look around in, all decisions with why each
/// was made, and tables. Its script draws what ``PageData`` has of the run.
package enum HTMLReport {
    /// A run of a page.
    package struct Run {
        var log: RunLog
        var title: String
        var results: RunResults?

        /// - Parameters:
        ///   - log: with its evidence, where the page is to show the checks of decisions.
        ///   - title: what stands for the run where its results do not say.
        ///   - results: what the run came to; nil when its folder does not say.
        package init(_ log: RunLog, title: String, results: RunResults? = nil) {
            (self.log, self.title, self.results) = (log, title, results)
        }

        var name: String { results?.title ?? title }
    }

    /// The page of a run.
    package static func bytes(_ run: Run) -> [UInt8] { page([run], title: run.name, comparison: nil) }

    /// The page of two runs on one axis, with what differs.
    package static func bytes(_ first: Run, _ second: Run) -> [UInt8] {
        let title = first.name == second.name ? first.name : "\(first.name) and \(second.name)"
        return page([first, second], title: "\(title), compared", comparison: comparison(first, second))
    }

    /// The data of a run, as its page has them.
    package static func data(_ run: Run) -> [UInt8] {
        PageData.json(run.log, title: run.name, name: run.title, results: run.results)
    }

    private static func page(_ runs: [Run], title: String, comparison: [UInt8]?) -> [UInt8] {
        var page = Template()
        page.copy(to: "title")
        page.line.append(raw: Markup.escaped(title))
        page.copy(to: "style")
        page.line.append(EmbeddedFile.pageCSS)
        page.copy(to: "heading")
        if runs.count == 1, let failed = runs[0].results?.failed {
            page.line.append(raw: "<span class=\"missed\">\(Markup.escaped(failed))</span> ")
        }
        page.line.append(raw: Markup.escaped(title))
        page.copy(to: "controls")
        page.copy(to: "results")
        for run in runs { page.line.append(raw: results(run, isOne: runs.count == 1)) }
        page.copy(to: "data")
        for run in runs { append("run", data(run), to: &page.line) }
        append("rules", rules().escapedForScript, to: &page.line)
        if let comparison { append("comparison", comparison.escapedForScript, to: &page.line) }
        page.copy(to: "script")
        for script in scripts { page.line.append(script) }
        return page.finish()
    }

    /// The template of all pages, and what has been copied of it.
    struct Template {
        var line = LineBuffer()
        private var rest = text(EmbeddedFile.pageHTML)[...]

        /// Copies it to a place, and leaves the place out. What stands there in the place of `old` is `new`.
        mutating func copy(to place: String, replacing old: String? = nil, by new: String = "") {
            let end = rest.firstRange(of: "<!--\(place)-->")
            let text = String(rest[..<(end?.lowerBound ?? rest.endIndex)])
            line.append(raw: old.map { text.replacing($0, with: new) } ?? text)
            rest = rest[(end?.upperBound ?? rest.endIndex)...]
        }

        /// What came of it, with what is left.
        func finish() -> [UInt8] {
            var line = line
            line.append(raw: String(rest))
            return line.bytes
        }
    }

    /// In the order in which they stand on each other.
    static let scripts = [
        EmbeddedFile.pageDataJS, EmbeddedFile.pageWhyJS, EmbeddedFile.pageRowsJS,
        EmbeddedFile.pageDrawJS, EmbeddedFile.pageListJS, EmbeddedFile.pageJS,
    ]

    static func append(_ name: String, _ json: [UInt8], to page: inout LineBuffer) {
        page.append(raw: "<script type=\"application/json\" class=\"\(name)\">")
        page.append(json)
        page.append("</script>\n")
    }

    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    // MARK: What does not change while one looks at it

    private static func results(_ run: Run, isOne: Bool) -> String {
        let heading = isOne ? "" : "<h2>\(Markup.escaped(run.title))</h2>\n"
        let cases = run.results?.cases ?? []
        // What failed comes first.
        let missed = cases.filter { $0.failure != nil }
        let came = fault(run.results?.fault) + expectations(missed + cases.filter { $0.failure == nil })
        let html = run.results?.failed == nil ? meta(run.log) + came : came + meta(run.log)
        return "<section>\(heading)\(html)\(receiver(run.log))</section>\n"
    }

    private static func meta(_ log: RunLog) -> String {
        let header = log.header
        let settings = header.settings.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let words =
            ["phone \(header.phone)", "profile \(header.profile)", "seed \(header.seed)"] + settings + [
                "wakebench \(header.version)", "ended \(LogTime.text(log.end))",
            ]
        return """
            <p>\(Markup.escaped(Timeline.summary(log)))</p>
            <p class="soft">\(Markup.escaped(words.joined(separator: " · ")))</p>

            """
    }

    private static func fault(_ fault: RunResults.Fault?) -> String {
        guard let fault else { return "" }
        let details = fault.details.isEmpty ? "" : "<pre>\(Markup.escaped(fault.details))</pre>"
        return "<p class=\"missed\">\(Markup.escaped(fault.complaint))</p>\(details)\n"
    }

    private static func expectations(_ cases: [JUnitReport.Case]) -> String {
        guard !cases.isEmpty else { return "" }
        var html = "<h3>Expectations</h3><table><tr><th>Result</th><th>Place</th><th>Expected</th><th>Seen</th></tr>\n"
        for each in cases {
            let result = each.failure == nil ? "met" : "missed"
            let details = each.details.isEmpty ? "" : "<pre>\(Markup.escaped(each.details))</pre>"
            html += """
                <tr><td class="\(result)">\(result)</td><td>\(Markup.escaped(each.place))</td>\
                <td>\(Markup.escaped(each.name))</td><td>\(Markup.escaped(each.failure ?? ""))\(details)</td></tr>

                """
        }
        return html + "</table>\n"
    }

    private static func receiver(_ log: RunLog) -> String {
        guard !log.receiver.isEmpty else { return "" }
        var html = "<h3>Receiver on (LOC-9)</h3><table><tr><th>App</th><th>Time</th></tr>\n"
        for each in log.receiver {
            html += "<tr><td>\(Markup.escaped(each.app))</td><td>\(LogTime.text(each.time))</td></tr>\n"
        }
        return html + "</table>\n"
    }

    // MARK: Data of all runs

    /// How sure each rule is, what of it is assumed, and its sentence.
    static func rules() -> [UInt8] {
        var line = LineBuffer()
        line.append("{")
        for entry in RuleCatalogue.entries {
            line.key(entry.id.text)
            line.append(list: [Why.ruleText(entry.id), entry.sentence])
        }
        line.append("}")
        return line.bytes
    }

    /// What `wakebench compare` says of two runs, and each event that came to something else in the second.
    private static func comparison(_ first: Run, _ second: Run) -> [UInt8] {
        let changes = VerdictChanges(first.log, second.log)
        var line = LineBuffer()
        line.append("{")
        line.put("events", Int64(changes.count))
        line.key("said")
        line.append(list: RunComparison(first.log, second.log, names: (first.title, second.title)).lines)
        line.key("changes")
        line.append("[")
        for (position, change) in changes.changes.enumerated() {
            line.append(position > 0 ? ",\n[" as StaticString : "[")
            line.append(change.at.nanoseconds)
            for text in [
                change.app, change.event, "\(change.number)", change.first?.text ?? "", change.second?.text ?? "",
            ] {
                line.append(",")
                line.append(quoted: text)
            }
            for decision in [change.decisions.first, change.decisions.second] {
                line.append(",")
                line.append(decision.number)
            }
            line.append("]")
        }
        line.append("]}")
        return line.bytes
    }
}

extension [UInt8] {
    /// JSON as it may stand in a `script` of a page: without a `<`, which begins the end of it.
    var escapedForScript: [UInt8] {
        guard contains(0x3c) else { return self }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(count + count / 8)
        for byte in self {
            if byte == 0x3c { escaped += Array("\\u003c".utf8) } else { escaped.append(byte) }
        }
        return escaped
    }
}
