import WakeModel

/// Where a track or a receiver says the phone is, and how sure it is; what it does not say is nil.
package struct TrackPoint: Hashable, Codable, Sendable {
    package var place: Coordinate
    /// Metres above mean sea level.
    package var altitude: Double?
    /// Metres a second over ground.
    package var speed: Double?
    /// The way it moves, in degrees from north by east.
    package var course: Double?
    /// The radius in which it truly is, in metres.
    package var horizontalAccuracy: Double?
    /// In metres.
    package var verticalAccuracy: Double?
    /// Seconds since 1970.
    package var timestamp: Double?

    package init(_ place: Coordinate, altitude: Double? = nil, timestamp: Double? = nil) {
        self.place = place
        self.altitude = altitude
        self.timestamp = timestamp
    }

    /// Takes what a later report of the same time says; what that leaves out stays.
    package mutating func complete(with later: TrackPoint) {
        place = later.place
        altitude = later.altitude ?? altitude
        speed = later.speed ?? speed
        course = later.course ?? course
        horizontalAccuracy = later.horizontalAccuracy ?? horizontalAccuracy
        verticalAccuracy = later.verticalAccuracy ?? verticalAccuracy
    }

    /// The same without what no receiver can mean: a height beyond 20 km below and 100 km above the sea, more than 100 km a
    /// second, a course beyond 0 to 360 degrees, an error below 0 or beyond 100 000 km.
    var plausible: TrackPoint {
        var point = self
        func keep(_ value: inout Double?, in range: ClosedRange<Double>) {
            if let known = value, !range.contains(known) { value = nil }
        }
        keep(&point.altitude, in: -20_000...100_000)
        keep(&point.speed, in: 0...100_000)
        keep(&point.course, in: 0...360)
        keep(&point.horizontalAccuracy, in: 0...1e8)
        keep(&point.verticalAccuracy, in: 0...1e8)
        return point
    }
}
