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
    private(set) var end: End?

    private var assemblies = [TCPAssembly(), TCPAssembly()]
    private var streams: [[UInt8]] = [[], []]
    private(set) var isForeign = false

    /// A message that comes once more comes soon.
    private static let memory = 64

    init(_ one: NetworkEndpoint, _ other: NetworkEndpoint, isTCP: Bool, opener: NetworkEndpoint?) {
        ends = [one, other]
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
    func next(_ side: Side) -> SIPMessage.Found {
        // Empty lines between messages keep a connection open (RFC 5626, section 3.5.1).
        streams[side.rawValue].removeFirst(streams[side.rawValue].prefix { $0 == 0x0d || $0 == 0x0a }.count)
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

    /// From the first line behind the first that may begin a message.
    private static func afterNonsense(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            rest = rest[(end + 1)...]
            if SIPMessage.begins(rest.prefix(64)) != false { return Array(rest) }
        }
        return []
    }

    func ended(by source: NetworkEndpoint, at time: Int64, isReset: Bool) {
        if end == nil { end = End(time: time, side: side(source), isReset: isReset) }
    }
}
