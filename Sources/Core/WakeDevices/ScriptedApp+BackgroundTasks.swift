import WakeModel

extension ScriptedApp {
    /// What a scripted app asks of the system's scheduler.
    package struct TaskUse: Hashable, Sendable {
        /// BGTaskSchedulerPermittedIdentifiers; nil without the key. The app has a launch handler for each.
        package var permitted: [String]?
        /// Submitted each time it is launched, and again each time that its task is handed over.
        package var submits: [TaskRequest]
        /// Its minimum fetch interval; nil when it sets none.
        package var fetchInterval: Instant.Span?
        /// What it says of a fetch, and whether anything came for it.
        package var result: FetchResult
        package var downloads: Bool
        /// How long it works on a fetch or task; nil for one that never answers.
        package var answersAfter: Instant.Span?
    }

    /// A request as a file says it.
    package struct TaskRequest: Hashable, Sendable {
        package var identifier: String
        package var isProcessing: Bool
        /// How long after the submission it begins at the earliest; nil for none.
        package var after: Instant.Span?
        package var needsPower: Bool
        package var needsNetwork: Bool
        package var isOfExtension: Bool
    }
}

extension ScriptedApp.TaskUse {
    /// Reads the key `tasks` of a scripted app.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        let keys = ["permitted", "submits", "fetch", "result", "downloads", "answers"]
        let fields = try Fields(node, of: "a use of background tasks", keys: keys)
        permitted =
            fields["permitted"] == nil
            ? nil
            : try fields.list("permitted", of: "identifiers", limit: 64) { (node) throws(FileError) in
                // From iOS 26 on the last part may be `*`, for tasks of continued processing.
                try node.identifier("the identifier of a task", marks: ".-_*", length: 1...128)
            }
        submits = try fields.list("submits", of: "task requests", limit: 64, ScriptedApp.TaskRequest.init)
        fetchInterval = try fields.value("fetch") { (node) throws(FileError) in
            if try node.text(expecting: "a time or 'minimum'") == "minimum" { return Instant.Span.zero }
            return try node.duration()
        }
        result = try fields["result"]?.word("fetch result", of: FetchResult.allCases, \.word) ?? .newData
        downloads = try fields["downloads"]?.bool() ?? true
        answersAfter = .seconds(1)
        if let answers = fields["answers"] {
            let isNever = try answers.text(expecting: "a time or 'never'") == "never"
            answersAfter = isNever ? nil : try answers.duration()
        }
    }
}

extension ScriptedApp.TaskRequest {
    /// Reads a request.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        let keys = ["id", "kind", "after", "power", "network", "extension"]
        let fields = try Fields(node, of: "a task request", keys: keys)
        identifier = try Self.identifier(try fields.required("id"))
        let kinds: [BackgroundTaskKind] = [.refresh, .processing]
        isProcessing = try fields["kind"]?.word("kind of task", of: kinds, \.word) == .processing
        after = try fields["after"]?.duration()
        needsPower = try fields["power"]?.bool() ?? false
        needsNetwork = try fields["network"]?.bool() ?? false
        isOfExtension = try fields["extension"]?.bool() ?? false
    }

    /// The identifier of a task.
    static func identifier(_ node: YAMLNode) throws(FileError) -> String {
        try node.identifier("the identifier of a task", marks: ".-_", length: 1...128)
    }
}
