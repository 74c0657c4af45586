import WakeModel

/// What the rules of Core Bluetooth's central role look at: the app, the phone and one registration.
struct CentralQuestion {
    var kind: EventKind
    var state: AppState
    var scanNamesServices: Bool
    var firstSighting: Bool
    /// The process that asked for this answer is still the one that runs.
    var wanted: Bool
    /// The app was force-quit, and is relaunched for it all the same (BTC-8).
    var liftsForceQuit: Bool
}

/// The checks of BLE central events, in the order of the rulebook.
enum BluetoothRules {
    /// Evaluates every check; none is left out because an earlier one failed. What is observed of the app is only read: handed
    /// over in another way it would be copied.
    ///
    /// What holds passes. What does not hold fails where it stands in the way of the app in its state, and is not
    /// applicable elsewhere.
    static func evaluate(_ question: CentralQuestion, of app: inout AppSnapshot, by constants: Constants)
        -> CheckResults
    {
        let dead = question.state == .notRunning
        let asleep = dead || question.state == .suspended
        let foreground = question.state == .active || question.state == .inactive
        let discovery = question.kind == .peripheralDiscovered
        let restorable = constants.profile.areas.bluetooth.restoration && app.restoreIdentifier != .none
        var results = common(of: &app, by: constants)
        let hasMode = app.modes.contains(.bluetoothCentral)
        results[.modePresent] = discovery ? .notApplicable : passes(hasMode, where: asleep)
        results[.scanHasMode] = !discovery ? .notApplicable : passes(hasMode, where: !foreground)
        results[.scanNamesServices] =
            !discovery ? .notApplicable : passes(question.scanNamesServices, where: !foreground)
        results[.notDuplicate] = !discovery ? .notApplicable : passes(question.firstSighting, where: true)
        switch question.kind {
        case .readyToWrite: results[.readinessWakes] = passes(!asleep, where: true)
        case .channelDataAvailable:
            results[.channelWakes] = passes(!asleep || constants.profile.areas.bluetooth.channelDataWakes, where: true)
        default: break
        }
        results[.restoreIdentifier] = passes(restorable, where: dead)
        results[.bluetoothOn] = passes(app.bluetoothOn || question.kind == .bluetoothPoweredOff, where: true)
        results[.deliveryWanted] = passes(question.wanted, where: true)
        return results
    }

    /// The checks that Bluetooth's two roles share.
    @inline(__always)
    static func common(of app: inout AppSnapshot, by constants: Constants) -> CheckResults {
        let outlives =
            (!app.rebootedSince || constants.profile.areas.bluetooth.relaunchesAfterReboot)
            && (!app.bluetoothOffSince || app.bluetoothOffLifted) && !app.endedByReboot
        var results = CheckResults(ofLaunching: app, by: constants)
        results[.exitAllowsRelaunch] =
            app.state != .notRunning ? .notApplicable : passes(outlives, where: true)
        results[.bluetoothAuthorized] = passes(app.bluetoothAllowed, where: true)
        return results
    }

    /// The verdict and reason of the decisive check.
    static func refusal(_ decisive: Check, in results: CheckResults, state: AppState) -> (Verdict, Reason) {
        switch decisive {
        case .modePresent: (waits(results, but: .modePresent, state: state) ? .defer : .deny, .modeMissing)
        case .readinessWakes: (waits(results, but: decisive, state: state) ? .defer : .drop, .readinessWakesNobody)
        case .channelWakes: (waits(results, but: decisive, state: state) ? .defer : .drop, .channelWakesNobody)
        case .scanHasMode: (.deny, .scanNeedsMode)
        case .scanNamesServices: (.deny, .scanWithoutServices)
        case .notDuplicate: (.coalesce, .duplicateDiscovery)
        case .restoreIdentifier: (.deny, .noRestoreIdentifier)
        case .exitAllowsRelaunch: (.deny, .notRelaunchedAfterExit)
        case .bluetoothOn: (.drop, .bluetoothOff)
        case .bluetoothAuthorized: (.deny, .bluetoothNotAuthorized)
        default: preconditionFailure("\(decisive) never fails for one app's Bluetooth")
        }
    }

    /// An event waits for a suspended app when nothing but one check stands in its way (BTC-2, BTC-12, BTC-13); that it does not wake
    /// stands beside a missing mode.
    private static func waits(_ results: CheckResults, but check: Check, state: AppState) -> Bool {
        var others = results
        for check in [check, .readinessWakes, .channelWakes] where others[check] == .fail { others[check] = .pass }
        return state == .suspended && others.decisive == nil
    }
}
