import WakeModel

/// The grids of the region index: which regions touch a cell of space.
///
/// There is a grid a level, its cells a quarter as wide as those of the level before, from one cell that holds the
/// whole sphere down to cells of 24 m. The cells of all grids are found by hashing; a cell without regions is none.
struct RegionGrids: Sendable {
    /// A region as it stands in a cell.
    struct Entry: Sendable {
        var center: Direction
        /// Below 0 for a circle that holds nothing.
        var innerChord: Double
        var outerChord: Double
        var key: AppSlot
        var region: Int32

        @inline(__always)
        func holds(_ position: Direction) -> Bool { position.chordSquared(to: center) <= outerChord * outerChord }
    }

    static let levels = 11
    /// What is added to a radius so that the rounding of a cell's sides loses no region: 6 micrometres.
    static let margin = 1e-12
    /// How far from the unit sphere a cell may be and still hold positions.
    private static let thickness = 1e-9

    /// How many regions each level has.
    private var counts = [Int](repeating: 0, count: levels)
    private var table = CellTable()
    /// The entries of each cell, in order of key.
    private var cells: [[Entry]] = []
    private var freeCells: [Int32] = []
    /// The finest level that has regions; 0 when none has.
    private var finest = 0

    // MARK: Filling

    /// Puts a region into each cell that its outer circle touches.
    mutating func insert(_ index: Int32, _ region: RegionIndex.Region) {
        guard region.outerChord >= 0 else { return }
        let entry = Entry(
            center: region.center,
            innerChord: region.innerChord,
            outerChord: region.outerChord,
            key: region.key,
            region: index
        )
        count(region, 1)
        Self.forEachCell(of: region) { cell in
            var place = table.find(cell)
            if place < 0 {
                place = freeCells.popLast() ?? Int32(cells.count)
                if Int(place) == cells.count { cells.append([]) }
                table.insert(cell, at: place)
            }
            let position = cells[Int(place)].place { $0.key >= entry.key }
            cells[Int(place)].insert(entry, at: position)
        }
    }

    /// Takes a region out of its cells.
    mutating func remove(_ index: Int32, _ region: RegionIndex.Region) {
        guard region.outerChord >= 0 else { return }
        count(region, -1)
        Self.forEachCell(of: region) { cell in
            let place = table.find(cell)
            guard place >= 0 else { return }
            let position = cells[Int(place)].place { $0.key >= region.key }
            guard position < cells[Int(place)].count, cells[Int(place)][position].region == index else { return }
            cells[Int(place)].remove(at: position)
            guard cells[Int(place)].isEmpty else { return }
            cells[Int(place)] = []
            freeCells.append(place)
            table.remove(cell)
        }
    }

    private mutating func count(_ region: RegionIndex.Region, _ change: Int) {
        counts[Self.level(of: region)] += change
        finest = counts.lastIndex { $0 > 0 } ?? 0
    }

    // MARK: Finding

    /// Calls the body with each region that may hold a position, and with others near it.
    ///
    /// Widest regions come first, and those of a level in order of key.
    @inline(__always)
    func forEachEntry(at position: Direction, _ body: (Entry) -> Void) {
        for level in 0...finest where counts[level] > 0 {
            let place = table.find(Self.cell(of: position, level: level))
            guard place >= 0 else { continue }
            for entry in cells[Int(place)] { body(entry) }
        }
    }

    /// The cell of a position on the finest level in use; positions that share it share those of all levels.
    @inline(__always)
    func finestCell(of position: Direction) -> UInt64 { Self.cell(of: position, level: finest) }

    /// The width of the cells of the finest level in use.
    var finestWidth: Double { Self.width(finest) }

    // MARK: Cells

    /// The finest level whose cells are at least as wide as the region's radius.
    private static func level(of region: RegionIndex.Region) -> Int {
        var level = levels - 1
        while level > 0, width(level) < region.outerChord { level -= 1 }
        return level
    }

    /// The side of a level's cells: 4 for the first, and each a quarter of the one before.
    private static func width(_ level: Int) -> Double { 4 / Double(1 << (2 * level)) }

    /// The number of a cell along one axis; the same for all that lies outside of the unit ball on a side.
    @inline(__always)
    private static func step(_ value: Double, level: Int) -> UInt64 {
        let scaled = (value + 1) * (Double(1 << (2 * level)) * 0.25)
        guard scaled > 0 else { return 0 }
        return UInt64(min(scaled, Double(1 << 20 - 1)))
    }

    /// The cell's number over all levels, never 0.
    @inline(__always)
    private static func cell(level: Int, _ x: UInt64, _ y: UInt64, _ z: UInt64) -> UInt64 {
        UInt64(level + 1) << 60 | x << 40 | y << 20 | z
    }

    @inline(__always)
    private static func cell(of position: Direction, level: Int) -> UInt64 {
        cell(
            level: level,
            step(position.x, level: level),
            step(position.y, level: level),
            step(position.z, level: level)
        )
    }

    /// Calls the body with each cell that the region's outer circle may touch.
    private static func forEachCell(of region: RegionIndex.Region, _ body: (UInt64) -> Void) {
        let level = level(of: region)
        let radius = min(region.outerChord, 2) + margin
        let (x, y, z) = (region.center.x, region.center.y, region.center.z)
        for i in step(x - radius, level: level)...step(x + radius, level: level) {
            for j in step(y - radius, level: level)...step(y + radius, level: level) {
                for k in step(z - radius, level: level)...step(z + radius, level: level)
                where touches(region.center, radius, level, i, j, k) {
                    body(cell(level: level, i, j, k))
                }
            }
        }
    }

    /// Whether a cell meets both the ball around a region and the unit sphere.
    private static func touches(
        _ center: Direction,
        _ radius: Double,
        _ level: Int,
        _ i: UInt64,
        _ j: UInt64,
        _ k: UInt64
    ) -> Bool {
        let width = width(level)
        var (toCenter, near, far) = (0.0, 0.0, 0.0)
        for (value, step) in [(center.x, i), (center.y, j), (center.z, k)] {
            let low = Double(step) * width - 1
            let high = low + width
            let gap = value < low ? low - value : value > high ? value - high : 0
            let nearest = low > 0 ? low : high < 0 ? high : 0
            let farthest = max(low * low, high * high)
            toCenter += gap * gap
            near += nearest * nearest
            far += farthest
        }
        return toCenter <= radius * radius && near <= 1 + thickness && far >= 1 - thickness
    }
}

/// Cell numbers and where their entries are: open addressing, at most half full.
private struct CellTable: Sendable {
    private struct Slot: Sendable {
        /// 0 for a free slot.
        var cell: UInt64 = 0
        var place: Int32 = -1
    }

    private var slots = [Slot](repeating: Slot(), count: 16)
    private var count = 0

    /// Where the entries of a cell are; -1 when it has none.
    @inline(__always)
    func find(_ cell: UInt64) -> Int32 {
        let mask = slots.count - 1
        var index = home(cell)
        while slots[index].cell != 0 {
            if slots[index].cell == cell { return slots[index].place }
            index = (index + 1) & mask
        }
        return -1
    }

    /// Adds a cell that is not there.
    mutating func insert(_ cell: UInt64, at place: Int32) {
        if (count + 1) * 2 > slots.count { grow() }
        put(Slot(cell: cell, place: place))
        count += 1
    }

    /// Removes a cell that is there, and closes the gap.
    mutating func remove(_ cell: UInt64) {
        let mask = slots.count - 1
        var gap = home(cell)
        while slots[gap].cell != cell { gap = (gap + 1) & mask }
        var next = (gap + 1) & mask
        while slots[next].cell != 0 {
            // An entry may fill the gap when the gap lies between its home and where it stands.
            if (next - home(slots[next].cell)) & mask >= (next - gap) & mask {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        slots[gap] = Slot()
        count -= 1
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: old.count * 2)
        for slot in old where slot.cell != 0 { put(slot) }
    }

    private mutating func put(_ slot: Slot) {
        let mask = slots.count - 1
        var index = home(slot.cell)
        while slots[index].cell != 0 { index = (index + 1) & mask }
        slots[index] = slot
    }

    /// Where a cell is looked for first: its number, mixed as SplitMix64 does (Steele, Lea and Flood, 2014).
    @inline(__always)
    private func home(_ cell: UInt64) -> Int {
        var mixed = (cell ^ (cell >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int(truncatingIfNeeded: mixed ^ (mixed >> 31)) & (slots.count - 1)
    }
}
