/// A JSON value as it stands in one line of a log.
///
/// A small parser of our own: logs have hundreds of thousands of lines, and their keys keep their order.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A whole number beyond ``integer(_:)``.
    case large(UInt64)
    /// A number with a fraction or an exponent, or too large to be whole here.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A key and its value, in the order of the line.
    struct Member: Equatable, Sendable {
        var key: String
        var value: JSONValue
    }

    /// Nil when the bytes are not one whole value.
    init?(parsing bytes: [UInt8]) {
        var parser = JSONParser(bytes)
        guard let value = parser.value(depth: 0), parser.atEnd else { return nil }
        self = value
    }

    subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// Nil for a number that is not whole or does not fit.
    var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        case .large, .null, .bool, .string, .array, .object: nil
        }
    }

    /// Nil for a number that is negative, not whole, or beyond 64 bits.
    var unsigned: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .large(let value): value
        case .number(let value): UInt64(exactly: value)
        case .null, .bool, .string, .array, .object: nil
        }
    }

    var array: [JSONValue] {
        if case .array(let values) = self { values } else { [] }
    }

    var members: [Member] {
        if case .object(let members) = self { members } else { [] }
    }
}

/// Reads one JSON value from bytes; bounded in depth, and nil for anything that is not JSON.
private struct JSONParser {
    private let bytes: [UInt8]
    private var offset = 0
    private static let deepest = 32

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var atEnd: Bool {
        mutating get {
            skipSpace()
            return offset == bytes.count
        }
    }

    mutating func value(depth: Int) -> JSONValue? {
        skipSpace()
        guard depth < Self.deepest, let first = peek else { return nil }
        switch first {
        case 0x7b: return object(depth)
        case 0x5b: return array(depth)
        case 0x22: return string().map(JSONValue.string)
        case 0x74: return word("true", .bool(true))
        case 0x66: return word("false", .bool(false))
        case 0x6e: return word("null", .null)
        default: return number()
        }
    }

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { offset += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard peek == byte else { return false }
        offset += 1
        return true
    }

    private mutating func word(_ text: String, _ value: JSONValue) -> JSONValue? {
        for byte in text.utf8 {
            guard peek == byte else { return nil }
            offset += 1
        }
        return value
    }

    private mutating func number() -> JSONValue? {
        let start = offset
        var whole: Int64 = 0
        var plain = true
        if peek == 0x2d { offset += 1 }
        while let byte = peek {
            if byte >= 0x30, byte <= 0x39 {
                if offset - start < 18 { whole = whole * 10 + Int64(byte - 0x30) } else { plain = false }
            } else if byte == 0x2e || byte == 0x65 || byte == 0x45 || byte == 0x2b || byte == 0x2d {
                plain = false
            } else {
                break
            }
            offset += 1
        }
        guard offset > start, bytes[offset - 1] >= 0x30, bytes[offset - 1] <= 0x39 else { return nil }
        if plain { return .integer(bytes[start] == 0x2d ? -whole : whole) }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        return UInt64(text).map(JSONValue.large) ?? Double(text).map(JSONValue.number)
    }

    private mutating func array(_ depth: Int) -> JSONValue? {
        offset += 1
        var values: [JSONValue] = []
        if take(0x5d) { return .array(values) }
        while true {
            guard let next = value(depth: depth + 1) else { return nil }
            values.append(next)
            if take(0x5d) { return .array(values) }
            guard take(0x2c) else { return nil }
        }
    }

    private mutating func object(_ depth: Int) -> JSONValue? {
        offset += 1
        var members: [JSONValue.Member] = []
        if take(0x7d) { return .object(members) }
        members.reserveCapacity(8)
        while true {
            skipSpace()
            guard peek == 0x22, let key = string(), take(0x3a), let next = value(depth: depth + 1) else { return nil }
            members.append(JSONValue.Member(key: key, value: next))
            if take(0x7d) { return .object(members) }
            guard take(0x2c) else { return nil }
        }
    }

    private mutating func string() -> String? {
        offset += 1
        let start = offset
        while let byte = peek, byte != 0x22, byte != 0x5c { offset += 1 }
        guard peek == 0x22 else { return escaped(from: start) }
        defer { offset += 1 }
        return unsafe bytes.withUnsafeBufferPointer { all in
            unsafe String(validating: UnsafeBufferPointer(rebasing: all[start..<offset]), as: UTF8.self)
        }
    }

    private mutating func escaped(from start: Int) -> String? {
        var text = Array(bytes[start..<offset])
        while let byte = peek {
            offset += 1
            if byte == 0x22 { return String(validating: text, as: UTF8.self) }
            guard byte == 0x5c else {
                text.append(byte)
                continue
            }
            guard let kind = peek else { return nil }
            offset += 1
            switch kind {
            case 0x6e: text.append(0x0a)
            case 0x72: text.append(0x0d)
            case 0x74: text.append(0x09)
            case 0x62: text.append(0x08)
            case 0x66: text.append(0x0c)
            case 0x22, 0x5c, 0x2f: text.append(kind)
            case 0x75:
                guard let scalar = unicode() else { return nil }
                text.append(contentsOf: Array(String(Character(scalar)).utf8))
            default: return nil
            }
        }
        return nil
    }

    /// The scalar of four hexadecimal digits, or of a surrogate pair.
    private mutating func unicode() -> Unicode.Scalar? {
        guard let high = fourDigits() else { return nil }
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xdc00, peek == 0x5c else { return nil }
        offset += 1
        guard peek == 0x75 else { return nil }
        offset += 1
        guard let low = fourDigits(), (0xdc00..<0xe000).contains(low) else { return nil }
        return Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
    }

    private mutating func fourDigits() -> UInt32? {
        guard offset + 4 <= bytes.count else { return nil }
        let digits = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
        guard digits.allSatisfy(\.isHexDigit) else { return nil }
        offset += 4
        return UInt32(digits, radix: 16)
    }
}
