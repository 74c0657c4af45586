import WakeModel

extension BluetoothPeripheral {
    /// How a peripheral and the phone speak while there is a link: what the peripheral asks for, and the phone grants.
    ///
    /// A new one has what an iPhone begins with, and keeps with a peripheral that asks for nothing: an interval of 30 ms, no
    /// latency and a supervision timeout of 720 ms. PHY and data length are what an iPhone asks each peripheral for.
    package struct Connection: Hashable, Sendable {
        /// From one connection event to the next.
        package var interval = Instant.Span.milliseconds(30)
        /// How many connection events the peripheral may sleep through when it has nothing to say.
        package var latency = 0
        /// From the last packet of a peripheral out of range to the loss of the link.
        package var supervisionTimeout = Instant.Span.milliseconds(720)
        package var phy = PHY.twoMegabit
        /// The most bytes of data in a packet: 27, or up to 251 with the data length extension.
        package var dataLength = 251

        package init() {}
    }

    /// The physical layers of a phone that has no long range.
    package enum PHY: String, CaseIterable, Sendable {
        case oneMegabit = "1M"
        case twoMegabit = "2M"
    }
}

extension BluetoothPeripheral.Connection {
    /// The bytes of a write command beside its value: L2CAP's header, the opcode and the handle.
    private static let commandHeader = 4 + 1 + 2
    /// The pause between two packets (Bluetooth Core Specification, volume 6, part B, 4.1.1).
    private static let interFrameSpace = Instant.Span(nanoseconds: 150_000)

    /// The bytes of data in each packet that carries a write command.
    package func packets(ofCommand value: Int) -> [Int] {
        let bytes = Self.commandHeader + value
        let whole = Array(repeating: dataLength, count: bytes / dataLength)
        return bytes % dataLength == 0 ? whole : whole + [bytes % dataLength]
    }

    /// How long the air is taken by a packet with so many bytes of data and the empty one that confirms it.
    package func exchange(_ bytes: Int) -> Instant.Span {
        airtime(bytes) + Self.interFrameSpace + airtime(0) + Self.interFrameSpace
    }

    /// Preamble, access address, header, data and check (Bluetooth Core Specification, volume 6, part B, 2.1).
    private func airtime(_ bytes: Int) -> Instant.Span {
        switch phy {
        case .oneMegabit: Instant.Span(nanoseconds: 8_000 * Int64(1 + 4 + 2 + bytes + 3))
        case .twoMegabit: Instant.Span(nanoseconds: 4_000 * Int64(2 + 4 + 2 + bytes + 3))
        }
    }

    /// The most that a peripheral's answer can be late by sleeping through events.
    package var sleep: Instant.Span { intervals(latency) }

    private func intervals(_ count: Int) -> Instant.Span {
        Instant.Span(nanoseconds: interval.nanoseconds * Int64(count))
    }
}

/// Reading. What no edition of Apple's Accessory Design Guidelines lets a phone grant is refused; the rules of each edition
/// beside, such as intervals that are multiples of 15 ms, are not.
extension BluetoothPeripheral.Connection {
    init(_ node: YAMLNode?) throws(FileError) {
        self.init()
        guard let node else { return }
        supervisionTimeout = .seconds(6)
        let fields = try Fields(
            node,
            of: "a connection",
            keys: ["interval", "latency", "supervision-timeout", "phy", "data-length"]
        )
        if let node = fields["interval"] { interval = try Self.interval(node) }
        if let node = fields["latency"] { latency = try node.integer(in: 0...30) }
        if let node = fields["supervision-timeout"] { supervisionTimeout = try Self.timeout(node) }
        if let node = fields["phy"] {
            let words = BluetoothPeripheral.PHY.allCases.map(\.rawValue)
            phy = try node.word("PHY", among: words) { BluetoothPeripheral.PHY(rawValue: $0) }
        }
        if let node = fields["data-length"] { dataLength = try node.integer(in: 27...251) }
        try check(fields)
    }

    /// The specification's unit is 1.25 ms, and a file says whole milliseconds.
    private static func interval(_ node: YAMLNode) throws(FileError) -> Instant.Span {
        let interval = try node.duration()
        guard interval >= .milliseconds(15), interval <= .seconds(2), interval.nanoseconds % 5_000_000 == 0 else {
            throw node.error(expected: "a multiple of 5ms from 15ms to 2s; an iPhone grants no other interval")
        }
        return interval
    }

    private static func timeout(_ node: YAMLNode) throws(FileError) -> Instant.Span {
        let timeout = try node.duration()
        guard timeout >= .seconds(2), timeout <= .seconds(18), timeout.nanoseconds % 10_000_000 == 0 else {
            throw node.error(expected: "a multiple of 10ms from 2s to 18s; an iPhone grants no other timeout")
        }
        return timeout
    }

    private func check(_ fields: Fields) throws(FileError) {
        let silence = intervals(latency + 1)
        let least = Instant.Span(nanoseconds: silence.nanoseconds * 3)
        if silence > .seconds(6), let node = fields["latency"] ?? fields["interval"] {
            throw node.error(
                found: "an interval and a latency that let the peripheral be silent for \(DurationText.text(silence))",
                expected: "interval x (latency + 1) of at most 6s"
            )
        }
        guard supervisionTimeout > least else {
            throw (fields["supervision-timeout"] ?? fields.node).error(
                found: "a supervision timeout of \(DurationText.text(supervisionTimeout))",
                expected: "more than three times interval x (latency + 1), \(DurationText.text(least)) here"
            )
        }
    }
}
