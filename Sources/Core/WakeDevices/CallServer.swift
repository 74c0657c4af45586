import WakeModel

/// A server that VoIP apps connect to over TCP, such as a SIP server, and what it says on each connection.
package struct CallServer: Hashable, Sendable {
    /// The path of the file.
    package var file: String
    /// The port that it listens on, on this machine; 0 for one that is free.
    package var port: UInt16
    /// How messages are told apart.
    package var framing: Framing
    /// What it does on each connection, one after the other.
    package var plan: [Step]
    /// What it answers to messages that the plan does not wait for; the first that fits.
    package var answers: [Answer]
    /// What goes wrong on every connection that there is when a fault is armed.
    package var faults: [DeviceFault<Step>]

    /// How messages are told apart.
    package enum Framing: String, CaseIterable, Sendable {
        /// Lines up to an empty one, and as many bytes as `Content-Length` says (RFC 3261, section 18.3).
        case sip
        /// Each line is one.
        case lines
    }

    /// One thing that the server does.
    package enum Step: Hashable, Sendable {
        /// Lines, with `${Name}` for that header of the message that came last.
        case send(String)
        /// So many bytes of ``PouredBytes``, as fast as the app takes them.
        case pour(Int)
        /// Waits for a message whose first line begins so.
        case await(String)
        /// Waits for so long, and reads on meanwhile.
        case pause(Instant.Span)
        /// Waits for so long, and reads nothing meanwhile.
        case stall(Instant.Span)
        /// So many bytes that mean nothing.
        case garbage(Int)
        /// Writes no more, and reads on.
        case halfClose
        /// Ends the connection in order.
        case close
        /// Ends the connection with a reset.
        case reset

        /// Whether the phone notices it.
        package var reachesPhone: Bool {
            switch self {
            case .send, .pour, .garbage, .halfClose, .close, .reset: true
            case .await, .pause, .stall: false
            }
        }
    }

    /// An answer to a message.
    package struct Answer: Hashable, Sendable {
        /// How the first line of the message begins.
        package var prefix: String
        package var text: String
    }
}

/// Bytes that tell by their place what they must be: the same from the same seed, in blocks that each begin with their
/// own number.
package struct PouredBytes: Sendable {
    private static let blockBytes = 65_536

    private let seed: UInt64
    private var block: [UInt8]
    /// How many were given.
    package private(set) var offset = 0

    package init(seed: UInt64) {
        self.seed = seed
        block = []
        block.reserveCapacity(Self.blockBytes)
        for index in 0..<UInt64(Self.blockBytes / 8) {
            Self.append(Mixing.number(from: seed &+ index &* Mixing.step), to: &block)
        }
    }

    /// The next bytes.
    package mutating func next(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let place = offset % Self.blockBytes
            if place == 0 { stamp(UInt64(offset / Self.blockBytes)) }
            let part = min(Self.blockBytes - place, count - bytes.count)
            bytes.append(contentsOf: block[place..<place + part])
            offset += part
        }
        return bytes
    }

    private mutating func stamp(_ number: UInt64) {
        var word: [UInt8] = []
        Self.append(Mixing.number(from: ~seed &+ number &* Mixing.step), to: &word)
        block.replaceSubrange(0..<8, with: word)
    }

    private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
}
