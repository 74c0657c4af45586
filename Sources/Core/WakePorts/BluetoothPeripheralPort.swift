import WakeModel

/// Where the BLE peripheral role happens: the simulated radio and BlueZ stand behind it alike.
///
/// Everything happens on the bench's one thread. The events that it reports are addressed to a client. Reads of a
/// characteristic with a fixed value, and of descriptors, are answered here without asking the app; every other read or
/// write becomes one report with a request number of its own, and the central waits until that number is answered.
///
/// The backends are `simulated` and `bluez`; an adapter that is missing cannot start, and on one that cannot be a peripheral what is
/// published or advertised is refused. Its services go and its advertising stops with it.
package protocol BluetoothPeripheralPort: SourcePort {
    /// Carries out a command of the router.
    func perform(_ command: PeripheralRoleCommand, at now: Instant)

    /// The adapter went on or off, as the central end reports it. When it goes off, advertising pauses, requests end
    /// unanswered, and each subscription ends with a `centralUnsubscribed`. When it is on, the router publishes and
    /// advertises again.
    func setPower(_ on: Bool, at now: Instant)

    /// How many bytes an update to a central may have; the least of the specification, 20, when the central is unknown.
    func maximumUpdateLength(of central: NameID) -> UInt16

    /// Why no app can be a peripheral here, in words; nil where they can. What they ask for all the same is refused.
    var inability: String? { get }

    /// How many further updates of a client find room in its queue now.
    func updateRoom(of client: BluetoothClient) -> Int
}

extension BluetoothPeripheralPort {
    package var inability: String? { nil }

    package func takes(_ command: SourceCommand) -> Bool {
        if case .peripheralRole = command { true } else { false }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        if case .peripheralRole(let command) = command { perform(command, at: now) }
    }

    package var heardKinds: [EventKind] { [.bluetoothPoweredOn, .bluetoothPoweredOff] }
    package func hear(_ event: WakeEvent, _ payload: EventPayload, at now: Instant) {
        setPower(event.kind == .bluetoothPoweredOn, at: now)
    }
}
