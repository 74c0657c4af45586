import WakeModel

/// The state of the radio as `CBManagerState` has it.
package enum WireRadioState: String, CaseIterable, Sendable, WireWord {
    /// Not known yet.
    case unknown
    /// The connection to the system was lost for a moment.
    case resetting
    /// This phone has no Bluetooth Low Energy.
    case unsupported
    /// The app may not use Bluetooth.
    case unauthorized
    /// Bluetooth is off.
    case poweredOff
    /// Bluetooth is on.
    case poweredOn
}

/// The state of a connection as `CBPeripheralState` has it.
package enum WireLinkState: String, CaseIterable, Sendable, WireWord {
    /// No connection.
    case disconnected
    /// A connect is pending.
    case connecting
    /// Connected.
    case connected
    /// The connection is being ended.
    case disconnecting
}

/// A peripheral and what is known of it.
package struct WirePeripheral: Equatable, Sendable {
    /// The identifier, a UUID of 36 characters in capitals.
    package var identifier: String
    /// The name, where known.
    package var name: String?
    /// The state of the connection.
    package var state: WireLinkState
    /// The services found so far; only in a restoration.
    package var services: [WireService]

    /// A peripheral and what is known of it.
    package init(
        identifier: String,
        name: String? = nil,
        state: WireLinkState = .disconnected,
        services: [WireService] = []
    ) {
        self.identifier = identifier
        self.name = name
        self.state = state
        self.services = services
    }
}

/// A service of a peripheral.
package struct WireService: Equatable, Sendable {
    /// The UUID, of 4, 8 or 36 characters in capitals.
    package var uuid: String
    /// The handle of its declaration.
    package var handle: UInt16
    /// Whether it is a primary service.
    package var isPrimary: Bool
    /// The characteristics found so far; only in a restoration.
    package var characteristics: [WireCharacteristic]

    /// A service of a peripheral.
    package init(uuid: String, handle: UInt16, isPrimary: Bool = true, characteristics: [WireCharacteristic] = []) {
        self.uuid = uuid
        self.handle = handle
        self.isPrimary = isPrimary
        self.characteristics = characteristics
    }
}

/// A characteristic of a service.
package struct WireCharacteristic: Equatable, Sendable {
    /// The UUID, of 4, 8 or 36 characters in capitals.
    package var uuid: String
    /// The handle that requests name it by.
    package var handle: UInt16
    /// What it can do, in the bits of `CBCharacteristicProperties`.
    package var properties: UInt16
    /// Whether notifications are on; only in a restoration.
    package var isNotifying: Bool

    /// A characteristic of a service.
    package init(uuid: String, handle: UInt16, properties: UInt16, isNotifying: Bool = false) {
        self.uuid = uuid
        self.handle = handle
        self.properties = properties
        self.isNotifying = isNotifying
    }
}

/// The words of attributes' bits, in the order in which they are written.
package enum WireWords {
    /// What a characteristic can do, with the bits of `CBCharacteristicProperties`.
    package static let properties: [(word: String, bit: UInt16)] = [
        ("broadcast", 0x01), ("read", 0x02), ("writeWithoutResponse", 0x04), ("write", 0x08), ("notify", 0x10),
        ("indicate", 0x20), ("authenticatedSignedWrites", 0x40), ("extendedProperties", 0x80),
        ("notifyEncryptionRequired", 0x100), ("indicateEncryptionRequired", 0x200),
    ]
    /// What a central may do with a published value, with the bits of `CBAttributePermissions`.
    package static let permissions: [(word: String, bit: UInt8)] = [
        ("readable", 0x01), ("writeable", 0x02), ("readEncryptionRequired", 0x04), ("writeEncryptionRequired", 0x08),
    ]
}

// MARK: Coding

extension FieldShape where Value: FixedWidthInteger {
    /// A signal strength or a transmit power.
    static var decibels: FieldShape {
        .whole(in: -128...127)
    }
}

extension WirePeripheral: Coded {
    static let blank = WirePeripheral(identifier: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("identifier", of: &identifier, .identifier)
        try coder.field("name", of: &name, .text)
        try coder.field("state", of: &state, .word, absent: .disconnected)
        try coder.field("services", of: &services, .list(), omitted: [])
    }
}

extension WireService: Coded {
    static let blank = WireService(uuid: "", handle: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("uuid", of: &uuid, .uuid)
        try coder.field("handle", of: &handle, .whole)
        try coder.field("primary", of: &isPrimary, .bool, absent: true)
        try coder.field("characteristics", of: &characteristics, .list(), omitted: [])
    }
}

extension FieldShape where Value == UInt16 {
    /// What a characteristic can do, in words.
    static var properties: FieldShape {
        .bits(WireWords.properties, example: "read, write, notify")
    }
}

extension WireCharacteristic: Coded {
    static let blank = WireCharacteristic(uuid: "", handle: 0, properties: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("uuid", of: &uuid, .uuid)
        try coder.field("handle", of: &handle, .whole)
        try coder.field("properties", of: &properties, .properties, absent: 0)
        try coder.field("notifying", of: &isNotifying, .bool, omitted: false)
    }
}

extension GATTDescriptor: Coded {
    static let blank = GATTDescriptor(uuid: "", handle: 0, characteristic: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("uuid", of: &uuid, .uuid)
        try coder.field("handle", of: &handle, .whole)
    }
}
