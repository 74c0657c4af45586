/// A value with bytes of its own, written by hand in both directions: what every turn of the bench writes, and what a reader
/// must look at twice. All other values are `Codable` and have no more to say: see ``ByteEncoder``.
package protocol ByteCoded: ByteShaped, Codable {
    func encode(into writer: inout ByteWriter)

    /// Reads the value that starts at the reader's offset.
    init(from reader: inout ByteReader) throws(EncodingFault)
}

extension ByteCoded {
    package func writeShape(into writer: inout ByteWriter) -> Bool {
        encode(into: &writer)
        return false
    }
}

extension ByteCoded where Self: RawRepresentable, RawValue == UInt8 {
    package func encode(into writer: inout ByteWriter) {
        writer.write(byte: rawValue)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        guard let value = Self(rawValue: try reader.readByte()) else { throw EncodingFault(.unknownValue, at: start) }
        self = value
    }
}

extension AppID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(number) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self.init(try reader.readUInt32()) }
}

extension EventID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(number) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self.init(try reader.readUInt64()) }
}

extension DecisionID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(number) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self.init(try reader.readUInt64()) }
}

extension NameID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(number) }

    /// The number of a name that there is not is a fault.
    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        let number = try reader.readUInt32()
        guard number <= reader.names else { throw EncodingFault(.unknownValue, at: start) }
        self.init(number)
    }
}

extension Instant: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(nanoseconds) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self.init(nanoseconds: try reader.readInt64()) }
}

extension Instant.Span: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(nanoseconds) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self.init(nanoseconds: try reader.readInt64()) }
}
