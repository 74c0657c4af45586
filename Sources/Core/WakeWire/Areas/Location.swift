import WakeModel

/// What an app asks of a location manager.
package enum WireLocationRequest: Equatable, Sendable {
    /// A manager was made; answered by a reply with the authorization and the regions the app monitors.
    case create(id: UInt64)
    /// The manager is gone, and its updates end; regions, visits and significant changes stay.
    case release
    /// Begins standard updates, or changes how they are wanted.
    case startUpdating(WireLocationOptions)
    /// Ends standard updates.
    case stopUpdating
    /// Updates are to go on in the background; answered by a reply, unless the mode is missing, which ends the app.
    case allowBackground(id: UInt64)
    /// Begins the significant-change service.
    case startSignificant
    /// Ends the significant-change service.
    case stopSignificant
    /// Begins the visit service.
    case startVisits
    /// Ends the visit service.
    case stopVisits
    /// Monitors a region; one of the same identifier is replaced.
    case monitor(WireRegion)
    /// Ends the monitoring of a region.
    case stopMonitoring(region: String)
    /// Asks whether the phone is inside a monitored region.
    case requestState(region: String)
    /// Asks for one position.
    case requestLocation
    /// Asks the user.
    case requestAuthorization(always: Bool)
    /// Tells about once a second of the beacons of a region, of which only the beacon part counts.
    case range(WireRegion)
    /// Ends the ranging of a region.
    case stopRanging(region: String)
    /// Holds updates back for that many metres and seconds; nil means without limit.
    case deferUpdates(distance: Double?, timeout: Double?)
    /// Holds updates back no more.
    case disallowDeferred
    /// A background activity session is made; the manager's number is the session's.
    case beginSession
    /// That session is over.
    case endSession
}

/// How standard updates are wanted.
package struct WireLocationOptions: Equatable, Sendable {
    /// The least way between two updates, in metres; 0 means each of them.
    package var distanceFilter: Double
    /// What the app would like, in metres; below 0 means the best. It filters nothing (LOC-4).
    package var desiredAccuracy: Double
    /// Go on in the background.
    package var allowsBackground: Bool
    /// Pause while the phone rests.
    package var pausesAutomatically: Bool

    /// How standard updates are wanted; without arguments as a fresh manager does.
    package init(
        distanceFilter: Double = 0,
        desiredAccuracy: Double = -1,
        allowsBackground: Bool = false,
        pausesAutomatically: Bool = true
    ) {
        self.distanceFilter = distanceFilter
        self.desiredAccuracy = desiredAccuracy
        self.allowsBackground = allowsBackground
        self.pausesAutomatically = pausesAutomatically
    }
}

/// A region that can be monitored, or beacons that can be ranged.
package struct WireRegion: Equatable, Sendable {
    /// The app's own name for it.
    package var identifier: String
    /// Where it is, or whose beacons it is.
    package var shape: WireRegionShape
    /// Tell of entries.
    package var notifyOnEntry: Bool
    /// Tell of exits.
    package var notifyOnExit: Bool
    /// Tell the state each time the display is turned on inside of a beacon region.
    package var notifyEntryStateOnDisplay: Bool

    /// A region that can be monitored, or beacons that can be ranged.
    package init(
        identifier: String,
        shape: WireRegionShape,
        notifyOnEntry: Bool = true,
        notifyOnExit: Bool = true,
        notifyEntryStateOnDisplay: Bool = false
    ) {
        self.identifier = identifier
        self.shape = shape
        self.notifyOnEntry = notifyOnEntry
        self.notifyOnExit = notifyOnExit
        self.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
    }
}

/// Where a region is, or whose beacons it is.
package enum WireRegionShape: Equatable, Sendable {
    /// A circle: degrees of latitude and longitude, and metres.
    case circle(latitude: Double, longitude: Double, radius: Double)
    /// Beacons of a UUID of 36 characters in capitals; without numbers all of them. A minor number needs a major one.
    case beacons(uuid: String, major: UInt16?, minor: UInt16?)
}

/// What a location manager is told.
///
/// Crossings, significant changes, visits and ranged beacons have the manager number 0, and are for all location managers
/// of the process.
package enum WireLocationEvent: Equatable, Sendable {
    /// The phone is, or was, at these positions, oldest first: of standard updates, significant changes and requests.
    case updated([Position])
    /// Positions could not be had.
    case failed(WireFailure)
    /// The phone entered a region.
    case regionEntered(String)
    /// The phone left a region.
    case regionExited(String)
    /// Whether the phone is inside of a region.
    case regionState(String, RegionState)
    /// A region is monitored now.
    case monitoringStarted(String)
    /// A region is not, or no more, monitored.
    case monitoringFailed(String, WireFailure)
    /// The beacons of a region in sight, nearest first.
    case ranged(String, [WireBeacon])
    /// Beacons of a region cannot be ranged.
    case rangingFailed(String, WireFailure)
    /// A visit began, or ended.
    case visited(Visit)
    /// Standard updates paused by themselves.
    case paused
    /// Standard updates go on.
    case resumed
    /// The user has decided, or another decision of the user's came to hold.
    case authorization(WireAuthorization, precise: Bool)
    /// Updates are held back no more.
    case deferredFinished(WireFailure?)
}

/// What the app may know of positions, in the words of `CLAuthorizationStatus`.
package enum WireAuthorization: String, CaseIterable, Sendable, WireWord {
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

/// A beacon in sight.
package struct WireBeacon: Equatable, Sendable {
    /// A UUID of 36 characters in capitals.
    package var uuid: String
    /// The number of a group.
    package var major: UInt16
    /// The number in the group.
    package var minor: UInt16
    /// How far it is, roughly.
    package var proximity: Proximity
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
        proximity: Proximity,
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
    /// The longest name of a region, in bytes.
    package static let regionIdentifierBytes = 1_024
    /// The largest distance, accuracy and timeout that a packet can name, in metres or seconds.
    package static let largestDistance = 1e9
}

// MARK: Coding

extension FieldShape where Value == String {
    /// The name of a region: any text of at most ``WireLimits/regionIdentifierBytes``.
    fileprivate static var region: FieldShape {
        .text(atMost: WireLimits.regionIdentifierBytes)
    }
}

extension FieldShape where Value == Double {
    /// A number of metres, or seconds, from 0 on.
    fileprivate static var distance: FieldShape {
        .measure(in: 0...WireLimits.largestDistance)
    }

    /// A number of metres below or above 0.
    fileprivate static var offset: FieldShape {
        .measure(in: -WireLimits.largestDistance...WireLimits.largestDistance)
    }

    fileprivate static var latitude: FieldShape {
        .measure(in: -90...90)
    }

    fileprivate static var longitude: FieldShape {
        .measure(in: -180...180)
    }

    /// Seconds since 1970, of the years 1 to 9999.
    fileprivate static var time: FieldShape {
        .measure(in: -62_135_596_800...253_402_300_799)
    }
}

extension WireLocationRequest: AreaMessage {
    static let area = "location"
    static let blanks: [Self] = [
        .create(id: 0), .release, .startUpdating(WireLocationOptions()), .stopUpdating, .allowBackground(id: 0),
        .startSignificant, .stopSignificant, .startVisits, .stopVisits, .monitor(.blank), .stopMonitoring(region: ""),
        .requestState(region: ""), .requestLocation, .requestAuthorization(always: false), .range(.blank),
        .stopRanging(region: ""), .deferUpdates(distance: nil, timeout: nil), .disallowDeferred,
        .beginSession, .endSession,
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .create(let id): self = try .create(id: coder.field("id", id, .whole))
        case .allowBackground(let id): self = try .allowBackground(id: coder.field("id", id, .whole))
        case .startUpdating(let options): self = try .startUpdating(coder.coded(options))
        case .monitor(let region): self = try .monitor(coder.field("region", region, .object))
        case .range(let region): self = try .range(coder.field("region", region, .object))
        case .stopMonitoring(let region): self = try .stopMonitoring(region: coder.field("region", region, .region))
        case .requestState(let region): self = try .requestState(region: coder.field("region", region, .region))
        case .stopRanging(let region): self = try .stopRanging(region: coder.field("region", region, .region))
        case .requestAuthorization(let always):
            self = try .requestAuthorization(always: coder.field("always", always, .bool, absent: false))
        case .deferUpdates(let distance, let timeout):
            self = try .deferUpdates(
                distance: coder.field("distance", distance, .distance),
                timeout: coder.field("timeout", timeout, .distance)
            )
        case .release, .stopUpdating, .startSignificant, .stopSignificant, .startVisits, .stopVisits,
            .requestLocation, .disallowDeferred, .beginSession, .endSession:
            break
        }
    }
}

extension WireLocationOptions: Coded {
    static let blank = WireLocationOptions()

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        let accuracies = -2...WireLimits.largestDistance
        try coder.field("distanceFilter", of: &distanceFilter, .distance, absent: 0)
        try coder.field("desiredAccuracy", of: &desiredAccuracy, .measure(in: accuracies), absent: -1)
        try coder.field("allowsBackground", of: &allowsBackground, .bool, absent: false)
        try coder.field("pausesAutomatically", of: &pausesAutomatically, .bool, absent: true)
    }
}

extension WireRegion: Coded {
    static let blank = WireRegion(identifier: "", shape: .beacons(uuid: "", major: nil, minor: nil))

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("identifier", of: &identifier, .region)
        try shape.code(&coder)
        try coder.field("notifyOnEntry", of: &notifyOnEntry, .bool, absent: true)
        try coder.field("notifyOnExit", of: &notifyOnExit, .bool, absent: true)
        try coder.field("notifyEntryStateOnDisplay", of: &notifyEntryStateOnDisplay, .bool, absent: false)
    }
}

extension WireRegionShape {
    fileprivate mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        if coder.holds("circle") == true {
            self = .circle(latitude: 0, longitude: 0, radius: 0)
        }
        switch self {
        case .circle(let latitude, let longitude, let radius):
            try coder.enterRequired("circle")
            self = try .circle(
                latitude: coder.field("latitude", latitude, .latitude),
                longitude: coder.field("longitude", longitude, .longitude),
                radius: coder.field("radius", radius, .distance)
            )
        case .beacons(let uuid, let major, let minor):
            try coder.enterRequired("beacons")
            self = try .beacons(
                uuid: coder.field("uuid", uuid, .identifier),
                major: coder.field("major", major, .whole),
                minor: coder.field("minor", minor, .whole)
            )
            if case .beacons(_, nil, .some) = self, coder.holds("major") == false {
                throw .missing(key: "major")
            }
        }
        coder.leave()
    }
}

extension WireLocationEvent: AreaMessage {
    static let area = "location"
    static let blanks: [Self] = [
        .updated([]), .failed(.blank), .regionEntered(""), .regionExited(""), .regionState("", .unknown),
        .monitoringStarted(""), .monitoringFailed("", .blank), .ranged("", []), .rangingFailed("", .blank),
        .visited(.blank), .paused, .resumed, .authorization(.notDetermined, precise: true), .deferredFinished(nil),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .updated(let locations):
            self = try .updated(coder.field("locations", locations, .list(atMost: WireLimits.listed)))
        case .failed(let failure): self = try .failed(coder.failure(failure))
        case .regionEntered(let region): self = try .regionEntered(coder.field("region", region, .region))
        case .regionExited(let region): self = try .regionExited(coder.field("region", region, .region))
        case .regionState(let region, let state):
            self = try .regionState(coder.field("region", region, .region), coder.field("state", state, .word))
        case .monitoringStarted(let region): self = try .monitoringStarted(coder.field("region", region, .region))
        case .monitoringFailed(let region, let failure):
            self = try .monitoringFailed(coder.field("region", region, .region), coder.failure(failure))
        case .ranged(let region, let beacons):
            self = try .ranged(
                coder.field("region", region, .region),
                coder.field("beacons", beacons, .list(atMost: WireLimits.listed))
            )
        case .rangingFailed(let region, let failure):
            self = try .rangingFailed(coder.field("region", region, .region), coder.failure(failure))
        case .visited(let visit): self = try .visited(coder.coded(visit))
        case .authorization(let authorization, let precise):
            self = try .authorization(
                coder.field("authorization", authorization, .word),
                precise: coder.field("precise", precise, .bool, absent: true)
            )
        case .deferredFinished(let failure): self = try .deferredFinished(coder.failure(failure))
        case .paused, .resumed: break
        }
    }
}

extension Position: Coded {
    static let blank = Position(latitude: 0, longitude: 0, timestamp: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("latitude", of: &latitude, .latitude)
        try coder.field("longitude", of: &longitude, .longitude)
        try coder.field("altitude", of: &altitude, .offset, absent: 0)
        try coder.field("horizontalAccuracy", of: &horizontalAccuracy, .offset)
        try coder.field("verticalAccuracy", of: &verticalAccuracy, .offset, absent: -1)
        try coder.field("course", of: &course, .measure(in: -360...360), absent: -1)
        try coder.field("speed", of: &speed, .offset, absent: -1)
        try coder.field("timestamp", of: &timestamp, .time)
    }
}

/// In the words of `CLRegionState`.
extension RegionState: WireWord {}

/// In the words of `CLProximity`.
extension Proximity: WireWord {}

extension WireBeacon: Coded {
    static let blank = WireBeacon(
        uuid: "",
        major: 0,
        minor: 0,
        proximity: .unknown,
        accuracy: -1,
        rssi: 0,
        timestamp: 0
    )

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("uuid", of: &uuid, .identifier)
        try coder.field("major", of: &major, .whole)
        try coder.field("minor", of: &minor, .whole)
        try coder.field("proximity", of: &proximity, .word)
        try coder.field("accuracy", of: &accuracy, .measure(in: -1...WireLimits.largestDistance))
        try coder.field("rssi", of: &rssi, .decibels)
        try coder.field("timestamp", of: &timestamp, .time)
    }
}

extension Visit: Coded {
    static let blank = Visit(latitude: 0, longitude: 0, horizontalAccuracy: 0, arrival: nil, departure: nil)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("latitude", of: &latitude, .latitude)
        try coder.field("longitude", of: &longitude, .longitude)
        try coder.field("horizontalAccuracy", of: &horizontalAccuracy, .distance)
        try coder.field("arrival", of: &arrival, .time)
        try coder.field("departure", of: &departure, .time)
    }
}

extension WireLocationStatus: Coded {
    static let blank = WireLocationStatus(authorization: .notDetermined, largestRadius: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("authorization", of: &authorization, .word)
        try coder.field("precise", of: &isPrecise, .bool, absent: true)
        try coder.field("largestRadius", of: &largestRadius, .distance)
        try coder.field("regions", of: &regions, .list(atMost: WireLimits.listed), absent: [])
    }
}
