import WakeModel

/// Where a position stands to a region's two circles.
package enum RegionPlace: UInt8, Hashable, Sendable {
    /// There was no position yet.
    case unknown
    /// Outside of the outer circle.
    case beyond
    /// Outside of the inner circle, and not outside of the outer.
    case between
    /// Not outside of the inner circle.
    case within
}

/// A region whose place is not what it was at the position before.
package struct RegionChange: Hashable, Sendable {
    package var key: AppSlot
    package var place: RegionPlace
}

/// Finds the circular regions that a position concerns, among as many as one likes.
///
/// Each region stands in the cells of a grid through the unit ball that its outer circle touches; regions of like size
/// share a grid, whose cells are at least as wide as the radius of its largest. A position looks into one cell of each
/// grid, and only when it has come some way from where that was done last: until then it looks at the regions that have
/// a circle within that way. So its cost depends on how many regions are near and not on how many there are. Poles and
/// antimeridian are places like any other. Nothing is allocated while positions come in.
///
/// All answers depend on the regions and the last position alone, and not on the order in which they came: an index
/// rebuilt by moving an empty one to ``position`` and inserting the regions goes on as the first would.
package struct RegionIndex: Sendable {
    /// What changed at the last ``move(to:)``, in order of key.
    package private(set) var changes: [RegionChange] = []
    /// The last position; nil before the first.
    package private(set) var position: Direction?

    private var regions: [Region] = []
    private var freeRegions: [Int32] = []
    /// The place in `regions` of each app's slots; -1 for none.
    private var known: [[Int32]] = []
    private var grids = RegionGrids()

    /// Where the grids were asked last.
    private var anchor = Direction(x: 0, y: 0, z: 0)
    /// The cell of the anchor in the finest grid in use.
    private var anchorCell: UInt64 = 0
    /// The square of the chord from the anchor within which only the regions of `near` can change; below 0 for none.
    private var reachSquare = -1.0
    /// The regions that have a circle within reach of the anchor.
    private var near: [NearRegion] = []
    /// The regions whose outer circle held the anchor, and those inserted since that hold the last position.
    private var holding: [Int32] = []

    /// How many steps like the last one the grids are to serve.
    private static let stepsWithinReach = 8.0

    /// An index without regions that knows no position.
    package init() {}

    /// The number of regions.
    package var count: Int { regions.count - freeRegions.count }

    /// Adds a region of two circles, or replaces the one of that key.
    ///
    /// - Parameters:
    ///   - innerChord: The radius of the inner circle as a chord of the unit sphere; below 0 for a circle that holds
    ///     nothing, which is what a radius becomes that is no number.
    ///   - outerChord: The same of the outer circle, at least the inner one.
    /// - Returns: Where the last position stands to it. It is reported as a change only when that changes.
    @discardableResult
    package mutating func insert(
        _ key: AppSlot,
        center: Direction,
        innerChord: Double,
        outerChord: Double
    ) -> RegionPlace {
        remove(key)
        var region = Region(key: key, center: center, innerChord: innerChord, outerChord: outerChord)
        if let position { region.place = region.place(of: position) }
        let index = freeRegions.popLast() ?? Int32(regions.count)
        if Int(index) == regions.count { regions.append(region) } else { regions[Int(index)] = region }
        remember(index, as: key)
        grids.insert(index, region)
        if region.place == .within || region.place == .between { holding.append(index) }
        reachSquare = -1
        return region.place
    }

    /// Removes a region; does nothing when there is none of that key.
    package mutating func remove(_ key: AppSlot) {
        guard let index = index(of: key) else { return }
        grids.remove(index, regions[Int(index)])
        if let held = holding.firstIndex(of: index) {
            holding.swapAt(held, holding.count - 1)
            holding.removeLast()
        }
        // What still names it finds it nowhere and unchanged.
        regions[Int(index)] = Region(key: key, center: anchor, innerChord: -1, outerChord: -1)
        regions[Int(index)].place = .beyond
        known[Int(key.app.number)][Int(key.slot)] = -1
        freeRegions.append(index)
        reachSquare = -1
    }

    /// Where the last position stands to a region; nil when there is none of that key.
    package func place(of key: AppSlot) -> RegionPlace? {
        index(of: key).map { regions[Int($0)].place }
    }

    /// Calls the body with each region whose outer circle holds the position, widest regions first and in order of
    /// key among those of a grid.
    package func forEachCandidate(at position: Direction, _ body: (AppSlot) -> Void) {
        grids.forEachEntry(at: position) { entry in
            if entry.holds(position) { body(entry.key) }
        }
    }

    /// Takes the next position and leaves in ``changes`` each region whose place is now another.
    ///
    /// Before the first position the place of every region is `unknown`, so the first reports all of them.
    package mutating func move(to position: Direction) {
        changes.removeAll(keepingCapacity: true)
        if let last = self.position {
            let isWithinReach =
                position.chordSquared(to: anchor) <= reachSquare && grids.finestCell(of: position) == anchorCell
            if isWithinReach { lookNear(position) } else { lookAround(position, step: position.chordSquared(to: last)) }
        } else {
            for index in known.lazy.joined() where index >= 0 { look(Int(index), at: position) }
            lookAround(position, step: 0)
        }
        self.position = position
        if changes.count > 1 { changes.sort { $0.key < $1.key } }
    }

    /// Looks at the regions within reach.
    private mutating func lookNear(_ position: Direction) {
        for index in near.indices {
            let square = position.chordSquared(to: near[index].center)
            let place = RegionPlace(square, inner: near[index].innerSquare, outer: near[index].outerSquare)
            guard place != near[index].place else { continue }
            near[index].place = place
            change(Int(near[index].region), to: place)
        }
    }

    /// Looks at the regions that may have held the last position and at those that may hold this one, and makes it the
    /// new anchor.
    private mutating func lookAround(_ position: Direction, step square: Double) {
        for index in near.indices { look(Int(near[index].region), at: position) }
        for index in holding.indices { look(Int(holding[index]), at: position) }
        near.removeAll(keepingCapacity: true)
        holding.removeAll(keepingCapacity: true)
        let reach = min(Self.stepsWithinReach * square.squareRoot(), grids.finestWidth)
        grids.forEachEntry(at: position) { entry in
            let square = position.chordSquared(to: entry.center)
            let outermost = entry.outerChord + reach + RegionGrids.margin
            guard square <= outermost * outermost else { return }
            let index = Int(entry.region)
            if square <= entry.outerChord * entry.outerChord {
                look(index, at: position)
                holding.append(entry.region)
            }
            let innermost = entry.innerChord - reach - RegionGrids.margin
            guard innermost <= 0 || square >= innermost * innermost else { return }
            near.append(NearRegion(regions[index], entry.region))
        }
        anchor = position
        anchorCell = grids.finestCell(of: position)
        reachSquare = reach * reach
    }

    private mutating func look(_ region: Int, at position: Direction) {
        let place = regions[region].place(of: position)
        if place != regions[region].place { change(region, to: place) }
    }

    private mutating func change(_ region: Int, to place: RegionPlace) {
        regions[region].place = place
        changes.append(RegionChange(key: regions[region].key, place: place))
    }

    private func index(of key: AppSlot) -> Int32? {
        let app = Int(key.app.number)
        guard app < known.count, Int(key.slot) < known[app].count else { return nil }
        let index = known[app][Int(key.slot)]
        return index < 0 ? nil : index
    }

    private mutating func remember(_ index: Int32, as key: AppSlot) {
        let app = Int(key.app.number)
        while known.count <= app { known.append([]) }
        while known[app].count <= Int(key.slot) { known[app].append(-1) }
        known[app][Int(key.slot)] = index
    }
}

extension RegionIndex {
    /// A region and where the last position stands to it.
    struct Region: Sendable {
        var key: AppSlot
        var center: Direction
        var innerChord: Double
        var outerChord: Double
        var place = RegionPlace.unknown

        /// Squares of the circles' chords; -1 for a circle that holds nothing.
        var innerSquare: Double { innerChord >= 0 ? innerChord * innerChord : -1 }
        var outerSquare: Double { outerChord >= 0 ? outerChord * outerChord : -1 }

        init(key: AppSlot, center: Direction, innerChord: Double, outerChord: Double) {
            self.key = key
            self.center = center
            self.innerChord = innerChord >= 0 ? innerChord : -1
            self.outerChord = outerChord >= 0 ? outerChord : -1
        }

        func place(of position: Direction) -> RegionPlace {
            RegionPlace(position.chordSquared(to: center), inner: innerSquare, outer: outerSquare)
        }
    }

    /// A region within reach of the anchor, with all that a position needs.
    private struct NearRegion: Sendable {
        var center: Direction
        var innerSquare: Double
        var outerSquare: Double
        var region: Int32
        var place: RegionPlace

        init(_ region: Region, _ index: Int32) {
            center = region.center
            innerSquare = region.innerSquare
            outerSquare = region.outerSquare
            self.region = index
            place = region.place
        }
    }
}

extension RegionPlace {
    /// The place of a position by the square of its chord to a region's center, and the squares of the circles'.
    @inline(__always)
    init(_ square: Double, inner: Double, outer: Double) {
        self = square <= inner ? .within : square <= outer ? .between : .beyond
    }
}
