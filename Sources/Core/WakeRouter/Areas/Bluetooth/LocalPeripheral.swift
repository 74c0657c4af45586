import WakeModel

/// What a manager of the peripheral role holds.
struct LocalPeripheral: Equatable, Codable {
    /// What of it the radio gives to the air.
    enum Standing: UInt8, Codable {
        /// Nothing: the radio has let go of it, or is off and may still hold what it was told before.
        case off
        /// The services are in the table, their contents are not, and nothing is advertised (BTP-3).
        case disabled
        /// As in the background: no local name, and the service UUIDs in the overflow area (BTP-2).
        case reduced
        /// All that the app asked for.
        case full
    }

    struct Service: Equatable, Codable {
        var service: LocalService
        var since: Instant

        /// Whether a characteristic of this number is in it.
        func has(_ characteristic: UInt32) -> Bool {
            service.characteristics.contains { $0.number == characteristic }
        }
    }

    struct Advertising: Equatable, Codable {
        var content: LocalAdvertisement
        /// The radio was told of it.
        var asked = false
        /// The radio has said that it began.
        var confirmed = false
    }

    /// A read or a write whose central waits for an answer.
    struct Request: Equatable, Codable {
        var number: UInt32
        var deadline: Instant
        /// The process has it.
        var delivered = false
    }

    /// In the order in which they were added.
    var services: [Service] = []
    var advertising: Advertising?
    /// Ascending by characteristic, then by central.
    var subscribers: [RestoredPeripheral.Subscriber] = []
    /// In the order in which they came, which is that of their deadlines.
    var requests: [Request] = []
    /// The PSMs of published channels, in order of publication.
    var channels: [UInt16] = []
    var standing = Standing.off

    /// The service with a characteristic; nil when none has it.
    func service(with characteristic: UInt32) -> Service? {
        services.first { $0.has(characteristic) }
    }

    func isSubscribed(_ central: NameID, to characteristic: UInt32) -> Bool {
        subscribers.contains { $0.characteristic == characteristic && $0.central == central }
    }

    mutating func subscribe(_ central: NameID, to characteristic: UInt32) {
        let place =
            subscribers.firstIndex { ($0.characteristic, $0.central) >= (characteristic, central) } ?? subscribers.count
        if place < subscribers.count, subscribers[place].characteristic == characteristic,
            subscribers[place].central == central
        {
            return
        }
        subscribers.insert(.init(characteristic: characteristic, central: central), at: place)
    }

    mutating func unsubscribe(_ central: NameID, from characteristic: UInt32) {
        subscribers.removeAll { $0.characteristic == characteristic && $0.central == central }
    }

    /// Takes out an open request; nil when there is none of the number.
    mutating func takeRequest(_ number: UInt32) -> Request? {
        requests.firstIndex { $0.number == number }.map { requests.remove(at: $0) }
    }

    /// What the app gets back in willRestoreState (BTP-4).
    var restored: RestoredPeripheral {
        RestoredPeripheral(
            services: services.map(\.service),
            subscribed: subscribers,
            advertised: advertising?.content
        )
    }
}
