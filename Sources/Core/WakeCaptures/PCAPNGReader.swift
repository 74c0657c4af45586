/// Reads pcapng: sections in either order of bytes, each with interfaces of their own link types and clocks.
struct PCAPNGReader: RecordReader {
    static let magic: [UInt8] = [0x0a, 0x0d, 0x0d, 0x0a]
    private static let interfaceLimit = 1_000

    private struct Interface {
        var encapsulation: Encapsulation
        /// What a packet may have at most; 0 for any length.
        var snapLength: Int
        /// Units of its times in a second.
        var unitsPerSecond: UInt64 = 1_000_000
        /// Seconds to add to its times.
        var secondsAhead: Int64 = 0
    }

    private var isBig = false
    private var interfaces: [Interface] = []
    private var latest: Int64 = 0
    private var clock = CaptureClock()

    mutating func next(_ source: inout CaptureBytes) throws(CaptureDamage) -> CaptureRecord? {
        while true {
            let offset = source.offset
            guard source.has(12) else { return try source.end(at: offset) }
            let isSection = source.window.span.extracting(source.position...).starts(Self.magic)
            if isSection { try startSection(source, at: offset) }
            let type = source.window.span.word32(source.position, isBig: isBig)
            let length = Int(source.window.span.word32(source.position + 4, isBig: isBig))
            guard length >= 12, length.isMultiple(of: 4) else {
                throw CaptureDamage(offset: offset, found: "a block of \(length) bytes")
            }
            guard Self.isRead(type) else {
                // What nobody here reads may be of any length.
                guard source.skip(length) else { throw CaptureDamage(offset: offset, found: "a block cut short") }
                continue
            }
            guard length <= longestRecord else {
                throw CaptureDamage(offset: offset, found: "a block of \(length) bytes")
            }
            guard source.has(length) else { throw CaptureDamage(offset: offset, found: "a block cut short") }
            let block = source.take(length)
            guard source.window.span.word32(block.upperBound - 4, isBig: isBig) == UInt32(length) else {
                throw CaptureDamage(offset: offset, found: "a block whose two lengths differ")
            }
            let body = block.lowerBound + 8..<block.upperBound - 4
            if type == 1 { try addInterface(source.window.span.extracting(body), at: offset) }
            if type == 1 || isSection { continue }
            return try packet(type, source.window.span.extracting(body), from: body.lowerBound, at: offset)
        }
    }

    /// Sections, interfaces and the three kinds of packets.
    private static func isRead(_ type: UInt32) -> Bool { type == 0x0a0d_0d0a || (1...3).contains(type) || type == 6 }

    private mutating func startSection(_ source: borrowing CaptureBytes, at offset: Int) throws(CaptureDamage) {
        switch source.window.span.big32(source.position + 8) {
        case 0x1a2b_3c4d: isBig = true
        case 0x4d3c_2b1a: isBig = false
        default: throw CaptureDamage(offset: offset + 8, found: "no byte-order magic of a section")
        }
        interfaces.removeAll()
    }

    // MARK: Interfaces

    private mutating func addInterface(_ body: Span<UInt8>, at offset: Int) throws(CaptureDamage) {
        guard body.count >= 8 else { throw CaptureDamage(offset: offset, found: "an interface without a link type") }
        guard interfaces.count < Self.interfaceLimit else {
            throw CaptureDamage(offset: offset, found: "more than \(Self.interfaceLimit) interfaces")
        }
        var interface = Interface(
            encapsulation: Encapsulation(linkType: UInt32(body.word16(0, isBig: isBig))),
            snapLength: Int(body.word32(4, isBig: isBig))
        )
        var position = 8
        while let option = option(body, &position) {
            switch option.code {
            case 9 where option.value.count == 1:
                guard let units = Self.resolution(body[option.value.lowerBound]) else {
                    throw CaptureDamage(offset: offset, found: "a clock that is finer than a nanosecond can say")
                }
                interface.unitsPerSecond = units
            case 14 where option.value.count == 8:
                let high = UInt64(body.word32(option.value.lowerBound + (isBig ? 0 : 4), isBig: isBig))
                let low = UInt64(body.word32(option.value.lowerBound + (isBig ? 4 : 0), isBig: isBig))
                interface.secondsAhead = Int64(bitPattern: high << 32 | low)
            default: break
            }
        }
        interfaces.append(interface)
    }

    /// Units in a second: a power of ten, or of two where the highest bit is set; nil beyond what 64 bits hold.
    private static func resolution(_ code: UInt8) -> UInt64? {
        let power = Int(code & 0x7f)
        if code & 0x80 != 0 { return power < 63 ? 1 << UInt64(power) : nil }
        return power <= 18 ? (0..<power).reduce(1) { units, _ in units * 10 } : nil
    }

    private struct Option {
        var code: UInt16
        var value: Range<Int>
    }

    /// The option that begins at a place; nil at the end of the options.
    private func option(_ body: Span<UInt8>, _ position: inout Int) -> Option? {
        guard body.count >= position + 4 else { return nil }
        let code = body.word16(position, isBig: isBig)
        let length = Int(body.word16(position + 2, isBig: isBig))
        let start = position + 4
        guard code != 0, body.count >= start + length else { return nil }
        position = start + (length + 3) / 4 * 4
        return Option(code: code, value: start..<start + length)
    }

    // MARK: Packets

    private mutating func packet(
        _ type: UInt32,
        _ body: Span<UInt8>,
        from start: Int,
        at offset: Int
    ) throws(CaptureDamage) -> CaptureRecord {
        let head = type == 3 ? 4 : 20
        guard body.count >= head else { throw CaptureDamage(offset: offset, found: "a packet without its lengths") }
        // The older kind has 16 bits for the interface, and then a count of drops.
        let number = type == 6 ? Int(body.word32(0, isBig: isBig)) : type == 2 ? Int(body.word16(0, isBig: isBig)) : 0
        guard interfaces.indices.contains(number) else {
            throw CaptureDamage(offset: offset, found: "a packet of interface \(number), which there is not")
        }
        let interface = interfaces[number]
        let original = Int(body.word32(type == 3 ? 0 : 16, isBig: isBig))
        let simple = min(original, interface.snapLength == 0 ? original : interface.snapLength, body.count - 4)
        let length = type == 3 ? simple : Int(body.word32(12, isBig: isBig))
        guard body.count >= head + length else {
            throw CaptureDamage(offset: offset, found: "a packet that is longer than its block")
        }
        if type != 3 {
            let units = UInt64(body.word32(4, isBig: isBig)) << 32 | UInt64(body.word32(8, isBig: isBig))
            latest = time(units, interface)
        }
        var record = CaptureRecord(
            offset: offset,
            time: latest,
            kind: .unknown,
            direction: type == 6 ? direction(body, from: head + (length + 3) / 4 * 4) : .unknown,
            missing: max(0, original - length),
            payload: start + head..<start + head + length
        )
        record = interface.encapsulation.record(record, body.extracting(head..<head + length))
        return record
    }

    private mutating func time(_ units: UInt64, _ interface: Interface) -> Int64 {
        let (seconds, rest) = units.quotientAndRemainder(dividingBy: interface.unitsPerSecond)
        let product = rest.multipliedFullWidth(by: 1_000_000_000)
        let fraction = interface.unitsPerSecond.dividingFullWidth(product).quotient
        let (ahead, overflow) = Int64(clamping: seconds).addingReportingOverflow(interface.secondsAhead)
        return clock.nanoseconds(seconds: overflow ? .max : ahead, fraction: Int64(fraction))
    }

    /// The flags of a packet: whether it came in or went out.
    private func direction(_ body: Span<UInt8>, from start: Int) -> CaptureRecord.Direction {
        var position = start
        while let option = option(body, &position) {
            guard option.code == 2, option.value.count == 4 else { continue }
            switch body.word32(option.value.lowerBound, isBig: isBig) & 3 {
            case 1: return .received
            case 2: return .sent
            default: return .unknown
            }
        }
        return .unknown
    }
}
