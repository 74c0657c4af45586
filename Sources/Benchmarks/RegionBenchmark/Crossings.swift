import WakeModel
import WakeRouter

/// Crossings in the order they were found.
struct Crossings: Equatable {
    private(set) var count = 0
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(fix: Int, _ key: RegionKey, entered: Bool) {
        count += 1
        hash = (hash ^ UInt64(fix) << 1 ^ (entered ? 1 : 0)) &* 0x9e37_79b9_7f4a_7c15
        hash = (hash ^ UInt64(key.app.number) << 16 ^ UInt64(key.slot)) &* 0xbf58_476d_1ce4_e5b9
        hash ^= hash >> 29
    }
}

/// Whether the phone is in each region, told by an index that is moved from fix to fix.
struct IndexedWatch {
    private var index = RegionIndex()
    /// By app and slot.
    private var inside: [Bool]
    private(set) var crossings = Crossings()

    init(_ regions: [RegionCountry.Region]) {
        inside = [Bool](repeating: false, count: regions.count)
        for region in regions {
            index.insert(region.key, center: region.center, innerChord: region.inner, outerChord: region.outer)
        }
    }

    mutating func move(to position: Direction, fix: Int) {
        index.move(to: position)
        for place in index.changes.indices {
            let change = index.changes[place]
            let region = Int(change.key.app.number) * RegionCountry.regionsPerApp + Int(change.key.slot)
            let now = change.place == .within || change.place == .between && inside[region]
            guard now != inside[region] else { continue }
            inside[region] = now
            crossings.add(fix: fix, change.key, entered: now)
        }
    }
}

/// The same by a look at every region at every fix.
struct LinearWatch {
    private struct Watched {
        var center: Direction
        var innerSquare: Double
        var outerSquare: Double
        var key: RegionKey
        var inside = false
    }

    private var regions: [Watched]
    private(set) var crossings = Crossings()

    init(_ regions: [RegionCountry.Region]) {
        self.regions = regions.map {
            Watched(
                center: $0.center,
                innerSquare: $0.inner * $0.inner,
                outerSquare: $0.outer * $0.outer,
                key: $0.key
            )
        }
    }

    mutating func move(to position: Direction, fix: Int) {
        for index in regions.indices {
            let square = position.chordSquared(to: regions[index].center)
            let now =
                square <= regions[index].innerSquare || regions[index].inside && square <= regions[index].outerSquare
            guard now != regions[index].inside else { continue }
            regions[index].inside = now
            crossings.add(fix: fix, regions[index].key, entered: now)
        }
    }
}
