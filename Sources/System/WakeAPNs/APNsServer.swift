import WakeSystem

/// A provider endpoint of APNs on this machine: HTTP/2 over TLS, or without it, on 127.0.0.1 and ::1 alone.
///
/// It checks the form of a push, and that the client is a process of the bench's owner or of root. What becomes of a push is said
/// by the owner of the server, at once or later.
package final class APNsServer {
    /// How clients reach it.
    package enum Security: Equatable, Sendable {
        case tls(TLSIdentity)
        /// HTTP/2 with prior knowledge (RFC 9113, section 3.3). No client shows a certificate.
        case none
    }

    private let loop: EventLoop
    private let desk: APNsDesk
    private let context: TLSContext?
    private var listener: LoopbackListener?
    private var connections: [Int: APNsConnection] = [:]
    private var next = 0

    /// Listens at once.
    ///
    /// - Parameter port: 0 for one of the kernel's choice.
    /// - Throws: ``SystemError`` when the port is taken, ``TLSError`` when the identity is of no use.
    package init(_ desk: APNsDesk, security: Security, port: UInt16, on loop: EventLoop) throws {
        self.loop = loop
        self.desk = desk
        switch security {
        case .tls(let identity): context = try TLSContext(identity)
        case .none: context = nil
        }
        listener = try LoopbackListener(port: port, on: loop) { [unowned self] in accept($0) }
        self.port = listener?.port ?? port
    }

    /// The port that it listens on, or did.
    package private(set) var port: UInt16 = 0

    /// How many connections there are.
    package var connectionCount: Int { connections.count }

    /// Listens no more, and tells clients so; their connections end when what they have begun is answered.
    package func shutDown() {
        listener = nil
        for number in connections.keys.sorted() { connections[number]?.shutDown() }
    }

    /// Ends all at once; what was answered is still sent, as far as the sockets take it.
    package func close() {
        listener = nil
        for number in connections.keys.sorted() { connections[number]?.sayAndClose() }
    }

    private func accept(_ descriptor: consuming Descriptor) {
        let stranger = desk.peers.stranger(at: descriptor.number)
        guard hasPlace(forStranger: stranger != nil) else {
            desk.counts.turnedAway += 1
            return
        }
        let number = next
        next += 1
        do {
            let channel = try context.map { try TLSChannel($0) }
            let connection = try APNsConnection(
                descriptor,
                desk,
                channel: channel,
                stranger: stranger,
                on: loop
            ) { [weak self] in
                self?.connections[number] = nil
            }
            desk.counts.connections += 1
            if !connection.isClosed { connections[number] = connection }
        } catch {
            // For want of memory or of descriptors: the client finds the connection closed.
            desk.counts.turnedAway += 1
        }
    }

    /// Whether there is a place for one connection more. Peers with another uid have a few places of their own, so that they take
    /// none from clients that may push.
    private func hasPlace(forStranger isStranger: Bool) -> Bool {
        let limit = isStranger ? desk.limits.strangers : desk.limits.connections
        let others = connections.filter { $0.value.isStrangers == isStranger }
        guard others.count >= limit else { return true }
        guard let oldest = others.filter({ $0.value.mayGiveWay }).keys.min() else { return false }
        connections[oldest]?.close()
        desk.counts.turnedAway += 1
        return true
    }
}
