import WakeJSON
import WakeSystem

/// How long clients are waited for, and how much they may have at once.
package struct APNsLimits: Sendable {
    /// Streams of a connection at once, of a provider that is trusted.
    package var streams = 1_000
    /// The same before the first request with a valid token, where that is held to: "APNs allows only one stream until you
    /// post a request with a valid authentication token". Nil sets no such limit, since libnghttp2 refuses what a client sends
    /// before it has read of the limit, and clients that do well with Apple's servers do not try that again.
    package var untrustedStreams: Int?
    /// Connections at once of clients that may push. For one more the oldest gives way of those that have not spoken HTTP/2 yet,
    /// or are over; where there is none, the new one is closed at once.
    package var connections = 64
    /// The same of peers with another uid, which are answered with the reason alone.
    package var strangers = 4
    /// How long a connection of a peer with another uid stays.
    package var stranger = Duration.seconds(5)
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

/// What the connections of a server share: what answers pushes, the clock, and what was counted.
package final class APNsDesk {
    /// What came since the start.
    package struct Counts: Equatable, Sendable {
        /// Requests that were answered.
        package var requests = 0
        /// Those of them that were accepted.
        package var accepted = 0
        /// Connections, those that were closed at once not among them.
        package var connections = 0
        /// Connections that were one too many, or gave way to another.
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
    /// Only processes of the owner of the bench and of root may push.
    let peers: PeerCheck
    /// A push was refused because of the uid of the client.
    package var strangerRefused: (Stranger) -> Void = { _ in }
    /// A push was taken by a token whose `iat` is text.
    package var textDateTaken: () -> Void = {}
    package internal(set) var counts = Counts()

    /// - Parameters:
    ///   - key: with what the signatures of provider tokens are checked; nil leaves them unchecked.
    ///   - owner: the uid of the owner of the bench; nil for that of this process.
    ///   - user: the uid of a connection's peer, by the descriptor of this end; nil for what the kernel says.
    ///   - clock: seconds since 1970, for the age of tokens and certificates.
    ///   - makeID: a new UUID in its canonical form, for pushes that have none.
    ///   - answer: says what becomes of a push by calling `reply` once, whenever that is known; it is called in the order in which the
    ///     pushes of a connection became whole. A client that has gone meanwhile is not answered.
    package init(
        limits: APNsLimits = APNsLimits(),
        key: ProviderKey? = nil,
        owner: UInt32? = nil,
        user: ((Int32) -> UInt32?)? = nil,
        clock: @escaping () -> Int64,
        makeID: @escaping () -> String,
        answer: @escaping (PushNotification, _ reply: @escaping (APNsAnswer) -> Void) -> Void
    ) {
        self.limits = limits
        self.key = key
        peers = PeerCheck(owner: owner, user: user)
        self.clock = clock
        self.makeID = makeID
        self.answer = answer
    }

    /// `{"reason":"Unregistered","timestamp":1454402113}`
    ///
    /// - Parameter message: says more; none of Apple's answers has it.
    static func body(_ reason: APNsReason, timestamp: Int64? = nil, message: String? = nil) -> [UInt8] {
        var writer = JSONWriter()
        writer.openObject()
        writer.key("reason")
        writer.string(reason.rawValue)
        if let timestamp {
            writer.key("timestamp")
            writer.integer(timestamp)
        }
        if let message {
            writer.key("message")
            writer.string(message)
        }
        writer.closeObject()
        return writer.bytes
    }
}
