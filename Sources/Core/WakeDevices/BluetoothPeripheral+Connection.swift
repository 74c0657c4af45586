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
    /// What a connection may be.
    struct Bounds {
        let interval: ClosedRange<Instant.Span>
        let intervalStep: Instant.Span
        let latency: ClosedRange<Int>
        let timeout: ClosedRange<Instant.Span>
        /// The end of an error about an interval and about a timeout.
        let remedies: (interval: String, timeout: String)
        /// Whether interval, latency and timeout must fit together, too.
        let mustFit: Bool

        /// What a phone grants: the specification's unit is 1.25 ms, and a file says whole milliseconds.
        static let ofPhone = Bounds(
            interval: Instant.Span.milliseconds(15)...Instant.Span.seconds(2),
            intervalStep: .milliseconds(5),
            latency: 0...30,
            timeout: Instant.Span.seconds(2)...Instant.Span.seconds(18),
            remedies: (
                "a multiple of 5ms from 15ms to 2s; an iPhone grants no other interval",
                "a multiple of 10ms from 2s to 18s; an iPhone grants no other timeout"
            ),
            mustFit: true
        )
        /// What a device can ask for (Bluetooth Core Specification, volume 4, part E, 7.8.12).
        static let ofDevice = Bounds(
            interval: Instant.Span(nanoseconds: 7_500_000)...Instant.Span.seconds(4),
            intervalStep: Instant.Span(nanoseconds: 1_250_000),
            latency: 0...499,
            timeout: Instant.Span.milliseconds(100)...Instant.Span.seconds(32),
            remedies: ("a multiple of 1.25ms from 7.5ms to 4s", "a multiple of 10ms from 100ms to 32s"),
            mustFit: false
        )
    }

    /// - Parameter bounds: what is refused otherwise; a device that is only judged may ask for what no phone grants.
    init(_ node: YAMLNode?, within bounds: Bounds = .ofPhone) throws(FileError) {
        self.init()
        guard let node else { return }
        supervisionTimeout = .seconds(6)
        let fields = try Fields(
            node,
            of: "a connection",
            keys: ["interval", "latency", "supervision-timeout", "phy", "data-length"]
        )
        if let node = fields["interval"] {
            interval = try node.duration(
                in: bounds.interval,
                step: bounds.intervalStep,
                expecting: bounds.remedies.interval
            )
        }
        if let node = fields["latency"] { latency = try node.integer(in: bounds.latency) }
        if let node = fields["supervision-timeout"] {
            let step = Instant.Span.milliseconds(10)
            supervisionTimeout = try node.duration(in: bounds.timeout, step: step, expecting: bounds.remedies.timeout)
        }
        if let node = fields["phy"] {
            let words = BluetoothPeripheral.PHY.allCases.map(\.rawValue)
            phy = try node.word("PHY", among: words) { BluetoothPeripheral.PHY(rawValue: $0) }
        }
        if let node = fields["data-length"] { dataLength = try node.integer(in: 27...251) }
        if bounds.mustFit { try check(fields) }
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

extension YAMLNode {
    /// A duration within bounds, and a multiple of a step.
    fileprivate func duration(
        in range: ClosedRange<Instant.Span>,
        step: Instant.Span,
        expecting expected: String
    ) throws(FileError) -> Instant.Span {
        let span = try duration()
        guard range.contains(span), span.nanoseconds % step.nanoseconds == 0 else { throw error(expected: expected) }
        return span
    }
}
