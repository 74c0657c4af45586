import WakeModel
import WakePorts
import WakePush
import WakeWire

extension PushArea {
    static func tell(_ notice: AppNotice, to app: AppID, through host: ProcessAppHost) {
        guard case .deviceToken(let forCalls) = notice, let bundle = host.surroundings?.view.bundle(of: app) else {
            return
        }
        let event = WirePushEvent.registered(token: DeviceToken.bytes(of: bundle, forCalls: forCalls), calls: forCalls)
        let callback = forCalls ? "didUpdate" : "didRegisterForRemoteNotificationsWithDeviceToken"
        host.tell(.push(event), to: 0, of: app, named: callback)
    }

    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent? {
        guard case .push(let bytes) = delivery.payload else { return nil }
        let payload = String(decoding: bytes, as: UTF8.self)
        let number = delivery.event.pushNumber
        let event: WirePushEvent =
            delivery.event.kind == .callPushReceived
            ? .called(number: number, payload: payload) : .received(number: number, payload: payload)
        return ToldEvent(.push(event), of: delivery)
    }
}

/// The pushes of real apps.
extension ProcessAppHost {
    func heard(_ request: WirePushRequest, from app: AppID) {
        let asked: PushRequest
        switch request {
        case .register: asked = .register
        case .unregister: asked = .unregister
        case .registerCalls: asked = .registerCalls
        case .unregisterCalls: asked = .unregisterCalls
        case .completed(let number, let result): asked = .fetched(number, result)
        case .reportCall: asked = .reportCall
        case .callBegan: asked = .callBegan
        case .callEnded: asked = .callEnded
        case .callHandled(let number): asked = .callHandled(number)
        case .isRegistered(let id):
            let isRegistered = surroundings?.view.hasDeviceToken(app) == true
            return reply(id, WireReply(granted: isRegistered), to: app)
        case .extended: return fault("answers as a service extension, which it is not", app)
        }
        if asked == .registerCalls, surroundings?.view.hasPushKit == false {
            let event = WirePushEvent.failed(calls: true, message: "The phone has no PushKit before iOS 8.")
            return tell(.push(event), to: 0, of: app, named: "didInvalidatePushTokenFor")
        }
        say(app, .request(.push(asked)))
    }
}

extension AppView {
    /// The bundle identifier of an app; nil for one that was never installed.
    func bundle(of app: AppID) -> String? { areas.push.bundle(of: app) }

    /// Whether an app has a device token for pushes other than VoIP.
    func hasDeviceToken(_ app: AppID) -> Bool {
        bench.router.registrations(of: app).contains { $0.via == .remoteNotifications }
    }

    /// Whether there are VoIP pushes (PUSH-6).
    var hasPushKit: Bool { bench.router.profile.areas.push.pushKit }
}
