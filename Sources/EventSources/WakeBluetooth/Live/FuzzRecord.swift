/// What a device did about an operation.
package enum FuzzAnswer: Hashable, Sendable {
    /// It gave a value of so many bytes.
    case value(Int)
    case done
    /// With an error of the Attribute Protocol.
    case refused(UInt8)
    /// It said nothing to what no client should send, and answered what came next.
    case ignored
    /// It said nothing for 30 s.
    case silence
    /// The link ended first.
    case gone
    /// The kernel did not take it, in words.
    case unsent(String)

    /// One word, as records have it.
    package var word: String {
        switch self {
        case .value: "value"
        case .done: "done"
        case .refused: "refused"
        case .ignored: "ignored"
        case .silence: "silence"
        case .gone: "gone"
        case .unsent: "unsent"
        }
    }

    /// The error in words (Bluetooth Core, volume 3, part F, 3.4.1.1).
    package static func text(_ error: UInt8) -> String {
        switch error {
        case 0x01: "invalid handle"
        case 0x02: "read not permitted"
        case 0x03: "write not permitted"
        case 0x04: "invalid packet"
        case 0x05: "insufficient authentication"
        case 0x06: "request not supported"
        case 0x07: "invalid offset"
        case 0x08: "insufficient authorization"
        case 0x09: "prepare queue full"
        case 0x0a: "attribute not found"
        case 0x0b: "attribute not long"
        case 0x0c: "encryption key too short"
        case 0x0d: "invalid length of the value"
        case 0x0e: "unlikely error"
        case 0x0f: "insufficient encryption"
        case 0x10: "unsupported group type"
        case 0x11: "insufficient resources"
        case 0x80...0x9f: "error of the application"
        default: "another error"
        }
    }
}

/// One operation, and what came of it.
package struct FuzzRecord: Hashable, Sendable {
    /// Counted from 1.
    package var number: Int
    /// Since the beginning, in nanoseconds.
    package var at: Int64
    package var operation: FuzzOperation
    package var answer: FuzzAnswer
    /// In nanoseconds.
    package var latency: Int64
    /// Values that came of themselves meanwhile.
    package var notified: Int
}

/// What came of all operations.
package struct FuzzSummary: Hashable, Sendable {
    /// How the device was at the end.
    package enum End: String, Sendable {
        /// There, and it answered.
        case answered
        /// There, and it did not answer.
        case silent
        /// It advertises, and no link comes up.
        case unreachable
        /// Not heard any more.
        case gone
    }

    package var operations = 0
    package var answered = 0
    package var refused = 0
    package var notified = 0
    package var links = 0
    /// The operations during which the device ended the link, or the link was lost.
    package var disconnects: [FuzzRecord] = []
    /// Those that were not answered within 30 s.
    package var hangs: [FuzzRecord] = []
    /// What takes no writes and took one.
    package var opened: [UInt16] = []
    /// Values that are others than at first, of what was not written to and does not notify.
    package var changed: [FuzzTarget.Characteristic] = []
    /// What takes values and was not written to.
    package var leftOut: [FuzzTarget.Characteristic] = []
    package var end = End.answered
    /// What was done last before the device was lost, and what before that: a device may answer, and die of it.
    package var diedOf: FuzzRecord?
    package var before: FuzzRecord?
    package var wasInterrupted = false

    /// Whether the device was there and answered at the end, had answered each request, and took no write that it does
    /// not offer.
    package var isClean: Bool { end == .answered && hangs.isEmpty && opened.isEmpty }
}
