import WakeJSON

/// An object in a packet.
struct Fields {
    private let packet: Packet
    private let object: Int

    init(packet: Packet, object: Int) {
        self.packet = packet
        self.object = object
    }

    /// The value under a key; nil where there is none, or null.
    func value(_ key: StaticString) -> FieldValue? {
        let tokens = packet.tokens
        let bytes = packet.bytes.span
        var place = object + 1
        let end = Int(tokens[object].next)
        let sort = JSONText.sort(key)
        while place < end {
            let token = tokens[place]
            if token.sort == sort || token.kind == .escapedText, JSONText.says(key, token, bytes) {
                let value = FieldValue(packet: packet, place: place + 1, key: key)
                return tokens[place + 1].kind == .null ? nil : value
            }
            place = Int(tokens[place + 1].next)
        }
        return nil
    }
}

/// A value in a packet, read strictly by type.
struct FieldValue {
    let packet: Packet
    /// The place of its token.
    let place: Int
    /// The key that faults name.
    let key: StaticString

    private var token: JSONToken {
        packet.tokens[place]
    }

    /// The fault of a value that has another type.
    func wrong(_ expected: String) -> WireError {
        .wrongType(key: key.description, expected: expected)
    }

    /// The fault of a value that has the right type, and says nothing that the wire knows.
    func bad(_ expected: String) -> WireError {
        .badValue(key: key.description, expected: expected)
    }

    func text() throws(WireError) -> String {
        guard let text = plainText else {
            throw wrong("a string")
        }
        return text
    }

    private var plainText: String? {
        let token = token
        guard token.kind == .text || token.kind == .escapedText else {
            return nil
        }
        return JSONText.text(token, packet.bytes.span)
    }

    func bool() throws(WireError) -> Bool {
        switch token.kind {
        case .isTrue: return true
        case .isFalse: return false
        default: throw wrong("true or false")
        }
    }

    func whole(in range: ClosedRange<Int64>) throws(WireError) -> Int64 {
        guard let number = integer else {
            throw wrong(FieldValue.wholeNumber(range))
        }
        guard range.contains(number) else {
            throw bad(FieldValue.wholeNumber(range))
        }
        return number
    }

    private var integer: Int64? {
        let token = token
        guard token.kind == .integer else {
            return nil
        }
        return JSONNumber.integer(packet.bytes.span.extracting(token.range))
    }

    private static func wholeNumber(_ range: ClosedRange<Int64>) -> String {
        "a whole number from \(range.lowerBound) to \(range.upperBound)"
    }

    func number() throws(WireError) -> Double {
        let token = token
        guard token.kind == .integer || token.kind == .fraction,
            let number = JSONNumber.fraction(packet.bytes.span.extracting(token.range))
        else {
            throw wrong("a number of seconds")
        }
        return number
    }

    func bytes() throws(WireError) -> [UInt8] {
        let token = token
        let bytes: [UInt8]?
        switch token.kind {
        case .text:
            bytes = Base64.decode(packet.bytes.span.extracting(token.range))
        case .escapedText:
            bytes = Base64.decode(Array(JSONText.text(token, packet.bytes.span).utf8).span)
        default:
            throw wrong("a string")
        }
        guard let bytes else {
            throw bad("base64 with padding")
        }
        return bytes
    }

    // MARK: Arrays and objects

    var isObject: Bool {
        token.kind == .object
    }

    func object() throws(WireError) -> Fields {
        guard isObject else {
            throw wrong("an object")
        }
        return Fields(packet: packet, object: place)
    }

    /// The elements of an array, in their order.
    func elements() throws(WireError) -> [FieldValue] {
        guard token.kind == .array else {
            throw wrong("an array")
        }
        var elements: [FieldValue] = []
        var next = place + 1
        while next < Int(token.next) {
            elements.append(FieldValue(packet: packet, place: next, key: key))
            next = Int(packet.tokens[next].next)
        }
        return elements
    }

    func texts() throws(WireError) -> [String] {
        try elements().map { (element) throws(WireError) in
            guard let text = element.plainText else {
                throw wrong("an array of strings")
            }
            return text
        }
    }

    /// Numbers that count up.
    func serials() throws(WireError) -> [UInt64] {
        try elements().map { (element) throws(WireError) in
            guard let number = element.integer, number >= 0, number <= Int64(WireLimits.largestInteger) else {
                throw wrong("an array of whole numbers")
            }
            return UInt64(number)
        }
    }

    /// An object from names to bytes, in the order of the packet; null is no bytes.
    func bytesByName() throws(WireError) -> [(name: String, bytes: [UInt8])] {
        guard isObject else {
            throw wrong("an object")
        }
        var entries: [(name: String, bytes: [UInt8])] = []
        var next = place + 1
        while next < Int(token.next) {
            let name = JSONText.text(packet.tokens[next], packet.bytes.span)
            let value = FieldValue(packet: packet, place: next + 1, key: key)
            entries.append((name, value.token.kind == .null ? [] : try value.bytes()))
            next = Int(packet.tokens[next + 1].next)
        }
        return entries
    }
}
