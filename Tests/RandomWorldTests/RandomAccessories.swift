import WakeModel

/// What accessories of the random world do, and what apps ask of them.
extension RandomWorld {
    /// The number of every app's accessory manager; sessions have numbers from 1 001.
    static let accessoryManager: ManagerNumber = 31
    private static let protocolNames: [NameID] = (700..<703).map { NameID($0) }

    /// App 4 lists nothing, and each other app one or two protocols.
    static func protocols(of index: Int) -> [NameID] {
        if index == 4 { return [] }
        return index % 2 == 0 ? [protocolNames[index % 3]] : [protocolNames[index % 3], protocolNames[(index + 1) % 3]]
    }

    /// An app does what most do: it wants to hear of accessories, and opens a session.
    mutating func useAccessories(_ index: Int) {
        let app = AppID(UInt32(index))
        if !chance.once(in: 6) { hear(.request(app, .accessory(Self.accessoryManager, .register))) }
        for _ in 0..<2 { hear(.request(app, openRequest())) }
        if chance.once(in: 2) { answerSession(of: app) }
    }

    mutating func anyAccessoryRequest() -> AppRequest {
        let manager = chance.once(in: 30) ? 32 : Self.accessoryManager
        switch chance.below(8) {
        case 0: return .accessory(manager, .register)
        case 1: return .accessory(manager, chance.once(in: 4) ? .unregister : .register)
        case 2:
            return .accessory(manager, .close(lastSessionManager - ManagerNumber(chance.below(6))))
        default: return openRequest()
        }
    }

    private mutating func openRequest() -> AppRequest {
        if !chance.once(in: 20) { lastSessionManager += 1 }
        let connection = max(1, lastConnection - min(lastConnection, AccessoryConnection(chance.below(4))))
        return .accessory(
            Self.accessoryManager,
            .open(lastSessionManager, accessory: connection, protocolName: chance.pick(Self.protocolNames))
        )
    }

    /// An accessory comes, goes, answers, sends or breaks off; some of it when nobody asked, and most to one app when it
    /// is given.
    mutating func plug(for app: AppID? = nil) {
        switch chance.below(12) {
        case 0...1:
            lastConnection += 1
            connection(.accessoryConnected, lastConnection)
        case 2:
            let back = AccessoryConnection(chance.below(4))
            connection(.accessoryDisconnected, lastConnection - min(lastConnection, back))
        case 3...5: answerSession(of: app)
        default:
            session(chance.once(in: 3) ? .accessorySessionEnded : .accessoryDataAvailable, of: app)
        }
    }

    private mutating func connection(_ kind: EventKind, _ number: AccessoryConnection) {
        let offered = number % 4 == 3 ? [NameID(709)] : [Self.protocolNames[Int(number % 3)], Self.protocolNames[0]]
        hear(
            .event(WakeEvent(kind: kind, peripheral: NameID(720 + number % 5), local: number, services: offered)),
            isEvent: true
        )
    }

    private mutating func answerSession(of app: AppID?) {
        guard let session = anySession(of: app) else { return }
        hear(
            .event(WakeEvent(kind: .accessorySessionOpened, local: session, failed: chance.once(in: 6))),
            isEvent: true
        )
    }

    private mutating func session(_ kind: EventKind, of app: AppID?) {
        guard let session = anySession(of: app) else { return }
        hear(
            .event(
                WakeEvent(
                    kind: kind,
                    local: session,
                    failed: kind == .accessorySessionEnded && chance.once(in: 2)
                )
            ),
            isEvent: true
        )
    }

    private mutating func anySession(of app: AppID?) -> AccessorySession? {
        let own = accessorySessions.filter { $0.app == app }
        let sessions = own.isEmpty ? accessorySessions : own
        return sessions.isEmpty ? nil : chance.pick(sessions).number
    }
}

/// What an observer knows of accessories: the rules EA-1 to EA-6 as they show from outside.
struct AccessoriesObserver {
    /// The sessions that the port was asked to open and not to close.
    private var open: [AccessorySession: (connection: AccessoryConnection, name: NameID)] = [:]
    private var lastSession: AccessorySession = 0

    mutating func willHear(_ input: Input) {
        switch input {
        case .event(let event), .overflowed(let event):
            if event.kind == .accessoryDisconnected, event.app == nil {
                open = open.filter { $0.value.connection != event.local }
            }
            if event.kind == .accessorySessionEnded || event.kind == .accessorySessionOpened && event.failed {
                open[event.local] = nil
            }
        case .benchRestarted: open.removeAll()
        default: break
        }
    }

    mutating func observe(_ command: AccessoryCommand, fail: inout String?) {
        switch command {
        case .open(let session, let connection, let name):
            if session <= lastSession { fail = fail ?? "EA-5: session \(session) is not new" }
            lastSession = max(lastSession, session)
            if open.contains(where: { $0.value.connection == connection && $0.value.name == name }) {
                fail = fail ?? "EA-5: a second session of one protocol"
            }
            open[session] = (connection, name)
        case .close(let session): open[session] = nil
        }
    }

    mutating func observe(_ decision: Decision, fail: inout String?) {
        guard decision.kind.source == .accessory else { return }
        if decision.verdict == .relaunch { fail = fail ?? "EA-6: \(decision.id) relaunches" }
        let isOwnDoing = decision.reason == .accessoryFollowsForeground
        let asleep = decision.snapshot.state == .suspended
        if asleep, decision.verdict == .resume, !decision.snapshot.modes.contains(.externalAccessory), !isOwnDoing {
            fail = fail ?? "EA-1: \(decision.id) wakes an app without the mode"
        }
    }
}
