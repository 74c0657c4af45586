import WakeModel

/// What to say when no decision tells how an app stands: it never ran, it ended, it asked for nothing, or it waits.
extension Why {
    /// Whether the app's process ended after the last decision about it, and none has come since.
    var endedSince: ExitEntry? {
        guard let exit = log.exits.last(where: { $0.app == app }), lastMove?.to ?? .notRunning == .notRunning else {
            return nil
        }
        // What an end took from the app says no more than the end.
        guard let last = decisions.last(where: { !$0.checks.isEmpty || $0.reason != .appEnded }) else { return exit }
        // Of the same instant, a decision that knows of the end came after it.
        return exit.at > last.at || exit.at == last.at && last.lastExit?.id != "x-\(exit.number)" ? exit : nil
    }

    var lastMove: StateMove? { log.moves.last { $0.app == app } }

    /// How the app stands at the end of the logs.
    func standing() -> String {
        guard !log.roster.isEmpty || lastMove != nil else { return nothingKnown() }
        let because = cost() + obstacles() + reasons() + unreadiness()
        let kept = waits() + refusedLines() + oldTableLines()
        let lines = [headline()] + because + lost(losses) + kept + lastWords() + nearest()
        return lines.map(TerminalText.escaped).joined(separator: "\n")
    }

    private func headline() -> String {
        let end = LogTime.shortText(log.end)
        let since = decisions.isEmpty ? "no event for it came by \(end)" : "no event for it came since"
        if let uninstalled { return "\(app)  was uninstalled, at \(LogTime.shortText(uninstalled)); \(since)" }
        guard let move = lastMove else {
            return "\(app)  never launched: no step launched it, and no event woke it by \(end)"
        }
        if move.to == .notRunning {
            guard let exit = endedSince ?? log.exits.last(where: { $0.app == app }) else {
                return "\(app)  does not run since \(LogTime.shortText(move.at)); \(since)"
            }
            return "\(app)  \(exit.words), at \(LogTime.shortText(exit.at)) (x-\(exit.number)); \(since)"
        }
        let state = "it is \(move.to.word) since \(LogTime.shortText(move.at))"
        guard let kept = log.registrations[app]?.kept else {
            return "\(app)  no event that it registered for was injected since T+00:00:00; \(state)"
        }
        return kept.isEmpty
            ? "\(app)  registered for nothing: \(state), and no event by \(end) was for it"
            : "\(app)  waits: \(state), and no event for it came by \(end)"
    }

    /// Why nothing wakes an app that the user has uninstalled; nil for one that is installed.
    var absence: Cause? {
        uninstalled.map { at in
            Cause(
                reason: .noRegistration,
                rule: Deed.lostToUninstall.rule,
                at: at,
                because: "the user uninstalled the app at \(LogTime.shortText(at)), and the system keeps nothing of it",
                advice: Self.advice(of: .lostToUninstall)
            )
        }
    }

    /// What keeps the app from being registered for anything, or for anything of a source; nil where nothing is known to.
    var obstacle: Cause? { absence ?? refusal }

    /// The same in lines.
    ///
    /// - Parameters:
    ///   - decision: what is explained above, which is of one source; nil for none.
    ///   - said: advice that stands above.
    private func obstacles(after decision: DecisionRecord? = nil, beside said: [String] = []) -> [String] {
        guard let obstacle = decision.map({ absence ?? refusal(of: $0.source) }) ?? obstacle else { return [] }
        let advice = obstacle.advice.flatMap { said.contains($0) ? nil : "  try      \($0)" }
        return [obstacle.text] + (advice.map { [$0] } ?? [])
    }

    /// Whether what is known beside decisions is what a question is about: what the app has lost or waits for, the bar of a force
    /// quit, or what lifts it, why the phone launches nothing, and how and for what the app was ended.
    func isKnown(_ question: Question) -> Bool {
        var known = liftings + (unready().map { [$0.reason] } ?? [])
        let kept = log.registrations[app]?.kept ?? []
        known += kept.compactMap { switchedOff($0)?.reason } + kept.compactMap { lack(kept: $0) }
        switch question {
        case .reason(let reason):
            if losses.contains(where: { $0.reason == reason }) || known.contains(reason) { return true }
            return reason == .forceQuit && bar == .launch2 || obstacle?.reason == reason
        case .rule(let rule):
            if losses.contains(where: { $0.rule == rule }) || known.contains(where: { $0.rule == rule }) { return true }
            if (refusedRequests + oldTables).contains(where: { $0.deed.rule == rule }) { return true }
            return bar == rule || costing?.deed.rule == rule || obstacle?.rule == rule
        case .events(let choice):
            return choice.subject == nil && choice.kinds.count == 1 && isRegistered(choice.kinds[0])
        case .registration(let registration): return isRegistered(registration.word)
        case .exit(let number):
            return endedSince?.number == number || losses.contains { $0.exit?.number == number }
        }
    }

    /// Whether the app waits for what a word of a registration says, or has lost that.
    private func isRegistered(_ word: String) -> Bool {
        let kept = log.registrations[app]?.kept ?? []
        return kept.contains { $0.via == word } || losses.contains { $0.entries.contains { $0.via == word } }
    }

    /// The rule by which a force quit bars the app, or a reboot has lifted that; nil for neither.
    private var bar: RuleID? {
        guard lastMove?.to ?? .notRunning == .notRunning, let quit = log.forceQuit(of: app), quit.bars else {
            return nil
        }
        return quit.lifted == nil ? .launch2 : .launch4
    }

    /// What is said of the events that wake the app though a force quit bars it.
    private var liftings: [Reason] { (log.registrations[app]?.kept ?? []).compactMap(lifting) }

    /// What is said of an event that a registration is for where it wakes the app though a force quit bars it; nil where none bars
    /// it, or its events do not.
    func lifting(_ kept: RegistrationEntry.Kept) -> Reason? {
        bar == .launch2 ? Registration(word: kept.via).flatMap(log.lifting) : nil
    }

    /// By which rule the app was ended for what it shares with others, and with which locks it was frozen.
    private func cost() -> [String] {
        guard let exit = endedSince, let entry = costing else { return [] }
        let because = "  because  \(entry.deed.row.sentence)   \(Self.ruleText(entry.deed.rule))"
        guard entry.deed == .endedForLocks else { return [because] }
        let began = log.moves.last { $0.app == app && $0.at < exit.at }?.at ?? .zero
        let locks = log.notes.filter {
            $0.app == app && $0.at >= began && $0.at <= exit.at && $0.text.hasPrefix(Note.frozenWith)
        }
        return [because] + locks.map { "  held     \($0.text.dropFirst(Note.frozenWith.count))" }
    }

    /// For what the app was ended of what it shares with others; nil where it was not.
    private var costing: DeedEntry? {
        guard let exit = endedSince else { return nil }
        return log.deeds.last { $0.app == app && $0.at == exit.at && Self.costs.contains($0.deed) }
    }

    private static let costs: [Deed] = [
        .endedForDrawing, .endedForLocks, .endedForFootprint, .endedForProcessorTime, .purgedForMemory,
    ]

    /// Why the phone launches the app for nothing that it waits for, and since when; nil where the logs know of nothing, and of an app
    /// that runs or waits for nothing that needs it.
    func unready(after decision: DecisionRecord? = nil) -> (reason: Reason, since: Instant)? {
        let kept = log.registrations[app]?.kept ?? []
        guard lastMove?.to == .notRunning, let unready = log.unready,
            kept.contains(where: { Registration(word: $0.via)?.needsApp ?? true })
        else { return nil }
        guard let decision else { return unready }
        // A later decision tells what stands in the way of it.
        let isTold = decision.at == unready.since && decision.reason == unready.reason
        return isTold || decision.at > unready.since ? nil : unready
    }

    /// The same in lines, with what to do about it.
    private func unreadiness(after decision: DecisionRecord? = nil) -> [String] {
        guard let (reason, since) = unready(after: decision) else { return [] }
        let because = "since \(LogTime.shortText(since)): \(Self.because(reason))"
        return ["  because  \(reason.word)   \(because)   \(Self.ruleText(reason.rule))"]
            + (ReasonText.advice(reason, of: .processing).map { ["  try      \($0)"] } ?? [])
    }

    /// What a reason that looks at nothing but the phone means.
    static func because(_ reason: Reason) -> String { ReasonText.because(reason, of: nil).text { $0.rawValue } }

    /// What a force quit that no decision tells of means for what comes, and what has lifted the bar of one.
    ///
    /// - Parameter decision: the one that is explained already; nil for none.
    func reasons(after decision: DecisionRecord? = nil) -> [String] {
        guard lastMove?.to ?? .notRunning == .notRunning, let quit = log.forceQuit(of: app), quit.bars else {
            return []
        }
        let told = decision.map { $0.reason == .forceQuit && $0.at >= quit.at } ?? false
        if let lifted = quit.lifted {
            guard told || decision?.at ?? .zero <= quit.at else { return [] }
            let since = "the \(lifted.by) at \(LogTime.shortText(lifted.at)) lifted the bar of the force quit"
            return ["  later    \(since) at \(LogTime.shortText(quit.at))   \(Self.ruleText(.launch4))"]
        }
        // A decision that looked at the force quit tells what it meant.
        let isWeighed = decision.map { $0.at > quit.at && $0.checks.contains { $0.rule == .launch2 } } ?? false
        if told || isWeighed { return [] }
        let by =
            (quit.rebootLifts ? "a user launch or a reboot" : "a user launch") + " clears this"
            + (liftings.isEmpty ? "" : ", but for what lifts it below")
        // Only of an app that ended so the line above has said when.
        let isDated = decision == nil && endedSince?.cause == .userForceQuit
        let when = isDated ? "" : "the user swiped it away at \(LogTime.shortText(quit.at)); "
        return ["  because  \(Reason.forceQuit.word)   \(when)only \(by)   \(Self.ruleText(.launch2))"]
    }

    /// How sure the rule is, with what of it is assumed: `[LOC-8, documented; assumed: the inward margin]`.
    static func ruleText(_ rule: RuleID) -> String {
        let entry = RuleCatalogue.entry(rule)
        return "[\(rule.text), \(entry.confidence.word)\(entry.assumed.map { "; assumed: \($0)" } ?? "")]"
    }

    /// What is known beside the decision that is explained: what the app has lost, and of one that is asleep at the end of the
    /// logs what else keeps it so.
    func since(_ decision: DecisionRecord?) -> [String] {
        guard let state = lastMove?.to else { return [] }
        let said = decision.map { advice($0) } ?? []
        let lost = lost(losses, beside: said)
        let because = obstacles(after: decision, beside: said) + reasons(after: decision) + unreadiness(after: decision)
        let lines = state.isAsleep ? because + lost + waits() + refusedLines() : lost
        return (lines + oldTableLines()).map(TerminalText.escaped)
    }

    /// That nothing came from an instant on of which there is no decision, though there are earlier ones.
    func quiet(since start: Instant) -> String {
        if decisions.isEmpty || endedSince != nil { return standing() }
        let headline = "\(app)  no event for it came since \(LogTime.shortText(start))"
        return ([TerminalText.escaped(headline)] + since(nil)).joined(separator: "\n")
    }

    /// What it is registered for, and why that does not come.
    private func waits() -> [String] {
        guard let entry = log.registrations[app] else { return [] }
        if entry.kept.isEmpty {
            guard lastMove?.to == .notRunning else { return [] }
            return ["  waits    for nothing: the system keeps no registration of it"]
        }
        let advised = entry.kept.last { lack(kept: $0) != nil }
        return entry.kept.flatMap { kept in
            let refusals = refusals(kept).map { "  refused  at \(LogTime.shortText($0.at)): \($0.text)" }
            return [wait(kept)] + (kept == advised ? adviceOnLack(of: kept) : []) + refusals
        }
    }

    /// What the device of a link has refused because it is not paired: the first of each that is the same.
    func refusals(_ kept: RegistrationEntry.Kept) -> [Note] {
        guard kept.via == Registration.connection.word else { return [] }
        var told: Set<String> = []
        return log.notes.filter { note in
            note.app == app && note.at >= kept.since && Note.isOfPairing(note.text, with: kept.subject)
                && told.insert(note.text).inserted
        }
    }

    /// Why it does not wake the app as the user's answers are now; nil where these stand in no way.
    func lack(kept: RegistrationEntry.Kept) -> Reason? {
        kept.lacks.flatMap { word in Reason.allCases.first { $0.word == word } }
    }

    private func adviceOnLack(of kept: RegistrationEntry.Kept) -> [String] {
        let advice = lack(kept: kept).flatMap { ReasonText.advice($0, of: .processing) }
        return advice.map { ["  try      \($0)"] } ?? []
    }

    func wait(_ kept: RegistrationEntry.Kept) -> String {
        let lifts = lifting(kept).map { ", which lifts the bar of the force quit   \(Self.ruleText($0.rule))" } ?? ""
        let off =
            switchedOff(kept).map { reason, since in
                ", \(Self.because(reason)) since \(LogTime.shortText(since))   \(Self.ruleText(reason.rule))"
            } ?? ""
        let lacks = lack(kept: kept).map { ", \(Self.because($0))   \(Self.ruleText($0.rule))" } ?? ""
        return "  waits    \(Self.phrase(kept))\(outOfRange(kept.subject))\(lifts)\(off)\(lacks)"
    }

    /// Why nothing comes of what it waits for, and since when, where what brings it is known to be switched off.
    func switchedOff(_ kept: RegistrationEntry.Kept) -> (reason: Reason, since: Instant)? {
        let via = Registration(word: kept.via)
        if via?.source == .task, let since = log.refreshOff(for: app) {
            return (reason: Reason.refreshOff, since: since)
        }
        guard let (off, on, reason) = via?.switchedOff else { return nil }
        // What was deferred is recorded once more when its app gets it.
        let last = log.decisions.last { $0.supersedes == .none && [off.word, on.word].contains($0.kind) }
        return last.flatMap { $0.kind == off.word ? (reason: reason, since: $0.at) : nil }
    }

    /// The requests that the system refused the app, where none for the same was taken since: the last of each. None of an app
    /// that is gone with all that it asked for.
    private var refusedRequests: [DeedEntry] {
        guard uninstalled == nil else { return [] }
        let kept = log.registrations[app]?.kept ?? []
        var refused: [DeedEntry] = []
        for deed in log.deeds where deed.app == app && Self.refusals.contains(deed.deed) {
            refused.removeAll { $0.deed == deed.deed && $0.subject == deed.subject }
            refused.append(deed)
        }
        return refused.filter { deed in
            let isTaken = kept.contains { $0.subject == deed.subject }
            return !isTaken && !decisions.contains { $0.subject == deed.subject && $0.at > deed.at }
        }
    }

    /// Deeds by which the phone refuses what an app asks for.
    static let refusals: Set<Deed> = [
        .refusedTaskRequest, .refusedTooManyTaskRequests, .refusedWithoutRefresh, .refusedRegion, .refusedRadius,
        .refusedSecondSession,
    ]

    /// What came of each, for people.
    var refusedTexts: [String] { refusedRequests.map(Self.text) }

    /// When something was done to what, and what.
    private static func text(_ deed: DeedEntry) -> String {
        let what = deed.subject.isEmpty ? "" : "\(deed.subject) "
        return "\(what)at \(LogTime.shortText(deed.at)): \(deed.deed.row.sentence)"
    }

    /// The same in lines, with what to do about it.
    private func refusedLines() -> [String] { lines(refusedRequests, "refused ") }

    /// Deeds in lines under a heading, with what to do about them.
    private func lines(_ deeds: [DeedEntry], _ heading: String) -> [String] {
        var said: Set<String> = []
        return deeds.flatMap { deed in
            let line = "  \(heading) \(Self.text(deed))   \(Self.ruleText(deed.deed.rule))"
            guard let advice = Loss(entries: [deed]).advice, said.insert(advice).inserted else { return [line] }
            return [line, "  try      \(advice)"]
        }
    }

    /// The links over which the phone goes by an old table of the device's attributes: the last word about each.
    private var oldTables: [DeedEntry] {
        let kept = log.registrations[app]?.kept ?? []
        return kept.compactMap { link in
            guard link.via == Registration.connection.word else { return nil }
            let last = log.deeds.last { deed in
                deed.app == app && deed.deed == .keptAttributes && deed.subject == link.subject && deed.at >= link.since
            }
            guard let last else { return nil }
            let forgotten = Note.forgotten(link.subject)
            return log.notes.contains { $0.at >= last.at && $0.text == forgotten } ? nil : last
        }
    }

    /// The same for people.
    var oldTableTexts: [String] { oldTables.map(Self.text) }

    private func oldTableLines() -> [String] { lines(oldTables, "table   ") }

    private func outOfRange(_ subject: String) -> String {
        awaySince(subject).map { ", out of range since \(LogTime.shortText($0))" } ?? ""
    }

    /// Since when the device of a subject is out of range; nil when it is not.
    func awaySince(_ subject: String) -> Instant? {
        let device = subject.prefix { $0 != "/" }
        return log.ranges.last { $0.device == device }.flatMap { $0.inRange ? nil : $0.at }
    }

    private static func phrase(_ kept: RegistrationEntry.Kept) -> String {
        let since = "(\(kept.via) since \(LogTime.shortText(kept.since)))"
        return "for \(phrases[kept.via] ?? kept.subject) \(since)"
    }

    /// What apps wait for where no subject says it, by the word of the registration.
    static let phrases = Table.pairs("waits.tsv", EmbeddedFile.waitsTSV, columns: ["via", "phrase"])

    /// The end of what the app printed, when it ended by itself or was killed for a time it overran.
    private func lastWords() -> [String] {
        guard let (path, lines) = tail() else { return [] }
        if lines.isEmpty { return ["  log      \(path) is empty or not there"] }
        return ["  log      \(path) ends with:"] + lines.map { "           \($0)" }
    }

    /// The same with the file's path; nil where an app's words say nothing of its end, or it has none.
    func tail() -> (path: String, lines: [String])? {
        guard let exit = endedSince, [.exit, .crash, .watchdog].contains(exit.cause),
            let name = log.roster.first(where: { $0.app == app })?.log
        else { return nil }
        let path = log.folder + "/" + name
        return (path, LogTail.lines(path, atMost: Self.tailLines))
    }

    private static let tailLines = 5

    private func nearest() -> [String] { unheard.map { [nearest($0)] } ?? [] }

    /// The newest event that nobody had registered for, where nothing was decided about the app.
    var unheard: DecisionRecord? { decisions.isEmpty ? log.decisions.last { $0.app == nil } : nil }

    private func nearest(_ nobody: DecisionRecord) -> String {
        "  nearest  \(eventText(nobody)) at \(LogTime.shortText(nobody.at)): \(because(nobody))   "
            + Self.ruleText(nobody.rule)
    }

    /// Of logs that do not say which apps there are.
    private func nothingKnown() -> String {
        guard let nobody = log.decisions.last(where: { $0.app == nil }) else {
            return "\(app)  no event of that kind was injected since T+00:00:00"
        }
        return "\(app)  no event that it registered for was injected since T+00:00:00\n"
            + TerminalText.escaped(nearest(nobody))
    }
}
