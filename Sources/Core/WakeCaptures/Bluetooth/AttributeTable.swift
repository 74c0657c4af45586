import WakeDevices

/// The type of an attribute: a UUID of 16 bits, or one of 128 that the Bluetooth base does not shorten.
package enum AttributeType: Hashable, Sendable {
    case short(UInt16)
    case long(high: UInt64, low: UInt64)

    /// From the bytes of a protocol, the lowest first: 2, 4 or 16 of them; nil for any other number.
    init?(_ bytes: Span<UInt8>) {
        switch bytes.count {
        case 2: self = .short(bytes.little16(0))
        case 4: self.init(high: UInt64(bytes.little32(0)) << 32 | 0x1000, low: Self.base)
        case 16:
            self.init(
                high: UInt64(bytes.little32(12)) << 32 | UInt64(bytes.little32(8)),
                low: UInt64(bytes.little32(4)) << 32 | UInt64(bytes.little32(0))
            )
        default: return nil
        }
    }

    private init(high: UInt64, low: UInt64) {
        let isShort = low == Self.base && high & 0xffff_0000_ffff_ffff == 0x1000
        self = isShort ? .short(UInt16(truncatingIfNeeded: high >> 32)) : .long(high: high, low: low)
    }

    private static let base: UInt64 = 0x8000_0080_5f9b_34fb

    /// In the spelling of device files: `180D`, or 36 characters in capitals.
    package var text: String {
        switch self {
        case .short(let number): return number.hexadecimal.uppercased()
        case .long(let high, let low):
            let digits = (high.hexadecimal + low.hexadecimal).uppercased()
            var text = ""
            for (place, digit) in digits.enumerated() {
                if [8, 12, 16, 20].contains(place) { text += "-" }
                text.append(digit)
            }
            return text
        }
    }

    static let primaryService = AttributeType.short(0x2800)
    static let secondaryService = AttributeType.short(0x2801)
    static let include = AttributeType.short(0x2802)
    static let characteristic = AttributeType.short(0x2803)
    static let clientConfiguration = AttributeType.short(0x2902)
    static let deviceName = AttributeType.short(0x2a00)
}

/// What a capture shows of a server's attributes, by handle.
package struct AttributeTable: Hashable, Sendable {
    struct Service: Hashable, Sendable {
        /// The last handle of the service.
        var end: UInt16
        var uuid: AttributeType
        var isPrimary: Bool
    }

    struct Characteristic: Hashable, Sendable {
        var properties: UInt8
        /// The handle of its value.
        var value: UInt16
        var uuid: AttributeType
    }

    /// By their first handle.
    var services: [UInt16: Service] = [:]
    /// By the handle of the declaration.
    var characteristics: [UInt16: Characteristic] = [:]
    /// The declaration by the handle of the value.
    var declarations: [UInt16: UInt16] = [:]
    /// The types that were told by Find Information.
    var types: [UInt16: AttributeType] = [:]
    /// The first value read of each attribute.
    var values: [UInt16: [UInt8]] = [:]

    package init() {}

    /// Whether nothing is known.
    package var isEmpty: Bool { characteristics.isEmpty }

    /// Adds a service that somebody else found; one whose UUID is none is left out.
    package mutating func addService(_ uuid: String, isPrimary: Bool, from handle: UInt16, to end: UInt16) {
        guard let uuid = BluetoothUUID.canonical(uuid) else { return }
        services[handle] = Service(end: end, uuid: AttributeType(uuid), isPrimary: isPrimary)
    }

    /// Adds a characteristic by the handle of its declaration, behind which its value stands.
    package mutating func addCharacteristic(_ uuid: String, properties: UInt8, at handle: UInt16) {
        guard let uuid = BluetoothUUID.canonical(uuid), handle < .max else { return }
        add(Characteristic(properties: properties, value: handle + 1, uuid: AttributeType(uuid)), at: handle)
    }

    /// Adds a descriptor.
    package mutating func addDescriptor(_ uuid: String, at handle: UInt16) {
        types[handle] = BluetoothUUID.canonical(uuid).map { AttributeType($0) }
    }

    mutating func add(_ characteristic: Characteristic, at handle: UInt16) {
        characteristics[handle] = characteristic
        declarations[characteristic.value] = handle
    }

    /// The type of an attribute, as far as the capture shows it.
    func type(of handle: UInt16) -> AttributeType? {
        if let declaration = declarations[handle], let found = characteristics[declaration] { return found.uuid }
        return types[handle]
    }

    /// The value's handle of the characteristic whose client configuration a handle may be; nil for any other attribute.
    func characteristic(configuredBy handle: UInt16) -> UInt16? {
        if let type = type(of: handle), type != .clientConfiguration { return nil }
        var value = handle
        // A characteristic has few descriptors.
        for _ in 0..<16 where value > 1 {
            value -= 1
            guard let declaration = declarations[value] else { continue }
            return characteristics[declaration].flatMap { $0.properties & 0x30 != 0 ? value : nil }
        }
        return nil
    }
}
