import WakeModel

/// What the phone, and APNs, keep of an app's pushes.
struct PushRecord: Equatable, Codable {
    /// A push that is not given to the app yet, and the record that said so.
    struct Kept: Equatable, Codable {
        var event: WakeEvent
        var decision: DecisionID
    }

    /// A VoIP push whose call the present process owes a report of (PUSH-7).
    struct Call: Equatable, Codable {
        var number: UInt32
        var event: EventID
        var due: Instant
        var isReported = false
    }

    /// A service extension that runs (PUSH-9).
    struct Extension: Equatable, Codable {
        /// That of its push.
        var number: UInt32
        var notification: ScheduledNotification
        /// When it is told that its time is nearly over.
        var warning: Instant
        var due: Instant
    }

    /// Since when the app has a device token for pushes other than VoIP; nil while it has none.
    var registeredAt: Instant?
    /// Since when it has one for VoIP pushes.
    var callsRegisteredAt: Instant?
    /// Whether its bundle has a service extension.
    var hasExtension = false
    /// When background pushes woke it, oldest first, as far back as PUSH-3 looks.
    var wakes: [Instant] = []
    /// What the phone holds: the newest push (PUSH-3, PWR-2).
    var held: Kept?
    /// When it is looked whether what is held can be given.
    var release = Instant.distantFuture { didSet { times = timesNow } }
    /// What APNs keeps for want of the phone: the newest for each of the app's topics, VoIP or not (PUSH-4).
    var stored: [Kept] = [] { didSet { times = timesNow } }
    /// Completion handlers of pushes (PUSH-1).
    var fetches = OwedAnswers() { didSet { times = timesNow } }
    var calls: [Call] = [] { didSet { times = timesNow } }
    /// How many calls of the present process go on (PUSH-10).
    var callsInProgress: UInt32 = 0
    /// The calls that it did not report since it was installed (PUSH-8).
    var unreported: UInt32 = 0
    var extensions: [Extension] = [] { didSet { times = timesNow } }
    /// The latest pushes whose notifications were shown: one that is decided again shows nothing again.
    var presented: [EventID] = []
    /// Kept with each change: the router asks for them at every event.
    private(set) var times = Times()

    struct Times: Equatable, Codable {
        /// The earliest instant at which something is due.
        var due = Instant.distantFuture
        /// Until when the app may run for what it owes; zero when it owes nothing.
        var lingers = Instant.zero
    }

    private var timesNow: Times {
        var times = Times(due: min(release, fetches.due), lingers: fetches.until)
        for call in calls {
            times.due = min(times.due, call.due)
            times.lingers = max(times.lingers, call.due)
        }
        for item in extensions { times.due = min(times.due, item.warning, item.due) }
        for kept in stored {
            if case .at(let end) = kept.event.push.expiration { times.due = min(times.due, end) }
        }
        return times
    }

    var isConsistent: Bool { fetches.isConsistent && times == timesNow }

    /// How many wakes there were within the window before `now`.
    func wakes(before now: Instant, within window: Instant.Span) -> UInt32 {
        UInt32(wakes.count { now.since($0) < window })
    }
}
