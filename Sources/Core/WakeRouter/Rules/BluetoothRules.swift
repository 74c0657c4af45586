import WakeModel

/// What the rules of Core Bluetooth's central role look at: the app, the phone and one registration.
struct BluetoothQuestion {
    var kind: EventKind
    var state: AppState
    var scanNamesServices: Bool
    var firstSighting: Bool
    /// The process that asked for this answer is still the one that runs.
    var wanted: Bool
    /// The phone was restarted since the app last ran.
    var rebootedSince: Bool
}

/// The checks of BLE central events, in the order of the rulebook.
enum BluetoothRules {
    /// Evaluates every check; none is left out because an earlier one failed.
    static func evaluate(_ question: BluetoothQuestion, of app: AppSnapshot, by profile: borrowing Profile)
        -> CheckResults
    {
        let dead = question.state == .notRunning
        let asleep = dead || question.state == .suspended
        let foreground = question.state == .active || question.state == .inactive
        let discovery = question.kind == .peripheralDiscovered
        var results = CheckResults()

        results[.terminatedBySystem] = !dead || app.forceQuit ? .notApplicable : .pass
        results[.notForceQuit] = !dead || !profile.forceQuitBars ? .notApplicable : app.forceQuit ? .fail : .pass
        results[.unlockedSinceBoot] =
            !dead || !profile.firstUnlockGates
            ? .notApplicable : app.unlockedSinceBoot || !app.passcode ? .pass : .fail
        results[.registered] = .pass
        results[.modePresent] =
            app.modes.contains(.bluetoothCentral) ? .pass : asleep ? .fail : .notApplicable
        results[.budgetLeft] = foreground ? .notApplicable : .pass
        results[.scanNamesServices] =
            !discovery || foreground ? .notApplicable : question.scanNamesServices ? .pass : .fail
        results[.notDuplicate] = !discovery ? .notApplicable : question.firstSighting ? .pass : .fail
        results[.restoreIdentifier] =
            !dead ? .notApplicable : profile.restoration && app.restoreIdentifier != .none ? .pass : .fail
        results[.exitAllowsRelaunch] =
            !dead || app.forceQuit
            ? .notApplicable
            : question.rebootedSince && !profile.bluetoothRelaunchesAfterReboot ? .fail : .pass
        results[.bluetoothOn] = app.bluetoothOn || question.kind == .bluetoothPoweredOff ? .pass : .fail
        results[.deliveryWanted] = question.wanted ? .pass : .fail
        results[.runsInBackground] = !asleep ? .notApplicable : app.exitsOnSuspend ? .fail : .pass
        return results
    }

    /// The verdict and reason of the decisive check.
    static func refusal(_ decisive: Check, in results: CheckResults, state: AppState) -> (Verdict, Reason) {
        switch decisive {
        case .terminatedBySystem, .budgetLeft, .registered:
            preconditionFailure("\(decisive) never fails for one app")
        case .notForceQuit: (.deny, .forceQuit)
        case .unlockedSinceBoot: (.deny, .beforeFirstUnlock)
        case .modePresent: (waitsForMode(results, state: state) ? .defer : .deny, .modeMissing)
        case .scanNamesServices: (.deny, .scanWithoutServices)
        case .notDuplicate: (.coalesce, .duplicateDiscovery)
        case .restoreIdentifier: (.deny, .noRestoreIdentifier)
        case .exitAllowsRelaunch: (.deny, .notRelaunchedAfterExit)
        case .bluetoothOn: (.drop, .bluetoothOff)
        case .deliveryWanted: (.drop, .registrationEnded)
        case .runsInBackground: (.deny, .exitsOnSuspend)
        }
    }

    /// An event waits for a suspended app when nothing but the missing mode stands in its way (BTC-2).
    private static func waitsForMode(_ results: CheckResults, state: AppState) -> Bool {
        var others = results
        others[.modePresent] = .pass
        return state == .suspended && others.decisive == nil
    }

    /// The verdict when nothing stands in the way, with the rule that gives it.
    static func acceptance(in state: AppState, launching: Bool) -> (Verdict, Reason) {
        switch state {
        case .active, .inactive: (.foregroundDeliver, launching ? .launching : .inForeground)
        case .background: (.backgroundDeliver, launching ? .launching : .alreadyRunning)
        case .suspended: (.resume, .resumed)
        case .notRunning: (.relaunch, .relaunched)
        }
    }
}
