import WakeDevices
import WakeModel

/// A device of a capture: what it said on the air, its links, its attributes, and what it notified.
package final class CapturedDevice {
    /// What tells the devices of captures apart.
    package enum Identity: Hashable, Sendable {
        case address(UInt64)
        /// The peer of a link that was there before the capture, by the link's number.
        case link(UInt32)
        /// The captured side itself, by its controller's number.
        case controller(UInt16)
    }

    package let identity: Identity
    /// The address as a number; nil when the capture does not show it.
    package internal(set) var address: UInt64?
    /// What its GAP service says that it is called.
    package internal(set) var gapName: [UInt8]?
    package internal(set) var advertising = SeenAdvertising()
    package private(set) var connections: [Connection] = []
    /// How many links there were, listed or not.
    package private(set) var connectionCount = 0
    package internal(set) var table = AttributeTable()
    /// What guidelines are about, with where it shows.
    package internal(set) var conduct = CapturedConduct()
    /// By the handle of the value.
    package private(set) var streams: [UInt16: CapturedStream] = [:]
    /// ATT packets of which it was the server.
    package internal(set) var operations = 0
    package internal(set) var reads = 0
    package internal(set) var writes: [UInt16: Int] = [:]
    /// What was written, as far as it is kept, with what was refused; in the order in which it was answered.
    private(set) var written: [Write] = []
    package internal(set) var errors = 0
    /// Attributes that were refused until the link is encrypted.
    var protected: Set<UInt16> = []
    private var subscribed: [CapturedStream] = []
    private var latest: (handle: UInt16, stream: CapturedStream)?
    private var isUp = false
    /// How much has happened: requests to write, subscriptions, notified values.
    private var happenings = 0
    /// How much had when the last link ended, and how many have.
    private var ended = (order: 0, links: 0)
    /// Whether its notifications are kept, and not only counted.
    var isWanted = true

    /// One link of a device.
    package struct Connection: Hashable, Sendable {
        /// Nanoseconds since 1970; nil when the link was there before the capture.
        package var opened: Int64?
        package var closed: Int64?
        /// Why it ended, of the error codes of Bluetooth Core, volume 1, part F; nil while it did not.
        package var reason: UInt8?
        /// Whether the side that was captured ended it.
        package var isEndedHere = false
        /// Whether the other end ended it, and not the device or the air.
        var isEndedByOther = false
        package var mtu = 23
        /// In units of 1.25 ms; 0 when unknown.
        package var interval: UInt16 = 0
        package var isEncrypted = false
        /// Values that were notified on it.
        package var notifications = 0
    }

    /// A value that was written.
    struct Write: Hashable {
        var happening: Happening
        /// When it was answered: nanoseconds since 1970.
        var time: Int64
        var handle: UInt16
        var value: [UInt8]
        /// A code of ATT; 0 where it was taken.
        var error: UInt8 = 0
    }

    static let connectionLimit = 10_000

    init(_ identity: Identity, address: UInt64?) { (self.identity, self.address) = (identity, address) }

    /// The address in the usual spelling; nil when the capture does not show it.
    package var addressText: String? { address.map(Self.text) }

    static func text(_ address: UInt64) -> String { BluetoothAddress.text(bytes(address)) }

    static func bytes(_ address: UInt64) -> [UInt8] {
        (0..<6).reversed().map { UInt8(truncatingIfNeeded: address >> ($0 * 8)) }
    }

    /// What it is called: on the air, else by its GAP service.
    package var name: String? {
        let bytes = advertising.name ?? gapName
        guard let bytes, !bytes.isEmpty else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the capture shows what it has.
    package var showsTable: Bool { !table.characteristics.isEmpty }

    /// How many values it notified.
    package var notifications: Int { streams.values.reduce(0) { $0 + $1.count } }

    // MARK: Links

    /// The link that is up, or the last that was; none before the first.
    func withConnection(_ change: (inout Connection) -> Void) {
        if !isUp { opened(at: nil) }
        guard connectionCount == connections.count else { return }
        change(&connections[connections.count - 1])
    }

    func opened(at time: Int64?, interval: UInt16 = 0) {
        if let time, isUp { closed(at: time, reason: nil, isEndedHere: false, isEndedByOther: false) }
        isUp = true
        connectionCount += 1
        if connections.count < Self.connectionLimit { connections.append(Connection(opened: time, interval: interval)) }
    }

    func closed(at time: Int64, reason: UInt8?, isEndedHere: Bool, isEndedByOther: Bool) {
        withConnection { link in
            link.closed = time
            link.reason = reason
            link.isEndedHere = isEndedHere
            link.isEndedByOther = isEndedByOther
        }
        isUp = false
        ended = (happenings, ended.links + 1)
        for stream in subscribed {
            stream.unsubscribe(at: time)
            stream.isListed = false
        }
        subscribed.removeAll()
    }

    /// Since when the link is up that is.
    private var upSince: Int64? { connections.last?.opened }

    // MARK: Notifications

    private func stream(_ handle: UInt16, _ store: CaptureStore) -> CapturedStream? {
        if let latest, latest.handle == handle { return latest.stream }
        if let found = streams[handle] {
            latest = (handle, found)
            return found
        }
        guard store.takeAttribute() else { return nil }
        let stream = CapturedStream()
        streams[handle] = stream
        latest = (handle, stream)
        return stream
    }

    private func subscribe(_ stream: CapturedStream, at time: Int64, order: Int) {
        stream.subscribe(at: time, order: order)
        if stream.isListed { return }
        stream.isListed = true
        subscribed.append(stream)
    }

    /// A client configuration was written.
    func configured(_ handle: UInt16, _ bits: UInt16, at time: Int64, _ store: CaptureStore) {
        guard let stream = stream(handle, store) else { return }
        let order = happened()
        if bits & 3 != 0 { subscribe(stream, at: time, order: order) } else { stream.unsubscribe(at: time) }
    }

    func notified(_ handle: UInt16, _ value: Span<UInt8>, at time: Int64, isIndication: Bool, _ store: CaptureStore) {
        withConnection { $0.notifications += 1 }
        guard let stream = stream(handle, store) else { return }
        // A bonded client stays subscribed from link to link, and some captures begin after it subscribed.
        if !stream.isSubscribed { subscribe(stream, at: upSince ?? time, order: ended.order) }
        let happening = Happening(order: happened(), link: ended.links)
        stream.take(value, at: time, happening, isIndication: isIndication, isWanted ? store : nil)
    }

    // MARK: Writes

    /// Something happens; says which of all that is.
    func happened() -> Int {
        happenings += 1
        return happenings
    }

    /// A value was written, or refused.
    ///
    /// - Parameter order: which happening the request was.
    func wrote(
        _ handle: UInt16,
        _ value: Span<UInt8>,
        at time: Int64,
        order: Int,
        refusedWith error: UInt8 = 0,
        _ store: CaptureStore
    ) {
        guard isWanted, value.count <= 512, store.take(value.count) else { return }
        let happening = Happening(order: order, link: ended.links)
        written.append(
            Write(happening: happening, time: time, handle: handle, value: value.copied(), error: error)
        )
    }
}

extension CapturedDevice {
    /// What was done with one characteristic.
    package struct Count: Hashable, Encodable, Sendable {
        /// The service's UUID, in the spelling of device files.
        package var service: String
        package var characteristic: String
        /// Of its value.
        package var handle: UInt16
        package var notified: Int
        package var indicated: Int
        package var written: Int
        package var isRead: Bool
    }

    /// What was done with each characteristic whose service is known, in the order of handles.
    package var counts: [Count] {
        let services = table.services.sorted { $0.key < $1.key }
        var place = 0
        return table.characteristics.sorted { $0.key < $1.key }.compactMap { declaration, characteristic in
            // Services do not overlap: it is in the last that begins before it, or in none.
            while place + 1 < services.count, services[place + 1].key <= declaration { place += 1 }
            guard services.indices.contains(place) else { return nil }
            let service = services[place]
            guard (service.key...max(service.key, service.value.end)).contains(declaration) else { return nil }
            let stream = streams[characteristic.value]
            return Count(
                service: service.value.uuid.text,
                characteristic: characteristic.uuid.text,
                handle: characteristic.value,
                notified: (stream?.count ?? 0) - (stream?.indications ?? 0),
                indicated: stream?.indications ?? 0,
                written: writes[characteristic.value] ?? 0,
                isRead: table.values[characteristic.value] != nil
            )
        }
    }
}
