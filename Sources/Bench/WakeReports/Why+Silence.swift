import WakeModel

/// What to say when no decision tells how an app stands: it never ran, it ended, it asked for nothing, or it waits.
extension Why {
    /// Whether the app's process ended after the last decision about it, and none has come since.
    var endedSince: ExitEntry? {
        guard let exit = log.exits.last(where: { $0.app == app }), lastMove?.to ?? .notRunning == .notRunning else {
            return nil
        }
        guard let last = decisions.last else { return exit }
        // Of the same instant, a decision that knows of the end came after it.
        return exit.at > last.at || exit.at == last.at && last.lastExit?.id != "x-\(exit.number)" ? exit : nil
    }

    private var lastMove: StateMove? { log.moves.last { $0.app == app } }

    /// How the app stands at the end of the logs.
    func standing() -> String {
        guard !log.roster.isEmpty || lastMove != nil else { return nothingKnown() }
        let lines = [headline()] + reasons() + waits() + lastWords() + nearest()
        return lines.map(TerminalText.escaped).joined(separator: "\n")
    }

    private func headline() -> String {
        let end = LogTime.shortText(log.end)
        guard let move = lastMove else {
            return "\(app)  never launched: no step launched it, and no event woke it by \(end)"
        }
        if move.to == .notRunning {
            let since = decisions.isEmpty ? "no event for it came by \(end)" : "no event for it came since"
            let exit = endedSince ?? log.exits.last { $0.app == app }
            guard let exit else { return "\(app)  does not run since \(LogTime.shortText(move.at)); \(since)" }
            return "\(app)  \(exit.words), at \(LogTime.shortText(exit.at)) (x-\(exit.number)); \(since)"
        }
        let state = "it is \(move.to.word(hasExited: false)) since \(LogTime.shortText(move.at))"
        guard let kept = log.registrations[app]?.kept else {
            return "\(app)  no event that it registered for was injected since T+00:00:00; \(state)"
        }
        return kept.isEmpty
            ? "\(app)  registered for nothing: \(state), and no event by \(end) was for it"
            : "\(app)  waits: \(state), and no event for it came by \(end)"
    }

    /// What a force quit means for what comes.
    private func reasons() -> [String] {
        guard let exit = endedSince, exit.cause == .userForceQuit else { return [] }
        let rule = "[\(RuleID.launch2.text), \(Confidences.words(.launch2))]"
        return ["  because  \(Reason.forceQuit.word)   only a user launch or a reboot clears this   \(rule)"]
    }

    /// What it is registered for, and why that does not come.
    private func waits() -> [String] {
        guard let entry = log.registrations[app] else { return [] }
        if entry.kept.isEmpty {
            guard lastMove?.to == .notRunning else { return [] }
            return ["  waits    for nothing: the system keeps no registration of it"]
        }
        return entry.kept.map { "  waits    \(Self.phrase($0))\(outOfRange($0.subject))" }
    }

    private func outOfRange(_ subject: String) -> String {
        let device = subject.prefix { $0 != "/" }
        guard let last = log.ranges.last(where: { $0.device == device }), !last.inRange else { return "" }
        return ", out of range since \(LogTime.shortText(last.at))"
    }

    private static func phrase(_ kept: RegistrationEntry.Kept) -> String {
        let since = "(\(kept.via) since \(LogTime.shortText(kept.since)))"
        switch Registration.allCases.first(where: { $0.word == kept.via }) {
        case .scan: return "for what its scan finds \(since)"
        case .standardUpdates: return "for location updates \(since)"
        case .significantChange: return "for a significant change of place \(since)"
        case .visits: return "for a visit \(since)"
        case .publishedService: return "for centrals that use its services \(since)"
        case .watchedConnection: return "for links of the peripherals that it watches \(since)"
        case .audioSession: return "for events of its audio session \(since)"
        case .accessoryNotifications: return "for accessories \(since)"
        case .keepAlive: return "for its keep-alive time \(since)"
        default: return "for \(kept.subject) \(since)"
        }
    }

    /// The end of what the app printed, when it ended by itself or was killed for a time it overran.
    private func lastWords() -> [String] {
        guard let exit = endedSince, [.exit, .crash, .watchdog].contains(exit.cause),
            let name = log.roster.first(where: { $0.app == app })?.log
        else { return [] }
        let path = log.folder + "/" + name
        let lines = LogTail.lines(path, atMost: Self.tailLines)
        if lines.isEmpty { return ["  log      \(path) is empty or not there"] }
        return ["  log      \(path) ends with:"] + lines.map { "           \($0)" }
    }

    private static let tailLines = 5

    /// The newest event that nobody had registered for.
    private func nearest() -> [String] {
        guard decisions.isEmpty, let nobody = log.decisions.last(where: { $0.app == nil }) else { return [] }
        return [nearest(nobody)]
    }

    private func nearest(_ nobody: DecisionRecord) -> String {
        "  nearest  \(eventText(nobody)) at \(LogTime.shortText(nobody.at)): \(because(nobody))   "
            + "[\(nobody.rule.text), \(Confidences.words(nobody.rule))]"
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
