import Glibc
import WakeModel
import WakePorts
import WakeProcesses
import WakeSystem
import WakeWire

extension VoIPArea {
    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent? {
        WireTranslation.voipEvent(delivery.event).map { ToldEvent(.voip($0), of: delivery) }
    }
}

/// The calls of real apps.
extension ProcessAppHost {
    /// A request of a VoIP app; whether it is granted is told here, since the app waits for it.
    func heard(_ request: WireVoIPRequest, with descriptors: inout ReceivedDescriptors, from app: AppID) {
        switch request {
        case .watch(let id, let socket): watch(socket, id, with: descriptors.take(), from: app)
        case .setKeepAlive(let id, let period):
            let span = WireTranslation.keepAlivePeriod(period)
            let granted = surroundings?.view.grantsKeepAlive(of: app, period: span) == true
            reply(id, WireReply(granted: granted), to: app)
        case .unwatch, .clearKeepAlive: break
        }
        if let asked = WireTranslation.voip(request) { say(app, .request(.voip(asked))) }
    }

    private func watch(_ socket: SocketNumber, _ id: UInt64, with descriptors: [Int32], from app: AppID) {
        for extra in descriptors.dropFirst() { closeLater(extra) }
        let adopted = adopt(socket, descriptors.first, of: app)
        reply(id, WireReply(granted: adopted.peer != nil), to: app)
        if let peer = adopted.peer {
            say(app, .request(.voip(.watch(socket, peer: peer))))
        } else {
            fault("asks to watch socket \(socket) \(adopted.why)", app)
        }
    }

    /// What the other end of a socket is called that is watched from now on; nil when it is not, and why.
    private func adopt(_ socket: SocketNumber, _ descriptor: Int32?, of app: AppID) -> (peer: NameID?, why: String) {
        guard let descriptor, let voip = surroundings?.view.voip else {
            return (nil, "without its descriptor, or the bench has as many as it may (ulimit -n)")
        }
        // The app chooses whom it connects to: the name of each is one that it brings.
        let word = voip.peer(of: descriptor)
        if let refusal = gate.refusal(of: [word], from: app, into: translation.names) {
            closeLater(descriptor)
            return (nil, "whose peer brings \(refusal)")
        }
        let peer = translation.names.intern(word)
        guard voip.adopt(descriptor, socket, of: app, peer: peer) else {
            return (nil, "that is no stream socket, has a number in use, or is one too many")
        }
        return (peer, "")
    }

    /// Bytes came over a watched socket of an app that runs, which nothing was to be decided about. The app answers when
    /// it has read them, so that virtual time can wait for it.
    func socketHoldsBytes(of app: AppID, socket: SocketNumber) {
        tell(.voip(.data(socket: socket)), to: 0, of: app, named: "stream")
    }
}
