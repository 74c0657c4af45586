import WakeModel

/// What the bench was told that stands until it is told otherwise, for those who are told of it later.
struct StandingPayloads: Codable {
    /// An event whose payload stands, the one that ends it, and the one that has it when the router finds it without words.
    struct Row: Sendable {
        var told: EventKind
        var ended: EventKind?
        var found: EventKind
    }

    private struct Key: Hashable, Comparable, Codable {
        var row: Int
        /// The number that the events have in common.
        var local: UInt32

        static func < (left: Key, right: Key) -> Bool { (left.row, left.local) < (right.row, right.local) }
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
