import WakeModel

/// An event as a source hands it in: the fact, and what the app is to read.
package struct SourceReport: Hashable, Sendable {
    package var event: WakeEvent
    package var payload: EventPayload

    package init(_ event: WakeEvent, _ payload: EventPayload = .none) {
        self.event = event
        self.payload = payload
    }
}

/// Where BLE central events come from: the simulated radio and BlueZ stand behind it alike.
///
/// Everything happens on the bench's one thread. Commands are answered by reports, in the order in which they happened,
/// never from inside ``perform(_:at:)`` of a real adapter and possibly so of the simulated one.
package protocol BluetoothCentralPort: AnyObject {
    /// The backend's word: `simulated`, `bluez`.
    var backend: String { get }

    /// Where reports go. Set before ``start(at:)``.
    var report: ((SourceReport) -> Void)? { get set }

    /// Whether the adapter is on.
    var poweredOn: Bool { get }

    /// Begins. A real adapter that is missing or off says so by throwing; one that goes later reports power events.
    func start(at now: Instant) throws(SourceFailure)

    /// Carries out a command of the router.
    func perform(_ command: BluetoothCommand, at now: Instant)

    /// Turns the adapter on or off, as a scenario step (BTC-10).
    func setPower(_ on: Bool, at now: Instant)

    /// Arms a fault of a device file, or changes what the device does. Throws when the device or fault is unknown, or
    /// when the backend cannot do it.
    func arm(fault: String, device: String, at now: Instant) throws(SourceFailure)

    /// The next instant at which the source has something to do of its own; nil when only the outside can tell.
    var nextDeadline: Instant? { get }

    /// Time has come to `now`. Harmless when nothing is due.
    func timeReached(_ now: Instant)

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

    /// Ends: links are closed and nothing is reported any more.
    func stop()
}

extension BluetoothCentralPort {
    package func takeChannel(_ number: UInt32) -> Int32? { nil }
    package func lookAtChannels(at now: Instant) {}
    package func watchBeacons(_ beacons: [BeaconIdentity], at now: Instant) {}
    package func phoneMoved(latitude: Double, longitude: Double, at now: Instant) {}
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

/// A source cannot work or cannot do what was asked.
package struct SourceFailure: Error, Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// A service, device or permission is missing: exit code 12.
        case environment
        /// The scenario names something that is not there: exit code 11.
        case unknown
        /// The backend cannot do that: exit code 2.
        case unsupported
    }

    package var kind: Kind
    /// One line that names the thing and the remedy.
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
