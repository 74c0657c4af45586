import WakeModel
import WakePorts

/// What each client has found of the attributes of a peripheral over the link that is up: what restoration gives back, and no more
/// (BTC-6).
struct FoundAttributes: Codable {
    private struct Entry: Codable {
        var client: BluetoothClient
        var known: KnownPeripheral
    }

    private var entries: [Entry] = []

    /// Keeps what an answer to a client shows; any other payload is nothing to it.
    mutating func add(_ payload: EventPayload, of client: BluetoothClient) {
        switch payload {
        case .services(let found) where !found.isEmpty: change(client) { $0.add(found) }
        case .characteristics(let found) where !found.isEmpty: change(client) { $0.add(found) }
        default: break
        }
    }

    private mutating func change(_ client: BluetoothClient, _ body: (inout KnownPeripheral) -> Void) {
        var known = known(named: nil, by: client)
        body(&known)
        remove(client)
        entries.append(Entry(client: client, known: known))
    }

    /// What a client has found of a peripheral of this name.
    func known(named name: String?, by client: BluetoothClient) -> KnownPeripheral {
        var known = entries.first { $0.client == client }?.known ?? KnownPeripheral()
        known.name = name
        return known
    }

    /// Attributes are void, for whoever found them.
    mutating func remove(_ void: ClosedRange<AttributeHandle>) {
        for place in entries.indices { entries[place].known.remove(void) }
    }

    /// A client has let go.
    mutating func remove(_ client: BluetoothClient) { entries.removeAll { $0.client == client } }

    /// The link is over.
    mutating func removeAll() { entries.removeAll() }
}

extension KnownPeripheral {
    mutating func add(_ found: [GATTService]) {
        services.removeAll { old in found.contains { $0.handle == old.handle } }
        services = (services + found).sorted { $0.handle < $1.handle }
    }

    mutating func add(_ found: [GATTCharacteristic]) {
        characteristics.removeAll { old in found.contains { $0.handle == old.handle } }
        characteristics = (characteristics + found).sorted { $0.handle < $1.handle }
    }

    mutating func remove(_ void: ClosedRange<AttributeHandle>) {
        services.removeAll { void.contains($0.handle) }
        characteristics.removeAll { void.contains($0.handle) }
    }
}
