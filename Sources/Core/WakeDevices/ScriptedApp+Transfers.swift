import WakeModel

extension ScriptedApp {
    /// What a scripted app has transferred for it.
    package struct TransferUse: Hashable, Sendable {
        package var sessions: [TransferSession]
        /// How long after it was told of a session's events it calls the completion handler; nil for never (XFER-10).
        package var handlesAfter: Instant.Span?
    }

    /// A session of a scripted app. It is made at each launch.
    package struct TransferSession: Hashable, Sendable {
        package var identifier: String
        package var configuration: TransferConfiguration
        /// Only a process that the user launches makes it.
        package var joinsByHandOnly: Bool
        /// Begun when the app is launched for the first time, numbered from 1.
        package var tasks: [TransferTask]
        /// Begun one after the other, each when the app is woken for the session.
        package var following: [TransferTask]
        /// What it says to a challenge.
        package var answer: ChallengeAnswer
    }

    /// A task as a file says it.
    package struct TransferTask: Hashable, Sendable {
        package var order: TransferOrder
        /// How long after it is resumed it may begin; nil for at once (XFER-7).
        package var beginsAfter: Instant.Span?
        package var bytesToSend: UInt64?
        package var bytesToReceive: UInt64?
    }

    /// What a step lets apps do with a session.
    package enum TransferAct: Hashable, Sendable {
        case begin(TransferTask)
        case suspend(TransferTaskNumber)
        case resume(TransferTaskNumber)
        case cancel(TransferTaskNumber)
        case invalidate
        case makeAgain
    }
}

extension ScriptedApp.TransferUse {
    /// Reads the key `transfers` of a scripted app.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a use of transfers", keys: ["sessions", "handler"])
        sessions = try fields.list("sessions", limit: TransferRequest.sessionsLimit, ScriptedApp.TransferSession.init)
        guard let handler = fields["handler"] else {
            handlesAfter = .zero
            return
        }
        handlesAfter = try handler.text(expecting: "a time or 'never'") == "never" ? nil : try handler.duration()
    }
}

extension ScriptedApp.TransferSession {
    private static let keys = [
        "id", "kind", "launch-events", "discretionary", "request-timeout", "resource-timeout", "cellular", "joins",
        "tasks", "following", "answer",
    ]

    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a session", keys: Self.keys)
        identifier = try Self.identifier(try fields.required("id"))
        configuration = TransferConfiguration()
        configuration.kind = try fields["kind"]?.word("kind of session") ?? .background
        configuration.sendsLaunchEvents = try fields["launch-events"]?.bool() ?? true
        configuration.isDiscretionary = try fields["discretionary"]?.bool() ?? false
        configuration.requestTimeout = try fields["request-timeout"]?.interval()
        configuration.resourceTimeout = try fields["resource-timeout"]?.interval()
        configuration.allowsCellular = try fields["cellular"]?.bool() ?? true
        let joins = try fields["joins"]?.word("way to join a session", of: ["always", "by-hand"]) { $0 } ?? "always"
        joinsByHandOnly = joins == "by-hand"
        tasks = try fields.list("tasks", limit: 256, ScriptedApp.TransferTask.init)
        following = try fields.list("following", limit: 256, ScriptedApp.TransferTask.init)
        answer = try fields.value("answer", ChallengeAnswer.init) ?? .cancel
    }

    /// The identifier of a session.
    static func identifier(_ node: YAMLNode) throws(FileError) -> String {
        try node.identifier("the identifier of a session", marks: ".-_", length: 1...255)
    }
}

extension ScriptedApp.TransferTask {
    static let kinds = ["download", "upload", "upload-of-data", "data"]
    static let keys = kinds + ["begins-after", "bytes-to-send", "bytes-to-receive"]

    init(_ node: YAMLNode) throws(FileError) { try self.init(try Fields(node, of: "a task", keys: Self.keys)) }

    init(_ fields: Fields) throws(FileError) {
        let (word, value) = try fields.one(of: Self.kinds, called: "a kind of task")
        guard let kind = TransferKind(word: word) else { throw value.error(expected: "a kind of task") }
        let url = try value.text(expecting: "a URL")
        guard url.utf8.count <= 2_048 else { throw value.error(expected: "a URL of at most 2048 bytes") }
        order = TransferOrder(kind, url: url, method: kind == .upload || kind == .uploadOfData ? "POST" : "GET")
        beginsAfter = try fields["begins-after"]?.interval()
        bytesToSend = try fields["bytes-to-send"]?.byteCount(from: 0, upTo: 1 << 50)
        bytesToReceive = try fields["bytes-to-receive"]?.byteCount(from: 0, upTo: 1 << 50)
    }
}

extension ChallengeAnswer {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        if case .scalar = node.content {
            let answers: KeyValuePairs<String, Self> = ["default": .defaultHandling, "cancel": .cancel]
            self = try node.word("answer to a challenge", of: Array(answers), \.key).value
            return
        }
        let fields = try Fields(node, of: "a credential", keys: ["user", "password"])
        self = .credential(
            user: try fields.required("user").text(expecting: "a user"),
            password: try fields.required("password").text(expecting: "a password")
        )
    }
}
