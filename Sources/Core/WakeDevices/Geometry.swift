import Foundation
import WakeModel

/// The globe as a sphere: degrees, unit vectors, chords and great circles.
///
/// All of it goes over unit vectors, so that the poles and the antimeridian are places like any other. A sphere differs
/// from the ellipsoid by at most 0.6 % of a distance.
package enum Geometry {
    /// The longest way between two places, in metres.
    package static let longestDistance = Double.pi * Sphere.radius

    // MARK: Unit vectors

    /// The unit vector of a place: x to longitude 0, y to longitude 90 east, z to the north pole.
    package static func direction(of place: Coordinate) -> Direction {
        let latitude = place.latitude * .pi / 180
        let longitude = place.longitude * .pi / 180
        return Direction(x: cos(latitude) * cos(longitude), y: cos(latitude) * sin(longitude), z: sin(latitude))
    }

    /// The place of a vector of any length but 0; a pole has longitude 0.
    package static func coordinate(of direction: Direction) -> Coordinate {
        let level = (direction.x * direction.x + direction.y * direction.y).squareRoot()
        let latitude = atan2(direction.z, level) * 180 / .pi
        let longitude = level < 1e-15 ? 0 : atan2(direction.y, direction.x) * 180 / .pi
        return Coordinate(latitude: latitude, longitude: longitude >= 180 ? longitude - 360 : longitude)
    }

    // MARK: Chords

    /// The straight line between two points of the unit sphere that are so many metres apart on the globe's surface.
    ///
    /// Longer than half round the globe counts as half round: 2. Less than 0 counts as 0.
    package static func chord(metres: Double) -> Double {
        Sphere.chord(metres: min(max(metres, 0), longestDistance))
    }

    /// The metres along the surface that belong to a chord, 0 to 2.
    package static func metres(chord: Double) -> Double {
        2 * Sphere.radius * asin(min(max(chord / 2, 0), 1))
    }

    // MARK: Great circles

    /// The metres from one place to another along the great circle.
    package static func distance(from start: Coordinate, to end: Coordinate) -> Double {
        Sphere.radius * angle(direction(of: start), direction(of: end))
    }

    /// The angle between two vectors: right for tiny ones and for nearly opposite ones alike.
    private static func angle(_ left: Direction, _ right: Direction) -> Double {
        let cross = (
            left.y * right.z - left.z * right.y,
            left.z * right.x - left.x * right.z,
            left.x * right.y - left.y * right.x
        )
        let sine = (cross.0 * cross.0 + cross.1 * cross.1 + cross.2 * cross.2).squareRoot()
        return atan2(sine, left.x * right.x + left.y * right.y + left.z * right.z)
    }

    /// The place at a part of the way along the great circle, 0 at the start and 1 at the end.
    ///
    /// Opposite places have no single way; then the one over the start's own meridian is taken.
    package static func interpolate(from start: Coordinate, to end: Coordinate, fraction: Double) -> Coordinate {
        if fraction <= 0 || start == end { return start }
        if fraction >= 1 { return end }
        let (from, to) = (direction(of: start), direction(of: end))
        let angle = angle(from, to)
        if .pi - angle < 1e-9 {
            return destination(from: start, bearing: 0, metres: fraction * Sphere.radius * angle)
        }
        // On so short a way the chord is the arc, to the last digit.
        let isTiny = angle < 1e-9
        let left = isTiny ? 1 - fraction : sin((1 - fraction) * angle) / sin(angle)
        let right = isTiny ? fraction : sin(fraction * angle) / sin(angle)
        return coordinate(
            of: Direction(
                x: left * from.x + right * to.x,
                y: left * from.y + right * to.y,
                z: left * from.z + right * to.z
            )
        )
    }

    /// The bearing in which the great circle to `end` leaves `start`, in degrees from north by east, 0 up to but
    /// without 360. At a pole, where every way is south or north, it is measured as if one stood at the pole's longitude.
    package static func bearing(from start: Coordinate, to end: Coordinate) -> Double {
        let (north, east) = compass(at: start)
        let to = direction(of: end)
        let eastward = to.x * east.x + to.y * east.y + to.z * east.z
        let northward = to.x * north.x + to.y * north.y + to.z * north.z
        let degrees = atan2(eastward, northward) * 180 / .pi
        return degrees < 0 ? (degrees + 360).truncatingRemainder(dividingBy: 360) : degrees
    }

    /// The place so many metres away along the great circle that leaves in a bearing, in degrees from north by east.
    package static func destination(from start: Coordinate, bearing: Double, metres: Double) -> Coordinate {
        if metres == 0 { return start }
        let (north, east) = compass(at: start)
        let from = direction(of: start)
        let (turn, angle) = (bearing * .pi / 180, metres / Sphere.radius)
        func part(_ component: KeyPath<Direction, Double>) -> Double {
            let ahead = cos(turn) * north[keyPath: component] + sin(turn) * east[keyPath: component]
            return cos(angle) * from[keyPath: component] + sin(angle) * ahead
        }
        return coordinate(of: Direction(x: part(\.x), y: part(\.y), z: part(\.z)))
    }

    /// The unit vectors that point north and east at a place.
    private static func compass(at place: Coordinate) -> (north: Direction, east: Direction) {
        let latitude = place.latitude * .pi / 180
        let longitude = place.longitude * .pi / 180
        let north = Direction(
            x: -sin(latitude) * cos(longitude),
            y: -sin(latitude) * sin(longitude),
            z: cos(latitude)
        )
        return (north, Direction(x: -sin(longitude), y: cos(longitude), z: 0))
    }
}
