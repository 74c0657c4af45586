import WakeBlueZ
import WakeDevices
import WakeModel

/// What apps offer through BlueZ: which number of the server's means what in which app, and which updates wait.
///
/// It is told what happens, and asks bluetoothd nothing; ``BlueZPeripheralRole`` does.
struct BlueZOffers {
    /// A service in bluetoothd's table, and how its numbers there are called in its app.
    struct Service {
        var client: BluetoothClient
        var service: LocalService
        /// The server's number.
        var number: UInt32
        /// The server's numbers of its characteristics, in order.
        var characteristics: [UInt32]
        var isAsking: Bool
    }

    /// An update that waits for room.
    struct Update {
        var client: BluetoothClient
        /// The server's number.
        var characteristic: UInt32
        var value: [UInt8]
    }

    /// In order of publication.
    private(set) var services: [Service] = []
    /// Oldest first.
    private(set) var updates: [Update] = []
    var clients = PeripheralClients()
    private var lastNumber: UInt32 = 0

    // MARK: Services

    mutating func publish(_ service: LocalService, for client: BluetoothClient, isAsking: Bool) -> Service {
        func mint() -> UInt32 {
            lastNumber &+= 1
            return lastNumber
        }
        let number = mint()
        let characteristics = service.characteristics.map { _ in mint() }
        services.append(
            Service(
                client: client,
                service: service,
                number: number,
                characteristics: characteristics,
                isAsking: isAsking
            )
        )
        return services[services.count - 1]
    }

    /// bluetoothd has taken a service into its table, or refused it.
    ///
    /// - Returns: the service as it was before.
    mutating func answered(_ number: UInt32, refused: Bool) -> Service? {
        guard let index = services.firstIndex(where: { $0.number == number }) else { return nil }
        defer { if refused { services.remove(at: index) } else { services[index].isAsking = false } }
        return services[index]
    }

    /// Takes services out, and the updates of their characteristics.
    mutating func withdraw(where gone: (Service) -> Bool) -> [Service] {
        let withdrawn = services.filter(gone)
        services.removeAll(where: gone)
        for number in withdrawn.flatMap(\.characteristics) { dropUpdates(of: number) }
        return withdrawn
    }

    /// The service and the characteristic that a number of the server means.
    func member(_ number: UInt32) -> (Service, LocalCharacteristic)? {
        for entry in services {
            if let index = entry.characteristics.firstIndex(of: number) {
                return (entry, entry.service.characteristics[index])
            }
        }
        return nil
    }

    /// The server's number of a characteristic of an app; nil when it publishes none such.
    func number(of characteristic: UInt32, _ client: BluetoothClient) -> UInt32? {
        for entry in services where entry.client == client {
            if let index = entry.service.characteristics.firstIndex(where: { $0.number == characteristic }) {
                return entry.characteristics[index]
            }
        }
        return nil
    }

    // MARK: Updates

    /// How many updates of a client wait.
    func waiting(of client: BluetoothClient) -> Int { updates.count { $0.client == client } }

    /// Takes an update in, for which there was room.
    mutating func update(_ number: UInt32, of client: BluetoothClient, _ value: [UInt8]) {
        clients.tookRoom(client, beside: waiting(of: client))
        updates.append(Update(client: client, characteristic: number, value: value))
    }

    /// The first update is out.
    mutating func sentFirst() { updates.removeFirst() }

    mutating func dropUpdates(of number: UInt32) { updates.removeAll { $0.characteristic == number } }

    /// The clients that have room again and waited for it, in order.
    mutating func takeReady() -> [BluetoothClient] {
        clients.takeReady { [updates] client in updates.count { $0.client == client } }
    }
}

extension BlueZLocalService {
    /// A service in BlueZ's words.
    init(_ offered: BlueZOffers.Service) {
        let characteristics = zip(offered.service.characteristics, offered.characteristics).map { own, number in
            Characteristic(
                number: number,
                uuid: BluetoothUUID.blueZ(own.uuid),
                flags: own.blueZFlags,
                value: own.isReadable ? own.value : nil,
                descriptors: own.descriptors.filter { $0.uuid != "2902" && $0.uuid != "2900" }
                    .map { Descriptor(uuid: BluetoothUUID.blueZ($0.uuid), value: $0.value) }
            )
        }
        self.init(
            number: offered.number,
            uuid: BluetoothUUID.blueZ(offered.service.uuid),
            primary: offered.service.primary,
            characteristics: characteristics
        )
    }
}

extension BlueZLocalAdvertisement {
    init(_ phone: PhoneAdvertisement) {
        self.init(
            localName: phone.localName,
            services: phone.services.map(BluetoothUUID.blueZ),
            manufacturerData: phone.overflow.isEmpty
                ? nil : .init(company: OverflowArea.company, data: [OverflowArea.type] + phone.overflow.bytes)
        )
    }
}

extension BluetoothUUID {
    /// In BlueZ's spelling: 36 characters in small letters.
    static func blueZ(_ uuid: String) -> String { long(uuid).lowercased() }
}

extension LocalCharacteristic {
    /// Its properties and permissions in BlueZ's words.
    fileprivate var blueZFlags: [String] {
        var flags = CharacteristicProperties.words.filter { self.flags.contains($0.property) }.map(\.word)
        if flags.contains("read"), permissions & 4 != 0 { flags.append("encrypt-read") }
        if permissions & 8 != 0, flags.contains(where: { $0.hasPrefix("write") }) { flags.append("encrypt-write") }
        return flags
    }
}
