import WakeModel

/// What the system keeps of an app's calls (VOIP-1 to VOIP-6).
struct VoIPRecord: Equatable {
    /// A socket that the present process marked.
    struct Socket: Equatable {
        var number: SocketNumber
        var peer: NameID
        var since: Instant
    }

    /// The keep-alive handler of the present process (VOIP-3).
    struct KeepAlive: Equatable {
        var period: Instant.Span
        var since: Instant
        /// When the handler is called next.
        var due: Instant
    }

    /// In order of their marking.
    var sockets: [Socket] = []
    var keepAlive: KeepAlive?
    /// When the connections of the suspended app end; nil while they last (RESP-3).
    var tearDown: Instant?
    /// When the app was woken, oldest first, as far back as VOIP-6 looks.
    var wakes: [Instant] = []

    /// The earliest instant at which something is due.
    var due: Instant { min(keepAlive?.due ?? .distantFuture, tearDown ?? .distantFuture) }

    /// How many wakes there were within the window before `now`.
    func wakes(before now: Instant, within window: Instant.Span) -> UInt32 {
        UInt32(wakes.count { now.since($0) < window })
    }
}

extension VoIPRecord: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(sockets)
        writer.write(optional: keepAlive)
        writer.write(optional: tearDown)
        writer.write(wakes)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        self.init(
            sockets: try reader.readArray(),
            keepAlive: try reader.readOptional(),
            tearDown: try reader.readOptional(),
            wakes: try reader.readArray()
        )
        guard sockets.count <= VoIPRequest.socketsLimit else { throw EncodingFault(.unknownValue, at: start) }
        // A period of no length would be due for ever.
        if let keepAlive, keepAlive.period <= .zero { throw EncodingFault(.unknownValue, at: start) }
    }
}

extension VoIPRecord.Socket: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(number)
        writer.write(peer)
        writer.write(since)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(number: try reader.readUInt32(), peer: try reader.read(), since: try reader.read())
    }
}

extension VoIPRecord.KeepAlive: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(period)
        writer.write(since)
        writer.write(due)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(period: try reader.read(), since: try reader.read(), due: try reader.read())
    }
}
