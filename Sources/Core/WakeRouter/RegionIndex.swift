import WakeModel

/// The name of a monitored region in the index: its app, and which of the app's regions it is.
package struct RegionKey: Hashable, Comparable, Sendable {
    package var app: AppID
    package var slot: UInt16

    package init(app: AppID, slot: UInt16) {
        self.app = app
        self.slot = slot
    }

    package static func < (left: RegionKey, right: RegionKey) -> Bool {
        left.app != right.app ? left.app < right.app : left.slot < right.slot
    }
}

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
    package var key: RegionKey
    package var place: RegionPlace
}

/// Finds the circular regions that a position concerns.
package struct RegionIndex: Sendable {
    private struct Region {
        var center: Direction
        var innerChord: Double
        var outerChord: Double
        var place: RegionPlace

        func place(of position: Direction) -> RegionPlace {
            let square = position.chordSquared(to: center)
            if square <= innerChord * innerChord { return .within }
            return square <= outerChord * outerChord ? .between : .beyond
        }
    }

    /// What changed at the last ``move(to:)``, in order of key.
    package private(set) var changes: [RegionChange] = []
    /// The last position; nil before the first.
    package private(set) var position: Direction?
    private var keys: [RegionKey] = []
    private var regions: [Region] = []

    package init() {}

    /// Adds a region of two circles, or replaces the one of that key.
    ///
    /// - Returns: Where the last position stands to it.
    @discardableResult
    package mutating func insert(
        _ key: RegionKey,
        center: Direction,
        innerChord: Double,
        outerChord: Double
    ) -> RegionPlace {
        remove(key)
        var region = Region(center: center, innerChord: innerChord, outerChord: outerChord, place: .unknown)
        if let position { region.place = region.place(of: position) }
        let place = keys.firstIndex { $0 > key } ?? keys.count
        keys.insert(key, at: place)
        regions.insert(region, at: place)
        return region.place
    }

    /// Removes the region of that key, when there is one.
    package mutating func remove(_ key: RegionKey) {
        guard let place = keys.firstIndex(of: key) else { return }
        keys.remove(at: place)
        regions.remove(at: place)
    }

    /// Takes the next position and leaves in ``changes`` each region whose place is now another.
    package mutating func move(to position: Direction) {
        changes.removeAll(keepingCapacity: true)
        self.position = position
        for index in regions.indices {
            let place = regions[index].place(of: position)
            if place == regions[index].place { continue }
            regions[index].place = place
            changes.append(RegionChange(key: keys[index], place: place))
        }
    }
}
