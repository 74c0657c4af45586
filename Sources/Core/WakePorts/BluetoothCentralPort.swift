import WakeModel

/// Where BLE central events come from: the simulated radio and BlueZ stand behind it alike.
///
/// Everything happens on the bench's one thread. Commands are answered by reports, in the order in which they happened,
/// never from inside ``perform(_:at:)`` of a real adapter and possibly so of the simulated one.
///
/// The backends are `simulated` and `bluez`; an adapter that is missing or off cannot start, and one that goes later is
/// reported as a power event.
package protocol BluetoothCentralPort: SourcePort {
    /// Whether the adapter is on.
    var poweredOn: Bool { get }

    /// Carries out a command of the router.
    func perform(_ command: BluetoothCommand, at now: Instant)

    /// Turns the adapter on or off, as a scenario step (BTC-10).
    func setPower(_ on: Bool, at now: Instant)

    /// What is known of a peripheral, for retrievePeripherals: nil when it was never seen.
    func knownPeripheral(_ name: NameID) -> KnownPeripheral?

    /// The same with the services and characteristics that one client has found over the link that is up, and no others: what
    /// restoration gives back (BTC-6).
    func knownPeripheral(_ name: NameID, of client: BluetoothClient) -> KnownPeripheral?

    /// The peripherals with a link up that have at least one of the services, in order of connection.
    func connectedPeripherals(services: [NameID]) -> [NameID]

    /// How many more write commands of a client the queue to a peripheral takes; 0 without a connection. Who fills it hears
    /// ``EventKind/readyToWrite`` once when there is room again, and who writes on meanwhile loses what is written.
    func writeRoom(of client: BluetoothClient, to peripheral: NameID) -> Int

    /// The longest value of a write command to a peripheral, in bytes: what its ATT MTU leaves, at most 512, and 20 without a
    /// connection.
    func longestWriteCommand(to peripheral: NameID) -> Int

    /// Gives away the descriptor of a channel that was opened, a non-blocking stream; the caller closes it. Nil when there
    /// is none of the number, or it was taken.
    func takeChannel(_ number: UInt32) -> Int32?

    /// Looks for beacons, in place of those looked for before; an empty list ends it. Each that matches is reported as
    /// ``EventKind/beaconSighted`` with its distance, at most once a second, and with ``EventPayload/beacons(_:)`` as
    /// ranging shows it.
    func watchBeacons(_ beacons: [BeaconIdentity], at now: Instant)
}

extension BluetoothCentralPort {
    package func takeChannel(_ number: UInt32) -> Int32? { nil }
    package func watchBeacons(_ beacons: [BeaconIdentity], at now: Instant) {}

    package func takes(_ command: SourceCommand) -> Bool {
        if case .bluetooth = command { true } else { command.watchedBeacons != nil }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        if case .bluetooth(let command) = command { perform(command, at: now) }
        if let beacons = command.watchedBeacons { watchBeacons(beacons, at: now) }
    }
}

/// What a source remembers of a peripheral.
package struct KnownPeripheral: Hashable, Codable, Sendable {
    /// The advertised name.
    package var name: String?
    package var services: [GATTService]
    package var characteristics: [GATTCharacteristic]

    package init(name: String? = nil, services: [GATTService] = [], characteristics: [GATTCharacteristic] = []) {
        self.name = name
        self.services = services
        self.characteristics = characteristics
    }
}
