import CWakeShims
import Glibc
import WakeModel
import WakePorts
import WakeSystem

/// Duplicates of the sockets that apps marked, which it looks at while an app is suspended and cannot look itself
/// (VOIP-1).
///
/// It takes nothing: what arrives stays in the socket, for the app, and its first bytes are told. A socket at rest costs
/// nothing, since only the kernel waits on it.
final class WatchedSockets {
    /// A socket, and whose.
    struct Owner: Hashable, Comparable {
        var app: AppID
        var number: SocketNumber

        static func < (left: Owner, right: Owner) -> Bool {
            (left.app, left.number) < (right.app, right.number)
        }
    }

    /// What there is on a socket that nobody has read.
    enum Finding {
        case data
        /// The other end writes no more.
        case end
        case failure
    }

    /// A duplicate.
    final class Socket {
        let owner: Owner
        let descriptor: Int32
        let peer: NameID
        /// Its own end, to find the connection that it belongs to.
        let end: SocketAddress?
        fileprivate var watch: Watch?
        /// It was said that something is there, since the app was suspended.
        fileprivate(set) var told = false
        /// Its connection was ended while the app was suspended.
        fileprivate(set) var isTornDown = false

        fileprivate init(_ owner: Owner, _ descriptor: Int32, peer: NameID) {
            self.owner = owner
            self.descriptor = descriptor
            self.peer = peer
            end = .own(descriptor)
        }

        deinit {
            watch?.cancel()
            // The app may have asked for a close that waits until all is sent.
            closeLater(descriptor)
        }

        /// Whether there is nothing to read.
        var isEmpty: Bool { wake_readable_bytes(descriptor) <= 0 }

        /// Whether one end or both write no more, or it cannot be told.
        var isEnded: Bool {
            var counts = wake_tcp_counts()
            return unsafe wake_tcp_counts(descriptor, &counts) != 0 || counts.is_whole == 0
        }

        /// POLLRDHUP of poll(2), which Glibc hides from Swift.
        private static let peerClosed: Int16 = 0x2000

        /// What there is now; nil for nothing.
        fileprivate var finding: Finding? {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN) | Self.peerClosed, revents: 0)
            guard unsafe poll(&entry, 1, 0) > 0 else { return nil }
            // Asking the socket for its error would take it from the app.
            if entry.revents & Int16(POLLERR) != 0 { return .failure }
            return wake_readable_bytes(descriptor) > 0 ? .data : .end
        }
    }

    private let loop: EventLoop
    private let origin: NameID
    /// Where findings go.
    var report: ((SourceReport) -> Void)?
    private var sockets: [AppID: [SocketNumber: Socket]] = [:]
    private var ends: [SocketAddress: Owner] = [:]
    private var suspended: Set<AppID> = []

    init(loop: EventLoop, origin: NameID) {
        self.loop = loop
        self.origin = origin
    }

    /// Takes a descriptor over, and closes it when it is none to watch.
    ///
    /// - Returns: whether it is a connected stream socket with a number of its own, and not one too many.
    func adopt(_ descriptor: Int32, _ owner: Owner, peer: NameID) -> Bool {
        let known = sockets[owner.app, default: [:]]
        guard Self.isStream(descriptor), known[owner.number] == nil, known.count < VoIPRequest.socketsLimit else {
            closeLater(descriptor)
            return false
        }
        let socket = Socket(owner, descriptor, peer: peer)
        sockets[owner.app, default: [:]][owner.number] = socket
        if let end = socket.end { ends[end] = owner }
        return true
    }

    /// How many descriptors it holds.
    var count: Int { sockets.values.reduce(0) { $0 + $1.count } }

    /// The duplicate of a socket; nil for one of an app without a process.
    func socket(_ owner: Owner) -> Socket? { sockets[owner.app]?[owner.number] }

    /// The duplicate of the socket that has this end of a connection.
    func socket(at end: SocketAddress) -> Socket? { ends[end].flatMap { socket($0) } }

    /// An app's, in the order of their numbers.
    private func all(of app: AppID) -> [Socket] {
        (sockets[app] ?? [:]).values.sorted { $0.owner < $1.owner }
    }

    func isSuspended(_ app: AppID) -> Bool { suspended.contains(app) }

    func close(_ owner: Owner) {
        if let socket = sockets[owner.app]?.removeValue(forKey: owner.number) { forget(socket) }
    }

    func closeAll(of app: AppID) {
        for socket in (sockets.removeValue(forKey: app) ?? [:]).values { forget(socket) }
        suspended.remove(app)
    }

    func closeAll() {
        sockets.removeAll()
        ends.removeAll()
        suspended.removeAll()
    }

    private func forget(_ socket: Socket) {
        socket.watch = nil
        if let end = socket.end, ends[end] == socket.owner { ends[end] = nil }
    }

    /// The app is suspended: what there is already is told at once.
    func watch(_ app: AppID) {
        suspended.insert(app)
        for socket in all(of: app) {
            socket.told = false
            if look(at: socket) { continue }
            // Without a watch the socket would never wake its app; the next suspension tries again.
            socket.watch = try? loop.watch(socket.descriptor, for: [.readable, .peerClosed]) {
                [unowned self, unowned socket] _ in
                look(at: socket)
            }
        }
    }

    /// The app can look itself.
    func rest(_ app: AppID) {
        suspended.remove(app)
        for socket in all(of: app) { socket.watch = nil }
    }

    /// The sockets of an app whose connections were ended, in order.
    func tornDown(of app: AppID) -> [SocketNumber] {
        all(of: app).filter(\.isTornDown).map(\.owner.number)
    }

    /// Ends the app's connections, of which nothing is told any more.
    func tearDown(_ app: AppID) {
        for socket in all(of: app) {
            socket.told = true
            socket.isTornDown = true
            socket.watch = nil
            _ = shutdown(socket.descriptor, Int32(SHUT_RDWR))
        }
    }

    /// Looks at a socket of a suspended app, until something was found and told.
    @discardableResult
    func look(at socket: Socket) -> Bool {
        guard suspended.contains(socket.owner.app), !socket.told, let finding = socket.finding else { return false }
        socket.told = true
        socket.watch = nil
        tell(finding, at: socket)
        return true
    }

    private func tell(_ finding: Finding, at socket: Socket) {
        let event = WakeEvent(
            kind: finding == .data ? .voipData : .voipClosed,
            local: socket.owner.number,
            subject: socket.peer,
            failed: finding == .failure,
            app: socket.owner.app,
            origin: origin
        )
        let unread = finding == .data ? UnreadBytes.peek(at: socket.descriptor) : []
        report?(SourceReport(event, unread.isEmpty ? .none : .value(unread)))
    }

    private static func isStream(_ descriptor: Int32) -> Bool {
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0
            && type == Int32(SOCK_STREAM.rawValue)
    }
}
