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
            PCAPNGWriter.head(linkType: Self.linkType)
        }
    }

    /// Appends a packet.
    ///
    /// - Parameter start: the wall time of the run's beginning, in nanoseconds since 1970.
    package func append(_ packet: HCIPacket, start: Int64, to file: inout [UInt8]) {
        let (nanoseconds, isFar) = start.addingReportingOverflow(packet.at.nanoseconds)
        let microseconds = UInt64(max(0, (isFar ? .max : nanoseconds) / 1_000))
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
            let data = Self.big(packet.fromHost ? 0 : 1) + [packet.kind.rawValue] + packet.bytes
            file += PCAPNGWriter.packet(data, microseconds: microseconds)
        }
    }

    private static func big(_ number: UInt32) -> [UInt8] { PCAPNGWriter.little(number).reversed() }
}
