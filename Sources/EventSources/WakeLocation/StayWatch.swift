import WakeDevices
import WakeModel

/// Finds stays of the phone at places, which are visits: it is looked where the phone is now and then, whether or not somebody wants to
/// hear of visits, so that what is found does not depend on that.
struct StayWatch: Codable {
    /// How far the phone may be from where it came to, and be there still, in metres. Apple publishes none: assumed.
    static let distance = 100.0
    /// How long it is there before that is a visit. Apple publishes no figure: assumed.
    static let duration = Instant.Span.seconds(300)
    /// From one look to the next at a phone that is on its way.
    static let interval = Instant.Span.seconds(10)

    /// Where the phone came to, and when.
    private struct Arrival: Codable {
        var place: Coordinate
        var at: Instant
        /// In seconds since 1970.
        var timestamp: Double
    }

    /// When it was looked last.
    private(set) var lookedAt = Instant.zero
    private var arrival: Arrival?
    /// The visit that lasts; nil while the phone has not been at a place long enough.
    private var visit: Visit?

    /// When a phone that does not move has been there long enough; nil where it has, or was never seen.
    var due: Instant? { visit == nil ? arrival?.at.advanced(by: Self.duration) : nil }

    /// The phone is at a place.
    ///
    /// - Parameters:
    ///   - place: nil where nothing is known of it: the phone has not left.
    ///   - timestamp: what the time of day is, in seconds since 1970.
    ///   - accuracy: of visits, in metres.
    /// - Returns: the visit that begins or ends with it; nil for none.
    mutating func look(at place: Coordinate?, timestamp: Double, accuracy: Double, _ now: Instant) -> Visit? {
        lookedAt = now
        guard let place = place ?? arrival?.place else { return nil }
        guard let arrival, Geometry.distance(from: arrival.place, to: place) <= Self.distance else {
            self.arrival = Arrival(place: place, at: now, timestamp: timestamp)
            defer { visit = nil }
            visit?.departure = timestamp
            return visit
        }
        guard visit == nil, now.since(arrival.at) >= Self.duration else { return nil }
        visit = Visit(
            latitude: place.latitude,
            longitude: place.longitude,
            horizontalAccuracy: accuracy,
            arrival: arrival.timestamp,
            departure: nil
        )
        return visit
    }
}
