/// The keys of one object, read strictly by type; keys nobody asks for are ignored.
///
/// Null counts as absent.
struct Fields {
    private let packet: Packet
    private let object: Int

    init(packet: Packet, object: Int) {
        self.packet = packet
        self.object = object
    }

    /// The token of a member's value.
    private func member(_ key: StaticString) -> Int? {
        let tokens = packet.tokens
        let bytes = packet.bytes.span
        var place = object + 1
        let end = Int(tokens[object].next)
        while place < end {
            if JSONText.says(key, tokens[place], bytes) {
                return tokens[place + 1].kind == .null ? nil : place + 1
            }
            place = Int(tokens[place + 1].next)
        }
        return nil
    }

    private func text(at place: Int) -> String? {
        let token = packet.tokens[place]
        guard token.kind == .text || token.kind == .escapedText else {
            return nil
        }
        return JSONText.text(token, packet.bytes.span)
    }

    private func integer(at place: Int) -> Int64? {
        let token = packet.tokens[place]
        guard token.kind == .integer else {
            return nil
        }
        return JSONNumber.integer(packet.bytes.span.extracting(token.range))
    }

    private func fields(at place: Int) -> Fields? {
        packet.tokens[place].kind == .object ? Fields(packet: packet, object: place) : nil
    }

    /// Whether a member is this text, which has no escapes.
    func says(_ key: StaticString, _ text: StaticString) -> Bool {
        member(key).map { JSONText.says(text, packet.tokens[$0], packet.bytes.span) } ?? false
    }

    func has(_ key: StaticString) -> Bool {
        member(key) != nil
    }

    private func required<Value>(_ key: StaticString, _ value: Value?) throws(WireError) -> Value {
        guard let value else {
            throw .missing(key: key.description)
        }
        return value
    }

    func optionalString(_ key: StaticString) throws(WireError) -> String? {
        guard let place = member(key) else {
            return nil
        }
        guard let text = text(at: place) else {
            throw .wrongType(key: key.description, expected: "a string")
        }
        return text
    }

    func string(_ key: StaticString) throws(WireError) -> String {
        try required(key, optionalString(key))
    }

    func optionalBool(_ key: StaticString) throws(WireError) -> Bool? {
        guard let place = member(key) else {
            return nil
        }
        switch packet.tokens[place].kind {
        case .isTrue: return true
        case .isFalse: return false
        default: throw .wrongType(key: key.description, expected: "true or false")
        }
    }

    func bool(_ key: StaticString) throws(WireError) -> Bool {
        try required(key, optionalBool(key))
    }

    func flag(_ key: StaticString) throws(WireError) -> Bool {
        try optionalBool(key) ?? false
    }

    func optionalInteger(_ key: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64? {
        guard let place = member(key) else {
            return nil
        }
        guard let number = integer(at: place) else {
            throw .wrongType(key: key.description, expected: Fields.wholeNumber(range))
        }
        guard range.contains(number) else {
            throw .badValue(key: key.description, expected: Fields.wholeNumber(range))
        }
        return number
    }

    private static func wholeNumber(_ range: ClosedRange<Int64>) -> String {
        "a whole number from \(range.lowerBound) to \(range.upperBound)"
    }

    func integer(_ key: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64 {
        try required(key, optionalInteger(key, in: range))
    }

    /// A number that counts up: an id, a delivery, a token.
    func serial(_ key: StaticString) throws(WireError) -> UInt64 {
        UInt64(try integer(key, in: 0...Int64(WireLimits.largestInteger)))
    }

    func optionalSerial(_ key: StaticString) throws(WireError) -> UInt64? {
        try optionalInteger(key, in: 0...Int64(WireLimits.largestInteger)).map { UInt64($0) }
    }

    func manager() throws(WireError) -> UInt32 {
        UInt32(try integer("manager", in: 0...Int64(UInt32.max)))
    }

    func handle(_ key: StaticString) throws(WireError) -> UInt16 {
        UInt16(try integer(key, in: 0...Int64(UInt16.max)))
    }

    func optionalSeconds(_ key: StaticString) throws(WireError) -> Double? {
        guard let place = member(key) else {
            return nil
        }
        let token = packet.tokens[place]
        guard token.kind == .integer || token.kind == .fraction else {
            throw .wrongType(key: key.description, expected: "a number of seconds")
        }
        return JSONNumber.fraction(packet.bytes.span.extracting(token.range))
    }

    func optionalBytes(_ key: StaticString) throws(WireError) -> [UInt8]? {
        try member(key).map { (place) throws(WireError) in try bytes(at: place, key: key) }
    }

    private func bytes(at place: Int, key: StaticString) throws(WireError) -> [UInt8] {
        let token = packet.tokens[place]
        let bytes: [UInt8]?
        switch token.kind {
        case .text:
            bytes = Base64.decode(packet.bytes.span.extracting(token.range))
        case .escapedText:
            bytes = Base64.decode(Array(JSONText.text(token, packet.bytes.span).utf8).span)
        default:
            throw .wrongType(key: key.description, expected: "a string")
        }
        guard let bytes else {
            throw .badValue(key: key.description, expected: "base64 with padding")
        }
        return bytes
    }

    func optionalValue(_ key: StaticString) throws(WireError) -> [UInt8]? {
        let bytes = try optionalBytes(key)
        guard bytes?.count ?? 0 <= WireLimits.valueBytes else {
            throw .badValue(key: key.description, expected: "at most \(WireLimits.valueBytes) bytes")
        }
        return bytes
    }

    func value(_ key: StaticString) throws(WireError) -> [UInt8] {
        try required(key, optionalValue(key))
    }

    /// A 128-bit UUID in its 36-character form, in capitals.
    func identifier(_ key: StaticString) throws(WireError) -> String {
        let text = try string(key)
        guard text.utf8.count == 36, let canonical = WireUUID.canonical(text) else {
            throw .badValue(key: key.description, expected: "a UUID of 36 characters")
        }
        return canonical
    }

    /// A Bluetooth UUID of 4, 8 or 36 characters, in capitals.
    func uuid(_ key: StaticString) throws(WireError) -> String {
        try Fields.uuid(string(key), key: key)
    }

    private static func uuid(_ text: String, key: StaticString) throws(WireError) -> String {
        guard let canonical = WireUUID.canonical(text) else {
            throw .badValue(key: key.description, expected: "a Bluetooth UUID of 4, 8 or 36 characters")
        }
        return canonical
    }

    func optionalUUIDs(_ key: StaticString) throws(WireError) -> [String]? {
        guard let texts = try optionalStrings(key) else {
            return nil
        }
        var canonical: [String] = []
        for text in texts {
            canonical.append(try Fields.uuid(text, key: key))
        }
        return canonical
    }

    func uuids(_ key: StaticString) throws(WireError) -> [String] {
        try required(key, optionalUUIDs(key))
    }

    func identifiers(_ key: StaticString) throws(WireError) -> [String] {
        let all = try uuids(key)
        guard all.allSatisfy({ $0.utf8.count == 36 }) else {
            throw .badValue(key: key.description, expected: "UUIDs of 36 characters")
        }
        return all
    }

    func optionalStrings(_ key: StaticString) throws(WireError) -> [String]? {
        guard let elements = try optionalArray(key) else {
            return nil
        }
        var texts: [String] = []
        for element in elements {
            guard let text = text(at: element) else {
                throw .wrongType(key: key.description, expected: "an array of strings")
            }
            texts.append(text)
        }
        return texts
    }

    func optionalSerials(_ key: StaticString) throws(WireError) -> [UInt64]? {
        guard let elements = try optionalArray(key) else {
            return nil
        }
        var numbers: [UInt64] = []
        for element in elements {
            guard let number = integer(at: element), number >= 0, number <= Int64(WireLimits.largestInteger) else {
                throw .wrongType(key: key.description, expected: "an array of whole numbers")
            }
            numbers.append(UInt64(number))
        }
        return numbers
    }

    func handles(_ key: StaticString) throws(WireError) -> [UInt16] {
        let numbers = try required(key, optionalSerials(key))
        guard numbers.allSatisfy({ $0 <= UInt16.max }) else {
            throw .badValue(key: key.description, expected: "an array of attribute handles")
        }
        return numbers.map { UInt16($0) }
    }

    /// The places of an array's elements.
    private func optionalArray(_ key: StaticString) throws(WireError) -> [Int]? {
        guard let array = member(key) else {
            return nil
        }
        guard packet.tokens[array].kind == .array else {
            throw .wrongType(key: key.description, expected: "an array")
        }
        var places: [Int] = []
        var place = array + 1
        while place < Int(packet.tokens[array].next) {
            places.append(place)
            place = Int(packet.tokens[place].next)
        }
        return places
    }

    func optionalObject(_ key: StaticString) throws(WireError) -> Fields? {
        guard let place = member(key) else {
            return nil
        }
        guard let inner = fields(at: place) else {
            throw .wrongType(key: key.description, expected: "an object")
        }
        return inner
    }

    func object(_ key: StaticString) throws(WireError) -> Fields {
        try required(key, optionalObject(key))
    }

    func optionalList<Element>(
        _ key: StaticString,
        _ read: (Fields) throws(WireError) -> Element
    ) throws(WireError) -> [Element]? {
        guard let elements = try optionalArray(key) else {
            return nil
        }
        var list: [Element] = []
        for element in elements {
            guard let inner = fields(at: element) else {
                throw .wrongType(key: key.description, expected: "an array of objects")
            }
            list.append(try read(inner))
        }
        return list
    }

    func list<Element>(
        _ key: StaticString,
        _ read: (Fields) throws(WireError) -> Element
    ) throws(WireError) -> [Element] {
        try required(key, optionalList(key, read))
    }

    /// A member that is an object from a UUID to bytes.
    func optionalBytesByUUID(_ key: StaticString) throws(WireError) -> [WireServiceData]? {
        guard let inner = try optionalObject(key) else {
            return nil
        }
        var entries: [WireServiceData] = []
        var place = inner.object + 1
        while place < Int(packet.tokens[inner.object].next) {
            let name = JSONText.text(packet.tokens[place], packet.bytes.span)
            let isNull = packet.tokens[place + 1].kind == .null
            let bytes = isNull ? [] : try inner.bytes(at: place + 1, key: key)
            entries.append(WireServiceData(uuid: try Fields.uuid(name, key: key), data: bytes))
            place = Int(packet.tokens[place + 1].next)
        }
        return entries.sorted { $0.uuid < $1.uuid }
    }

    /// A word of a closed list.
    func word<Word: RawRepresentable & CaseIterable>(
        _ key: StaticString,
        as type: Word.Type
    ) throws(WireError) -> Word where Word.RawValue == String {
        try required(key, optionalWord(key, as: type))
    }

    func optionalWord<Word: RawRepresentable & CaseIterable>(
        _ key: StaticString,
        as type: Word.Type
    ) throws(WireError) -> Word? where Word.RawValue == String {
        guard let text = try optionalString(key) else {
            return nil
        }
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badValue(key: key.description, expected: "one of \(known)")
        }
        return word
    }
}

/// Bluetooth UUIDs as text.
package enum WireUUID {
    /// The text in capitals, or nil when it is not 4 or 8 hexadecimal digits or the 36-character form.
    package static func canonical(_ text: String) -> String? {
        var text = text
        var isLower = false
        let isUUID = text.withUTF8 { bytes in
            guard bytes.count == 4 || bytes.count == 8 || bytes.count == 36 else {
                return false
            }
            for index in 0..<bytes.count {
                let isDash = bytes.count == 36 && (index == 8 || index == 13 || index == 18 || index == 23)
                switch unsafe bytes[index] {
                case UInt8(ascii: "-") where isDash, 0x30...0x39 where !isDash, 0x41...0x46 where !isDash: break
                case 0x61...0x66 where !isDash: isLower = true
                default: return false
                }
            }
            return true
        }
        guard isUUID else {
            return nil
        }
        return isLower ? text.uppercased() : text
    }
}
