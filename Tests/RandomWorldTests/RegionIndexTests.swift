import Foundation
import Testing
import WakeModel

@testable import WakeRouter

@Suite("The region index")
struct RegionIndexTests {
    @Test("Positions on a walk change exactly the regions that a scan of them all finds changed", arguments: 1...12)
    func walk(seed: UInt64) {
        var world = RegionWorld(seed: seed)
        for _ in 0..<400 { world.insert() }
        for step in 0..<3_000 {
            if world.chance.once(in: 40) { world.jump() } else { world.walk() }
            world.index.move(to: world.position)
            let expected = world.scan()
            #expect(world.index.changes == expected, "seed \(seed), step \(step)")
            if world.chance.once(in: 3) { world.insert() }
            if world.chance.once(in: 3) { world.remove() }
        }
        #expect(world.index.count == world.regions.count)
        #expect(world.reported > 1_000)
    }

    @Test("The candidates of a position are the regions whose outer circle holds it", arguments: 1...6)
    func candidates(seed: UInt64) {
        var world = RegionWorld(seed: seed)
        for _ in 0..<600 { world.insert() }
        var found = 0
        for _ in 0..<2_000 {
            if world.chance.once(in: 3) { world.jump() } else { world.walk() }
            var candidates: [AppSlot] = []
            world.index.forEachCandidate(at: world.position) { candidates.append($0) }
            let expected = world.regions.filter { $0.place(of: world.position) != .beyond }.map(\.key)
            #expect(candidates.sorted() == expected.sorted())
            found += candidates.count
        }
        #expect(found > 1_000)
    }

    @Test("An index rebuilt at the last position goes on as the one it replaces", arguments: 1...4)
    func rebuilt(seed: UInt64) {
        var world = RegionWorld(seed: seed)
        for _ in 0..<300 { world.insert() }
        for _ in 0..<200 {
            world.walk()
            world.index.move(to: world.position)
            if world.chance.once(in: 2) { world.insert() }
            if world.chance.once(in: 2) { world.remove() }
        }
        var second = RegionIndex()
        second.move(to: world.position)
        for region in world.regions.sorted(by: { $0.key > $1.key }) { _ = second.insert(region) }
        for _ in 0..<500 {
            if world.chance.once(in: 20) { world.jump() } else { world.walk() }
            world.index.move(to: world.position)
            second.move(to: world.position)
            #expect(second.changes == world.index.changes)
            var orders: [[AppSlot]] = [[], []]
            world.index.forEachCandidate(at: world.position) { orders[0].append($0) }
            second.forEachCandidate(at: world.position) { orders[1].append($0) }
            #expect(orders[0] == orders[1])
        }
    }

    @Test("Before the first position a region's place is unknown, and the first position reports it")
    func firstPosition() {
        var index = RegionIndex()
        let key = AppSlot(app: AppID(3), slot: 2)
        #expect(index.insert(key, center: .north, outerChord: 1e-6) == .unknown)
        index.move(to: .east)
        #expect(index.changes == [RegionChange(key: key, place: .beyond)])
        #expect(index.insert(key, center: .east, outerChord: 1e-6) == .within)
        index.move(to: .east)
        #expect(index.changes.isEmpty)
    }

    @Test("Circles over a pole, over the antimeridian and around the whole sphere hold what lies in them")
    func oddPlaces() {
        var index = RegionIndex()
        let pole = AppSlot(app: AppID(0), slot: 0)
        let antimeridian = AppSlot(app: AppID(0), slot: 1)
        let sphere = AppSlot(app: AppID(0), slot: 2)
        index.insert(pole, center: .at(latitude: 90, longitude: 0), outerChord: .metres(50_000))
        index.insert(antimeridian, center: .at(latitude: -17, longitude: 179.99), outerChord: .metres(5_000))
        index.insert(sphere, center: .at(latitude: 0, longitude: 0), outerChord: 2)
        func held(_ latitude: Double, _ longitude: Double) -> [AppSlot] {
            var keys: [AppSlot] = []
            index.forEachCandidate(at: .at(latitude: latitude, longitude: longitude)) { keys.append($0) }
            return keys.sorted()
        }
        #expect(held(89.7, 135) == [pole, sphere])
        #expect(held(89.5, -45) == [sphere])
        #expect(held(-17, -179.98) == [antimeridian, sphere])
        #expect(held(-17, -179.9) == [sphere])
        #expect(held(0, 180) == [sphere])
    }

    @Test(
        "A region at no place or of no size is never held and can be removed",
        arguments: [Double.nan, -Double.infinity, -1]
    )
    func nonsense(value: Double) {
        var index = RegionIndex()
        let sizeless = AppSlot(app: AppID(0), slot: 0)
        let placeless = AppSlot(app: AppID(0), slot: 1)
        index.insert(sizeless, center: .north, outerChord: value)
        index.insert(placeless, center: Direction(x: value, y: value, z: value), outerChord: 0.1)
        index.move(to: .north)
        #expect(index.place(of: sizeless) == .beyond)
        #expect(index.place(of: placeless) == .beyond)
        index.remove(sizeless)
        index.remove(placeless)
        #expect(index.count == 0)
        #expect(index.place(of: sizeless) == nil)
    }

    @Test("A position that is no number is beyond all regions")
    func noPosition() {
        var index = RegionIndex()
        let key = AppSlot(app: AppID(0), slot: 0)
        index.insert(key, center: .north, outerChord: 2)
        index.move(to: .north)
        index.move(to: Direction(x: .nan, y: .nan, z: .infinity))
        #expect(index.changes == [RegionChange(key: key, place: .beyond)])
    }
}

/// A few hundred regions of all sizes, most of them near a few places, and a position among them.
private struct RegionWorld {
    var chance: Chance
    var index = RegionIndex()
    var regions: [RegionIndex.Region] = []
    var position: Direction
    private(set) var reported = 0

    private static let places: [Direction] = [
        .at(latitude: 90, longitude: 0), .at(latitude: -89.99, longitude: 77), .at(latitude: 0, longitude: 180),
        .at(latitude: 52.37, longitude: 4.9), .at(latitude: -16.5, longitude: -179.9999),
    ]

    init(seed: UInt64) {
        chance = Chance(seed: seed)
        position = Self.places[0]
        position = place()
    }

    /// Where each region stands by a look at them all, and which of them that changes, in order of key.
    mutating func scan() -> [RegionChange] {
        var changes: [RegionChange] = []
        for index in regions.indices {
            let place = regions[index].place(of: position)
            guard place != regions[index].place else { continue }
            regions[index].place = place
            changes.append(RegionChange(key: regions[index].key, place: place))
        }
        reported += changes.count
        return changes.sorted { $0.key < $1.key }
    }

    mutating func insert() {
        let key = AppSlot(app: AppID(UInt32(chance.below(60))), slot: UInt16(chance.below(20)))
        let outer = size()
        let inner = chance.once(in: 3) ? outer : outer * unit()
        var region = RegionIndex.Region(key: key, center: place(), innerChord: inner, outerChord: outer)
        let answer = index.insert(region)
        region.place = index.position.map { region.place(of: $0) } ?? .unknown
        #expect(answer == region.place)
        regions.removeAll { $0.key == key }
        regions.append(region)
    }

    mutating func remove() {
        guard let key = regions.isEmpty ? nil : chance.pick(regions).key else { return }
        regions.removeAll { $0.key == key }
        index.remove(key)
        index.remove(key)
    }

    mutating func walk() { position = around(position, within: .metres(30)) }

    mutating func jump() { position = place() }

    /// From 1 m to 1 000 km, each power of ten as often as the next.
    private mutating func size() -> Double { .metres(pow(10, 6 * unit())) }

    private mutating func place() -> Direction {
        if chance.once(in: 10) { return around(position, within: 2) }
        return around(chance.pick(Self.places), within: size() / 10)
    }

    private mutating func around(_ center: Direction, within chord: Double) -> Direction {
        Direction.unit(
            center.x + chord * (2 * unit() - 1),
            center.y + chord * (2 * unit() - 1),
            center.z + chord * (2 * unit() - 1)
        )
    }

    private mutating func unit() -> Double { Double(chance.next() >> 11) / Double(1 << 53) }
}

extension RegionIndex {
    /// Adds a region of one circle.
    @discardableResult
    fileprivate mutating func insert(_ key: AppSlot, center: Direction, outerChord: Double) -> RegionPlace {
        insert(key, center: center, innerChord: outerChord, outerChord: outerChord)
    }

    /// Adds a region whose squares are those of the one given, to the last bit.
    fileprivate mutating func insert(_ region: Region) -> RegionPlace {
        insert(
            region.key,
            center: region.center,
            innerChord: region.innerChord,
            outerChord: region.outerChord
        )
    }
}

extension Direction {
    fileprivate static let north = Direction(x: 0, y: 0, z: 1)
    fileprivate static let east = Direction(x: 0, y: 1, z: 0)

    fileprivate static func unit(_ x: Double, _ y: Double, _ z: Double) -> Direction {
        let length = (x * x + y * y + z * z).squareRoot()
        return Direction(x: x / length, y: y / length, z: z / length)
    }

    fileprivate static func at(latitude: Double, longitude: Double) -> Direction {
        let (phi, lambda) = (latitude * .pi / 180, longitude * .pi / 180)
        return Direction(x: cos(phi) * cos(lambda), y: cos(phi) * sin(lambda), z: sin(phi))
    }
}

extension Double {
    fileprivate static func metres(_ distance: Double) -> Double { 2 * sin(distance / 2 / 6_371_008.8) }
}
