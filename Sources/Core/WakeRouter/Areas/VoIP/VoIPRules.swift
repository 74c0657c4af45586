import WakeModel

/// What the rules of VoIP look at beside the app and the phone: the event and what made the app hear of it.
struct VoIPQuestion {
    var kind: EventKind
    var state: AppState
    /// The phone looks after sockets that the app marks.
    var watchesSockets: Bool
    /// How many wakes there were within the window of VOIP-6.
    var wakes: UInt32
}

/// The checks of VoIP events, in the order of the rulebook.
enum VoIPRules {
    /// Evaluates every check; none is left out because an earlier one failed.
    ///
    /// What holds passes. What does not hold fails where it stands in the way of the app in its state, and is not
    /// applicable elsewhere.
    static func evaluate(_ question: VoIPQuestion, of app: AppSnapshot, by constants: Constants) -> CheckResults {
        let dead = question.state == .notRunning
        let asleep = dead || question.state == .suspended
        let unlocked = app.unlockedSinceBoot || !app.passcode
        var results = CheckResults()
        results[.notForceQuit] =
            !constants.profile.forceQuitBars ? .notApplicable : passes(!app.forceQuit, where: dead)
        results[.unlockedSinceBoot] =
            !constants.profile.firstUnlockGates ? .notApplicable : passes(unlocked, where: dead)
        results[.socketsWatched] = passes(question.watchesSockets, where: asleep)
        results[.voipModePresent] = passes(app.modes.contains(.voip), where: asleep)
        if countsAsWake(question.kind), let limit = constants.profile.areas.voip.wakeLimit {
            results[.voipWakesLeft] = passes(question.wakes < limit, where: asleep)
        } else {
            results[.voipWakesLeft] = .notApplicable
        }
        results[.runsInBackground] = passes(!app.exitsOnSuspend, where: asleep)
        return results
    }

    /// Whether the phone looks after marked sockets of apps that were built with an SDK, and does for them all that
    /// belongs to it (VOIP-1, VOIP-3 to VOIP-6).
    static func watchesSockets(of sdk: SDKVersion, by constants: Constants) -> Bool {
        switch constants.profile.areas.voip.legacy {
        case .on: true
        case .off: false
        case .bySDK: sdk.keepsLegacySockets
        }
    }

    /// Whether waking an app for it counts against the limit (VOIP-6): what may come as often as the peer or the app
    /// likes does, and what the phone times itself does not.
    static func countsAsWake(_ kind: EventKind) -> Bool {
        kind == .voipData || kind == .voipClosed || kind == .voipAfterExit
    }

    /// The verdict and reason of the decisive check.
    static func refusal(_ decisive: Check) -> (Verdict, Reason) {
        switch decisive {
        case .notForceQuit: (.deny, .forceQuit)
        case .unlockedSinceBoot: (.deny, .beforeFirstUnlock)
        case .socketsWatched: (.deny, .legacySocketsOff)
        case .voipModePresent: (.deny, .modeMissing)
        case .voipWakesLeft: (.deny, .voipWakeLimit)
        case .runsInBackground: (.deny, .exitsOnSuspend)
        default: preconditionFailure("\(decisive) never fails for one app's calls")
        }
    }

    /// The verdict when nothing stands in the way, with the rule that gives it.
    static func acceptance(of question: VoIPQuestion, in state: AppState, launching: Bool) -> (Verdict, Reason) {
        switch (state, question.kind) {
        case (.notRunning, .voipAfterBoot): (.relaunch, .launchedAfterBoot)
        case (.notRunning, .voipAfterExit): (.relaunch, .launchedAfterExit)
        default: Acceptance.usual(in: state, launching: launching)
        }
    }

    /// Whether a process that ended so is followed by another (VOIP-5). A kill by the system counts as an exit that is not
    /// zero; an end that the user, an update or the phone's own end wanted does not.
    static func startsAgain(after cause: ExitCause, code: Int64) -> Bool {
        switch cause {
        case .exit, .policy: code != 0
        case .crash, .watchdog, .memory, .cpu: true
        case .userForceQuit, .system, .update, .bench: false
        }
    }
}
