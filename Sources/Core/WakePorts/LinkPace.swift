import WakeModel

/// How fast a simulated link carries what is written without end: a burst goes at once, what exceeds it at the link's rate.
///
/// Without it an app that writes whenever there is room would write for ever in one instant of virtual time.
package struct LinkPace: Hashable, Sendable {
    /// In bytes; what an app writes now and then is never held up.
    private let burst: Int
    /// In bytes a second.
    private let rate: Int
    /// What it has taken.
    package var standing = Standing()

    /// What a link has taken and not carried.
    package struct Standing: Hashable, Codable, Sendable {
        /// When all that was taken will have been carried.
        fileprivate var idleAt = Instant.zero
        fileprivate var nextRoom: Instant?
    }

    private var idleAt: Instant {
        get { standing.idleAt }
        set { standing.idleAt = newValue }
    }

    /// When something is taken again; nil while there is room.
    package private(set) var nextRoom: Instant? {
        get { standing.nextRoom }
        set { standing.nextRoom = newValue }
    }

    /// - Parameters:
    ///   - rate: what the link carries, in bytes a second; at least 1.
    ///   - burst: what it takes at once, in bytes; at least 4.
    package init(rate: Int, burst: Int = 65_536) {
        self.rate = rate
        self.burst = burst
    }

    /// How many bytes the link takes at `now`.
    package mutating func room(at now: Instant) -> Int {
        if let nextRoom, now < nextRoom { return 0 }
        nextRoom = nil
        return free(at: now)
    }

    /// So many bytes were taken, not more than there was room for. Once it is full, nothing is taken before a quarter of the
    /// burst has been carried.
    package mutating func took(_ count: Int, at now: Instant) {
        idleAt = max(idleAt, now).advanced(by: span(of: count))
        if free(at: now) == 0 { nextRoom = idleAt.advanced(by: Instant.Span.zero - span(of: burst - burst / 4)) }
    }

    private func free(at now: Instant) -> Int {
        guard idleAt > now else { return burst }
        return max(0, burst - Int(idleAt.since(now).nanoseconds) * rate / 1_000_000_000)
    }

    /// How long the link takes for so many bytes, rounded up.
    private func span(of count: Int) -> Instant.Span {
        Instant.Span(nanoseconds: (Int64(count) * 1_000_000_000 + Int64(rate) - 1) / Int64(rate))
    }
}
