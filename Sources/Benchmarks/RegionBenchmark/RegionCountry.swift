import Glibc
import WakeModel
import WakeRouter

/// A stretch of country full of regions, as densely whatever their number, and somebody who drives through it.
///
/// Every app monitors 20 regions, most of them some hundred metres wide and a few some tens of kilometres. About sixty
/// boundaries are within a kilometre of a place. The country lies across the antimeridian, 60 degrees north, and nobody
/// comes closer than half a kilometre to its edges.
struct RegionCountry {
    /// Twenty of an app, then twenty of the next; each app's are named by the same twenty numbers.
    let regions: [CircularRegion]
    /// The positions of the drive, 15 m apart, one a second.
    let drive: [Direction]
    /// Positions anywhere in the country.
    let jumps: [Direction]

    static let regionsPerApp = 20
    /// The name of an app's first region.
    static let firstName: UInt32 = 100
    private static let perSquareKilometre = 8.0
    private static let step = 15.0
    private static let edge = 500.0

    init(regions count: Int, fixes: Int) {
        var chance = Chance(state: UInt64(count))
        let side = (Double(count) / Self.perSquareKilometre).squareRoot() * 1_000
        var regions: [CircularRegion] = []
        for number in 0..<count {
            let radius = chance.once(in: 200) ? 5_000 + 25_000 * chance.unit() : 100 + 700 * chance.unit()
            regions.append(
                CircularRegion(
                    identifier: NameID(Self.firstName + UInt32(number % Self.regionsPerApp)),
                    center: Self.place(side * chance.unit(), side * chance.unit()),
                    metres: radius,
                    profile: .ios17
                )
            )
        }
        self.regions = regions
        drive = Self.drive(fixes, side: side, &chance)
        jumps = (0..<fixes).map { _ in Self.place(side * chance.unit(), side * chance.unit()) }
    }

    /// Straight on for a while, then another way; at the country's edge back.
    private static func drive(_ fixes: Int, side: Double, _ chance: inout Chance) -> [Direction] {
        var (east, north) = (side / 2, side / 2)
        var heading = 0.0
        var positions: [Direction] = []
        for _ in 0..<fixes {
            if chance.once(in: 60) { heading = 2 * .pi * chance.unit() }
            let next = (east + step * cos(heading), north + step * sin(heading))
            let inner = edge...(side - edge)
            if !inner.contains(next.0) || !inner.contains(next.1) {
                heading = 2 * .pi * chance.unit()
            } else {
                (east, north) = next
            }
            positions.append(place(east, north))
        }
        return positions
    }

    /// The direction so many metres east and north of the country's corner.
    private static func place(_ east: Double, _ north: Double) -> Direction {
        let radius = Sphere.radius
        let latitude = .pi / 3 + north / radius
        let longitude = .pi - 0.001 + east / radius / cos(latitude)
        return Direction(
            x: cos(latitude) * cos(longitude),
            y: cos(latitude) * sin(longitude),
            z: sin(latitude)
        )
    }

    /// The name of a region by its place in ``regions``.
    static func key(_ number: Int) -> AppSlot {
        AppSlot(app: AppID(UInt32(number / regionsPerApp)), slot: UInt16(number % regionsPerApp))
    }
}

/// Reproducible chance: SplitMix64 by Steele, Lea and Flood (2014).
struct Chance {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below 1.
    mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }

    mutating func once(in odds: UInt64) -> Bool { (next() >> 33) % odds == 0 }
}
