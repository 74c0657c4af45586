import Foundation
import WakeModel
import WakeWire

/// A stay at a place.
open class CLVisit: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// When it began; `Date.distantPast` when nobody watched then.
    open var arrivalDate: Date { storedArrival }
    /// When it ended; `Date.distantFuture` while it lasts.
    open var departureDate: Date { storedDeparture }
    /// The place.
    open var coordinate: CLLocationCoordinate2D { storedCoordinate }
    /// How far off the place may be, in metres.
    open var horizontalAccuracy: CLLocationAccuracy { storedAccuracy }

    private let storedArrival: Date
    private let storedDeparture: Date
    private let storedCoordinate: CLLocationCoordinate2D
    private let storedAccuracy: CLLocationAccuracy

    /// A visit of which nothing is known, for tests that override its properties.
    public override init() {
        storedArrival = .distantPast
        storedDeparture = .distantFuture
        storedCoordinate = CLLocationCoordinate2D()
        storedAccuracy = 0
        super.init()
    }

    init(_ visit: Visit) {
        storedArrival = visit.arrival.map { Date(timeIntervalSince1970: $0) } ?? .distantPast
        storedDeparture = visit.departure.map { Date(timeIntervalSince1970: $0) } ?? .distantFuture
        storedCoordinate = CLLocationCoordinate2D(latitude: visit.latitude, longitude: visit.longitude)
        storedAccuracy = visit.horizontalAccuracy
        super.init()
    }

    /// The same object, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True.
    public static var supportsSecureCoding: Bool { true }

    /// A visit out of an archive.
    public required init?(coder: NSCoder) {
        storedArrival = Date(timeIntervalSince1970: coder.decodeDouble(forKey: "arrival"))
        storedDeparture = Date(timeIntervalSince1970: coder.decodeDouble(forKey: "departure"))
        storedCoordinate = CLLocationCoordinate2D(
            latitude: coder.decodeDouble(forKey: "latitude"),
            longitude: coder.decodeDouble(forKey: "longitude")
        )
        storedAccuracy = coder.decodeDouble(forKey: "horizontalAccuracy")
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
