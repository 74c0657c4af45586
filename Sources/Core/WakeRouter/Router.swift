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
    var areas = Areas()
    /// The screen is locked (AUD-9).
    package internal(set) var isLocked = false
    var deadlines = Deadlines()
    /// The app in the foreground, active or on its way (LIFE-9).
    var foreground: AppID?

    var passcode: Bool
    var unlockedSinceBoot = true
    var unlockedAt = Instant.zero

    var now = Instant.zero
    var lastDecision: UInt64 = 0
    var lastExit: UInt64 = 0
    /// Whether the event at hand found anybody.
    var reached = false
    /// Whether the event at hand was lost before anybody could hear of it.
    var isOverflowing = false

    /// The bound of what waits for one app, decided or not.
    static let waitingLimit = 1_024
    /// The bound of one app's background tasks.
    static let tasksLimit = 1_024

    /// A phone that is on and unlocked, without apps.
    package init(profile: Profile, passcode: Bool = true, bluetoothOn: Bool = true) {
        constants = Constants(profile)
        self.passcode = passcode
        areas.bluetooth.isOn = bluetoothOn
        areas.bluetooth.powerSwitch = bluetoothOn ? .on : .offInSettings
    }

    /// The earliest instant at which ``handle(_:id:at:into:)`` has something to do without being asked.
    package var nextDeadline: Instant? {
        guard areas.due < .distantFuture else { return deadlines.first?.at }
        return min(areas.due, deadlines.first?.at ?? .distantFuture)
    }

    /// The state of an app; `notRunning` when it was never installed.
    package func state(of app: AppID) -> AppState {
        Int(app.number) < apps.count ? apps[Int(app.number)].state : .notRunning
    }

    /// Which process of the app is, or was, the last; 0 before the first.
    package func generation(of app: AppID) -> UInt32 {
        Int(app.number) < apps.count ? apps[Int(app.number)].face.generation : 0
    }

    /// Whether the host was asked to freeze the app and has not answered.
    package func isFreezing(_ app: AppID) -> Bool {
        Int(app.number) < apps.count && apps[Int(app.number)].stage == .freezing
    }

    /// The time left in the background; nil in the foreground, where it is unlimited (TASK-5).
    package func backgroundTimeRemaining(of app: AppID, at now: Instant) -> Instant.Span? {
        guard Int(app.number) < apps.count else { return .zero }
        let index = Int(app.number)
        switch apps[index].state {
        case .active, .inactive: return nil
        case .suspended, .notRunning: return .zero
        case .background:
            if runsOn(index) { return nil }
            let budgetEnds = apps[index].taskBudgetEnds
            guard let window = apps[index].window(at: now), budgetEnds == nil || apps[index].tasks.isEmpty else {
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
        self.now = max(self.now, now)
        defer { output.nextDeadline = nextDeadline }
        fireDeadlines(into: &output)
        switch input {
        case .timeReached: break
        case .phone(let change): phone(change, id: id, into: &output)
        case .install(let app, let manifest): install(app, manifest, into: &output)
        case .uninstall(let app): uninstall(app, id: id, into: &output)
        case .user(let app, let action):
            guard isInstalled(app) else { return }
            user(action, app, id: id, into: &output)
            reschedule(app)
        case .setUp(let app, let peripheral):
            guard isInstalled(app) else { return }
            setUp(peripheral, for: app)
        case .terminate(let app, let cause, let pressure):
            guard isInstalled(app) else { return }
            terminate(app, cause: cause, pressure: pressure, code: 0, by: id, into: &output)
            reschedule(app)
        case .request(let app, let request):
            guard isInstalled(app) else { return }
            self.request(request, from: app, into: &output)
            reschedule(app)
        case .process(let app, let report):
            guard isInstalled(app) else { return }
            process(report, of: app, into: &output)
            reschedule(app)
        case .event(let event):
            route(event, into: &output)
        case .overflowed(let event):
            isOverflowing = true
            route(event, into: &output)
            isOverflowing = false
        case .redeliver(let app, let event, let supersedes):
            guard isInstalled(app) else {
                nobody(event, supersedes: supersedes, into: &output)
                return
            }
            redeliver(event, to: app, supersedes: supersedes, into: &output)
            reschedule(app)
        case .benchRestarted:
            benchRestarted(id: id, into: &output)
        }
    }

    private mutating func fireDeadlines(into output: inout RouterOutput) {
        tell(.due, into: &output)
        while let (at, app) = deadlines.first, at <= now {
            deadlineReached(app, into: &output)
            reschedule(app)
            if let next = deadlines.first, next.app == app, next.at <= at {
                preconditionFailure("the deadline of app \(app.number) does not move on from \(at.nanoseconds)")
            }
        }
    }

    /// Finds the apps that registered for the event, and decides for each.
    private mutating func route(_ event: WakeEvent, into output: inout RouterOutput) {
        reached = false
        routeToArea(event, into: &output)
        if !reached { nobody(event, into: &output) }
    }

    func isInstalled(_ app: AppID) -> Bool {
        Int(app.number) < apps.count && apps[Int(app.number)].installed
    }

    mutating func reschedule(_ app: AppID) {
        deadlines.set(nextDeadline(of: Int(app.number)), for: app)
    }

    /// The next instant at which something about an app is due.
    private mutating func nextDeadline(of index: Int) -> Instant? {
        // Held on to, its profile is read where it stands rather than copied.
        let constants = constants
        let due = areas.due(of: index)
        let ofProcess = apps[index].deadline(
            lingers: areas.lingers(index),
            runsOn: apps[index].taskBudgetEnds != nil && !apps[index].tasks.isEmpty && runsOn(index),
            by: constants.profile
        )
        return due == .distantFuture ? ofProcess : ofProcess.map { min($0, due) } ?? due
    }

    // MARK: Installing

    private mutating func install(_ app: AppID, _ manifest: AppManifest, into output: inout RouterOutput) {
        let index = Int(app.number)
        precondition(index <= apps.count, "app numbers are given in order: \(index) after \(apps.count)")
        if index == apps.count {
            apps.append(AppLifecycle())
            areas.addApp()
            apps[index].face.stateSince = now
            apps[index].installedAt = now
        }
        if !apps[index].installed {
            apps[index] = apps[index].installedAnew(at: now)
            areas.resetApp(index)
        }
        apps[index].installed = true
        apps[index].face.bundle = manifest.bundle
        apps[index].face.modes = manifest.modes
        apps[index].face.sdk = manifest.sdk
        apps[index].face.exitsOnSuspend = manifest.exitsOnSuspend
        var ends = false
        eachArea { if $0.installed(app, manifest, in: &$1) { ends = true } }
        if ends, apps[index].hasProcess { end(app, cause: .policy, code: 0, by: .none, into: &output) }
        tell(.changed, of: app, into: &output)
        reschedule(app)
    }

    private mutating func uninstall(_ app: AppID, id: EventID, into output: inout RouterOutput) {
        guard isInstalled(app) else { return }
        endForGood(app, by: id, into: &output)
        tell(.uninstalled, of: app, into: &output)
        apps[Int(app.number)].installed = false
        reschedule(app)
    }

    // MARK: The phone

    private mutating func phone(_ change: PhoneChange, id: EventID, into output: inout RouterOutput) {
        switch change {
        case .lock: setLocked(true, into: &output)
        case .unlock:
            setLocked(false, into: &output)
            if !unlockedSinceBoot { firstUnlock(into: &output) }
        case .setPasscode: passcode = true
        case .removePasscode:
            // Only an unlocked phone lets its passcode be removed.
            passcode = false
            if !unlockedSinceBoot { firstUnlock(into: &output) }
            setLocked(false, into: &output)
        case .reboot: reboot(id: id, into: &output)
        default:
            // What else happens to the phone is for areas to hear.
            tell(.changed(change, id), into: &output)
        }
    }

    private mutating func setLocked(_ locked: Bool, into output: inout RouterOutput) {
        isLocked = locked
        tell(.lockChanged, into: &output)
    }

    private mutating func firstUnlock(into output: inout RouterOutput) {
        unlockedAt = now
        unlockedSinceBoot = true
        if profile.firstUnlockGates { tell(.booted, into: &output) }
        tell(.unlocked, into: &output)
        for index in apps.indices { decideKept(of: AppID(UInt32(index)), into: &output) }
    }

    /// Every process ends, links go and pending connections stay; the force-quit bar is lifted (LAUNCH-4).
    private mutating func reboot(id: EventID, into output: inout RouterOutput) {
        unlockedSinceBoot = !passcode
        if unlockedSinceBoot { unlockedAt = now }
        tell(.rebooting, into: &output)
        for index in apps.indices where apps[index].installed {
            let app = AppID(UInt32(index))
            endForGood(app, by: id, into: &output)
            apps[index].face.rebootedSince = true
            if profile.rebootLiftsForceQuit { apps[index].face.forceQuit = false }
            reschedule(app)
        }
        setLocked(!unlockedSinceBoot, into: &output)
        tell(.rebooted(by: id), into: &output)
        tell(.takeUp, into: &output)
        tell(.restarted, into: &output)
        if unlockedSinceBoot || !profile.firstUnlockGates { tell(.booted, into: &output) }
    }

    /// Ends an app with all that it waits for, so that nothing brings it back at once.
    private mutating func endForGood(_ app: AppID, by id: EventID, into output: inout RouterOutput) {
        dropHeld(of: app, into: &output)
        dropKept(of: app, into: &output)
        apps[Int(app.number)].relaunch = nil
        if apps[Int(app.number)].hasProcess { end(app, cause: .system, code: 0, by: id, into: &output) }
    }

    /// Every process died with the bench. What was waited for is asked of the radio again (SYS-2); connections that were
    /// up end by events of their own.
    private mutating func benchRestarted(id: EventID, into output: inout RouterOutput) {
        tell(.benchRestarted, into: &output)
        for index in apps.indices where apps[index].installed && apps[index].hasProcess {
            let app = AppID(UInt32(index))
            let waiting = apps[index].waiting
            apps[index].waiting.removeAll()
            end(app, cause: .bench, code: 0, by: id, into: &output)
            decideWaitingAgain(waiting, of: app, into: &output)
            reschedule(app)
        }
        tell(.takeUp, into: &output)
    }

    // MARK: States

    /// An app enters a stage; who hears of its state does.
    mutating func enter(_ stage: AppLifecycle.Stage, _ app: AppID, into output: inout RouterOutput) {
        guard let from = apps[Int(app.number)].enter(stage, at: now) else { return }
        let to = stage.shown
        output.actions.append(.moved(app, from: from, to: to))
        tell(.moved(from: from, to: to), of: app, into: &output)
        // The end of a process lets go of what it held first.
        if to != .notRunning { tell(.changed, of: app, into: &output) }
    }

    /// The process is gone: its exit record is written, and what it held for itself goes with it (LIFE-10).
    mutating func end(
        _ app: AppID,
        cause: ExitCause,
        code: Int64,
        by event: EventID,
        alreadyGone: Bool = false,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        let before = apps[index].state
        if !alreadyGone && cause != .bench { output.actions.append(.kill(app)) }
        enter(.notRunning, app, into: &output)
        lastExit += 1
        apps[index].noteExit(lastExit, cause, at: now)
        if foreground == app, apps[index].relaunch == nil { foreground = nil }
        output.actions.append(
            .exited(
                ExitRecord(
                    number: lastExit,
                    app: app,
                    generation: apps[index].face.generation,
                    cause: cause,
                    code: code,
                    stateBefore: before,
                    causedBy: event,
                    at: now
                )
            )
        )
        tell(.ended, of: app, into: &output)
        let isBarred = isBarred(app)
        if !isBarred { tell(.changed, of: app, into: &output) }
        dropWaiting(of: app, reason: .appEnded, into: &output)
        // What came while the process was ending is still decided for what the app held.
        decideHeld(of: app, into: &output)
        if isBarred { tell(.barred, of: app, into: &output) }
        launchAfterEnd(app, into: &output)
        tell(.gone(cause, code: code), of: app, into: &output)
    }
}
