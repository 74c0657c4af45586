import WakeModel

/// What the rules of the peripheral role look at: the app, the phone and one manager.
struct PeripheralQuestion {
    var kind: EventKind
    var state: AppState
    /// The process that asked for this answer is still the one that runs.
    var wanted: Bool
}

/// The checks of events of the peripheral role, in the order of the rulebook.
enum PeripheralRules {
    /// How long a central waits for the answer to a read or a write (Bluetooth Core Specification, Vol 3 Part F, 3.3.3).
    static let transactionTime = Instant.Span.seconds(30)

    /// Whether a central asks for something: such an event wakes the app, any other waits until it runs (BTP-1).
    static func isRequest(_ kind: EventKind) -> Bool {
        switch kind {
        case .readRequested, .writeRequested, .centralSubscribed, .centralUnsubscribed, .channelOpened,
            .channelDataAvailable:
            true
        default: false
        }
    }

    /// Evaluates every check; none is left out because an earlier one failed. What is observed of the app is only read: handed
    /// over in another way it would be copied.
    static func evaluate(_ question: PeripheralQuestion, of app: inout AppSnapshot, by constants: Constants)
        -> CheckResults
    {
        let dead = question.state == .notRunning
        let asleep = dead || question.state == .suspended
        let hasMode = app.modes.contains(.bluetoothPeripheral)
        let restorable = constants.profile.areas.bluetooth.restoration && app.restoreIdentifier != .none
        let endsLink = question.kind == .bluetoothPoweredOff || question.kind == .centralUnsubscribed
        var results = BluetoothRules.common(of: &app, by: constants)
        // A running app is told of all but what a central wants of services that are off (BTP-3).
        let foreground = question.state == .active || question.state == .inactive
        let isServed = foreground || !wantsAnswer(question.kind)
        results[.modePresent] = passes(hasMode, where: asleep || !isServed)
        results[.bluetoothOn] = passes(app.bluetoothOn || endsLink, where: true)
        results[.requestOfCentral] = passes(isRequest(question.kind), where: asleep)
        results[.peripheralPreserved] = passes(restorable, where: dead)
        results[.deliveryWanted] = passes(question.wanted, where: true)
        return results
    }

    /// The verdict and reason of the decisive check.
    static func refusal(_ decisive: Check, in results: CheckResults, of kind: EventKind, state: AppState)
        -> (Verdict, Reason)
    {
        let later: Verdict = waits(kind, results, state: state) ? .defer : .deny
        return switch decisive {
        case .modePresent: (later, .modeMissing)
        case .requestOfCentral: (later, .notARequest)
        case .peripheralPreserved: (.deny, .notPreserved)
        default: BluetoothRules.refusal(decisive, in: results, state: state)
        }
    }

    /// An event waits for a suspended app when only the mode is missing or it is no request; a central does not wait for
    /// its answer until then (BTP-3).
    private static func waits(_ kind: EventKind, _ results: CheckResults, state: AppState) -> Bool {
        var others = results
        others[.modePresent] = .pass
        others[.requestOfCentral] = .pass
        return state == .suspended && !wantsAnswer(kind) && others.decisive == nil
    }

    /// Whether a central waits for the app's answer.
    private static func wantsAnswer(_ kind: EventKind) -> Bool { kind == .readRequested || kind == .writeRequested }
}
