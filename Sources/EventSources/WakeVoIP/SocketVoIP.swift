import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// Real peers: apps connect to whom they like, and the bench only watches.
package final class SocketVoIP: VoIPPort {
    package let backend = "socket"
    package var report: ((SourceReport) -> Void)?
    /// Says in the records, once, that real peers know nothing of a phone without a network.
    package var note: (String) -> Void = { _ in }
    private var hasNetwork: Bool
    private var isNoted = false

    private let peers: PeerNames
    private let sockets: WatchedSockets

    /// - Parameter servers: The call servers of the scenario and their names, which stand for the real ones.
    /// - Parameter hasNetwork: Whether the phone has a network at the start.
    package init(
        servers: [(name: String, server: CallServer)],
        names: NameTable,
        loop: EventLoop,
        hasNetwork: Bool = true
    ) {
        self.hasNetwork = hasNetwork
        peers = PeerNames(servers.map { ($0.name, $0.server.port) })
        sockets = WatchedSockets(loop: loop, origin: names.intern("socket"))
    }

    package func start(at now: Instant) throws(SourceFailure) {
        sockets.report = { [unowned self] in report?($0) }
    }

    package func peer(of descriptor: Int32) -> String { peers.name(of: descriptor) }

    package func adopt(_ descriptor: Int32, _ socket: SocketNumber, of app: AppID, peer: NameID) -> Bool {
        let isAdopted = sockets.adopt(descriptor, .init(app: app, number: socket), peer: peer)
        noteNetwork()
        return isAdopted
    }

    /// What a real peer says comes over the machine's network, which is there all the same.
    private func noteNetwork() {
        guard !hasNetwork, !isNoted, sockets.count > 0 else { return }
        isNoted = true
        note("voip=socket: the phone has no network, and what real peers say comes all the same")
    }

    package func perform(_ command: VoIPCommand, at now: Instant) {
        switch command {
        case .open: break
        case .close(let app, let socket): sockets.close(.init(app: app, number: socket))
        case .closeAll(let app): sockets.closeAll(of: app)
        case .watch(let app): sockets.watch(app)
        case .rest(let app): sockets.rest(app)
        case .tearDown(let app): sockets.tearDown(app)
        case .network(let isThere, _):
            hasNetwork = isThere
            noteNetwork()
        }
    }

    package func stop() {
        report = nil
        note = { _ in }
        sockets.closeAll()
    }

    /// How many duplicates of apps' sockets there are.
    package var watchedSockets: Int { sockets.count }
}

/// What records call the other end of a socket: the server of the scenario that it stands for, else its address.
struct PeerNames {
    private let servers: [(name: String, port: UInt16)]

    init(_ servers: [(name: String, port: UInt16)]) {
        self.servers = servers
    }

    /// A server of that port; of a scenario with one server that names no port, that one.
    func name(of descriptor: Int32) -> String {
        guard let peer = SocketAddress.peer(descriptor) else { return "unconnected" }
        if let known = servers.first(where: { $0.port != 0 && $0.port == peer.port }) { return known.name }
        if servers.count == 1, servers[0].port == 0, peer.port != nil { return servers[0].name }
        return peer.text
    }
}
