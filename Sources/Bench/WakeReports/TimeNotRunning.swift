import WakeModel

extension RunLog {
    /// Why an app does not run when nothing else is known.
    private static let noEvent = "NoEvent"

    /// How long an app was suspended or without a process from an instant to the end of the run, by reason, the longest
    /// first; nothing when the logs do not say in which states it was.
    ///
    /// A reason is that of the latest decision that left the app asleep. Before the first one it is `ForceQuit` when the user
    /// had ended the app so, and `NoEvent` otherwise.
    func timeNotRunning(of app: String, since start: Instant) -> [(reason: String, time: Instant.Span)] {
        var times: [String: Instant.Span] = [:]
        var reason: String? = Self.noEvent
        var began = start
        func close(at instant: Instant) {
            guard instant > began else { return }
            if let reason { times[reason] = (times[reason] ?? .zero) + instant.since(began) }
            began = instant
        }
        let turns = turns(of: app)
        if turns.isEmpty { return [] }
        for turn in turns {
            close(at: turn.at)
            switch turn.change {
            case .ran: reason = nil
            case .slept: reason = reason ?? Self.noEvent
            case .stayedAsleep(let word): if reason != nil { reason = word }
            }
        }
        close(at: end)
        return times.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { (reason: $0.key, time: $0.value) }
    }

    /// What changes why an app does not run.
    private enum Change {
        case ran
        case slept
        case stayedAsleep(String)
    }

    /// In order of time. Of one instant moves come first: what is said of an app that is asleep is said after it fell asleep.
    private func turns(of app: String) -> [(at: Instant, change: Change)] {
        var turns: [(at: Instant, change: Change)] = []
        let moves = moves.filter { $0.app == app }
        guard !moves.isEmpty else { return [] }
        for move in moves { turns.append((move.at, move.to.isAsleep ? .slept : .ran)) }
        for exit in exits where exit.app == app && exit.cause == .userForceQuit {
            turns.append((exit.at, .stayedAsleep(Reason.forceQuit.word)))
        }
        for decision in decisions where decision.app == app && !decision.verdict.delivers {
            turns.append((decision.at, .stayedAsleep(decision.reason.word)))
            // An app without a process can be force-quit, too, and only a later decision tells when that was.
            if decision.reason == .forceQuit, let since = decision.decisive?.since {
                turns.append((min(since, decision.at), .stayedAsleep(decision.reason.word)))
            }
        }
        return turns.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }
}

extension AppState {
    /// Whether no code of the app runs.
    var isAsleep: Bool {
        switch self {
        case .notRunning, .suspended: true
        case .inactive, .active, .background: false
        }
    }
}
