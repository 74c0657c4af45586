import WakeModel

extension Array {
    /// What is kept for an app, in a list by the numbers of apps.
    subscript(app: AppID) -> Element {
        @inline(__always) get { self[Int(app.number)] }
        @inline(__always) _modify { yield &self[Int(app.number)] }
    }
}

extension Array {
    /// The first place of a list at which a condition holds that goes on holding.
    @inline(__always)
    func place(where holds: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Puts an element at a place that is there, or the next one.
    mutating func put(_ element: Element, at place: Int) {
        if place < count { self[place] = element } else { append(element) }
    }
}

extension Array where Element: Comparable {
    /// Puts an element into an ascending list, unless it is there.
    mutating func insertInOrder(_ element: Element) {
        let place = self.place { $0 >= element }
        if place < count, self[place] == element { return }
        insert(element, at: place)
    }
}

/// One of what an app may have several of with an area, such as its managers or its regions, by the area's own number of it.
package struct AppSlot: Hashable, Comparable, Sendable {
    package var app: AppID
    package var slot: UInt16

    package init(app: AppID, slot: UInt16) {
        self.app = app
        self.slot = slot
    }

    package static func < (left: AppSlot, right: AppSlot) -> Bool {
        left.app != right.app ? left.app < right.app : left.slot < right.slot
    }
}

/// One app's interest in an event.
struct Interest: Equatable, Codable {
    var app: AppID
    /// The manager that the decision looks at. What a slot stands for is its area's to say.
    var slot: UInt16
    /// All managers of the app that are interested.
    var slots: SlotSet
    var via: Registration
    var since: Instant
    /// False for the answer to a process that is gone.
    var wanted = true

    init(_ app: AppID, slot: UInt16 = 0, via: Registration, since: Instant, wanted: Bool = true) {
        self.app = app
        self.slot = slot
        self.slots = SlotSet(slot)
        self.via = via
        self.since = since
        self.wanted = wanted
    }
}

/// A set of an app's managers by their slots, of which there are at most 64; iterates in ascending order.
struct SlotSet: Equatable, Codable, Sequence, IteratorProtocol {
    var bits: UInt64 = 0

    init() {}

    init(_ slot: UInt16) { bits = 1 << UInt64(slot) }

    var isEmpty: Bool { bits == 0 }

    /// The lowest slot; a precondition failure when there is none.
    var lowest: UInt16 {
        precondition(bits != 0, "a set of no managers has no lowest")
        return UInt16(bits.trailingZeroBitCount)
    }

    func contains(_ slot: Int) -> Bool { bits & (1 << UInt64(slot)) != 0 }

    mutating func insert(_ slot: UInt16) { bits |= 1 << UInt64(slot) }

    mutating func remove(_ slot: Int) { bits &= ~(1 << UInt64(slot)) }

    mutating func subtract(_ other: SlotSet) { bits &= ~other.bits }

    mutating func next() -> Int? {
        if bits == 0 { return nil }
        let slot = bits.trailingZeroBitCount
        bits &= bits &- 1
        return slot
    }
}
