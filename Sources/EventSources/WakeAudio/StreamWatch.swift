import WakeModel

/// Counts what a stream lacks, and says so at edges only: silence when it has lasted for longer than the limit, late
/// buffers at most once a second.
package struct StreamWatch {
    /// The least time between two reports of late buffers.
    package static let reportInterval = Instant.Span.seconds(1)

    /// What there is to say.
    package enum Edge: Equatable, Sendable {
        case silent
        case audible
        /// So many buffers since the last report.
        case ranDry(UInt32)
    }

    /// Nil for ever.
    package var silenceLimit: Instant.Span?
    private var silentSince: Instant?
    private var isSilent = false
    private var late: UInt32 = 0
    private var reportedAt: Instant?

    package init(silenceLimit: Instant.Span?) {
        self.silenceLimit = silenceLimit
    }

    /// A buffer that began at an instant was silent, or not.
    package mutating func buffer(silent: Bool, at instant: Instant) {
        if !silent {
            silentSince = nil
        } else if silentSince == nil {
            silentSince = instant
        }
    }

    /// So many buffers came late.
    package mutating func ranDry(_ buffers: UInt32) {
        late = late.addingReportingOverflow(buffers).overflow ? .max : late + buffers
    }

    /// The stream begins, or goes on: what was before does not count.
    package mutating func begin() {
        silentSince = nil
        isSilent = false
    }

    /// When there will be something to say if nothing changes; nil for never.
    package var nextDeadline: Instant? {
        var due: Instant?
        if let silentSince, let silenceLimit, !isSilent { due = silentSince.advanced(by: silenceLimit) }
        if silentSince == nil, isSilent { due = .zero }
        guard late > 0 else { return due }
        let report = reportedAt?.advanced(by: Self.reportInterval) ?? .zero
        return due.map { min($0, report) } ?? report
    }

    /// What there is to say at an instant.
    package mutating func edges(at now: Instant) -> [Edge] {
        var edges: [Edge] = []
        if let silentSince, let silenceLimit, !isSilent, now >= silentSince.advanced(by: silenceLimit) {
            isSilent = true
            edges.append(.silent)
        } else if silentSince == nil, isSilent {
            isSilent = false
            edges.append(.audible)
        }
        if late > 0, reportedAt.map({ now >= $0.advanced(by: Self.reportInterval) }) ?? true {
            edges.append(.ranDry(late))
            late = 0
            reportedAt = now
        }
        return edges
    }
}
