import WakeModel

/// The events that wait for apps, each with its payload, until the last app has it.
struct KeptEvents: Codable {
    /// With bytes of its own: most of a snapshot is these.
    private struct Kept: ByteCoded {
        var event: WakeEvent
        var payload: EventPayload
        var holders: Int

        init(event: WakeEvent, payload: EventPayload, holders: Int) {
            self.event = event
            self.payload = payload
            self.holders = holders
        }

        func encode(into writer: inout ByteWriter) {
            writer.write(event)
            writer.write(payload)
            writer.write(Int64(holders))
        }

        init(from reader: inout ByteReader) throws(EncodingFault) {
            event = try reader.read()
            payload = try reader.read()
            holders = Int(try reader.readInt64())
        }
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
