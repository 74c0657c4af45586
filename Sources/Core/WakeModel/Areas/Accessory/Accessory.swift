/// The number of one connection of an accessory, Apple's connectionID: from 1, and not used twice by a port. An accessory that
/// comes back has a new one.
package typealias AccessoryConnection = UInt32

/// The router's number of a session, from 1 and never used twice in a run.
package typealias AccessorySession = UInt32

/// An accessory that is connected, as an app reads it.
package struct Accessory: Hashable, Codable, Sendable {
    package var connection: AccessoryConnection
    package var name: String
    package var manufacturer: String
    package var model: String
    package var serialNumber: String
    package var firmwareRevision: String
    package var hardwareRevision: String
    /// Reverse-DNS strings, in the order of the accessory.
    package var protocols: [String]

    package init(
        connection: AccessoryConnection,
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

/// What an app asks of External Accessory. A session has a number of the app's own, from the same counter as its managers.
package enum AccessoryRequest: Hashable, Codable, Sendable {
    /// Hear when accessories connect and disconnect (EA-4).
    case register
    case unregister
    /// Answered by one ``EventKind/accessorySessionOpened``.
    case open(ManagerNumber, accessory: AccessoryConnection, protocolName: NameID)
    case close(ManagerNumber)
}

/// What the router asks of the source of accessories. Each is answered by events, never by a return value.
package enum AccessoryCommand: Hashable, Sendable {
    /// Answered by one ``EventKind/accessorySessionOpened`` with the session's number; `failed` when it cannot be opened.
    case open(AccessorySession, accessory: AccessoryConnection, protocolName: NameID)
    /// The session is over: its link is let go of, and nothing more is reported of it.
    case close(AccessorySession)
}

/// Why a session cannot be opened, or ended in an error.
package struct AccessoryFailure: Hashable, Codable, Sendable, Error {
    /// An errno of Linux, in NSPOSIXErrorDomain.
    package var code: Int32
    /// One line.
    package var message: String

    package init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// ENODEV: no such accessory is connected, or it offers no such protocol.
    package static let gone = AccessoryFailure(code: 19, message: "The accessory is not connected.")
    /// EPERM: the app does not list the protocol (EA-3).
    package static let notListed = AccessoryFailure(
        code: 1,
        message: "UISupportedExternalAccessoryProtocols does not list the protocol."
    )
    /// EBUSY: there is a session of the protocol (EA-5).
    package static let taken = AccessoryFailure(code: 16, message: "The protocol has a session already.")
    /// ENOBUFS: a link that cannot wait brought more than the buffer holds (EA-5).
    package static let overflow = AccessoryFailure(
        code: 105,
        message: "The accessory sent more than the session's buffer holds."
    )
}

/// What the number of an event stands for.
extension WakeEvent {
    /// The connection of an accessory that came or went.
    @inlinable
    package var connection: AccessoryConnection { local }

    /// The session that was opened, has bytes, or ended.
    @inlinable
    package var session: AccessorySession { local }
}

/// The kinds of its events, each by its row of Tables/events.tsv.
extension EventKind {
    @inlinable package static var accessoryConnected: EventKind { EventKind(row: 57) }
    @inlinable package static var accessoryDisconnected: EventKind { EventKind(row: 58) }
    @inlinable package static var accessorySessionOpened: EventKind { EventKind(row: 59) }
    @inlinable package static var accessoryDataAvailable: EventKind { EventKind(row: 60) }
    @inlinable package static var accessorySessionEnded: EventKind { EventKind(row: 61) }
}

extension Action {
    package static func accessory(_ command: AccessoryCommand) -> Action { .command(.accessory(command)) }
}
