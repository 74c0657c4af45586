import WakeModel

/// An app of a run, whether anything happened to it or not: the first lines of outcomes.ndjson, as `wake.app/1`.
package struct AppEntry: LogLine, Hashable, Sendable {
    /// The bundle identifier.
    package var app: String
    /// What the scenario calls it, such as `heart`.
    package var name: String
    /// Where what it prints goes, from the run folder; nil for a scripted app.
    package var log: String?

    package init(app: String, name: String, log: String? = nil) {
        self.app = app
        self.name = name
        self.log = log
    }

    package static let schema = "wake.app/1"
    package static let blank = AppEntry(app: "", name: "")

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("app", &app)
        coder.need("name", &name)
        coder.code("log", &log)
    }
}

/// Something that the user, the phone or the system did, and no source: `wake.act/1`.
package struct Act: LogLine, Hashable, Sendable {
    package var event: EventID
    package var at: Instant
    /// Such as `lock`, `reboot` or `force quit`.
    package var word: String
    /// Nil when it is about the whole phone.
    package var app: String?
    /// Where it was asked for, such as `night.yaml:31`.
    package var origin: String
    /// Whether the screen is locked after it (AUD-9); nil when it is about an app, and in a log of an older version.
    package var locked: Bool?

    package init(
        event: EventID,
        at: Instant,
        word: String,
        app: String? = nil,
        origin: String = "",
        locked: Bool? = nil
    ) {
        self.event = event
        self.at = at
        self.word = word
        self.app = app
        self.origin = origin
        self.locked = locked
    }

    package static let schema = "wake.act/1"
    package static let blank = Act(event: .none, at: .zero, word: "")

    package mutating func code(with coder: inout RecordCoder) {
        coder.code("id", &event)
        coder.code("app", &app)
        coder.need("t", &at)
        coder.need("act", &word)
        coder.code("origin", &origin)
        coder.code("locked", ifKnown: &locked)
    }

    /// The word of an installation of an app that was uninstalled before; other installations have no line.
    package static let installed = "install"

    /// The act that an input is, without its time and place; nil when it is none.
    package static func word(_ input: Input) -> (word: String, app: AppID?)? {
        switch input {
        case .phone(let change): words["\(change)"].map { ($0, nil) }
        case .clock: words["clock"].map { ($0, nil) }
        case .user(let app, let action): words["\(action)"].map { ($0, app) }
        case .setUp(let app, _): words["setUp"].map { ($0, app) }
        case .terminate(let app, let cause, .normal): ("terminate (\(cause.word))", app)
        case .terminate(let app, let cause, let pressure): ("terminate (\(cause.word), \(pressure.word))", app)
        case .uninstall(let app): ("uninstall", app)
        case .install(let app, _): (installed, app)
        case .update(let app, _): ("install another version", app)
        case .refuseUpdate(let app, _): ("install a bundle that is refused", app)
        case .timeReached, .request, .process, .event, .overflowed, .redeliver, .benchRestarted: nil
        }
    }

    /// The words of acts.tsv, by the names of what is done.
    static let words = Table.pairs("acts.tsv", EmbeddedFile.actsTSV, columns: ["act", "word"])
}

/// Something that the router did by a rule and that is no verdict: `wake.deed/1`.
package struct DeedEntry: LogLine, Hashable, Sendable {
    package var deed: Deed
    package var at: Instant
    /// The bundle identifier; nil when it is about no app.
    package var app: String?
    /// What it was done to; empty for nothing that has a name.
    package var subject: String
    /// The event that led to it.
    package var event: EventID
    /// The word of a ``Registration`` that the app has no more, such as `connection`; nil where it lost none.
    package var via: String?

    package init(
        deed: Deed,
        at: Instant,
        app: String? = nil,
        subject: String = "",
        event: EventID = .none,
        via: String? = nil
    ) {
        self.deed = deed
        self.at = at
        self.app = app
        self.subject = subject
        self.event = event
        self.via = via
    }

    package static let schema = "wake.deed/1"
    package static let blank = DeedEntry(deed: .endedForAnswer, at: .zero)

    package mutating func code(with coder: inout RecordCoder) {
        coder.code("app", &app)
        coder.need("t", &at)
        coder.need("deed", &deed, \.word, Deed.init(word:))
        var rule = deed.rule.text
        coder.need("rule", &rule)
        coder.code("subject", &subject)
        coder.code("event", &event)
        coder.code("via", ifKnown: &via)
    }

    /// One line for people.
    package var text: String {
        let about = [via, subject].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ")
        return "\(deed.row.sentence) (\(deed.rule.text))" + (about.isEmpty ? "" : ": \(about)")
    }
}

/// What an app is registered for with the system at some instant: `wake.registrations/1`. The last of an app counts.
package struct RegistrationEntry: LogLine, Hashable, Sendable {
    package var app: String
    package var at: Instant
    /// In the order in which the router keeps them; empty for nothing.
    package var kept: [Kept]

    /// One thing that it waits for.
    package struct Kept: LogRecord, Hashable, Sendable {
        /// The word of a ``Registration``, such as `pending-connect`.
        package var via: String
        /// The peripheral, region or socket; empty for none.
        package var subject: String
        package var since: Instant
        /// The word of the reason why it does not wake the app as the user's answers are then, such as `NotAuthorized`; nil for none.
        package var lacks: String?

        package init(via: String, subject: String, since: Instant, lacks: String? = nil) {
            self.via = via
            self.subject = subject
            self.since = since
            self.lacks = lacks
        }

        package static let blank = Kept(via: "", subject: "", since: .zero)

        package mutating func code(with coder: inout RecordCoder) {
            coder.need("via", &via)
            coder.code("subject", &subject)
            coder.code("since", &since)
            coder.code("lacks", ifKnown: &lacks)
        }
    }

    package init(app: String, at: Instant, kept: [Kept]) {
        self.app = app
        self.at = at
        self.kept = kept
    }

    package static let schema = "wake.registrations/1"
    package static let blank = RegistrationEntry(app: "", at: .zero, kept: [])

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("app", &app)
        coder.need("t", &at)
        coder.code("kept", objects: &kept)
    }
}

/// The bytes that came with an event, whichever app reads them: `wake.value/1`, one line an event however many apps it is for.
/// Decisions name the event.
package struct ValueEntry: LogLine, Hashable, Sendable {
    package var event: EventID
    /// In hexadecimal; those of several writes with spaces between them.
    package var value: String

    package init(event: EventID, value: String) {
        self.event = event
        self.value = value
    }

    package static let schema = "wake.value/1"
    package static let blank = ValueEntry(event: .none, value: "")

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("event", &event)
        coder.need("value", &value)
    }

    private static let start = Array("{\"schema\":\"wake.value/1\",\"event\":".utf8)
    private static let valueKey = Array(",\"value\":".utf8)

    /// Reads a line as ``OutcomeLog`` writes it, of which a day may have a hundred thousand; nil when it is another.
    init?(_ line: [UInt8], _ texts: inout TextPool) {
        var offset = 0
        guard let event = Value(line, after: Self.start, &offset)?.id,
            let value = Value(line, after: Self.valueKey, &offset), offset + 1 == line.count, line[offset] == 0x7d,
            let text = texts.text(value)
        else { return nil }
        self.init(event: EventID(event), value: text)
    }
}

/// A device left the reach of the phone, or came back: `wake.range/1`.
package struct RangeEntry: LogLine, Hashable, Sendable {
    package var device: String
    package var at: Instant
    package var inRange: Bool

    package init(device: String, at: Instant, inRange: Bool) {
        self.device = device
        self.at = at
        self.inRange = inRange
    }

    package static let schema = "wake.range/1"
    package static let blank = RangeEntry(device: "", at: .zero, inRange: true)

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("device", &device)
        coder.need("t", &at)
        coder.need("in_range", &inRange)
    }
}

/// A line for people, such as a scenario's `note` step: `wake.note/1`.
package struct Note: LogLine, Hashable, Sendable {
    package var text: String
    /// Nil when it is about the whole run.
    package var app: String?
    package var at: Instant

    package init(text: String, app: String? = nil, at: Instant) {
        self.text = text
        self.app = app
        self.at = at
    }

    /// Whether a note says what a device refuses because it is not paired.
    static func isOfPairing(_ text: String, with device: String) -> Bool {
        text.hasPrefix("\(device) rejects pairing: ")
            || text.hasPrefix("pairing with \(device) does not authenticate the link: ")
    }

    /// What a note says where the phone has forgotten what it found of a device's attributes.
    package static func forgotten(_ device: String) -> String {
        "forget-attributes \(device): the phone looks for them anew when an app discovers"
    }

    /// How the note of a lock begins that an app held when it was frozen.
    package static let frozenWith = "frozen with "

    package static let schema = "wake.note/1"
    package static let blank = Note(text: "", at: .zero)

    package mutating func code(with coder: inout RecordCoder) {
        coder.code("app", &app)
        coder.need("t", &at)
        coder.need("note", &text)
    }
}

/// How long an app has kept the receiver on since the run began (LOC-9): `wake.receiver/1`. The last of an app counts.
package struct ReceiverEntry: LogLine, Hashable, Sendable {
    package var app: String
    package var at: Instant
    package var milliseconds: Int64

    package init(app: String, at: Instant, milliseconds: Int64) {
        self.app = app
        self.at = at
        self.milliseconds = milliseconds
    }

    package static let schema = "wake.receiver/1"
    package static let blank = ReceiverEntry(app: "", at: .zero, milliseconds: 0)

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("app", &app)
        coder.code("t", &at)
        coder.need("on_ms", &milliseconds)
    }
}

/// What the processes of an app have used since the last such line of it, or since they were started: `wake.usage/1`. One is
/// written each time the app is suspended and at its end, and two runs never have the same.
package struct UsageEntry: LogLine, Hashable, Sendable {
    package var app: String
    package var at: Instant
    package var pid: Int32
    /// Of a processor.
    package var processor: Instant.Span
    /// The memory that the app has then, in bytes; nil at its end.
    package var footprint: Int64?

    package init(app: String, at: Instant, pid: Int32, processor: Instant.Span, footprint: Int64? = nil) {
        self.app = app
        self.at = at
        self.pid = pid
        self.processor = processor
        self.footprint = footprint
    }

    package static let schema = "wake.usage/1"
    package static let blank = UsageEntry(app: "", at: .zero, pid: 0, processor: .zero)

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("app", &app)
        coder.need("t", &at)
        coder.code("pid", &pid)
        var microseconds = processor.nanoseconds / 1_000
        coder.need("processor_us", &microseconds)
        // No process has used more than an instant can say.
        processor = Instant.Span(nanoseconds: min(max(microseconds, 0), Int64.max / 1_000) * 1_000)
        coder.code("footprint_bytes", ifKnown: &footprint)
    }
}

/// What went over the network for an app in one piece, when that is over: `wake.traffic/1`. Of what failed it is what was known
/// of its progress.
package struct TrafficEntry: LogLine, Hashable, Sendable {
    package var app: String
    package var at: Instant
    /// The system's number for it, used once in a run.
    package var number: UInt32
    /// Bytes that the server was sent, without heads.
    package var sent: UInt64
    /// Bytes that came, without heads.
    package var received: UInt64

    package init(app: String, at: Instant, number: UInt32, sent: UInt64, received: UInt64) {
        self.app = app
        self.at = at
        self.number = number
        self.sent = sent
        self.received = received
    }

    package static let schema = "wake.traffic/1"
    package static let blank = TrafficEntry(app: "", at: .zero, number: 0, sent: 0, received: 0)

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("app", &app)
        coder.need("t", &at)
        coder.need("number", &number)
        coder.need("sent", &sent)
        coder.need("received", &received)
    }
}

/// The run is over at an instant, which may be later than the last thing that happened: `wake.end/1`.
package struct EndEntry: LogLine {
    package var at: Instant

    package init(at: Instant) { self.at = at }

    package static let schema = "wake.end/1"
    package static let blank = EndEntry(at: .zero)

    package mutating func code(with coder: inout RecordCoder) { coder.need("t", &at) }
}
