import WakeModel

/// What one turn of the router produced. The owner reuses it from turn to turn.
package struct RouterOutput {
    /// What to do, in order.
    package var actions: [Action] = []
    /// What was decided, in order; the decisions on one event stand together.
    package var decisions: [Decision] = []
    /// The earliest instant at which the router has something to do without being asked.
    package internal(set) var nextDeadline: Instant?

    package init() {}

    /// Forgets the turn and keeps the memory.
    package mutating func removeAll() {
        actions.removeAll(keepingCapacity: true)
        decisions.removeAll(keepingCapacity: true)
    }
}

/// What the profile sets once for a run. It stands behind one pointer: a router is copied where one of its methods reads
/// it, and these would be two fifths of what is copied.
final class Constants: Sendable {
    let profile: Profile
    /// Squares and chords of the distances of the profile.
    let significantSquare: Double
    let pauseSquare: Double
    let regionRadiusLimitChord: Double

    init(_ profile: Profile) {
        self.profile = profile
        let significant = Sphere.chord(metres: Double(profile.areas.location.significantDistance))
        let pause = Sphere.chord(metres: Double(profile.areas.location.pauseDistance))
        significantSquare = significant * significant
        pauseSquare = pause * pause
        regionRadiusLimitChord = Sphere.chord(metres: Double(profile.areas.location.regionRadiusLimit))
    }
}

/// The desk: decides which app runs, when and why, and does nothing itself.
///
/// It reads no clock and draws no chance: the same inputs at the same instants give the same output, byte for byte.
/// Due deadlines are handled before an input of the same instant.
package struct Router {
    let constants: Constants
    /// The rule constants in force.
    package var profile: Profile { constants.profile }

    var apps: [AppLifecycle] = []
    var areas: Areas
    /// The screen is locked (AUD-9).
    package internal(set) var isLocked = false
    var deadlines = Deadlines()
    /// The app in the foreground, active or on its way (LIFE-9).
    var foreground: AppID?

    /// Its power, network, switches and display.
    package internal(set) var conditions = PhoneConditions.usual
    var passcode: Bool
    var unlockedSinceBoot = true
    var unlockedAt = Instant.zero

    var now = Instant.zero
    package internal(set) var lastDecision: UInt64 = 0
    var lastExit: UInt64 = 0
    /// What the turn at hand has produced: its owner's, for as long as the turn takes.
    var output = RouterOutput()
    /// Whether the event at hand found anybody.
    var reached = false
    /// Whether the event at hand was lost before anybody could hear of it.
    var isOverflowing = false

    /// The bound of what waits for one app, decided or not.
    static let waitingLimit = 1_024
    /// The bound of one app's background tasks.
    static let tasksLimit = 1_024

    init(profile: Profile, passcode: Bool, conditions: PhoneConditions, areas: Areas) {
        constants = Constants(profile)
        self.passcode = passcode
        self.conditions = conditions
        self.areas = areas
    }

    /// The earliest instant at which ``handle(_:id:at:into:)`` has something to do without being asked.
    package var nextDeadline: Instant? { nextDue }

    /// Inlined, as the router would be copied for a question.
    @inline(__always)
    private var nextDue: Instant? {
        guard areas.due < .distantFuture else { return deadlines.first?.at }
        return min(areas.due, deadlines.first?.at ?? .distantFuture)
    }

    /// The state of an app; `notRunning` when it was never installed.
    package func state(of app: AppID) -> AppState {
        Int(app.number) < apps.count ? apps[app].state : .notRunning
    }

    /// The bundle identifiers of the apps that were ever installed, by number.
    package var bundles: [NameID] { apps.map(\.snapshot.bundle) }

    /// Which process of the app is, or was, the last; 0 before the first.
    package func generation(of app: AppID) -> UInt32 {
        Int(app.number) < apps.count ? apps[app].snapshot.generation : 0
    }

    /// Whether the host was asked to freeze the app and has not answered.
    package func isFreezing(_ app: AppID) -> Bool {
        Int(app.number) < apps.count && apps[app].stage == .freezing
    }

    /// The time left in the background; nil in the foreground, where it is unlimited (TASK-5).
    package func backgroundTimeRemaining(of app: AppID, at now: Instant) -> Instant.Span? {
        guard Int(app.number) < apps.count else { return .zero }
        switch apps[app].state {
        case .active, .inactive: return nil
        case .suspended, .notRunning: return .zero
        case .background:
            if runsOn(app) { return nil }
            let budgetEnds = apps[app].taskBudgetEnds
            guard let window = apps[app].window(at: now), budgetEnds == nil || apps[app].tasks.isEmpty else {
                return max(.zero, (budgetEnds ?? now).since(now))
            }
            return max(window.ends, budgetEnds ?? now).since(now)
        }
    }

    /// Hears one input.
    ///
    /// - Parameters:
    ///   - id: The number of the event or of the user's or phone's action; ``EventID/none`` for what is neither.
    ///   - now: Never earlier than before; an earlier instant is taken as the latest one.
    package mutating func handle(_ input: Input, id: EventID, at now: Instant, into output: inout RouterOutput) {
        swap(&self.output, &output)
        self.now = max(self.now, now)
        fireDeadlines()
        hear(input, id: id)
        self.output.nextDeadline = nextDue
        swap(&self.output, &output)
    }

    /// Something for the owner to do.
    @inline(__always)
    mutating func act(_ action: Action) { output.actions.append(action) }

    /// An event that follows from what the router found.
    @inline(__always)
    mutating func raise(_ event: WakeEvent, _ payload: EventPayload = .none) { act(.raise(event, payload)) }

    /// Every app that was ever installed.
    var everyApp: LazyMapSequence<Range<Int>, AppID> { apps.indices.lazy.map { AppID(UInt32($0)) } }

    private mutating func hear(_ input: Input, id: EventID) {
        switch input {
        case .timeReached: break
        case .phone(let change): phone(change, id: id)
        case .clock(let clock):
            if conditions.contains(.shutDown) { return act(.did(.none, .foundPhoneOff, id)) }
            tell(.clockSet(clock))
        case .install(let app, let manifest): install(app, manifest)
        case .uninstall(let app): uninstall(app, id: id)
        case .update(let app, let manifest):
            guard finds(app, by: id) else { return }
            install(app, manifest)
            terminate(app, cause: .update, pressure: .normal, code: 0, by: id)
        case .refuseUpdate(let app, let key):
            guard finds(app, by: id) else { return }
            act(.did(app, .refusedBundle, subject: key, id))
        case .user(let app, let action):
            guard finds(app, by: id) else { return }
            user(action, app, id: id)
            reschedule(app)
        case .setUp(let app, let peripheral):
            guard finds(app, by: id) else { return }
            setUp(peripheral, for: app, by: id)
        case .terminate(let app, let cause, let pressure):
            guard finds(app, by: id, whenOff: true) else { return }
            if !apps[app].hasProcess { act(.did(app, .foundNoProcess, id)) }
            terminate(app, cause: cause, pressure: pressure, code: 0, by: id)
            reschedule(app)
        case .request(let app, let request):
            guard isInstalled(app) else { return }
            self.request(request, from: app)
            reschedule(app)
        case .process(let app, let report):
            guard isInstalled(app) else { return }
            process(report, of: app)
            reschedule(app)
        case .event(let event):
            route(event)
        case .overflowed(let event):
            isOverflowing = true
            route(event)
            isOverflowing = false
        case .redeliver(let app, let event, let supersedes):
            guard isInstalled(app) else {
                nobody(event, supersedes: supersedes)
                return
            }
            decideAnew(event, of: app, held: nil, supersedes: supersedes, restarted: true)
            reschedule(app)
        case .benchRestarted:
            benchRestarted(id: id)
        }
    }

    /// Whether what somebody does to an app finds it; where it does not, it is said that nothing changed.
    ///
    /// - Parameter whenOff: whether it also comes to something while the phone is off.
    private mutating func finds(_ app: AppID, by id: EventID, whenOff: Bool = false) -> Bool {
        let isOff = conditions.contains(.shutDown) && !whenOff
        if isInstalled(app), !isOff { return true }
        act(.did(app, isInstalled(app) ? .foundPhoneOff : .foundNotInstalled, id))
        return false
    }

    private mutating func fireDeadlines() {
        tell(.due)
        while let (at, app) = deadlines.first, at <= now {
            deadlineReached(app)
            reschedule(app)
            if let next = deadlines.first, next.app == app, next.at <= at {
                preconditionFailure("the deadline of app \(app.number) does not move on from \(at.nanoseconds)")
            }
        }
    }

    /// Finds the apps that registered for the event, and decides for each.
    private mutating func route(_ event: WakeEvent) {
        reached = false
        area(of: event.kind.source).route(event, in: &self)
        if !reached { nobody(event) }
    }

    /// Whether an app is there, and not uninstalled.
    package func isInstalled(_ app: AppID) -> Bool {
        Int(app.number) < apps.count && apps[app].installed
    }

    mutating func reschedule(_ app: AppID) {
        deadlines.set(nextDeadline(of: app), for: app)
    }

    /// The next instant at which something about an app is due.
    private mutating func nextDeadline(of app: AppID) -> Instant? {
        // Held on to, its profile is read where it stands rather than copied.
        let constants = constants
        let due = areas.due(of: app)
        let ofProcess = apps[app].deadline(
            lingers: areas.lingers(app),
            runsOn: apps[app].taskBudgetEnds != nil && !apps[app].tasks.isEmpty && runsOn(app),
            by: constants
        )
        let next = min(due, ofProcess ?? .distantFuture)
        return next == .distantFuture ? nil : next
    }

    // MARK: Installing

    private mutating func install(_ app: AppID, _ manifest: AppManifest) {
        precondition(app.number <= apps.count, "app numbers are given in order: \(app.number) after \(apps.count)")
        let isNew = app.number == apps.count
        if isNew || !apps[app].installed {
            let before = isNew ? AppLifecycle() : apps[app]
            apps.put(before.installedAnew(at: now), at: Int(app.number))
            areas.resetApp(app)
        }
        apps[app].snapshot.bundle = manifest.bundle
        apps[app].snapshot.modes = manifest.modes
        if !manifest.modes.isEmpty { act(.did(app, .tookModes)) }
        apps[app].snapshot.sdk = manifest.sdk
        apps[app].snapshot.exitsOnSuspend = manifest.exitsOnSuspend
        var ends = false
        eachArea { if $0.installed(app, manifest, in: &$1) { ends = true } }
        if ends, apps[app].hasProcess { end(app, cause: .policy, code: 0, by: .none) }
        tell(.changed, of: app)
        reschedule(app)
    }

    private mutating func uninstall(_ app: AppID, id: EventID) {
        guard finds(app, by: id) else { return }
        endForGood(app, by: id, taking: .lostToUninstall)
        let held = registrations(of: app)
        tell(.uninstalled, of: app)
        apps[app].installed = false
        tellLost(held, of: app, to: .lostToUninstall, by: id)
        reschedule(app)
    }

    // MARK: States

    /// An app enters a stage; who hears of its state does.
    mutating func enter(_ stage: AppLifecycle.Stage, _ app: AppID) {
        guard let from = apps[app].enter(stage, at: now) else { return }
        let to = stage.shown
        act(.moved(app, from: from, to: to))
        tell(.moved(from: from, to: to), of: app)
        // The end of a process lets go of what it held first.
        if to != .notRunning { tell(.changed, of: app) }
    }

    /// The process is gone: its exit record is written, and what it held for itself goes with it (LIFE-10).
    ///
    /// - Parameter taker: what takes more from the app than any end of its process does; nil for any end.
    mutating func end(
        _ app: AppID,
        cause: ExitCause,
        code: Int64,
        by event: EventID,
        alreadyGone: Bool = false,
        taking taker: Deed? = nil
    ) {
        let held = registrations(of: app)
        let before = apps[app].state
        if !alreadyGone && cause != .bench { act(.kill(app)) }
        enter(.notRunning, app)
        lastExit += 1
        apps[app].noteExit(lastExit, cause, at: now)
        if foreground == app, apps[app].relaunch == nil { foreground = nil }
        act(
            .exited(
                ExitRecord(
                    number: lastExit,
                    app: app,
                    generation: apps[app].snapshot.generation,
                    cause: cause,
                    code: code,
                    stateBefore: before,
                    causedBy: event,
                    at: now
                )
            )
        )
        tell(.ended, of: app)
        let isBarred = isBarred(app)
        if !isBarred { tell(.changed, of: app) }
        dropWaiting(of: app, reason: .appEnded)
        // What came while the process was ending is still decided for what the app held.
        decideHeld(of: app)
        if isBarred { tell(.barred, of: app) }
        tellEnded(held, of: app, by: taker ?? (isBarred ? .lostToForceQuit : nil), event)
        launchAfterEnd(app)
        tell(.gone(cause, code: code), of: app)
    }
}
