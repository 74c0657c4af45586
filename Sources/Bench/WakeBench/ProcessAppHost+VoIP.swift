import Glibc
import WakeModel
import WakeProcesses
import WakeSystem
import WakeWire

/// The calls of real apps.
extension ProcessAppHost {
    /// A request of a VoIP app; whether it is granted is told here, since the app waits for it.
    func heard(_ request: WireVoIPRequest, with descriptors: inout ReceivedDescriptors, from app: AppID) {
        switch request {
        case .watch(let id, let socket): watch(socket, id, with: descriptors.take(), from: app)
        case .setKeepAlive(let id, let period):
            let span = WireTranslation.keepAlivePeriod(period)
            let granted = surroundings?.grantsKeepAlive(of: app, period: span) == true
            reply(id, WireReply(granted: granted), to: app)
        case .unwatch, .clearKeepAlive: break
        }
        if let asked = WireTranslation.voip(request) { say(app, .request(.voip(asked))) }
    }

    private func watch(_ socket: SocketNumber, _ id: UInt64, with descriptors: [Int32], from app: AppID) {
        for extra in descriptors.dropFirst() { closeLater(extra) }
        let peer = descriptors.first.flatMap { surroundings?.voip.adopt($0, socket, of: app) }
        reply(id, WireReply(granted: peer != nil), to: app)
        guard let peer else {
            let why =
                descriptors.isEmpty
                ? "without its descriptor, or the bench has as many as it may (ulimit -n)"
                : "that is no stream socket, has a number in use, or is one too many"
            fault("asks to watch socket \(socket) \(why)", app)
            return
        }
        say(app, .request(.voip(.watch(socket, peer: peer))))
    }

    /// Bytes came over a watched socket of an app that runs, which nothing was to be decided about. The app answers when
    /// it has read them, so that virtual time can wait for it.
    func socketHoldsBytes(of app: AppID, socket: SocketNumber) {
        send(to: app, owing: .nothing(.none), named: "stream", decision: .none) { number in
            .deliver(WireDelivery(delivery: number, manager: 0, body: .voip(.data(socket: socket))))
        }
    }
}

extension WireDeliveryBody {
    /// Whether it is for what an app makes while it launches. Otherwise what the app does at the first word would come
    /// before or after its launch, by chance.
    var waitsForLaunch: Bool {
        switch self {
        case .location, .voip: true
        default: false
        }
    }
}
