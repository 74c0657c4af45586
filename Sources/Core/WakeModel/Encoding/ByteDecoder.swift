/// Reads back what ``ByteEncoder`` wrote; ``ByteReader/read(_:)`` is the door to it.
final class ByteDecoder: Decoder {
    fileprivate(set) var reader: ByteReader
    /// How deep values are within each other.
    private var depth = 0
    /// Where the value that is read starts.
    fileprivate private(set) var start: Int
    /// What was found by one who cannot throw it.
    fileprivate private(set) var fault: EncodingFault?

    /// Values deeper within each other than this are refused: none that is written is.
    static let deepest = 32

    fileprivate init(_ reader: ByteReader) {
        self.reader = reader
        start = reader.offset
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Fields(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        Elements(decoder: self, left: try reader.readCount())
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { Value(decoder: self) }

    /// Reads a value: from its own bytes where it is ``ByteCoded``, else as its type says.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        start = reader.offset
        if type == [UInt8].self, let bytes = try reader.readBytes() as? Value { return bytes }
        return try reader.readCoded(type) ?? fields(of: type)
    }

    fileprivate func fields<Value: Decodable>(of type: Value.Type) throws -> Value {
        guard depth < Self.deepest else { throw EncodingFault(.unknownValue, at: start) }
        depth += 1
        defer { depth -= 1 }
        let value = try Value(from: self)
        if let fault { throw fault }
        return value
    }

    /// Reads what one asks who cannot throw; nil, and a fault to be thrown later, where it makes no sense.
    private func ask<Answer>(_ read: (inout ByteReader) throws(EncodingFault) -> Answer) -> Answer? {
        do throws(EncodingFault) { return try read(&reader) } catch {
            fault = fault ?? error
            return nil
        }
    }

    private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: ByteDecoder
        var codingPath: [any CodingKey] { [] }

        /// Only enums ask: the case.
        var allKeys: [Key] {
            let start = decoder.reader.offset
            let name = decoder.ask { (reader) throws(EncodingFault) in try reader.readString() }
            decoder.start = start
            return name.flatMap { Key(stringValue: $0) }.map { [$0] } ?? []
        }

        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) throws -> Bool { try !decoder.reader.readBool() }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decoder.decode(type) }

        func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedDecodingContainer<Nested> {
            decoder.container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try decoder.unkeyedContainer()
        }

        func superDecoder() -> any Decoder { decoder }
        func superDecoder(forKey key: Key) -> any Decoder { decoder }
    }

    private struct Elements: UnkeyedDecodingContainer {
        let decoder: ByteDecoder
        var left: Int
        var codingPath: [any CodingKey] { [] }
        var count: Int? { nil }
        var currentIndex: Int { 0 }
        var isAtEnd: Bool { left == 0 }

        func decodeNil() -> Bool { false }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            guard left > 0 else { throw EncodingFault(.unknownValue, at: decoder.reader.offset) }
            left -= 1
            return try decoder.decode(type)
        }

        func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
            decoder.container(keyedBy: type)
        }

        func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try decoder.unkeyedContainer() }
        func superDecoder() -> any Decoder { decoder }
    }

    private struct Value: SingleValueDecodingContainer {
        let decoder: ByteDecoder
        var codingPath: [any CodingKey] { [] }

        func decodeNil() -> Bool {
            decoder.ask { (reader) throws(EncodingFault) in try reader.readBool() } != true
        }

        func decode(_ type: Bool.Type) throws -> Bool { try decoder.reader.readBool() }
        func decode(_ type: String.Type) throws -> String { try decoder.reader.readString() }
        func decode(_ type: Double.Type) throws -> Double { try decoder.reader.readDouble() }
        func decode(_ type: Float.Type) throws -> Float { try decoder.reader.readFloat() }
        func decode(_ type: Int.Type) throws -> Int { try decoder.reader.readNarrow() }
        func decode(_ type: Int8.Type) throws -> Int8 { try decoder.reader.readNarrow() }
        func decode(_ type: Int16.Type) throws -> Int16 { try decoder.reader.readNarrow() }
        func decode(_ type: Int32.Type) throws -> Int32 { try decoder.reader.readNarrow() }
        func decode(_ type: Int64.Type) throws -> Int64 { try decoder.reader.readInt64() }
        func decode(_ type: UInt.Type) throws -> UInt { try decoder.reader.readNarrow() }
        func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.reader.readByte() }
        func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.reader.readNarrow() }
        func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.reader.readNarrow() }
        func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.reader.readUInt64() }
        func decode<Other: Decodable>(_ type: Other.Type) throws -> Other { try decoder.decode(type) }
    }
}

extension ByteReader {
    /// Reads any value.
    package mutating func read<Value: Decodable>(_ type: Value.Type = Value.self) throws(EncodingFault) -> Value {
        if let value = try readCoded(type) { return value }
        return try read { decoder in try decoder.decode(type) }
    }

    /// Reads a value that is ``ByteCoded``; nil, and nothing read, when its type is not.
    fileprivate mutating func readCoded<Value>(_ type: Value.Type) throws(EncodingFault) -> Value? {
        guard let coded = type as? any ByteCoded.Type else { return nil }
        return try coded.init(from: &self) as? Value
    }

    /// Reads what ``ByteWriter/write(fieldsOf:)`` wrote.
    mutating func readFields<Value: Decodable>(of type: Value.Type = Value.self) throws(EncodingFault) -> Value {
        try read { decoder in try decoder.fields(of: type) }
    }

    /// Reads bytes that hold one value and nothing else.
    ///
    /// - Parameter names: how many names there are: the number of another is a fault.
    package static func read<Value: Decodable>(
        _ type: Value.Type = Value.self,
        from bytes: [UInt8],
        names: UInt32 = .max
    ) throws(EncodingFault) -> Value {
        var reader = ByteReader(bytes, names: names)
        let value = try reader.read(type)
        try reader.finish()
        return value
    }

    /// Runs what throws anything: what the library and the compiler throw of a value is that it stands for nothing.
    private mutating func read<Value>(_ body: (ByteDecoder) throws -> Value) throws(EncodingFault) -> Value {
        let decoder = ByteDecoder(self)
        defer { self = decoder.reader }
        do { return try body(decoder) } catch {
            throw error as? EncodingFault ?? decoder.fault ?? EncodingFault(.unknownValue, at: decoder.start)
        }
    }
}
