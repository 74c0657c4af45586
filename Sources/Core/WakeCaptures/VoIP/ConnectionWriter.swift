/// Writes what was said over TCP connections as a capture of the packets that it would take on a network without loss.
///
/// The packets are of IP version 4 (RFC 791) and TCP (RFC 9293), without options, and with their checksums.
package struct ConnectionWriter {
    /// LINKTYPE_RAW: packets begin with the header of IP.
    private static let linkType: UInt16 = 101
    /// What one packet carries at most, in bytes.
    private static let mostInPacket = 16_384

    /// Two ends, and how far either has come.
    private struct Connection {
        /// Who began it, and the other.
        var ends: [NetworkEndpoint]
        var next: [UInt32] = [1_000, 5_000]
        var hasEnded = [false, false]
    }

    private var connections: [Int: Connection] = [:]
    private var packets: UInt16 = 0

    package init() {}

    /// What a file begins with.
    package static var head: [UInt8] { PCAPNGWriter.head(linkType: linkType) }

    /// A connection was made.
    ///
    /// - Parameters:
    ///   - number: says which it is from now on; one of the number that was there is over.
    ///   - ends: of IP version 4, who began it first.
    ///   - microseconds: since 1970.
    /// - Returns: bytes for the file.
    package mutating func began(
        _ number: Int,
        _ ends: (NetworkEndpoint, NetworkEndpoint),
        microseconds: UInt64
    ) -> [UInt8] {
        precondition(ends.0.address.count == 4 && ends.1.address.count == 4, "an address of IP version 4 has 4 bytes")
        connections[number] = Connection(ends: [ends.0, ends.1])
        let asked = packet(number, from: 0, .synchronize, [], microseconds)
        connections[number]?.next[0] &+= 1
        let taken = packet(number, from: 1, [.synchronize, .acknowledge], [], microseconds)
        connections[number]?.next[1] &+= 1
        return asked + taken + packet(number, from: 0, .acknowledge, [], microseconds)
    }

    /// An end said something.
    ///
    /// - Parameter byFirst: whether it is the one that began the connection.
    package mutating func said(_ number: Int, byFirst: Bool, _ bytes: [UInt8], microseconds: UInt64) -> [UInt8] {
        let side = byFirst ? 0 : 1
        var file: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: Self.mostInPacket) {
            let piece = Array(bytes[start..<min(bytes.count, start + Self.mostInPacket)])
            file += packet(number, from: side, [.push, .acknowledge], piece, microseconds)
            connections[number]?.next[side] &+= UInt32(piece.count)
        }
        return file
    }

    /// An end says nothing more; of a reset neither does.
    package mutating func ended(_ number: Int, byFirst: Bool, isReset: Bool, microseconds: UInt64) -> [UInt8] {
        let side = byFirst ? 0 : 1
        guard let connection = connections[number], !connection.hasEnded[side] else { return [] }
        let file = packet(number, from: side, isReset ? .reset : [.finish, .acknowledge], [], microseconds)
        connections[number]?.next[side] &+= 1
        connections[number]?.hasEnded[side] = true
        if isReset || connection.hasEnded[1 - side] { connections[number] = nil }
        return file
    }

    // MARK: Packets

    private mutating func packet(
        _ number: Int,
        from side: Int,
        _ flags: NetworkPacket.Flags,
        _ payload: [UInt8],
        _ microseconds: UInt64
    ) -> [UInt8] {
        guard let connection = connections[number] else { return [] }
        let (source, destination) = (connection.ends[side], connection.ends[1 - side])
        packets &+= 1
        var head: [UInt8] = [0x45, 0] + Self.big(UInt16(40 + payload.count)) + Self.big(packets)
        head += [0x40, 0, 64, 6, 0, 0] + source.address + destination.address
        Self.put(Self.checksum(of: head), into: &head, at: 10)
        var segment = Self.big(source.port) + Self.big(destination.port)
        let heard = flags.contains(.acknowledge) ? connection.next[1 - side] : 0
        for value in [connection.next[side], heard] {
            segment += Self.big(UInt16(value >> 16)) + Self.big(UInt16(truncatingIfNeeded: value))
        }
        segment += [0x50, flags.rawValue, 0xFF, 0xFF, 0, 0, 0, 0] + payload
        let pseudo = source.address + destination.address + [0, 6] + Self.big(UInt16(segment.count))
        Self.put(Self.checksum(of: pseudo + segment), into: &segment, at: 16)
        return PCAPNGWriter.packet(head + segment, microseconds: microseconds)
    }

    /// The Internet checksum (RFC 1071).
    private static func checksum(of bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for place in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[place]) << 8 | (place + 1 < bytes.count ? UInt32(bytes[place + 1]) : 0)
        }
        while sum > 0xFFFF { sum = (sum & 0xFFFF) + sum >> 16 }
        return ~UInt16(sum)
    }

    private static func put(_ value: UInt16, into bytes: inout [UInt8], at place: Int) {
        bytes.replaceSubrange(place..<place + 2, with: big(value))
    }

    private static func big(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }
}
