import WakeModel

/// The events that wait for apps, each with its payload, until the last app has it.
struct KeptEvents {
    fileprivate struct Kept {
        var event: WakeEvent
        var payload: EventPayload
        var holders: Int
    }

    private var events: [EventID: Kept] = [:]

    subscript(id: EventID) -> (event: WakeEvent, payload: EventPayload)? {
        events[id].map { ($0.event, $0.payload) }
    }

    /// One more app waits for an event: the item's, when it was not kept before.
    mutating func keep(_ id: EventID, of item: InboxItem) {
        if (events[id]?.holders += 1) == nil, let event = item.input.event {
            events[id] = Kept(event: event, payload: item.payload, holders: 1)
        }
    }

    /// One app less waits for it.
    mutating func discard(_ id: EventID) {
        events[id]?.holders -= 1
        if events[id]?.holders == 0 { events[id] = nil }
    }
}

extension KeptEvents: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var all = events.sorted { $0.key < $1.key }.map(\.value)
        let blank = WakeEvent(kind: .peripheralConnected)
        try coder.code(&all, blank: Kept(event: blank, payload: .none, holders: 0))
        if coder.isReading { events = Dictionary(all.map { ($0.event.id, $0) }) { first, _ in first } }
    }
}

extension KeptEvents.Kept: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&event)
        try coder.code(&payload)
        try coder.code(&holders)
    }
}
