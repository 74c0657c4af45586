/// An app's own number for a task, unique in its session and not 0: its taskIdentifier.
package typealias TransferTaskNumber = UInt32

/// The system's number for a transfer, unique on the phone and not used twice.
package typealias TransferNumber = UInt32

/// What kind of session carries transfers on for an app.
package enum TransferSessionKind: UInt8, Worded, Codable, Sendable {
    /// A URLSession with a background configuration (XFER-1).
    case background
    /// Newsstand Kit's downloads of issues (NEWS-2).
    case newsstand
}

/// What a session is made with.
package struct TransferConfiguration: Hashable, Codable, Sendable {
    package var kind = TransferSessionKind.background
    /// The app is woken and relaunched for it (XFER-2).
    package var sendsLaunchEvents = true
    package var isDiscretionary = false
    /// How long a request may stand still; nil for the phone's own figure (XFER-7).
    package var requestTimeout: Instant.Span?
    /// How long a transfer may take in all; nil for the phone's own figure (XFER-7).
    package var resourceTimeout: Instant.Span?
    package var allowsCellular = true

    package init() {}
}

/// What a task does.
package enum TransferKind: UInt8, Worded, Codable, Sendable {
    case download
    /// From a file.
    case upload
    /// From bytes or a stream, which no background session takes (XFER-9).
    case uploadOfData
    /// Into memory, which no background session does (XFER-9).
    case data

    package var word: String { self == .uploadOfData ? "upload-of-data" : "\(self)" }

    /// Whether a background session has such tasks (XFER-9).
    package var outlivesProcess: Bool { self == .download || self == .upload }
}

/// A field of an HTTP header.
package struct HTTPField: Hashable, Codable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What is to be transferred. The router looks at the kind and the scheme alone.
package struct TransferOrder: Hashable, Codable, Sendable {
    package var kind: TransferKind
    package var url: String
    package var method: String
    package var fields: [HTTPField]
    /// What an upload reads: a path; empty for a download.
    package var file: String
    /// What an earlier download left for it to go on from, as ``TransferFailure/resumes`` had it; nil to begin from nothing.
    package var resumes: UInt64?

    package init(
        _ kind: TransferKind,
        url: String,
        method: String = "GET",
        fields: [HTTPField] = [],
        file: String = "",
        resumes: UInt64? = nil
    ) {
        self.kind = kind
        self.url = url
        self.method = method
        self.fields = fields
        self.file = file
        self.resumes = resumes
    }

    /// Whether the URL is one of HTTP or HTTPS (XFER-9).
    package var isHTTP: Bool {
        let scheme = url.utf8.prefix { $0 != UInt8(ascii: ":") }.prefix(6).map { $0 | 0x20 }
        return scheme == Array("http".utf8) || scheme == Array("https".utf8)
    }
}

/// What an app says of a task before it is begun (XFER-7).
package struct TransferWishes: Hashable, Codable, Sendable {
    /// Not before; nil for at once.
    package var earliestBegin: Instant?
    /// What the app expects to send and to receive, in bytes; nil for what it does not say.
    package var bytesToSend: UInt64?
    package var bytesToReceive: UInt64?

    package init() {}
}

/// What an app says to a server's challenge (XFER-4).
package enum ChallengeAnswer: Hashable, Codable, Sendable {
    case credential(user: String, password: String)
    /// As if nobody had asked: the server's refusal is the answer.
    case defaultHandling
    /// The transfer is cancelled.
    case cancel
}

/// What an app asks of one of its sessions.
package enum TransferRequest: Hashable, Codable, Sendable {
    /// Make the session, or join the one that the system has under its identifier (XFER-3).
    case join(NameID, TransferConfiguration)
    /// No new tasks; with `cancels` those that there are end, too.
    case invalidate(cancels: Bool)
    case create(TransferTaskNumber, TransferOrder)
    case resume(TransferTaskNumber, TransferWishes = TransferWishes())
    case suspend(TransferTaskNumber)
    case cancel(TransferTaskNumber)
    /// Cancel a download, and keep what there is of it for one that is to go on from there (XFER-9).
    case cancelKeepingBytes(TransferTaskNumber)
    case answer(TransferTaskNumber, ChallengeAnswer)
    /// The completion handler of handleEventsForBackgroundURLSession was called; of the session of that identifier (XFER-10).
    case handledEvents(NameID)

    /// The most sessions of one app; iOS publishes no limit, so the number is the bench's own.
    package static let sessionsLimit = 63
    /// The most tasks of one app that the system keeps; the bench's own number as well.
    package static let tasksLimit = 512
}

/// How an end of a transfer is meant.
package enum TransferEnd: UInt16, Codable, Sendable {
    /// The server answered, whatever it said.
    case finished
    /// Nothing helps.
    case failed
    /// The request stood still for too long, or the connection broke; it begins anew (XFER-7).
    case interrupted
    /// The same, and the server lets it go on where it stopped (XFER-9).
    case interruptedResumable

    package var isOver: Bool { self == .finished || self == .failed }
}

/// Why a transfer failed, in NSURLErrorDomain.
package struct TransferFailure: Hashable, Codable, Sendable {
    package var code: Int32
    package var message: String
    /// NSURLErrorBackgroundTaskCancelledReasonKey, where the system cancelled it.
    package var reason: TransferCancellation?
    /// By what the source knows the bytes that another download can go on from; nil where nothing is kept (XFER-9).
    package var resumes: UInt64?

    package init(code: Int32, message: String, reason: TransferCancellation? = nil, resumes: UInt64? = nil) {
        self.code = code
        self.message = message
        self.reason = reason
        self.resumes = resumes
    }

    package static let cancelled = TransferFailure(code: -999, message: "cancelled")
    package static let timedOut = TransferFailure(code: -1001, message: "The request timed out.")
    package static let unsupportedURL = TransferFailure(code: -1002, message: "unsupported URL")
    /// What came cannot be kept.
    package static let cannotWriteToFile = TransferFailure(code: -3003, message: "cannot write to file")
    /// By a force quit (XFER-5).
    package static let forceQuit = TransferFailure(code: -999, message: "cancelled", reason: .userForceQuitApplication)
}

/// Why the system cancelled a transfer; the numbers are Foundation's.
package enum TransferCancellation: UInt8, Worded, Codable, Sendable {
    case userForceQuitApplication
    case backgroundUpdatesDisabled
    case insufficientSystemResources
}

/// What an app reads of an event of a transfer.
package enum TransferReport: Hashable, Codable, Sendable {
    /// So many bytes of so many; nil where nobody knows.
    case progress(sent: UInt64, received: UInt64, expected: UInt64?)
    case finished(TransferResponse)
    case failed(TransferFailure)
    case challenge(AuthenticationChallenge)
}

/// What a server answered.
package struct TransferResponse: Hashable, Codable, Sendable {
    package var status: UInt16
    package var fields: [HTTPField]
    package var sent: UInt64
    package var received: UInt64
    /// Where the body lies: a path; empty for none.
    package var file: String
    /// The URL that it came from where redirects led elsewhere than the order says; nil where they did not.
    package var url: String?

    package init(
        status: UInt16,
        fields: [HTTPField] = [],
        sent: UInt64 = 0,
        received: UInt64 = 0,
        file: String = "",
        url: String? = nil
    ) {
        self.status = status
        self.fields = fields
        self.sent = sent
        self.received = received
        self.file = file
        self.url = url
    }
}

/// What a server wants to know before it answers.
package struct AuthenticationChallenge: Hashable, Codable, Sendable {
    package var host: String
    package var realm: String
    /// `basic` or `digest`.
    package var scheme: String
    /// How often an answer was refused.
    package var failures: UInt32

    package init(host: String, realm: String, scheme: String, failures: UInt32) {
        self.host = host
        self.realm = realm
        self.scheme = scheme
        self.failures = failures
    }
}

/// What the router asks of the process that carries transfers (XFER-1).
package enum TransferCommand: Hashable, Sendable {
    /// Begin, or go on with what there is of it where `resumes`; a transfer that is under way goes on as it does.
    case begin(
        AppID,
        TransferNumber,
        task: TransferTaskNumber,
        session: NameID,
        TransferOrder,
        requestTimeout: Instant.Span,
        resumes: Bool
    )
    /// Stand still until it is begun again; what there is of it is kept.
    case suspend(TransferNumber)
    /// It is over: nothing is reported of it any more, and what it brought is removed.
    case cancel(TransferNumber)
    /// Its app has taken what it brought: what is left of that is removed.
    case release(TransferNumber)
    /// It is to fail as cancelled, with what there is of it kept where the server lets another one go on from there.
    case cancelKeepingBytes(TransferNumber)
    /// What an app says to the challenge of that number.
    case answer(TransferNumber, challenge: UInt32, ChallengeAnswer)
}

extension WakeEvent {
    /// The transfer that it is about; 0 for one about a session.
    @inlinable
    package var transfer: TransferNumber { local }

    /// The app's number for the task; 0 for an event about a session.
    @inlinable
    package var transferTask: TransferTaskNumber { manager }

    /// How an end of a transfer is meant; of what is no such word, as a failure.
    package var transferEnd: TransferEnd { TransferEnd(rawValue: attribute) ?? .failed }

    /// The number of a challenge, minted by the source and not used twice by it.
    @inlinable
    package var challenge: UInt32 { request }

    /// A transfer is over, or was interrupted.
    ///
    /// - Parameter subject: the identifier of its session.
    package static func transferEnded(
        _ transfer: TransferNumber,
        of app: AppID,
        task: TransferTaskNumber,
        _ subject: NameID,
        _ end: TransferEnd,
        origin: NameID = .none,
        parent: EventID = .none
    ) -> WakeEvent {
        WakeEvent(
            kind: .transferEnded,
            attribute: end.rawValue,
            local: transfer,
            subject: subject,
            failed: end != .finished,
            app: app,
            manager: task,
            origin: origin,
            parent: parent
        )
    }
}

extension Action {
    package static func transfer(_ command: TransferCommand) -> Action { .command(.transfer(command)) }
}

/// The kinds of its events, each by its row of Tables/events.tsv.
extension EventKind {
    @inlinable package static var transferEnded: EventKind { EventKind(row: 69) }
    @inlinable package static var transferChallenged: EventKind { EventKind(row: 70) }
    @inlinable package static var transferProgressed: EventKind { EventKind(row: 71) }
    @inlinable package static var transferWaiting: EventKind { EventKind(row: 72) }
    /// All that was kept with a session that woke its app is told.
    @inlinable package static var transferEventsFinished: EventKind { EventKind(row: 73) }
}
