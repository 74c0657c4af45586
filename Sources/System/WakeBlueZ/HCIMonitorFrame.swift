/// One message of the kernel's HCI monitor: six bytes of header, its numbers with the lowest byte first, and what it tells.
///
/// The kernel documents the format in include/net/bluetooth/hci_mon.h, which is in no package of headers; bluez has the same
/// numbers as the records of its own btsnoop files.
package struct HCIMonitorFrame: Hashable, Sendable {
    /// What a message tells; all but these is of no use here.
    package enum Kind: Hashable, Sendable {
        /// A controller is there, with its address or, before it has said it, zeros.
        case appeared
        case disappeared
        case command
        case event
        case sentData
        case receivedData
        /// A controller has said its address, unless it has none of its own.
        case identified
        case other(UInt16)

        init(_ opcode: UInt16) {
            switch opcode {
            case 0: self = .appeared
            case 1: self = .disappeared
            case 2: self = .command
            case 3: self = .event
            case 4: self = .sentData
            case 5: self = .receivedData
            case 10: self = .identified
            default: self = .other(opcode)
            }
        }
    }

    /// The bytes of a header.
    package static let headLength = 6
    /// The most bytes of a message: the longest ACL packet is 65 535 bytes behind its own four.
    package static let longest = headLength + 4 + 65_535

    package var kind: Kind
    /// The controller's number, as in `hci0`.
    package var index: UInt16
    /// Nanoseconds since 1970, by the kernel's wall clock.
    package var time: Int64
    package var bytes: [UInt8]

    package init(_ kind: Kind, index: UInt16, time: Int64, bytes: [UInt8]) {
        (self.kind, self.index, self.time, self.bytes) = (kind, index, time, bytes)
    }

    /// Reads a message; nil when it is shorter than its header, or has another length than that says.
    package init?(_ message: Span<UInt8>, time: Int64) {
        guard message.count >= Self.headLength else { return nil }
        let length = Int(message[4]) | Int(message[5]) << 8
        guard message.count == Self.headLength + length else { return nil }
        kind = Kind(UInt16(message[0]) | UInt16(message[1]) << 8)
        index = UInt16(message[2]) | UInt16(message[3]) << 8
        self.time = time
        bytes = (Self.headLength..<message.count).map { message[$0] }
    }

    /// How many messages are missing before this one, where it is the note that says so: `wakebench: 12 frames lost`, of Scripts/radio. The
    /// kernel counts elsewhere, and its notes say other things.
    package var lostBefore: Int? {
        guard kind == .other(Self.note) else { return nil }
        let words = String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self).split(separator: " ")
        guard words.count == 4, words[0] == "wakebench:", words[2...] == ["frames", "lost"] else { return nil }
        return UInt32(words[1]).map { Int($0) }
    }

    /// A note for people.
    private static let note: UInt16 = 12

    /// The address that a controller appears or is identified with, most significant byte first, such as `F0:11:22:33:44:55`; nil
    /// when it says none.
    package var address: String? {
        let start: Int
        switch kind {
        // Behind the type and the bus.
        case .appeared: start = 2
        case .identified: start = 0
        case .disappeared, .command, .event, .sentData, .receivedData, .other: return nil
        }
        guard bytes.count >= start + 6 else { return nil }
        let address = bytes[start..<start + 6].reversed()
        guard address.contains(where: { $0 != 0 }) else { return nil }
        let digits = Array("0123456789ABCDEF")
        return address.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: ":")
    }
}
