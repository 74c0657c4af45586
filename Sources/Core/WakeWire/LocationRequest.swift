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

// MARK: Decoding

extension WireLocationRequest {
    /// Reads the request of that type; nil for a type that is none of these.
    init?(type: String, fields: Fields) throws(WireError) {
        switch type {
        case "location.create":
            self = .create(id: try fields.serial("id"))
        case "location.release":
            self = .release
        case "location.startUpdating":
            self = .startUpdating(try WireLocationOptions(fields))
        case "location.stopUpdating":
            self = .stopUpdating
        case "location.allowBackground":
            self = .allowBackground(id: try fields.serial("id"))
        case "location.startSignificant":
            self = .startSignificant
        case "location.stopSignificant":
            self = .stopSignificant
        case "location.startVisits":
            self = .startVisits
        case "location.stopVisits":
            self = .stopVisits
        case "location.monitor":
            self = .monitor(try WireRegion(fields.object("region")))
        case "location.stopMonitoring":
            self = .stopMonitoring(region: try fields.regionIdentifier("region"))
        case "location.requestState":
            self = .requestState(region: try fields.regionIdentifier("region"))
        case "location.requestLocation":
            self = .requestLocation
        case "location.requestAuthorization":
            self = .requestAuthorization(always: try fields.flag("always"))
        case "location.range":
            self = .range(try WireRegion(fields.object("region")))
        case "location.stopRanging":
            self = .stopRanging(region: try fields.regionIdentifier("region"))
        case "location.deferUpdates":
            self = .deferUpdates(
                distance: try fields.optionalMeasure("distance", in: 0...WireLimits.largestDistance),
                timeout: try fields.optionalMeasure("timeout", in: 0...WireLimits.largestDistance)
            )
        case "location.disallowDeferred":
            self = .disallowDeferred
        default:
            return nil
        }
    }
}

extension WireLocationOptions {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            distanceFilter: try fields.optionalMeasure("distanceFilter", in: 0...WireLimits.largestDistance) ?? 0,
            desiredAccuracy: try fields.optionalMeasure("desiredAccuracy", in: -2...WireLimits.largestDistance) ?? -1,
            allowsBackground: try fields.flag("allowsBackground"),
            pausesAutomatically: try fields.optionalBool("pausesAutomatically") ?? true
        )
    }
}

extension WireRegion {
    init(_ fields: Fields) throws(WireError) {
        self.init(
            identifier: try fields.regionIdentifier("identifier"),
            shape: try WireRegionShape(fields),
            notifyOnEntry: try fields.optionalBool("notifyOnEntry") ?? true,
            notifyOnExit: try fields.optionalBool("notifyOnExit") ?? true,
            notifyEntryStateOnDisplay: try fields.flag("notifyEntryStateOnDisplay")
        )
    }
}

extension WireRegionShape {
    fileprivate init(_ fields: Fields) throws(WireError) {
        if let circle = try fields.optionalObject("circle") {
            self = .circle(
                latitude: try circle.measure("latitude", in: -90...90),
                longitude: try circle.measure("longitude", in: -180...180),
                radius: try circle.measure("radius", in: 0...WireLimits.largestDistance)
            )
            return
        }
        let beacons = try fields.object("beacons")
        let major = try beacons.optionalInteger("major", in: 0...65_535).map { UInt16($0) }
        let minor = try beacons.optionalInteger("minor", in: 0...65_535).map { UInt16($0) }
        guard minor == nil || major != nil else { throw .missing(key: "major") }
        self = .beacons(uuid: try beacons.identifier("uuid"), major: major, minor: minor)
    }
}

extension Fields {
    /// The name of a region: any text of at most ``WireLimits/regionIdentifierBytes``.
    func regionIdentifier(_ key: StaticString) throws(WireError) -> String {
        let text = try string(key)
        guard text.utf8.count <= WireLimits.regionIdentifierBytes else {
            throw .badValue(key: key.description, expected: "at most \(WireLimits.regionIdentifierBytes) bytes of text")
        }
        return text
    }

    /// A number, whole or with a fraction.
    func optionalMeasure(_ key: StaticString, in range: ClosedRange<Double>) throws(WireError) -> Double? {
        guard let value = try optionalSeconds(key) else {
            return nil
        }
        guard range.contains(value) else {
            throw .badValue(key: key.description, expected: "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// A number, whole or with a fraction.
    func measure(_ key: StaticString, in range: ClosedRange<Double>) throws(WireError) -> Double {
        guard let value = try optionalMeasure(key, in: range) else {
            throw .missing(key: key.description)
        }
        return value
    }
}

extension WireLimits {
    /// The longest name of a region, in bytes.
    package static let regionIdentifierBytes = 1_024
    /// The largest distance, accuracy and timeout that a packet can name, in metres or seconds.
    package static let largestDistance = 1e9
}

// MARK: Encoding

extension WireLocationRequest {
    func write(manager: UInt32, to writer: inout JSONWriter) {
        writer.field("type", type)
        writer.field("manager", manager)
        switch self {
        case .create(let id), .allowBackground(let id):
            writer.field("id", id)
        case .startUpdating(let options):
            writer.field("distanceFilter", options.distanceFilter)
            writer.field("desiredAccuracy", options.desiredAccuracy)
            writer.field("allowsBackground", options.allowsBackground)
            writer.field("pausesAutomatically", options.pausesAutomatically)
        case .monitor(let region), .range(let region):
            writer.key("region")
            writer.region(region)
        case .stopMonitoring(let region), .requestState(let region), .stopRanging(let region):
            writer.field("region", region)
        case .requestAuthorization(let always):
            writer.field("always", always)
        case .deferUpdates(let distance, let timeout):
            writer.field("distance", distance)
            writer.field("timeout", timeout)
        case .release, .stopUpdating, .startSignificant, .stopSignificant, .startVisits, .stopVisits,
            .requestLocation, .disallowDeferred:
            break
        }
    }

    private var type: String {
        switch self {
        case .create: "location.create"
        case .release: "location.release"
        case .startUpdating: "location.startUpdating"
        case .stopUpdating: "location.stopUpdating"
        case .allowBackground: "location.allowBackground"
        case .startSignificant: "location.startSignificant"
        case .stopSignificant: "location.stopSignificant"
        case .startVisits: "location.startVisits"
        case .stopVisits: "location.stopVisits"
        case .monitor: "location.monitor"
        case .stopMonitoring: "location.stopMonitoring"
        case .requestState: "location.requestState"
        case .requestLocation: "location.requestLocation"
        case .requestAuthorization: "location.requestAuthorization"
        case .range: "location.range"
        case .stopRanging: "location.stopRanging"
        case .deferUpdates: "location.deferUpdates"
        case .disallowDeferred: "location.disallowDeferred"
        }
    }
}

extension JSONWriter {
    mutating func region(_ region: WireRegion) {
        openObject()
        field("identifier", region.identifier)
        switch region.shape {
        case .circle(let latitude, let longitude, let radius):
            key("circle")
            openObject()
            field("latitude", latitude)
            field("longitude", longitude)
            field("radius", radius)
        case .beacons(let uuid, let major, let minor):
            key("beacons")
            openObject()
            field("uuid", uuid)
            field("major", major.map { Int($0) })
            field("minor", minor.map { Int($0) })
        }
        closeObject()
        field("notifyOnEntry", region.notifyOnEntry)
        field("notifyOnExit", region.notifyOnExit)
        field("notifyEntryStateOnDisplay", region.notifyEntryStateOnDisplay)
        closeObject()
    }
}
