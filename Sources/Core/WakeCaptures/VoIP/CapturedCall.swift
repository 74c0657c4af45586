/// What two ends said to each other in SIP, over one connection or between two ports of UDP.
package final class CapturedCall {
    package enum Side: Int, CaseIterable, Sendable {
        case one
        case other
    }

    package struct Message: Sendable {
        /// Nanoseconds since 1970.
        package var time: Int64
        /// Where its last packet stands in the capture.
        package var offset: Int
        package var side: Side
        package var message: SIPMessage
    }

    /// Empty lines between messages, or another datagram that says nothing: they keep a connection open (RFC 5626, section 3.5.1).
    package struct KeepAlive: Sendable {
        /// Nanoseconds since 1970.
        package var time: Int64
        /// Where its packet stands in the capture.
        var offset: Int
        package var side: Side
        /// How many empty lines: two ask for an answer, and one is it.
        var lines: Int
        /// Whether a message followed in the same packet.
        var isBeforeMessage: Bool
    }

    /// How a connection ended.
    struct End {
        var time: Int64
        var side: Side
        var isReset: Bool
    }

    package let ends: [NetworkEndpoint]
    package let isTCP: Bool
    /// Who opened the connection; nil when that is not seen.
    let opener: Side?
    /// In the order of time.
    package internal(set) var messages: [Message] = []
    /// In the order of time, as far as they are kept.
    package private(set) var keepAlives: [KeepAlive] = []
    package private(set) var keepAliveCount = 0
    private(set) var end: End?

    private var assemblies = [TCPAssembly(), TCPAssembly()]
    private var streams: [[UInt8]] = [[], []]
    private(set) var isForeign = false

    /// A message that comes once more comes soon.
    private static let memory = 64
    private static let mostKeepAlives = 16_384

    /// How many keep-alives of all calls of a capture may still be kept.
    final class Room {
        fileprivate var left = 262_144
    }

    private let room: Room

    init(
        _ one: NetworkEndpoint,
        _ other: NetworkEndpoint,
        isTCP: Bool,
        opener: NetworkEndpoint?,
        room: Room = Room()
    ) {
        ends = [one, other]
        self.room = room
        self.isTCP = isTCP
        self.opener = opener.map { $0 == one ? .one : .other }
    }

    func side(_ endpoint: NetworkEndpoint) -> Side { endpoint == ends[0] ? .one : .other }

    package func endpoint(_ side: Side) -> NetworkEndpoint { ends[side.rawValue] }

    /// Whether a side has said the same lately.
    func repeats(_ message: SIPMessage, _ side: Side) -> Bool {
        messages.suffix(Self.memory).contains { $0.side == side && $0.message == message }
    }

    // MARK: Streams

    func hasBegun(_ source: NetworkEndpoint) -> Bool { assemblies[side(source).rawValue].first != nil }

    /// Whether a first number is that of another connection between the same ends.
    func begins(anew first: UInt32, from source: NetworkEndpoint) -> Bool {
        guard let known = assemblies[side(source).rawValue].first else { return false }
        return known != first
    }

    func start(at first: UInt32, from source: NetworkEndpoint) {
        let place = side(source).rawValue
        if assemblies[place].first == nil { assemblies[place].start(at: first) }
    }

    func take(_ side: Side, _ sequence: UInt32, _ bytes: Span<UInt8>) -> TCPAssembly.Outcome {
        assemblies[side.rawValue].take(sequence, bytes, into: &streams[side.rawValue])
    }

    /// Goes on behind what is missing of a side; false when nothing waits there.
    func jump(_ side: Side) -> Bool { assemblies[side.rawValue].jump(&streams[side.rawValue]) }

    /// The bytes that are no whole message yet.
    var held: Int { streams[0].count + streams[1].count + assemblies[0].pendingBytes + assemblies[1].pendingBytes }

    /// The next message of a side; what is none is dropped up to where one may begin.
    ///
    /// - Parameters:
    ///   - time: when its last bytes came.
    ///   - offset: where their packet stands.
    func next(_ side: Side, at time: Int64, _ offset: Int) -> SIPMessage.Found {
        let (empty, lines) = Self.emptyLines(streams[side.rawValue])
        let isBeforeMessage = empty < streams[side.rawValue].count
        if lines > 0 { keepOpen(side, lines, isBeforeMessage: isBeforeMessage, at: time, offset) }
        streams[side.rawValue].removeFirst(empty)
        let found = SIPMessage.first(of: streams[side.rawValue], isDatagram: false)
        switch found {
        case .message(_, let length): streams[side.rawValue].removeFirst(length)
        case .incomplete: break
        case .nothing:
            isForeign = messages.isEmpty
            streams[side.rawValue] = Self.afterNonsense(streams[side.rawValue])
        }
        return found
    }

    /// How many bytes at the beginning are empty lines, and how many lines.
    private static func emptyLines(_ bytes: [UInt8]) -> (bytes: Int, lines: Int) {
        let empty = bytes.prefix { $0 == 0x0d || $0 == 0x0a }
        return (empty.count, empty.count { $0 == 0x0a })
    }

    /// From the first line behind the first that may begin a message.
    private static func afterNonsense(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            rest = rest[(end + 1)...]
            if SIPMessage.begins(rest.prefix(64)) != false { return Array(rest) }
        }
        return []
    }

    /// A side says nothing, so that the connection stays open.
    func keepOpen(_ side: Side, _ lines: Int, isBeforeMessage: Bool = false, at time: Int64, _ offset: Int) {
        keepAliveCount += 1
        guard keepAlives.count < Self.mostKeepAlives, room.left > 0 else { return }
        room.left -= 1
        keepAlives.append(
            KeepAlive(time: time, offset: offset, side: side, lines: lines, isBeforeMessage: isBeforeMessage)
        )
    }

    func ended(by source: NetworkEndpoint, at time: Int64, isReset: Bool) {
        if end == nil { end = End(time: time, side: side(source), isReset: isReset) }
    }
}
