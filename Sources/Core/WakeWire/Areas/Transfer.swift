import WakeModel

/// What an app asks of a session; the number of the session is the manager of the packet.
package enum WireTransferRequest: Equatable, Sendable {
    /// Make a session, or join the one that there is; answered by a reply with `transfers`.
    case join(id: UInt64, WireTransferSession)
    /// No new tasks; with `cancels` those that there are end.
    case invalidate(cancels: Bool)
    /// A task, numbered by the app; it stands still until it is resumed.
    case create(WireTransferTask)
    /// Begin it, not before a date in seconds since 1970; the app expects so many bytes.
    case resume(task: UInt32, earliestBegin: Double?, bytesToSend: UInt64?, bytesToReceive: UInt64?)
    case suspend(task: UInt32)
    case cancel(task: UInt32)
    /// The same, and what there is of a download is kept for one that goes on from there, where the server allows it.
    case cancelKeepingBytes(task: UInt32)
    /// What the app says to a challenge; with a user and a password where it is a credential.
    case answer(task: UInt32, WireChallengeAnswer, user: String, password: String)
    /// The completion handler of a session's events was called.
    case handled(session: String)
    /// The tasks of a session with numbers beyond one, the lowest first; answered by a reply with `transfers`.
    case tasks(id: UInt64, session: String, after: UInt32)
}

/// What an app is told of its transfers.
package enum WireTransferEvent: Equatable, Sendable {
    /// A session has events for the app, which owes the call of a completion handler: `transfer.handled`.
    case events(session: String)
    /// A task is over; its body lies in a file that the app may take while it handles the delivery.
    case finished(task: UInt32, WireTransferResponse)
    /// A task is over without an answer; with `resumes` another one may go on from the bytes that there are.
    case failed(task: UInt32, code: Int32, message: String, reason: UInt8?, resumes: UInt64? = nil)
    /// The server wants a credential.
    case challenged(task: UInt32, host: String, realm: String, scheme: String, failures: UInt32)
    case progress(task: UInt32, sent: UInt64, received: UInt64, expected: UInt64?)
    /// There is no network for it.
    case waiting(task: UInt32)
    /// All that the session had for the app was told.
    case eventsFinished
}

/// What a session is made with.
package struct WireTransferSession: Equatable, Sendable {
    package var identifier: String
    package var kind: TransferSessionKind
    package var sendsLaunchEvents: Bool
    package var isDiscretionary: Bool
    /// In seconds; nil for the phone's own figure.
    package var requestTimeout: Double?
    package var resourceTimeout: Double?
    package var allowsCellular: Bool

    package init(
        identifier: String,
        kind: TransferSessionKind = .background,
        sendsLaunchEvents: Bool = true,
        isDiscretionary: Bool = false,
        requestTimeout: Double? = nil,
        resourceTimeout: Double? = nil,
        allowsCellular: Bool = true
    ) {
        self.identifier = identifier
        self.kind = kind
        self.sendsLaunchEvents = sendsLaunchEvents
        self.isDiscretionary = isDiscretionary
        self.requestTimeout = requestTimeout
        self.resourceTimeout = resourceTimeout
        self.allowsCellular = allowsCellular
    }
}

/// A task of a session.
package struct WireTransferTask: Equatable, Sendable {
    /// The app's number for it, unique in its session, from 1.
    package var task: UInt32
    package var kind: TransferKind
    package var url: String
    package var method: String
    package var headers: [WireHTTPField]
    /// What an upload reads: a path.
    package var file: String
    /// What an earlier download of the same URL failed with, to go on from its bytes; nil to begin from nothing.
    package var resumes: UInt64?
    /// Where a reply lists it: it stands still until it is resumed.
    package var isSuspended: Bool

    package init(
        task: UInt32,
        kind: TransferKind,
        url: String,
        method: String = "GET",
        headers: [WireHTTPField] = [],
        file: String = "",
        resumes: UInt64? = nil,
        isSuspended: Bool = false
    ) {
        self.task = task
        self.kind = kind
        self.url = url
        self.method = method
        self.headers = headers
        self.file = file
        self.resumes = resumes
        self.isSuspended = isSuspended
    }
}

/// What the server answered to a task.
package struct WireTransferResponse: Equatable, Sendable {
    package var status: UInt16
    package var headers: [WireHTTPField]
    /// The bytes of the bodies.
    package var sent: UInt64
    package var received: UInt64
    /// Where the body of a download lies: a path; empty for none.
    package var file: String
    /// The URL that it came from where redirects led elsewhere than the task's; nil where they did not.
    package var url: String?

    package init(
        status: UInt16,
        headers: [WireHTTPField] = [],
        sent: UInt64 = 0,
        received: UInt64 = 0,
        file: String = "",
        url: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.sent = sent
        self.received = received
        self.file = file
        self.url = url
    }
}

/// A field of an HTTP header.
package struct WireHTTPField: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// What an app says to a challenge.
package enum WireChallengeAnswer: String, CaseIterable, Sendable, WireWord {
    case credential
    /// As if nobody had asked.
    case defaultHandling
    case cancel
}

extension WireLimits {
    /// The longest identifier of a session, in bytes.
    package static let sessionIdentifierBytes = 255
    /// The longest URL, in bytes.
    package static let transferURLBytes = 2_048
    /// The longest path of a file, in bytes.
    package static let pathBytes = 4_096
    /// The most fields of a header.
    package static let headerFields = 32
    /// The longest name or value of a field, in bytes.
    package static let headerBytes = 512
    /// How many tasks a reply lists at most, each by its number, kind, URL and whether it stands still; the latest where it answers a join.
    package static let transfersListed = 4
}

// MARK: Coding

extension WireTransferRequest: AreaMessage {
    static let area = "transfer"
    static let blanks: [Self] = [
        .join(id: 0, .blank), .invalidate(cancels: false), .create(.blank),
        .resume(task: 0, earliestBegin: nil, bytesToSend: nil, bytesToReceive: nil), .suspend(task: 0),
        .cancel(task: 0), .cancelKeepingBytes(task: 0), .answer(task: 0, .cancel, user: "", password: ""),
        .handled(session: ""), .tasks(id: 0, session: "", after: 0),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .join(let id, let session):
            self = try .join(id: coder.field("id", id, .whole), coder.field("session", session, .object))
        case .invalidate(let cancels): self = try .invalidate(cancels: coder.field("cancels", cancels, .bool))
        case .create(let task): self = try .create(coder.coded(task))
        case .resume(let task, let earliest, let bytesToSend, let bytesToReceive):
            self = try .resume(
                task: coder.field("task", task, .task),
                earliestBegin: coder.field("earliestBegin", earliest, .measure(in: 0...WireLimits.latestDate)),
                bytesToSend: coder.field("bytesToSend", bytesToSend, .whole),
                bytesToReceive: coder.field("bytesToReceive", bytesToReceive, .whole)
            )
        case .suspend(let task): self = try .suspend(task: coder.field("task", task, .task))
        case .cancel(let task): self = try .cancel(task: coder.field("task", task, .task))
        case .cancelKeepingBytes(let task): self = try .cancelKeepingBytes(task: coder.field("task", task, .task))
        case .answer(let task, let answer, let user, let password):
            self = try .answer(
                task: coder.field("task", task, .task),
                coder.field("answer", answer, .word),
                user: coder.field("user", user, .text(atMost: WireLimits.headerBytes), omitted: ""),
                password: coder.field("password", password, .text(atMost: WireLimits.headerBytes), omitted: "")
            )
        case .handled(let session): self = try .handled(session: coder.field("session", session, .sessionName))
        case .tasks(let id, let session, let after):
            self = try .tasks(
                id: coder.field("id", id, .whole),
                session: coder.field("session", session, .sessionName),
                after: coder.field("after", after, .whole, omitted: 0)
            )
        }
    }
}

extension WireTransferEvent: AreaMessage {
    static let area = "transfer"
    static let blanks: [Self] = [
        .events(session: ""), .finished(task: 0, .blank),
        .failed(task: 0, code: 0, message: "", reason: nil),
        .challenged(task: 0, host: "", realm: "", scheme: "", failures: 0),
        .progress(task: 0, sent: 0, received: 0, expected: nil), .waiting(task: 0), .eventsFinished,
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .events(let session): self = try .events(session: coder.field("session", session, .sessionName))
        case .finished(let task, let response):
            self = try .finished(task: coder.field("task", task, .task), coder.coded(response))
        case .failed(let task, let code, let message, let reason, let resumes):
            self = try .failed(
                task: coder.field("task", task, .task),
                code: coder.field("code", code, .whole(in: Int64(Int32.min)...Int64(Int32.max))),
                message: coder.field("message", message, .text(atMost: WireLimits.headerBytes)),
                reason: coder.field("reason", reason, .whole),
                resumes: coder.field("resumes", resumes, .whole)
            )
        case .challenged(let task, let host, let realm, let scheme, let failures):
            self = try .challenged(
                task: coder.field("task", task, .task),
                host: coder.field("host", host, .text(atMost: WireLimits.headerBytes)),
                realm: coder.field("realm", realm, .text(atMost: WireLimits.headerBytes)),
                scheme: coder.field("scheme", scheme, .text(atMost: WireLimits.headerBytes)),
                failures: coder.field("failures", failures, .whole, omitted: 0)
            )
        case .progress(let task, let sent, let received, let expected):
            self = try .progress(
                task: coder.field("task", task, .task),
                sent: coder.field("sent", sent, .whole, omitted: 0),
                received: coder.field("received", received, .whole, omitted: 0),
                expected: coder.field("expected", expected, .whole)
            )
        case .waiting(let task): self = try .waiting(task: coder.field("task", task, .task))
        case .eventsFinished: break
        }
    }
}

extension WireTransferSession: Coded {
    static let blank = WireTransferSession(identifier: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("identifier", of: &identifier, .sessionName)
        try coder.field("kind", of: &kind, .word, omitted: .background)
        try coder.field("sendsLaunchEvents", of: &sendsLaunchEvents, .bool, omitted: true)
        try coder.field("discretionary", of: &isDiscretionary, .bool, omitted: false)
        try coder.field("requestTimeout", of: &requestTimeout, .timeout)
        try coder.field("resourceTimeout", of: &resourceTimeout, .timeout)
        try coder.field("allowsCellular", of: &allowsCellular, .bool, omitted: true)
    }
}

extension WireTransferTask: Coded {
    static let blank = WireTransferTask(task: 0, kind: .download, url: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("task", of: &task, .task)
        try coder.field("kind", of: &kind, .word)
        try coder.field("url", of: &url, .text(atMost: WireLimits.transferURLBytes))
        try coder.field("method", of: &method, .text(atMost: 32), omitted: "GET")
        try coder.field("headers", of: &headers, .list(atMost: WireLimits.headerFields), omitted: [])
        try coder.field("file", of: &file, .text(atMost: WireLimits.pathBytes), omitted: "")
        try coder.field("resumes", of: &resumes, .whole)
        try coder.field("suspended", of: &isSuspended, .bool, omitted: false)
    }
}

extension WireTransferResponse: Coded {
    static let blank = WireTransferResponse(status: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("status", of: &status, .whole)
        try coder.field("headers", of: &headers, .list(atMost: WireLimits.headerFields), omitted: [])
        try coder.field("sent", of: &sent, .whole, omitted: 0)
        try coder.field("received", of: &received, .whole, omitted: 0)
        try coder.field("file", of: &file, .text(atMost: WireLimits.pathBytes), omitted: "")
        try coder.field("url", of: &url, .text(atMost: WireLimits.transferURLBytes))
    }
}

extension WireHTTPField: Coded {
    static let blank = WireHTTPField(name: "", value: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("name", of: &name, .text(atMost: WireLimits.headerBytes))
        try coder.field("value", of: &value, .text(atMost: WireLimits.headerBytes))
    }
}

extension TransferKind: WireWord {}

extension TransferSessionKind: WireWord {}

extension FieldShape where Value == UInt32 {
    /// The number of a task.
    fileprivate static var task: FieldShape { .whole(in: 1...Int64(UInt32.max)) }
}

extension FieldShape where Value == Double {
    /// A time in seconds, which is some.
    fileprivate static var timeout: FieldShape { .measure(in: 0.001...315_576_000) }
}

extension FieldShape where Value == String {
    fileprivate static var sessionName: FieldShape {
        .string { (found) throws(WireError) in
            let text = try found.text()
            guard (1...WireLimits.sessionIdentifierBytes).contains(text.utf8.count) else {
                throw found.bad("1 to \(WireLimits.sessionIdentifierBytes) bytes of text")
            }
            return text
        }
    }
}
