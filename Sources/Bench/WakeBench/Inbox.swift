import WakeModel

/// An input on its way to the router.
package struct InboxItem {
    package var input: Input
    package var payload = EventPayload.none
    package var origin = NameID.none
    package var id = EventID.none
    /// Of what an app or its process says: which process of the app it was, counted from 1.
    package var generation: UInt32 = 0
}

/// The inputs that wait for the router, in order. A source that cannot wait loses its oldest event when it is full.
struct Inbox {
    /// The most that wait, beside what is never dropped.
    private let limit: Int
    private var items: [InboxItem] = []
    private var head = 0
    /// Events that there was no room for, oldest first, on their way to their verdict.
    private var overflowed: [InboxItem] = []
    /// Events that were lost beyond all bounds, without a verdict.
    private(set) var unrecorded: UInt64 = 0

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { head == items.count }

    /// Adds what is never dropped: what apps, the user, the phone and the system do.
    mutating func add(_ item: InboxItem) {
        items.append(item)
    }

    /// Adds an event of a source.
    mutating func add(_ event: WakeEvent, _ payload: EventPayload) {
        if items.count - head >= limit { dropOldest(of: event.kind.source) }
        add(InboxItem(input: .event(event), payload: payload, origin: event.origin, id: event.id))
    }

    /// Takes out the oldest; nil when there is none.
    mutating func next() -> InboxItem? {
        guard head < items.count else {
            items.removeAll(keepingCapacity: true)
            head = 0
            return nil
        }
        defer { head += 1 }
        return items[head]
    }

    /// Takes out what there was no room for.
    mutating func takeOverflowed() -> [InboxItem] {
        defer { overflowed = [] }
        return overflowed
    }

    /// The oldest event of a source makes room for its newest.
    private mutating func dropOldest(of source: Source) {
        let oldest = items[head...].firstIndex { item in
            if case .event(let event) = item.input { event.kind.source == source } else { false }
        }
        guard let oldest, case .event(let event) = items[oldest].input else { return }
        if overflowed.count < limit {
            overflowed.append(InboxItem(input: .overflowed(event), origin: event.origin, id: event.id))
        } else {
            unrecorded += 1
        }
        if oldest > head {
            items.remove(at: oldest)
            return
        }
        head += 1
        if head == limit {
            items.removeFirst(head)
            head = 0
        }
    }
}

extension Input {
    /// The event of a source in it.
    var reported: WakeEvent? {
        switch self {
        case .event(let event), .overflowed(let event): event
        default: nil
        }
    }

    /// The event that it brings, when it brings one.
    var event: WakeEvent? {
        switch self {
        case .event(let event), .overflowed(let event), .redeliver(_, let event, _): event
        case .timeReached, .phone, .clock, .install, .uninstall, .update, .refuseUpdate, .user, .setUp, .terminate,
            .request,
            .process, .benchRestarted:
            nil
        }
    }
}
