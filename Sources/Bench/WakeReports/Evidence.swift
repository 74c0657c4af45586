import WakeModel

/// The records of a log in full, packed for a page: what many have in common once, and of each its values.
///
/// A record is a shape whose places are filled with values. A shape is a list of fragments of JSON; its places say what their
/// values are. A value is a number: times, ids of decisions and ids of events count back from those of the record, other texts
/// are numbers in a list.
package struct Evidence: Sendable {
    /// What the values of a place are.
    enum Place: UInt8, CaseIterable, Sendable {
        /// A scalar of JSON, as a number in ``texts``.
        case text
        case integer
        /// How long before the record, in nanoseconds.
        case instant
        /// How many decisions before the record.
        case decision
        /// How many events before the record's.
        case event
        case exit
        /// The number of the record itself: no byte at all.
        case own
    }

    /// A shape: the numbers of its fragments, with 0 for a place, and what its places are.
    struct Shape: Hashable, Sendable {
        var parts: [Int]
        var places: [Place]
    }

    private(set) var fragments = BytesIndex()
    private(set) var texts = BytesIndex()
    private(set) var shapes: [Shape] = []
    /// Of each record the number of its shape, and its values.
    private(set) var rows = PackedBytes()
    /// Where each ``block`` of records begins in `rows`.
    private(set) var starts: [Int] = []
    private(set) var count = 0
    /// So many records are read to come to one of them.
    static let block = 64
    private var numbers: [Shape: Int] = [:]
    /// The latest shape of each shape of the log, which the next record of it mostly has too.
    private var latest: [Int: Int] = [:]
    private var parts: [Int: [Int]] = [:]
    private var places: [Place] = []
    private var values: [Int64] = []
    private var scratch = LineBuffer()

    init() {}

    /// Takes in a record of a shape of the log.
    mutating func append(
        _ line: [UInt8],
        _ values: [Range<Int>],
        of shape: RecordShape,
        number: Int,
        _ record: DecisionRecord
    ) {
        let parts = parts[number] ?? parts(of: shape.pieces)
        self.parts[number] = parts
        read(line, values, record)
        let known = latest[number]
        if let known, shapes[known].places == places { return write(known) }
        let next = self.number(of: Shape(parts: parts, places: places))
        latest[number] = next
        write(next)
    }

    /// Takes in a record that has its line in full.
    mutating func append(whole line: [UInt8], _ record: DecisionRecord) {
        var (pieces, ranges): ([[UInt8]], [Range<Int>]) = ([], [])
        var start = 0
        for range in Self.values(of: line) {
            pieces.append(Array(line[start..<range.lowerBound]))
            ranges.append(range)
            start = range.upperBound
        }
        pieces.append(Array(line[start...]))
        read(line, ranges, record)
        write(number(of: Shape(parts: parts(of: pieces), places: places)))
    }

    /// The log says another thing of its shape from here on.
    mutating func forget(shape number: Int) {
        parts[number] = nil
        latest[number] = nil
    }

    private mutating func number(of shape: Shape) -> Int {
        if let number = numbers[shape] { return number }
        numbers[shape] = shapes.count
        shapes.append(shape)
        return shapes.count - 1
    }

    private mutating func write(_ shape: Int) {
        if count % Self.block == 0 { starts.append(rows.count) }
        count += 1
        rows.append(shape)
        for (place, value) in zip(places, values) where place != .own { rows.append(signed: value) }
    }

    // MARK: Shapes

    private static let check = Array("{\"rule\":".utf8)

    /// The numbers of the fragments of a shape, from 1, with a 0 between the pieces. Records share their checks rather than
    /// all of them, so each check begins a fragment.
    private mutating func parts(of pieces: [[UInt8]]) -> [Int] {
        var parts: [Int] = []
        for (position, piece) in pieces.enumerated() {
            if position > 0 { parts.append(0) }
            var start = 0
            for offset in piece.indices.dropFirst()
            where piece[offset] == 0x7b && piece[offset...].starts(with: Self.check) {
                parts.append(1 + fragments.number(of: piece[start..<offset]))
                start = offset
            }
            if start < piece.count { parts.append(1 + fragments.number(of: piece[start...])) }
        }
        return parts
    }

    /// What a name stands behind in a record: `"subject":"belt"`.
    private static let named = ["subject", "origin", "bundle", "restore_id"].map { Array("\"\($0)\"".utf8) }

    /// Where the values of a record in full stand: its numbers, times, ids and names.
    private static func values(of line: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var key = 0..<0
        var offset = 0
        while offset < line.count {
            guard let end = ShapedLines.scalarEnd(line, offset, line.count) else {
                offset += 1
                continue
            }
            if end < line.count, line[end] == 0x3a, line[offset] == 0x22 {
                key = offset..<end
            } else if isValue(Value(line: line, range: offset..<end), behind: line[key]) {
                ranges.append(offset..<end)
            }
            offset = end
        }
        return ranges
    }

    private static func isValue(_ value: Value, behind key: ArraySlice<UInt8>) -> Bool {
        switch value.line[value.range.lowerBound] {
        case 0x22: value.instant != nil || value.id != nil || named.contains { $0[...] == key }
        case 0x2d, 0x30...0x39: true
        default: false
        }
    }

    // MARK: Values

    private mutating func read(_ line: [UInt8], _ ranges: [Range<Int>], _ record: DecisionRecord) {
        places.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        for (position, range) in ranges.enumerated() {
            let (place, value) = read(Value(line: line, range: range), record)
            let isOwn = position == 0 && place == .integer && value == Int64(clamping: record.id.number)
            places.append(isOwn ? .own : place)
            values.append(value)
        }
    }

    /// A value is written as its kind says only where it is read back as the same letters.
    private mutating func read(_ value: Value, _ record: DecisionRecord) -> (Place, Int64) {
        let bytes = value.line[value.range]
        scratch.removeAll()
        if bytes.first != 0x22 {
            if let integer = value.integer, integer.magnitude < 1 << 52 {
                scratch.append(integer)
                if scratch.bytes[...] == bytes { return (.integer, integer) }
            }
        } else if let instant = value.instant {
            scratch.append(quoted: instant)
            if scratch.bytes[...] == bytes { return (.instant, record.at.since(instant).nanoseconds) }
        } else if let id = value.id, let read = read(id, as: bytes[bytes.startIndex + 1], record),
            scratch.bytes[...] == bytes
        {
            return read
        }
        return (.text, Int64(texts.number(of: bytes)))
    }

    private mutating func read(_ id: UInt64, as letter: UInt8, _ record: DecisionRecord) -> (Place, Int64)? {
        switch letter {
        case UInt8(ascii: "d"):
            scratch.append(DecisionID(id))
            return (.decision, Int64(bitPattern: record.id.number &- id))
        case UInt8(ascii: "e"):
            scratch.append(EventID(id))
            return (.event, Int64(bitPattern: record.event.number &- id))
        case UInt8(ascii: "x"):
            scratch.append(exit: id)
            return (.exit, Int64(clamping: id))
        default: return nil
        }
    }
}
