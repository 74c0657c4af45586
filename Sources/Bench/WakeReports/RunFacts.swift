import WakeJSON
import WakeModel

/// An app of a run, whether anything happened to it or not: the first lines of outcomes.ndjson, as `wake.app/1`.
package struct AppEntry: Hashable, Sendable {
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
}

/// Something that the user, the phone or the system did, and no source: `wake.act/1`.
package struct Act: Hashable, Sendable {
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

    /// The act that an input is, without its time and place; nil when it is none.
    package static func word(_ input: Input) -> (word: String, app: AppID?)? {
        switch input {
        case .phone(let change): (word(change), nil)
        case .user(let app, let action): (word(action), app)
        case .setUp(let app, _): ("set up an accessory", app)
        case .terminate(let app, let cause, .normal): ("terminate (\(cause.word))", app)
        case .terminate(let app, let cause, let pressure): ("terminate (\(cause.word), \(pressure.word))", app)
        case .uninstall(let app): ("uninstall", app)
        case .timeReached, .install, .request, .process, .event, .overflowed, .redeliver, .benchRestarted: nil
        }
    }

    private static func word(_ change: PhoneChange) -> String {
        switch change {
        case .lock: "lock"
        case .unlock: "unlock"
        case .reboot: "reboot"
        case .setPasscode: "passcode set"
        case .removePasscode: "passcode removed"
        case .displayOn: "display on"
        case .callBegan: "call began"
        case .callEnded: "call ended"
        case .bluetoothOn: "Bluetooth on"
        case .bluetoothOff: "Bluetooth off"
        case .bluetoothOffInControlCentre: "Bluetooth off in Control Centre"
        case .airplaneModeOn: "airplane mode on"
        case .airplaneModeOnKeepingBluetooth: "airplane mode on, Bluetooth kept"
        case .airplaneModeOff: "airplane mode off"
        }
    }

    private static func word(_ action: UserAction) -> String {
        switch action {
        case .launch: "launch"
        case .home: "home"
        case .forceQuit: "force quit"
        case .interrupt: "interrupt"
        case .resumeActive: "resume active"
        case .allowAlways: "allow Always"
        case .keepWhenInUse: "keep When In Use"
        }
    }
}

/// What an app is registered for with the system at some instant: `wake.registrations/1`. The last of an app counts.
package struct RegistrationEntry: Hashable, Sendable {
    package var app: String
    package var at: Instant
    /// In the order in which the router keeps them; empty for nothing.
    package var kept: [Kept]

    /// One thing that it waits for.
    package struct Kept: Hashable, Sendable {
        /// The word of a ``Registration``, such as `pending-connect`.
        package var via: String
        /// The peripheral, region or socket; empty for none.
        package var subject: String
        package var since: Instant

        package init(via: String, subject: String, since: Instant) {
            self.via = via
            self.subject = subject
            self.since = since
        }
    }

    package init(app: String, at: Instant, kept: [Kept]) {
        self.app = app
        self.at = at
        self.kept = kept
    }
}

/// A device left the reach of the phone, or came back: `wake.range/1`.
package struct RangeEntry: Hashable, Sendable {
    package var device: String
    package var at: Instant
    package var inRange: Bool

    package init(device: String, at: Instant, inRange: Bool) {
        self.device = device
        self.at = at
        self.inRange = inRange
    }
}

// MARK: Writing

extension OutcomeLog {
    package func append(_ entry: AppEntry) throws(ReportError) {
        try append("wake.app/1") { line in
            line.put("app", entry.app)
            line.put("name", entry.name)
            line.put("log", entry.log)
        }
    }

    package func append(_ act: Act) throws(ReportError) {
        try append("wake.act/1") { line in
            line.put("id", act.event)
            line.put("app", act.app)
            line.put("t", act.at)
            line.put("act", act.word)
            line.put("origin", act.origin)
            if let locked = act.locked { line.put("locked", locked) }
        }
    }

    package func append(_ entry: RegistrationEntry) throws(ReportError) {
        try append("wake.registrations/1") { line in
            line.put("app", entry.app)
            line.put("t", entry.at)
            line.put("kept", objects: entry.kept) { kept, line in
                line.put("via", kept.via)
                line.put("subject", kept.subject)
                line.put("since", kept.since)
            }
        }
    }

    package func append(_ entry: RangeEntry) throws(ReportError) {
        try append("wake.range/1") { line in
            line.put("device", entry.device)
            line.put("t", entry.at)
            line.put("in_range", entry.inRange)
        }
    }

    /// The run is over at an instant, which may be later than the last thing that happened: `wake.end/1`.
    package func append(end: Instant) throws(ReportError) {
        try append("wake.end/1") { $0.put("t", end) }
    }
}

// MARK: Reading

extension AppEntry {
    init?(_ line: JSONValue) {
        guard let app = line["app"]?.string, let name = line["name"]?.string else { return nil }
        self.init(app: app, name: name, log: line["log"]?.string)
    }
}

extension Act {
    init?(_ line: JSONValue) {
        guard let word = line["act"]?.string, let at = line["t"]?.string.flatMap(LogTime.instant) else { return nil }
        self.init(
            event: EventID(line["id"]?.string.flatMap(LogTime.number) ?? 0),
            at: at,
            word: word,
            app: line["app"]?.string,
            origin: line["origin"]?.string ?? "",
            locked: line["locked"]?.bool
        )
    }
}

extension RegistrationEntry {
    init?(_ line: JSONValue) {
        guard let app = line["app"]?.string, let at = line["t"]?.string.flatMap(LogTime.instant) else { return nil }
        let kept = line["kept"]?.array.compactMap { each -> Kept? in
            guard let via = each["via"]?.string else { return nil }
            return Kept(
                via: via,
                subject: each["subject"]?.string ?? "",
                since: each["since"]?.string.flatMap(LogTime.instant) ?? .zero
            )
        }
        self.init(app: app, at: at, kept: kept ?? [])
    }
}

extension RangeEntry {
    init?(_ line: JSONValue) {
        guard let device = line["device"]?.string, let at = line["t"]?.string.flatMap(LogTime.instant),
            let inRange = line["in_range"]?.bool
        else { return nil }
        self.init(device: device, at: at, inRange: inRange)
    }
}
