import Glibc
import WakeDevices
import WakeModel
import WakePorts

extension AccessoryArea {
    /// Asks for notifications, and opens sessions with the accessories that are there.
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        guard let own = host.apps[app], let use = own.script.accessory else { return }
        own.nextSession = ScriptedAppHost.firstSession
        own.writes = [:]
        if use.registers { host.ask(.register, from: app) }
        for accessory in host.view?.accessories(of: app) ?? [] {
            host.openSessions(with: accessory.connection, offering: accessory.protocols, of: app)
        }
    }

    /// What any app does with an accessory: it opens its sessions, and says what it has to say.
    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {
        let event = delivery.event
        switch event.kind {
        case .accessoryConnected:
            host.openSessions(with: event.local, offering: event.services.map(host.names.text), of: app)
        case .accessorySessionOpened:
            guard let bytes = host.apps[app]!.writes.removeValue(forKey: delivery.manager), !event.failed,
                let descriptor = delivery.channel
            else { return }
            // A few bytes always fit into a fresh socket.
            _ = unsafe send(descriptor, bytes, bytes.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
            host.view?.wroteToSession()
        default: break
        }
    }
}

/// What scripted apps ask of External Accessory.
extension ScriptedAppHost {
    /// The accessory manager of a scripted app; its sessions have the numbers from 100.
    private static let accessoryManager: ManagerNumber = 3
    fileprivate static let firstSession: ManagerNumber = 100

    fileprivate func openSessions(with connection: AccessoryConnection, offering offered: [String], of app: AppID) {
        guard let use = apps[app]!.script.accessory else { return }
        for session in use.sessions where offered.contains(session.protocolName) {
            let number = apps[app]!.nextSession
            apps[app]!.nextSession += 1
            if !session.writes.isEmpty { apps[app]!.writes[number] = session.writes }
            ask(
                .open(number, accessory: connection, protocolName: names.intern(session.protocolName)),
                from: app
            )
        }
    }

    fileprivate func ask(_ request: AccessoryRequest, from app: AppID) {
        say(app, .request(.accessory(Self.accessoryManager, request)))
    }
}
