/// A place on the globe in degrees, as files and receivers say it (WGS 84).
package struct Coordinate: Hashable, Codable, Sendable {
    /// North of the equator is positive, -90 to 90.
    package var latitude: Double
    /// East of Greenwich is positive, -180 up to but without 180.
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// The place, when the numbers say one; a longitude of 180 is that of -180.
    package init?(checking latitude: Double, _ longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.init(latitude: latitude, longitude: longitude == 180 ? -180 : longitude)
    }
}
