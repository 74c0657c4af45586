/// Why bytes could not be read back.
package struct EncodingFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: UInt8, CaseIterable, Sendable {
        /// The bytes end in the middle of a value.
        case cut
        /// A number stands for nothing, or does not fit.
        case unknownValue
        /// Text is not UTF-8.
        case badText
        /// Bytes follow the last value.
        case trailingBytes
    }

    package var kind: Kind
    /// Where in the bytes the value starts.
    package var offset: Int

    package init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    package var description: String {
        switch kind {
        case .cut: "the bytes end in a value that starts at byte \(offset)"
        case .unknownValue: "a number that stands for nothing at byte \(offset)"
        case .badText: "text that is not UTF-8 at byte \(offset)"
        case .trailingBytes: "more bytes than expected at byte \(offset)"
        }
    }
}

/// Reads back what ``ByteWriter`` wrote; bytes that make no sense are an ``EncodingFault``, never a trap.
package struct ByteReader: Sendable {
    private let bytes: [UInt8]
    /// Where the next value starts.
    package private(set) var offset: Int
    /// The highest number of a name that there is.
    let names: UInt32

    /// - Parameter names: how many names there are: the number of another is a fault.
    package init(_ bytes: [UInt8], names: UInt32 = .max) {
        self.bytes = bytes
        self.names = names
        offset = 0
    }

    /// How many bytes are left.
    package var remaining: Int { bytes.count - offset }

    /// Fails when bytes are left.
    package func finish() throws(EncodingFault) {
        guard remaining == 0 else { throw EncodingFault(.trailingBytes, at: offset) }
    }

    /// One byte as it is.
    package mutating func readByte() throws(EncodingFault) -> UInt8 {
        guard offset < bytes.count else { throw EncodingFault(.cut, at: offset) }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func readBool() throws(EncodingFault) -> Bool {
        switch try readByte() {
        case 0: return false
        case 1: return true
        default: throw EncodingFault(.unknownValue, at: offset - 1)
        }
    }

    package mutating func readUInt64() throws(EncodingFault) -> UInt64 {
        let start = offset
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard offset < bytes.count else { throw EncodingFault(.cut, at: start) }
            let byte = bytes[offset]
            offset += 1
            if shift == 63, byte > 1 { throw EncodingFault(.unknownValue, at: start) }
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
    }

    package mutating func readUInt32() throws(EncodingFault) -> UInt32 { try readNarrow() }
    package mutating func readUInt16() throws(EncodingFault) -> UInt16 { try readNarrow() }

    package mutating func readInt64() throws(EncodingFault) -> Int64 {
        let folded = try readUInt64()
        return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    }

    package mutating func readInt16() throws(EncodingFault) -> Int16 { try readNarrow() }

    /// A whole number that may be negative; one that does not fit is a fault.
    mutating func readNarrow<Narrow: FixedWidthInteger & SignedInteger>() throws(EncodingFault) -> Narrow {
        let start = offset
        guard let value = Narrow(exactly: try readInt64()) else { throw EncodingFault(.unknownValue, at: start) }
        return value
    }

    /// A whole number that is not negative; one that does not fit is a fault.
    mutating func readNarrow<Narrow: FixedWidthInteger & UnsignedInteger>() throws(EncodingFault) -> Narrow {
        let start = offset
        guard let value = Narrow(exactly: try readUInt64()) else { throw EncodingFault(.unknownValue, at: start) }
        return value
    }

    /// A number, or an infinite one. Nothing writes one that is none: what held it would not be equal to itself.
    package mutating func readDouble() throws(EncodingFault) -> Double {
        guard remaining >= 8 else { throw EncodingFault(.cut, at: offset) }
        let value = Double(bitPattern: (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (UInt64($1) * 8) })
        guard !value.isNaN else { throw EncodingFault(.unknownValue, at: offset) }
        offset += 8
        return value
    }

    /// As ``readDouble()``.
    package mutating func readFloat() throws(EncodingFault) -> Float {
        guard remaining >= 4 else { throw EncodingFault(.cut, at: offset) }
        let value = Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (UInt32($1) * 8) })
        guard !value.isNaN else { throw EncodingFault(.unknownValue, at: offset) }
        offset += 4
        return value
    }

    package mutating func readString() throws(EncodingFault) -> String {
        let start = offset
        let length = try readCount()
        let end = offset + length
        guard let text = String(validating: bytes[offset..<end], as: UTF8.self) else {
            throw EncodingFault(.badText, at: start)
        }
        offset = end
        return text
    }

    /// A count and that many bytes.
    package mutating func readBytes() throws(EncodingFault) -> [UInt8] {
        let length = try readCount()
        defer { offset += length }
        return Array(bytes[offset..<offset + length])
    }

    @inlinable
    package mutating func read<Value: ByteCoded>(_ type: Value.Type = Value.self) throws(EncodingFault) -> Value {
        try Value(from: &self)
    }

    /// A count and that many elements.
    @inlinable
    package mutating func readArray<Value: ByteCoded>(of type: Value.Type = Value.self) throws(EncodingFault) -> [Value]
    {
        let count = try readCount()
        var values: [Value] = []
        values.reserveCapacity(min(count, 1024))
        for _ in 0..<count { values.append(try Value(from: &self)) }
        return values
    }

    /// Whether there is a value, and the value: where an optional is wanted, no value is read as if it were there.
    @inlinable
    package mutating func read<Value: ByteCoded>(_ type: Value?.Type = Value?.self) throws(EncodingFault) -> Value? {
        try readBool() ? Value(from: &self) : nil
    }

    /// A count of things that take at least a byte each; more than there are bytes is a fault.
    package mutating func readCount() throws(EncodingFault) -> Int {
        let start = offset
        let count = try readUInt64()
        guard count <= UInt64(remaining) else { throw EncodingFault(.cut, at: start) }
        return Int(count)
    }
}
