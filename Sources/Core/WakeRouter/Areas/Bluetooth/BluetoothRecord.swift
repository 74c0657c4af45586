import WakeModel

/// What the system keeps of one app's Core Bluetooth.
///
/// The slot of an interest is the place of a manager in ``managers``.
struct BluetoothRecord: Equatable, Codable {
    /// A central or peripheral manager, alive or preserved (BTC-6, BTP-4).
    struct Manager: Equatable, Codable {
        var inUse = false
        /// The process has created it; false while preserved for a relaunch.
        var attached = false
        var number: ManagerNumber = 0
        var restoreIdentifier: NameID = .none
        var createdAt: Instant = .zero
        var scan: Scan?
        /// The peripherals with a ``Link``, in order of connection.
        var peripherals: [NameID] = []
        /// What it holds in the peripheral role; nil for a central manager.
        var local: LocalPeripheral?
        var watch: ConnectionWatch?

        /// Whether it is a peripheral manager. Comparing ``local`` with nil would copy it.
        var isPeripheralManager: Bool {
            switch local {
            case .some: true
            case .none: false
            }
        }

        /// Whether the system keeps what the manager holds: its process lives, or it is preserved (BTC-6).
        func isKept(_ constants: Constants) -> Bool {
            inUse && (attached || constants.profile.areas.bluetooth.restoration && restoreIdentifier != .none)
        }
    }

    /// The links that a manager wants to hear of, whoever holds them.
    struct ConnectionWatch: Equatable, Codable {
        var peripherals: [NameID]
        var services: [NameID]
        var since: Instant
    }

    /// A running scan.
    struct Scan: Equatable, Codable {
        var services: [NameID]
        var allowDuplicates: Bool
        var since: Instant
        /// The peripherals reported since the scan began (BTC-4).
        var seen: Set<NameID> = []
        /// A sighting was denied; the radio must look afresh when the app may hear of it.
        var missed = false
    }

    var managers: [Manager] = []
    /// The app declares that accessories may be set up for it (BTC-8).
    var mayBeSetUp = false
    /// The peripherals that the user has set up for it, ascending (BTC-8).
    var accessoriesSetUp: [NameID] = []
    /// When the first central that waits for an answer waits no more; nil when none does.
    var requestDeadline: Instant?

    /// The index of a live manager of the present process.
    func slot(of number: ManagerNumber) -> Int? {
        managers.firstIndex { $0.attached && $0.number == number }
    }

    /// The earliest deadline of the open requests.
    var firstRequestDeadline: Instant? { managers.compactMap { $0.local?.requests.first?.deadline }.min() }
}
