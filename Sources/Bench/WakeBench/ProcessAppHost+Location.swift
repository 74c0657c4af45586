import WakeModel
import WakePorts
import WakeWire

extension LocationArea {
    static func tell(_ notice: AppNotice, to app: AppID, through host: ProcessAppHost) {
        guard case .locationAuthorization(let manager, let authorization) = notice else { return }
        let event = WireLocationEvent.authorization(
            WireTranslation.authorization(authorization),
            precise: host.knowsPrecisely(app)
        )
        host.tell(.location(event), to: manager, of: app, named: "locationManagerDidChangeAuthorization")
    }

    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent? {
        let seconds = host.surroundings?.wallSeconds ?? 0
        return host.translation.locationEvent(delivery, wallSeconds: seconds, precise: host.knowsPrecisely(app)).map {
            ToldEvent(.location($0), of: delivery)
        }
    }

    static func names(in message: AppMessage) -> [String] {
        switch message {
        case .location(_, .monitor(let region)), .location(_, .range(let region)):
            guard case .beacons(let uuid, _, _) = region.shape else { return [region.identifier] }
            return [region.identifier, uuid]
        case .location(_, .requestState(let region)): return [region]
        default: return []
        }
    }

    static func refuse(_ message: AppMessage, because text: String, to app: AppID, by host: ProcessAppHost) {
        guard case .location(let manager, let request) = message else { return }
        switch request {
        case .monitor(let region): refuseMonitoring(region.identifier)
        case .requestState(let region): refuseMonitoring(region)
        case .range(let region):
            let failure = WireTranslation.locationFailure(LocationFailureCode.rangingUnavailable, text)
            let event = WireLocationEvent.rangingFailed(region.identifier, failure)
            host.tell(.location(event), to: manager, of: app, named: "didFailRangingFor")
        default: break
        }
        func refuseMonitoring(_ region: String) {
            let failure = WireTranslation.locationFailure(LocationFailureCode.regionMonitoringFailure, text)
            let event = WireLocationEvent.monitoringFailed(region, failure)
            host.tell(.location(event), to: manager, of: app, named: "monitoringDidFailFor")
        }
    }

    static func explain(_ cause: LaunchCause, in options: inout LaunchOptions, _ names: NameTable) {
        options.isForLocation = cause.event.kind.source == source
    }
}

/// The location managers of real apps.
extension ProcessAppHost {
    /// Whether an app may know positions precisely (LOC-11).
    fileprivate func knowsPrecisely(_ app: AppID) -> Bool {
        surroundings?.view.knowsPrecisely(app) != false
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
            let event = WireLocationEvent.deferredFinished(failure)
            return tell(.location(event), to: manager, of: app, named: "didFinishDeferredUpdatesWithError")
        case .disallowDeferred: return
        default: break
        }
        if let asked = translation.location(request) { say(app, .request(.location(manager, asked))) }
    }
}
