// Calendars count with it: what they could not count with is refused where it is read.
extension PhoneZone: ByteCoded {
    /// Seconds: no clock is farther ahead of Greenwich, or behind it.
    private static let farthest: Int32 = 86_400
    /// Seconds since 1970, or before it: no zone changes later.
    private static let latest: Int64 = 1 << 40

    package func encode(into writer: inout ByteWriter) {
        writer.write(name)
        writer.write(offset)
        writer.write(changes)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        let name = try reader.readString()
        self.init(offset: try reader.readNarrow())
        self.name = name
        changes = try reader.readArray()
        guard isSound else { throw EncodingFault(.unknownValue, at: start) }
    }

    private var isSound: Bool {
        let (offsets, times) = (-Self.farthest...Self.farthest, -Self.latest...Self.latest)
        return offsets.contains(offset)
            && changes.allSatisfy { offsets.contains($0.offset) && times.contains($0.at) }
            && zip(changes, changes.dropFirst()).allSatisfy { $0.at < $1.at }
    }
}

extension PhoneZone.Change: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(at)
        writer.write(offset)
    }

    package init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(at: try reader.readInt64(), offset: try reader.readNarrow())
    }
}
