// MARK: Decoding

extension WireLocationEvent {
    /// Reads the event of that kind; nil for a kind that is none of these.
    init?(kind: String, fields: Fields) throws(WireError) {
        switch kind {
        case "location.updated":
            self = .updated(try fields.bounded("locations") { (fields) throws(WireError) in try WirePosition(fields) })
        case "location.failed":
            self = .failed(try fields.requiredFailure())
        case "location.visited":
            self = .visited(try WireVisit(fields))
        case "location.paused":
            self = .paused
        case "location.resumed":
            self = .resumed
        case "location.authorization":
            self = .authorization(
                try fields.word("authorization", as: WireAuthorization.self),
                precise: try fields.optionalBool("precise") ?? true
            )
        case "location.deferredFinished":
            self = .deferredFinished(try fields.failure())
        default:
            guard let event = try WireLocationEvent(regionKind: kind, fields: fields) else {
                return nil
            }
            self = event
        }
    }

    private init?(regionKind kind: String, fields: Fields) throws(WireError) {
        switch kind {
        case "location.regionEntered":
            self = .regionEntered(try fields.regionIdentifier("region"))
        case "location.regionExited":
            self = .regionExited(try fields.regionIdentifier("region"))
        case "location.regionState":
            self = .regionState(
                try fields.regionIdentifier("region"),
                try fields.word("state", as: WireRegionState.self)
            )
        case "location.monitoringStarted":
            self = .monitoringStarted(try fields.regionIdentifier("region"))
        case "location.monitoringFailed":
            self = .monitoringFailed(try fields.regionIdentifier("region"), try fields.requiredFailure())
        case "location.ranged":
            self = .ranged(
                try fields.regionIdentifier("region"),
                try fields.bounded("beacons") { (fields) throws(WireError) in try WireBeacon(fields) }
            )
        case "location.rangingFailed":
            self = .rangingFailed(try fields.regionIdentifier("region"), try fields.requiredFailure())
        default:
            return nil
        }
    }
}

extension WirePosition {
    fileprivate init(_ fields: Fields) throws(WireError) {
        let distances = -WireLimits.largestDistance...WireLimits.largestDistance
        self.init(
            latitude: try fields.measure("latitude", in: -90...90),
            longitude: try fields.measure("longitude", in: -180...180),
            altitude: try fields.optionalMeasure("altitude", in: distances) ?? 0,
            horizontalAccuracy: try fields.measure("horizontalAccuracy", in: distances),
            verticalAccuracy: try fields.optionalMeasure("verticalAccuracy", in: distances) ?? -1,
            course: try fields.optionalMeasure("course", in: -360...360) ?? -1,
            speed: try fields.optionalMeasure("speed", in: distances) ?? -1,
            timestamp: try fields.time("timestamp")
        )
    }
}

extension WireBeacon {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            uuid: try fields.identifier("uuid"),
            major: UInt16(try fields.integer("major", in: 0...65_535)),
            minor: UInt16(try fields.integer("minor", in: 0...65_535)),
            proximity: try fields.word("proximity", as: WireProximity.self),
            accuracy: try fields.measure("accuracy", in: -1...WireLimits.largestDistance),
            rssi: Int(try fields.integer("rssi", in: -128...127)),
            timestamp: try fields.time("timestamp")
        )
    }
}

extension WireVisit {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            latitude: try fields.measure("latitude", in: -90...90),
            longitude: try fields.measure("longitude", in: -180...180),
            horizontalAccuracy: try fields.measure("horizontalAccuracy", in: 0...WireLimits.largestDistance),
            arrival: try fields.optionalTime("arrival"),
            departure: try fields.optionalTime("departure")
        )
    }
}

extension WireLocationStatus {
    init(_ fields: Fields) throws(WireError) {
        self.init(
            authorization: try fields.word("authorization", as: WireAuthorization.self),
            isPrecise: try fields.optionalBool("precise") ?? true,
            largestRadius: try fields.measure("largestRadius", in: 0...WireLimits.largestDistance),
            regions: try fields.has("regions")
                ? fields.bounded("regions") { (fields) throws(WireError) in try WireRegion(fields) } : []
        )
    }
}

extension Fields {
    /// A list of at most ``WireLimits/listed``.
    fileprivate func bounded<Element>(
        _ key: StaticString,
        _ read: (Fields) throws(WireError) -> Element
    ) throws(WireError) -> [Element] {
        let list = try list(key, read)
        guard list.count <= WireLimits.listed else {
            throw .badValue(key: key.description, expected: "at most \(WireLimits.listed) of them")
        }
        return list
    }

    fileprivate func requiredFailure() throws(WireError) -> WireFailure {
        guard let failure = try failure() else {
            throw .missing(key: "error")
        }
        return failure
    }

    /// Seconds since 1970, of the years 1 to 9999.
    fileprivate func optionalTime(_ key: StaticString) throws(WireError) -> Double? {
        try optionalMeasure(key, in: -62_135_596_800...253_402_300_799)
    }

    fileprivate func time(_ key: StaticString) throws(WireError) -> Double {
        guard let time = try optionalTime(key) else {
            throw .missing(key: key.description)
        }
        return time
    }
}

// MARK: Encoding

extension WireLocationEvent {
    func write(to writer: inout JSONWriter) {
        switch self {
        case .updated(let locations):
            writer.list("locations", locations) { $0.position($1) }
        case .failed(let failure):
            writer.failure(failure)
        case .regionEntered(let region), .regionExited(let region), .monitoringStarted(let region):
            writer.field("region", region)
        case .regionState(let region, let state):
            writer.field("region", region)
            writer.field("state", state.rawValue)
        case .monitoringFailed(let region, let failure), .rangingFailed(let region, let failure):
            writer.field("region", region)
            writer.failure(failure)
        case .ranged(let region, let beacons):
            writer.field("region", region)
            writer.list("beacons", beacons) { $0.beacon($1) }
        case .visited(let visit):
            visit.write(to: &writer)
        case .paused, .resumed:
            break
        case .authorization(let authorization, let precise):
            writer.field("authorization", authorization.rawValue)
            writer.field("precise", precise)
        case .deferredFinished(let failure):
            writer.failure(failure)
        }
    }

    var kind: String {
        switch self {
        case .updated: "location.updated"
        case .failed: "location.failed"
        case .regionEntered: "location.regionEntered"
        case .regionExited: "location.regionExited"
        case .regionState: "location.regionState"
        case .monitoringStarted: "location.monitoringStarted"
        case .monitoringFailed: "location.monitoringFailed"
        case .ranged: "location.ranged"
        case .rangingFailed: "location.rangingFailed"
        case .visited: "location.visited"
        case .paused: "location.paused"
        case .resumed: "location.resumed"
        case .authorization: "location.authorization"
        case .deferredFinished: "location.deferredFinished"
        }
    }
}

extension WireVisit {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.field("latitude", latitude)
        writer.field("longitude", longitude)
        writer.field("horizontalAccuracy", horizontalAccuracy)
        writer.field("arrival", arrival)
        writer.field("departure", departure)
    }
}

extension JSONWriter {
    mutating func locationStatus(_ status: WireLocationStatus) {
        openObject()
        field("authorization", status.authorization.rawValue)
        field("precise", status.isPrecise)
        field("largestRadius", status.largestRadius)
        list("regions", status.regions) { $0.region($1) }
        closeObject()
    }

    fileprivate mutating func position(_ position: WirePosition) {
        openObject()
        field("latitude", position.latitude)
        field("longitude", position.longitude)
        field("altitude", position.altitude)
        field("horizontalAccuracy", position.horizontalAccuracy)
        field("verticalAccuracy", position.verticalAccuracy)
        field("course", position.course)
        field("speed", position.speed)
        field("timestamp", position.timestamp)
        closeObject()
    }

    fileprivate mutating func beacon(_ beacon: WireBeacon) {
        openObject()
        field("uuid", beacon.uuid)
        field("major", beacon.major)
        field("minor", beacon.minor)
        field("proximity", beacon.proximity.rawValue)
        field("accuracy", beacon.accuracy)
        field("rssi", beacon.rssi)
        field("timestamp", beacon.timestamp)
        closeObject()
    }
}
