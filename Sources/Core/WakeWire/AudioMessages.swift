/// What an app asks of its audio session and engine.
package enum WireAudioRequest: Equatable, Sendable {
    /// How things stand; answered by a reply with `audio`.
    case status(id: UInt64)
    /// The category by its word, and the options in the numbers of `AVAudioSession.CategoryOptions`.
    case category(WireAudioCategory, options: UInt16)
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

/// The categories of a session.
package enum WireAudioCategory: String, CaseIterable, Sendable {
    case ambient
    case soloAmbient = "solo-ambient"
    case playback
    case record
    case playAndRecord = "play-and-record"
    case multiRoute = "multi-route"
}

/// Whether the app may hear the microphone.
package enum WireMicrophone: String, CaseIterable, Sendable {
    case undetermined
    case denied
    case granted
}

/// One end of the way of sound.
package struct WireAudioPort: Equatable, Sendable {
    /// What it is.
    package var kind: WireAudioPortKind
    /// For people.
    package var name: String

    /// One end of the way of sound.
    package init(kind: WireAudioPortKind, name: String) {
        self.kind = kind
        self.name = name
    }
}

/// What an end of the way of sound is.
package enum WireAudioPortKind: String, CaseIterable, Sendable {
    case speaker
    case receiver
    case headphones
    case headsetMicrophone = "headset-microphone"
    case builtInMicrophone = "built-in-microphone"
    case usb
}

/// The way of sound; an end that is not there is nil.
package struct WireAudioRoute: Equatable, Sendable {
    package var output: WireAudioPort?
    package var input: WireAudioPort?

    /// The way of sound.
    package init(output: WireAudioPort?, input: WireAudioPort?) {
        self.output = output
        self.input = input
    }
}

/// How sound stands for an app.
package struct WireAudioStatus: Equatable, Sendable {
    package var microphone: WireMicrophone
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
    package var route: WireAudioRoute

    /// How sound stands for an app.
    package init(
        microphone: WireMicrophone,
        rate: UInt32,
        frames: UInt32,
        capacity: UInt32 = 0,
        otherPlaying: Bool = false,
        silenceSecondary: Bool = false,
        route: WireAudioRoute
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
    case routeChanged(reason: UInt8, WireAudioRoute, previous: WireAudioRoute)
    /// The user's answer.
    case permission(granted: Bool)
    /// Something that a framework need not tell its app, by the word of the records, with a count.
    case noted(String, count: UInt32)
    /// The stream is gone without the app's doing: the device went, or the memory made no sense.
    case lost
}

// MARK: Coding

extension WireAudioRequest {
    /// Reads the request of that type; nil for a type that is none of these.
    init?(type: String, fields: Fields) throws(WireError) {
        switch type {
        case "audio.status":
            self = .status(id: try fields.serial("id"))
        case "audio.category":
            self = .category(
                try fields.word("category", as: WireAudioCategory.self),
                options: UInt16(try fields.optionalInteger("options", in: 0...65_535) ?? 0)
            )
        case "audio.activate":
            self = .activate(id: try fields.serial("id"))
        case "audio.deactivate":
            self = .deactivate(notifiesOthers: try fields.flag("notifiesOthers"))
        case "audio.start":
            self = .start(
                id: try fields.serial("id"),
                plays: try fields.flag("plays"),
                records: try fields.flag("records")
            )
        case "audio.stop":
            self = .stop
        case "audio.buffer":
            self = .buffer(seconds: try fields.measure("seconds", in: 0...1))
        case "audio.permission":
            self = .permission
        default:
            return nil
        }
    }

    private var type: String {
        switch self {
        case .status: "audio.status"
        case .category: "audio.category"
        case .activate: "audio.activate"
        case .deactivate: "audio.deactivate"
        case .start: "audio.start"
        case .stop: "audio.stop"
        case .buffer: "audio.buffer"
        case .permission: "audio.permission"
        }
    }

    func write(manager: UInt32, to writer: inout JSONWriter) {
        writer.field("type", type)
        writer.field("manager", manager)
        switch self {
        case .status(let id), .activate(let id):
            writer.field("id", id)
        case .category(let category, let options):
            writer.field("category", category.rawValue)
            writer.field("options", options)
        case .deactivate(let notifiesOthers):
            writer.field("notifiesOthers", notifiesOthers)
        case .start(let id, let plays, let records):
            writer.field("id", id)
            writer.field("plays", plays)
            writer.field("records", records)
        case .buffer(let seconds):
            writer.field("seconds", seconds)
        case .stop, .permission:
            break
        }
    }
}

extension WireAudioStatus {
    init(_ fields: Fields) throws(WireError) {
        self.init(
            microphone: try fields.word("microphone", as: WireMicrophone.self),
            rate: UInt32(try fields.integer("rate", in: 1...1_000_000)),
            frames: UInt32(try fields.integer("frames", in: 1...65_536)),
            capacity: UInt32(try fields.integer("capacity", in: 0...65_536)),
            otherPlaying: try fields.flag("otherPlaying"),
            silenceSecondary: try fields.flag("silenceSecondary"),
            route: try WireAudioRoute(fields.object("route"))
        )
    }

    func write(to writer: inout JSONWriter) {
        writer.openObject()
        writer.field("microphone", microphone.rawValue)
        writer.field("rate", rate)
        writer.field("frames", frames)
        writer.field("capacity", capacity)
        writer.field("otherPlaying", otherPlaying)
        writer.field("silenceSecondary", silenceSecondary)
        writer.key("route")
        route.write(to: &writer)
        writer.closeObject()
    }
}

extension WireAudioRoute {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            output: try fields.optionalObject("output").map { (fields) throws(WireError) in try WireAudioPort(fields) },
            input: try fields.optionalObject("input").map { (fields) throws(WireError) in try WireAudioPort(fields) }
        )
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.openObject()
        if let output {
            writer.key("output")
            output.write(to: &writer)
        }
        if let input {
            writer.key("input")
            input.write(to: &writer)
        }
        writer.closeObject()
    }
}

extension WireAudioPort {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(kind: try fields.word("kind", as: WireAudioPortKind.self), name: try fields.string("name"))
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.openObject()
        writer.field("kind", kind.rawValue)
        writer.field("name", name)
        writer.closeObject()
    }
}

extension WireAudioEvent {
    /// Reads the event of that kind; nil for a kind that is none of these.
    init?(kind: String, fields: Fields) throws(WireError) {
        switch kind {
        case "audio.interrupted":
            self = .interrupted(reason: UInt8(try fields.integer("reason", in: 0...255)))
        case "audio.interruptionEnded":
            self = .interruptionEnded(shouldResume: try fields.flag("shouldResume"))
        case "audio.routeChanged":
            self = .routeChanged(
                reason: UInt8(try fields.integer("reason", in: 0...255)),
                try WireAudioRoute(fields.object("route")),
                previous: try WireAudioRoute(fields.object("previous"))
            )
        case "audio.permissionAnswered":
            self = .permission(granted: try fields.flag("granted"))
        case "audio.noted":
            self = .noted(
                try fields.string("what"),
                count: UInt32(try fields.integer("count", in: 0...Int64(UInt32.max)))
            )
        case "audio.lost":
            self = .lost
        default:
            return nil
        }
    }

    var kind: String {
        switch self {
        case .interrupted: "audio.interrupted"
        case .interruptionEnded: "audio.interruptionEnded"
        case .routeChanged: "audio.routeChanged"
        case .permission: "audio.permissionAnswered"
        case .noted: "audio.noted"
        case .lost: "audio.lost"
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .interrupted(let reason):
            writer.field("reason", Int(reason))
        case .interruptionEnded(let shouldResume):
            writer.field("shouldResume", shouldResume)
        case .routeChanged(let reason, let route, let previous):
            writer.field("reason", Int(reason))
            writer.key("route")
            route.write(to: &writer)
            writer.key("previous")
            previous.write(to: &writer)
        case .permission(let granted):
            writer.field("granted", granted)
        case .noted(let what, let count):
            writer.field("what", what)
            writer.field("count", count)
        case .lost:
            break
        }
    }
}
