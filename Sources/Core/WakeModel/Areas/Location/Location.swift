/// A position on the Earth, taken as a sphere: the unit vector from its middle.
///
/// Sources turn degrees into directions; the router only adds, multiplies and compares.
package struct Direction: Hashable, Codable, Sendable {
    /// Towards latitude 0, longitude 0.
    package var x: Double
    /// Towards latitude 0, longitude 90 degrees east.
    package var y: Double
    /// Towards the north pole.
    package var z: Double

    @inlinable
    package init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The square of the straight line between the tips of both: see ``Sphere``.
    @inlinable
    package func chordSquared(to other: Direction) -> Double {
        let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
        return dx * dx + dy * dy + dz * dz
    }
}

/// Distances along the ground as straight lines between unit vectors.
package enum Sphere {
    /// The Earth's mean radius in metres (IUGG 1980).
    package static let radius = 6_371_008.8

    /// The chord of a distance in metres, from 0 to the 20 015 km of half the way round: 2 sin(d / 2R), by its series, so
    /// that every machine gives the same bits.
    package static func chord(metres: Double) -> Double {
        let half = metres / (2 * radius)
        let square = half * half
        var term = half
        var sum = half
        var divisor = 2.0
        for _ in 0..<12 {
            term *= -square / (divisor * (divisor + 1))
            sum += term
            divisor += 2
        }
        return 2 * sum
    }

    /// The distance in metres of a chord from 0 to 2, by the series of the arc sine, so that every machine gives the same bits.
    package static func metres(chord: Double) -> Double {
        // Half the angle twice: the series is short where the sine is small.
        var sine = min(chord / 2, 1)
        for _ in 0..<2 { sine /= (2 * (1 + (1 - sine * sine).squareRoot())).squareRoot() }
        let square = sine * sine
        var term = sine
        var sum = sine
        for step in 1..<20 {
            let odd = Double(2 * step - 1)
            term *= square * odd / (odd + 1)
            sum += term / (odd + 2)
        }
        return 2 * radius * 4 * sum
    }
}

/// A circle on the ground whose boundary an app watches (REG-1).
package struct CircularRegion: Hashable, Codable, Sendable {
    package var identifier: NameID
    package var center: Direction
    /// The chord of the radius.
    package var radiusChord: Double
    /// The chord of the radius and the outward margin: beyond it the app has left (REG-2).
    package var outwardChord: Double
    /// The chord of the radius less the inward margin: within it the app has entered (REG-2).
    package var inwardChord: Double
    package var notifyOnEntry: Bool
    package var notifyOnExit: Bool

    package init(
        identifier: NameID,
        center: Direction,
        radiusChord: Double,
        outwardChord: Double,
        inwardChord: Double,
        notifyOnEntry: Bool = true,
        notifyOnExit: Bool = true
    ) {
        self.identifier = identifier
        self.center = center
        self.radiusChord = radiusChord
        self.outwardChord = outwardChord
        self.inwardChord = inwardChord
        self.notifyOnEntry = notifyOnEntry
        self.notifyOnExit = notifyOnExit
    }

    /// A region with the margins of a profile (REG-2).
    ///
    /// - Parameter metres: The radius.
    package init(
        identifier: NameID,
        center: Direction,
        metres: Double,
        profile: Profile,
        notifyOnEntry: Bool = true,
        notifyOnExit: Bool = true
    ) {
        let margin = Double(profile.areas.location.regionMargin)
        self.init(
            identifier: identifier,
            center: center,
            radiusChord: Sphere.chord(metres: metres),
            outwardChord: Sphere.chord(metres: metres + margin),
            inwardChord: Sphere.chord(metres: metres - min(margin, metres / 2)),
            notifyOnEntry: notifyOnEntry,
            notifyOnExit: notifyOnExit
        )
    }
}

/// The beacons that an app watches for or ranges (BCN-1, BCN-4).
package struct BeaconRegion: Hashable, Codable, Sendable {
    package var identifier: NameID
    package var beacons: BeaconIdentity
    package var notifyOnEntry: Bool
    package var notifyOnExit: Bool
    /// Whether turning the display on delivers the state when inside (BCN-3).
    package var notifyEntryStateOnDisplay: Bool

    package init(
        identifier: NameID,
        beacons: BeaconIdentity,
        notifyOnEntry: Bool = true,
        notifyOnExit: Bool = true,
        notifyEntryStateOnDisplay: Bool = false
    ) {
        self.identifier = identifier
        self.beacons = beacons
        self.notifyOnEntry = notifyOnEntry
        self.notifyOnExit = notifyOnExit
        self.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
    }
}

/// Which beacons: a UUID, a UUID and a major, or all three; a minor without a major means nothing and is not looked at.
package struct BeaconIdentity: Hashable, Comparable, Codable, Sendable {
    /// The interned proximity UUID, 36 characters in capitals.
    package var uuid: NameID
    package var major: UInt16?
    package var minor: UInt16?

    package init(uuid: NameID, major: UInt16? = nil, minor: UInt16? = nil) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// Whether a beacon is one of these.
    package func matches(_ beacon: BeaconSighting) -> Bool {
        guard beacon.uuid == uuid else { return false }
        guard let major else { return true }
        return beacon.major == major && (minor == nil || beacon.minor == minor)
    }

    package static func < (left: BeaconIdentity, right: BeaconIdentity) -> Bool { left.key < right.key }

    private var key: (NameID, Int, Int) { (uuid, major.map { Int($0) } ?? -1, minor.map { Int($0) } ?? -1) }
}

/// What the user lets an app know of the position.
public enum LocationAuthorization: UInt8, Worded, Codable, Sendable {
    case notDetermined
    case restricted
    case denied
    case whenInUse
    case always
    /// What an app that asked for Always has until the user is asked again (LOC-10); the app sees Always.
    case provisionalAlways
    /// What the user allowed once: When In Use until the app is no longer in use (LOC-12); the app sees When In Use.
    case allowOnce

    /// What the user, or a policy, can say by itself.
    package static let sayable: [LocationAuthorization] = [
        .notDetermined, .restricted, .denied, .whenInUse, .always, .allowOnce,
    ]
}

/// What an app asks of Core Location through one of its managers.
package enum LocationRequest: Hashable, Codable, Sendable {
    case create
    case release
    /// Standard updates. A filter of 0 lets every fix through (LOC-4).
    case startUpdating(distanceFilterChord: Double, allowsBackground: Bool, pausesAutomatically: Bool)
    case stopUpdating
    /// allowsBackgroundLocationUpdates was set to true (LOC-6).
    case allowBackground
    case startSignificant
    case stopSignificant
    case startVisits
    case stopVisits
    case monitor(CircularRegion)
    case monitorBeacons(BeaconRegion)
    case stopMonitoring(identifier: NameID)
    case requestState(identifier: NameID)
    /// One fix, then no more.
    case requestLocation
    /// Asks the user, who allows it unless a ``WakeEvent/authorization`` said otherwise before.
    case requestAuthorization(always: Bool)
    case range(BeaconRegion)
    case stopRanging(identifier: NameID)
    /// A CLBackgroundActivitySession is made; the manager's number is the session's (SESS-3).
    case beginSession
    case endSession
}

/// Where the phone is, as a source reports it.
package struct Fix: Hashable, Codable, Sendable {
    package var direction: Direction
    /// The chord of the radius of uncertainty.
    package var accuracyChord: Double
    /// In metres a second; -1 when unknown.
    package var speed: Float

    @inlinable
    package init(direction: Direction, accuracyChord: Double = 0, speed: Float = -1) {
        self.direction = direction
        self.accuracyChord = accuracyChord
        self.speed = speed
    }
}

/// A beacon that the radio heard.
package struct BeaconSighting: Hashable, Codable, Sendable {
    /// The interned proximity UUID, 36 characters in capitals.
    package var uuid: NameID
    package var major: UInt16
    package var minor: UInt16
    /// In metres, from the strength of the signal; -1 when unknown.
    package var distance: Float
    /// In dBm; 0 when unknown.
    package var signalStrength: Int16
    /// How long before the report it was last heard; 0 for a report made at once.
    package var age: Instant.Span

    @inlinable
    package init(
        uuid: NameID,
        major: UInt16,
        minor: UInt16,
        distance: Float = -1,
        signalStrength: Int16 = 0,
        age: Instant.Span = .zero
    ) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.distance = distance
        self.signalStrength = signalStrength
        self.age = age
    }

    /// When it was last heard.
    ///
    /// - Parameter now: When it is reported.
    package func heard(reported now: Instant) -> Instant {
        max(.zero, now.advanced(by: Instant.Span.zero - max(.zero, age)))
    }

    /// The class of its distance (BCN-4).
    package var proximity: Proximity { Proximity(distance: distance) }

    /// Whether both are sightings of the same beacon.
    package func isSameBeacon(as other: BeaconSighting) -> Bool {
        uuid == other.uuid && major == other.major && minor == other.minor
    }
}

/// How far a beacon is, in the classes of Apple's CLProximity.
package enum Proximity: Worded, Sendable {
    case unknown, immediate, near, far

    /// Immediate within half a metre or so, near within a few metres, else far ("Getting Started with iBeacon", 2014).
    ///
    /// - Parameter distance: In metres; below 0 when it is not known.
    package init(distance: Float) {
        switch distance {
        case ..<0: self = .unknown
        case ..<0.5: self = .immediate
        case ..<4: self = .near
        default: self = .far
        }
    }
}

/// What the router asks of the source of positions.
package enum LocationCommand: Hashable, Sendable {
    /// Whether somebody wants to know where the phone is.
    case positioning(Bool)
    /// The beacons to look for, ascending; none when the list is empty. The radio hears them.
    case watchBeacons([BeaconIdentity])
    /// Whether somebody wants to hear of visits.
    case watchVisits(Bool)
}

extension SourceCommand {
    /// The beacons that the radio is to look for; nil when it says nothing of them.
    package var watchedBeacons: [BeaconIdentity]? {
        if case .location(.watchBeacons(let beacons)) = self { beacons } else { nil }
    }
}

/// A position as an app reads it.
package struct Position: Hashable, Codable, Sendable {
    /// In degrees, north positive.
    package var latitude: Double
    /// In degrees, east positive.
    package var longitude: Double
    /// In metres above the sea.
    package var altitude: Double
    /// In metres; negative when the position is invalid.
    package var horizontalAccuracy: Double
    /// In metres; negative when the altitude is invalid.
    package var verticalAccuracy: Double
    /// In degrees from north, clockwise; negative when unknown.
    package var course: Double
    /// In metres a second; negative when unknown.
    package var speed: Double
    /// In seconds since 1970.
    package var timestamp: Double

    package init(
        latitude: Double,
        longitude: Double,
        altitude: Double = 0,
        horizontalAccuracy: Double = 5,
        verticalAccuracy: Double = -1,
        course: Double = -1,
        speed: Double = -1,
        timestamp: Double
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
    }
}

/// A stay at a place as an app reads it.
package struct Visit: Hashable, Codable, Sendable {
    /// In degrees, north positive.
    package var latitude: Double
    /// In degrees, east positive.
    package var longitude: Double
    /// In metres.
    package var horizontalAccuracy: Double
    /// In seconds since 1970; nil when it began before anybody watched.
    package var arrival: Double?
    /// In seconds since 1970; nil while it lasts.
    package var departure: Double?

    package init(
        latitude: Double,
        longitude: Double,
        horizontalAccuracy: Double,
        arrival: Double?,
        departure: Double?
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.horizontalAccuracy = horizontalAccuracy
        self.arrival = arrival
        self.departure = departure
    }
}

/// The state of a region, in the numbers of Apple's CLRegionState.
package enum RegionState: UInt8, Worded, Codable, Sendable {
    case unknown = 0
    case inside = 1
    case outside = 2
}

/// Why Core Location cannot do something, in the codes of Apple's CLError.
package enum LocationFailureCode {
    /// kCLErrorLocationUnknown
    package static let locationUnknown: Int32 = 0
    /// kCLErrorDenied
    package static let denied: Int32 = 1
    /// kCLErrorRegionMonitoringDenied
    package static let regionMonitoringDenied: Int32 = 4
    /// kCLErrorRegionMonitoringFailure
    package static let regionMonitoringFailure: Int32 = 5
    /// kCLErrorRangingUnavailable
    package static let rangingUnavailable: Int32 = 16
}

/// The kinds of its events, each by its row of Tables/events.tsv.
extension EventKind {
    @inlinable package static var positionFixed: EventKind { EventKind(row: 32) }
    @inlinable package static var significantChange: EventKind { EventKind(row: 33) }
    @inlinable package static var visitBegan: EventKind { EventKind(row: 34) }
    @inlinable package static var visitEnded: EventKind { EventKind(row: 35) }
    @inlinable package static var regionEntered: EventKind { EventKind(row: 36) }
    @inlinable package static var regionExited: EventKind { EventKind(row: 37) }
    @inlinable package static var regionStateDetermined: EventKind { EventKind(row: 38) }
    @inlinable package static var monitoringStarted: EventKind { EventKind(row: 39) }
    @inlinable package static var monitoringFailed: EventKind { EventKind(row: 40) }
    @inlinable package static var locationUpdatesPaused: EventKind { EventKind(row: 41) }
    @inlinable package static var authorizationChanged: EventKind { EventKind(row: 42) }
    @inlinable package static var locationFailed: EventKind { EventKind(row: 43) }
    @inlinable package static var beaconSighted: EventKind { EventKind(row: 44) }
    @inlinable package static var beaconsRanged: EventKind { EventKind(row: 45) }
}

extension Action {
    package static func location(_ command: LocationCommand) -> Action { .command(.location(command)) }
}
