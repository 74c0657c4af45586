/// A JSON value as it stands in a line of a log, or of a foreign program: the keys keep their order.
package enum JSONValue: Equatable, Sendable {
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
    package struct Member: Equatable, Sendable {
        package var key: String
        package var value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Nil when the bytes are not one whole value.
    package init?(parsing bytes: [UInt8]) {
        guard let tokens = try? JSONReader.read(bytes.span, deepest: Self.deepest, repeats: true) else { return nil }
        self.init(tokens, at: 0, bytes.span)
    }

    /// Why the bytes are not one whole value; nil when they are.
    package static func fault(in bytes: [UInt8]) -> JSONFault? {
        do throws(JSONFault) {
            _ = try JSONReader.read(bytes.span, deepest: deepest, repeats: true)
            return nil
        } catch { return error }
    }

    private static let deepest = 32

    private init(_ tokens: [JSONToken], at place: Int, _ bytes: Span<UInt8>) {
        let token = tokens[place]
        switch token.kind {
        case .null: self = .null
        case .isTrue: self = .bool(true)
        case .isFalse: self = .bool(false)
        case .integer: self = .integer(JSONNumber.integer(bytes.extracting(token.range)) ?? 0)
        case .fraction: self = Self.fraction(bytes.extracting(token.range))
        case .text, .escapedText: self = .string(JSONText.text(token, bytes))
        case .array:
            var values: [JSONValue] = []
            var next = place + 1
            while next < Int(token.next) {
                values.append(JSONValue(tokens, at: next, bytes))
                next = Int(tokens[next].next)
            }
            self = .array(values)
        case .object:
            var members: [Member] = []
            members.reserveCapacity(8)
            var next = place + 1
            while next < Int(token.next) {
                let value = JSONValue(tokens, at: next + 1, bytes)
                members.append(Member(key: JSONText.text(tokens[next], bytes), value: value))
                next = Int(tokens[next + 1].next)
            }
            self = .object(members)
        }
    }

    private static func fraction(_ digits: Span<UInt8>) -> JSONValue {
        JSONNumber.unsigned(digits).map(JSONValue.large) ?? .number(JSONNumber.fraction(digits) ?? 0)
    }

    /// The value of a key; the last where the key is repeated.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key == key }?.value
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// Nil for a number that is not whole or does not fit.
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        case .large, .null, .bool, .string, .array, .object: nil
        }
    }

    /// A number of any size.
    package var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .large(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// Nil for a number that is negative, not whole, or beyond 64 bits.
    package var unsigned: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .large(let value): value
        case .number(let value): UInt64(exactly: value)
        case .null, .bool, .string, .array, .object: nil
        }
    }

    package var array: [JSONValue] {
        if case .array(let values) = self { values } else { [] }
    }

    package var members: [Member] {
        if case .object(let members) = self { members } else { [] }
    }
}
