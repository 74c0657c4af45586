import WakeModel

/// What an app asks of its audio session and engine.
package enum WireAudioRequest: Equatable, Sendable {
    /// How things stand; answered by a reply with `audio`.
    case status(id: UInt64)
    /// The category by its word, and the options in the numbers of `AVAudioSession.CategoryOptions`.
    case category(AudioCategory, options: UInt16)
    /// Makes the session active; answered by a reply with `audio`, or with `error`.
    case activate(id: UInt64)
    /// Makes the session inactive.
    case deactivate(notifiesOthers: Bool)
    /// The engine begins; answered by a reply with `audio` and the descriptors of its stream, or with `error`.
    case start(id: UInt64, plays: Bool, records: Bool)
    /// The engine ends.
    case stop
    /// The length of a buffer that the app would like, in seconds; 0 takes the wish back.
    case buffer(seconds: Double)
    /// Asks the user; answered by `audio.permission`.
    case permission
}

/// How sound stands for an app.
package struct WireAudioStatus: Equatable, Sendable {
    package var microphone: MicrophonePermission
    /// Frames a second.
    package var rate: UInt32
    /// Frames of one render callback.
    package var frames: UInt32
    /// Frames that each ring of the stream holds; 0 without a stream.
    package var capacity: UInt32
    /// Another app plays.
    package var otherPlaying: Bool
    /// Another app plays that does not mix.
    package var silenceSecondary: Bool
    package var route: AudioRoute

    /// How sound stands for an app.
    package init(
        microphone: MicrophonePermission,
        rate: UInt32,
        frames: UInt32,
        capacity: UInt32 = 0,
        otherPlaying: Bool = false,
        silenceSecondary: Bool = false,
        route: AudioRoute
    ) {
        self.microphone = microphone
        self.rate = rate
        self.frames = frames
        self.capacity = capacity
        self.otherPlaying = otherPlaying
        self.silenceSecondary = silenceSecondary
        self.route = route
    }
}

/// What happened to an app's sound.
package enum WireAudioEvent: Equatable, Sendable {
    /// The session is inactive; a reason of `AVAudioSession.InterruptionReason`.
    case interrupted(reason: UInt8)
    case interruptionEnded(shouldResume: Bool)
    /// A reason of `AVAudioSession.RouteChangeReason`.
    case routeChanged(reason: UInt8, AudioRoute, previous: AudioRoute)
    /// The user's answer.
    case permissionAnswered(granted: Bool)
    /// Something that a framework need not tell its app, by the word of the records, with a count.
    case noted(String, count: UInt32)
    /// The stream is gone without the app's doing: the device went, or the memory made no sense.
    case lost
}

// MARK: Coding

extension WireAudioRequest: AreaMessage {
    static let area = "audio"
    static let blanks: [Self] = [
        .status(id: 0), .category(.ambient, options: 0), .activate(id: 0), .deactivate(notifiesOthers: false),
        .start(id: 0, plays: false, records: false), .stop, .buffer(seconds: 0), .permission,
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .status(let id): self = try .status(id: coder.field("id", id, .whole))
        case .category(let category, let options):
            self = try .category(
                coder.field("category", category, .word),
                options: coder.field("options", options, .whole, absent: 0)
            )
        case .activate(let id): self = try .activate(id: coder.field("id", id, .whole))
        case .deactivate(let notifies):
            self = try .deactivate(notifiesOthers: coder.field("notifiesOthers", notifies, .bool, absent: false))
        case .start(let id, let plays, let records):
            self = try .start(
                id: coder.field("id", id, .whole),
                plays: coder.field("plays", plays, .bool, absent: false),
                records: coder.field("records", records, .bool, absent: false)
            )
        case .buffer(let seconds):
            self = try .buffer(seconds: coder.field("seconds", seconds, .measure(in: 0...1)))
        case .stop, .permission: break
        }
    }
}

extension WireAudioEvent: AreaMessage {
    static let area = "audio"
    static let blanks: [Self] = [
        .interrupted(reason: 0), .interruptionEnded(shouldResume: false),
        .routeChanged(reason: 0, .blank, previous: .blank), .permissionAnswered(granted: false),
        .noted("", count: 0), .lost,
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .interrupted(let reason): self = try .interrupted(reason: coder.field("reason", reason, .whole))
        case .interruptionEnded(let resumes):
            self = try .interruptionEnded(shouldResume: coder.field("shouldResume", resumes, .bool, absent: false))
        case .routeChanged(let reason, let route, let previous):
            self = try .routeChanged(
                reason: coder.field("reason", reason, .whole),
                coder.field("route", route, .object),
                previous: coder.field("previous", previous, .object)
            )
        case .permissionAnswered(let granted):
            self = try .permissionAnswered(granted: coder.field("granted", granted, .bool, absent: false))
        case .noted(let what, let count):
            self = try .noted(coder.field("what", what, .text), count: coder.field("count", count, .whole))
        case .lost: break
        }
    }
}

extension WireAudioStatus: Coded {
    static let blank = WireAudioStatus(microphone: .undetermined, rate: 0, frames: 0, route: .blank)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("microphone", of: &microphone, .word)
        try coder.field("rate", of: &rate, .whole(in: 1...1_000_000))
        try coder.field("frames", of: &frames, .whole(in: 1...65_536))
        try coder.field("capacity", of: &capacity, .whole(in: 0...65_536))
        try coder.field("otherPlaying", of: &otherPlaying, .bool, absent: false)
        try coder.field("silenceSecondary", of: &silenceSecondary, .bool, absent: false)
        try coder.field("route", of: &route, .object)
    }
}

extension AudioRoute: Coded {
    static let blank = AudioRoute(output: nil, input: nil)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("output", of: &output, .object)
        try coder.field("input", of: &input, .object)
    }
}

extension AudioCategory: WireWord {}

extension MicrophonePermission: WireWord {}

extension AudioPortKind: WireWord {}

extension AudioRoute.End: Coded {
    static let blank = AudioRoute.End(.speaker, name: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("kind", of: &kind, .word)
        try coder.field("name", of: &name, .text)
    }
}
