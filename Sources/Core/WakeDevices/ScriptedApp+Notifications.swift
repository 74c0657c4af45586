import WakeModel

extension ScriptedApp {
    /// What a scripted app has the user notified of.
    package struct NotificationUse: Hashable, Sendable {
        /// Scheduled each time it is launched.
        package var scheduled: [Notice]
        /// While it is in the foreground, its notifications are shown to the user as well.
        package var presents: Bool
    }

    /// A notification as a file says it.
    package struct Notice: Hashable, Sendable {
        package var identifier: String
        package var content: NotificationContent
        package var trigger: NotificationTrigger
    }

    /// What a step lets apps do with their notifications.
    package enum NotificationAct: Hashable, Sendable {
        case schedule(Notice)
        /// The one that is not due yet, and the one that the user sees; nil for all.
        case cancel(String?)
    }
}

extension ScriptedApp.NotificationUse {
    /// Reads the key `notifications` of a scripted app.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a use of notifications", keys: ["schedule", "presents"])
        scheduled = try fields.list("schedule", of: "notifications", limit: 1_000, ScriptedApp.Notice.init)
        presents = try fields["presents"]?.bool() ?? false
    }
}

extension ScriptedApp.Notice {
    private static let triggers = ["after", "every", "date", "time"]

    /// Reads a notification.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        let keys = ["id", "title", "body", "badge", "sound", "repeat", "wall"]
        let fields = try Fields(node, of: "a notification", keys: keys + Self.triggers)
        identifier = try Self.identifier(try fields.required("id"))
        content = NotificationContent()
        content.title = try fields["title"]?.text(expecting: "a title") ?? ""
        content.body = try fields["body"]?.text(expecting: "a text") ?? ""
        content.badge = try (fields["badge"]?.integer(in: 0...Int(Int32.max))).map { UInt32($0) }
        content.sound = try fields.value("sound", NotificationSound.init) ?? .none
        trigger = try Self.trigger(fields)
    }

    /// The identifier of a notification.
    static func identifier(_ node: YAMLNode) throws(FileError) -> String {
        try node.identifier("the identifier of a notification", marks: ".-_", length: 1...64)
    }

    private static func trigger(_ fields: Fields) throws(FileError) -> NotificationTrigger {
        guard fields.present.contains(where: triggers.contains) else {
            try fields.refuse(["repeat", "wall"], beside: "id")
            return .now
        }
        let (key, value) = try fields.one(of: triggers, called: "a time")
        if key != "date" { try fields.refuse(["repeat", "wall"], beside: key) }
        switch key {
        case "after": return .interval(try value.interval(), repeats: false)
        case "every": return .interval(try value.interval(), repeats: true)
        case "date":
            guard let date = RunDate(try value.text(expecting: RunDate.expected)) else {
                throw value.error(expected: RunDate.expected)
            }
            let unit = try fields["repeat"]?.word("unit", of: RepeatInterval.allCases, \.word) ?? .never
            return .date(seconds: date.seconds, isWall: try fields["wall"]?.bool() ?? false, repeats: unit)
        default: return .matching(try DateMatch(time: value), repeats: true)
        }
    }
}

extension DateMatch {
    /// Reads a time of day, such as `07:30`.
    fileprivate init(time node: YAMLNode) throws(FileError) {
        let expected = "a time of day such as 07:30"
        let parts = try node.text(expecting: expected).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hour = UInt8(parts[0]), let minute = UInt8(parts[1]), hour < 24, minute < 60 else {
            throw node.error(expected: expected)
        }
        self.init()
        self.hour = hour
        self.minute = minute
    }
}

extension NotificationSound {
    /// Reads the sound of a scripted app's notification: `default`, or what the header of its file would say.
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        if case .scalar = node.content {
            guard try node.text(expecting: "'default' or a sound file") == "default" else {
                throw node.error(expected: "'default', or a mapping with 'file', 'format' and 'length'")
            }
            self = .standard
            return
        }
        let fields = try Fields(node, of: "a sound", keys: ["file", "format", "length"])
        let name = try fields.required("file").text(expecting: "the name of a file")
        guard let format = fields["format"] else {
            try fields.refuse(["length"], beside: "file")
            self = .file(name, nil)
            return
        }
        self = .file(
            name,
            SoundFile(
                format: try format.word("format", of: SoundFormat.allCases, \.word),
                length: try fields.required("length").duration()
            )
        )
    }
}
