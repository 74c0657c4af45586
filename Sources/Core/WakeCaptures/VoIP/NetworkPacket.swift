/// A datagram of UDP or a segment of TCP, in a packet of a network.
struct NetworkPacket {
    enum Transport: Equatable {
        case udp
        case tcp(sequence: UInt32, flags: Flags)
    }

    /// Those of TCP that matter here (RFC 9293, section 3.1).
    struct Flags: OptionSet {
        let rawValue: UInt8
        static let finish = Flags(rawValue: 1)
        static let synchronize = Flags(rawValue: 2)
        static let reset = Flags(rawValue: 4)
        static let push = Flags(rawValue: 8)
        static let acknowledge = Flags(rawValue: 16)
    }

    var source: NetworkEndpoint
    var destination: NetworkEndpoint
    var transport: Transport
    /// Where what it carries stands in the packet.
    var payload: Range<Int>

    private static let mostTags = 4
    private static let mostHeaders = 8

    /// Reads a packet of a link type.
    ///
    /// - Throws: why it is left out.
    init(_ bytes: Span<UInt8>, linkType: UInt16) throws(CallReading.Skip) {
        let network = try Self.network(bytes, linkType)
        let inner = network.isV6 ? try Self.v6(bytes, network.start) : try Self.v4(bytes, network.start)
        let start = inner.payload.lowerBound
        let head = inner.protocol == 17 ? 8 : 20
        guard inner.protocol == 17 || inner.protocol == 6 else { throw .otherTransport }
        guard inner.payload.count >= head else { throw .badPacket }
        source = NetworkEndpoint(address: inner.source, port: bytes.big16(start))
        destination = NetworkEndpoint(address: inner.destination, port: bytes.big16(start + 2))
        if inner.protocol == 17 {
            // Its length is 0 in jumbograms and where the card was to fill it in.
            let length = Int(bytes.big16(start + 4))
            guard length == 0 || (8...inner.payload.count).contains(length) else { throw .badPacket }
            transport = .udp
            payload = start + 8..<(length == 0 ? inner.payload.upperBound : start + length)
        } else {
            let length = Int(bytes[start + 12] >> 4) * 4
            guard (20...inner.payload.count).contains(length) else { throw .badPacket }
            transport = .tcp(sequence: bytes.big32(start + 4), flags: Flags(rawValue: bytes[start + 13]))
            payload = start + length..<inner.payload.upperBound
        }
    }

    // MARK: Links

    /// Where the packet of IP begins, and its version.
    private static func network(
        _ bytes: Span<UInt8>,
        _ linkType: UInt16
    ) throws(CallReading.Skip) -> (start: Int, isV6: Bool) {
        switch linkType {
        case 1: return try ethernet(bytes)
        case 113:
            guard bytes.count >= 16 else { throw .badPacket }
            return (16, try isV6(type: bytes.big16(14)))
        case 276:
            guard bytes.count >= 20 else { throw .badPacket }
            return (20, try isV6(type: bytes.big16(0)))
        case 0, 108:
            guard bytes.count >= 4 else { throw .badPacket }
            // The number of a family, in the order of bytes of who captured.
            let family = bytes[0] == 0 && bytes[1] == 0 ? bytes.big32(0) : bytes.little32(0)
            switch family {
            case 2: return (4, false)
            // Of Linux, the BSDs, FreeBSD and Darwin.
            case 10, 24, 28, 30: return (4, true)
            default: throw .otherNetwork
            }
        default:
            guard bytes.count >= 1 else { throw .badPacket }
            switch bytes[0] >> 4 {
            case 4: return (0, false)
            case 6: return (0, true)
            default: throw .otherNetwork
            }
        }
    }

    /// Ethernet, with or without tags of virtual networks (IEEE 802.1Q).
    private static func ethernet(_ bytes: Span<UInt8>) throws(CallReading.Skip) -> (start: Int, isV6: Bool) {
        var place = 12
        for _ in 0...mostTags {
            guard bytes.count >= place + 2 else { throw .badPacket }
            let type = bytes.big16(place)
            guard type == 0x8100 || type == 0x88a8 || type == 0x9100 else { return (place + 2, try isV6(type: type)) }
            place += 4
        }
        throw .otherNetwork
    }

    private static func isV6(type: UInt16) throws(CallReading.Skip) -> Bool {
        switch type {
        case 0x0800: return false
        case 0x86dd: return true
        default: throw .otherNetwork
        }
    }

    // MARK: IP

    private typealias Inner = (protocol: UInt8, source: [UInt8], destination: [UInt8], payload: Range<Int>)

    private static func v4(_ bytes: Span<UInt8>, _ start: Int) throws(CallReading.Skip) -> Inner {
        let room = bytes.count - start
        guard room >= 20, bytes[start] >> 4 == 4 else { throw .badPacket }
        let head = Int(bytes[start] & 15) * 4
        // 0 where the card was to part what is larger than a packet.
        let length = Int(bytes.big16(start + 2)) == 0 ? room : Int(bytes.big16(start + 2))
        guard head >= 20, (head...max(head, room)).contains(length), length <= room else { throw .badPacket }
        guard bytes.big16(start + 6) & 0x3fff == 0 else { throw .fragment }
        return (
            bytes[start + 9], bytes.extracting(start + 12..<start + 16).copied(),
            bytes.extracting(start + 16..<start + 20).copied(), start + head..<start + length
        )
    }

    private static func v6(_ bytes: Span<UInt8>, _ start: Int) throws(CallReading.Skip) -> Inner {
        let room = bytes.count - start
        guard room >= 40, bytes[start] >> 4 == 6 else { throw .badPacket }
        let length = Int(bytes.big16(start + 4)) == 0 ? room - 40 : Int(bytes.big16(start + 4))
        guard length <= room - 40 else { throw .badPacket }
        let end = start + 40 + length
        var place = start + 40
        var next = bytes[start + 6]
        // Headers between, of which each says the next (RFC 8200, section 4).
        for _ in 0...mostHeaders {
            switch next {
            case 44: throw .fragment
            case 0, 43, 60, 51:
                guard end >= place + 8 else { throw .badPacket }
                let words = Int(bytes[place + 1])
                let size = next == 51 ? (words + 2) * 4 : (words + 1) * 8
                guard end >= place + size else { throw .badPacket }
                next = bytes[place]
                place += size
            default:
                return (
                    next, bytes.extracting(start + 8..<start + 24).copied(),
                    bytes.extracting(start + 24..<start + 40).copied(), place..<end
                )
            }
        }
        throw .otherTransport
    }
}
