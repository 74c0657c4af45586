import WakeModel
import WakePorts
import WakeWire

extension LocationArea {
    static func tell(_ notice: AppNotice, to app: AppID, through host: ProcessAppHost) {
        guard case .locationAuthorization(let manager, let authorization) = notice else { return }
        host.locationAuthorization(authorization, manager: manager, to: app)
    }
}

/// The location managers of real apps.
extension ProcessAppHost {
    fileprivate func locationAuthorization(
        _ authorization: LocationAuthorization,
        manager: ManagerNumber,
        to app: AppID
    ) {
        let event = WireLocationEvent.authorization(WireTranslation.authorization(authorization), precise: true)
        answer(event, manager: manager, to: app, named: "locationManagerDidChangeAuthorization")
    }

    /// A request of a location manager; some are answered here, without the router.
    func heard(_ request: WireLocationRequest, manager: ManagerNumber, from app: AppID) {
        switch request {
        case .create(let id):
            let status = surroundings.map { translation.status($0.view.locationFacts(of: app)) }
            reply(id, WireReply(location: status), to: app)
        case .allowBackground(let id):
            // An app without the mode is ended while it waits for the answer.
            if surroundings?.view.locationFacts(of: app).mayGoOnInBackground != false {
                reply(id, WireReply(), to: app)
            }
        case .deferUpdates:
            // No phone since iOS 13 holds updates back, and the emulated one never does.
            let failure = WireTranslation.locationFailure(11, "The phone cannot hold updates back.")
            answer(
                .deferredFinished(failure),
                manager: manager,
                to: app,
                named: "didFinishDeferredUpdatesWithError"
            )
            return
        case .disallowDeferred: return
        default: break
        }
        if let asked = translation.location(request) { say(app, .request(.location(manager, asked))) }
    }

    private func answer(_ event: WireLocationEvent, manager: ManagerNumber, to app: AppID, named name: String) {
        send(to: app, owing: .nothing(.none), named: name, decision: .none) { number in
            .deliver(WireDelivery(delivery: number, manager: manager, body: .location(event)))
        }
    }
}
