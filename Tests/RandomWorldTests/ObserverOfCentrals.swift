import WakeModel

/// What the observer knows of centrals that wait for an answer, and of the windows of the peripheral role.
struct CentralsObserver {
    /// How long a central waits: the transaction time of the attribute protocol.
    private static let patience = Instant.Span.seconds(30)

    /// Until when each open request is to be answered.
    private var open: [UInt32: Instant] = [:]
    private(set) var violation: String?

    mutating func willHear(_ input: Input, at now: Instant) {
        switch input {
        case .event(let event), .overflowed(let event):
            if event.kind == .bluetoothPoweredOff { open.removeAll() }
            if event.request != 0, event.kind.source == .bluetooth {
                open[event.request] = now.advanced(by: Self.patience)
            }
        default: break
        }
    }

    mutating func observe(_ command: PeripheralRoleCommand) {
        guard case .respond(_, let request, _, _) = command else { return }
        if open.removeValue(forKey: request) == nil {
            violation = "BTP-1: request \(request) is answered, and no central waits for it"
        }
    }

    /// After the turn: no central waits longer than it may.
    mutating func checkAtRest(at now: Instant) {
        if let late = open.filter({ $0.value <= now }).keys.min() {
            violation = "BTP-1: the central of request \(late) waits for ever"
        }
    }

    /// Whether an event that an app hears of in the background lets it run for a window.
    static func opensWindow(_ decision: Decision, of app: Observer.App) -> Bool {
        switch decision.kind {
        case .readRequested, .writeRequested, .centralSubscribed, .centralUnsubscribed: app.hasPeripheralMode
        case .channelOpened, .channelDataAvailable:
            decision.snapshot.via == .publishedService ? app.hasPeripheralMode : app.hasBluetoothMode
        case .serviceAdded, .advertisingStarted, .readyToUpdate, .channelPublished, .channelUnpublished: false
        case .bluetoothPoweredOn, .bluetoothPoweredOff:
            app.hasBluetoothMode
                && app.managers.contains { $0 < RandomWorld.peripheralManagers[0] }
        default: app.hasBluetoothMode
        }
    }
}
