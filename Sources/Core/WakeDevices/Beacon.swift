import WakeModel

/// An iBeacon as a device file describes it: what it says on the air, and how far from the phone it is.
package struct Beacon: Hashable, Sendable {
    /// The path of the device file.
    package var file: String
    /// Six bytes, most significant first.
    package var address: [UInt8]
    /// 36 characters in capitals.
    package var uuid: String
    package var major: UInt16
    package var minor: UInt16
    /// What a receiver one metre away measures, in dBm, as the beacon itself says.
    package var measuredPower: Int8
    /// The time from one advertisement to the next.
    package var interval: Instant.Span
    package var place: Place
    package var radio: Radio
    package var faults: [DeviceFault<Effect>]

    /// Where the beacon is.
    package enum Place: Hashable, Sendable {
        /// On the globe, in degrees; the phone's own position tells how far away.
        case globe(latitude: Double, longitude: Double)
        /// On a plan in metres. The phone begins at 0, 0.
        case plan(x: Double, y: Double)
        /// As far from the phone as a timetable says.
        case distance(DistanceTimetable)
    }

    /// How its advertisements come through the air.
    package struct Radio: Hashable, Sendable {
        /// The path-loss exponent: 2 in the open, 3 and more through walls.
        package var pathLoss = 2.0
        /// The standard deviation of the signal strength, in dB.
        package var fading = 2.0
        /// The share of advertisements that are not heard, 0 to 1.
        package var loss = 0.05
    }

    /// What an armed fault does.
    package enum Effect: Hashable, Sendable {
        /// Nothing is advertised for this long.
        case silent(Instant.Span)
        /// From now on so many decibels weaker, as behind a wall or with a low battery.
        case weaken(Double)
        /// From now on another calibration is advertised, in dBm: distances come out wrong.
        case measuredPower(Int8)
        /// From now on another major and minor are advertised, as after a reset of its settings.
        case renumber(major: UInt16, minor: UInt16)
    }

    /// The beacon that a scenario's `count` makes of this one: its address and its minor are the next but `number` - 1.
    package func copy(_ number: Int) -> Beacon {
        var copy = self
        copy.address = BluetoothPeripheral.address(address, plus: number - 1)
        copy.minor = minor &+ UInt16(truncatingIfNeeded: number - 1)
        return copy
    }
}

/// How far from the phone something is, in time.
package struct DistanceTimetable: Hashable, Sendable {
    /// A pause at the distance before, then a way to another distance.
    package struct Leg: Hashable, Sendable {
        package var after: Instant.Span
        /// How long the way takes; 0 for at once.
        package var over: Instant.Span = .zero
        /// In metres; nil for out of reach.
        package var metres: Double?
    }

    package var legs: [Leg] {
        didSet { ends = Self.ends(of: legs) }
    }
    /// Begin again after the last leg, with the pause of the first.
    package var repeats: Bool
    /// When each leg is over, since the start.
    private var ends: [Instant.Span]

    package init(legs: [Leg], repeats: Bool = false) {
        self.legs = legs
        self.repeats = repeats
        ends = Self.ends(of: legs)
    }

    private static func ends(of legs: [Leg]) -> [Instant.Span] {
        var end = Instant.Span.zero
        return legs.map { leg in
            end = end + leg.after + leg.over
            return end
        }
    }

    /// The distance at a time since the start, in metres; nil when it is out of reach, as it is before the first leg.
    package func metres(at time: Instant.Span) -> Double? {
        let (place, before, left) = leg(at: time)
        guard place < legs.count, left < legs[place].over else { return before }
        guard let before, let metres = legs[place].metres else { return legs[place].metres }
        return metres + (before - metres) * Double(left.nanoseconds) / Double(legs[place].over.nanoseconds)
    }

    /// The least distance from a time on, up to when the pause or the way of that time is over.
    ///
    /// - Returns: the distance in metres, nil for out of reach, and the end, since the start; nil where nothing comes after it.
    package func nearest(from time: Instant.Span) -> (metres: Double?, until: Instant.Span?) {
        let (place, before, left) = leg(at: time)
        guard place < legs.count else { return (before, nil) }
        let over = legs[place].over
        if left > over { return (before, time + (left - over)) }
        guard let before, let metres = legs[place].metres else { return (legs[place].metres, time + left) }
        return (min(before, metres), time + left)
    }

    /// The leg that a time since the start is in, the distance before it, and how long it lasts yet; the number of legs after the
    /// last.
    private func leg(at time: Instant.Span) -> (place: Int, before: Double?, left: Instant.Span) {
        guard let total = ends.last else { return (0, nil, .zero) }
        var (time, before) = (time, Double?.none)
        if repeats, total > .zero, time >= total {
            time = Instant.Span(nanoseconds: time.nanoseconds % total.nanoseconds)
            before = legs[legs.count - 1].metres
        }
        let place = ends.sortedCount { $0 <= time }
        if place > 0 { before = legs[place - 1].metres }
        return (place, before, place < legs.count ? ends[place] - time : .zero)
    }
}
