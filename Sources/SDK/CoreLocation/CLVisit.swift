import Foundation
import WakeModel
import WakeWire

/// A stay at a place.
open class CLVisit: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// When it began; `Date.distantPast` when nobody watched then.
    open private(set) var arrivalDate: Date
    /// When it ended; `Date.distantFuture` while it lasts.
    open private(set) var departureDate: Date
    /// The place.
    open private(set) var coordinate: CLLocationCoordinate2D
    /// How far off the place may be, in metres.
    open private(set) var horizontalAccuracy: CLLocationAccuracy

    /// A visit of which nothing is known, for tests that override its properties.
    public override init() {
        arrivalDate = .distantPast
        departureDate = .distantFuture
        coordinate = CLLocationCoordinate2D()
        horizontalAccuracy = 0
        super.init()
    }

    init(_ visit: Visit) {
        arrivalDate = visit.arrival.map { Date(timeIntervalSince1970: $0) } ?? .distantPast
        departureDate = visit.departure.map { Date(timeIntervalSince1970: $0) } ?? .distantFuture
        coordinate = CLLocationCoordinate2D(latitude: visit.latitude, longitude: visit.longitude)
        horizontalAccuracy = visit.horizontalAccuracy
        super.init()
    }

    /// The same object, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True.
    public static var supportsSecureCoding: Bool { true }

    /// A visit out of an archive.
    public required init?(coder: NSCoder) {
        arrivalDate = Date(timeIntervalSince1970: coder.decodeDouble(forKey: "arrival"))
        departureDate = Date(timeIntervalSince1970: coder.decodeDouble(forKey: "departure"))
        coordinate = CLLocationCoordinate2D(
            latitude: coder.decodeDouble(forKey: "latitude"),
            longitude: coder.decodeDouble(forKey: "longitude")
        )
        horizontalAccuracy = coder.decodeDouble(forKey: "horizontalAccuracy")
        super.init()
    }

    /// Writes the visit into an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(arrivalDate.timeIntervalSince1970, forKey: "arrival")
        coder.encode(departureDate.timeIntervalSince1970, forKey: "departure")
        coder.encode(coordinate.latitude, forKey: "latitude")
        coder.encode(coordinate.longitude, forKey: "longitude")
        coder.encode(horizontalAccuracy, forKey: "horizontalAccuracy")
    }
}

/// Where the top of the phone points; never told, since the emulated phone has no compass.
open class CLHeading: NSObject, @unchecked Sendable {
    /// Degrees from magnetic north.
    open var magneticHeading: CLLocationDirection { -1 }
    /// Degrees from true north.
    open var trueHeading: CLLocationDirection { -1 }
    /// How far off that may be, in degrees; below 0 means that it is not valid.
    open var headingAccuracy: CLLocationDirection { -1 }
    /// The magnetic field, in microteslas.
    open var x: CLHeadingComponentValue { 0 }
    /// The magnetic field, in microteslas.
    open var y: CLHeadingComponentValue { 0 }
    /// The magnetic field, in microteslas.
    open var z: CLHeadingComponentValue { 0 }
    /// When that was.
    open var timestamp: Date { .distantPast }
}
