/// Writes what the compiler says of a type by `Codable`: its fields in order, without their names.
///
/// An optional begins with whether it is there, a list with its count, and a case of an enum that is no number with its
/// name. Sets and dictionaries are written in ascending order, so that equal values are equal bytes. The counterpart is
/// ``ByteDecoder``; ``ByteWriter/write(_:)`` is the door to it.
final class ByteEncoder: Encoder {
    fileprivate(set) var writer = ByteWriter(reserving: 0)
    /// Whether the count of the list at hand is written.
    private var isCounted = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Fields(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        precondition(isCounted, "what has no order of its own cannot be written")
        return Elements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Value(encoder: self) }

    /// Writes a value: in a way of its own where it is ``ByteShaped``, else what its type says of it.
    func encode<Value: Encodable>(_ value: Value) throws {
        // By type: to ask an optional value would be to ask what is in it.
        let shape = Value.self as? any ByteShaped.Type
        if let shape, !write(value, as: shape) { return }
        isCounted = shape != nil
        try value.encode(to: self)
    }

    private func write<Shaped: ByteShaped>(_ value: some Encodable, as type: Shaped.Type) -> Bool {
        guard let shaped = value as? Shaped else { preconditionFailure("a value is of its type") }
        return shaped.writeShape(into: &writer)
    }

    private struct Fields<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: ByteEncoder
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) { encoder.writer.write(false) }
        // Most fields are numbers, which need not be asked for their shape.
        func encode(_ value: Bool, forKey key: Key) { encoder.writer.write(value) }
        func encode(_ value: Double, forKey key: Key) { encoder.writer.write(value) }
        func encode(_ value: Int, forKey key: Key) { encoder.writer.write(Int64(value)) }
        func encode(_ value: Int64, forKey key: Key) { encoder.writer.write(value) }
        func encode(_ value: UInt8, forKey key: Key) { encoder.writer.write(byte: value) }
        func encode(_ value: UInt16, forKey key: Key) { encoder.writer.write(value) }
        func encode(_ value: UInt32, forKey key: Key) { encoder.writer.write(value) }
        func encode(_ value: UInt64, forKey key: Key) { encoder.writer.write(value) }
        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder.encode(value) }

        // Each by itself: what the library has for those that are left out tells nobody of a nil.
        func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encoder.encode(value) }
        func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try encoder.encode(value) }

        /// What belongs to a case of an enum, after the name of the case.
        func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
            encoder.writer.write(key.stringValue)
            return encoder.container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
        func superEncoder() -> any Encoder { encoder }
        func superEncoder(forKey key: Key) -> any Encoder { encoder }
    }

    /// The elements of a list, whose count is written.
    private struct Elements: UnkeyedEncodingContainer {
        let encoder: ByteEncoder
        private(set) var count = 0
        var codingPath: [any CodingKey] { [] }

        init(encoder: ByteEncoder) { self.encoder = encoder }

        func encodeNil() {}
        func encode<Value: Encodable>(_ value: Value) throws { try encoder.encode(value) }

        func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            encoder.container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
        func superEncoder() -> any Encoder { encoder }
    }

    /// A number, a text, or what there is in an optional, of which is written whether there is.
    private struct Value: SingleValueEncodingContainer {
        let encoder: ByteEncoder
        var codingPath: [any CodingKey] { [] }

        func encodeNil() {}
        func encode(_ value: Bool) { encoder.writer.write(value) }
        func encode(_ value: String) { encoder.writer.write(value) }
        func encode(_ value: Double) { encoder.writer.write(value) }
        func encode(_ value: Float) { encoder.writer.write(value) }
        func encode(_ value: Int) { encoder.writer.write(Int64(value)) }
        func encode(_ value: Int8) { encoder.writer.write(Int64(value)) }
        func encode(_ value: Int16) { encoder.writer.write(value) }
        func encode(_ value: Int32) { encoder.writer.write(value) }
        func encode(_ value: Int64) { encoder.writer.write(value) }
        func encode(_ value: UInt) { encoder.writer.write(UInt64(value)) }
        func encode(_ value: UInt8) { encoder.writer.write(byte: value) }
        func encode(_ value: UInt16) { encoder.writer.write(value) }
        func encode(_ value: UInt32) { encoder.writer.write(value) }
        func encode(_ value: UInt64) { encoder.writer.write(value) }
        func encode<Other: Encodable>(_ value: Other) throws { try encoder.encode(value) }
    }
}

/// What is written otherwise than its type says, or with something before it.
package protocol ByteShaped {
    /// - Returns: whether what its type says is still to be written.
    func writeShape(into writer: inout ByteWriter) -> Bool
}

extension Optional: ByteShaped {
    package func writeShape(into writer: inout ByteWriter) -> Bool {
        writer.write(self != nil)
        return true
    }
}

extension Array: ByteShaped {
    package func writeShape(into writer: inout ByteWriter) -> Bool {
        if Element.self == UInt8.self, let bytes = self as? [UInt8] {
            writer.write(bytes)
            return false
        }
        writer.write(count)
        return true
    }
}

extension Set: ByteShaped where Element: Comparable & Encodable {
    package func writeShape(into writer: inout ByteWriter) -> Bool {
        writer.write(sorted())
        return false
    }
}

extension Dictionary: ByteShaped where Key: Comparable & Encodable, Value: Encodable {
    /// As the library reads it: each key with its value after it.
    package func writeShape(into writer: inout ByteWriter) -> Bool {
        writer.write(2 * count)
        // The keys alone are put in order: values may be large.
        for key in keys.sorted() {
            writer.write(key)
            writer.write(self[key]!)
        }
        return false
    }
}

extension ByteWriter {
    /// Appends any value.
    package mutating func write(_ value: some Encodable) {
        write { encoder in try encoder.encode(value) }
    }

    /// Appends what the type of a value says of it, though the value has bytes of its own.
    mutating func write(fieldsOf value: some Encodable) {
        write { encoder in try value.encode(to: encoder) }
    }

    /// The bytes of one value.
    package static func bytes(of value: some Encodable) -> [UInt8] {
        var writer = ByteWriter(reserving: 64)
        writer.write(value)
        return writer.bytes
    }

    private mutating func write(_ body: (ByteEncoder) throws -> Void) {
        let encoder = ByteEncoder()
        swap(&self, &encoder.writer)
        do { try body(encoder) } catch { preconditionFailure("what is written has no fault: \(error)") }
        swap(&self, &encoder.writer)
    }
}
