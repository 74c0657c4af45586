import WakeModel

/// What the rules of transfers look at beside the app and the phone.
struct TransferQuestion {
    var kind: EventKind
    var end: TransferEnd
    var state: AppState
    /// The app runs, and its process has joined the session.
    var isLive: Bool
    var session: TransferSessionKind
    var sendsLaunchEvents: Bool
    /// How many other tasks of the session are under way.
    var left: Int
    /// A process was told that the session has something for it, and has neither joined it nor called the completion handler.
    var isAnnounced: Bool
    /// The result was kept with the session until now.
    var wasKept: Bool
}

extension TransferQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        switch decisive {
        case .newsstandModePresent: (.deny, .newsstandModeMissing)
        case .transferWakes: (.drop, .progressWakesNobody)
        case .sendsLaunchEvents: (.deny, .launchEventsOff)
        case .allTransfersDone: (.coalesce, .sessionNotDone)
        case .notAnnounced: (.coalesce, .sessionAnnounced)
        case .transferIsOver: (.coalesce, .transferRetried)
        default: preconditionFailure("\(decisive) never fails for a transfer")
        }
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        let (verdict, reason) = Acceptance.usual(in: state, launching: launching)
        if isLive { return (verdict, wasKept ? .sessionJoined : reason) }
        if session == .newsstand { return (verdict, .newsstandDone) }
        return (verdict, kind == .transferChallenged ? .challengeWakes : .sessionDone)
    }

    /// What a session has for its app gives a running app time as well; what a process that has joined it is told does not.
    func keepsRunning(_ modes: BackgroundModes) -> Bool { !isLive }

    var isAnswered: Bool { !isLive && session != .newsstand }
}

/// The rules of background transfers.
enum TransferRules {
    /// Evaluates every check that the event is asked.
    static func evaluate(_ question: TransferQuestion, of app: AppSnapshot, by constants: Constants) -> CheckResults {
        var results = CheckResults()
        guard question.kind != .transferEnded || question.end.isOver else {
            // It concerns nobody but the system.
            results[.transferIsOver] = .fail
            return results
        }
        guard wakes(question.kind) else {
            results[.transferWakes] = passes(question.isLive, where: true)
            return results
        }
        results = CheckResults(ofLaunching: app, by: constants)
        results[.transferWakes] = .pass
        if question.kind == .transferEnded { results[.transferIsOver] = .pass }
        if question.session == .newsstand {
            results[.newsstandModePresent] = passes(app.modes.contains(.newsstandContent), where: !question.isLive)
        } else {
            results[.sendsLaunchEvents] = passes(question.sendsLaunchEvents, where: !question.isLive)
            if question.kind == .transferEnded {
                results[.allTransfersDone] = passes(question.left == 0, where: !question.isLive)
                results[.notAnnounced] = passes(!question.isAnnounced, where: !question.isLive)
            }
        }
        return results
    }

    /// Whether an event of that kind wakes an app (XFER-2, XFER-4).
    static func wakes(_ kind: EventKind) -> Bool { kind == .transferEnded || kind == .transferChallenged }

    /// What a task that was resumed waits for; nil when it may run.
    static func hold(
        _ task: TransferRecord.Task,
        allowsCellular: Bool,
        on phone: PhoneConditions,
        isOff: Bool,
        isIdle: Bool,
        at now: Instant
    ) -> TransferRecord.Hold? {
        if isOff { return .shutDown }
        if let earliest = task.wishes.earliestBegin, earliest > now { return .beginDate }
        if task.limitEnds > now { return .resumes }
        if task.retriesAt > now { return .retry }
        if task.isDiscretionary {
            if phone.contains(.lowPowerMode) { return .lowPower }
            if !phone.contains(.externalPower) || !phone.hasWifi || !isIdle { return .goodMoment }
        }
        let hasNetwork = phone.hasWifi || allowsCellular && phone.hasNetwork
        return hasNetwork ? nil : .network
    }
}
