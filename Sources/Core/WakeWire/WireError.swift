import WakeJSON

/// Why a packet is not a message of the wire.
///
/// Every case is the sender's mistake; nothing in a packet can stop the receiver.
package enum WireError: Error, Equatable, Sendable {
    /// The packet is longer than ``WireLimits/packetBytes``.
    case tooLarge(bytes: Int)
    /// The bytes are not JSON as RFC 8259 describes it, at that offset.
    case notJSON(offset: Int)
    /// Arrays and objects nest deeper than ``WireLimits/depth``.
    case tooDeep(offset: Int)
    /// The packet, or a message in it, is JSON but not an object.
    case notAnObject
    /// The packet is an array of no messages, or of more than ``WireLimits/messages``.
    case badBatch(messages: Int)
    /// A key that this message must have is missing.
    case missing(key: String)
    /// A value has another type than the key asks for.
    case wrongType(key: String, expected: String)
    /// A value has the right type and says nothing the wire knows.
    case badValue(key: String, expected: String)
    /// The `type` is no message of this direction.
    case unknownType(String)
    /// The `kind` of a delivery is not known.
    case unknownKind(String)
}

extension WireError {
    init(_ fault: JSONFault) {
        self =
            switch fault {
            case .notJSON(let offset): .notJSON(offset: offset)
            case .tooDeep(let offset): .tooDeep(offset: offset)
            }
    }
}

extension WireError: CustomStringConvertible {
    /// One line that names the fault and what was expected.
    package var description: String {
        switch self {
        case .tooLarge(let bytes):
            "packet of \(bytes) bytes, at most \(WireLimits.packetBytes) are allowed"
        case .notJSON(let offset):
            "packet is not JSON at byte \(offset)"
        case .tooDeep(let offset):
            "packet nests deeper than \(WireLimits.depth) levels at byte \(offset)"
        case .notAnObject:
            "packet is not a JSON object"
        case .badBatch(let count):
            "packet of \(count) messages, 1 to \(WireLimits.messages) are allowed"
        case .missing(let key):
            "packet has no '\(key)'"
        case .wrongType(let key, let expected):
            "'\(key)' must be \(expected)"
        case .badValue(let key, let expected):
            "'\(key)' must be \(expected)"
        case .unknownType(let name):
            "unknown type '\(WireLimits.shortened(name))'"
        case .unknownKind(let name):
            "unknown kind '\(WireLimits.shortened(name))'"
        }
    }
}

/// The bounds of the wire.
package enum WireLimits {
    /// The version that `hello` and `welcome` carry.
    package static let version = 1
    /// The longest packet, in bytes.
    package static let packetBytes = 65_536
    /// The most messages in one packet.
    package static let messages = 256
    /// The deepest nesting of arrays and objects.
    package static let depth = 16
    /// The largest whole number, 2^53 - 1, so that every JSON library reads it exactly.
    package static let largestInteger: UInt64 = 9_007_199_254_740_991
    /// The longest attribute value, in bytes (Bluetooth Core Specification, Vol 3, Part F, 3.2.9).
    package static let valueBytes = 512
    /// The name of the environment variable that holds the socket's descriptor number.
    package static let socketVariable = "WAKEBENCH_SOCKET"

    static func shortened(_ text: String) -> String {
        String(text.unicodeScalars.prefix(40).map { $0.value < 32 ? "?" : Character($0) })
    }
}
