/// One record of a capture: when, between whom, and where its bytes stand in the window.
package struct CaptureRecord {
    /// What the bytes are.
    package enum Kind: UInt8, CaseIterable, Sendable {
        case command
        case event
        case acl
        /// SCO and eSCO.
        case synchronous
        case isochronous
        /// A packet of the link layer, from a sniffer, beginning with its access address.
        case linkLayer
        /// A packet of a network, beginning as the record's link type says.
        case network
        case controllerAdded
        case controllerRemoved
        /// What the capturing program and bluetoothd say of themselves.
        case note
        /// A packet of a link type that is not read.
        case unread
        case unknown
    }

    /// Which way the bytes went.
    package enum Direction: UInt8, Sendable {
        /// From the host to the controller; of a sniffer, from the central to the peripheral.
        case sent
        case received
        case unknown
    }

    /// Where the record begins in the file.
    package var offset: Int
    /// Nanoseconds since 1970.
    package var time: Int64
    package var controller: UInt16 = 0
    package var kind: Kind
    package var direction: Direction
    /// The bytes that the capture left out at the end of the packet.
    package var missing = 0
    /// What a sniffer heard it with, in dBm; nil when it does not say.
    package var strength: Int8?
    /// Whether a sniffer says that its checksum was wrong.
    package var isDamaged = false
    /// Whether a sniffer says that it is encrypted, and was not decrypted; nil when it does not say.
    package var isEncrypted: Bool?
    /// The number of the link type, of `network` and `unread` alone.
    package var linkType: UInt16 = 0
    /// Where the bytes stand in the window.
    package var payload: Range<Int>
}

/// Where a capture cannot be read any further, and why. Of a compressed one the bytes are counted as they are unpacked.
package struct CaptureDamage: Error, Hashable, Sendable {
    /// Counted in bytes from the start of the file.
    package var offset: Int
    /// What stands there, such as `a record of 4294967295 bytes`.
    package var found: String
    /// Whether the file is not damaged, but of a kind that is not read, such as `link type 192`.
    package var isUnread = false
}

/// Reads the records of one file format, one after the other.
protocol RecordReader {
    /// The next record; nil at the end of the file.
    mutating func next(_ source: inout CaptureBytes) throws(CaptureDamage) -> CaptureRecord?
}

/// The largest record that is believed; a larger length is damage. ACL packets have at most 65 539 bytes.
let longestRecord = 256 << 10

/// Times of captures, in nanoseconds since 1970 and far enough from the ends of the range that any two can be subtracted.
enum CaptureTime {
    private static let bound: Int64 = 4_500_000_000_000_000_000

    static func bounded(_ time: Int64) -> Int64 { max(-bound, min(time, bound)) }

    static func nanoseconds(seconds: Int64, fraction: Int64) -> Int64 {
        let (time, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (seconds < 0 ? -bound : bound) : bounded(bounded(time) + bounded(fraction))
    }
}

/// The clock of a capture, which may be set to any year.
///
/// Times beyond what nanoseconds since 1970 hold are counted from the first of them, so that the pauses between them stay.
struct CaptureClock {
    /// Seconds in either direction.
    private static let range: ClosedRange<Int64> = -4_500_000_000...4_500_000_000

    /// The first that is beyond.
    private var first: Int64?

    /// A moment in nanoseconds since 1970.
    mutating func nanoseconds(seconds: Int64, fraction: Int64) -> Int64 {
        if Self.range.contains(seconds) { return CaptureTime.nanoseconds(seconds: seconds, fraction: fraction) }
        let start = first ?? seconds
        first = start
        let (rest, overflow) = seconds.subtractingReportingOverflow(start)
        return CaptureTime.nanoseconds(seconds: overflow ? (seconds < 0 ? .min : .max) : rest, fraction: fraction)
    }
}
