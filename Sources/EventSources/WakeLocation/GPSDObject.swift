/// One line of gpsd as its members: a JSON object whose nested values are skipped.
///
/// gpsd's own library is not used: its connection waits, its reader of lines never returns from some that are cut or
/// garbled, and it cannot read the line that says that a receiver has gone. The protocol is documented in gpsd_json(5).
struct GPSDObject {
    enum Value: Hashable, Sendable {
        case text(String)
        case number(Double)
        /// True, false, null, a list or an object.
        case other
    }

    private(set) var members: [String: Value] = [:]
    private let bytes: [UInt8]
    private var place = 0
    /// The deepest nesting that is skipped.
    private static let depthLimit = 32

    /// Nil when the line is no JSON object, or goes on after it.
    init?(_ line: [UInt8]) {
        bytes = line
        guard skip("{") else { return nil }
        if !skip("}") {
            repeat {
                guard let key = text(), skip(":"), let value = value(depth: 1) else { return nil }
                members[key] = value
            } while skip(",")
            guard skip("}") else { return nil }
        }
        skipSpace()
        guard place == bytes.count else { return nil }
    }

    func text(_ key: String) -> String? {
        if case .text(let text)? = members[key] { text } else { nil }
    }

    func number(_ key: String) -> Double? {
        if case .number(let number)? = members[key] { number } else { nil }
    }

    // MARK: Reading

    private mutating func skipSpace() {
        while place < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[place]) { place += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard place < bytes.count, UInt32(bytes[place]) == character.value else { return false }
        place += 1
        return true
    }

    private mutating func value(depth: Int) -> Value? {
        skipSpace()
        guard place < bytes.count, depth <= Self.depthLimit else { return nil }
        switch bytes[place] {
        case UInt8(ascii: "\""): return text().map { .text($0) }
        case UInt8(ascii: "{"): return skipNested("{", "}", depth: depth, isObject: true) ? .other : nil
        case UInt8(ascii: "["): return skipNested("[", "]", depth: depth, isObject: false) ? .other : nil
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return word() ? .other : nil
        default: return number().map { .number($0) }
        }
    }

    private mutating func skipNested(
        _ open: Unicode.Scalar,
        _ close: Unicode.Scalar,
        depth: Int,
        isObject: Bool
    ) -> Bool {
        guard skip(open) else { return false }
        if skip(close) { return true }
        repeat {
            if isObject { guard text() != nil, skip(":") else { return false } }
            guard value(depth: depth + 1) != nil else { return false }
        } while skip(",")
        return skip(close)
    }

    private mutating func word() -> Bool {
        let end = bytes[place...].firstIndex { !(0x61...0x7a).contains($0) } ?? bytes.count
        defer { place = end }
        return ["true", "false", "null"].contains(String(decoding: bytes[place..<end], as: UTF8.self))
    }

    private mutating func number() -> Double? {
        let end = bytes[place...].firstIndex { !Self.numberBytes.contains($0) } ?? bytes.count
        guard (1...64).contains(end - place) else { return nil }
        defer { place = end }
        return Double(String(decoding: bytes[place..<end], as: UTF8.self))
    }

    private static let numberBytes = Array("+-.0123456789Ee".utf8)

    /// A string; characters written by number are left as they are, for no word that is read here has any.
    private mutating func text() -> String? {
        guard skip("\"") else { return nil }
        var text: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case 0..<0x20: return nil
            case UInt8(ascii: "\\"):
                guard place < bytes.count else { return nil }
                text.append(bytes[place])
                place += 1
            default: text.append(byte)
            }
        }
        return nil
    }
}
