/// Something whose state a snapshot holds.
package protocol SnapshotPart {
    /// Writes the state into a snapshot, or takes it from one: each value is named once, for both directions.
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault)
}

/// Writes states into a snapshot, or reads them back from one.
package struct SnapshotCoder {
    private var writer = ByteWriter(reserving: 1 << 12)
    private var reader: ByteReader?

    /// Begins a new snapshot.
    package init() {}

    /// Reads a snapshot.
    ///
    /// - Parameter names: how many names there are: the number of another is a fault.
    package init(reading bytes: [UInt8], names: UInt32 = .max) {
        reader = ByteReader(bytes, names: names)
    }

    package var isReading: Bool { reader != nil }

    /// What has been written.
    package var bytes: [UInt8] { writer.bytes }

    /// Fails when a snapshot that is read holds more.
    package func finish() throws(EncodingFault) { try reader?.finish() }

    package mutating func code<Value: ByteCoded>(_ value: inout Value) throws(EncodingFault) {
        if reader != nil { value = try reader!.read() } else { value.encode(into: &writer) }
    }

    package mutating func code<Value: ByteCoded>(_ value: inout Value?) throws(EncodingFault) {
        if reader != nil { value = try reader!.readOptional() } else { writer.write(optional: value) }
    }

    package mutating func code<Value: ByteCoded>(_ values: inout [Value]) throws(EncodingFault) {
        if reader != nil { values = try reader!.readArray() } else { writer.write(values) }
    }

    package mutating func code<Part: SnapshotPart>(_ part: inout Part) throws(EncodingFault) {
        try part.code(with: &self)
    }

    /// Parts that were made before the snapshot is read: there are always as many.
    package mutating func code<Part: SnapshotPart>(each parts: inout [Part]) throws(EncodingFault) {
        var count = parts.count
        try code(&count)
        guard count == parts.count else { throw fault }
        for index in parts.indices { try parts[index].code(with: &self) }
    }

    /// Parts of which there may be any number.
    ///
    /// - Parameter blank: what one that is read starts as.
    package mutating func code<Part: SnapshotPart>(_ parts: inout [Part], blank: Part) throws(EncodingFault) {
        var count = parts.count
        try code(&count)
        if isReading { parts = Array(repeating: blank, count: try within(count)) }
        for index in parts.indices { try parts[index].code(with: &self) }
    }

    /// What is coded apart in each direction.
    package mutating func code(
        write: (inout ByteWriter) -> Void,
        read: (inout ByteReader) throws(EncodingFault) -> Void
    ) throws(EncodingFault) {
        if reader != nil { try read(&reader!) } else { write(&writer) }
    }

    /// What is read does not fit.
    package var fault: EncodingFault { EncodingFault(.unknownValue, at: reader?.offset ?? 0) }

    /// A count of things that take at least a byte each.
    private func within(_ count: Int) throws(EncodingFault) -> Int {
        guard let reader, 0...reader.remaining ~= count else { throw fault }
        return count
    }
}

extension Bool: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readBool() }
}

extension UInt8: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(byte: self) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readByte() }
}

extension UInt16: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readUInt16() }
}

extension UInt32: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readUInt32() }
}

extension UInt64: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readUInt64() }
}

extension Int32: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readInt32() }
}

extension Int64: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readInt64() }
}

extension Int: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(Int64(self)) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = Int(try reader.readInt64()) }
}

extension Double: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readDouble() }
}

extension String: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readString() }
}

extension Array: ByteCoded where Element: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(array: self) { $1.encode(into: &$0) } }
    package init(from reader: inout ByteReader) throws(EncodingFault) { self = try reader.readArray() }
}
