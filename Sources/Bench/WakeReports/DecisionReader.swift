import WakeJSON
import WakeModel

/// Reads decisions from the lines of a log.
///
/// A day has a hundred thousand of them, so a record of a shape that was read before is a copy of that one with the new values in it.
struct DecisionReader {
    private var lines = ShapedLines()
    private var patterns: [Int: Pattern] = [:]
    private var texts = TextPool()
    private let keepsChecks: Bool
    /// What the latest line was.
    private var kind = ShapedLines.Kind.broken
    /// The shapes that came since a record was kept.
    private var renewed: [Int] = []

    /// - Parameter checks: false leaves the checks out, which are most of a record.
    init(checks: Bool = true) { keepsChecks = checks }

    /// A record of a shape, and where its values go.
    private struct Pattern {
        var record: DecisionRecord
        var fields: [(field: DecisionRecord.Field, place: Int)]
    }

    /// The shapes so far, in the order of their numbers, as JSON.
    var shapes: [[UInt8]] { lines.shapes.sorted { $0.key < $1.key }.map(\.value.text) }

    /// Takes over the shapes of the lines before, in the order of their numbers.
    mutating func adopt(shapes: [[UInt8]]) {
        lines = ShapedLines(shapes)
    }

    /// The decision of a line; nil for any other line, such as one that is cut or unknown.
    mutating func record(of line: [UInt8]) -> DecisionRecord? {
        kind = lines.take(line)
        switch kind {
        case .shape(let number):
            patterns[number] = nil
            renewed.append(number)
            return nil
        case .broken: return nil
        case .whole: return decision(line)
        case .values(let number): return record(shape: number, line)
        }
    }

    /// Keeps the record of the latest line in full.
    mutating func keep(_ record: DecisionRecord, _ line: [UInt8], in evidence: inout Evidence) {
        for number in renewed { evidence.forget(shape: number) }
        renewed.removeAll(keepingCapacity: true)
        if case .values(let number) = kind, let shape = lines.shapes[number] {
            evidence.append(line, lines.values, of: shape, number: number, record)
        } else {
            evidence.append(whole: line, record)
        }
    }

    private mutating func record(shape number: Int, _ line: [UInt8]) -> DecisionRecord? {
        if var record = patterns[number]?.record, fill(&record, number, line) { return record }
        guard let shape = lines.shapes[number], let record = decision(shape.record(line, lines.values)) else {
            return nil
        }
        let checks = keepsChecks ? record.checks.count : nil
        if patterns[number] == nil, let fields = Self.fields(of: shape, checks: checks) {
            patterns[number] = Pattern(record: record, fields: fields)
        }
        return record
    }

    private mutating func decision(_ record: [UInt8]) -> DecisionRecord? {
        guard let line = JSONValue(parsing: record), var decision = DecisionRecord(line, &texts) else { return nil }
        if !keepsChecks { decision.checks = [] }
        return decision
    }

    /// Puts the values into their fields; false when one is not what its field holds.
    private mutating func fill(_ record: inout DecisionRecord, _ number: Int, _ line: [UInt8]) -> Bool {
        guard let fields = patterns[number]?.fields else { return false }
        for (position, target) in fields.enumerated() {
            let value = Value(line: line, range: lines.values[position])
            guard target.field.take(value, at: target.place, into: &record, &texts) else { return false }
        }
        return true
    }

    /// Where the values of a shape go, in their order; nil when one has no field.
    ///
    /// - Parameter checks: how many checks the record has; nil when they are left out.
    private static func fields(
        of shape: RecordShape,
        checks: Int?
    ) -> [(field: DecisionRecord.Field, place: Int)]? {
        guard let record = JSONValue(parsing: shape.text) else { return nil }
        if let checks, record["checks"]?.array.count != checks { return nil }
        var fields: [(field: DecisionRecord.Field, place: Int)] = []
        DecisionRecord.scalars(record) { path, place, value in
            guard value.string?.hasPrefix("$") == true else { return }
            let isLeftOut = checks == nil && path.hasPrefix("checks ")
            if let field = isLeftOut ? .ignored : DecisionRecord.field(path) { fields.append((field, place)) }
        }
        return fields.count == shape.valueCount ? fields : nil
    }
}

/// One value of a line, as JSON.
struct Value: RecordScalar {
    let line: [UInt8]
    let range: Range<Int>

    /// The whole number, as far as 18 digits go.
    var integer: Int64? {
        var offset = range.lowerBound
        let isNegative = line[offset] == 0x2d
        if isNegative { offset += 1 }
        guard let number = LogTime.whole(line, &offset, range.upperBound), offset == range.upperBound else {
            return nil
        }
        return isNegative ? -Int64(number) : Int64(number)
    }

    /// The number of `"d-000412"`, `"e-000398"` or `"x-17"`.
    var id: UInt64? {
        guard range.count > 4, line[range.lowerBound] == 0x22, line[range.lowerBound + 2] == 0x2d else { return nil }
        var offset = range.lowerBound + 3
        let number = LogTime.whole(line, &offset, range.upperBound - 1)
        return offset == range.upperBound - 1 ? number : nil
    }

    /// The instant of `"T+02:14:07.250"`.
    var instant: Instant? {
        guard range.count > 2, line[range.lowerBound] == 0x22 else { return nil }
        return LogTime.instant(line, (range.lowerBound + 1)..<(range.upperBound - 1))
    }

    func text(_ pool: inout TextPool) -> String? { pool.text(self) }
}

extension Value {
    /// The scalar after a key at an offset, which moves behind it; nil when there is none.
    init?(_ line: [UInt8], after key: [UInt8], _ offset: inout Int) {
        guard ShapedLines.skip(key, line, &offset), let end = ShapedLines.scalarEnd(line, offset, line.count) else {
            return nil
        }
        self.init(line: line, range: offset..<end)
        offset = end
    }
}

/// Texts that occur again and again, each kept once.
struct TextPool {
    private var slots = [(bytes: ArraySlice<UInt8>, text: String)?](repeating: nil, count: 4096)

    /// The text of a JSON string; nil when the value is none.
    mutating func text(_ value: Value) -> String? {
        let (line, range) = (value.line, value.range)
        guard range.count >= 2, line[range.lowerBound] == 0x22 else { return nil }
        let bytes = line[range]
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let slot = Int(truncatingIfNeeded: (hash ^ hash >> 32) & 4095)
        if let kept = slots[slot], kept.bytes == bytes { return kept.text }
        guard let text = JSONValue(parsing: Array(bytes))?.string else { return nil }
        // A slice would keep its whole line.
        slots[slot] = (Array(bytes)[...], text)
        return text
    }
}
