import WakeModel

/// What the system keeps of an app's calls (VOIP-1 to VOIP-6).
struct VoIPRecord: Equatable, Codable {
    /// A socket that the present process marked.
    struct Socket: Equatable, Codable {
        var number: SocketNumber
        var peer: NameID
        var since: Instant
        /// Its connection is over: nothing comes on it any more, until the app lets go of it.
        var isEnded = false
    }

    /// The keep-alive handler of the present process (VOIP-3).
    struct KeepAlive: Equatable, Codable {
        var period: Instant.Span
        var since: Instant
        /// When the handler is called next.
        var due: Instant
    }

    /// In order of their marking.
    var sockets: [Socket] = []
    var keepAlive: KeepAlive?
    /// When the connections of the suspended app end; nil while they last (RESP-3).
    var tearDown: Instant?
    /// When the app was woken, oldest first, as far back as VOIP-6 looks.
    var wakes: [Instant] = []

    /// The earliest instant at which something is due.
    var due: Instant { min(keepAlive?.due ?? .distantFuture, tearDown ?? .distantFuture) }

    /// How many wakes there were within the window before `now`.
    func wakes(before now: Instant, within window: Instant.Span) -> UInt32 {
        UInt32(wakes.count { now.since($0) < window })
    }
}
