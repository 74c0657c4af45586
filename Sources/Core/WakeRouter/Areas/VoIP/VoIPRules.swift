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

extension VoIPQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        switch decisive {
        case .socketsWatched: (.deny, .legacySocketsOff)
        case .voipModePresent: (.deny, .modeMissing)
        case .voipWakesLeft: (.deny, .voipWakeLimit)
        default: preconditionFailure("\(decisive) never fails for one app's calls")
        }
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        switch (state, kind) {
        case (.notRunning, .voipAfterBoot): (.relaunch, .launchedAfterBoot)
        case (.notRunning, .voipAfterExit): (.relaunch, .launchedAfterExit)
        default: Acceptance.usual(in: state, launching: launching)
        }
    }

    func keepsRunning(_ modes: BackgroundModes) -> Bool { watchesSockets && modes.contains(.voip) }
}

/// The checks of VoIP events, in the order of the rulebook.
enum VoIPRules {
    /// Evaluates every check; none is left out because an earlier one failed.
    ///
    /// What holds passes. What does not hold fails where it stands in the way of the app in its state, and is not
    /// applicable elsewhere.
    static func evaluate(_ question: VoIPQuestion, of app: AppSnapshot, by constants: Constants)
        -> CheckResults
    {
        let asleep = question.state == .notRunning || question.state == .suspended
        var results = CheckResults(ofLaunching: app, by: constants)
        results[.socketsWatched] = passes(question.watchesSockets, where: asleep)
        results[.voipModePresent] = passes(app.modes.contains(.voip), where: asleep)
        if countsAsWake(question.kind), let limit = constants.profile.areas.voip.wakeLimit {
            results[.voipWakesLeft] = passes(question.wakes < limit, where: asleep)
        } else {
            results[.voipWakesLeft] = .notApplicable
        }
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
