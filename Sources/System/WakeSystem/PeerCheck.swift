import Glibc

/// A peer of a TCP connection of this machine that may not use what listens: its user is neither the owner of the bench nor root.
package enum Stranger: Hashable, Sendable {
    case user(UInt32)
    /// The kernel does not tell the uid of the connection's peer.
    case unknown
}

/// Tells the peers of TCP connections that may use what listens on this machine: processes of the bench's owner and of root.
package struct PeerCheck {
    /// The uid of the owner of the bench.
    package let owner: UInt32
    private let user: (Int32) -> UInt32?
    /// Those of whom a line was said.
    private var told: Set<Stranger> = []
    /// The most of them, as there may be many users.
    private static let mostTold = 8

    /// - Parameters:
    ///   - owner: nil for the user of this process.
    ///   - user: the uid of a connection's peer, by the descriptor of this end; nil for what the kernel says.
    package init(owner: UInt32? = nil, user: ((Int32) -> UInt32?)? = nil) {
        self.owner = owner ?? geteuid()
        self.user = user ?? { TCPEnd.user(connectedTo: $0) }
    }

    /// The peer of a connection where it may not use what listens; nil for one that may.
    package func stranger(at connection: Int32) -> Stranger? {
        guard let user = user(connection) else { return .unknown }
        return user == owner || user == 0 ? nil : .user(user)
    }

    /// What such a peer is told.
    package func refusal(of stranger: Stranger) -> String {
        switch stranger {
        case .user: "this bench is user \(owner)'s, and not yours"
        case .unknown: "this bench is user \(owner)'s, and whose this connection is cannot be found"
        }
    }

    /// What is to be said of a peer that was refused: one line; nil where it was said before, or of enough others.
    ///
    /// - Parameter what: what was refused, such as `APNs: a push`.
    package mutating func line(refusing what: String, of stranger: Stranger) -> String? {
        guard told.count < Self.mostTold, told.insert(stranger).inserted else { return nil }
        return switch stranger {
        case .user(let user): "\(what) of user \(user) was refused, as this bench is user \(owner)'s"
        case .unknown: "\(what) was refused, as whose it was cannot be found, and this bench is user \(owner)'s"
        }
    }
}
