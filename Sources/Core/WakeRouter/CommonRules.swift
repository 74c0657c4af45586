import WakeModel

/// What a check comes to that matters in some states of an app only.
///
/// What holds passes. What does not hold fails where it stands in the way of the app in its state, and is not applicable
/// elsewhere.
@inline(__always)
func passes(_ holds: Bool, where matters: Bool) -> CheckResult {
    holds ? .pass : matters ? .fail : .notApplicable
}

extension CheckResults {
    /// The checks of most areas of whether an app may be launched, or may run in the background at all.
    @inline(__always)
    init(ofLaunching app: AppSnapshot, by constants: Constants) {
        let dead = app.state == .notRunning
        self.init()
        self[.notForceQuit] =
            !constants.profile.forceQuitBars || app.forceQuitLifted
            ? .notApplicable : passes(!app.forceQuit, where: dead)
        let isOff = app.conditions.contains(.shutDown)
        // Asked only then: in each record it would say that a phone is on whose apps run.
        if isOff { self[.phoneIsOn] = .fail }
        self[.unlockedSinceBoot] =
            isOff || !constants.profile.firstUnlockGates || app.firstUnlockLifted
            ? .notApplicable : passes(app.unlockedSinceBoot || !app.passcode, where: dead)
        self[.runsInBackground] = passes(!app.exitsOnSuspend, where: dead || app.state == .suspended)
    }
}

/// The verdict when nothing stands in the way.
enum Acceptance {
    /// The one that follows from the state of the app alone, with the rule that gives it.
    static func usual(in state: AppState, launching: Bool) -> (Verdict, Reason) {
        switch state {
        case .active, .inactive: (.foregroundDeliver, launching ? .launching : .inForeground)
        case .background: (.backgroundDeliver, launching ? .launching : .alreadyRunning)
        case .suspended: (.resume, .resumed)
        case .notRunning: (.relaunch, .relaunched)
        }
    }
}
