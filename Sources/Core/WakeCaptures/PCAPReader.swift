/// Reads pcap: either order of bytes, times in microseconds or nanoseconds.
struct PCAPReader: RecordReader {
    private let isBig: Bool
    /// Nanoseconds of a unit of its times.
    private let unit: Int64
    private let encapsulation: Encapsulation

    private static let magics: [(bytes: [UInt8], isBig: Bool, unit: Int64)] = [
        ([0xa1, 0xb2, 0xc3, 0xd4], true, 1000), ([0xd4, 0xc3, 0xb2, 0xa1], false, 1000),
        ([0xa1, 0xb2, 0x3c, 0x4d], true, 1), ([0x4d, 0x3c, 0xb2, 0xa1], false, 1),
    ]

    static func fits(_ bytes: Span<UInt8>) -> Bool { magics.contains { bytes.starts($0.bytes) } }

    /// Reads the header.
    init(_ source: inout CaptureBytes) throws(CaptureDamage) {
        guard source.has(24) else { throw CaptureDamage(offset: source.offset, found: "a header cut short") }
        let start = source.take(24).lowerBound
        let header = source.window.span.extracting(start..<start + 24)
        guard let magic = Self.magics.first(where: { header.starts($0.bytes) }) else {
            throw CaptureDamage(offset: 0, found: "no magic number of pcap")
        }
        (isBig, unit) = (magic.isBig, magic.unit)
        // The upper bits say how long a checksum at the end of each frame is.
        let linkType = header.word32(20, isBig: isBig) & 0x03ff_ffff
        encapsulation = try .known(linkType, at: 20)
    }

    mutating func next(_ source: inout CaptureBytes) throws(CaptureDamage) -> CaptureRecord? {
        let offset = source.offset
        guard source.has(16) else { return try source.end(at: offset) }
        let header = source.take(16).lowerBound
        let seconds = source.window.span.word32(header, isBig: isBig)
        let fraction = source.window.span.word32(header + 4, isBig: isBig)
        let length = Int(source.window.span.word32(header + 8, isBig: isBig))
        let original = Int(source.window.span.word32(header + 12, isBig: isBig))
        guard length <= longestRecord else {
            throw CaptureDamage(offset: offset, found: "a record of \(length) bytes")
        }
        guard source.has(length) else { throw CaptureDamage(offset: offset, found: "a record cut short") }
        let payload = source.take(length)
        return encapsulation.record(
            CaptureRecord(
                offset: offset,
                time: CaptureTime.nanoseconds(seconds: Int64(seconds), fraction: Int64(fraction) * unit),
                kind: .unknown,
                direction: .unknown,
                missing: max(0, original - length),
                payload: payload
            ),
            source.window.span.extracting(payload)
        )
    }
}

extension Encapsulation {
    /// The encapsulation of a link type.
    ///
    /// - Throws: ``CaptureDamage`` for one that is not read.
    static func known(_ linkType: UInt32, at offset: Int) throws(CaptureDamage) -> Encapsulation {
        let found = Encapsulation(linkType: linkType)
        if case .unread = found {
            throw CaptureDamage(offset: offset, found: "link type \(linkType)", isUnread: true)
        }
        return found
    }
}
