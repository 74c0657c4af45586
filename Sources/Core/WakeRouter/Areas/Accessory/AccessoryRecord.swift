import WakeModel

/// What External Accessory keeps for one app.
///
/// The slot 0 of an interest stands for the app's accessory manager, and slot 1 for the first of ``sessions``.
struct AccessoryRecord: Equatable {
    /// A session, from the request to open it until its end has been told.
    struct Session: Equatable {
        /// The router's own number.
        var number: AccessorySession
        /// The app's number, by which it is told of the session.
        var manager: ManagerNumber
        var accessory: AccessoryConnection
        /// The name of the accessory.
        var name: NameID
        var protocolName: NameID
        var since: Instant
        var phase: Phase

        enum Phase: UInt8 {
            /// The port has not answered.
            case opening
            case open
            /// It could not be opened, and the app is to hear of it.
            case refused
            /// It ended, and the app has not closed it.
            case over
        }

        /// Whether the accessory's protocol is in use by it (EA-5).
        var isUsed: Bool { phase == .opening || phase == .open }

        /// Whether an event can be about it, as it stands.
        func isConcerned(by event: WakeEvent) -> Bool {
            switch (event.kind, phase) {
            case (.accessorySessionOpened, .opening), (.accessorySessionEnded, .opening): true
            // The router's own answer.
            case (.accessorySessionOpened, .refused): event.app != nil
            case (.accessorySessionEnded, .open), (.accessoryDataAvailable, .open), (.accessoryDataAvailable, .over):
                true
            default: false
            }
        }
    }

    /// UISupportedExternalAccessoryProtocols (EA-3).
    var protocols: [NameID] = []
    /// The number of the process's accessory manager; 0 before it is used.
    var manager: ManagerNumber = 0
    /// Since when the process wants notifications; nil when it does not (EA-4).
    var registeredAt: Instant?
    /// A slot of a session that is gone is nil and used again.
    var sessions: [Session?] = []

    /// Whether there is nothing that a change of the app's state could matter to.
    var isIdle: Bool { registeredAt == nil && sessions.isEmpty }

    /// Whether the app lists one of the protocols of an accessory.
    func lists(_ offered: [NameID]) -> Bool { protocols.contains { offered.contains($0) } }

    /// The slot of a session by the router's number.
    func slot(ofSession number: AccessorySession) -> Int? {
        sessions.firstIndex { $0?.number == number }.map { $0 + 1 }
    }

    /// The slot of a session by the app's number.
    func slot(of manager: ManagerNumber) -> Int? {
        sessions.firstIndex { $0?.manager == manager }.map { $0 + 1 }
    }
}

/// An accessory that is connected to the phone.
struct ConnectedAccessory: Equatable {
    var connection: AccessoryConnection
    var name: NameID
    var protocols: [NameID]
    var since: Instant
}

extension AccessoryRecord: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(protocols)
        writer.write(manager)
        writer.write(optional: registeredAt)
        writer.write(array: sessions) { $0.write(optional: $1) }
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init()
        let start = reader.offset
        protocols = try reader.readArray()
        manager = try reader.readUInt32()
        registeredAt = try reader.readOptional()
        sessions = try reader.readArray { (reader) throws(EncodingFault) in try reader.readOptional() }
        guard sessions.count <= Router.sessionsLimit else { throw EncodingFault(.unknownValue, at: start) }
    }
}

extension AccessoryRecord.Session: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(number)
        writer.write(manager)
        writer.write(accessory)
        writer.write(name)
        writer.write(protocolName)
        writer.write(since)
        writer.write(byte: phase.rawValue)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        let number = try reader.readUInt32()
        let manager = try reader.readUInt32()
        let accessory = try reader.readUInt32()
        let name: NameID = try reader.read()
        let protocolName: NameID = try reader.read()
        let since: Instant = try reader.read()
        let start = reader.offset
        guard let phase = Phase(rawValue: try reader.readByte()) else { throw EncodingFault(.unknownValue, at: start) }
        self.init(
            number: number,
            manager: manager,
            accessory: accessory,
            name: name,
            protocolName: protocolName,
            since: since,
            phase: phase
        )
    }
}

extension ConnectedAccessory: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(connection)
        writer.write(name)
        writer.write(protocols)
        writer.write(since)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            connection: try reader.readUInt32(),
            name: try reader.read(),
            protocols: try reader.readArray(),
            since: try reader.read()
        )
    }
}
