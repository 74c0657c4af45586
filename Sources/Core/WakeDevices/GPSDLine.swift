import WakeJSON

/// What one line of gpsd says.
///
/// gpsd's own library is not used: its connection waits, its reader of lines never returns from some that are cut or
/// garbled, and it cannot read the line that says that a receiver has gone. The protocol is documented in gpsd_json(5).
package enum GPSDLine: Hashable, Sendable {
    /// The greeting, with gpsd's version.
    case greeting(release: String)
    /// A fix.
    case fix(TrackPoint)
    /// The receiver does not know where it is.
    case noFix
    /// A receiver came into use, or is gone.
    case receiver(isActive: Bool)
    /// gpsd tells of its receivers from now on, or does not.
    case watching(Bool)
    /// Nothing about the position.
    case other

    /// Reads a line without its end; nil when it is none of gpsd's.
    package init?(_ line: [UInt8]) {
        guard let object = JSONValue(parsing: line), let kind = object["class"]?.string else { return nil }
        switch kind {
        case "VERSION":
            guard let release = object["release"]?.string else { return nil }
            self = .greeting(release: release)
        case "WATCH": self = .watching(object["enable"]?.bool ?? false)
        case "TPV": self = Self.position(object)
        // A receiver in use has the time since when, one that has gone a 0.
        case "DEVICE" where object["activated"]?.double == 0: self = .receiver(isActive: false)
        case "DEVICE" where object["activated"]?.string != nil: self = .receiver(isActive: true)
        default: self = .other
        }
    }

    /// A TPV: modes 0 and 1 are no fix, 2 has no altitude.
    private static func position(_ object: JSONValue) -> GPSDLine {
        guard let mode = object["mode"]?.double, mode >= 2, let latitude = object["lat"]?.double,
            let longitude = object["lon"]?.double, let place = Coordinate(checking: latitude, longitude)
        else { return .noFix }
        var point = TrackPoint(place)
        // gpsd before 3.20 has the height above the sea as `alt`.
        if mode >= 3 { point.altitude = object["altMSL"]?.double ?? object["alt"]?.double }
        point.horizontalAccuracy = accuracy(object)
        point.verticalAccuracy = object["epv"]?.double
        point.course = object["track"]?.double
        point.speed = object["speed"]?.double
        point.timestamp = object["time"]?.string.flatMap { UTCTime.seconds(dateTime: $0) }
        return .fix(point.plausible)
    }

    /// The horizontal error; gpsd before 3.20 says it for each axis only.
    private static func accuracy(_ object: JSONValue) -> Double? {
        if let error = object["eph"]?.double { return error }
        guard let east = object["epx"]?.double, let north = object["epy"]?.double else { return nil }
        return (east * east + north * north).squareRoot()
    }
}
