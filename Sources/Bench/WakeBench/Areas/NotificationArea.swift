import WakeDevices
import WakeModel
import WakeNotification
import WakePorts
import WakeRouter
import WakeSystem

/// The notifications of apps, and the screen on which the user sees them.
final class NotificationArea: Area, BenchObserver {
    static let source = Source.notification

    static func isUsed(by scenario: Scenario) -> Bool { false }

    private let simulated: SimulatedNotifications
    private let names: NameTable
    private let notes: StepNotes
    /// Nanoseconds since 1970 at which the run begins; nil in real time, which has no other clock than the machine's.
    private var epoch: Int64?
    private var zone: PhoneZone

    var sources: [any SourcePort] { [simulated] }

    init(_ setup: AreaSetup) {
        simulated = SimulatedNotifications(names: setup.names)
        (names, notes) = (setup.names, setup.notes)
        let date = setup.options.date ?? setup.scenario.phone.date ?? .usual
        epoch = setup.realTime ? nil : date.nanoseconds
        let began = setup.realTime ? WallClock.now() / 1_000_000_000 : date.seconds
        zone = setup.scenario.phone.timeZone.zone(around: began)
    }

    /// What the phone's clock shows, for those who count from the beginning of the run.
    func clock(at now: Instant) -> PhoneClock {
        PhoneClock(epoch: epoch ?? WallClock.now() - now.nanoseconds, zone: zone)
    }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated.code(with: &coder)
        var began = epoch ?? 0
        try coder.code(&began)
        if epoch != nil { epoch = began }
        try coder.code(&zone)
    }

    func connect(to run: Run) { run.bench.add(self) }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        guard case .clock(let clock) = item.input,
            // The clock of a phone that is off stays as it is (SYS-1).
            !output.actions.contains(.did(.none, .foundPhoneOff, item.id))
        else { return }
        if epoch != nil { epoch = clock.epoch }
        zone = clock.zone
    }

    func install(_ app: ScenarioApp, as id: AppID, _ origin: NameID, in run: Run) {
        if app.refusesNotifications { run.bench.submit(.user(id, .refuseNotifications), origin: origin) }
    }

    // MARK: Steps

    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {
        if case .clock(.date) = verb, !canSetDate(scenario) {
            throw SourceFailure(.unsupported, "the phone's date can be set with scripted apps in virtual time alone")
        }
        guard case .tap(let apps, let notification) = verb else { return }
        for app in apps {
            try simulated.tap(notification, of: AppID(UInt32(app)), called: scenario.apps[app].name, origin)
        }
    }

    /// Real apps keep the time that they were started with.
    private func canSetDate(_ scenario: Scenario) -> Bool { epoch != nil && !scenario.hasBundles }

    func act(_ verb: Verb, _ origin: NameID, in run: Run, at now: Instant) {
        if case .clock(let setting) = verb {
            var clock = clock(at: now)
            switch setting {
            case .timeZone(let setting):
                let zone = setting.zone(around: clock.seconds(at: now))
                if clock.zone.isSame(as: zone) { noteSet("time-zone", at: now) }
                clock.zone = zone
            case .date(let date):
                guard canSetDate(run.scenario) else { return }
                if clock.epoch == date.nanoseconds - now.nanoseconds { noteSet("date", at: now) }
                clock.epoch = date.nanoseconds - now.nanoseconds
                clock.zone = ZoneSetting(clock.zone).zone(around: date.seconds)
            }
            run.bench.submit(.clock(clock), origin: origin)
        }
        guard case .notifications(let apps, let act) = verb else { return }
        for app in apps {
            if case .cancel(let notice) = act { noteNone(notice, of: AppID(UInt32(app)), in: run, at: now) }
            run.scripted.perform(act, of: AppID(UInt32(app)), at: now)
        }
    }

    /// An app takes back what is neither scheduled nor shown.
    private func noteNone(_ notice: String?, of app: AppID, in run: Run, at now: Instant) {
        guard run.scripted.isAwake(app) else { return }
        let there =
            run.bench.router.pendingNotifications(of: app).map { $0.notification.identifier }
            + run.bench.router.deliveredNotifications(of: app).map { $0.identifier }
        let isThere = notice.map { name in there.contains { names.text($0) == name } } ?? !there.isEmpty
        guard !isThere else { return }
        let what = "cancel \(run.name(of: app))" + (notice.map { " \($0)" } ?? "")
        let why = notice == nil ? "nothing is scheduled or shown" : "it is neither scheduled nor shown"
        notes.add(what, why, of: app, at: now, isReplayed: false)
    }

    private func noteSet(_ step: String, at now: Instant) {
        notes.add("\(step): nothing changed, as the phone's clock is set so already", at: now, isReplayed: false)
    }

    func owns(_ device: ScenarioDevice) -> Bool { false }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {}
}

extension AppView {
    /// What the phone's clock shows.
    var phoneClock: PhoneClock { areas.notification.clock(at: bench.now) }

    /// The notifications of an app that are not due yet, with the time at which each is due next; or those that the user sees, with
    /// the time at which each was shown.
    func notifications(of app: AppID, delivered: Bool) -> [(notification: ScheduledNotification, at: Instant)] {
        if delivered {
            return bench.router.deliveredNotifications(of: app).map {
                (ScheduledNotification(identifier: $0.identifier, content: $0.content, trigger: .now), $0.at)
            }
        }
        return bench.router.pendingNotifications(of: app).map { ($0.notification, $0.due) }
    }

    /// Whether the user lets an app show notifications (NOTE-7).
    func mayNotify(_ app: AppID) -> Bool { bench.router.mayNotify(app) }

    /// The number on an app's icon.
    func badge(of app: AppID) -> UInt32 { bench.router.badge(of: app) }
}
