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
    case connected(WireAccessory)
    /// It is gone: the number of its connection.
    case disconnected(UInt32)
    /// A session is open; a connected stream socket comes with the packet unless there is a failure.
    case sessionOpened(failure: WireFailure?)
    /// A session has something to read, or its end; the app finds it on the session's own socket.
    case data
    /// A session broke off; with a failure, bytes were lost.
    case sessionEnded(failure: WireFailure?)
}

/// An accessory as `EAAccessory` shows it.
package struct WireAccessory: Equatable, Sendable {
    /// The number of its connection, from 1.
    package var connection: UInt32
    /// What it calls itself.
    package var name: String
    /// Who made it.
    package var manufacturer: String
    /// Its model.
    package var model: String
    /// Its serial number.
    package var serialNumber: String
    /// Of its firmware.
    package var firmwareRevision: String
    /// Of its hardware.
    package var hardwareRevision: String
    /// The protocols it offers.
    package var protocols: [String]

    /// An accessory as `EAAccessory` shows it.
    package init(
        connection: UInt32,
        name: String,
        manufacturer: String = "",
        model: String = "",
        serialNumber: String = "",
        firmwareRevision: String = "",
        hardwareRevision: String = "",
        protocols: [String]
    ) {
        self.connection = connection
        self.name = name
        self.manufacturer = manufacturer
        self.model = model
        self.serialNumber = serialNumber
        self.firmwareRevision = firmwareRevision
        self.hardwareRevision = hardwareRevision
        self.protocols = protocols
    }
}

extension WireLimits {
    /// The most accessories that a reply lists.
    package static let accessories = 32
    /// The longest name of a protocol, in bytes.
    package static let protocolBytes = 155
}

// MARK: Requests

extension WireAccessoryRequest {
    /// Reads the request of that type; nil for a type that is none of these.
    init?(type: String, fields: Fields) throws(WireError) {
        switch type {
        case "accessory.register": self = .register
        case "accessory.unregister": self = .unregister
        case "accessory.list": self = .list(id: try fields.serial("id"))
        case "accessory.open":
            self = .open(
                session: try fields.number("session"),
                accessory: try fields.number("accessory"),
                protocolName: try fields.protocolName()
            )
        case "accessory.close": self = .close(session: try fields.number("session"))
        default: return nil
        }
    }

    func write(manager: UInt32, to writer: inout JSONWriter) {
        writer.field("type", type)
        writer.field("manager", manager)
        switch self {
        case .register, .unregister: break
        case .list(let id): writer.field("id", id)
        case .open(let session, let accessory, let protocolName):
            writer.field("session", session)
            writer.field("accessory", accessory)
            writer.field("protocol", protocolName)
        case .close(let session): writer.field("session", session)
        }
    }

    private var type: String {
        switch self {
        case .register: "accessory.register"
        case .unregister: "accessory.unregister"
        case .list: "accessory.list"
        case .open: "accessory.open"
        case .close: "accessory.close"
        }
    }
}

extension Fields {
    fileprivate func number(_ key: StaticString) throws(WireError) -> UInt32 {
        UInt32(try integer(key, in: 0...Int64(UInt32.max)))
    }

    fileprivate func protocolName() throws(WireError) -> String {
        let text = try string("protocol")
        guard text.utf8.count <= WireLimits.protocolBytes else {
            throw .badValue(key: "protocol", expected: "at most \(WireLimits.protocolBytes) bytes of text")
        }
        return text
    }
}

// MARK: Deliveries

extension WireAccessoryEvent {
    /// Reads the event of that kind; nil for a kind that is none of these.
    init?(kind: String, fields: Fields) throws(WireError) {
        switch kind {
        case "accessory.connected": self = .connected(try WireAccessory(try fields.object("accessory")))
        case "accessory.disconnected": self = .disconnected(try fields.number("accessory"))
        case "accessory.sessionOpened": self = .sessionOpened(failure: try fields.failure())
        case "accessory.data": self = .data
        case "accessory.sessionEnded": self = .sessionEnded(failure: try fields.failure())
        default: return nil
        }
    }

    var kind: String {
        switch self {
        case .connected: "accessory.connected"
        case .disconnected: "accessory.disconnected"
        case .sessionOpened: "accessory.sessionOpened"
        case .data: "accessory.data"
        case .sessionEnded: "accessory.sessionEnded"
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .connected(let accessory):
            writer.key("accessory")
            writer.accessory(accessory)
        case .disconnected(let connection): writer.field("accessory", connection)
        case .sessionOpened(let failure), .sessionEnded(let failure): writer.failure(failure)
        case .data: break
        }
    }
}

extension WireAccessory {
    init(_ fields: Fields) throws(WireError) {
        self.init(
            connection: try fields.number("connection"),
            name: try fields.string("name"),
            manufacturer: try fields.optionalString("manufacturer") ?? "",
            model: try fields.optionalString("model") ?? "",
            serialNumber: try fields.optionalString("serialNumber") ?? "",
            firmwareRevision: try fields.optionalString("firmwareRevision") ?? "",
            hardwareRevision: try fields.optionalString("hardwareRevision") ?? "",
            protocols: try fields.optionalStrings("protocols") ?? []
        )
    }
}

extension JSONWriter {
    mutating func accessory(_ accessory: WireAccessory) {
        openObject()
        field("connection", accessory.connection)
        field("name", accessory.name)
        field("manufacturer", accessory.manufacturer)
        field("model", accessory.model)
        field("serialNumber", accessory.serialNumber)
        field("firmwareRevision", accessory.firmwareRevision)
        field("hardwareRevision", accessory.hardwareRevision)
        field("protocols", accessory.protocols)
        closeObject()
    }
}
