import WakeJSON

/// What one line of gpsd says.
///
/// gpsd's own library is not used: its connection waits, its reader of lines never returns from some that are cut or
/// garbled, and it cannot read the line that says that a receiver has gone. The protocol is documented in gpsd_json(5).
package enum GPSDLine: Hashable, Sendable {
    /// The greeting, with gpsd's version.
    case greeting(release: String)
    /// A fix, and the receiver whose it is, as gpsd calls it.
    case fix(TrackPoint, device: String?)
    /// A receiver does not know where it is.
    case noFix(device: String?)
    /// A receiver came into use, or is gone.
    case receiver(device: String?, isActive: Bool)
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
        case "DEVICE" where object["activated"]?.double == 0:
            self = .receiver(device: object["path"]?.string, isActive: false)
        case "DEVICE" where object["activated"]?.string != nil:
            self = .receiver(device: object["path"]?.string, isActive: true)
        default: self = .other
        }
    }

    /// A TPV: modes 0 and 1 are no fix, 2 has no altitude.
    private static func position(_ object: JSONValue) -> GPSDLine {
        let device = object["device"]?.string
        guard let mode = object["mode"]?.double, mode >= 2, let latitude = object["lat"]?.double,
            let longitude = object["lon"]?.double, let place = Coordinate(checking: latitude, longitude)
        else { return .noFix(device: device) }
        var point = TrackPoint(place)
        // gpsd before 3.20 has the height above the sea as `alt`.
        if mode >= 3 { point.altitude = object["altMSL"]?.double ?? object["alt"]?.double }
        point.horizontalAccuracy = accuracy(object)
        point.verticalAccuracy = object["epv"]?.double
        point.course = object["track"]?.double
        point.speed = object["speed"]?.double
        point.timestamp = object["time"]?.string.flatMap { UTCTime.seconds(dateTime: $0) }
        return .fix(point.plausible, device: device)
    }

    /// The horizontal error; gpsd before 3.20 says it for each axis only.
    private static func accuracy(_ object: JSONValue) -> Double? {
        if let error = object["eph"]?.double { return error }
        guard let east = object["epx"]?.double, let north = object["epy"]?.double else { return nil }
        return (east * east + north * north).squareRoot()
    }
}

/// Which of a gpsd's receivers is followed: the first that knew where it is.
package struct GPSDReceiver: Hashable, Sendable {
    /// The most others that are remembered.
    private static let mostOthers = 8

    /// What gpsd calls it; nil before its first fix.
    package private(set) var device: String?
    /// Receivers that had fixes too, and are not followed.
    package private(set) var others: [String] = []

    package init() {}

    /// Whether a fix is of the receiver that is followed, which the first fix decides. What names no receiver is of any.
    package mutating func takes(fixOf said: String?) -> Bool {
        guard let said else { return true }
        guard let device else {
            device = said
            others.removeAll { $0 == said }
            return true
        }
        if said == device { return true }
        if others.count < Self.mostOthers, !others.contains(said) { others.append(said) }
        return false
    }

    /// Whether what was said of a receiver is said of the one that is followed, or of any before that is known.
    package func isMeant(by said: String?) -> Bool { said == nil || device == nil || said == device }

    /// The next receiver with a fix is followed.
    package mutating func forget() { device = nil }

    /// What is said where there are several; nil where there is one.
    package var note: String? {
        guard let device, !others.isEmpty else { return nil }
        let left = others.map { excerpt($0) }.joined(separator: ", ")
        return "several receivers have fixes: \(excerpt(device)) is followed, and \(left) left out"
    }
}
