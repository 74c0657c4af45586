/// Base64 with padding, as RFC 4648 section 4 has it.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func append(_ value: [UInt8], to output: inout [UInt8]) {
        var index = 0
        while index < value.count {
            let second = index + 1 < value.count ? value[index + 1] : 0
            let third = index + 2 < value.count ? value[index + 2] : 0
            let bits = Int(value[index]) << 16 | Int(second) << 8 | Int(third)
            output.append(alphabet[bits >> 18])
            output.append(alphabet[bits >> 12 & 63])
            output.append(index + 1 < value.count ? alphabet[bits >> 6 & 63] : UInt8(ascii: "="))
            output.append(index + 2 < value.count ? alphabet[bits & 63] : UInt8(ascii: "="))
            index += 3
        }
    }

    /// The bytes, or nil for text that is not padded base64 without spaces.
    static func decode(_ text: String) -> [UInt8]? {
        let input = Array(text.utf8)
        guard input.count.isMultiple(of: 4) else {
            return nil
        }
        let padding = input.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var output: [UInt8] = []
        output.reserveCapacity(input.count / 4 * 3)
        var bits = 0
        for (index, byte) in input.enumerated() {
            if index >= input.count - padding {
                bits <<= 6
            } else if let value = value(of: byte) {
                bits = bits << 6 | value
            } else {
                return nil
            }
            if index % 4 == 3 {
                output.append(UInt8(bits >> 16 & 255))
                output.append(UInt8(bits >> 8 & 255))
                output.append(UInt8(bits & 255))
                bits = 0
            }
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
