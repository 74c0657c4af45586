/// Something of whose state a snapshot holds a part: the rest is there before the snapshot is read.
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

    package mutating func code<Value: Codable>(_ value: inout Value) throws(EncodingFault) {
        if reader != nil { value = try reader!.read() } else { writer.write(value) }
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

    /// What is read does not fit.
    package var fault: EncodingFault { EncodingFault(.unknownValue, at: reader?.offset ?? 0) }
}
