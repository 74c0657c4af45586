import WakeDevices
import WakeModel
import WakePorts
import WakeWire

/// What the router knows of an app's location services, as a fresh manager is told it.
struct LocationFacts {
    var authorization: LocationAuthorization
    /// Whether it may know positions precisely (LOC-11).
    var isPrecise = true
    var circles: [CircularRegion]
    var beacons: [BeaconRegion]
    /// Whether it may set allowsBackgroundLocationUpdates (LOC-6).
    var mayGoOnInBackground = true
}

/// Location: the wire carries degrees and metres, the router unit vectors and chords.
extension WireTranslation {
    // MARK: From the app

    /// What the app asks for; nil for what the router has no part in.
    func location(_ request: WireLocationRequest) -> LocationRequest? {
        switch request {
        case .create: .create
        case .release: .release
        case .startUpdating(let options):
            .startUpdating(
                distanceFilterChord: Geometry.chord(metres: options.distanceFilter),
                allowsBackground: options.allowsBackground,
                pausesAutomatically: options.pausesAutomatically
            )
        case .stopUpdating: .stopUpdating
        case .allowBackground: .allowBackground
        case .startSignificant: .startSignificant
        case .stopSignificant: .stopSignificant
        case .startVisits: .startVisits
        case .stopVisits: .stopVisits
        case .monitor(let region): monitor(region)
        case .stopMonitoring(let region): .stopMonitoring(identifier: known(region))
        case .requestState(let region): .requestState(identifier: names.intern(region))
        case .requestLocation: .requestLocation
        case .requestAuthorization(let always): .requestAuthorization(always: always)
        case .range(let region): beacons(region).map { .range($0) }
        case .stopRanging(let region): .stopRanging(identifier: known(region))
        case .beginSession: .beginSession
        case .endSession: .endSession
        case .deferUpdates, .disallowDeferred: nil
        }
    }

    /// A region that nobody has named yet is none that is monitored.
    private func known(_ region: String) -> NameID { names.known(region) ?? .none }

    private func monitor(_ region: WireRegion) -> LocationRequest? {
        switch region.shape {
        case .circle(let latitude, let longitude, let radius):
            .monitor(
                CircularRegion(
                    identifier: names.intern(region.identifier),
                    center: Geometry.direction(of: Coordinate(latitude: latitude, longitude: longitude)),
                    metres: min(radius, Self.largestRadius),
                    profile: profile,
                    notifyOnEntry: region.notifyOnEntry,
                    notifyOnExit: region.notifyOnExit
                )
            )
        case .beacons: beacons(region).map { .monitorBeacons($0) }
        }
    }

    /// So large that every profile refuses it, and small enough to have a chord with its margin.
    private static let largestRadius = 19_000_000.0

    private func beacons(_ region: WireRegion) -> BeaconRegion? {
        guard case .beacons(let uuid, let major, let minor) = region.shape else { return nil }
        return BeaconRegion(
            identifier: names.intern(region.identifier),
            beacons: BeaconIdentity(uuid: names.intern(uuid), major: major, minor: minor),
            notifyOnEntry: region.notifyOnEntry,
            notifyOnExit: region.notifyOnExit,
            notifyEntryStateOnDisplay: region.notifyEntryStateOnDisplay
        )
    }

    // MARK: To the app

    /// What a fresh manager is told; regions in order of identifier.
    func status(_ facts: LocationFacts) -> WireLocationStatus {
        let regions = facts.circles.map(region) + facts.beacons.map(region)
        return WireLocationStatus(
            authorization: Self.authorization(facts.authorization),
            isPrecise: facts.isPrecise,
            largestRadius: Double(profile.areas.location.regionRadiusLimit),
            regions: regions.sorted { $0.identifier < $1.identifier }
        )
    }

    /// The degrees and metres that the app gave: nine and six decimals bring them back from vector and chord.
    private func region(_ circle: CircularRegion) -> WireRegion {
        let place = Geometry.coordinate(of: circle.center)
        return WireRegion(
            identifier: names.text(circle.identifier),
            shape: .circle(
                latitude: (place.latitude * 1e9).rounded() / 1e9,
                longitude: (place.longitude * 1e9).rounded() / 1e9,
                radius: (Geometry.metres(chord: circle.radiusChord) * 1e6).rounded() / 1e6
            ),
            notifyOnEntry: circle.notifyOnEntry,
            notifyOnExit: circle.notifyOnExit
        )
    }

    private func region(_ region: BeaconRegion) -> WireRegion {
        WireRegion(
            identifier: names.text(region.identifier),
            shape: .beacons(
                uuid: names.text(region.beacons.uuid),
                major: region.beacons.major,
                minor: region.beacons.minor
            ),
            notifyOnEntry: region.notifyOnEntry,
            notifyOnExit: region.notifyOnExit,
            notifyEntryStateOnDisplay: region.notifyEntryStateOnDisplay
        )
    }

    /// What the app reads of a location event; nil for one that has no callback.
    ///
    /// - Parameter precise: whether it may know positions precisely (LOC-11).
    func locationEvent(_ delivery: AppDelivery, wallSeconds: Double, precise: Bool = true) -> WireLocationEvent? {
        let region = names.text(delivery.event.region)
        switch (delivery.event.kind, delivery.payload) {
        case (.positionFixed, .position(let position)), (.significantChange, .position(let position)):
            return .updated([precise ? position : reduced(position)])
        case (.positionFixed, .positions(let positions)), (.significantChange, .positions(let positions)):
            let latest = Array(positions.suffix(WireLimits.listed))
            return .updated(precise ? latest : latest.map(reduced))
        case (.visitBegan, .visit(let visit)), (.visitEnded, .visit(let visit)):
            return .visited(precise ? visit : reduced(visit))
        case (.regionEntered, _): return .regionEntered(region)
        case (.regionExited, _): return .regionExited(region)
        case (.regionStateDetermined, .regionState(let state)): return .regionState(region, state)
        case (.regionStateDetermined, _): return .regionState(region, .unknown)
        case (.monitoringStarted, _): return .monitoringStarted(region)
        case (.monitoringFailed, let payload): return .monitoringFailed(region, Self.locationFailure(payload))
        case (.locationUpdatesPaused, _): return .paused
        case (.authorizationChanged, _):
            return delivery.event.authorization.map { .authorization(Self.authorization($0), precise: precise) }
        case (.locationFailed, let payload): return .failed(Self.locationFailure(payload))
        case (.beaconsRanged, .beacons(let beacons)):
            return .ranged(region, beacons.prefix(WireLimits.listed).map { beacon($0, at: wallSeconds) })
        default: return nil
        }
    }

    // MARK: Reduced accuracy

    /// A position as an app reads it that may not know the precise one: at the nearest corner of a grid, so that it stays the same
    /// where the phone moves a little, and sure to the profile's figure (LOC-11). Height, speed and course are not known.
    private func reduced(_ position: Position) -> Position {
        let place = reduced(Coordinate(latitude: position.latitude, longitude: position.longitude))
        return Position(
            latitude: place.latitude,
            longitude: place.longitude,
            horizontalAccuracy: max(position.horizontalAccuracy, reducedAccuracy),
            timestamp: position.timestamp
        )
    }

    private func reduced(_ visit: Visit) -> Visit {
        let place = reduced(Coordinate(latitude: visit.latitude, longitude: visit.longitude))
        var visit = visit
        (visit.latitude, visit.longitude) = (place.latitude, place.longitude)
        visit.horizontalAccuracy = max(visit.horizontalAccuracy, reducedAccuracy)
        return visit
    }

    /// A cell of the grid has no side longer than the accuracy, so that its corners are nearer than that to all places in it.
    private func reduced(_ place: Coordinate) -> Coordinate {
        let cell = reducedAccuracy / Self.metresOfDegree
        func corner(_ degrees: Double, _ limit: Double) -> Double {
            min(max((degrees / cell).rounded() * cell, -limit), limit)
        }
        return Coordinate(latitude: corner(place.latitude, 90), longitude: corner(place.longitude, 180))
    }

    private var reducedAccuracy: Double { Double(profile.areas.location.reducedAccuracy) }

    /// Of a meridian.
    private static let metresOfDegree = Sphere.radius * Double.pi / 180

    static func authorization(_ authorization: LocationAuthorization) -> WireAuthorization {
        switch authorization {
        case .notDetermined: .notDetermined
        case .restricted: .restricted
        case .denied: .denied
        case .whenInUse, .allowOnce: .authorizedWhenInUse
        case .always, .provisionalAlways: .authorizedAlways
        }
    }

    private func beacon(_ beacon: BeaconSighting, at wallSeconds: Double) -> WireBeacon {
        WireBeacon(
            uuid: names.text(beacon.uuid),
            major: beacon.major,
            minor: beacon.minor,
            proximity: beacon.proximity,
            accuracy: max(-1, Double(beacon.distance)),
            rssi: Int(beacon.signalStrength),
            timestamp: wallSeconds
        )
    }

    private static func locationFailure(_ payload: EventPayload) -> WireFailure {
        guard case .locationFailure(let code, let message) = payload else {
            return locationFailure(LocationFailureCode.locationUnknown, "No more is known.")
        }
        return locationFailure(code, message)
    }

    static func locationFailure(_ code: Int32, _ message: String) -> WireFailure {
        WireFailure(domain: "kCLErrorDomain", code: Int(code), message: message)
    }
}
