import WakeBus

/// A service that this machine offers to centrals.
package struct BlueZLocalService: Hashable, Sendable {
    /// A characteristic of the service.
    package struct Characteristic: Hashable, Sendable {
        /// Chosen by the owner, unique among all that are offered.
        package var number: UInt32
        package var uuid: String
        /// In BlueZ's words: `read`, `write`, `notify`, `encrypt-read`, ...
        package var flags: [String]
        /// A value that never changes is answered without asking anybody; nil asks for each read.
        package var value: [UInt8]?
        package var descriptors: [Descriptor]

        package init(
            number: UInt32,
            uuid: String,
            flags: [String],
            value: [UInt8]? = nil,
            descriptors: [Descriptor] = []
        ) {
            self.number = number
            self.uuid = uuid
            self.flags = flags
            self.value = value
            self.descriptors = descriptors
        }

        /// Whether values go out without being confirmed.
        var notifies: Bool { flags.contains("notify") }
    }

    /// A descriptor with a value that never changes. The client configuration is bluetoothd's own.
    package struct Descriptor: Hashable, Sendable {
        package var uuid: String
        package var value: [UInt8]

        package init(uuid: String, value: [UInt8]) {
            self.uuid = uuid
            self.value = value
        }
    }

    /// Chosen by the owner, unique among all that are offered.
    package var number: UInt32
    /// In BlueZ's spelling: 36 characters in small letters.
    package var uuid: String
    package var primary: Bool
    package var characteristics: [Characteristic]

    package init(number: UInt32, uuid: String, primary: Bool = true, characteristics: [Characteristic] = []) {
        self.number = number
        self.uuid = uuid
        self.primary = primary
        self.characteristics = characteristics
    }
}

/// What this machine says of itself on the air.
package struct BlueZLocalAdvertisement: Hashable, Sendable {
    package var localName: String?
    /// In BlueZ's spelling.
    package var services: [String]
    /// Data under a company's number.
    package var manufacturerData: ManufacturerData?

    package struct ManufacturerData: Hashable, Sendable {
        package var company: UInt16
        package var data: [UInt8]

        package init(company: UInt16, data: [UInt8]) {
            self.company = company
            self.data = data
        }
    }

    package init(localName: String? = nil, services: [String] = [], manufacturerData: ManufacturerData? = nil) {
        self.localName = localName
        self.services = services
        self.manufacturerData = manufacturerData
    }

    /// What bluetoothd reads of the exported object.
    var properties: [(String, BusValue)] {
        var properties: [(String, BusValue)] = [
            // Without it a central that looks for discoverable devices only would pass this one by.
            ("Type", .string("peripheral")), ("Discoverable", .bool(true)),
        ]
        if !services.isEmpty { properties.append(("ServiceUUIDs", .strings(services))) }
        if let localName { properties.append(("LocalName", .string(localName))) }
        if let manufacturerData {
            let entry = BusEntry(.uint16(manufacturerData.company), .variant(.bytes(manufacturerData.data)))
            properties.append(("ManufacturerData", .dictionary([entry], key: "q", value: "v")))
        }
        return properties
    }
}

/// Something that a central asks of a characteristic. Answered by ``BlueZServer/answer(_:value:)`` or
/// ``BlueZServer/refuse(_:code:)``.
package struct BlueZRequest: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The value from `offset` on; a long value is asked for in pieces.
        case read(offset: UInt16)
        /// A write command (without a response), a request, or the execution of prepared writes.
        case write([UInt8], offset: UInt16)
    }

    /// Given by the server, from 1.
    package var number: UInt32
    package var characteristic: UInt32
    /// Who asks; nil when bluetoothd does not say.
    package var device: BlueZDeviceID?
    /// The ATT MTU of the link in bytes, header included.
    package var mtu: Int
    package var kind: Kind
}

/// What a server tells.
package enum BlueZServerEvent {
    /// A service is in bluetoothd's table, or was refused. Told once for each ``BlueZServer/publish(_:)``.
    case published(UInt32, refusal: BusError?)
    /// The advertisement is on the air, or was refused. Told once for each ``BlueZServer/advertise(_:)`` of one.
    case advertising(refusal: BusError?)
    case requested(BlueZRequest)
    /// A central subscribed to a characteristic.
    case subscribed(UInt32, BlueZDeviceID, mtu: Int)
    /// A central unsubscribed, or its link went.
    case unsubscribed(UInt32, BlueZDeviceID)
    /// A value was refused before, and now there is room.
    case room
}
