/// The keys of one object, read strictly by type; keys nobody asks for are ignored.
///
/// Null counts as absent.
struct Fields {
    private let members: [String: JSONValue]

    /// Opens a packet.
    init(packet: [UInt8]) throws(WireError) {
        guard packet.count <= WireLimits.packetBytes else {
            throw .tooLarge(bytes: packet.count)
        }
        guard case .object(let members) = try JSONReader.read(packet) else {
            throw .notAnObject
        }
        self.members = members
    }

    /// Opens a packet of one message or of several, which stand in an array.
    static func messages(in packet: [UInt8]) throws(WireError) -> [Fields] {
        guard packet.count <= WireLimits.packetBytes else {
            throw .tooLarge(bytes: packet.count)
        }
        guard case .array(let elements) = try JSONReader.read(packet) else {
            return [try Fields(packet: packet)]
        }
        guard (1...WireLimits.messages).contains(elements.count) else {
            throw .badBatch(messages: elements.count)
        }
        var all: [Fields] = []
        for element in elements {
            guard case .object(let members) = element else {
                throw .notAnObject
            }
            all.append(Fields(members: members))
        }
        return all
    }

    private init(members: [String: JSONValue]) {
        self.members = members
    }

    func has(_ key: String) -> Bool {
        member(key) != nil
    }

    private func member(_ key: String) -> JSONValue? {
        guard let value = members[key], value != .null else {
            return nil
        }
        return value
    }

    private func required<Value>(_ key: String, _ value: Value?) throws(WireError) -> Value {
        guard let value else {
            throw .missing(key: key)
        }
        return value
    }

    func optionalString(_ key: String) throws(WireError) -> String? {
        guard let value = member(key) else {
            return nil
        }
        guard case .string(let text) = value else {
            throw .wrongType(key: key, expected: "a string")
        }
        return text
    }

    func string(_ key: String) throws(WireError) -> String {
        try required(key, optionalString(key))
    }

    func optionalBool(_ key: String) throws(WireError) -> Bool? {
        guard let value = member(key) else {
            return nil
        }
        guard case .bool(let flag) = value else {
            throw .wrongType(key: key, expected: "true or false")
        }
        return flag
    }

    func bool(_ key: String) throws(WireError) -> Bool {
        try required(key, optionalBool(key))
    }

    func flag(_ key: String) throws(WireError) -> Bool {
        try optionalBool(key) ?? false
    }

    func optionalInteger(_ key: String, in range: ClosedRange<Int64>) throws(WireError) -> Int64? {
        guard let value = member(key) else {
            return nil
        }
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard case .integer(let number) = value else {
            throw .wrongType(key: key, expected: expected)
        }
        guard range.contains(number) else {
            throw .badValue(key: key, expected: expected)
        }
        return number
    }

    func integer(_ key: String, in range: ClosedRange<Int64>) throws(WireError) -> Int64 {
        try required(key, optionalInteger(key, in: range))
    }

    /// A number that counts up: an id, a delivery, a token.
    func serial(_ key: String) throws(WireError) -> UInt64 {
        UInt64(try integer(key, in: 0...Int64(WireLimits.largestInteger)))
    }

    func optionalSerial(_ key: String) throws(WireError) -> UInt64? {
        try optionalInteger(key, in: 0...Int64(WireLimits.largestInteger)).map { UInt64($0) }
    }

    func manager() throws(WireError) -> UInt32 {
        UInt32(try integer("manager", in: 0...Int64(UInt32.max)))
    }

    func handle(_ key: String) throws(WireError) -> UInt16 {
        UInt16(try integer(key, in: 0...Int64(UInt16.max)))
    }

    func optionalSeconds(_ key: String) throws(WireError) -> Double? {
        switch member(key) {
        case nil: return nil
        case .integer(let number): return Double(number)
        case .number(let number): return number
        default: throw .wrongType(key: key, expected: "a number of seconds")
        }
    }

    func optionalBytes(_ key: String) throws(WireError) -> [UInt8]? {
        guard let text = try optionalString(key) else {
            return nil
        }
        guard let bytes = Base64.decode(text) else {
            throw .badValue(key: key, expected: "base64 with padding")
        }
        return bytes
    }

    func optionalValue(_ key: String) throws(WireError) -> [UInt8]? {
        let bytes = try optionalBytes(key)
        guard bytes?.count ?? 0 <= WireLimits.valueBytes else {
            throw .badValue(key: key, expected: "at most \(WireLimits.valueBytes) bytes")
        }
        return bytes
    }

    func value(_ key: String) throws(WireError) -> [UInt8] {
        try required(key, optionalValue(key))
    }

    /// A 128-bit UUID in its 36-character form, in capitals.
    func identifier(_ key: String) throws(WireError) -> String {
        let text = try string(key)
        guard text.utf8.count == 36, let canonical = WireUUID.canonical(text) else {
            throw .badValue(key: key, expected: "a UUID of 36 characters")
        }
        return canonical
    }

    /// A Bluetooth UUID of 4, 8 or 36 characters, in capitals.
    func uuid(_ key: String) throws(WireError) -> String {
        try Fields.uuid(string(key), key: key)
    }

    private static func uuid(_ text: String, key: String) throws(WireError) -> String {
        guard let canonical = WireUUID.canonical(text) else {
            throw .badValue(key: key, expected: "a Bluetooth UUID of 4, 8 or 36 characters")
        }
        return canonical
    }

    func optionalUUIDs(_ key: String) throws(WireError) -> [String]? {
        guard let texts = try optionalStrings(key) else {
            return nil
        }
        var canonical: [String] = []
        for text in texts {
            canonical.append(try Fields.uuid(text, key: key))
        }
        return canonical
    }

    func uuids(_ key: String) throws(WireError) -> [String] {
        try required(key, optionalUUIDs(key))
    }

    func identifiers(_ key: String) throws(WireError) -> [String] {
        let all = try uuids(key)
        guard all.allSatisfy({ $0.utf8.count == 36 }) else {
            throw .badValue(key: key, expected: "UUIDs of 36 characters")
        }
        return all
    }

    func optionalStrings(_ key: String) throws(WireError) -> [String]? {
        guard let elements = try optionalArray(key) else {
            return nil
        }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element else {
                throw .wrongType(key: key, expected: "an array of strings")
            }
            texts.append(text)
        }
        return texts
    }

    func optionalSerials(_ key: String) throws(WireError) -> [UInt64]? {
        guard let elements = try optionalArray(key) else {
            return nil
        }
        var numbers: [UInt64] = []
        for element in elements {
            guard case .integer(let number) = element, number >= 0, number <= Int64(WireLimits.largestInteger) else {
                throw .wrongType(key: key, expected: "an array of whole numbers")
            }
            numbers.append(UInt64(number))
        }
        return numbers
    }

    func handles(_ key: String) throws(WireError) -> [UInt16] {
        let numbers = try required(key, optionalSerials(key))
        guard numbers.allSatisfy({ $0 <= UInt16.max }) else {
            throw .badValue(key: key, expected: "an array of attribute handles")
        }
        return numbers.map { UInt16($0) }
    }

    private func optionalArray(_ key: String) throws(WireError) -> [JSONValue]? {
        guard let value = member(key) else {
            return nil
        }
        guard case .array(let elements) = value else {
            throw .wrongType(key: key, expected: "an array")
        }
        return elements
    }

    func optionalObject(_ key: String) throws(WireError) -> Fields? {
        guard let value = member(key) else {
            return nil
        }
        guard case .object(let members) = value else {
            throw .wrongType(key: key, expected: "an object")
        }
        return Fields(members: members)
    }

    func object(_ key: String) throws(WireError) -> Fields {
        try required(key, optionalObject(key))
    }

    func optionalList<Element>(
        _ key: String,
        _ read: (Fields) throws(WireError) -> Element
    ) throws(WireError) -> [Element]? {
        guard let elements = try optionalArray(key) else {
            return nil
        }
        var list: [Element] = []
        for element in elements {
            guard case .object(let members) = element else {
                throw .wrongType(key: key, expected: "an array of objects")
            }
            list.append(try read(Fields(members: members)))
        }
        return list
    }

    func list<Element>(
        _ key: String,
        _ read: (Fields) throws(WireError) -> Element
    ) throws(WireError) -> [Element] {
        try required(key, optionalList(key, read))
    }

    /// A member that is an object from a UUID to bytes.
    func optionalBytesByUUID(_ key: String) throws(WireError) -> [WireServiceData]? {
        guard let inner = try optionalObject(key) else {
            return nil
        }
        var entries: [WireServiceData] = []
        for name in inner.members.keys.sorted() {
            let bytes = try inner.optionalBytes(name) ?? []
            entries.append(WireServiceData(uuid: try Fields.uuid(name, key: key), data: bytes))
        }
        return entries
    }

    /// A word of a closed list.
    func word<Word: RawRepresentable & CaseIterable>(
        _ key: String,
        as type: Word.Type
    ) throws(WireError) -> Word where Word.RawValue == String {
        try required(key, optionalWord(key, as: type))
    }

    func optionalWord<Word: RawRepresentable & CaseIterable>(
        _ key: String,
        as type: Word.Type
    ) throws(WireError) -> Word? where Word.RawValue == String {
        guard let text = try optionalString(key) else {
            return nil
        }
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badValue(key: key, expected: "one of \(known)")
        }
        return word
    }
}

/// Bluetooth UUIDs as text.
package enum WireUUID {
    /// The text in capitals, or nil when it is not 4 or 8 hexadecimal digits or the 36-character form.
    package static func canonical(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.count == 4 || bytes.count == 8 || bytes.count == 36 else {
            return nil
        }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let isDash = bytes.count == 36 && (index == 8 || index == 13 || index == 18 || index == 23)
            switch byte {
            case UInt8(ascii: "-") where isDash: output.append(byte)
            case 0x30...0x39 where !isDash, 0x41...0x46 where !isDash: output.append(byte)
            case 0x61...0x66 where !isDash: output.append(byte - 32)
            default: return nil
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
