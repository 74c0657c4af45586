import WakeDevices
import WakeModel
import WakePorts

/// The pushes of scripted apps.
extension PushArea {
    /// Asks for the device tokens that the script wants.
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        guard let use = host.apps[app]?.script.push else { return }
        if use.registers { host.request(.push(.register), from: app) }
        if use.registersCalls { host.request(.push(.registerCalls), from: app) }
    }

    /// Answers a push, as the script says.
    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {
        guard let use = host.apps[app]?.script.push, let now = host.view?.bench.now else { return }
        let number = delivery.event.pushNumber
        var requests: [PushRequest] = []
        var reports = false
        if delivery.event.kind == .callPushReceived {
            host.apps[app]!.callPushes += 1
            reports = use.reported.map { $0.contains(host.apps[app]!.callPushes) } ?? use.reportsCalls
            if reports { requests.append(.reportCall) }
            if use.returns { requests.append(.callHandled(number)) }
        } else if let result = use.completion {
            requests.append(.fetched(number, result))
        }
        for request in requests {
            if use.work > .zero {
                host.request(.push(request), from: app, at: now.advanced(by: use.work))
            } else {
                host.request(.push(request), from: app)
            }
        }
        // A call that is over at once is over after its report.
        if reports { host.endCall(of: app, at: now.advanced(by: use.work).advanced(by: use.call ?? .zero)) }
    }
}
