import WakeDevices
import WakeModel

/// What an advertisement is on the air: structures of a length, a type and data (Core Specification Supplement, part A).
package struct AdvertisingData: Hashable, Sendable {
    /// Of the advertisement itself.
    package private(set) var advertised: [UInt8] = []
    /// Of the answer to an active scan; empty where everything found room before.
    package private(set) var scanResponse: [UInt8] = []
    /// Whether it needs an extended advertisement, and is all in `advertised`.
    package private(set) var isExtended = false

    /// The room of a legacy advertisement, and of its scan response.
    private static let room = 31

    package init(_ advertisement: Advertisement) {
        let structures = Self.structures(of: advertisement)
        for structure in structures {
            if advertised.count + structure.count <= Self.room {
                advertised += structure
            } else if scanResponse.count + structure.count <= Self.room {
                scanResponse += structure
            } else {
                (advertised, scanResponse, isExtended) = (structures.flatMap { $0 }, [], true)
                return
            }
        }
    }

    private static func structures(of advertisement: Advertisement) -> [[UInt8]] {
        // General discoverable, and no classic Bluetooth.
        var structures = advertisement.connectable ? [structure(0x01, [0x06])] : [structure(0x01, [0x04])]
        let services = advertisement.services.map(AttributeExchange.bytes(ofUUID:))
        for (size, type) in [(2, 0x03), (16, 0x07)] as [(Int, UInt8)] {
            let list = services.filter { $0.count == size }.flatMap { $0 }
            if !list.isEmpty { structures.append(structure(type, list)) }
        }
        for data in advertisement.serviceData {
            let service = AttributeExchange.bytes(ofUUID: data.service)
            structures.append(structure(service.count == 2 ? 0x16 : 0x21, service + data.data))
        }
        if let data = advertisement.manufacturerData { structures.append(structure(0xFF, data)) }
        if let power = advertisement.txPower { structures.append(structure(0x0A, [UInt8(truncatingIfNeeded: power)])) }
        if let name = advertisement.localName { structures.append(structure(0x09, Array(name.utf8))) }
        return structures
    }

    private static func structure(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
        [UInt8(min(data.count, 254) + 1), type] + data.prefix(254)
    }
}
