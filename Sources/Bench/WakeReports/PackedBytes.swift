import WakeJSON

/// Whole numbers in as few bytes as they need, for the script of a page: seven bits a byte, the lowest first, and the highest bit
/// says that more follow.
struct PackedBytes: Sendable {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func append(_ number: UInt64) {
        var rest = number
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func append(_ number: Int) { append(UInt64(max(0, number))) }

    /// A number of either sign: 0, -1, 1, -2 and so on are 0, 1, 2, 3.
    mutating func append(signed number: Int64) {
        append(UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    /// What a number is less another, both from a log and of any size.
    mutating func append(_ number: UInt64, less other: UInt64) {
        append(signed: Int64(bitPattern: number &- other))
    }
}

extension LineBuffer {
    /// Appends numbers in base64, in quotes.
    mutating func append(packed numbers: PackedBytes) {
        append(byte: 0x22)
        var letters: [UInt8] = []
        Base64.append(numbers.bytes, to: &letters)
        append(letters)
        append(byte: 0x22)
    }
}

/// Texts, each with a number: the first has 0.
struct TextIndex: Sendable {
    private(set) var texts: [String] = []
    private var numbers: [String: Int] = [:]

    mutating func number(of text: String) -> Int {
        if let number = numbers[text] { return number }
        numbers[text] = texts.count
        texts.append(text)
        return texts.count - 1
    }
}

/// The same of bytes, which a log repeats in most of its lines.
struct BytesIndex: Sendable {
    private(set) var all: [[UInt8]] = []
    private var numbers: [ArraySlice<UInt8>: Int] = [:]
    /// What was asked for lately, by a hash of its bytes.
    private var slots = [Int32](repeating: -1, count: 1024)

    mutating func number(of bytes: ArraySlice<UInt8>) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let slot = Int(truncatingIfNeeded: (hash ^ hash >> 32) & 1023)
        let known = Int(slots[slot])
        if known >= 0, all[known][...] == bytes { return known }
        let number = number(adding: bytes)
        slots[slot] = Int32(truncatingIfNeeded: number)
        return number
    }

    private mutating func number(adding bytes: ArraySlice<UInt8>) -> Int {
        if let number = numbers[bytes] { return number }
        // A slice would keep its whole line.
        let kept = Array(bytes)
        numbers[kept[...]] = all.count
        all.append(kept)
        return all.count - 1
    }
}
