import WakeDevices

/// The 16 bytes into which an iPhone moves the service UUIDs of apps that advertise in the background, one bit a UUID
/// (BTP-2).
///
/// Apple documents that the area exists, and neither its place nor which bit stands for which UUID. Here it is
/// manufacturer data of Apple's company identifier with type 0x01, as seen on the air, and the bit is the FNV-1a hash of
/// the UUID's 36 capitals modulo 128, which is our own. Two UUIDs may share a bit, as on the real one.
package struct OverflowArea: Hashable, Sendable {
    /// Apple's number among the Bluetooth SIG's company identifiers.
    package static let company: UInt16 = 0x004C
    /// The first byte after the company identifier.
    package static let type: UInt8 = 0x01

    /// Bit n of the area is bit n % 8 of byte n / 8.
    package private(set) var bytes = [UInt8](repeating: 0, count: 16)

    /// The area of these services, by canonical UUID.
    package init(_ services: [String] = []) {
        for service in services {
            let bit = Self.bit(of: service)
            bytes[bit / 8] |= 1 << UInt8(bit % 8)
        }
    }

    /// Reads an area out of manufacturer data, company identifier included; nil when it holds none.
    package init?(manufacturerData data: [UInt8]) {
        let head = [UInt8(truncatingIfNeeded: Self.company), UInt8(truncatingIfNeeded: Self.company >> 8), Self.type]
        guard data.count == head.count + 16, data.starts(with: head) else { return nil }
        bytes = Array(data[head.count...])
    }

    /// Whether a service may be in the area: its bit is set.
    package func contains(_ service: String) -> Bool {
        let bit = Self.bit(of: service)
        return bytes[bit / 8] & (1 << UInt8(bit % 8)) != 0
    }

    package var isEmpty: Bool { bytes.allSatisfy { $0 == 0 } }

    /// The bit of a service, 0 to 127.
    static func bit(of service: String) -> Int {
        Int(Mixing.hash(BluetoothUUID.long(service).utf8) % 128)
    }
}

/// What a phone says on the air for all its apps together.
package struct PhoneAdvertisement: Hashable, Sendable {
    /// The first name that any app gave.
    package var localName: String?
    /// Canonical UUIDs that found room.
    package var services: [String]
    package var overflow: OverflowArea

    /// The bytes that an advertisement has beside its flags (Bluetooth Core Specification, volume 3, part C, 11).
    static let room = 28
    /// The bytes that the overflow area takes, with its length, type and company.
    static let overflowSize = 21

    /// What one app wants to be said, in its own order.
    struct Wish: Codable {
        var localName: String?
        /// Canonical.
        var services: [String]
        /// Canonical; these go into the overflow area in any case.
        var overflow: [String]
    }

    /// Puts the wishes of all apps into one advertisement; nil when nobody wishes anything.
    init?(_ wishes: [Wish]) {
        guard !wishes.isEmpty else { return nil }
        localName = wishes.lazy.compactMap(\.localName).first
        var shown: [String] = []
        for service in wishes.flatMap(\.services) where !shown.contains(service) { shown.append(service) }
        var hidden = wishes.flatMap(\.overflow).filter { !shown.contains($0) }
        services = shown
        if !hidden.isEmpty || Self.size(of: shown) > Self.room {
            services = []
            for service in shown {
                if Self.size(of: services + [service]) <= Self.room - Self.overflowSize {
                    services.append(service)
                } else {
                    hidden.append(service)
                }
            }
        }
        overflow = OverflowArea(hidden)
    }

    /// The bytes that a list of services takes: one structure for short ones and one for long ones.
    static func size(of services: [String]) -> Int {
        let short = services.count { $0.utf8.count == 4 }
        let long = services.count - short
        return (short > 0 ? 2 + 2 * short : 0) + (long > 0 ? 2 + 16 * long : 0)
    }

    /// Whether a central that looks for a service takes notice.
    func offers(_ service: String, readsOverflow: Bool) -> Bool {
        services.contains(service) || readsOverflow && overflow.contains(service)
    }
}
