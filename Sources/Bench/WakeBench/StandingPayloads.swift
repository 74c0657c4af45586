import WakeModel

/// What the bench was told that stands until it is told otherwise, for those who are told of it later.
struct StandingPayloads {
    /// An event whose payload stands, the one that ends it, and the one that has it when the router finds it without words.
    struct Row: Sendable {
        var told: EventKind
        var ended: EventKind?
        var found: EventKind
    }

    private struct Key: Hashable {
        var row: Int
        /// The number that the events have in common.
        var local: UInt32
    }

    private var payloads: [Key: EventPayload] = [:]

    /// An event was accepted.
    mutating func note(_ event: WakeEvent, _ payload: EventPayload) {
        guard event.app == nil else { return }
        for (place, row) in Areas.standing.enumerated() {
            if event.kind == row.told { payloads[Key(row: place, local: event.local)] = payload }
            if event.kind == row.ended { payloads[Key(row: place, local: event.local)] = nil }
        }
    }

    /// What stands of an event that the router found.
    func payload(of event: WakeEvent) -> EventPayload {
        for (place, row) in Areas.standing.enumerated() where row.found == event.kind {
            return payloads[Key(row: place, local: event.local)] ?? .none
        }
        return .none
    }
}

extension StandingPayloads: SnapshotPart {
    private struct Entry: SnapshotPart {
        var row = 0
        var local: UInt32 = 0
        var payload = EventPayload.none

        mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
            try coder.code(&row)
            try coder.code(&local)
            try coder.code(&payload)
        }
    }

    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var entries = payloads.map { Entry(row: $0.row, local: $0.local, payload: $1) }
        entries.sort { ($0.row, $0.local) < ($1.row, $1.local) }
        try coder.code(&entries, blank: Entry())
        guard coder.isReading else { return }
        payloads.removeAll()
        for entry in entries { payloads[Key(row: entry.row, local: entry.local)] = entry.payload }
    }
}
