import Foundation
import Testing
import WakeDevices
import WakeModel

private func place(_ latitude: Double, _ longitude: Double) -> Coordinate {
    Coordinate(latitude: latitude, longitude: longitude)
}

private func degrees(_ whole: Double, _ minutes: Double, _ seconds: Double = 0) -> Double {
    whole + minutes / 60 + seconds / 3600
}

/// Los Angeles and New York in the Aviation Formulary (Ed Williams), with its answers.
private let losAngeles = place(degrees(33, 57), -degrees(118, 24))
private let newYork = place(degrees(40, 38), -degrees(73, 47))
/// Land's End and John o' Groats in Chris Veness's page on latitude and longitude, with its answers for a radius of 6371 km.
private let landsEnd = place(degrees(50, 3, 59), -degrees(5, 42, 53))
private let johnOGroats = place(degrees(58, 38, 38), -degrees(3, 4, 12))

@Suite("Geometry")
struct GeometryTests {
    @Test("Distances are those of published examples")
    func published() {
        let angle = Geometry.distance(from: losAngeles, to: newYork) / Sphere.radius
        #expect(abs(angle - 0.623585) < 2e-6)
        #expect(abs(Geometry.distance(from: landsEnd, to: johnOGroats) - 968_900) < 60)
        #expect(abs(Geometry.bearing(from: landsEnd, to: johnOGroats) - degrees(9, 7, 11)) < 1.0 / 3600)
        #expect(abs(Geometry.bearing(from: losAngeles, to: newYork) - 65.8922) < 2e-4)
    }

    @Test("A destination and a place on the way are those of published examples")
    func ways() {
        let start = place(degrees(53, 19, 14), -degrees(1, 43, 47))
        let end = Geometry.destination(from: start, bearing: degrees(96, 1, 18), metres: 124_800)
        #expect(abs(end.latitude - degrees(53, 11, 18)) < 2.0 / 3600)
        #expect(abs(end.longitude - degrees(0, 8, 0)) < 2.0 / 3600)
        let middle = Geometry.interpolate(from: landsEnd, to: johnOGroats, fraction: 0.5)
        #expect(abs(middle.latitude - degrees(54, 21, 44)) < 1.0 / 3600)
        #expect(abs(middle.longitude + degrees(4, 31, 50)) < 1.0 / 3600)
        let later = Geometry.interpolate(from: losAngeles, to: newYork, fraction: 0.4)
        #expect(abs(later.latitude - degrees(38, 40.167)) < 0.001 / 60)
        #expect(abs(later.longitude + degrees(101, 37.570)) < 0.001 / 60)
    }

    @Test("A quarter of a meridian and of the equator, and half round the globe, have their lengths")
    func quarters() {
        let quarter = Double.pi / 2 * 6_371_008.8
        #expect(abs(Geometry.distance(from: place(0, 0), to: place(0, 90)) - quarter) < 1e-6)
        #expect(abs(Geometry.distance(from: place(0, 37), to: place(90, -120)) - quarter) < 1e-6)
        #expect(abs(Geometry.distance(from: place(-90, 0), to: place(90, 0)) - 2 * quarter) < 1e-6)
        #expect(abs(Geometry.distance(from: place(10, 20), to: place(-10, -160)) - 2 * quarter) < 1e-2)
    }

    @Test("A distance over the antimeridian is the short one, and the way crosses it")
    func antimeridian() {
        let (west, east) = (place(0, 179.999), place(0, -179.999))
        // 0.002 degrees of the equator.
        #expect(abs(Geometry.distance(from: west, to: east) - 222.39) < 0.01)
        #expect(abs(Geometry.bearing(from: west, to: east) - 90) < 1e-6)
        let middle = Geometry.interpolate(from: west, to: east, fraction: 0.5)
        #expect(abs(middle.latitude) < 1e-9)
        #expect(abs(abs(middle.longitude) - 180) < 1e-9)
        let beyond = Geometry.destination(from: west, bearing: 90, metres: 333.585)
        #expect(abs(beyond.longitude + 179.998) < 1e-6)
        #expect(Coordinate(checking: 0, 180) == place(0, -180))
    }

    @Test("At a pole all longitudes are one place, and ways go over it")
    func poles() {
        #expect(Geometry.distance(from: place(90, 0), to: place(90, 123)) < 1e-6)
        // One degree of a meridian is 111.195 km on the sphere.
        #expect(abs(Geometry.distance(from: place(89.5, 10), to: place(89.5, -170)) - 111_195.08) < 0.01)
        let middle = Geometry.interpolate(from: place(89, 10), to: place(89, -170), fraction: 0.5)
        #expect(abs(middle.latitude - 90) < 1e-6)
        let beyond = Geometry.destination(from: place(89.5, 30), bearing: 0, metres: 111_195.08)
        #expect(abs(beyond.latitude - 89.5) < 1e-6)
        #expect(abs(beyond.longitude + 150) < 1e-6)
        let down = Geometry.destination(from: place(-90, 0), bearing: 0, metres: 111_195.08)
        #expect(abs(down.latitude + 89) < 1e-6)
        #expect(abs(down.longitude) < 1e-6)
    }

    @Test("A place is its direction, and back")
    func directions() {
        func near(_ direction: Direction, _ x: Double, _ y: Double, _ z: Double) -> Bool {
            abs(direction.x - x) < 1e-15 && abs(direction.y - y) < 1e-15 && abs(direction.z - z) < 1e-15
        }
        #expect(near(Geometry.direction(of: place(0, 0)), 1, 0, 0))
        #expect(near(Geometry.direction(of: place(0, 90)), 0, 1, 0))
        #expect(near(Geometry.direction(of: place(0, -180)), -1, 0, 0))
        #expect(near(Geometry.direction(of: place(90, 77)), 0, 0, 1))
        #expect(near(Geometry.direction(of: place(-30, 0)), 0.75.squareRoot(), 0, -0.5))
        for latitude in stride(from: -90.0, through: 90, by: 7.5) {
            for longitude in stride(from: -180.0, to: 180, by: 13.25) {
                let back = Geometry.coordinate(of: Geometry.direction(of: place(latitude, longitude)))
                #expect(abs(back.latitude - latitude) < 1e-9)
                if abs(latitude) < 90 { #expect(abs(back.longitude - longitude) < 1e-9) }
            }
        }
    }

    @Test("A chord is a distance, and back, from a millimetre to half round the globe")
    func chords() {
        for metres in [0, 0.001, 1, 200, 1_000, 111_195, 5_000_000, 15_000_000] {
            let chord = Geometry.chord(metres: metres)
            #expect(abs(Geometry.metres(chord: chord) - metres) <= max(1e-9, metres * 1e-12))
        }
        // 60 degrees: the chord is the radius.
        #expect(abs(Geometry.chord(metres: .pi / 3 * 6_371_008.8) - 1) < 1e-15)
        #expect(abs(Geometry.chord(metres: 1e9) - 2) < 1e-12)
        #expect(Geometry.chord(metres: -5) == 0)
        let (start, end) = (Geometry.direction(of: landsEnd), Geometry.direction(of: johnOGroats))
        let metres = Geometry.metres(chord: start.chordSquared(to: end).squareRoot())
        #expect(abs(metres - Geometry.distance(from: landsEnd, to: johnOGroats)) < 1e-3)
    }

    @Test("A way to an opposite place, or to itself, ends where it should")
    func degenerate() {
        let start = place(10, 20)
        let quarter = Geometry.interpolate(from: start, to: place(-10, -160), fraction: 0.5)
        #expect(abs(Geometry.distance(from: start, to: quarter) - .pi / 2 * Sphere.radius) < 1)
        #expect(Geometry.interpolate(from: start, to: start, fraction: 0.3) == start)
        #expect(Geometry.interpolate(from: start, to: landsEnd, fraction: 0) == start)
        #expect(Geometry.interpolate(from: start, to: landsEnd, fraction: 1) == landsEnd)
        #expect(Geometry.destination(from: start, bearing: 77, metres: 0) == start)
    }

    @Test(
        "A place that is none is refused",
        arguments: [(90.1, 0), (-91, 0), (0, 180.5), (0, -181), (.nan, 0), (0, .nan)]
    )
    func refused(latitude: Double, longitude: Double) {
        #expect(Coordinate(checking: latitude, longitude) == nil)
    }
}
