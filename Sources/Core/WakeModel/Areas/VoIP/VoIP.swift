/// An app's own number for a socket that it marked for VoIP: minted by the SDK, unique in its process, not 0.
package typealias SocketNumber = UInt32

/// What an app asks of the system for its calls.
package enum VoIPRequest: Hashable, Codable, Sendable {
    /// Watch a socket while the app is suspended (VOIP-1). `peer` is what records call its other end.
    case watch(SocketNumber, peer: NameID)
    /// Watch it no more.
    case unwatch(SocketNumber)
    /// Call the app's handler once in each period (VOIP-3).
    case setKeepAlive(period: Instant.Span)
    case clearKeepAlive

    /// The most sockets of one app that are watched; iOS publishes no limit, so the number is the bench's own.
    package static let socketsLimit = 1_024
}

/// What the router asks of the watch over VoIP sockets.
package enum VoIPCommand: Hashable, Sendable {
    /// The app's socket is one to watch from now on.
    case open(AppID, SocketNumber, peer: NameID)
    /// The socket is none to watch any more.
    case close(AppID, SocketNumber)
    /// The app's process is gone, with all its sockets.
    case closeAll(AppID)
    /// The app is suspended: the first byte, end or error of each socket is an event.
    case watch(AppID)
    /// The app can look itself.
    case rest(AppID)
    /// The connections of the suspended app end; it finds that out when it runs (RESP-3).
    case tearDown(AppID)
    /// The phone's network is there again, or gone: what a peer says waits for it (VOIP-7).
    ///
    /// - Parameter timeout: after how long a connection on which something waits has failed; nil for never.
    case network(isThere: Bool, timeout: Instant.Span?)
}

/// What the number of an event stands for.
extension WakeEvent {
    /// The socket that has bytes, or was closed by its peer.
    @inlinable
    package var socket: SocketNumber { local }
}

/// The kinds of its events, each by its row of Tables/events.tsv.
extension EventKind {
    @inlinable package static var voipData: EventKind { EventKind(row: 62) }
    @inlinable package static var voipClosed: EventKind { EventKind(row: 63) }
    @inlinable package static var voipKeepAlive: EventKind { EventKind(row: 64) }
    @inlinable package static var voipAfterBoot: EventKind { EventKind(row: 65) }
    @inlinable package static var voipAfterExit: EventKind { EventKind(row: 66) }
}

extension Action {
    package static func voip(_ command: VoIPCommand) -> Action { .command(.voip(command)) }
}
