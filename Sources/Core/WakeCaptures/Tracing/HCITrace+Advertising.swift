import WakeModel

/// What the phone says of itself on the air.
extension HCITrace {
    /// The stack advertises something from now on, or nothing for nil. A name that finds no room is cut.
    package func advertise(_ advertisement: Advertisement?, at now: Instant) {
        let data = advertisement.map(Self.data)
        guard data != advertised else { return }
        if advertised != nil { enableAdvertising(false, at: now) }
        advertised = data
        guard let data else { return }
        // Connectable by anyone, every 30 ms on all channels, from the random address.
        command(0x2006, [0x30, 0, 0x30, 0, 0, 1, 0] + [UInt8](repeating: 0, count: 6) + [7, 0], at: now)
        command(0x2008, Self.padded(data.advertised), at: now)
        command(0x2009, Self.padded(data.scanResponse), at: now)
        enableAdvertising(true, at: now)
    }

    func enableAdvertising(_ isOn: Bool, at now: Instant) { command(0x200A, [isOn ? 1 : 0], at: now) }

    private static func data(_ advertisement: Advertisement) -> AdvertisingData {
        var data = AdvertisingData(advertisement)
        var cut = advertisement
        while data.isExtended, let name = cut.localName, !name.isEmpty {
            cut.localName = String(name.dropLast())
            data = AdvertisingData(cut)
        }
        return data
    }

    /// A length, and the 31 bytes that there always are.
    private static func padded(_ data: [UInt8]) -> [UInt8] {
        let shown = data.prefix(31)
        return [UInt8(shown.count)] + shown + [UInt8](repeating: 0, count: 31 - shown.count)
    }
}
