import CoreLocation
import Foundation
import Testing

@Suite("The values of Core Location")
struct LocationValuesTests {
    @Test(
        "A distance goes along the Earth, over poles and the antimeridian too",
        arguments: [
            ((0.0, 0.0), (0.0, 1.0), 111_195.08), ((0, 179.5), (0, -179.5), 111_195.08),
            ((89.5, 0), (89.5, 180), 111_195.08), ((90, 0), (-90, 0), 20_015_114.44), ((52, 4), (52, 4), 0),
        ]
    )
    func distance(from: (Double, Double), to: (Double, Double), metres: Double) {
        let start = CLLocation(latitude: from.0, longitude: from.1)
        let end = CLLocation(latitude: to.0, longitude: to.1)
        #expect(abs(start.distance(from: end) - metres) < 0.01)
    }

    @Test("A position survives an archive")
    func archivedPosition() throws {
        let location = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 52.3731, longitude: 4.8922),
            altitude: 2,
            horizontalAccuracy: 5,
            verticalAccuracy: 3,
            course: 90,
            speed: 1.5,
            timestamp: Date(timeIntervalSince1970: 1_767_225_600)
        )
        let copy = try #require(try archived(location, as: CLLocation.self))
        #expect(copy.coordinate.latitude == 52.3731)
        #expect(copy.coordinate.longitude == 4.8922)
        #expect((copy.altitude, copy.horizontalAccuracy, copy.verticalAccuracy) == (2, 5, 3))
        #expect((copy.course, copy.speed, copy.speedAccuracy) == (90, 1.5, -1))
        #expect(copy.timestamp == location.timestamp)
    }

    @Test("A circle survives an archive with its wishes")
    func archivedCircle() throws {
        let circle = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: 1, longitude: 2),
            radius: 3,
            identifier: "here"
        )
        circle.notifyOnExit = false
        let copy = try #require(try archived(circle, as: CLCircularRegion.self))
        #expect((copy.center.latitude, copy.center.longitude, copy.radius) == (1, 2, 3))
        #expect(copy.notifyOnEntry)
        #expect(!copy.notifyOnExit)
        #expect(copy == circle)
    }

    @Test("A beacon region survives an archive with its numbers")
    func archivedBeacons() throws {
        let region = CLBeaconRegion(uuid: UUID(), major: 258, identifier: "there")
        region.notifyEntryStateOnDisplay = true
        let copy = try #require(try archived(region, as: CLBeaconRegion.self))
        #expect(copy.beaconIdentityConstraint == region.beaconIdentityConstraint)
        #expect(copy.major == 258)
        #expect(copy.minor == nil)
        #expect(copy.notifyEntryStateOnDisplay)
    }

    private func archived<Value: NSObject & NSSecureCoding>(_ value: Value, as type: Value.Type) throws -> Value? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data)
    }

    @Test("Regions of one kind and identifier are one in a set, and a circle is no beacon region")
    func regionEquality() {
        let circle = CLCircularRegion(center: CLLocationCoordinate2D(), radius: 1, identifier: "a")
        let larger = CLCircularRegion(center: CLLocationCoordinate2D(), radius: 2, identifier: "a")
        let beacons = CLBeaconRegion(uuid: UUID(), identifier: "a")
        #expect(Set<CLRegion>([circle, larger, beacons]).count == 2)
    }

    @Test("A circle contains what is within its radius")
    func contains() {
        let circle = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: 0, longitude: 180),
            radius: 1_000,
            identifier: "date line"
        )
        #expect(circle.contains(CLLocationCoordinate2D(latitude: 0, longitude: -179.992)))
        #expect(!circle.contains(CLLocationCoordinate2D(latitude: 0, longitude: -179.99)))
    }

    @Test("An error is found by its code, as a struct and out of an NSError")
    func errors() {
        let error: any Error = CLError(.denied)
        #expect(error as? CLError == CLError(.denied))
        if case CLError.denied = error {} else { Issue.record("not matched") }
        #expect(CLError(_nsError: NSError(domain: kCLErrorDomain, code: 5)).code == .regionMonitoringFailure)
        #expect((error as NSError).domain == "kCLErrorDomain")
    }

    @Test("A beacon is advertised with its UUID, both numbers high byte first, and the power")
    func advertisement() throws {
        let uuid = try #require(UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
        let region = CLBeaconRegion(uuid: uuid, major: 0x0102, minor: 0x0304, identifier: "me")
        let data = region.peripheralData(withMeasuredPower: -60).object(forKey: "kCBAdvDataAppleBeaconKey") as? Data
        #expect(data?.map { String(format: "%02X", $0) }.joined() == "E2C56DB5DFFB48D2B060D0F5A71096E001020304C4")
    }
}
