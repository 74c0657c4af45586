import WakeModel

extension ScriptedApp {
    /// How a scripted app uses sound each time it is launched.
    package struct AudioUse: Hashable, Sendable {
        package var category: AudioCategory
        package var options: AudioOptions
        /// Output; input is ``records``.
        package var plays: Bool
        package var records: Bool
        /// Begin at launch; otherwise a step says when.
        package var startsAtLaunch: Bool
        /// Whether what it plays can be heard (AUD-4).
        package var isAudible: Bool
        /// It goes on when an interruption is over, and after a suspension.
        package var resumes: Bool
    }

    /// What a step lets a scripted app do.
    package enum SoundAct: Hashable, Sendable {
        case play
        /// It ends by itself, and lets others go on.
        case stop
        /// It ends by itself, and others that it interrupted do not hear of it (AUD-6).
        case stopUntold
        case tone
        case silence
        /// It answers no buffer for as long (AUD-11).
        case stall(Instant.Span)
    }
}

extension ScriptedApp.AudioUse {
    private static let options: [(word: String, option: AudioOptions)] = [
        ("mix-with-others", .mixWithOthers), ("duck-others", .duckOthers), ("default-to-speaker", .defaultToSpeaker),
        ("interrupt-spoken-audio", .interruptSpokenAudio),
    ]

    /// Reads the key `audio` of a scripted app.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(
            node,
            of: "a use of sound",
            keys: ["category", "options", "plays", "records", "starts", "audible", "resumes"]
        )
        category = try fields["category"]?.word("category") ?? .soloAmbient
        options = []
        for node in try fields["options"]?.list(expecting: "options", limit: 8) ?? [] {
            options.insert(try node.word("option", of: Self.options, \.word).option)
        }
        plays = try fields["plays"]?.bool() ?? category.plays
        records = try fields["records"]?.bool() ?? (category == .record)
        startsAtLaunch = try fields["starts"]?.bool() ?? true
        isAudible = try fields["audible"]?.bool() ?? true
        resumes = try fields["resumes"]?.bool() ?? true
        if !plays, !records {
            throw node.error(found: "a use of sound that neither plays nor records", expected: "one of both")
        }
    }
}
