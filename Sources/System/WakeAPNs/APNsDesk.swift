import WakeJSON

/// How long clients are waited for, and how much they may have at once.
package struct APNsLimits: Sendable {
    /// Streams of a connection at once, of a provider that is trusted.
    package var streams = 1_000
    /// The same before the first request with a valid token, where that is held to: "APNs allows only one stream until you
    /// post a request with a valid authentication token". Nil holds nobody to it, since libnghttp2 refuses what a client sends
    /// before it has read of the limit, and clients that do well with Apple's servers do not try that again.
    package var untrustedStreams: Int?
    /// Connections at once; one more is closed at once.
    package var connections = 64
    /// Until a connection has spoken TLS and HTTP/2.
    package var beginning = Duration.seconds(10)
    /// Until a request that was begun is whole.
    package var request = Duration.seconds(30)
    /// Until a client that reads nothing is given up.
    package var reading = Duration.seconds(30)
    /// Without a request, until a connection is closed.
    package var idle = Duration.seconds(3_600)
    /// At the end, until a client that does not close its end is given up.
    package var ending = Duration.seconds(5)

    package init() {}
}

/// What the connections of a server share: who answers, by which clock, and what was counted.
package final class APNsDesk {
    /// What came since the start.
    package struct Counts: Equatable, Sendable {
        /// Requests that were answered.
        package var requests = 0
        /// Those of them that were accepted.
        package var accepted = 0
        /// Connections, those that were closed at once not among them.
        package var connections = 0
        /// Connections that were one too many.
        package var turnedAway = 0
    }

    package let limits: APNsLimits
    /// Checks signatures of provider tokens; without it their form alone is checked.
    let key: ProviderKey?
    /// Seconds since 1970.
    let clock: () -> Int64
    /// A new apns-id.
    let makeID: () -> String
    /// Answers a push, at once or later.
    let answer: (PushNotification, _ reply: @escaping (APNsAnswer) -> Void) -> Void
    package internal(set) var counts = Counts()

    /// - Parameters:
    ///   - key: with what the signatures of provider tokens are checked; nil leaves them unchecked.
    ///   - clock: seconds since 1970, for the age of tokens and certificates.
    ///   - makeID: a new UUID in its canonical form, for pushes that have none.
    ///   - answer: says what becomes of a push by calling `reply` once, whenever that is known; it is called in the order in which the
    ///     pushes of a connection became whole. A client that has gone meanwhile is not answered.
    package init(
        limits: APNsLimits = APNsLimits(),
        key: ProviderKey? = nil,
        clock: @escaping () -> Int64,
        makeID: @escaping () -> String,
        answer: @escaping (PushNotification, _ reply: @escaping (APNsAnswer) -> Void) -> Void
    ) {
        self.limits = limits
        self.key = key
        self.clock = clock
        self.makeID = makeID
        self.answer = answer
    }

    /// `{"reason":"Unregistered","timestamp":1454402113}`
    static func body(_ reason: APNsReason, timestamp: Int64? = nil) -> [UInt8] {
        var writer = JSONWriter()
        writer.openObject()
        writer.key("reason")
        writer.string(reason.rawValue)
        if let timestamp {
            writer.key("timestamp")
            writer.integer(timestamp)
        }
        writer.closeObject()
        return writer.bytes
    }
}
