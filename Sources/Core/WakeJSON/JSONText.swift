/// The texts of a JSON text: the bytes between two quotes.
package enum JSONText {
    /// What a text token says.
    package static func text(_ token: JSONToken, _ bytes: Span<UInt8>) -> String {
        let content = bytes.extracting(token.range)
        if token.kind == .escapedText {
            return escaped(content) ?? ""
        }
        return unsafe content.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// A number below 64 that equal texts without escapes share.
    @inline(__always)
    static func sort(_ content: Span<UInt8>) -> UInt8 {
        guard content.count > 0 else {
            return 0
        }
        return sort(first: content[0], last: content[content.count - 1], count: content.count)
    }

    @inlinable @inline(__always)
    static func sort(first: UInt8, last: UInt8, count: Int) -> UInt8 {
        (first &* 5 &+ last &+ UInt8(truncatingIfNeeded: count) &* 11) & 63
    }

    /// A name's ``sort(_:)``.
    @inlinable @inline(__always)
    package static func sort(_ name: StaticString) -> UInt8 {
        let count = name.utf8CodeUnitCount
        guard count > 0 else {
            return 0
        }
        return unsafe sort(first: name.utf8Start[0], last: name.utf8Start[count - 1], count: count)
    }

    /// Whether a text token says this name, which has no escapes.
    package static func says(_ name: StaticString, _ token: JSONToken, _ bytes: Span<UInt8>) -> Bool {
        guard token.kind == .text else {
            return token.kind == .escapedText && text(token, bytes) == name.description
        }
        let count = name.utf8CodeUnitCount
        guard token.end &- token.start == UInt32(truncatingIfNeeded: count) else {
            return false
        }
        let start = Int(token.start)
        let letters = unsafe UnsafeBufferPointer(start: name.utf8Start, count: count)
        for index in 0..<count where unsafe letters[index] != bytes[start + index] {
            return false
        }
        return true
    }

    /// Bytes without escapes as text; nil where they are not UTF-8.
    static func plain(_ content: Span<UInt8>) -> String? {
        unsafe content.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) }
    }

    /// Bytes with escapes as text; nil where an escape is not one of JSON's, or the bytes are not UTF-8.
    static func escaped(_ content: Span<UInt8>) -> String? {
        var output: [UInt8] = []
        output.reserveCapacity(content.count)
        var position = 0
        while position < content.count {
            let byte = content[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                output.append(byte)
                continue
            }
            guard let scalar = scalar(content, &position) else {
                return nil
            }
            output.append(contentsOf: String(scalar).utf8)
        }
        return String(validating: output, as: UTF8.self)
    }

    /// The character that an escape stands for; the position is after its backslash.
    private static func scalar(_ content: Span<UInt8>, _ position: inout Int) -> Unicode.Scalar? {
        guard position < content.count else {
            return nil
        }
        let byte = content[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return unicode(content, &position)
        default: return nil
        }
    }

    private static func unicode(_ content: Span<UInt8>, _ position: inout Int) -> Unicode.Scalar? {
        guard let first = fourDigits(content, &position) else {
            return nil
        }
        if let scalar = Unicode.Scalar(first) {
            return scalar
        }
        guard first < 0xDC00, position + 2 <= content.count, content[position] == UInt8(ascii: "\\"),
            content[position + 1] == UInt8(ascii: "u")
        else {
            return nil
        }
        position += 2
        guard let second = fourDigits(content, &position), (0xDC00..<0xE000).contains(second) else {
            return nil
        }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private static func fourDigits(_ content: Span<UInt8>, _ position: inout Int) -> UInt32? {
        guard position + 4 <= content.count else {
            return nil
        }
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = content[position]
            guard byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                return nil
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}

/// The numbers of a JSON text, whose bytes follow its grammar.
package enum JSONNumber {
    /// A number without fraction and exponent; nil where it does not fit.
    @inline(__always)
    package static func integer(_ digits: Span<UInt8>) -> Int64? {
        guard digits.count <= 18 else {
            return Int64(text(digits))
        }
        let isNegative = digits.count > 0 && digits[0] == UInt8(ascii: "-")
        var value: Int64 = 0
        for index in (isNegative ? 1 : 0)..<digits.count {
            value = value &* 10 &+ Int64(digits[index] &- 0x30)
        }
        return isNegative ? -value : value
    }

    /// A number with or without fraction and exponent.
    package static func fraction(_ digits: Span<UInt8>) -> Double? {
        Double(text(digits))
    }

    /// A whole number beyond ``integer(_:)``; nil where it is none, is negative, or does not fit.
    package static func unsigned(_ digits: Span<UInt8>) -> UInt64? {
        UInt64(text(digits))
    }

    private static func text(_ digits: Span<UInt8>) -> String {
        unsafe digits.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
