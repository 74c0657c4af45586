import WakeDevices

/// What a device has, as a fuzzer sees it.
package struct FuzzTarget: Hashable, Sendable {
    package struct Characteristic: Hashable, Sendable {
        /// The handle of the value.
        package var handle: UInt16
        package var properties: UInt8
        /// Canonical.
        package var uuid: String
        package var service: String
        /// The handle of its client configuration.
        package var configuration: UInt16?

        var canRead: Bool { properties & 0x02 != 0 }
        var takesCommands: Bool { properties & 0x04 != 0 }
        var takesRequests: Bool { properties & 0x08 != 0 }
        var notifies: Bool { properties & 0x30 != 0 }
        /// What subscribes to it: indications where it has no notifications.
        var subscription: [UInt8] { properties & 0x10 != 0 ? [1, 0] : [2, 0] }
    }

    /// In the order of their handles.
    package var characteristics: [Characteristic] = []

    package init(_ characteristics: [Characteristic] = []) { self.characteristics = characteristics }

    func characteristic(_ handle: UInt16) -> Characteristic? { characteristics.first { $0.handle == handle } }

    /// Discovers what a device has.
    ///
    /// - Returns: nil when it did not answer to the end.
    init?(discovering link: AttributeLink) throws(LiveFailure) {
        var services: [(first: UInt16, last: UInt16, uuid: String)] = []
        let whole = try Self.list(link, 0x10, type: 0x2800, from: 1, to: .max) { entry in
            guard entry.count >= 6 else { return .max }
            services.append((number(entry, 0), number(entry, 2), uuid(entry[4...])))
            return number(entry, 2)
        }
        guard whole else { return nil }
        for service in services {
            var own: [(declaration: UInt16, characteristic: Characteristic)] = []
            let whole = try Self.list(link, 0x08, type: 0x2803, from: service.first, to: service.last) { entry in
                guard entry.count >= 7 else { return .max }
                let found = Characteristic(
                    handle: number(entry, 3),
                    properties: entry[2],
                    uuid: uuid(entry[5...]),
                    service: service.uuid
                )
                own.append((number(entry, 0), found))
                return number(entry, 0)
            }
            guard whole else { return nil }
            for place in own.indices {
                let end = place + 1 < own.count ? own[place + 1].declaration - 1 : service.last
                own[place].characteristic.configuration = try Self.configuration(
                    link,
                    after: own[place].characteristic.handle,
                    to: end
                )
            }
            characteristics += own.map(\.characteristic)
        }
    }

    /// Reads By Group Type or By Type until there are no more.
    ///
    /// - Parameter take: takes an entry, and says the last handle that it stands for.
    private static func list(
        _ link: AttributeLink,
        _ opcode: UInt8,
        type: UInt16,
        from first: UInt16,
        to last: UInt16,
        take: ([UInt8]) -> UInt16
    ) throws(LiveFailure) -> Bool {
        var start = first
        while true {
            switch try link.request([opcode] + word(start) + word(last) + word(type)) {
            case .refused(0x0a): return true
            case .response(let packet):
                guard packet.count > 2, packet[1] >= 2, (packet.count - 2).isMultiple(of: Int(packet[1])) else {
                    return false
                }
                var reached = start
                for place in stride(from: 2, to: packet.count, by: Int(packet[1])) {
                    reached = max(reached, take(Array(packet[place..<place + Int(packet[1])])))
                }
                guard reached < last else { return true }
                start = reached + 1
            case .refused, .silence, .ended, .unsent: return false
            }
        }
    }

    /// The client configuration among the attributes behind a value.
    private static func configuration(
        _ link: AttributeLink,
        after handle: UInt16,
        to end: UInt16
    ) throws(LiveFailure) -> UInt16? {
        var start = handle
        while start < end {
            guard case .response(let packet) = try link.request([0x04] + word(start + 1) + word(end)), packet.count >= 6
            else { return nil }
            let size = packet[1] == 1 ? 4 : 18
            for place in stride(from: 2, through: packet.count - size, by: size) {
                if size == 4, number(packet, place + 2) == 0x2902 { return number(packet, place) }
                start = max(start + 1, number(packet, place))
            }
            if packet.count - 2 < size { return nil }
        }
        return nil
    }
}

private func number(_ bytes: [UInt8], _ place: Int) -> UInt16 { UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8 }

/// A UUID as it goes over the air, last byte first, in its one spelling.
private func uuid(_ bytes: ArraySlice<UInt8>) -> String {
    let digits = Array(Array(bytes.reversed()).hexadecimal)
    guard digits.count == 32 else { return String(digits).uppercased() }
    let cuts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
    let text = cuts.joined(separator: "-")
    return BluetoothUUID.canonical(text) ?? text.uppercased()
}
