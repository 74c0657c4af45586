import WakeModel

/// A way that the phone takes, as a device file of kind `location-track` describes it.
///
/// Its own time begins at 0 with the first place. A GPX file and a route are ways: the phone is somewhere on them at any
/// time, and a fix is taken at each ``interval``. An NMEA log is a list of fixes with times of their own.
package struct LocationTrack: Hashable, Sendable {
    /// The path of the device file.
    package var file: String
    package var path: Path
    /// How much faster than the track's own time it is played.
    package var rate: Double
    /// The accuracy in metres of fixes that say none of their own.
    package var accuracy: Double
    /// How far fixes scatter around the true place, in metres: two thirds of them fall within.
    package var noise: Double
    /// Begin again after the end.
    package var repeats: Bool
    package var faults: [DeviceFault<Effect>]

    /// Where the phone is when.
    package enum Path: Hashable, Sendable {
        /// Places on the way, and the time from one fix to the next on the bench's clock.
        case way(Way, interval: Instant.Span)
        /// Fixes at times of their own.
        case log([Entry])
    }

    /// A fix of a log; a moment without one when the point is nil.
    package struct Entry: Hashable, Sendable {
        /// From the log's beginning.
        package var offset: Instant.Span
        package var point: TrackPoint?
    }

    /// What an armed fault does, and for how long on the bench's clock.
    package enum Effect: Hashable, Sendable {
        /// The receiver does not know where it is.
        case lostFix(Instant.Span)
        /// Fixes are so many metres off, in degrees from north by east.
        case jump(metres: Double, bearing: Double, lasting: Instant.Span)
        /// The place of the last fix is said again and again.
        case frozen(Instant.Span)
        /// Fixes are right and say that they are only so many metres sure.
        case poorAccuracy(metres: Double, lasting: Instant.Span)
    }
}

/// Places on a way with the times at which they are reached, and great circles between them.
package struct Way: Hashable, Sendable {
    /// A place on the way.
    package struct Stop: Hashable, Sendable {
        package var offset: Instant.Span
        package var place: Coordinate
        package var altitude: Double?
    }

    /// In order of time, at least one.
    package let stops: [Stop]
    /// Seconds since 1970 of the beginning; nil when the file says none.
    package let timestamp: Double?

    package init(stops: [Stop], timestamp: Double? = nil) {
        precondition(!stops.isEmpty, "a way without a place")
        self.stops = stops
        self.timestamp = timestamp
    }

    /// The time from the first place to the last.
    package var length: Instant.Span { stops[stops.count - 1].offset }

    /// Where one is at a time, with the speed and course of the leg; before the beginning at its first place, after the
    /// end at its last.
    package func point(at offset: Instant.Span) -> TrackPoint {
        let after = stops.sortedCount { $0.offset <= offset }
        guard after > 0, after < stops.count else {
            return standing(at: stops[after == 0 ? 0 : stops.count - 1], offset)
        }
        let (start, end) = (stops[after - 1], stops[after])
        let taken = Double((end.offset - start.offset).nanoseconds)
        let fraction = Double((offset - start.offset).nanoseconds) / taken
        if start.place == end.place { return standing(at: start, offset) }
        let place = Geometry.interpolate(from: start.place, to: end.place, fraction: fraction)
        var point = TrackPoint(place, timestamp: time(at: offset))
        if let low = start.altitude, let high = end.altitude { point.altitude = low + (high - low) * fraction }
        point.speed = Geometry.distance(from: start.place, to: end.place) / (taken / 1e9)
        point.course = Geometry.bearing(from: place, to: end.place)
        return point
    }

    private func standing(at stop: Stop, _ offset: Instant.Span) -> TrackPoint {
        var point = TrackPoint(stop.place, altitude: stop.altitude, timestamp: time(at: offset))
        point.speed = 0
        return point
    }

    private func time(at offset: Instant.Span) -> Double? { timestamp.map { $0 + Double(offset.nanoseconds) / 1e9 } }
}

extension Array {
    /// How many elements fit, of a list in which those that do come first.
    func sortedCount(where fits: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if fits(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
