/// A packet from the bench to an app.
package enum BenchMessage: Equatable, Sendable {
    /// The answer to `hello`; the app now runs `didFinishLaunching`.
    case welcome(Welcome)
    /// A change of the app's own state, to be acknowledged.
    case callback(delivery: UInt64, WireCallback, state: WireAppState)
    /// The answer to the request with that id.
    case reply(id: UInt64, WireReply)
    /// An event of a source, to be acknowledged.
    case deliver(WireDelivery)
}

/// What a fresh process is told.
package struct Welcome: Equatable, Sendable {
    /// The version the bench speaks.
    package var version: Int
    /// The app's state at launch.
    package var state: WireAppState
    /// Why the process was started; nil for a launch by the user.
    package var cause: WireCause?
    /// What the areas have to say of the launch.
    package var options: LaunchOptions

    /// What a fresh process is told.
    package init(
        version: Int = WireLimits.version,
        state: WireAppState,
        cause: WireCause? = nil,
        options: LaunchOptions = LaunchOptions()
    ) {
        self.version = version
        self.state = state
        self.cause = cause
        self.options = options
    }
}

/// Why an app was started.
package struct WireCause: Equatable, Sendable {
    /// The source, such as `bluetooth`.
    package var source: String
    /// The kind of the event.
    package var kind: String
    /// What the event is about, such as a peripheral.
    package var subject: String
    /// The event's id, such as `e-000398`.
    package var event: String
    /// The decision's id, such as `d-000412`.
    package var decision: String

    /// Why an app was started.
    package init(source: String, kind: String, subject: String, event: String, decision: String) {
        self.source = source
        self.kind = kind
        self.subject = subject
        self.event = event
        self.decision = decision
    }
}

/// The state of an application as `UIApplication.State` has it.
package enum WireAppState: String, CaseIterable, Sendable, WireWord {
    /// In the foreground without events.
    case inactive
    /// In the background.
    case background
    /// In the foreground.
    case active
}

/// The callbacks of an app delegate, and the expiry of tasks.
package enum WireCallback: Equatable, Sendable {
    /// `applicationWillResignActive(_:)`.
    case willResignActive
    /// `applicationDidEnterBackground(_:)`.
    case didEnterBackground
    /// `applicationWillEnterForeground(_:)`.
    case willEnterForeground
    /// `applicationDidBecomeActive(_:)`.
    case didBecomeActive
    /// `applicationWillTerminate(_:)`.
    case willTerminate
    /// `applicationDidReceiveMemoryWarning(_:)`.
    case didReceiveMemoryWarning
    /// The expiration handlers of these background tasks.
    case taskExpiration(tokens: [UInt64])
}

/// An error as the app sees it.
package struct WireFailure: Error, Equatable, Sendable {
    /// The domain, such as `CBErrorDomain`.
    package var domain: String
    /// The code in that domain.
    package var code: Int
    /// One line for people.
    package var message: String

    /// An error as the app sees it.
    package init(domain: String, code: Int, message: String) {
        self.domain = domain
        self.code = code
        self.message = message
    }
}

/// An event for a manager or one of its peripherals.
package struct WireDelivery: Equatable, Sendable {
    /// The number to acknowledge.
    package var delivery: UInt64
    /// The event's id; nil for answers to the app's own requests.
    package var event: String?
    /// The id of the decision that delivered it.
    package var decision: String?
    /// The source that woke the app, such as `bluetooth`; nil when nothing had to be woken.
    package var cause: String?
    /// The manager that the app made.
    package var manager: UInt32
    /// What happened.
    package var body: WireDeliveryBody

    /// An event for a manager or one of its peripherals.
    package init(
        delivery: UInt64,
        event: String? = nil,
        decision: String? = nil,
        cause: String? = nil,
        manager: UInt32,
        body: WireDeliveryBody
    ) {
        self.delivery = delivery
        self.event = event
        self.decision = decision
        self.cause = cause
        self.manager = manager
        self.body = body
    }
}

extension BenchMessage {
    /// Reads a packet of one message.
    ///
    /// - Throws: ``WireError`` for anything that is not a message of the bench.
    package init(decoding packet: [UInt8]) throws(WireError) {
        try self.init(Packet(packet, count: packet.count).object())
    }

    init(_ fields: Fields) throws(WireError) {
        var coder = FieldCoder(reading: fields)
        self = .deliver(.blank)
        try coder.message("type", of: &self, unknown: WireError.unknownType)
    }

    /// The packet.
    package func encode() -> [UInt8] {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(256)
        append(to: &buffer)
        return buffer
    }

    /// Appends the message to a buffer that the caller reuses.
    ///
    /// Alone it is a packet; messages with commas between, in brackets, are one too, for an app that understands it.
    package func append(to buffer: inout [UInt8]) {
        if case .deliver(let delivery) = self,
            case .peripheral(let peripheral, .value(let attribute, .some(let value), nil)) = delivery.body,
            ValueWriter.append(
                to: &buffer,
                delivery: delivery.delivery,
                event: delivery.event,
                decision: delivery.decision,
                cause: delivery.cause,
                manager: delivery.manager,
                peripheral: peripheral,
                attribute: attribute,
                value: value
            )
        {
            return
        }
        FieldCoder.append(self, to: &buffer)
    }
}

// MARK: Coding

extension BenchMessage: CodedByWord {
    static let byWord = table([
        .welcome(.blank), .callback(delivery: 0, .willTerminate, state: .background), .reply(id: 0, WireReply()),
        .deliver(.blank),
    ])

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .welcome(let welcome): self = try .welcome(coder.coded(welcome))
        case .callback(let delivery, var callback, let state):
            let delivery = try coder.field("delivery", delivery, .whole)
            try coder.message("name", of: &callback) { _ in
                .badValue(key: "name", expected: "the name of a callback")
            }
            self = try .callback(delivery: delivery, callback, state: coder.field("state", state, .word))
        case .reply(let id, let reply):
            self = try .reply(id: coder.field("id", id, .whole), coder.coded(reply))
        case .deliver(let delivery): self = try .deliver(coder.coded(delivery))
        }
    }
}

extension Welcome: Coded {
    static let blank = Welcome(state: .background)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("version", of: &version, .whole(in: 1...1_000_000))
        try coder.field("state", of: &state, .word)
        try coder.field("cause", of: &cause, .object)
        guard try coder.enter("launchOptions") else {
            return
        }
        try options.code(&coder)
        coder.leave()
    }
}

extension WireCause: Coded {
    static let blank = WireCause(source: "", kind: "", subject: "", event: "", decision: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("source", of: &source, .text)
        try coder.field("kind", of: &kind, .text)
        try coder.field("subject", of: &subject, .text)
        try coder.field("event", of: &event, .text)
        try coder.field("decision", of: &decision, .text)
    }
}

extension WireCallback: CodedByWord {
    static let byWord = table([
        .willResignActive, .didEnterBackground, .willEnterForeground, .didBecomeActive, .willTerminate,
        .didReceiveMemoryWarning, .taskExpiration(tokens: []),
    ])

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        if case .taskExpiration(let tokens) = self {
            self = try .taskExpiration(tokens: coder.field("tokens", tokens, .wholes("an array of whole numbers")))
        }
    }
}

extension WireFailure: Coded {
    static let blank = WireFailure(domain: "", code: 0, message: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("domain", of: &domain, .text)
        try coder.field("code", of: &code, .whole(in: Int64(Int32.min)...Int64(Int32.max)))
        try coder.field("message", of: &message, .text, absent: "")
    }
}

extension FieldCoder {
    /// Why something failed, if it did.
    mutating func failure(_ failure: WireFailure?) throws(WireError) -> WireFailure? {
        try field("error", failure, .object)
    }

    /// Why something failed.
    mutating func failure(_ failure: WireFailure) throws(WireError) -> WireFailure {
        try field("error", failure, .object)
    }
}

extension WireDelivery: Coded {
    static let blank = WireDelivery(delivery: 0, manager: 0, body: .channelData)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("delivery", of: &delivery, .whole)
        try coder.field("event", of: &event, .text)
        try coder.field("decision", of: &decision, .text)
        try coder.field("cause", of: &cause, .text)
        try coder.field("manager", of: &manager, .whole)
        try coder.message("kind", of: &body, unknown: WireError.unknownKind)
    }
}
