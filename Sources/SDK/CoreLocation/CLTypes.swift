import Foundation

/// Degrees of latitude or longitude.
public typealias CLLocationDegrees = Double
/// Metres.
public typealias CLLocationDistance = Double
/// Metres; below 0 means that the value it belongs to is not valid.
public typealias CLLocationAccuracy = Double
/// Metres a second; below 0 means not known.
public typealias CLLocationSpeed = Double
/// Metres a second; below 0 means not known.
public typealias CLLocationSpeedAccuracy = Double
/// Degrees from true north, clockwise; below 0 means not known.
public typealias CLLocationDirection = Double
/// Degrees; below 0 means not known.
public typealias CLLocationDirectionAccuracy = Double
/// One axis of a magnetic field.
public typealias CLHeadingComponentValue = Double
/// The number of a group of beacons.
public typealias CLBeaconMajorValue = UInt16
/// The number of a beacon in its group.
public typealias CLBeaconMinorValue = UInt16

/// Every update, however short the way.
public let kCLDistanceFilterNone: CLLocationDistance = -1
/// Every heading, however small the turn.
public let kCLHeadingFilterNone: CLLocationDegrees = -1
/// The best accuracy, with the help of further sensors.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
/// The best accuracy.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
/// Within ten metres.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
/// Within a hundred metres.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
/// Within a kilometre.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1_000
/// Within three kilometres.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3_000
/// What an app gets that may not know positions precisely; a few kilometres.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = 5_000
/// No limit to a distance.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude
/// No limit to a time.
public let CLTimeIntervalMax: TimeInterval = .greatestFiniteMagnitude

/// Whether the app may use location services.
public enum CLAuthorizationStatus: Int32, Sendable {
    /// The user was not asked yet.
    case notDetermined = 0
    /// A policy forbids it.
    case restricted = 1
    /// The user refused.
    case denied = 2
    /// At any time.
    case authorizedAlways = 3
    /// While the app is in use.
    case authorizedWhenInUse = 4

    /// At any time; the name before iOS 8.
    public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// Whether the app may know positions precisely.
public enum CLAccuracyAuthorization: Int, Sendable {
    /// As they are.
    case fullAccuracy = 0
    /// To some kilometres.
    case reducedAccuracy = 1
}

/// Where the phone stands to a region.
public enum CLRegionState: Int, Sendable {
    /// Not known.
    case unknown = 0
    /// Inside.
    case inside = 1
    /// Outside.
    case outside = 2
}

/// How far a beacon is, roughly.
public enum CLProximity: Int, Sendable {
    /// Not known.
    case unknown = 0
    /// Some centimetres.
    case immediate = 1
    /// A few metres.
    case near = 2
    /// Farther.
    case far = 3
}

/// What the user does while the app follows the position.
public enum CLActivityType: Int, Sendable {
    /// None of these.
    case other = 1
    /// Drives a car.
    case automotiveNavigation = 2
    /// Walks, runs or cycles.
    case fitness = 3
    /// Moves by another vehicle.
    case otherNavigation = 4
    /// Flies.
    case airborne = 5
}

/// How the phone is held.
public enum CLDeviceOrientation: Int32, Sendable {
    /// Not known.
    case unknown = 0
    /// Upright.
    case portrait = 1
    /// Upside down.
    case portraitUpsideDown = 2
    /// On its left side.
    case landscapeLeft = 3
    /// On its right side.
    case landscapeRight = 4
    /// On its back.
    case faceUp = 5
    /// On its face.
    case faceDown = 6
}

/// A place on Earth.
public struct CLLocationCoordinate2D: Sendable {
    /// Degrees, north above 0.
    public var latitude: CLLocationDegrees
    /// Degrees, east above 0.
    public var longitude: CLLocationDegrees

    /// Where equator and prime meridian meet.
    public init() {
        latitude = 0
        longitude = 0
    }

    /// A place on Earth.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A place that is none.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// A place on Earth.
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees,
    _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Whether the degrees are those of a place.
public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
    (-90...90).contains(coord.latitude) && (-180...180).contains(coord.longitude)
}

extension CLLocationCoordinate2D {
    /// The way along a sphere of the Earth's mean radius, 6 371 008.8 m, in metres.
    func distance(to other: CLLocationCoordinate2D) -> CLLocationDistance {
        let radians = Double.pi / 180
        let (here, there) = (latitude * radians, other.latitude * radians)
        let north = sin((there - here) / 2)
        let east = sin((other.longitude - longitude) * radians / 2)
        let half = north * north + cos(here) * cos(there) * east * east
        return 2 * 6_371_008.8 * atan2(half.squareRoot(), max(0, 1 - half).squareRoot())
    }
}
