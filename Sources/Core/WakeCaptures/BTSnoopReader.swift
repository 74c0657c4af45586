/// Reads btsnoop: Android, Bumble and others write datalink 1002, btmon writes 2001, and some controllers' tools write 1001.
struct BTSnoopReader: RecordReader {
    static let magic = Array("btsnoop\0".utf8)
    /// Microseconds from the year 0 to 1970, as btsnoop counts time.
    private static let epoch: Int64 = 0x00dc_ddb3_0f2f_8000

    private let encapsulation: Encapsulation
    private var clock = CaptureClock()

    /// What precedes each packet.
    private struct Header {
        var original: UInt32
        var length: UInt32
        var flags: UInt32
        /// In microseconds, from the year 0 or from the start of the machine that wrote it.
        var stamp: Int64

        init(_ bytes: Span<UInt8>) {
            (original, length, flags) = (bytes.big32(0), bytes.big32(4), bytes.big32(8))
            stamp = Int64(bitPattern: bytes.big64(16))
        }
    }

    /// Reads the header.
    init(_ source: inout CaptureBytes) throws(CaptureDamage) {
        guard source.has(16) else { throw CaptureDamage(offset: source.offset, found: "a header cut short") }
        let start = source.take(16).lowerBound
        let version = source.window.span.big32(start + 8)
        guard version == 1 else {
            throw CaptureDamage(offset: 8, found: "version \(version) of btsnoop", isUnread: true)
        }
        let datalink = source.window.span.big32(start + 12)
        switch datalink {
        case 1001: encapsulation = .bare
        case 1002: encapsulation = .h4
        case 2001: encapsulation = .monitor
        default: throw CaptureDamage(offset: 12, found: "datalink \(datalink)", isUnread: true)
        }
    }

    mutating func next(_ source: inout CaptureBytes) throws(CaptureDamage) -> CaptureRecord? {
        let offset = source.offset
        guard source.has(24) else { return try source.end(at: offset) }
        let place = source.take(24)
        let header = Header(source.window.span.extracting(place))
        let length = Int(header.length)
        guard length <= longestRecord else {
            throw CaptureDamage(offset: offset, found: "a record of \(length) bytes")
        }
        guard source.has(length) else { throw CaptureDamage(offset: offset, found: "a record cut short") }
        // Some writers count from the start of the machine, or have a clock that is far off.
        let (seconds, microseconds) = (header.stamp >= Self.epoch / 2 ? header.stamp - Self.epoch : header.stamp)
            .quotientAndRemainder(dividingBy: 1_000_000)
        let payload = source.take(length)
        return encapsulation.record(
            CaptureRecord(
                offset: offset,
                time: clock.nanoseconds(seconds: seconds, fraction: microseconds * 1000),
                kind: .unknown,
                direction: header.flags & 1 == 0 ? .sent : .received,
                missing: max(0, Int(header.original) - length),
                payload: payload
            ),
            flags: header.flags,
            source.window.span.extracting(payload)
        )
    }
}

extension CaptureBytes {
    /// What it means that no record begins here: the end, or damage.
    mutating func end(at offset: Int) throws(CaptureDamage) -> CaptureRecord? {
        if let failure { throw CaptureDamage(offset: offset, found: failure) }
        if peek(1) > 0 { throw CaptureDamage(offset: offset, found: "a record cut short") }
        return nil
    }
}
