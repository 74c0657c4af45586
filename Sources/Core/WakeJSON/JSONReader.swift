/// Why bytes are not one value of JSON.
package enum JSONFault: Error, Equatable, Sendable {
    /// They are not what RFC 8259 describes, at that offset.
    case notJSON(offset: Int)
    /// Arrays and objects nest too deep, at that offset.
    case tooDeep(offset: Int)
}

/// A value in a JSON text, or the key of a member, which comes right before its value.
package struct JSONToken {
    package enum Kind: UInt8 {
        case null
        case isTrue
        case isFalse
        case integer
        case fraction
        case text
        /// A text with escapes between its quotes.
        case escapedText
        case array
        case object
    }

    package let kind: Kind
    /// A text's ``JSONText/sort(_:)``; 0 for all else.
    package let sort: UInt8
    /// The first byte: of a text the one after its quote.
    package let start: UInt32
    /// The byte after the last: of a text its closing quote.
    package let end: UInt32
    /// The place of the token after this value and all that is in it.
    package fileprivate(set) var next: UInt32

    package var range: Range<Int> {
        Int(start)..<Int(end)
    }
}

/// Reads one JSON text as RFC 8259 has it into tokens.
///
/// An object's token comes before those of its members, an array's before those of its elements.
package struct JSONReader {
    private var tokens: [JSONToken]
    private var position = 0
    private var depth = 0
    private let deepest: Int
    private let repeats: Bool

    /// Reads the text; the tokens stand in the given array's memory.
    ///
    /// - Parameters:
    ///   - deepest: how deep arrays and objects may nest.
    ///   - repeats: whether a key may stand in an object twice.
    /// - Throws: ``JSONFault`` for anything else than one value of JSON.
    package static func read(
        _ bytes: Span<UInt8>,
        deepest: Int,
        repeats: Bool = false,
        reusing tokens: consuming [JSONToken] = []
    ) throws(JSONFault) -> [JSONToken] {
        var reader = JSONReader(tokens: tokens, deepest: deepest, repeats: repeats)
        reader.tokens.removeAll(keepingCapacity: true)
        try reader.value(bytes)
        reader.skipSpace(bytes)
        guard reader.position == bytes.count else {
            throw reader.fault
        }
        return reader.tokens
    }

    private init(tokens: consuming [JSONToken], deepest: Int, repeats: Bool) {
        self.tokens = tokens
        self.deepest = deepest
        self.repeats = repeats
    }

    private var fault: JSONFault {
        .notJSON(offset: position)
    }

    @inline(__always)
    private func next(_ bytes: Span<UInt8>) -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    @inline(__always)
    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while let byte = next(bytes), byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        guard position < bytes.count, bytes[position] == byte else {
            return false
        }
        position += 1
        return true
    }

    @inline(__always)
    private mutating func add(_ kind: JSONToken.Kind, sort: UInt8 = 0, from start: Int) {
        let next = UInt32(truncatingIfNeeded: tokens.count + 1)
        tokens.append(
            JSONToken(
                kind: kind,
                sort: sort,
                start: UInt32(truncatingIfNeeded: start),
                end: UInt32(truncatingIfNeeded: position),
                next: next
            )
        )
    }

    private mutating func value(_ bytes: Span<UInt8>) throws(JSONFault) {
        skipSpace(bytes)
        switch next(bytes) {
        case UInt8(ascii: "\""): try string(bytes)
        case UInt8(ascii: "{"): try object(bytes)
        case UInt8(ascii: "["): try array(bytes)
        case UInt8(ascii: "t"): try word("true", .isTrue, bytes)
        case UInt8(ascii: "f"): try word("false", .isFalse, bytes)
        case UInt8(ascii: "n"): try word("null", .null, bytes)
        default: try number(bytes)
        }
    }

    private mutating func word(_ text: String, _ kind: JSONToken.Kind, _ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        for byte in text.utf8 {
            guard take(byte, bytes) else {
                throw fault
            }
        }
        add(kind, from: start)
    }

    /// Goes into an array or an object; gives the place of its token.
    private mutating func enter(_ kind: JSONToken.Kind, _ bytes: Span<UInt8>) throws(JSONFault) -> Int {
        depth += 1
        guard depth <= deepest else {
            throw .tooDeep(offset: position)
        }
        add(kind, from: position)
        position += 1
        skipSpace(bytes)
        return tokens.count - 1
    }

    private mutating func leave(_ place: Int) {
        depth -= 1
        tokens[place].next = UInt32(truncatingIfNeeded: tokens.count)
    }

    private mutating func object(_ bytes: Span<UInt8>) throws(JSONFault) {
        let place = try enter(.object, bytes)
        var keys = JSONKeys()
        guard !take(UInt8(ascii: "}"), bytes) else {
            return leave(place)
        }
        repeat {
            skipSpace(bytes)
            let key = tokens.count
            try string(bytes)
            guard repeats || keys.insert(key, firstOf: place, tokens, bytes) else {
                throw fault
            }
            skipSpace(bytes)
            guard take(UInt8(ascii: ":"), bytes) else {
                throw fault
            }
            try value(bytes)
            skipSpace(bytes)
        } while take(UInt8(ascii: ","), bytes)
        guard take(UInt8(ascii: "}"), bytes) else {
            throw fault
        }
        leave(place)
    }

    private mutating func array(_ bytes: Span<UInt8>) throws(JSONFault) {
        let place = try enter(.array, bytes)
        guard !take(UInt8(ascii: "]"), bytes) else {
            return leave(place)
        }
        repeat {
            try value(bytes)
            skipSpace(bytes)
        } while take(UInt8(ascii: ","), bytes)
        guard take(UInt8(ascii: "]"), bytes) else {
            throw fault
        }
        leave(place)
    }

    private mutating func string(_ bytes: Span<UInt8>) throws(JSONFault) {
        guard take(UInt8(ascii: "\""), bytes) else {
            throw fault
        }
        let start = position
        let isASCII = JSONReader.skipPlain(bytes, at: &position)
        guard next(bytes) == UInt8(ascii: "\"") else {
            return try stringWithEscapes(from: start, bytes)
        }
        let content = bytes.extracting(start..<position)
        guard isASCII || JSONText.plain(content) != nil else {
            throw fault
        }
        add(.text, sort: JSONText.sort(content), from: start)
        position += 1
    }

    /// Goes to the next quote, backslash or control character, or to the end; false where there was more than ASCII.
    @inlinable @inline(__always)
    package static func skipPlain(_ bytes: Span<UInt8>, at position: inout Int) -> Bool {
        var beyond: UInt64 = 0
        while position + 8 <= bytes.count {
            let word = UInt64(
                littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self)
            )
            let stops = JSONReader.stops(word)
            guard stops == 0 else {
                let before = stops.trailingZeroBitCount & ~7
                position += before / 8
                return (beyond | word & (1 &<< UInt64(before) &- 1)) & JSONReader.highBits == 0
            }
            beyond |= word
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            guard byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 else {
                break
            }
            beyond |= UInt64(byte)
            position += 1
        }
        return beyond & JSONReader.highBits == 0
    }

    @usableFromInline
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// The lowest bit set is the highest of the first of eight bytes that is a quote, a backslash or a control character.
    @inlinable @inline(__always)
    static func stops(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        return ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word)
            & highBits
    }

    private mutating func stringWithEscapes(from start: Int, _ bytes: Span<UInt8>) throws(JSONFault) {
        while let byte = next(bytes), byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else {
                throw fault
            }
            position += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        guard next(bytes) != nil, JSONText.escaped(bytes.extracting(start..<position)) != nil else {
            throw fault
        }
        add(.escapedText, from: start)
        position += 1
    }

    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        while let byte = next(bytes), byte >= 0x30, byte <= 0x39 {
            position += 1
        }
        guard position > start else {
            throw fault
        }
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        var isWhole = true
        _ = take(UInt8(ascii: "-"), bytes)
        if !take(UInt8(ascii: "0"), bytes) {
            try digits(bytes)
        }
        if take(UInt8(ascii: "."), bytes) {
            isWhole = false
            try digits(bytes)
        }
        if take(UInt8(ascii: "e"), bytes) || take(UInt8(ascii: "E"), bytes) {
            isWhole = false
            if !take(UInt8(ascii: "+"), bytes) {
                _ = take(UInt8(ascii: "-"), bytes)
            }
            try digits(bytes)
        }
        let digits = bytes.extracting(start..<position)
        if isWhole, JSONNumber.integer(digits) != nil {
            return add(.integer, from: start)
        }
        guard JSONNumber.fraction(digits)?.isFinite == true else {
            throw fault
        }
        add(.fraction, from: start)
    }
}

/// Tells whether a key of an object was there before.
private struct JSONKeys {
    /// From so many members on they are kept in a set.
    private static let few = 32
    private var count = 0
    /// A bit for each sort of key that was there.
    private var sorts: UInt64 = 0
    private var many: Set<String> = []

    /// False where an earlier key of the object, whose token has the given place, is the same.
    mutating func insert(_ key: Int, firstOf object: Int, _ tokens: [JSONToken], _ bytes: Span<UInt8>) -> Bool {
        count += 1
        if count > Self.few {
            return insertInSet(key, firstOf: object, tokens, bytes)
        }
        // One with escapes may equal any other.
        let isPlain = tokens[key].kind == .text
        let sort: UInt64 = isPlain ? 1 &<< UInt64(tokens[key].sort) : .max
        let isNew = sorts & sort == 0
        sorts |= sort
        return isNew || !isThere(key, firstOf: object, tokens, bytes)
    }

    private func isThere(_ key: Int, firstOf object: Int, _ tokens: [JSONToken], _ bytes: Span<UInt8>) -> Bool {
        let text = JSONText.text(tokens[key], bytes)
        var place = object + 1
        while place < key {
            if JSONText.text(tokens[place], bytes) == text {
                return true
            }
            place = Int(tokens[place + 1].next)
        }
        return false
    }

    private mutating func insertInSet(
        _ key: Int,
        firstOf object: Int,
        _ tokens: [JSONToken],
        _ bytes: Span<UInt8>
    ) -> Bool {
        if many.isEmpty {
            var place = object + 1
            while place < key {
                many.insert(JSONText.text(tokens[place], bytes))
                place = Int(tokens[place + 1].next)
            }
        }
        return many.insert(JSONText.text(tokens[key], bytes)).inserted
    }
}
