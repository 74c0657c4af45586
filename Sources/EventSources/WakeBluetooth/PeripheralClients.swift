import WakeModel

/// What apps want of the phone as a peripheral beside their services, the same for both ends.
struct PeripheralClients: Codable {
    /// What a client advertises.
    private struct Advertiser: Codable {
        var client: BluetoothClient
        var wish: PhoneAdvertisement.Wish
        /// It wants to hear what becomes of it.
        var isAsking: Bool
    }

    /// In the order in which they began.
    private var advertisers: [Advertiser] = []
    /// Clients whose fixed values are not given out.
    private(set) var notServing: Set<BluetoothClient> = []
    /// Clients whose queue was full.
    private var waitingForRoom: Set<BluetoothClient> = []

    /// What they say on the air together; nil when nobody wishes anything.
    var advertisement: PhoneAdvertisement? { PhoneAdvertisement(advertisers.map(\.wish)) }

    /// A client advertises something, in place of what it did before; the services by their canonical UUIDs.
    ///
    /// - Parameter again: it did so before the adapter was off, and nobody asks.
    /// - Returns: false when it asks while it advertises already.
    mutating func advertise(
        _ client: BluetoothClient,
        _ localName: String?,
        services: [String],
        overflow: [String],
        again: Bool
    ) -> Bool {
        guard again || !advertisers.contains(where: { $0.client == client }) else { return false }
        stopAdvertising(client)
        let wish = PhoneAdvertisement.Wish(localName: localName, services: services, overflow: overflow)
        advertisers.append(Advertiser(client: client, wish: wish, isAsking: !again))
        return true
    }

    mutating func stopAdvertising(_ client: BluetoothClient) { advertisers.removeAll { $0.client == client } }

    /// The clients that hear what became of their advertising: those who asked, and all when it ended.
    mutating func takeAsking(failed: Bool) -> [BluetoothClient] {
        let told = advertisers.filter { $0.isAsking || failed }.map(\.client)
        for index in advertisers.indices { advertisers[index].isAsking = false }
        return told
    }

    mutating func setServing(_ client: BluetoothClient, _ serves: Bool) {
        if serves { notServing.remove(client) } else { notServing.insert(client) }
    }

    /// Whether a client has room for another update beside those that wait; one that has none hears when it has.
    mutating func hasRoom(_ client: BluetoothClient, beside waiting: Int) -> Bool {
        if waiting < PeripheralRole.updateQueueLength { return true }
        waitingForRoom.insert(client)
        return false
    }

    /// An update took its place beside those that wait.
    mutating func tookRoom(_ client: BluetoothClient, beside waiting: Int) {
        if waiting + 1 == PeripheralRole.updateQueueLength { waitingForRoom.insert(client) }
    }

    /// The clients that are to go on, in order, by how many updates of each wait still.
    mutating func takeReady(_ waiting: (BluetoothClient) -> Int) -> [BluetoothClient] {
        let ready = waitingForRoom.filter { waiting($0) <= PeripheralRole.updateQueueRefill }
        waitingForRoom.subtract(ready)
        return ready.sorted()
    }

    /// A client wants nothing any more.
    mutating func release(_ client: BluetoothClient) {
        stopAdvertising(client)
        waitingForRoom.remove(client)
        notServing.remove(client)
    }
}
