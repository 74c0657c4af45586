import WakeModel

/// Who wants to hear of links, whoever holds them.
struct ConnectionWatches: Codable {
    private struct Watch: Codable {
        var client: BluetoothClient
        var peripherals: [NameID]
        var services: [NameID]
    }

    /// In order of client.
    private var watches: [Watch] = []

    /// Replaces what a client asked before; two empty lists end it.
    mutating func set(_ client: BluetoothClient, peripherals: [NameID], services: [NameID]) {
        remove(client)
        guard !peripherals.isEmpty || !services.isEmpty else { return }
        let watch = Watch(client: client, peripherals: peripherals, services: services)
        watches.insert(watch, at: watches.firstIndex { $0.client > client } ?? watches.endIndex)
    }

    mutating func remove(_ client: BluetoothClient) { watches.removeAll { $0.client == client } }

    mutating func removeAll() { watches.removeAll() }

    /// The clients that hear of a link to a peripheral with these services.
    func clients(watching peripheral: NameID, services: [NameID]) -> [BluetoothClient] {
        watches.filter { watch in
            watch.peripherals.contains(peripheral) || watch.services.contains { services.contains($0) }
        }.map(\.client)
    }
}
