import Glibc
import WakeDevices
import WakeModel
import WakePorts

extension AccessoryArea {
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        if let use = host.apps[app]!.script.accessory { host.useAccessories(use, of: app) }
    }

    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {
        host.followAccessory(delivery, of: app)
    }
}

/// What scripted apps ask of External Accessory.
extension ScriptedAppHost {
    /// The accessory manager of a scripted app; its sessions have the numbers from 100.
    private static let accessoryManager: ManagerNumber = 3
    private static let firstSession: ManagerNumber = 100

    /// Asks for notifications, and opens sessions with the accessories that are there.
    fileprivate func useAccessories(_ use: ScriptedApp.AccessoryUse, of app: AppID) {
        apps[app]!.nextSession = Self.firstSession
        apps[app]!.writes = [:]
        if use.registers { ask(.register, from: app) }
        for accessory in view?.accessories(of: app) ?? [] {
            openSessions(with: accessory.connection, offering: accessory.protocols, of: app)
        }
    }

    /// What any app does with an accessory: it opens its sessions, and says what it has to say.
    fileprivate func followAccessory(_ delivery: AppDelivery, of app: AppID) {
        let event = delivery.event
        switch event.kind {
        case .accessoryConnected:
            openSessions(with: event.local, offering: event.services.map(names.text), of: app)
        case .accessorySessionOpened:
            guard let bytes = apps[app]!.writes.removeValue(forKey: delivery.manager), !event.failed,
                let descriptor = delivery.channel
            else { return }
            // A few bytes always fit into a fresh socket.
            _ = unsafe send(descriptor, bytes, bytes.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
            view?.wroteToSession()
        default: break
        }
    }

    private func openSessions(with connection: AccessoryConnection, offering offered: [String], of app: AppID) {
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

    private func ask(_ request: AccessoryRequest, from app: AppID) {
        say(app, .request(.accessory(Self.accessoryManager, request)))
    }
}
