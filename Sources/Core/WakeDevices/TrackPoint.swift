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
}
