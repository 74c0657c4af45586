import Testing
import WakeDevices
import WakeModel
import WakePorts
import WakeWire

@testable import WakeBench

@Suite("Location between wire and router")
struct LocationTranslationTests {
    private let names = NameTable()
    private var translation: WireTranslation {
        WireTranslation(names: names, identifiers: PeripheralIdentifiers(names: names), profile: .ios17)
    }

    private func monitored(_ latitude: Double, _ longitude: Double, _ radius: Double) throws -> CircularRegion {
        let shape = WireRegionShape.circle(latitude: latitude, longitude: longitude, radius: radius)
        let request = translation.location(.monitor(WireRegion(identifier: "r", shape: shape)))
        guard case .monitor(let region) = request else {
            throw WireError.badValue(key: "region", expected: "a circle")
        }
        return region
    }

    @Test(
        "A circle comes back with the degrees and metres that it went in with",
        arguments: [
            (52.3731, 4.8922, 150), (-33.8688197, 151.2092955, 400.5), (0, 0, 1), (90, 0, 1_000), (12.5, -180, 100),
            (-89.9, 179.9, 100_000),
        ] as [(Double, Double, Double)]
    )
    func circle(latitude: Double, longitude: Double, radius: Double) throws {
        let region = try monitored(latitude, longitude, radius)
        let facts = LocationFacts(authorization: .always, circles: [region], beacons: [])
        #expect(
            translation.status(facts).regions == [
                WireRegion(
                    identifier: "r",
                    shape: .circle(latitude: latitude, longitude: longitude, radius: radius)
                )
            ]
        )
    }

    @Test("REG-2: the margins are 200 m outwards, and inwards the smaller of 200 m and half the radius")
    func margins() throws {
        let small = try monitored(52, 4, 100)
        #expect(small.outwardChord == Sphere.chord(metres: 300))
        #expect(small.inwardChord == Sphere.chord(metres: 50))
        let large = try monitored(52, 4, 1_000)
        #expect(large.outwardChord == Sphere.chord(metres: 1_200))
        #expect(large.inwardChord == Sphere.chord(metres: 800))
    }

    @Test("REG-7: a radius of any size stays larger than a smaller one", arguments: [1e7, 2.1e7, 1e9])
    func hugeRadius(radius: Double) throws {
        let region = try monitored(52, 4, radius)
        #expect(region.radiusChord > Sphere.chord(metres: Double(Profile.ios17.areas.location.regionRadiusLimit)))
        #expect(region.outwardChord >= region.radiusChord)
    }

    @Test("BCN-4: a list of beacons keeps its order, and their distances have classes")
    func ranged() {
        let uuid = names.intern("U")
        let distances: [(Float, Proximity)] = [
            (0, .immediate), (0.49, .immediate), (0.5, .near), (3.9, .near), (4, .far), (50, .far), (-1, .unknown),
        ]
        let beacons = distances.enumerated().map { place, distance in
            BeaconSighting(
                uuid: uuid,
                major: 1,
                minor: UInt16(place),
                distance: distance.0,
                signalStrength: -60
            )
        }
        let delivery = AppDelivery(
            event: WakeEvent(kind: .beaconsRanged, region: names.intern("r")),
            payload: .beacons(beacons),
            decision: DecisionID(1),
            manager: 0
        )
        let expected = distances.enumerated().map { place, distance in
            WireBeacon(
                uuid: "U",
                major: 1,
                minor: UInt16(place),
                proximity: distance.1,
                accuracy: Double(distance.0),
                rssi: -60,
                timestamp: 9
            )
        }
        #expect(translation.locationEvent(delivery, wallSeconds: 9) == .ranged("r", expected))
        let none = AppDelivery(
            event: WakeEvent(kind: .beaconsRanged, region: names.intern("r")),
            payload: .beacons([]),
            decision: DecisionID(1),
            manager: 0
        )
        #expect(translation.locationEvent(none, wallSeconds: 9) == .ranged("r", []))
    }

    @Test("Beacons keep their numbers and wishes both ways")
    func beacons() throws {
        let region = WireRegion(
            identifier: "b",
            shape: .beacons(uuid: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", major: 1, minor: nil),
            notifyOnEntry: false,
            notifyEntryStateOnDisplay: true
        )
        guard case .monitorBeacons(let beacons) = translation.location(.monitor(region)) else {
            Issue.record("no beacons")
            return
        }
        #expect(
            translation.status(LocationFacts(authorization: .denied, circles: [], beacons: [beacons])).regions == [
                region
            ]
        )
    }

    @Test(
        "Each location event that an app hears of has its message",
        arguments: [
            (EventKind.regionEntered, EventPayload.none, WireLocationEvent.regionEntered("r")),
            (.regionExited, .none, .regionExited("r")), (.monitoringStarted, .none, .monitoringStarted("r")),
            (.regionStateDetermined, .regionState(.inside), .regionState("r", .inside)),
            (.locationUpdatesPaused, .none, .paused),
            (
                .monitoringFailed, .locationFailure(code: 5, message: "no"),
                .monitoringFailed("r", WireFailure(domain: "kCLErrorDomain", code: 5, message: "no"))
            ),
            (
                .positionFixed, .position(Position(latitude: 1, longitude: 2, timestamp: 3)),
                .updated([Position(latitude: 1, longitude: 2, horizontalAccuracy: 5, timestamp: 3)])
            ),
            (
                .visitEnded,
                .visit(Visit(latitude: 1, longitude: 2, horizontalAccuracy: 3, arrival: nil, departure: 4)),
                .visited(Visit(latitude: 1, longitude: 2, horizontalAccuracy: 3, arrival: nil, departure: 4))
            ),
        ]
    )
    func events(kind: EventKind, payload: EventPayload, expected: WireLocationEvent) {
        let delivery = AppDelivery(
            event: WakeEvent(kind: kind, region: names.intern("r")),
            payload: payload,
            decision: DecisionID(1),
            manager: 0
        )
        #expect(translation.locationEvent(delivery, wallSeconds: 9) == expected)
    }

    @Test("LOC-11: with reduced accuracy an app reads the nearest corner of a grid, sure to 5 km, and not how it moves")
    func reduced() throws {
        for (latitude, longitude) in [(48.1372, 11.5755), (-33.87, 151.21), (89.999, -179.999), (0, 0)] {
            var fix = Position(latitude: latitude, longitude: longitude, timestamp: 7)
            (fix.altitude, fix.speed, fix.course) = (520, 13, 90)
            let visit = Visit(
                latitude: latitude,
                longitude: longitude,
                horizontalAccuracy: 50,
                arrival: 1,
                departure: 2
            )
            var places: [Coordinate] = []
            for (kind, payload) in [
                (EventKind.positionFixed, EventPayload.position(fix)), (.significantChange, .positions([fix])),
                (.visitEnded, .visit(visit)),
            ] {
                let event = WakeEvent(kind: kind)
                let delivery = AppDelivery(event: event, payload: payload, decision: DecisionID(1), manager: 0)
                switch translation.locationEvent(delivery, wallSeconds: 9, precise: false) {
                case .updated(let positions):
                    let told = try #require(positions.first)
                    #expect(told.horizontalAccuracy == 5_000)
                    #expect(told.altitude == 0 && told.speed == -1 && told.course == -1)
                    #expect(told.timestamp == 7)
                    places.append(Coordinate(latitude: told.latitude, longitude: told.longitude))
                case .visited(let told):
                    #expect(told.horizontalAccuracy == 5_000)
                    #expect(told.arrival == 1 && told.departure == 2)
                    places.append(Coordinate(latitude: told.latitude, longitude: told.longitude))
                default: Issue.record("\(kind) is told as something else")
                }
            }
            #expect(Set(places).count == 1)
            let away = Geometry.distance(from: places[0], to: Coordinate(latitude: latitude, longitude: longitude))
            #expect(away < 5_000)
        }
    }

    @Test("LOC-11: a fix that scatters by some metres is the same place with reduced accuracy")
    func steady() throws {
        let told = [48.1370, 48.1372, 48.1375].map { latitude in
            let fix = Position(latitude: latitude, longitude: 11.5755, timestamp: 7)
            let event = WakeEvent(kind: .positionFixed)
            let delivery = AppDelivery(event: event, payload: .position(fix), decision: DecisionID(1), manager: 0)
            return translation.locationEvent(delivery, wallSeconds: 9, precise: false)
        }
        #expect(told[0] == told[1] && told[1] == told[2])
    }

    @Test("LOC-11: a manager is told whether its app may know positions precisely")
    func precise() {
        let facts = LocationFacts(authorization: .always, isPrecise: false, circles: [], beacons: [])
        #expect(!translation.status(facts).isPrecise)
        let changed = AppDelivery(
            event: WakeEvent(kind: .authorizationChanged, authorization: .allowOnce),
            payload: .none,
            decision: DecisionID(1),
            manager: 0
        )
        #expect(
            translation.locationEvent(changed, wallSeconds: 9, precise: false)
                == .authorization(.authorizedWhenInUse, precise: false)
        )
        #expect(
            translation.locationEvent(changed, wallSeconds: 9) == .authorization(.authorizedWhenInUse, precise: true)
        )
    }

    @Test("A sighting of a beacon is for nobody but the router")
    func sighting() {
        let delivery = AppDelivery(
            event: WakeEvent(kind: .beaconSighted),
            payload: .none,
            decision: DecisionID(1),
            manager: 0
        )
        #expect(translation.locationEvent(delivery, wallSeconds: 9) == nil)
    }
}
