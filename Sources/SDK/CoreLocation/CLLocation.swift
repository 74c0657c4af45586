import Foundation
import WakeModel
import WakeWire

/// Where the phone was, and when.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The place.
    public let coordinate: CLLocationCoordinate2D
    /// Metres above the sea; not valid while ``verticalAccuracy`` is not above 0.
    public let altitude: CLLocationDistance
    /// How far off the place may be, in metres; below 0 means that it is not valid.
    public let horizontalAccuracy: CLLocationAccuracy
    /// How far off the altitude may be, in metres; 0 or below means that it is not valid.
    public let verticalAccuracy: CLLocationAccuracy
    /// The way the phone went, in degrees from true north.
    public let course: CLLocationDirection
    /// How far off the course may be, in degrees.
    public let courseAccuracy: CLLocationDirectionAccuracy
    /// How fast it went, in metres a second.
    public let speed: CLLocationSpeed
    /// How far off the speed may be, in metres a second.
    public let speedAccuracy: CLLocationSpeedAccuracy
    /// When it was there.
    public let timestamp: Date

    /// A place, now.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
            altitude: 0,
            horizontalAccuracy: 0,
            verticalAccuracy: -1,
            timestamp: Date()
        )
    }

    /// A place and a time, and where it is known a movement and how far off that may be.
    public init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy,
        course: CLLocationDirection = -1,
        courseAccuracy: CLLocationDirectionAccuracy = -1,
        speed: CLLocationSpeed = -1,
        speedAccuracy: CLLocationSpeedAccuracy = -1,
        timestamp: Date
    ) {
        self.coordinate = coordinate
        self.altitude = altitude
        horizontalAccuracy = hAccuracy
        verticalAccuracy = vAccuracy
        self.course = course
        self.courseAccuracy = courseAccuracy
        self.speed = speed
        self.speedAccuracy = speedAccuracy
        self.timestamp = timestamp
        super.init()
    }

    /// Metres above the ellipsoid; the emulated phone's sea lies on it.
    open var ellipsoidalAltitude: CLLocationDistance { altitude }

    /// The floor of a building; never known.
    open var floor: CLFloor? { nil }

    /// What is known of where the position comes from; nothing.
    open var sourceInformation: CLLocationSourceInformation? { nil }

    /// The way to another place along the Earth, in metres, heights aside.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        coordinate.distance(to: location.coordinate)
    }

    /// Place, accuracy, movement and time.
    open override var description: String {
        let place = String(
            format: "<%+.8f,%+.8f> +/- %.2fm",
            coordinate.latitude,
            coordinate.longitude,
            horizontalAccuracy
        )
        return place + String(format: " (speed %.2f mps / course %.2f) @ ", speed, course) + "\(timestamp)"
    }

    // MARK: Copying and coding

    /// The same object, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True.
    public static var supportsSecureCoding: Bool { true }

    /// A position out of an archive; nil when a part is missing.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: "latitude"), coder.containsValue(forKey: "longitude"),
            coder.containsValue(forKey: "timestamp")
        else {
            return nil
        }
        coordinate = CLLocationCoordinate2D(
            latitude: coder.decodeDouble(forKey: "latitude"),
            longitude: coder.decodeDouble(forKey: "longitude")
        )
        altitude = coder.decodeDouble(forKey: "altitude")
        horizontalAccuracy = coder.decodeDouble(forKey: "horizontalAccuracy")
        verticalAccuracy = coder.decodeDouble(forKey: "verticalAccuracy")
        course = coder.decodeDouble(forKey: "course")
        courseAccuracy = coder.decodeDouble(forKey: "courseAccuracy")
        speed = coder.decodeDouble(forKey: "speed")
        speedAccuracy = coder.decodeDouble(forKey: "speedAccuracy")
        timestamp = Date(timeIntervalSince1970: coder.decodeDouble(forKey: "timestamp"))
        super.init()
    }

    /// Writes the position into an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(coordinate.latitude, forKey: "latitude")
        coder.encode(coordinate.longitude, forKey: "longitude")
        coder.encode(altitude, forKey: "altitude")
        coder.encode(horizontalAccuracy, forKey: "horizontalAccuracy")
        coder.encode(verticalAccuracy, forKey: "verticalAccuracy")
        coder.encode(course, forKey: "course")
        coder.encode(courseAccuracy, forKey: "courseAccuracy")
        coder.encode(speed, forKey: "speed")
        coder.encode(speedAccuracy, forKey: "speedAccuracy")
        coder.encode(timestamp.timeIntervalSince1970, forKey: "timestamp")
    }
}

extension CLLocation {
    convenience init(_ position: Position) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: position.latitude, longitude: position.longitude),
            altitude: position.altitude,
            horizontalAccuracy: position.horizontalAccuracy,
            verticalAccuracy: position.verticalAccuracy,
            course: position.course,
            speed: position.speed,
            timestamp: Date(timeIntervalSince1970: position.timestamp)
        )
    }
}

/// A floor of a building.
open class CLFloor: NSObject, @unchecked Sendable {
    /// 0 for the ground floor, above it upwards.
    public let level: Int

    init(level: Int) {
        self.level = level
        super.init()
    }
}

/// Where a position comes from.
open class CLLocationSourceInformation: NSObject, @unchecked Sendable {
    /// Whether a program made it up.
    public let isSimulatedBySoftware: Bool
    /// Whether an accessory told it.
    public let isProducedByAccessory: Bool

    /// Where a position comes from.
    public init(softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool) {
        isSimulatedBySoftware = isSoftware
        isProducedByAccessory = isAccessory
        super.init()
    }
}
