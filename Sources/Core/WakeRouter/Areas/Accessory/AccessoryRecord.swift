import WakeModel

/// What External Accessory keeps for one app.
///
/// The slot 0 of an interest stands for the app's accessory manager, and slot 1 for the first of ``sessions``.
struct AccessoryRecord: Equatable, Codable {
    /// A session, from the request to open it until its end has been told.
    struct Session: Equatable, Codable {
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

        enum Phase: UInt8, Codable {
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
struct ConnectedAccessory: Equatable, Codable {
    var connection: AccessoryConnection
    var name: NameID
    var protocols: [NameID]
    var since: Instant
}
