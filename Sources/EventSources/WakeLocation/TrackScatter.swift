import Glibc
import WakeDevices

/// How far and where a fix lies from the truth: the same for the same seed, track and number of the fix, whoever asked
/// for it.
struct TrackScatter {
    private let seed: UInt64

    init(seed: UInt64, name: String) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01b3 }
        self.seed = seed ^ hash
    }

    /// The radius that holds 68 % of a two-dimensional normal distribution, in standard deviations.
    private static let radius = 1.5096

    /// A place that lies off as fix `number` does; two thirds of them lie within `noise` metres.
    func scattered(_ place: Coordinate, noise: Double, number: Int) -> Coordinate {
        if noise <= 0 { return place }
        let mixed = mix(seed &+ UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15)
        let (length, turn) = (unit(mixed), unit(mix(mixed)))
        // Rayleigh: the distance from the middle of a normal distribution.
        let metres = noise / Self.radius * (-2 * log(1 - length)).squareRoot()
        return Geometry.destination(from: place, bearing: turn * 360, metres: metres)
    }

    /// SplitMix64.
    private func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// 0 up to but without 1.
    private func unit(_ value: UInt64) -> Double { Double(value >> 11) * 0x1p-53 }
}
