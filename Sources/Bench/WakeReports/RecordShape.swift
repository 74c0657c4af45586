import WakeJSON
import WakeModel

/// What many records of a log have in common, read back: the text between their values.
struct RecordShape {
    /// One more than there are values.
    private(set) var pieces: [[UInt8]] = []
    /// The shape as JSON.
    let text: [UInt8]

    var valueCount: Int { pieces.count - 1 }

    /// Nil when the text is not JSON, or its places are not `"$0"`, `"$1"` and so on, in order.
    init?(_ text: [UInt8]) {
        guard JSONValue(parsing: text) != nil else { return nil }
        self.text = text
        var start = 0
        var offset = 0
        while offset < text.count {
            guard text[offset] == 0x22 else {
                offset += 1
                continue
            }
            guard let end = ShapedLines.scalarEnd(text, offset, text.count) else { return nil }
            if text[offset + 1] == 0x24 {
                guard String(decoding: text[(offset + 2)..<(end - 1)], as: UTF8.self) == "\(pieces.count)" else {
                    return nil
                }
                pieces.append(Array(text[start..<offset]))
                start = end
            }
            offset = end
        }
        pieces.append(Array(text[start...]))
    }

    /// The whole record of values with commas between them; nil when they are not as many as the shape has places.
    func record(_ values: [UInt8]) -> [UInt8]? {
        var ranges: [Range<Int>] = []
        guard ShapedLines.find(&ranges, in: values, 0..<values.count), ranges.count == valueCount else { return nil }
        return record(values, ranges)
    }

    /// The whole record: the values are put into their places.
    func record(_ line: [UInt8], _ values: [Range<Int>]) -> [UInt8] {
        var record: [UInt8] = []
        record.reserveCapacity(text.count + line.count)
        for (position, piece) in pieces.enumerated() {
            record += piece
            if position < values.count { record += line[values[position]] }
        }
        return record
    }
}

/// Reads the lines of `decisions.ndjson`: those of shapes are kept, and records are whole again.
package struct ShapedLines {
    private(set) var shapes: [Int: RecordShape] = [:]
    /// Of the latest line, where its values are.
    private(set) var values: [Range<Int>] = []

    package init() {}

    /// With the shapes of the lines before, in the order of their numbers.
    init(_ texts: [[UInt8]]) {
        for (number, text) in texts.enumerated() { shapes[number] = RecordShape(text) }
    }

    static let shapePrefix = Array("{\"schema\":\"wake.shape/1\",\"shape\":".utf8)
    static let recordKey = Array(",\"record\":".utf8)
    static let valuesPrefix = Array("{\"shape\":".utf8)
    static let valuesKey = Array(",\"values\":[".utf8)

    /// What a line is.
    enum Kind: Equatable {
        /// A shape, which is known from now on.
        case shape(Int)
        /// Values in the places of a shape that is known.
        case values(shape: Int)
        /// Anything else, such as the first line of a log or a record in full.
        case whole
        /// Cut or scrambled.
        case broken
    }

    mutating func take(_ line: [UInt8]) -> Kind {
        if Self.begins(line, with: Self.shapePrefix, at: 0) {
            guard let number = takeShape(line) else { return .broken }
            return .shape(number)
        }
        guard Self.begins(line, with: Self.valuesPrefix, at: 0) else { return .whole }
        var offset = Self.valuesPrefix.count
        guard let number = LogTime.whole(line, &offset, line.count), Self.skip(Self.valuesKey, line, &offset),
            line.count >= offset + 2, line[line.count - 2] == 0x5d, line[line.count - 1] == 0x7d,
            let shape = shapes[Int(number)], Self.find(&values, in: line, offset..<(line.count - 2)),
            values.count == shape.valueCount
        else { return .broken }
        return .values(shape: Int(number))
    }

    /// The record of a line as one JSON object, and any other line as it is; nil for a shape, and for what is broken.
    package mutating func record(of line: [UInt8]) -> [UInt8]? {
        switch take(line) {
        case .values(let number): shapes[number]?.record(line, values)
        case .whole: line
        case .shape, .broken: nil
        }
    }

    private mutating func takeShape(_ line: [UInt8]) -> Int? {
        var offset = Self.shapePrefix.count
        guard let number = LogTime.whole(line, &offset, line.count), Self.skip(Self.recordKey, line, &offset),
            line.last == 0x7d, offset < line.count, let shape = RecordShape(Array(line[offset..<(line.count - 1)]))
        else { return nil }
        shapes[Int(number)] = shape
        return Int(number)
    }

    /// Finds the values between commas; false when they are not scalars of JSON.
    static func find(_ values: inout [Range<Int>], in line: [UInt8], _ part: Range<Int>) -> Bool {
        values.removeAll(keepingCapacity: true)
        let end = part.upperBound
        var offset = part.lowerBound
        while offset < end {
            guard let next = scalarEnd(line, offset, end), next == end || line[next] == 0x2c else { return false }
            values.append(offset..<next)
            offset = next + 1
        }
        return true
    }

    /// Where a scalar of JSON that begins at an offset ends; nil when none begins there.
    static func scalarEnd(_ line: [UInt8], _ start: Int, _ end: Int) -> Int? {
        var offset = start
        guard offset < end, line[offset] == 0x22 else {
            while offset < end, isPlain(line[offset]) { offset += 1 }
            return offset > start ? offset : nil
        }
        offset += 1
        while offset < end, line[offset] != 0x22 {
            if line[offset] < 0x20 { return nil }
            offset += line[offset] == 0x5c ? 2 : 1
        }
        return offset < end ? offset + 1 : nil
    }

    /// Whether a byte may stand in a number, `true`, `false` or `null`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x30 && byte <= 0x39 || byte >= 0x61 && byte <= 0x7a || byte == 0x2d || byte == 0x2e
    }

    /// Moves an offset behind a key; false when the key is not there.
    static func skip(_ key: [UInt8], _ line: [UInt8], _ offset: inout Int) -> Bool {
        guard begins(line, with: key, at: offset) else { return false }
        offset += key.count
        return true
    }

    private static func begins(_ line: [UInt8], with key: [UInt8], at offset: Int) -> Bool {
        guard line.count - offset >= key.count else { return false }
        for position in key.indices where line[offset + position] != key[position] { return false }
        return true
    }
}
