/// Base64 with padding, as RFC 4648 section 4 has it.
package enum Base64 {
    /// How many letters the bytes take.
    package static func count(of value: [UInt8]) -> Int {
        (value.count + 2) / 3 * 4
    }

    package static func append(_ value: [UInt8], to output: inout [UInt8]) {
        output.append(addingCapacity: count(of: value)) { output in
            letters(of: value) { output.append($0) }
        }
    }

    /// Gives the letters one after the other.
    @inlinable @inline(__always)
    package static func letters(of value: [UInt8], _ give: (UInt8) -> Void) {
        var index = 0
        while index < value.count {
            let second = index + 1 < value.count ? value[index + 1] : 0
            let third = index + 2 < value.count ? value[index + 2] : 0
            let bits = UInt32(value[index]) << 16 | UInt32(second) << 8 | UInt32(third)
            give(letter(bits >> 18))
            give(letter(bits >> 12))
            give(index + 1 < value.count ? letter(bits >> 6) : UInt8(ascii: "="))
            give(index + 2 < value.count ? letter(bits) : UInt8(ascii: "="))
            index += 3
        }
    }

    /// The letter for the lowest six bits.
    @inlinable @inline(__always)
    static func letter(_ bits: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: bits & 63)
        switch value {
        case 0..<26: return value + 65
        case 26..<52: return value + 71
        case 52..<62: return value - 4
        case 62: return UInt8(ascii: "+")
        default: return UInt8(ascii: "/")
        }
    }

    /// The bytes, or nil for text that is not padded base64 without spaces.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let count = text.count
        guard count.isMultiple(of: 4) else {
            return nil
        }
        guard count > 0 else {
            return []
        }
        let padding =
            text[count - 1] != UInt8(ascii: "=") ? 0 : text[count - 2] != UInt8(ascii: "=") ? 1 : 2
        var output = [UInt8](repeating: 0, count: count / 4 * 3)
        var written = 0
        for place in stride(from: 0, to: count, by: 4) {
            var bits = 0
            for index in place..<(place + 4) {
                bits <<= 6
                if index < count - padding {
                    guard let value = value(of: text[index]) else {
                        return nil
                    }
                    bits |= value
                }
            }
            output[written] = UInt8(truncatingIfNeeded: bits >> 16)
            output[written + 1] = UInt8(truncatingIfNeeded: bits >> 8)
            output[written + 2] = UInt8(truncatingIfNeeded: bits)
            written += 3
        }
        output.removeLast(padding)
        return output
    }

    private static func value(of byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
