import WakeBlueZ
import WakeDevices
import WakeModel

/// A peripheral on the machine's radio, and who wants what of it.
final class BlueZPeripheral {
    /// Who holds a link, or waits for one.
    struct Holder {
        var client: BluetoothClient
        var isConnected: Bool
        var writes = WriteQueue()
    }

    /// An operation that waits until the attribute table is known.
    struct Request {
        var client: BluetoothClient
        var operation: BluetoothOperation
    }

    /// Who is subscribed to a characteristic, and how far the radio is with it.
    struct Subscription {
        enum State { case starting, on, stopping }

        var handle: AttributeHandle
        var clients: [BluetoothClient]
        /// Clients whose request is still to be answered.
        var asking: [BluetoothClient]
        var state: State
    }

    /// A channel that is being opened.
    final class Opening {
        let client: BluetoothClient
        let psm: UInt16
        var attempt: AnyObject?

        init(client: BluetoothClient, psm: UInt16) {
            self.client = client
            self.psm = psm
        }
    }

    var id: BlueZDeviceID
    let name: NameID
    /// What subjects begin with.
    let word: String
    /// The characteristics whose notifications may come through a socket, by canonical UUID.
    var streams: Set<String> = []
    /// What the characteristics of its file ask of the link, by canonical UUID.
    var security: [String: BluetoothPeripheral.Security] = [:]

    /// In order of request.
    var holders: [Holder] = []
    var waiting: [Request] = []
    var subscriptions: [Subscription] = []
    var openings: [Opening] = []
    var found = FoundAttributes()
    var isUp = false
    var isResolved = false
    /// Counts links, so that an answer that belongs to an earlier one is told from the others.
    var link = 0
    var connectedAs: UInt64 = 0
    var wasSeen = false
    var localName: String?

    private(set) var services: [GATTService] = []
    private(set) var characteristics: [GATTCharacteristic] = []
    private(set) var descriptors: [GATTDescriptor] = []

    init(_ id: BlueZDeviceID, _ name: NameID, _ word: String) {
        self.id = id
        self.name = name
        self.word = word
    }

    func holder(_ client: BluetoothClient) -> Int? { holders.firstIndex { $0.client == client } }

    func isConnected(_ client: BluetoothClient) -> Bool {
        isUp && holders.contains { $0.client == client && $0.isConnected }
    }

    func forgetClients() {
        holders.removeAll()
        closeLink()
    }

    /// Clears what belongs to a link.
    func closeLink() {
        link += 1
        isUp = false
        isResolved = false
        waiting.removeAll()
        subscriptions.removeAll()
        openings.removeAll()
        found.removeAll()
    }

    /// Takes over the attribute table. The services that were there before and are not any more, each with the handles that
    /// are void with it, and whether there are others now.
    func take(_ attributes: BlueZAttributes) -> (gone: [ClosedRange<AttributeHandle>], came: Bool) {
        let before = services
        let ends = services.map(lastHandle)
        // Generic Access and Generic Attribute belong to the system; no app of a phone sees them.
        let hidden = Set(
            attributes.services.filter { ["1800", "1801"].contains(Self.canonical($0.uuid)) }.map(\.handle)
        )
        services = attributes.services.filter { !hidden.contains($0.handle) }.map {
            GATTService(uuid: Self.canonical($0.uuid), handle: $0.handle, primary: $0.primary)
        }
        characteristics = attributes.characteristics.filter { !hidden.contains($0.service) }.map {
            GATTCharacteristic(
                uuid: Self.canonical($0.uuid),
                handle: $0.handle,
                properties: Self.properties($0.flags),
                service: $0.service
            )
        }
        descriptors = attributes.descriptors.map {
            GATTDescriptor(uuid: Self.canonical($0.uuid), handle: $0.handle, characteristic: $0.characteristic)
        }
        let gone = zip(before, ends).filter { !services.contains($0.0) }.map { $0.0.handle...max($0.0.handle, $0.1) }
        return (gone, services.contains { !before.contains($0) })
    }

    /// The last known handle of what belongs to a service.
    private func lastHandle(of service: GATTService) -> AttributeHandle {
        let members = characteristics.filter { $0.service == service.handle }.map(\.handle)
        let below = descriptors.filter { members.contains($0.characteristic) }.map(\.handle)
        return (members + below).max() ?? service.handle
    }

    static func canonical(_ uuid: String) -> String { BluetoothUUID.canonical(uuid) ?? uuid.uppercased() }

    /// BlueZ's flags are the words of device files, and some more about permissions.
    private static func properties(_ flags: [String]) -> UInt16 {
        var properties: CharacteristicProperties = []
        for (word, property) in CharacteristicProperties.words where flags.contains(word) {
            properties.insert(property)
        }
        return properties.rawValue
    }

    /// The UUID of an attribute; nil when there is none of the handle.
    func uuid(of handle: AttributeHandle) -> String? {
        services.first { $0.handle == handle }?.uuid ?? characteristics.first { $0.handle == handle }?.uuid
            ?? descriptors.first { $0.handle == handle }?.uuid
    }
}
