import WakeModel

/// Things to do at instants: the earliest first, equal instants in the order in which they were added.
///
/// Public, since other rooms make a part of themselves of public code only, and ask for the next instant in each turn.
public struct TimedQueue<Element> {
    /// One of them, and when it is due.
    public struct Entry {
        /// When it is due.
        public var at: Instant
        /// How many were added before.
        public var order: UInt64
        /// What is to be done.
        public var element: Element

        /// One of them, and when it is due.
        @inlinable
        public init(at: Instant, order: UInt64, element: Element) {
            self.at = at
            self.order = order
            self.element = element
        }
    }

    @usableFromInline var heap: [Entry] = []
    /// How many were ever added.
    public var added: UInt64 = 0

    /// Nothing to do.
    @inlinable
    public init() {}

    /// A queue as another was.
    @inlinable
    public init(_ entries: [Entry], added: UInt64) {
        // What is sorted is a heap.
        heap = entries.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
        self.added = added
    }

    /// In no order.
    @inlinable public var entries: [Entry] { heap }

    /// Whether there is nothing to do.
    @inlinable public var isEmpty: Bool { heap.isEmpty }

    /// The earliest instant.
    @inlinable public var next: Instant? { heap.first?.at }

    /// What is taken out next.
    @inlinable public var first: Entry? { heap.first }

    /// Has something done at an instant, after what was added for it before.
    @inlinable
    public mutating func add(_ element: Element, at instant: Instant) {
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
    public mutating func takeDue(by now: Instant) -> (at: Instant, element: Element)? {
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

    /// Forgets all of it.
    @inlinable public mutating func removeAll() { heap.removeAll() }

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

extension TimedQueue: Codable where Element: Codable {}
extension TimedQueue.Entry: Codable where Element: Codable {}
