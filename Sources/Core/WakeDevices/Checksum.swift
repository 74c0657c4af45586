/// The checksums that device files know, by their names in the catalogue of CRC algorithms.
package enum Checksum: String, CaseIterable, Sendable {
    /// CRC-16/IBM-3740, which Nordic's DFU calls CRC-16-CCITT; "123456789" gives 29b1.
    case crc16CCITT = "crc-16-ccitt"
    /// CRC-16/MCRF4XX, the same polynomial, least significant bit first; "123456789" gives 6f91.
    case crc16MCRF4XX = "crc-16-mcrf4xx"
    /// CRC-32/ISO-HDLC, which Nordic's secure DFU has; "123456789" gives cbf43926.
    case crc32 = "crc-32"

    /// In bytes.
    var width: Int { self == .crc32 ? 4 : 2 }

    /// The checksum of no bytes.
    var start: UInt32 { self == .crc32 ? 0 : 0xffff }

    /// The checksum of bytes that follow others.
    ///
    /// - Parameter before: the checksum of those; nil when there are none.
    package func value(of bytes: [UInt8], after before: UInt32? = nil) -> UInt32 {
        let before = before ?? start
        switch self {
        case .crc16CCITT:
            return bytes.reduce(before & 0xffff) { sum, byte in
                (0..<8).reduce(sum ^ UInt32(byte) << 8) { sum, _ in
                    sum & 0x8000 != 0 ? (sum << 1 ^ 0x1021) & 0xffff : sum << 1
                }
            }
        case .crc16MCRF4XX: return Self.reflected(bytes, before & 0xffff, 0x8408)
        case .crc32: return ~Self.reflected(bytes, ~before, 0xedb8_8320)
        }
    }

    private static func reflected(_ bytes: [UInt8], _ before: UInt32, _ polynomial: UInt32) -> UInt32 {
        bytes.reduce(before) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 != 0 ? sum >> 1 ^ polynomial : sum >> 1 }
        }
    }
}
