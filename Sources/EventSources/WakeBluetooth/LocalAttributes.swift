import WakeDevices
import WakeModel

/// The attribute table that apps publish together: services in order of publication.
struct LocalAttributes: Codable {
    /// A service, and whose it is.
    struct Published: Codable {
        var client: BluetoothClient
        var service: LocalService
    }

    /// A characteristic, and whose it is.
    struct Member: Hashable {
        var client: BluetoothClient
        var characteristic: LocalCharacteristic
    }

    private(set) var published: [Published] = []

    /// Puts a service in, in place of one of the same number of the same client.
    ///
    /// - Returns: the characteristics that went.
    mutating func publish(_ service: LocalService, for client: BluetoothClient) -> [Member] {
        let place = published.firstIndex { $0.client == client && $0.service.number == service.number }
        guard let place else {
            published.append(Published(client: client, service: service))
            return []
        }
        let before = published[place]
        if before.service == service { return [] }
        published[place].service = service
        return Self.members(before)
    }

    /// Takes out what `gone` says.
    ///
    /// - Returns: the characteristics that went.
    mutating func remove(where gone: (Published) -> Bool) -> [Member] {
        let members = published.filter(gone).flatMap(Self.members)
        published.removeAll(where: gone)
        return members
    }

    private static func members(_ published: Published) -> [Member] {
        published.service.characteristics.map { Member(client: published.client, characteristic: $0) }
    }

    /// The first characteristic of a UUID.
    func characteristic(_ uuid: String) -> Member? {
        published.lazy.flatMap(Self.members).first { $0.characteristic.uuid == uuid }
    }
}

extension LocalCharacteristic {
    /// The bits that device files have words for.
    var flags: CharacteristicProperties { CharacteristicProperties(rawValue: properties & 0xFF) }

    var isReadable: Bool { flags.contains(.read) && permissions & 0b0101 != 0 }

    /// Whether a central may write it in this way: with a response or without one.
    func isWriteable(withResponse: Bool) -> Bool {
        flags.contains(withResponse ? .write : .writeWithoutResponse) && permissions & 0b1010 != 0
    }
}

extension AttributeError {
    static let readNotPermitted: UInt8 = 0x02
    static let writeNotPermitted: UInt8 = 0x03
}

extension BluetoothFailure {
    /// CBError.uuidNotAllowed
    static let uuidNotAllowed = BluetoothFailure(
        domain: .core,
        code: 8,
        message: "The specified UUID is not allowed for this operation."
    )
    /// CBError.alreadyAdvertising
    static let alreadyAdvertising = BluetoothFailure(
        domain: .core,
        code: 9,
        message: "Advertising has already started."
    )
    /// CBError.operationNotSupported
    static let operationNotSupported = BluetoothFailure(
        domain: .core,
        code: 13,
        message: "The operation is not supported."
    )
}

/// What both ends of the peripheral role promise alike.
enum PeripheralRole {
    /// How many updates of one client may wait; the last one that finds room makes its app wait (CBPeripheralManager's
    /// updateValue returns false). The number is ours: Apple's is not documented.
    static let updateQueueLength = 16
    /// The app is told to go on when so few wait.
    static let updateQueueRefill = 8
    /// Services that belong to the system: Generic Access and Generic Attribute.
    static let reserved: Set<String> = ["1800", "1801"]
}
