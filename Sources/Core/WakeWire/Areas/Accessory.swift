import WakeModel

/// What an app asks of External Accessory. A session has a number of the app's own, from the same counter as its managers.
package enum WireAccessoryRequest: Equatable, Sendable {
    /// Hear when accessories connect and disconnect (EA-4).
    case register
    /// Hear of it no more.
    case unregister
    /// The accessories that the app may see; answered by a reply with `accessories`.
    case list(id: UInt64)
    /// Opens a session; answered by an `accessory.sessionOpened` for the session.
    case open(session: UInt32, accessory: UInt32, protocolName: String)
    /// Ends a session.
    case close(session: UInt32)
}

/// What happened to an accessory, or to a session with one.
package enum WireAccessoryEvent: Equatable, Sendable {
    /// An accessory that the app may see connected.
    case connected(Accessory)
    /// It is gone: the number of its connection.
    case disconnected(UInt32)
    /// A session is open; a connected stream socket comes with the packet unless there is a failure.
    case sessionOpened(failure: WireFailure?)
    /// A session has something to read, or its end; the app finds it on the session's own socket.
    case data
    /// A session broke off; with a failure, bytes were lost.
    case sessionEnded(failure: WireFailure?)
}

extension WireLimits {
    /// The most accessories that a reply lists.
    package static let accessories = 32
    /// The longest name of a protocol, in bytes.
    package static let protocolBytes = 155
}

// MARK: Coding

extension WireAccessoryRequest: AreaMessage {
    static let area = "accessory"
    static let blanks: [Self] = [
        .register, .unregister, .list(id: 0), .open(session: 0, accessory: 0, protocolName: ""), .close(session: 0),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .list(let id): self = try .list(id: coder.field("id", id, .whole))
        case .open(let session, let accessory, let protocolName):
            self = try .open(
                session: coder.field("session", session, .whole),
                accessory: coder.field("accessory", accessory, .whole),
                protocolName: coder.field("protocol", protocolName, .text(atMost: WireLimits.protocolBytes))
            )
        case .close(let session): self = try .close(session: coder.field("session", session, .whole))
        case .register, .unregister: break
        }
    }
}

extension WireAccessoryEvent: AreaMessage {
    static let area = "accessory"
    static let blanks: [Self] = [
        .connected(.blank), .disconnected(0), .sessionOpened(failure: nil), .data, .sessionEnded(failure: nil),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .connected(let accessory): self = try .connected(coder.field("accessory", accessory, .object))
        case .disconnected(let connection): self = try .disconnected(coder.field("accessory", connection, .whole))
        case .sessionOpened(let failure): self = try .sessionOpened(failure: coder.failure(failure))
        case .sessionEnded(let failure): self = try .sessionEnded(failure: coder.failure(failure))
        case .data: break
        }
    }
}

extension Accessory: Coded {
    static let blank = Accessory(connection: 0, name: "", protocols: [])

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("connection", of: &connection, .whole)
        try coder.field("name", of: &name, .text)
        try coder.field("manufacturer", of: &manufacturer, .text, absent: "")
        try coder.field("model", of: &model, .text, absent: "")
        try coder.field("serialNumber", of: &serialNumber, .text, absent: "")
        try coder.field("firmwareRevision", of: &firmwareRevision, .text, absent: "")
        try coder.field("hardwareRevision", of: &hardwareRevision, .text, absent: "")
        try coder.field("protocols", of: &protocols, .texts, absent: [])
    }
}
