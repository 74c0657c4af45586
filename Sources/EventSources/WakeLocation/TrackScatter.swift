import Glibc
import WakeDevices

/// How far and where a fix lies from the truth: the same for the same seed, track and number of the fix, whoever asked
/// for it.
struct TrackScatter {
    private let seed: UInt64

    init(seed: UInt64, name: String) { self.seed = Mixing.fork(seed, name) }

    /// The radius that holds 68 % of a two-dimensional normal distribution, in standard deviations.
    private static let radius = 1.5096

    /// A place that lies off as fix `number` does; two thirds of them lie within `noise` metres.
    func scattered(_ place: Coordinate, noise: Double, number: Int) -> Coordinate {
        if noise <= 0 { return place }
        let mixed = Mixing.number(from: seed &+ UInt64(truncatingIfNeeded: number) &* Mixing.step)
        let (length, turn) = (unit(mixed), unit(Mixing.number(from: mixed)))
        // Rayleigh: the distance from the middle of a normal distribution.
        let metres = noise / Self.radius * (-2 * log(1 - length)).squareRoot()
        return Geometry.destination(from: place, bearing: turn * 360, metres: metres)
    }

    /// 0 up to but without 1.
    private func unit(_ value: UInt64) -> Double { Double(value >> 11) * 0x1p-53 }
}
