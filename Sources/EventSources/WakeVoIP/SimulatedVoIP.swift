import CWakeShims
import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// Scripted peers: call servers on this machine's loopback interface that real apps truly connect to, and that scripted
/// apps have without a socket.
///
/// The servers act in virtual time: what one says at an instant is there for the app, and seen by the watch, before the
/// instant's turn is over. An app that runs is told of it through ``tellRunning``, so that the bench can wait for its
/// answer. That holds for sockets that the app marked, since only of those both ends are known; time may run ahead of
/// others.
package final class SimulatedVoIP: VoIPPort {
    package let backend = "simulated"
    package var report: ((SourceReport) -> Void)?
    /// Hears of a running app's socket on which something came, each time.
    package var tellRunning: ((AppID, SocketNumber) -> Void)?
    /// Says in the records that another user's connection was refused.
    package var note: (String) -> Void = { _ in }
    /// Only processes of the owner of the bench and of root may connect.
    package var peers = PeerCheck()

    private struct Server {
        var name: String
        var description: CallServer
        var listener: Int32 = -1
        var port: UInt16
        var watch: Watch?
    }

    private let names: NameTable
    private let origin: NameID
    private let loop: EventLoop
    private let seed: UInt64
    private let listens: Bool
    private var servers: [Server]
    private var connections: [CallConnection] = []
    /// The highest number of a connection that has ended and counts.
    private var counted: UInt64 = 0
    private let sockets: WatchedSockets
    /// The scripted apps' sockets that their suspended app was told of.
    private var told: Set<WatchedSockets.Owner> = []
    /// The scripted apps' sockets whose end their app was not told of yet: by which server, and whether the connection failed.
    private var ended: [WatchedSockets.Owner: (server: Int, failed: Bool)] = [:]
    /// The apps' sockets whose server has closed, until they have come to the end.
    private var trailing: Set<WatchedSockets.Owner> = []
    private var now = Instant.zero
    /// Whether the phone has a network: without one nothing of a server comes to it, and nothing of it to a server (VOIP-7).
    package private(set) var hasNetwork: Bool

    /// The most connections that all servers together have; further ones wait to be accepted.
    package static let connectionsLimit = 4_096
    /// The most connections of a server that are refused in a turn.
    private static let mostRefused = 16
    /// How long what was sent may take to the other end of this machine before the run goes on without it, in
    /// milliseconds.
    private static let arrivalLimit: Int32 = 2_000

    /// - Parameter listens: Whether there are apps that can connect.
    /// - Parameter hasNetwork: Whether the phone has a network at the start.
    package init(
        servers: [(name: String, server: CallServer)],
        names: NameTable,
        seed: UInt64,
        loop: EventLoop,
        listens: Bool,
        hasNetwork: Bool = true
    ) {
        self.names = names
        self.seed = seed
        self.loop = loop
        self.listens = listens
        self.hasNetwork = hasNetwork
        origin = names.intern("call")
        self.servers = servers.map { Server(name: $0.name, description: $0.server, port: $0.server.port) }
        sockets = WatchedSockets(loop: loop, origin: origin)
    }

    deinit { for server in servers where server.listener >= 0 { close(server.listener) } }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {
        sockets.report = { [unowned self] in report?($0) }
        guard listens else { return }
        for place in servers.indices {
            do {
                try listen(place)
            } catch {
                throw SourceFailure(
                    .environment,
                    "\(servers[place].description.file): \(servers[place].name) cannot listen on port "
                        + "\(servers[place].port): \(error.description)"
                )
            }
        }
    }

    /// What apps find in their environment: `VOIP_SERVER` is the first server, and `VOIP_SERVER_NAME` the one of that
    /// name, each as `127.0.0.1:PORT`.
    package var environment: [String] {
        var variables: [String] = []
        for server in servers where server.listener >= 0 {
            let word = server.name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
            variables.append("VOIP_SERVER_\(String(word))=127.0.0.1:\(server.port)")
        }
        if let first = servers.first, first.listener >= 0 {
            variables.append("VOIP_SERVER=127.0.0.1:\(first.port)")
        }
        return variables
    }

    package func peer(of descriptor: Int32) -> String {
        PeerNames(servers.filter { $0.listener >= 0 }.map { ($0.name, $0.port) }).name(of: descriptor)
    }

    package func adopt(_ descriptor: Int32, _ socket: SocketNumber, of app: AppID, peer: NameID) -> Bool {
        sockets.adopt(descriptor, .init(app: app, number: socket), peer: peer)
    }

    package func perform(_ command: VoIPCommand, at now: Instant) {
        self.now = max(self.now, now)
        switch command {
        case .open(let app, let socket, let peer): open(.init(app: app, number: socket), peer: peer)
        case .close(let app, let socket):
            let owner = WatchedSockets.Owner(app: app, number: socket)
            sockets.close(owner)
            trailing.remove(owner)
            ended[owner] = nil
            connections.removeAll { $0.scripted == owner }
        case .closeAll(let app):
            sockets.closeAll(of: app)
            trailing = trailing.filter { $0.app != app }
            ended = ended.filter { $0.key.app != app }
            connections.removeAll { $0.scripted?.app == app }
        case .watch(let app):
            told = told.filter { $0.app != app }
            sockets.watch(app)
            let own = ended.filter { $0.key.app == app }.sorted { $0.key < $1.key }
            for (owner, end) in own where told.insert(owner).inserted { tell(owner, of: end.server) }
        case .rest(let app):
            sockets.rest(app)
            for socket in sockets.tornDown(of: app) { tellRunning?(app, socket) }
        case .tearDown(let app):
            sockets.tearDown(app)
            ended = ended.filter { $0.key.app != app }
            connections.removeAll { $0.scripted?.app == app }
        case .network(let isThere, let timeout): setNetwork(isThere, timeout: timeout)
        }
    }

    private func setNetwork(_ isThere: Bool, timeout: Instant.Span?) {
        guard isThere != hasNetwork else { return }
        hasNetwork = isThere
        for connection in connections {
            if isThere {
                settle(connection, connection.rejoin(timeout: timeout, at: now))
            } else {
                connection.cut(at: now)
            }
        }
        dropEnded()
        look(at: now)
    }

    /// A scripted app's socket is a connection by itself; a real one's was made by the app.
    private func open(_ owner: WatchedSockets.Owner, peer: NameID) {
        guard sockets.socket(owner) == nil, let place = servers.firstIndex(where: { names.intern($0.name) == peer })
        else { return }
        counted = nextNumber()
        add(
            CallConnection(
                counted,
                server: place,
                servers[place].description,
                descriptor: -1,
                scripted: owner,
                isCut: !hasNetwork,
                seed: seed
            )
        )
    }

    package var nextDeadline: Instant? {
        connections.reduce(nil) { .earliest($0, .earliest($1.due, $1.roomDue)) }
    }

    package func timeReached(_ now: Instant) {
        while let due = nextDeadline, due <= now {
            self.now = max(self.now, due)
            for connection in connections {
                let hasRoom = connection.roomDue.map { $0 <= due } ?? false
                let wasRead = hasRoom && connection.read(at: due)
                if wasRead || connection.due == due { settle(connection, connection.answer(at: due)) }
            }
            dropEnded()
        }
        self.now = max(self.now, now)
    }

    package func stop() {
        report = nil
        tellRunning = nil
        note = { _ in }
        connections.removeAll()
        sockets.closeAll()
        for place in servers.indices where servers[place].listener >= 0 {
            servers[place].watch = nil
            close(servers[place].listener)
            servers[place].listener = -1
        }
    }

    /// What a snapshot holds of it: connections end with the processes that have them.
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var latest = nextNumber() - 1
        try coder.code(&latest)
        if coder.isReading { counted = latest }
        try coder.code(&hasNetwork)
    }

    /// How many duplicates of apps' sockets there are.
    package var watchedSockets: Int { sockets.count }

    // MARK: Verbs

    /// A server does something on each connection that it has.
    ///
    /// - Returns: the apps that nothing tells of it, in order: suspended ones that were told already that something is there; nil
    ///   where it has no connection. Without a network it waits on all of them.
    @discardableResult
    package func simulate(_ step: CallServer.Step, device: String, at now: Instant) throws(SourceFailure) -> [AppID]? {
        guard let place = servers.firstIndex(where: { $0.name == device }) else {
            throw SourceFailure(.unknown, "\(device): is no call server")
        }
        look(at: now)
        let own = connections.filter { $0.server == place }
        var untold: Set<AppID> = []
        for connection in own {
            let owner = connection.scripted ?? duplicate(of: connection)?.owner
            let outcome = connection.carryOut(step, at: now)
            switch outcome {
            case .nothing: break
            case .said, .ended: if let owner, wasTold(owner) { untold.insert(owner.app) }
            }
            settle(connection, outcome)
        }
        dropEnded()
        return own.isEmpty ? nil : untold.sorted()
    }

    /// Whether the app of a socket was told that something is there, since it was suspended.
    private func wasTold(_ owner: WatchedSockets.Owner) -> Bool {
        guard sockets.isSuspended(owner.app) else { return false }
        return told.contains(owner) || sockets.socket(owner)?.told == true
    }

    /// A fault of a server happens on each connection that it has.
    ///
    /// - Returns: as ``simulate(_:device:at:)``.
    @discardableResult
    package func arm(fault: String, device: String, at now: Instant) throws(SourceFailure) -> [AppID]? {
        let known = servers.first { $0.name == device }?.description.faults.first { $0.name == fault }
        guard let known else { throw SourceFailure(.unknown, "\(device): has no fault '\(fault)'") }
        return try simulate(known.effect, device: device, at: now)
    }

    // MARK: Sockets

    private func listen(_ place: Int) throws(SystemError) {
        let number = try listenOnLoopback(port: servers[place].port, backlog: 1_024).release()
        servers[place].listener = number
        servers[place].port = SocketAddress.own(number)?.port ?? servers[place].port
        servers[place].watch = try loop.watch(number, for: .readable) { [unowned self] _ in look(at: now) }
    }

    private func accept() {
        for place in servers.indices where servers[place].listener >= 0 {
            var refused = 0
            while connections.count < Self.connectionsLimit, refused < Self.mostRefused {
                let number = repeatingInterrupted { wake_accept(servers[place].listener) }
                guard number >= 0 else { break }
                if let stranger = peers.stranger(at: number) {
                    // It may be an app's that has been closed already: nothing is said of it, as nobody is there to hear.
                    let isGone = stranger == .unknown && wake_is_hung_up(number) != 0
                    close(number)
                    refused += 1
                    let what = "\(servers[place].name): a connection"
                    if !isGone, let line = peers.line(refusing: what, of: stranger) { note(line) }
                    continue
                }
                var on: Int32 = 1
                _ = unsafe setsockopt(
                    number,
                    Int32(IPPROTO_TCP),
                    TCP_NODELAY,
                    &on,
                    socklen_t(MemoryLayout<Int32>.size)
                )
                let connection = CallConnection(
                    nextNumber(),
                    server: place,
                    servers[place].description,
                    descriptor: number,
                    isCut: !hasNetwork,
                    seed: seed
                )
                connection.watch = try? loop.watch(number, for: [.readable, .writable, .edge]) { [unowned self] _ in
                    look(at: now)
                }
                add(connection)
            }
        }
    }

    /// Whether an app has closed its end, and no process has it any more.
    private func isGone(_ connection: CallConnection) -> Bool {
        wake_is_hung_up(connection.descriptor) != 0 && peers.stranger(at: connection.descriptor) == .unknown
    }

    /// Each connection has bytes of its own, by the seed of the run and the order in which they came. One that its app closes
    /// before it has read what it was sent, or that is sent nothing, does not count: whether it is found open is left to chance,
    /// on which no run may depend.
    private func nextNumber() -> UInt64 {
        let latest = connections.last { !$0.isReset && !($0.sent == 0 && isGone($0)) }
        return max(counted, latest?.number ?? 0) + 1
    }

    private func add(_ connection: CallConnection) {
        connections.append(connection)
        settle(connection, connection.advance(at: now))
    }

    // MARK: Turns

    /// Takes what apps have said, and answers it; to be called in each turn.
    package func look(at now: Instant) {
        self.now = max(self.now, now)
        guard listens, !servers.isEmpty else { return }
        accept()
        for connection in connections where connection.descriptor >= 0 {
            var wasRead = connection.read(at: self.now)
            if let app = duplicate(of: connection) {
                if comesOn(connection, to: app) { tell(app) }
                // On its way through this machine.
                while connection.missing(from: app.descriptor) > 0 {
                    connection.acknowledge()
                    wait(for: connection.descriptor)
                    guard connection.read(at: self.now) else { break }
                    wasRead = true
                }
            }
            if wasRead || connection.isFull { settle(connection, connection.answer(at: now)) }
            if connection.isRead, isGone(connection) { connection.leave() }
        }
        dropEnded()
        followTrailing()
    }

    /// Lets the app know what the server did: the watch of a suspended one, or the bench, which waits for a running one.
    private func settle(_ connection: CallConnection, _ outcome: CallConnection.Outcome) {
        switch outcome {
        case .nothing: return
        case .said, .ended: break
        }
        if let owner = connection.scripted {
            let said = connection.takeSaid()
            if case .ended(let failed) = outcome { ended[owner] = (server: connection.server, failed: failed) }
            guard sockets.isSuspended(owner.app), told.insert(owner).inserted else { return }
            tell(owner, of: connection.server, said)
            return
        }
        guard let app = duplicate(of: connection) else {
            if connection.isOver { connection.end() }
            return
        }
        wait(for: app.descriptor) { connection.hasArrived(at: app.descriptor) }
        if connection.isOver { connection.end() }
        if case .ended(let failed) = outcome {
            wait(for: app.descriptor) { app.isEnded || !failed && !connection.hasCome(to: app.descriptor) }
            if !app.isEnded { trailing.insert(app.owner) }
        }
        tell(app)
    }

    /// Tells a suspended scripted app of the end of its socket, or of what came.
    private func tell(_ owner: WatchedSockets.Owner, of server: Int, _ said: [UInt8] = []) {
        let end = ended.removeValue(forKey: owner)
        let event = WakeEvent(
            kind: end == nil ? .voipData : .voipClosed,
            local: owner.number,
            subject: names.intern(servers[server].name),
            failed: end?.failed ?? false,
            app: owner.app,
            origin: origin
        )
        report?(SourceReport(event, end != nil || said.isEmpty ? .none : .value(said)))
    }

    private func tell(_ app: WatchedSockets.Socket) {
        if sockets.isSuspended(app.owner.app) {
            sockets.look(at: app)
        } else {
            tellRunning?(app.owner.app, app.owner.number)
        }
    }

    /// An app that has read all has room again: waits for what the server had sent before, and until the server can go on.
    /// Otherwise time would run ahead of them.
    ///
    /// - Returns: whether something came that the app is to be told of.
    private func comesOn(_ connection: CallConnection, to app: WatchedSockets.Socket) -> Bool {
        guard !connection.hasCome(to: app.descriptor) || connection.isFull, app.isEmpty else { return false }
        wait(for: app.descriptor) { connection.hasCome(to: app.descriptor) || !app.isEmpty }
        guard app.isEmpty else { return true }
        if connection.isFull { wait(for: connection.descriptor, to: POLLOUT) }
        return false
    }

    /// What a server sent before it closed comes as the app makes room, and then the end.
    private func followTrailing() {
        for owner in trailing.sorted() {
            guard let app = sockets.socket(owner) else {
                trailing.remove(owner)
                continue
            }
            guard app.isEmpty else { continue }
            wait(for: app.descriptor) { !app.isEmpty || app.isEnded }
            if app.isEnded { trailing.remove(owner) }
            tell(app)
        }
    }

    private func duplicate(of connection: CallConnection) -> WatchedSockets.Socket? {
        guard let end = connection.appEnd else { return nil }
        return sockets.socket(at: end)
    }

    /// Waits until a descriptor is ready, as long as a packet may take through this machine.
    private func wait(for descriptor: Int32, to event: Int32 = POLLIN, at most: Int32 = SimulatedVoIP.arrivalLimit) {
        var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        _ = repeatingInterrupted { unsafe poll(&entry, 1, most) }
    }

    /// The same with what the app may read before it is seen here.
    private func wait(for descriptor: Int32, until isDone: () -> Bool) {
        let deadline = MonotonicClock.now() + Int64(Self.arrivalLimit) * 1_000_000
        while !isDone(), MonotonicClock.now() < deadline { wait(for: descriptor, at: 1) }
    }

    private func dropEnded() {
        guard connections.contains(where: \.isOver) else { return }
        for connection in connections where connection.isOver {
            connection.end()
            if connection.sent > 0, !connection.isReset { counted = max(counted, connection.number) }
        }
        connections.removeAll(where: \.isOver)
    }
}
