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

    /// Where a line for people goes when the air brings more names than are kept, once.
    var note: ((String) -> Void)? { get set }

    /// How often something from the air had to be left unheard, or without a name of its own, since then.
    var unnamed: UInt64 { get }

    /// Carries out a command of the router.
    func perform(_ command: BluetoothCommand, at now: Instant)

    /// Turns the adapter on or off, as a scenario step (BTC-10).
    func setPower(_ on: Bool, at now: Instant)

    /// What is known of a peripheral, for retrievePeripherals and for restoration: nil when it was never seen.
    func knownPeripheral(_ name: NameID) -> KnownPeripheral?

    /// The peripherals with a link up that have at least one of the services, in order of connection.
    func connectedPeripherals(services: [NameID]) -> [NameID]

    /// Gives away the descriptor of a channel that was opened, a non-blocking stream; the caller closes it. Nil when there
    /// is none of the number, or it was taken.
    func takeChannel(_ number: UInt32) -> Int32?

    /// Looks for beacons, in place of those looked for before; an empty list ends it. Each that matches is reported as
    /// ``EventKind/beaconSighted`` with its distance, at most once a second, and with ``EventPayload/beacons(_:)`` as
    /// ranging shows it.
    func watchBeacons(_ beacons: [BeaconIdentity], at now: Instant)

    /// The phone is somewhere else, in degrees; what stands on the globe is nearer or farther.
    func phoneMoved(latitude: Double, longitude: Double, at now: Instant)

    /// Looks at the open channels; to be called in each turn. Harmless when there are none.
    func lookAtChannels(at now: Instant)
}

extension BluetoothCentralPort {
    /// A radio that hears nobody but the scenario's devices has nothing to say.
    package var note: ((String) -> Void)? {
        get { nil }
        set {}
    }
    package var unnamed: UInt64 { 0 }
    package func takeChannel(_ number: UInt32) -> Int32? { nil }
    package func lookAtChannels(at now: Instant) {}
    package func watchBeacons(_ beacons: [BeaconIdentity], at now: Instant) {}
    package func phoneMoved(latitude: Double, longitude: Double, at now: Instant) {}

    package func takes(_ command: SourceCommand) -> Bool {
        switch command {
        case .bluetooth, .location(.watchBeacons): true
        default: false
        }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        switch command {
        case .bluetooth(let command): perform(command, at: now)
        case .location(.watchBeacons(let beacons)): watchBeacons(beacons, at: now)
        default: break
        }
    }

    package var heardKinds: [EventKind] { [.positionFixed] }
    package func hear(_ event: WakeEvent, _ payload: EventPayload, at now: Instant) {
        guard case .position(let position) = payload else { return }
        phoneMoved(latitude: position.latitude, longitude: position.longitude, at: now)
    }
    package func look(at now: Instant) { lookAtChannels(at: now) }
}

/// What a source remembers of a peripheral.
package struct KnownPeripheral: Hashable, Sendable {
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
