/// What a profile has of background transfers.
package struct TransferFigures: Hashable, Codable, Sendable {
    /// Whether there are background sessions (XFER-1).
    package var sessions: Bool
    /// Whether there are Newsstand's downloads (NEWS-2).
    package var newsstand: Bool
    /// The time of a wake, and of its completion handler (XFER-10); Apple publishes none.
    package var window = Instant.Span.seconds(30)
    /// What a process ends with whose completion handler does not come; nil where it is only suspended (XFER-10).
    package var terminationCode: Int64?
    /// Whether what is created in the background waits like a discretionary transfer (XFER-6).
    package var backgroundIsDiscretionary = true
    /// Whether earliestBeginDate counts (XFER-7).
    package var beginDates: Bool
    package var requestTimeout = Instant.Span.seconds(60)
    package var resourceTimeout = Instant.Span.seconds(7 * 24 * 3_600)
    /// The wait after an interruption; Apple publishes none (XFER-7).
    package var retryDelay = Instant.Span.seconds(5)
    /// The first wait of the resume rate limiter, which doubles from there (XFER-8).
    package var resumeDelay = Instant.Span.seconds(60)

    init(ios version: Int) {
        sessions = version >= 7
        newsstand = (5...12).contains(version)
        terminationCode = version >= 13 ? TerminationCode.backgroundSession : nil
        beginDates = version >= 11
    }

    static let settings: [ProfileSetting] = [
        .init("transfer.newsstand", \.areas.transfer.newsstand, .news2, "Newsstand's downloads are there"),
        .init("transfer.sessions", \.areas.transfer.sessions, .xfer1, "background sessions are there"),
        .init(
            "transfer.backgroundIsDiscretionary",
            \.areas.transfer.backgroundIsDiscretionary,
            .xfer6,
            "what is created in the background waits like a discretionary transfer"
        ),
        .init("transfer.beginDates", \.areas.transfer.beginDates, .xfer7, "earliestBeginDate counts"),
        .init(
            "transfer.requestTimeout",
            \.areas.transfer.requestTimeout,
            .xfer7,
            "how long a request may stand still before it is tried again"
        ),
        .init(
            "transfer.resourceTimeout",
            \.areas.transfer.resourceTimeout,
            .xfer7,
            "how long a transfer may take in all"
        ),
        .init("transfer.retryDelay", \.areas.transfer.retryDelay, .xfer7, "wait after an interruption (assumed)"),
        .init(
            "transfer.resumeDelay",
            \.areas.transfer.resumeDelay,
            .xfer8,
            "first wait of what is created in the background after a resume; it doubles from there"
        ),
        .init(
            "transfer.window",
            \.areas.transfer.window,
            .xfer10,
            "time of a wake by a transfer, and of its completion handler (assumed)"
        ),
        .init(
            "transfer.terminationCode",
            \.areas.transfer.terminationCode,
            .xfer10,
            "code of an app that never calls the completion handler of a background session"
        ),
    ]
}

extension TerminationCode {
    /// The completion handler of a background session was never called (XFER-10).
    package static let backgroundSession: Int64 = 0x2182_bad3
}
