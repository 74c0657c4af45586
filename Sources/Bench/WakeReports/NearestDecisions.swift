import WakeModel

/// What was decided near something that was expected and did not happen: the text of a failure.
package struct NearestDecisions {
    private let log: RunLog
    private static let shown = 4

    package init(_ log: RunLog) { self.log = log }

    /// The moment, the decisions about an app that come nearest, with their rules, and the command that explains them.
    ///
    /// - Parameters:
    ///   - app: a bundle identifier.
    ///   - ends: whether to tell how its processes ended, too: what was expected is about these, or about its state.
    ///   - moment: when it was given up.
    ///   - folder: the run folder, as the command names it.
    package func text(
        app: String,
        sought: DecisionFilter,
        ends: Bool = false,
        at moment: Instant,
        folder: String
    ) -> String {
        var lines = ["by \(LogTime.text(moment))"]
        if ends { lines += self.ends(of: app, by: moment) }
        let own = log.decisions.filter { $0.app == app && $0.at <= moment }
        if own.isEmpty {
            lines.append("nothing was decided about \(app)")
        } else {
            lines.append("nearest decisions about \(app):")
            lines += nearest(own, sought).map(line)
        }
        lines.append(Self.command(about: app, folder: folder))
        return lines.joined(separator: "\n")
    }

    /// The command that explains what was decided about an app.
    package static func command(about app: String, folder: String) -> String {
        "wakebench why \(ShellWord.quoted(app)) --run \(ShellWord.quoted(folder))"
    }

    /// A text as ``text(app:sought:ends:at:folder:)`` made it, with the command about the run of this folder.
    static func text(_ text: String, of folder: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { (line) -> String in
            guard line.hasPrefix("wakebench why "), let option = line.firstRange(of: " --run ") else {
                return String(line)
            }
            return String(line[..<option.upperBound]) + ShellWord.quoted(folder)
        }
        return lines.joined(separator: "\n")
    }

    /// When there was more of what was sought than there may be: with the first decision too many; nil when there was not.
    package func excess(app: String, sought: DecisionFilter, over most: Int) -> Instant? {
        var count = 0
        for decision in log.decisions where decision.app == app && sought.matches(decision) {
            count += 1
            if count > most { return decision.at }
        }
        return nil
    }

    /// How an app's processes ended, the latest of many, in order of time.
    private func ends(of app: String, by moment: Instant) -> [String] {
        let own = log.exits.filter { $0.app == app && $0.at <= moment }
        guard !own.isEmpty else { return ["no process of \(app) ended"] }
        let left = own.count - Self.shown
        return ["ends of \(app)\(left > 0 ? ", after \(left) more" : ""):"]
            + own.suffix(Self.shown).map { exit in
                "  \(LogTime.text(exit.at))  \(exit.cause.word)  \(exit.words)  (x-\(exit.number))"
            }
    }

    /// The likest, the latest of equals, in order of time.
    private func nearest(_ own: [DecisionRecord], _ sought: DecisionFilter) -> [DecisionRecord] {
        let ranked = own.enumerated().map { (place: $0.offset, likeness: sought.likeness($0.element)) }
            .sorted { ($0.likeness, $0.place) > ($1.likeness, $1.place) }
        return ranked.prefix(Self.shown).map(\.place).sorted().map { own[$0] }
    }

    private func line(_ decision: DecisionRecord) -> String {
        "  \(LogTime.text(decision.at))  \(decision.happening)  \(decision.verdict.word), "
            + "\(decision.reason.word) [\(decision.rule.text)]  (\(LogTime.text(decision.event)))"
    }
}

extension DecisionFilter {
    /// Whether a decision fits; what is nil fits anything.
    fileprivate func matches(_ decision: DecisionRecord) -> Bool {
        (verdict == nil || verdict == decision.verdict) && (reason == nil || reason == decision.reason)
            && (kind == nil || kind?.word == decision.kind) && (rule == nil || rule == decision.rule)
    }

    /// How much of it a decision has. What happened counts most: its verdict may be what is wrong.
    fileprivate func likeness(_ decision: DecisionRecord) -> Int {
        var likeness = 0
        if kind?.word == decision.kind { likeness += 4 }
        if rule == decision.rule { likeness += 2 }
        if reason == decision.reason { likeness += 2 }
        if verdict == decision.verdict { likeness += 1 }
        return likeness
    }
}
