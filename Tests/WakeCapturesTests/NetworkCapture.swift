@testable import WakeCaptures

/// A capture of a network in the making, in pcap.
struct NetworkCapture {
    enum End {
        case phone
        case server
    }

    private let linkType: UInt16
    private let isV6: Bool
    private(set) var bytes: [UInt8]
    /// How many packets there are.
    private var count: UInt32 = 0
    private var numbers: [UInt32] = [100, 900]

    init(linkType: UInt16 = 101, isV6: Bool = false) {
        (self.linkType, self.isV6) = (linkType, isV6)
        bytes = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0] + Self.little(0, 4) + Self.little(0, 4) + Self.little(65_535, 4)
        bytes += Self.little(UInt32(linkType), 4)
    }

    /// What the capture shows.
    var reading: CallReading {
        let reading = CallReading()
        var source = CaptureBytes(bytes, file: "bytes")
        try? reading.read(&source, .pcap)
        return reading
    }

    // MARK: Packets

    mutating func datagram(_ from: End, _ text: String, after milliseconds: UInt32 = 1) {
        let payload = Array(text.replacing("\n", with: "\r\n").utf8)
        let head = Self.ports(from) + Self.big(UInt32(payload.count + 8), 2) + [0, 0]
        add(packet(from, 17, head + payload), after: milliseconds)
    }

    /// A segment with what was said next, or with other bytes from the number of it on.
    mutating func segment(_ from: End, _ payload: [UInt8], skip: Int = 0, flags: UInt8 = 16, moves: Bool = true) {
        let place = from == .phone ? 0 : 1
        let number = numbers[place] &+ UInt32(skip)
        if moves { numbers[place] &+= UInt32(payload.count) + (flags & 3 == 0 ? 0 : 1) }
        let head = Self.ports(from) + Self.big(number, 4) + Self.big(0, 4) + [0x50, flags, 1, 0, 0, 0, 0, 0]
        add(packet(from, 6, head + payload), after: 1)
    }

    mutating func message(_ from: End, _ text: String) { segment(from, Self.wire(text)) }

    static func wire(_ text: String) -> [UInt8] { Array(text.replacing("\n", with: "\r\n").utf8) }

    /// A packet as it is; `missing` bytes of it are said to be cut.
    mutating func add(_ packet: [UInt8], after milliseconds: UInt32, missing: Int = 0) {
        count += milliseconds
        bytes += Self.little(1_000 + count / 1_000, 4) + Self.little(count % 1_000 * 1_000, 4)
        bytes += Self.little(UInt32(packet.count), 4) + Self.little(UInt32(packet.count + missing), 4) + packet
    }

    func packet(_ from: End, _ kind: UInt8, _ payload: [UInt8], fragment: UInt32 = 0) -> [UInt8] {
        let addresses: [[UInt8]] =
            isV6
            ? [[0xfd] + Array(repeating: 0, count: 14) + [1], [0xfd] + Array(repeating: 0, count: 14) + [2]]
            : [[192, 0, 2, 1], [192, 0, 2, 2]]
        let ends = from == .phone ? addresses[0] + addresses[1] : addresses[1] + addresses[0]
        let head: [UInt8] =
            isV6
            ? [0x60, 0, 0, 0] + Self.big(UInt32(payload.count), 2) + [kind, 64]
            : [0x45, 0] + Self.big(UInt32(payload.count + 20), 2) + [0, 1] + Self.big(fragment, 2) + [64, kind, 0, 0]
        return link + head + ends + payload
    }

    private var link: [UInt8] {
        let type: [UInt8] = isV6 ? [0x86, 0xdd] : [8, 0]
        switch linkType {
        case 0: return isV6 ? [30, 0, 0, 0] : [2, 0, 0, 0]
        case 108: return isV6 ? [0, 0, 0, 24] : [0, 0, 0, 2]
        case 1: return Array(repeating: 2, count: 12) + [0x81, 0, 0, 5] + type
        case 113: return Array(repeating: 0, count: 14) + type
        case 276: return type + Array(repeating: 0, count: 18)
        default: return []
        }
    }

    private static func ports(_ from: End) -> [UInt8] {
        from == .phone ? big(40_000, 2) + big(5_060, 2) : big(5_060, 2) + big(40_000, 2)
    }

    private static func big(_ number: UInt32, _ count: Int) -> [UInt8] { Array(little(number, count).reversed()) }

    private static func little(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }
}
