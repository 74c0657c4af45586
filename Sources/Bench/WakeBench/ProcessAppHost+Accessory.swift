import WakeModel
import WakePorts
import WakeWire

extension AccessoryArea {
    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent? {
        host.translation.accessoryEvent(delivery).map { ToldEvent(.accessory($0), of: delivery) }
    }

    static func names(in message: AppMessage) -> [String] {
        if case .accessory(_, .open(_, _, let protocolName)) = message { [protocolName] } else { [] }
    }

    static func refuse(_ message: AppMessage, because text: String, to app: AppID, by host: ProcessAppHost) {
        guard case .accessory(_, .open(let session, _, _)) = message else { return }
        let failure = WireFailure(domain: "NSPOSIXErrorDomain", code: 28, message: text)
        host.tell(.accessory(.sessionOpened(failure: failure)), to: session, of: app, named: "sessionOpened")
    }
}

/// The accessory managers and sessions of real apps.
extension ProcessAppHost {
    /// A request about accessories; the list is answered here, without the router.
    func heard(_ request: WireAccessoryRequest, manager: ManagerNumber, from app: AppID) {
        let asked: AccessoryRequest
        switch request {
        case .register: asked = .register
        case .unregister: asked = .unregister
        case .open(let session, let accessory, let protocolName):
            asked = .open(session, accessory: accessory, protocolName: translation.names.intern(protocolName))
        case .close(let session): asked = .close(session)
        case .list(let id):
            let visible = surroundings?.view.accessories(of: app).prefix(WireLimits.accessories) ?? []
            reply(id, WireReply(accessories: Array(visible)), to: app)
            return
        }
        say(app, .request(.accessory(manager, asked)))
    }

    /// Bytes came over a session of an app that runs, which nothing was to be decided about. The app answers when it has
    /// read them, so that virtual time can wait for it.
    func sessionHoldsBytes(of app: AppID, session: ManagerNumber) {
        tell(.accessory(.data), to: session, of: app, named: "stream")
    }
}

extension WireTranslation {
    /// What an event of an accessory tells the app.
    func accessoryEvent(_ delivery: AppDelivery) -> WireAccessoryEvent? {
        switch delivery.event.kind {
        case .accessoryConnected:
            guard case .accessory(let accessory) = delivery.payload else { return nil }
            return .connected(accessory)
        case .accessoryDisconnected: return .disconnected(delivery.event.local)
        case .accessorySessionOpened:
            let lost = WireFailure(
                domain: "NSPOSIXErrorDomain",
                code: 19,
                message: "The session came without a socket."
            )
            return .sessionOpened(failure: posixFailure(delivery) ?? (delivery.channel == nil ? lost : nil))
        case .accessoryDataAvailable: return .data
        case .accessorySessionEnded: return .sessionEnded(failure: posixFailure(delivery))
        default: return nil
        }
    }

    private func posixFailure(_ delivery: AppDelivery) -> WireFailure? {
        guard case .accessoryFailure(let failure) = delivery.payload else { return nil }
        return WireFailure(domain: "NSPOSIXErrorDomain", code: Int(failure.code), message: failure.message)
    }
}
