/// A JSON value that keeps whole numbers, fractions and booleans apart.
enum JSONValue: Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

/// Reads one JSON text as RFC 8259 has it, and refuses repeated keys.
struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    static func read(_ bytes: [UInt8]) throws(WireError) -> JSONValue {
        var reader = JSONReader(bytes: bytes)
        let value = try reader.value()
        reader.skipSpace()
        guard reader.position == bytes.count else {
            throw reader.fault
        }
        return value
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var fault: WireError {
        .notJSON(offset: position)
    }

    private var next: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else {
            return false
        }
        position += 1
        return true
    }

    private mutating func value() throws(WireError) -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ text: String, _ value: JSONValue) throws(WireError) -> JSONValue {
        for byte in text.utf8 {
            guard take(byte) else {
                throw fault
            }
        }
        return value
    }

    private mutating func enter() throws(WireError) {
        depth += 1
        guard depth <= WireLimits.depth else {
            throw .tooDeep(offset: position)
        }
        position += 1
        skipSpace()
    }

    private mutating func object() throws(WireError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var members: [String: JSONValue] = [:]
        if take(UInt8(ascii: "}")) {
            return .object(members)
        }
        repeat {
            skipSpace()
            let key = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else {
                throw fault
            }
            guard members.updateValue(try value(), forKey: key) == nil else {
                throw fault
            }
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else {
            throw fault
        }
        return .object(members)
    }

    private mutating func array() throws(WireError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) {
            return .array(elements)
        }
        repeat {
            elements.append(try value())
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else {
            throw fault
        }
        return .array(elements)
    }

    private mutating func string() throws(WireError) -> String {
        guard take(UInt8(ascii: "\"")) else {
            throw fault
        }
        let start = position
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
            position += 1
        }
        if next == UInt8(ascii: "\"") {
            let text = try text(Array(bytes[start..<position]))
            position += 1
            return text
        }
        return try stringWithEscapes(from: start)
    }

    private mutating func stringWithEscapes(from start: Int) throws(WireError) -> String {
        var content = Array(bytes[start..<position])
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                return try text(content)
            case UInt8(ascii: "\\"):
                content.append(contentsOf: String(try escaped()).utf8)
            case 0x20...:
                content.append(byte)
            default:
                throw fault
            }
        }
        throw fault
    }

    private func text(_ content: [UInt8]) throws(WireError) -> String {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw fault
        }
        return text
    }

    private mutating func escaped() throws(WireError) -> Unicode.Scalar {
        guard let byte = next else {
            throw fault
        }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try scalar()
        default: throw fault
        }
    }

    private mutating func scalar() throws(WireError) -> Unicode.Scalar {
        let first = try fourDigits()
        if let scalar = Unicode.Scalar(first) {
            return scalar
        }
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw fault
        }
        let second = try fourDigits()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else {
            throw fault
        }
        return scalar
    }

    private mutating func fourDigits() throws(WireError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw fault
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private mutating func digits() throws(WireError) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) {
            position += 1
        }
        guard position > start else {
            throw fault
        }
    }

    private mutating func number() throws(WireError) -> JSONValue {
        let start = position
        var isWhole = true
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) {
            try digits()
        }
        if take(UInt8(ascii: ".")) {
            isWhole = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) {
                _ = take(UInt8(ascii: "-"))
            }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let value = Int64(text) {
            return .integer(value)
        }
        guard let value = Double(text), value.isFinite else {
            throw fault
        }
        return .number(value)
    }
}
