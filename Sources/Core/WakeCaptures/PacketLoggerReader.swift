/// Reads Apple's PacketLogger: lengths and times in either order of bytes, of which the older is the highest first.
struct PacketLoggerReader: RecordReader {
    /// The bytes that a record's length counts beside its packet: the time, and the kind.
    private static let header = 9

    private let isBig: Bool

    /// - Parameter isBig: whether numbers have their highest byte first.
    init(isBig: Bool) { self.isBig = isBig }

    /// The order of bytes in which the first record makes sense; nil when it does in neither, as in other files.
    static func order(_ bytes: Span<UInt8>) -> Bool? {
        guard bytes.count >= 13 else { return nil }
        for isBig in [true, false] {
            let length = bytes.word32(0, isBig: isBig)
            let microseconds = bytes.word32(8, isBig: isBig)
            guard (9...65_600).contains(length), microseconds < 1_000_000, isKnown(bytes[12]) else { continue }
            // The first file of such a kind was written in 2007, and time has 32 bits.
            if bytes.word32(4, isBig: isBig) > 1_000_000_000 { return isBig }
        }
        return nil
    }

    private static func isKnown(_ kind: UInt8) -> Bool { kind <= 3 || (8...11).contains(kind) || kind >= 0xf0 }

    mutating func next(_ source: inout CaptureBytes) throws(CaptureDamage) -> CaptureRecord? {
        let offset = source.offset
        guard source.has(13) else { return try source.end(at: offset) }
        let header = source.take(13).lowerBound
        let length = Int(source.window.span.word32(header, isBig: isBig))
        guard (Self.header...longestRecord).contains(length) else {
            throw CaptureDamage(offset: offset, found: "a record of \(length) bytes")
        }
        guard source.has(length - Self.header) else { throw CaptureDamage(offset: offset, found: "a record cut short") }
        let seconds = source.window.span.word32(header + 4, isBig: isBig)
        let microseconds = source.window.span.word32(header + 8, isBig: isBig)
        var record = CaptureRecord(
            offset: offset,
            time: CaptureTime.nanoseconds(seconds: Int64(seconds), fraction: Int64(microseconds) * 1000),
            kind: .unknown,
            direction: .unknown,
            payload: source.take(length - Self.header)
        )
        switch source.window[header + 12] {
        case 0: (record.kind, record.direction) = (.command, .sent)
        case 1: (record.kind, record.direction) = (.event, .received)
        case 2: (record.kind, record.direction) = (.acl, .sent)
        case 3: (record.kind, record.direction) = (.acl, .received)
        case 8: (record.kind, record.direction) = (.synchronous, .sent)
        case 9: (record.kind, record.direction) = (.synchronous, .received)
        case 10, 11, 0xf0...: record.kind = .note
        default: break
        }
        return record
    }
}
