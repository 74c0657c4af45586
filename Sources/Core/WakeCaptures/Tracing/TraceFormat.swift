import WakeModel

/// A format of files in which other programs read what a run's radio did.
package enum TraceFormat: String, CaseIterable, Sendable {
    /// With datalink 1002, as phones write it.
    case btsnoop
    /// With link type 201, as Wireshark writes it.
    case pcapng

    /// From the year 0 to 1970, in microseconds (the epoch of btsnoop).
    private static let btsnoopEpoch: UInt64 = 0x00DC_DDB3_0F2F_8000
    private static let linkType: UInt16 = 201

    /// What a file begins with.
    package var head: [UInt8] {
        switch self {
        case .btsnoop: Array("btsnoop\0".utf8) + Self.big(1) + Self.big(1002)
        case .pcapng:
            Self.block(0x0A0D_0D0A, Self.little(0x1A2B_3C4D) + [1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
                + Self.block(1, [UInt8(Self.linkType), 0, 0, 0, 0, 0, 0, 0])
        }
    }

    /// Appends a packet.
    ///
    /// - Parameter start: the wall time of the run's beginning, in nanoseconds since 1970.
    package func append(_ packet: HCIPacket, start: Int64, to file: inout [UInt8]) {
        let microseconds = UInt64(max(0, (start + packet.at.nanoseconds) / 1_000))
        let length = packet.bytes.count + 1
        switch self {
        case .btsnoop:
            let flags: UInt32 = (packet.fromHost ? 0 : 1) | (packet.kind == .data ? 0 : 2)
            file += Self.big(UInt32(length)) + Self.big(UInt32(length)) + Self.big(flags) + Self.big(0)
            let time = microseconds + Self.btsnoopEpoch
            file += Self.big(UInt32(time >> 32)) + Self.big(UInt32(truncatingIfNeeded: time))
            file.append(packet.kind.rawValue)
            file += packet.bytes
        case .pcapng:
            let time = Self.little(UInt32(microseconds >> 32)) + Self.little(UInt32(truncatingIfNeeded: microseconds))
            let size = Self.little(UInt32(length + 4))
            let data = Self.big(packet.fromHost ? 0 : 1) + [packet.kind.rawValue] + packet.bytes
            file += Self.block(6, Self.little(0) + time + size + size + data)
        }
    }

    /// A block of pcapng, padded to four bytes.
    private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
        let length = little(UInt32(body.count + padding.count + 12))
        return little(type) + length + body + padding + length
    }

    private static func big(_ number: UInt32) -> [UInt8] { little(number).reversed() }

    private static func little(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
