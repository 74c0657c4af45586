import WakeModel

/// What a run came to as Markdown, for the summary page of a build server: what was expected, what was decided, and what was
/// refused.
package enum MarkdownSummary {
    private static let appLimit = 50
    private static let rowLimit = 30

    /// - Parameter results: nil when the run had none.
    package static func text(_ log: RunLog, results: RunResults?, title: String) -> String {
        var lines = ["## \(escaped(results?.title ?? title)): \(verdict(results))", ""]
        lines += ["\(Timeline.summary(log)), until \(LogTime.shortText(log.end)).", ""]
        lines += ["Profile `\(log.header.profile)`, seed `\(log.header.seed)`, wakebench \(log.header.version).", ""]
        if let fault = results?.fault { lines += ["> \(escaped(fault.message))", ""] }
        if let results, !results.cases.isEmpty { lines += expectations(results) }
        lines += apps(log)
        lines += refusals(log)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func verdict(_ results: RunResults?) -> String {
        guard let results else { return "no results" }
        if let failed = results.failed { return failed }
        switch results.cases.count {
        case 0: return "played to its end"
        case 1: return "its expectation met"
        case let count: return "all \(count) expectations met"
        }
    }

    /// Those that were missed first; of many that were met only how many there are.
    private static func expectations(_ results: RunResults) -> [String] {
        let missed = results.cases.filter { $0.failure != nil }
        let met = results.cases.filter { $0.failure == nil }
        let shown = missed.prefix(rowLimit) + met.prefix(max(0, rowLimit - missed.count))
        var lines = ["| | expected | found | where |", "| --- | --- | --- | --- |"]
        lines += shown.map { each in
            "| \(each.failure == nil ? "met" : "**not met**") | \(escaped(each.name)) | \(escaped(each.failure ?? "")) | "
                + "`\(each.place.replacing("`", with: "'"))` |"
        }
        let rest = results.cases.count - shown.count
        if rest > 0 { lines += ["", "And \(rest) more, of which \(max(0, missed.count - rowLimit)) not met."] }
        for each in missed.prefix(rowLimit) where !each.details.isEmpty {
            lines += ["", "<details><summary>\(Markup.escaped(each.name))</summary>", "", "```text"]
            lines += [each.details.replacing("```", with: "'''"), "```", "", "</details>"]
        }
        return lines + [""]
    }

    private static func apps(_ log: RunLog) -> [String] {
        let decisions = Dictionary(grouping: log.decisions.filter { $0.app != nil }) { $0.app ?? "" }
        let exits = Dictionary(grouping: log.exits, by: \.app)
        var lines = ["| app | woken | delivered | deferred or merged | refused | ends of processes |"]
        lines.append("| --- | --: | --: | --: | --: | --: |")
        for app in log.apps.prefix(appLimit) {
            let own = decisions[app] ?? []
            func count(_ verdicts: Verdict...) -> Int { own.count { verdicts.contains($0.verdict) } }
            lines.append(
                "| \(escaped(app)) | \(count(.resume, .relaunch)) | \(count(.foregroundDeliver, .backgroundDeliver)) | "
                    + "\(count(.defer, .coalesce)) | \(count(.drop, .deny)) | \(exits[app]?.count ?? 0) |"
            )
        }
        let more = log.apps.count - appLimit
        if more > 0 { lines += ["", "And \(Plural.text(more, "more app"))."] }
        return lines + [""]
    }

    /// The reasons of what did not reach its app, the most frequent first.
    private static func refusals(_ log: RunLog) -> [String] {
        struct Key: Hashable {
            var app: String
            var reason: String
            var rule: String
        }
        let refused: [Verdict] = [.defer, .coalesce, .drop, .deny]
        let all = log.decisions.filter { refused.contains($0.verdict) }
        let groups = Dictionary(grouping: all) { decision in
            Key(app: decision.app ?? "-", reason: decision.reason.word, rule: decision.rule.text)
        }
        guard !groups.isEmpty else { return [] }
        let sorted = groups.sorted { left, right in
            (right.value.count, left.key.app, left.key.reason, left.key.rule)
                < (left.value.count, right.key.app, right.key.reason, right.key.rule)
        }
        var lines = ["| why not | rule | app | times | first |", "| --- | --- | --- | --: | --- |"]
        lines += sorted.prefix(20).map { key, decisions in
            "| \(key.reason) | \(key.rule) | \(escaped(key.app)) | \(decisions.count) | "
                + "\(LogTime.tableText(decisions[0].at)) \(escaped(decisions[0].happening)) |"
        }
        if sorted.count > 20 { lines += ["", "And \(Plural.text(sorted.count - 20, "more reason"))."] }
        return lines + [""]
    }

    /// Text that stands in a cell of a table as it is.
    private static func escaped(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.reduce(into: "") { escaped, character in
            if "\\`*_[]|#<>&~".contains(character) { escaped += "\\" }
            escaped.append(character)
        }
    }
}
