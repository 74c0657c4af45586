import WakeModel

/// What the rules of External Accessory look at beside the app and the phone: the event and what the app asked for.
struct AccessoryQuestion {
    var kind: EventKind
    var state: AppState
    /// It tells the app that it left the foreground, or came back to it, and no one else (EA-1).
    var followsState: Bool
    /// The app lists one of the accessory's protocols.
    var listed: Bool
    /// The app asked for notifications, or holds a session with the accessory.
    var asked: Bool
    /// Of the end of a session: bytes were lost.
    var failed: Bool
}

extension AccessoryQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        switch decisive {
        case .asksToBeWoken: (state == .suspended ? .defer : .drop, .answerWaits)
        case .accessoryModePresent: (.deny, .accessoryModeMissing)
        case .protocolListed: (.deny, .protocolNotListed)
        case .notificationsAsked: (.drop, .notificationsNotAsked)
        case .accessoryReachesProcess: (.deny, .notRelaunchedByAccessory)
        default: preconditionFailure("\(decisive) never fails for one app's accessory")
        }
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        let (verdict, reason) = Acceptance.usual(in: state, launching: launching)
        if kind == .accessorySessionEnded, failed { return (verdict, .accessoryBytesLost) }
        if followsState { return (verdict, .accessoryFollowsForeground) }
        return (verdict, reason)
    }

    func keepsRunning(_ modes: BackgroundModes) -> Bool {
        modes.contains(.externalAccessory) && AccessoryRules.wakes(kind)
    }
}

/// The checks of accessory events, in the order of the rulebook.
enum AccessoryRules {
    /// Whether an app hears of it of itself, rather than as the answer to its request.
    static func wakes(_ kind: EventKind) -> Bool { kind != .accessorySessionOpened }

    /// Whether it is about the accessory, rather than about one session.
    static func isNotification(_ kind: EventKind) -> Bool {
        kind == .accessoryConnected || kind == .accessoryDisconnected
    }

    /// Evaluates every check; none is left out because an earlier one failed.
    ///
    /// What holds passes. What does not hold fails where it stands in the way of the app in its state, and is not
    /// applicable elsewhere.
    static func evaluate(_ question: AccessoryQuestion, of app: AppSnapshot, by constants: Constants)
        -> CheckResults
    {
        let dead = question.state == .notRunning
        let asleep = dead || question.state == .suspended
        let foreground = question.state == .active || question.state == .inactive
        let notification = isNotification(question.kind)
        var results = CheckResults()
        results[.notForceQuit] =
            !constants.profile.forceQuitBars ? .notApplicable : passes(!app.forceQuit, where: dead)
        results[.asksToBeWoken] = passes(wakes(question.kind), where: asleep)
        results[.accessoryModePresent] =
            question.followsState || !wakes(question.kind)
            ? .notApplicable
            : passes(app.modes.contains(.externalAccessory), where: !foreground && !dead)
        results[.protocolListed] = passes(question.listed, where: true)
        results[.notificationsAsked] =
            !notification ? .notApplicable : passes(question.asked, where: !dead)
        results[.accessoryReachesProcess] = passes(!dead, where: true)
        results[.runsInBackground] = passes(!app.exitsOnSuspend, where: asleep)
        return results
    }
}
