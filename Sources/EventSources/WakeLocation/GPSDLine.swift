import WakeDevices

/// What one line of gpsd says.
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
        guard let object = GPSDObject(line), let kind = object.text("class") else { return nil }
        switch kind {
        case "VERSION":
            guard let release = object.text("release") else { return nil }
            self = .greeting(release: release)
        case "WATCH": self = .watching(object.flag("enable") ?? false)
        case "TPV": self = Self.position(object)
        // A receiver in use has the time since when, one that has gone a 0.
        case "DEVICE" where object.number("activated") == 0: self = .receiver(isActive: false)
        case "DEVICE" where object.text("activated") != nil: self = .receiver(isActive: true)
        default: self = .other
        }
    }

    /// A TPV: modes 0 and 1 are no fix, 2 has no altitude.
    private static func position(_ object: GPSDObject) -> GPSDLine {
        guard let mode = object.number("mode"), mode >= 2, let latitude = object.number("lat"),
            let longitude = object.number("lon"), let place = Coordinate(checking: latitude, longitude)
        else { return .noFix }
        var point = TrackPoint(place)
        // gpsd before 3.20 has the height above the sea as `alt`.
        if mode >= 3 { point.altitude = finite(object.number("altMSL") ?? object.number("alt")) }
        point.horizontalAccuracy = accuracy(object)
        point.verticalAccuracy = finite(object.number("epv"))
        point.course = finite(object.number("track"))
        point.speed = finite(object.number("speed"))
        point.timestamp = object.text("time").flatMap { UTCTime.seconds(dateTime: $0) }
        return .fix(point)
    }

    /// The horizontal error; gpsd before 3.20 says it for each axis only.
    private static func accuracy(_ object: GPSDObject) -> Double? {
        if let error = finite(object.number("eph")) { return error }
        guard let east = finite(object.number("epx")), let north = finite(object.number("epy")) else { return nil }
        return (east * east + north * north).squareRoot()
    }

    private static func finite(_ value: Double?) -> Double? { value.flatMap { $0.isFinite ? $0 : nil } }
}
