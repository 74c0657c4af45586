/// A value in a JSON text, or the key of a member, which comes right before its value.
struct JSONToken {
    enum Kind: UInt8 {
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

    let kind: Kind
    /// The first byte: of a text the one after its quote.
    let start: UInt32
    /// The byte after the last: of a text its closing quote.
    let end: UInt32
    /// The place of the token after this value and all that is in it.
    var next: UInt32

    var range: Range<Int> {
        Int(start)..<Int(end)
    }
}

/// Reads one JSON text as RFC 8259 has it into tokens, and refuses repeated keys.
///
/// An object's token comes before those of its members, an array's before those of its elements.
struct JSONReader {
    private(set) var tokens: [JSONToken]
    private var position = 0
    private var depth = 0

    /// Reads the text; the tokens stand in the given array's memory.
    ///
    /// The text is at most ``WireLimits/packetBytes`` long.
    static func read(_ bytes: Span<UInt8>, reusing tokens: consuming [JSONToken] = []) throws(WireError) -> [JSONToken]
    {
        var reader = JSONReader(tokens: tokens)
        reader.tokens.removeAll(keepingCapacity: true)
        try reader.value(bytes)
        reader.skipSpace(bytes)
        guard reader.position == bytes.count else {
            throw reader.fault
        }
        return reader.tokens
    }

    private init(tokens: consuming [JSONToken]) {
        self.tokens = tokens
    }

    private var fault: WireError {
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

    private mutating func add(_ kind: JSONToken.Kind, from start: Int) {
        let next = UInt32(truncatingIfNeeded: tokens.count + 1)
        tokens.append(
            JSONToken(
                kind: kind,
                start: UInt32(truncatingIfNeeded: start),
                end: UInt32(truncatingIfNeeded: position),
                next: next
            )
        )
    }

    private mutating func value(_ bytes: Span<UInt8>) throws(WireError) {
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

    private mutating func word(_ text: String, _ kind: JSONToken.Kind, _ bytes: Span<UInt8>) throws(WireError) {
        let start = position
        for byte in text.utf8 {
            guard take(byte, bytes) else {
                throw fault
            }
        }
        add(kind, from: start)
    }

    /// Goes into an array or an object; gives the place of its token.
    private mutating func enter(_ kind: JSONToken.Kind, _ bytes: Span<UInt8>) throws(WireError) -> Int {
        depth += 1
        guard depth <= WireLimits.depth else {
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

    private mutating func object(_ bytes: Span<UInt8>) throws(WireError) {
        let place = try enter(.object, bytes)
        var keys = JSONKeys()
        guard !take(UInt8(ascii: "}"), bytes) else {
            return leave(place)
        }
        repeat {
            skipSpace(bytes)
            let key = tokens.count
            try string(bytes)
            guard keys.insert(key, firstOf: place, tokens, bytes) else {
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

    private mutating func array(_ bytes: Span<UInt8>) throws(WireError) {
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

    private mutating func string(_ bytes: Span<UInt8>) throws(WireError) {
        guard take(UInt8(ascii: "\""), bytes) else {
            throw fault
        }
        let start = position
        var place = start
        var all: UInt8 = 0
        while place < bytes.count {
            let byte = bytes[place]
            guard byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 else {
                break
            }
            all |= byte
            place += 1
        }
        position = place
        guard next(bytes) == UInt8(ascii: "\"") else {
            return try stringWithEscapes(from: start, bytes)
        }
        if all >= 0x80 {
            guard JSONText.plain(bytes.extracting(start..<position)) != nil else {
                throw fault
            }
        }
        add(.text, from: start)
        position += 1
    }

    private mutating func stringWithEscapes(from start: Int, _ bytes: Span<UInt8>) throws(WireError) {
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

    private mutating func digits(_ bytes: Span<UInt8>) throws(WireError) {
        let start = position
        while let byte = next(bytes), byte >= 0x30, byte <= 0x39 {
            position += 1
        }
        guard position > start else {
            throw fault
        }
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(WireError) {
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
        let sort = Self.sort(tokens[key], bytes)
        defer { sorts |= sort }
        guard sorts & sort != 0 else {
            return true
        }
        let text = JSONText.text(tokens[key], bytes)
        var place = object + 1
        while place < key {
            if JSONText.text(tokens[place], bytes) == text {
                return false
            }
            place = Int(tokens[place + 1].next)
        }
        return true
    }

    /// The bit of a key, which equal keys share; all bits for one with escapes, which may equal any.
    private static func sort(_ key: JSONToken, _ bytes: Span<UInt8>) -> UInt64 {
        guard key.kind == .text else {
            return .max
        }
        guard key.end > key.start else {
            return 1
        }
        let ends = UInt64(bytes[Int(key.start)]) &* 5 &+ UInt64(bytes[Int(key.end) - 1])
        return 1 &<< (ends &+ UInt64(key.end - key.start) &* 11)
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
