import WakeModel

extension ScriptedApp {
    /// What a scripted app does about pushes.
    package struct PushUse: Hashable, Sendable {
        /// It asks for a device token each time it is launched.
        package var registers = true
        /// It asks for one for VoIP pushes.
        package var registersCalls = false
        /// What it tells the completion handler of a push; nil when it never calls it (PUSH-1).
        package var completion: FetchResult? = .newData
        /// How long after the push, or after the call.
        package var work = Instant.Span.zero
        /// It reports a call for each VoIP push (PUSH-7), or for those alone, counted from 1.
        package var reportsCalls = true
        package var reported: [Int]?
        /// How long a call goes on that it reported (PUSH-10); nil for one that is over at once.
        package var call: Instant.Span?
        /// Its callback of VoIP pushes returns.
        package var returns = true
        /// What its service extension does; nil when its bundle has none.
        package var serviceExtension: Extension?

        /// A notification service extension (PUSH-9).
        package struct Extension: Hashable, Sendable {
            package var after: Instant.Span
            /// In megabytes.
            package var memory: UInt32
            package var title: String?
            package var body: String?
            package var ending: Ending

            /// How it ends.
            package enum Ending: UInt8, Worded, Sendable {
                case answer
                case crash
                case hang
            }
        }
    }

    /// A push that a step sends.
    package struct SentPush: Hashable, Sendable {
        /// The apps, as positions in ``Scenario/apps``; nil for the one that the file names.
        package var apps: [Int]?
        package var file: PushFile
        package var type: PushType
        package var priority: PushPriority
        package var expires: Expiry
        package var collapseID: String?

        /// apns-expiration, as a step says it.
        package enum Expiry: Hashable, Sendable {
            case never
            /// Tried once.
            case once
            /// So long after the step.
            case after(Instant.Span)
        }
    }
}

extension ScriptedApp.PushUse {
    /// Reads the key `push` of a scripted app.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        let keys = ["register", "completion", "work", "reports-calls", "call", "returns", "extension"]
        let fields = try Fields(node, of: "a use of pushes", keys: keys)
        if let node = fields["register"] {
            let types = try node.list(expecting: "types of pushes", limit: 2).map { (node) throws(FileError) in
                try node.word("type of push", of: [PushType.alert, .call]) { $0 == .call ? $0.word : "remote" }
            }
            (registers, registersCalls) = (types.contains(.alert), types.contains(.call))
        }
        completion = try fields.value("completion", Self.completion) ?? completion
        work = try fields["work"]?.duration() ?? work
        if let node = fields["reports-calls"] {
            if case .sequence = node.content {
                let numbers = try node.list(expecting: "numbers of pushes", limit: 64)
                reported = try numbers.map { (node) throws(FileError) in Int(try node.integer(in: 1...10_000)) }
            } else {
                reportsCalls = try node.bool()
            }
        }
        call = try fields["call"]?.duration()
        returns = try fields["returns"]?.bool() ?? returns
        serviceExtension = try fields.value("extension", Extension.init)
    }

    private static func completion(_ node: YAMLNode) throws(FileError) -> FetchResult? {
        let words = FetchResult.allCases.map(\.word) + ["never"]
        return try node.word("result", among: words) { word -> FetchResult?? in
            word == "never" ? .some(nil) : FetchResult(word: word).map { .some($0) }
        }
    }
}

extension ScriptedApp.PushUse.Extension {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a service extension", keys: ["after", "memory", "title", "body", "then"])
        after = try fields["after"]?.duration() ?? .zero
        memory = UInt32(try fields["memory"]?.integer(in: 0...100_000) ?? 8)
        title = try fields["title"]?.text(expecting: "a title")
        body = try fields["body"]?.text(expecting: "a text")
        ending = try fields["then"]?.word("ending") ?? .answer
    }
}

/// What a step does with pushes.
extension ScenarioReading {
    static var pushVerbs: [StepVerb] { [StepVerb("push", ScenarioReading.push)] }

    private func push(_ step: StepEntry) throws(FileError) -> Verb {
        let keys = ["app", "file", "payload", "type", "priority", "expires", "collapse-id"]
        let fields = try Fields(step.value, of: "a push", keys: keys)
        let (key, content) = try fields.one(of: ["file", "payload"], called: "a payload")
        let file: PushFile
        if key == "file" {
            let path = try files.find(content, "push", isThere: files.isFile)
            file = try PushFile.parse(try files.read(path, limit: PushFile.byteLimit), file: path)
        } else {
            file = try PushFile(content)
        }
        let apps = try fields.value("app") { (node) throws(FileError) in try appNames.resolve(node) }
        if apps == nil, file.bundle == nil {
            throw fields.node.error(
                found: "a push for no app",
                expected: "'app', or a file with 'Simulator Target Bundle'"
            )
        }
        let type = try fields["type"]?.word("type of push") ?? (file.isVisible ? PushType.alert : .background)
        let priority = try fields["priority"]?.word("priority", of: PushPriority.allCases) { "\($0.number)" }
        return .push(
            ScriptedApp.SentPush(
                apps: apps,
                file: file,
                type: type,
                priority: priority ?? (type == .background ? .normal : .high),
                expires: try fields.value("expires", Self.expiry) ?? .never,
                collapseID: try fields["collapse-id"]?.text(expecting: "a collapse identifier")
            )
        )
    }

    private static func expiry(_ node: YAMLNode) throws(FileError) -> ScriptedApp.SentPush.Expiry {
        if try node.text(expecting: "a time, 0 or never") == "never" { return .never }
        let span = try node.duration()
        return span == .zero ? .once : .after(span)
    }
}
