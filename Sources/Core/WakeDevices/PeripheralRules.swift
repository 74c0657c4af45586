import WakeModel

/// What is compared with the guidelines, whoever tells of it: a device file, a capture or the device itself.
package enum PeripheralRules {
    // MARK: Advertising

    /// ADG-3.
    package static let advertisingIntervals = [
        20_000, 152_500, 211_250, 318_750, 417_500, 546_250, 760_000, 852_500, 1_022_500, 1_285_000,
    ].map { Instant.Span(nanoseconds: $0 * 1_000) }

    /// What each advertisement comes later than the interval, by chance (Bluetooth Core, volume 6, part B, 4.4.2.2.1).
    package static let longestDelay = Instant.Span.milliseconds(10)
    /// What a host's clock may be wrong by, from the air to the record.
    private static let clockError = Instant.Span.milliseconds(2)

    /// Whether an interval of the list may have been heard as such a pause, on the mean: it comes up to 10 ms later than it says.
    package static func mayBeAdvised(heard pause: Instant.Span) -> Bool {
        advertisingIntervals.contains { interval in
            pause + clockError >= interval && pause <= interval + longestDelay + clockError
        }
    }

    /// ADG-1, a line for each part that is not there.
    package static func missing(txPower: Bool, name: Bool, services: Bool) -> [String] {
        [(txPower, "TX power level"), (name, "local name"), (services, "service")].filter { !$0.0 }
            .map { "no \($0.1) is advertised" }
    }

    /// ADG-2.
    package static func badName(_ name: String) -> String? {
        name.first { $0 == ":" || $0 == ";" }.map { "the local name has a '\($0)'" }
    }

    // MARK: Connection

    /// What a packet holds without the Data Packet Length Extension, in bytes.
    package static let shortPacket = 27

    /// How a link is timed, or is to be.
    package struct Timing: Hashable, Sendable {
        /// The shortest interval; the only one where it is agreed on.
        package var shortest: Instant.Span
        package var longest: Instant.Span
        package var latency: Int
        /// Nil where nothing is said of it.
        package var timeout: Instant.Span?
        /// Whether it is what a device asks for, of which more is advised.
        package var isAsked: Bool

        package init(interval: Instant.Span, latency: Int, timeout: Instant.Span?) {
            (shortest, longest, self.latency, self.timeout, isAsked) = (interval, interval, latency, timeout, false)
        }

        package init(asked shortest: Instant.Span, _ longest: Instant.Span, latency: Int, timeout: Instant.Span) {
            (self.shortest, self.longest, self.latency, self.timeout) = (shortest, longest, latency, timeout)
            isAsked = true
        }

        /// What of it is against a guideline.
        package var against: [(guideline: PeripheralGuideline, found: String)] {
            var found: [(guideline: PeripheralGuideline, found: String)] = []
            let text = DurationText.text
            if shortest.nanoseconds % Self.unit.nanoseconds != 0 {
                found.append((.connectionInterval, "an interval of \(text(shortest))"))
            }
            let isOne = shortest == Self.unit && longest == Self.unit
            if isAsked, shortest < Self.unit || (longest < shortest + Self.unit && !isOne) {
                found.append((.intervalRange, "an interval from \(text(shortest)) to \(text(longest))"))
            }
            if let timeout, timeout < Self.shortestTimeout || timeout > Self.longestTimeout {
                found.append((.supervisionTimeout, "a supervision timeout of \(text(timeout))"))
            }
            let silence = Instant.Span(nanoseconds: longest.nanoseconds * Int64(latency + 1))
            if silence > Self.longestSilence {
                found.append((.effectiveInterval, "a silence of up to \(text(silence))"))
            }
            if latency > Self.mostLatency { found.append((.latency, "a latency of \(latency) intervals")) }
            if let timeout, timeout.nanoseconds <= silence.nanoseconds * 3 {
                let what = "a supervision timeout of \(text(timeout)) with silences of up to \(text(silence))"
                found.append((.timeoutRatio, what))
            }
            return found
        }

        private static let unit = Instant.Span.milliseconds(15)
        private static let shortestTimeout = Instant.Span.seconds(2)
        private static let longestTimeout = Instant.Span.seconds(6)
        private static let longestSilence = Instant.Span.seconds(2)
        private static let mostLatency = 30
    }

    // MARK: Services

    /// The assigned numbers of the Bluetooth SIG.
    package static let deviceInformation = "180A"
    package static let noDeviceInformation = "no Device Information service"
    package static let genericAccess = "1800"
    package static let genericAttribute = "1801"
    package static let serviceChanged = "2A05"

    /// A characteristic of Device Information that must be there.
    package struct Informing: Hashable, Sendable {
        package let uuid: String
        private let what: String
        /// ADG-11, in characters; nil for no bound.
        private let most: Int?

        fileprivate init(_ uuid: String, _ what: String, most: Int? = nil) {
            (self.uuid, self.what, self.most) = (uuid, what, most)
        }

        package var missing: String { "no \(what) (\(uuid))" }

        /// What is found about a value that is too long.
        package func tooLong(_ value: [UInt8]) -> String? {
            let length = String(decoding: value, as: UTF8.self).count
            guard let most, length > most else { return nil }
            return "a \(what) of \(length) characters"
        }
    }

    /// ADG-10.
    package static let informing = [
        Informing("2A29", "manufacturer's name", most: 26), Informing("2A24", "model's number", most: 26),
        Informing("2A26", "firmware revision"), Informing("2A28", "software revision"),
    ]

    /// GATT-1: the places of the services that stand apart from their like.
    package static func apart(_ uuids: [String]) -> [Int] {
        var kinds: [Bool] = []
        var apart: [Int] = []
        for (index, uuid) in uuids.enumerated() {
            let isShort = uuid.utf8.count == 4
            if isShort == kinds.last { continue }
            if kinds.contains(isShort) { apart.append(index) }
            kinds.append(isShort)
        }
        return apart
    }

    package static func standsApart(_ uuid: String) -> String { "\(uuid) stands apart from its like" }

    /// GATT-2, by the bits of a declaration: read, write without response, write, and indicate.
    package static func badServiceChanged(properties: UInt8) -> String? {
        if properties & 0x20 == 0 { return "Service Changed cannot be indicated" }
        return properties & 0x0e != 0 ? "Service Changed can be read or written" : nil
    }

    /// ATT-1.
    package static func badMTU(_ mtu: Int) -> String? { mtu < 23 ? "an MTU of \(mtu) bytes" : nil }
}
