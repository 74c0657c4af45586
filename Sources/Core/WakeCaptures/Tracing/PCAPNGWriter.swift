/// Writes a capture as Wireshark reads it: one section with one interface, whose packets have a time in microseconds.
enum PCAPNGWriter {
    /// What a file begins with.
    static func head(linkType: UInt16) -> [UInt8] {
        block(0x0A0D_0D0A, little(0x1A2B_3C4D) + [1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
            + block(1, [UInt8(truncatingIfNeeded: linkType), UInt8(linkType >> 8), 0, 0, 0, 0, 0, 0])
    }

    /// A packet that the interface saw whole.
    ///
    /// - Parameter microseconds: since 1970.
    static func packet(_ bytes: [UInt8], microseconds: UInt64) -> [UInt8] {
        let time =
            little(UInt32(truncatingIfNeeded: microseconds >> 32)) + little(UInt32(truncatingIfNeeded: microseconds))
        let size = little(UInt32(bytes.count))
        return block(6, little(0) + time + size + size + bytes)
    }

    /// A block, padded to four bytes.
    private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
        let length = little(UInt32(body.count + padding.count + 12))
        return little(type) + length + body + padding + length
    }

    static func little(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
