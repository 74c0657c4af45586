/// What a location manager is told.
///
/// Crossings, significant changes, visits and ranged beacons have the manager number 0, and are for all location managers
/// of the process.
package enum WireLocationEvent: Equatable, Sendable {
    /// The phone is, or was, at these positions, oldest first: of standard updates, significant changes and requests.
    case updated([WirePosition])
    /// Positions could not be had.
    case failed(WireFailure)
    /// The phone entered a region.
    case regionEntered(String)
    /// The phone left a region.
    case regionExited(String)
    /// Whether the phone is inside of a region.
    case regionState(String, WireRegionState)
    /// A region is monitored now.
    case monitoringStarted(String)
    /// A region is not, or no more, monitored.
    case monitoringFailed(String, WireFailure)
    /// The beacons of a region in sight, nearest first.
    case ranged(String, [WireBeacon])
    /// Beacons of a region cannot be ranged.
    case rangingFailed(String, WireFailure)
    /// A visit began, or ended.
    case visited(WireVisit)
    /// Standard updates paused by themselves.
    case paused
    /// Standard updates go on.
    case resumed
    /// The user has decided, or another decision of the user's came to hold.
    case authorization(WireAuthorization, precise: Bool)
    /// Updates are held back no more.
    case deferredFinished(WireFailure?)
}

extension WireDeliveryBody {
    /// The source that such deliveries come from.
    package var source: String {
        switch self {
        case .location: "location"
        case .voip: "voip"
        default: "bluetooth"
        }
    }
}

/// What the app may know of positions, in the words of `CLAuthorizationStatus`.
package enum WireAuthorization: String, CaseIterable, Sendable {
    /// The user was not asked yet.
    case notDetermined
    /// A policy forbids it.
    case restricted
    /// The user refused.
    case denied
    /// Whenever the app asks.
    case authorizedAlways
    /// While the app is in use.
    case authorizedWhenInUse
}

/// Where the phone stands to a region, in the words of `CLRegionState`.
package enum WireRegionState: String, CaseIterable, Sendable {
    /// Not known.
    case unknown
    /// Inside.
    case inside
    /// Outside.
    case outside
}

/// How far a beacon is, in the words of `CLProximity`.
package enum WireProximity: String, CaseIterable, Sendable {
    /// Not known.
    case unknown
    /// Some centimetres.
    case immediate
    /// A few metres.
    case near
    /// Farther.
    case far
}

/// A position in time.
package struct WirePosition: Equatable, Sendable {
    /// Degrees, north above 0.
    package var latitude: Double
    /// Degrees, east above 0.
    package var longitude: Double
    /// Metres above the sea.
    package var altitude: Double
    /// Metres; below 0 means that latitude and longitude are not valid.
    package var horizontalAccuracy: Double
    /// Metres; below 0 means that the altitude is not valid.
    package var verticalAccuracy: Double
    /// Degrees from true north, clockwise; below 0 means not known.
    package var course: Double
    /// Metres a second; below 0 means not known.
    package var speed: Double
    /// Seconds since 1970.
    package var timestamp: Double

    /// A position in time; without arguments, nothing but the place is known.
    package init(
        latitude: Double,
        longitude: Double,
        altitude: Double = 0,
        horizontalAccuracy: Double = 0,
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

/// A beacon in sight.
package struct WireBeacon: Equatable, Sendable {
    /// A UUID of 36 characters in capitals.
    package var uuid: String
    /// The number of a group.
    package var major: UInt16
    /// The number in the group.
    package var minor: UInt16
    /// How far it is, roughly.
    package var proximity: WireProximity
    /// How far it is, in metres; below 0 means not known.
    package var accuracy: Double
    /// The signal strength, in dBm; 0 when unknown.
    package var rssi: Int
    /// When it was seen, in seconds since 1970.
    package var timestamp: Double

    /// A beacon in sight.
    package init(
        uuid: String,
        major: UInt16,
        minor: UInt16,
        proximity: WireProximity,
        accuracy: Double,
        rssi: Int,
        timestamp: Double
    ) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.proximity = proximity
        self.accuracy = accuracy
        self.rssi = rssi
        self.timestamp = timestamp
    }
}

/// A stay at a place.
package struct WireVisit: Equatable, Sendable {
    /// Degrees, north above 0.
    package var latitude: Double
    /// Degrees, east above 0.
    package var longitude: Double
    /// Metres.
    package var horizontalAccuracy: Double
    /// Seconds since 1970; nil when it is not known.
    package var arrival: Double?
    /// Seconds since 1970; nil while the visit lasts.
    package var departure: Double?

    /// A stay at a place.
    package init(
        latitude: Double,
        longitude: Double,
        horizontalAccuracy: Double,
        arrival: Double? = nil,
        departure: Double? = nil
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.horizontalAccuracy = horizontalAccuracy
        self.arrival = arrival
        self.departure = departure
    }
}

/// What a fresh location manager is told.
package struct WireLocationStatus: Equatable, Sendable {
    /// What the app may know.
    package var authorization: WireAuthorization
    /// Whether it may know positions precisely.
    package var isPrecise: Bool
    /// The largest radius of a region, in metres.
    package var largestRadius: Double
    /// The regions that the app monitors, those of its earlier processes too.
    package var regions: [WireRegion]

    /// What a fresh location manager is told.
    package init(
        authorization: WireAuthorization,
        isPrecise: Bool = true,
        largestRadius: Double,
        regions: [WireRegion] = []
    ) {
        self.authorization = authorization
        self.isPrecise = isPrecise
        self.largestRadius = largestRadius
        self.regions = regions
    }
}

extension WireLimits {
    /// The most positions, beacons or regions that a packet can name.
    package static let listed = 256
}
