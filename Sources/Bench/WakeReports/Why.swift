import WakeModel

/// Answers "why did my app wake, or not": from the logs of a run.
package struct Why {
    let log: RunLog
    let app: String
    /// The decisions about the app, in order.
    let decisions: [DecisionRecord]
    let later: [UInt64: DecisionID]
    /// When the user uninstalled the app; nil where it is installed, as far as the logs have it.
    let uninstalled: Instant?
    /// The characters of a line of the terminal; nil for lines of any width.
    private let width: Int?

    /// - Parameters:
    ///   - app: a bundle identifier.
    ///   - width: the characters of a line of the terminal, which tables and lines are folded to; nil for any width.
    package init(_ log: RunLog, app: String, width: Int? = nil) {
        self.log = log
        self.app = app
        self.width = width
        decisions = log.decisions.filter { $0.app == app }
        later = log.supersededBy
        uninstalled = log.uninstalled(app)
    }

    /// The decisions about the app, and those about no app on what was sent to this one, such as a push, in order.
    package var concerning: [DecisionRecord] {
        log.decisions.filter { $0.app == app || $0.app == nil && $0.subject == app }
    }

    /// Which decisions are asked for.
    package enum Question: Hashable, Sendable {
        case reason(Reason)
        case rule(RuleID)
        case events(EventChoice)
        /// What the app was registered for.
        case registration(Registration)
        /// What came after the end of a process of this number.
        case exit(UInt64)
    }

    /// Explains how the app stands: by the decision that changed its fate, or, when its process has ended since, it was
    /// uninstalled or nothing was decided, by what else is known. The other decisions follow as a list.
    package func explanation() -> String {
        guard endedSince == nil, uninstalled == nil, let place = fateful else {
            return text(standing(), others: decisions)
        }
        var others = decisions
        let told = others.remove(at: place)
        let lines = [explanation(of: told)] + again(since: place) + since(told)
        return text(lines.joined(separator: "\n"), others: others)
    }

    /// Explains the newest decision that a question is about, with the others as a list; nil when the run has none, and nothing
    /// else that the app's explanation names is what it asks for. Of one about events it says what is known since, too.
    package func explanation(_ question: Question) -> String? {
        guard let (newest, others) = found(question) else { return isKnown(question) ? explanation() : nil }
        var lines = [explanation(of: newest)]
        if case .events = question { lines += since(newest) }
        return text(lines.joined(separator: "\n"), others: others)
    }

    /// The newest decision that a question is about, and those before it.
    func found(_ question: Question) -> (newest: DecisionRecord, others: [DecisionRecord])? {
        var found = concerning.filter { decision in
            switch question {
            case .reason(let reason): decision.reason == reason
            case .rule(let rule): decision.rule == rule || decision.decisive?.rule == rule
            case .events(let choice): choice.matches(kind: decision.kind, subject: decision.subject)
            case .registration(let registration): decision.via == registration.word
            case .exit(let number): decision.lastExit?.id == "x-\(number)"
            }
        }
        return found.popLast().map { ($0, found) }
    }

    /// Explains the newest decision about an event; nil when the run has no such event.
    package func explanation(event: EventID) -> String? {
        if let decision = decision(of: event) { return TextTable.prose(explanation(of: decision), width: width) }
        return nothing(of: event)
    }

    /// The newest decision about the app, or about no app, that came of an event.
    func decision(of event: EventID) -> DecisionRecord? {
        let about = log.decisions.filter { $0.event == event }
        return about.last { $0.app == app } ?? about.last { $0.app == nil }
    }

    /// What is known of an event about which nothing was decided for the app; nil when the run has no such event.
    func nothing(of event: EventID) -> String? {
        let none = "\(app)  no decision about it came of \(LogTime.text(event))"
        if let act = log.acts.first(where: { $0.event == event }) {
            let whose = act.app.map { " of \($0)" } ?? ""
            let found = log.findings[event].map { "; \($0)" } ?? ""
            let text = "\(none), the \(act.word)\(whose) at \(LogTime.shortText(act.at)) [\(act.origin)]\(found)"
            return TerminalText.escaped(text)
        }
        guard let other = log.decisions.first(where: { $0.event == event }) else {
            // An installation has a number, too, and no line of its own.
            let last = max(log.decisions.map(\.event).max() ?? .none, log.acts.map(\.event).max() ?? .none)
            return event > .none && event <= last ? none : nil
        }
        let whose = other.census.apps == 1 ? "1 other app" : "other apps"
        return TerminalText.escaped("\(none); \(eventText(other)) was for \(whose)")
    }

    /// The position of the decision from which on the app fares as it does: the first of the newest ones of one kind that woke it
    /// or refused it. Nil when there is none at all.
    var fateful: Int? {
        let turns = self.turns
        guard var place = turns.last else { return decisions.indices.last }
        let newest = decisions[place]
        for turn in turns.reversed() {
            let other = decisions[turn]
            guard other.reason == newest.reason, other.verdict == newest.verdict else { break }
            place = turn
        }
        return place
    }

    /// The positions of the decisions that woke the app or refused it. What was deferred and decided again is not what it got, and
    /// an answer that waits wakes nobody.
    private var turns: [Int] {
        decisions.indices.filter { place in
            let decision = decisions[place]
            return decision.verdict.changesFate && later[decision.id.number] == nil && decision.reason != .answerWaits
        }
    }

    /// How often the app fared as it did by the fateful decision since, and when and by what it did last.
    private func again(since place: Int) -> [String] {
        let turns = self.turns.filter { $0 > place }
        guard let last = turns.last.map({ decisions[$0] }) else { return [] }
        let times = turns.count == 1 ? "once since," : "\(turns.count) times since, the last"
        return [TerminalText.escaped("  again    \(times) at \(LogTime.shortText(last.at)) by \(eventText(last))")]
    }

    private func text(_ explanation: String, others: [DecisionRecord]) -> String {
        let explained = TextTable.prose(explanation, width: width)
        guard !others.isEmpty else { return explained }
        let folds = Self.folded(others).reversed()
        let count = others.count == 1 ? "1 more decision" : "\(others.count) more decisions"
        let rows = folds.prefix(Self.listed).map { fold in
            [
                "", LogTime.shortText(fold.first.at), fold.first.verdict.word, fold.first.reason.word,
                fold.first.rule.text, fold.happenings(log),
            ]
        }
        var lines = [explained, "  decided  \(count) about it, the newest first:"]
        lines += TextTable.lines(Array(rows), width: width)
        if folds.count > Self.listed { lines.append("  and \(folds.count - Self.listed) earlier; see --since") }
        return lines.joined(separator: "\n")
    }

    /// The most lines of the list of other decisions.
    private static let listed = 10

    // MARK: One decision

    /// `com.acme.heart  NOT woken at T+02:14:07 by location region-entered home (e-000398)`.
    func headline(of decision: DecisionRecord) -> String {
        let verb =
            switch decision.verdict {
            case .resume, .relaunch: "woken"
            case .foregroundDeliver, .backgroundDeliver: "given it while running"
            case .defer: "NOT woken, made to wait"
            case .coalesce, .drop, .deny: decision.app == nil ? "NOT given it" : "NOT woken"
            }
        return "\(decision.app ?? app)  \(verb) at \(LogTime.shortText(decision.at)) by \(eventText(decision))"
    }

    private func explanation(of decision: DecisionRecord) -> String {
        var lines = [headline(of: decision)] + reasoning(decision)
        lines += advice(decision).map { "  try      \($0)" }
        if decision.app != nil { lines.append("  others   \(others(decision.census))") }
        return lines.map(TerminalText.escaped).joined(separator: "\n")
    }

    /// Why it was decided so, and what became of it.
    func reasoning(_ decision: DecisionRecord) -> [String] {
        var lines = [
            "  because  \(decision.reason.word)   \(because(decision))   " + Self.ruleText(decision.rule)
        ]
        if let doubt = doubt(about: decision) {
            lines.append("  but      \(doubt.row.sentence)   \(Self.ruleText(doubt.rule))")
        }
        if !decision.checks.isEmpty { lines.append(passed(decision)) }
        if decision.isExempt { lines.append("  debugger exempts the app from limits of time   SYS-5") }
        let set = changes(decision).map { "\($0.setting) \($0.value)" }
        if !set.isEmpty { lines.append("  set      \(set.joined(separator: ", "))") }
        if let value = untold(decision) { lines.append("  value    \(value)") }
        if let outcome = log.outcomes[decision.id.number] {
            lines.append("  outcome  \(words(outcome, decision))")
        }
        if !decision.alsoFailing.isEmpty {
            lines.append("  also     \(decision.alsoFailing.joined(separator: " ")) would fail next")
        }
        if let next = later[decision.id.number], let record = log.decisions.last(where: { $0.id == next }) {
            lines.append(
                "  later    \(LogTime.text(next)) \(record.verdict.word), \(record.reason.word), "
                    + "at \(LogTime.shortText(record.at))"
            )
        }
        if decision.supersedes != .none { lines.append("  replaces \(LogTime.text(decision.supersedes))") }
        return lines
    }

    /// Why what was found may not be so; nil where nothing speaks against it.
    func doubt(about decision: DecisionRecord) -> Deed? {
        guard decision.parent != .none, let app = decision.app else { return nil }
        let found = log.deeds.first { entry in
            entry.event == decision.parent && entry.app == app && Self.doubts[entry.deed] == decision.via
                && (entry.subject.isEmpty || entry.subject == decision.subject)
        }
        return found?.deed
    }

    /// The deeds that say so, each with the word of the registration whose events it is about.
    private static let doubts: [Deed: String] = [
        .crossedByPoorFix: Registration.region.word, .movedByPoorFix: Registration.significantChange.word,
    ]

    /// What came with the event of a decision, where its outcome does not tell that; nil for nothing.
    private func untold(_ decision: DecisionRecord) -> String? {
        let isTold = log.outcomes[decision.id.number]?.delivered.contains { $0.value != nil } ?? false
        return isTold ? nil : log.value(of: decision)
    }

    func eventText(_ decision: DecisionRecord) -> String {
        "\(decision.source) \(decision.happening) (\(LogTime.text(decision.event)))"
    }

    /// What would make the app wake; nothing where it was given the event.
    func advice(_ decision: DecisionRecord) -> [String] {
        if decision.verdict.delivers { return [] }
        if let advice = absence?.advice { return [advice] }
        return restoresNone(decision) ? Self.advice(of: .lostWithProcess).map { [$0] } ?? [] : decision.fix
    }

    /// Whether the manager has a restore identifier, which a phone that restores no managers does not look at (BTC-6).
    private func restoresNone(_ decision: DecisionRecord) -> Bool {
        let isOfManager = decision.reason == .noRestoreIdentifier || decision.reason == .notPreserved
        return isOfManager && decision.restoreIdentifier != nil
    }

    /// What the run sets of the rules that the decision looked at, such as `voip.wakeLimit` to `off`.
    func changes(_ decision: DecisionRecord) -> [(setting: String, value: String)] {
        let rules = [decision.rule] + decision.checks.map(\.rule)
        return ProfileSetting.all.compactMap { setting in
            rules.contains(setting.rule) ? log.header.settings[setting.name].map { (setting.name, $0) } : nil
        }
    }

    /// The rules of which no check failed, each once, in the order of the checks.
    func passedRules(_ decision: DecisionRecord) -> [RuleID] {
        let failed = decision.checks.filter { $0.result == .fail }.map(\.rule)
        var rules: [RuleID] = []
        for check in decision.checks where check.result == .pass {
            if !failed.contains(check.rule), !rules.contains(check.rule) { rules.append(check.rule) }
        }
        return rules
    }

    private func passed(_ decision: DecisionRecord) -> String {
        let rules = passedRules(decision)
        let list = rules.isEmpty ? "nothing" : rules.map(\.text).joined(separator: " ")
        guard decision.decisive != nil, let wouldHave = decision.wouldHave else { return "  passed   \(list)" }
        return "  passed   \(list)                 without it: \(wouldHave.word)"
    }

    private func others(_ census: DecisionRecord.Census) -> String {
        let apps = census.apps == 1 ? "1 app" : "\(census.apps) apps"
        let woke = census.woke > 0 ? ["\(census.woke) woke"] : []
        let refused = census.byReason.map { "\($0.count) \($0.reason)" }
        return "\(apps) saw this event: \((woke + refused).joined(separator: ", "))"
    }

    /// What the reason means for this decision: prose that is generated and never parsed.
    func because(_ decision: DecisionRecord) -> String {
        let exit =
            decision.lastExit.map { "it ended at \(LogTime.shortText($0.at)), cause \($0.cause) (\($0.id))" }
            ?? "it has not run"
        if restoresNone(decision) { return "this version of iOS restores no managers, and \(exit)" }
        if let denial = denial(decision) { return "\(denial); only Always wakes an app" }
        let kind = EventKind(word: decision.kind)
        return ReasonText.because(decision.reason, of: kind?.mode).text { place in
            switch place {
            case .mode: kind?.mode.plistValue ?? "the source's mode"
            case .state: decision.stateBefore
            case .before: LogTime.shortText(decision.stateSince)
            case .since: LogTime.shortText(decision.decisive?.since ?? decision.stateSince)
            case .exit: exit
            case .window: decision.budget.map { "the wake has \(Self.seconds($0.limit))" } ?? "the wake has its window"
            case .left: decision.budget.map { ", \(Self.seconds($0.left)) of its window left" } ?? ""
            case .setBy: decision.decisive?.setBy.map { " (\($0))" } ?? ""
            case .clearedBy: Self.cleared(decision)
            case .silenceLimit: decision.figure("limit_ms").map(Self.seconds) ?? "the limit"
            case .dwell: decision.figure("dwell_ms").map { " of \(Self.seconds($0))" } ?? ""
            case .span: decision.figure("window_ms").map(Self.seconds) ?? "its window"
            }
        }
    }

    /// `; only a user launch or a reboot clears this`
    private static func cleared(_ decision: DecisionRecord) -> String {
        let by = decision.decisive?.clearedBy ?? []
        return by.isEmpty ? "" : "; only a \(by.joined(separator: " or a ")) clears this"
    }

    /// `pid 4711, launched in 38 ms, 612 ms of 10 s, then suspended; values 0648`.
    private func words(_ outcome: Outcome, _ decision: DecisionRecord) -> String {
        var parts: [String] = []
        if outcome.pid != 0 { parts.append("pid \(outcome.pid)") }
        if let spawn = outcome.spawn { parts.append("launched in \(LogTime.shortSpan(spawn))") }
        if let used = outcome.used {
            let limit = decision.budget.map { budget in
                budget.limit < used.milliseconds
                    ? past(budget, decision, used) : " of \(Self.seconds(budget.limit))"
            }
            parts.append("\(LogTime.shortSpan(used))\(limit ?? "")")
        }
        if let ended = outcome.ended {
            parts.append(outcome.exit == 0 ? "then \(ended.word)" : "then \(ended.word) (x-\(outcome.exit))")
        }
        if !outcome.acknowledged { parts.append("not answered yet") }
        let values = outcome.delivered.compactMap(\.value)
        let callbacks = outcome.delivered.map(\.name).joined(separator: " ")
        if !callbacks.isEmpty { parts.append(callbacks) }
        return parts.joined(separator: ", ") + (values.isEmpty ? "" : "; value \(values.joined(separator: " "))")
    }

    /// ` with 3 more events, past its window of 10 s`: each of them may have a window of its own (LIFE-11).
    private func past(_ budget: DecisionRecord.Budget, _ decision: DecisionRecord, _ used: Instant.Span) -> String {
        let end = decision.at.advanced(by: used)
        let more = decisions.count { $0.verdict == .backgroundDeliver && $0.at > decision.at && $0.at <= end }
        let events = more == 0 ? "" : " with \(Plural.text(more, "more event"))"
        return "\(events), past its window of \(Self.seconds(budget.limit))"
    }

    /// `10 s`, `250 ms`.
    private static func seconds(_ milliseconds: Int64) -> String {
        milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }

    // MARK: The table

    /// What happened to the app in the last `since` of the run, newest first, repeats folded; below it how long the app did
    /// not run, and why, when the logs have its states.
    package func table(since: Instant.Span? = nil) -> String {
        let start = start(of: since)
        let decisions = self.decisions.filter { $0.at >= start }
        guard !decisions.isEmpty else { return TextTable.prose(quiet(since: start), width: width) }
        var rows: [[String]] = [["TYPE", "REASON", "AGE", "FROM", "MESSAGE"]]
        for run in Self.folded(decisions).reversed() {
            rows.append([
                Self.type(run.last.verdict),
                run.last.reason.word,
                LogTime.text(log.end.since(run.last.at)) + run.repeats,
                run.last.source,
                message(run.last),
            ])
        }
        var lines = TextTable.lines(rows, width: width)
        let idle = log.timeNotRunning(of: app, since: start).map { "\($0.reason) \(LogTime.text($0.time))" }
        if !idle.isEmpty {
            let times = "Time not running, by reason: \(idle.joined(separator: ", "))"
            lines.append(TextTable.prose(times, width: width))
        }
        return lines.joined(separator: "\n")
    }

    /// Where the last part of the run begins.
    func start(of since: Instant.Span?) -> Instant {
        since.map { Instant(nanoseconds: max(0, log.end.nanoseconds - $0.nanoseconds)) } ?? .zero
    }

    /// Decisions that repeat one another without another in between.
    struct Fold {
        var first: DecisionRecord
        var last: DecisionRecord
        /// All of them, in order, each with its event.
        var members: [(decision: DecisionID, event: EventID)]

        /// ` (x6 over 15m)`; empty for one decision.
        var repeats: String {
            members.count == 1 ? "" : " (x\(members.count) over \(LogTime.text(last.at.since(first.at))))"
        }

        /// `characteristic-notified belt/2A37 (x2 over 1s): 0048 0049`.
        func happenings(_ log: RunLog) -> String {
            let values = values(log, Timeline.short)
            return first.happening + repeats + (values.isEmpty ? "" : ": \(values)")
        }

        /// What came with the events of all of them, each in a form; of many the first three and the last.
        func values(_ log: RunLog, _ form: (String) -> String) -> String {
            let values = members.compactMap { log.value(of: $0.event, $0.decision).map(form) }
            guard values.count > 5, let last = values.last else { return values.joined(separator: " ") }
            return values.prefix(3).joined(separator: " ") + " … " + last
        }
    }

    static func folded(_ decisions: [DecisionRecord]) -> [Fold] {
        var folds: [Fold] = []
        for decision in decisions {
            if let fold = folds.last, repeats(fold.last, decision) {
                folds[folds.count - 1].last = decision
                folds[folds.count - 1].members.append((decision.id, decision.event))
            } else {
                folds.append(Fold(first: decision, last: decision, members: [(decision.id, decision.event)]))
            }
        }
        return folds
    }

    static func repeats(_ left: DecisionRecord, _ right: DecisionRecord) -> Bool {
        left.app == right.app && left.verdict == right.verdict && left.reason == right.reason
            && left.kind == right.kind && left.subject == right.subject
    }

    private static func type(_ verdict: Verdict) -> String {
        switch verdict {
        case .foregroundDeliver, .backgroundDeliver: "Delivered"
        case .resume, .relaunch: "Woke"
        case .defer: "Deferred"
        case .coalesce: "Merged"
        case .drop: "Dropped"
        case .deny: "Denied"
        }
    }

    private func message(_ decision: DecisionRecord) -> String {
        let value = untold(decision).map { ": value \(Timeline.short($0))" } ?? ""
        let outcome = log.outcomes[decision.id.number].map { ": \(words($0, decision))" } ?? ""
        return decision.happening + value + outcome
    }
}

extension Verdict {
    /// Whether it woke the app or refused to, rather than gave it something on its way.
    fileprivate var changesFate: Bool {
        switch self {
        case .resume, .relaunch, .defer, .drop, .deny: true
        case .foregroundDeliver, .backgroundDeliver, .coalesce: false
        }
    }
}
