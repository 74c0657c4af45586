/// Things to do at instants: the earliest first, equal instants in the order in which they were added.
///
/// Inlinable, since it is on the way of each event and would be unspecialized in other modules.
package struct TimedQueue<Element> {
    @usableFromInline
    struct Entry {
        @usableFromInline var at: Instant
        @usableFromInline var order: UInt64
        @usableFromInline var element: Element

        @inlinable
        init(at: Instant, order: UInt64, element: Element) {
            self.at = at
            self.order = order
            self.element = element
        }
    }

    @usableFromInline var heap: [Entry] = []
    @usableFromInline var added: UInt64 = 0

    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { heap.isEmpty }
    @inlinable package var count: Int { heap.count }

    /// The earliest instant.
    @inlinable package var next: Instant? { heap.first?.at }

    @inlinable
    package mutating func add(_ element: Element, at instant: Instant) {
        heap.append(Entry(at: instant, order: added, element: element))
        added += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard precedes(child, parent) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes out the earliest element when it is due by `now`.
    @inlinable
    package mutating func takeDue(by now: Instant) -> (at: Instant, element: Element)? {
        guard let first = heap.first, first.at <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.at, first.element)
    }

    @inlinable
    func precedes(_ left: Int, _ right: Int) -> Bool {
        heap[left].at != heap[right].at ? heap[left].at < heap[right].at : heap[left].order < heap[right].order
    }

    @inlinable
    mutating func sink() {
        var parent = 0
        while true {
            var smallest = parent
            let left = 2 * parent + 1
            if left < heap.count, precedes(left, smallest) { smallest = left }
            if left + 1 < heap.count, precedes(left + 1, smallest) { smallest = left + 1 }
            if smallest == parent { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
