import WakeModel

/// The life of one app: its process, its windows and tasks, and what waits for it. It knows no area, and performs nothing.
struct AppLifecycle: Equatable, Codable {
    /// Where the process stands. What iOS calls the state of the app (``AppState``) follows from it.
    enum Stage: Equatable, Codable {
        /// No process. Valid transitions to: `launching`.
        case notRunning
        /// The process starts, shown as inactive or in the background. The user may bring it forward, or send it away,
        /// meanwhile. Valid transitions to: `inactive`, `background`, `notRunning`.
        case launching(as: AppState, deadline: Instant, bound: Bound)
        /// Valid transitions to: `active`, `leaving`, `ending`, `notRunning`.
        case inactive
        /// Valid transitions to: `inactive`, `ending`, `notRunning`.
        case active
        /// didEnterBackground has not returned (LIFE-2). Valid transitions to: `background`, `inactive`, `ending`,
        /// `notRunning`.
        case leaving(deadline: Instant)
        /// Valid transitions to: `inactive`, `freezing`, `ending`, `notRunning`.
        case background
        /// The host is freezing the process. Valid transitions to: `suspended`, `background`, `inactive`, `notRunning`.
        case freezing
        /// The process is frozen. Valid transitions to: `background`, `inactive`, `notRunning`.
        case suspended
        /// willTerminate has not returned (LIFE-6). Valid transitions to: `notRunning`.
        case ending(as: AppState, deadline: Instant, End)

        /// The state that iOS shows.
        var shown: AppState {
            switch self {
            case .notRunning: .notRunning
            case .launching(let state, _, _), .ending(let state, _, _): state
            case .inactive: .inactive
            case .active: .active
            case .leaving, .background, .freezing: .background
            case .suspended: .suspended
            }
        }
    }

    /// Where an app is to be once it is launched.
    enum Bound: UInt8, Codable {
        case background
        case foreground
    }

    /// Why a process is asked to end.
    struct End: Equatable, Codable {
        var cause: ExitCause
        var code: Int64
        var event: EventID
    }

    /// The user tapped the icon while the old process was ending: a new one follows.
    struct Relaunch: Equatable, Codable {
        var event: EventID
        var bound: Bound
    }

    /// The time that wakes give (LIFE-11).
    struct Window: Equatable, Codable {
        var began: Instant
        var ends: Instant
    }

    /// An open background task (TASK-1).
    struct BackgroundTask: Equatable, Codable {
        var token: UInt64
        /// Its expiration handler was called, which happens once (TASK-3).
        var expired = false
    }

    /// An event that was decided and waits for the app to be able to take it.
    struct Waiting: Equatable, Codable {
        var event: WakeEvent
        /// Its slots are those of the managers that it waits for.
        var interest: Interest
        var decision: DecisionID
        /// The app could not be woken for it: it gets a second decision when it runs (BTC-2).
        var deferred: Bool
        /// No manager has it yet: if it goes away, a record must say so.
        var undelivered: Bool
    }

    /// An event that is not decided yet, and the interest it met.
    struct Held: Equatable, Codable {
        var event: WakeEvent
        var interest: Interest
        /// The record that the decision replaces, for an event that was decided before a restart of the bench.
        var supersedes: DecisionID
        var restarted: Bool
    }

    var installed = true
    /// The state and the observed values that every decision shows.
    var snapshot = AppSnapshot()
    private(set) var stage = Stage.notRunning
    /// Of the wakes that have their time, to the last one's end.
    var window: Window?
    /// Of the wakes that end with a completion handler.
    private(set) var answered: Window?
    /// The open background tasks, in order of beginning (TASK-1).
    var tasks: [BackgroundTask] = []
    /// When the task budget ends; nil while none runs (TASK-2).
    var taskBudgetEnds: Instant?
    /// What follows the end of the process.
    var relaunch: Relaunch?
    /// When the app was last seen by the user (BTC-9).
    var leftForeground = Instant.zero
    /// When it was installed last: what its Info.plist asks for counts from then.
    var installedAt = Instant.zero
    var waiting: [Waiting] = []
    /// Events that arrived while the process was being frozen or ended: decided when that is over.
    var held: [Held] = []
    /// Events that were denied because the phone was not unlocked since boot, and are decided anew when it is (LAUNCH-5).
    var awaitingUnlock: [Held] = []

    var state: AppState { snapshot.state }

    var isLaunching: Bool {
        switch stage {
        case .launching: true
        case .notRunning, .inactive, .active, .leaving, .background, .freezing, .suspended, .ending: false
        }
    }

    /// Whether willTerminate has not returned.
    var isEnding: Bool {
        switch stage {
        case .ending: true
        case .notRunning, .launching, .inactive, .active, .leaving, .background, .freezing, .suspended: false
        }
    }

    /// Whether events wait undecided: the process is about to be frozen, or gone.
    var holdsEvents: Bool { stage == .freezing || isEnding }

    /// The time of all wakes that are not over; one that ended while the app was launching or leaving is.
    @inline(__always)
    func window(at now: Instant) -> Window? {
        let window = window.flatMap { $0.ends > now ? $0 : nil }
        guard let answered, answered.ends > now else { return window }
        guard let window else { return answered }
        return Window(began: min(window.began, answered.began), ends: max(window.ends, answered.ends))
    }

    /// Whether a process exists, running or frozen.
    var hasProcess: Bool { snapshot.state != .notRunning }

    // MARK: Stages

    /// The one place where the stage changes, and the state with it. An illegal move is a bug of the emulator and stops it
    /// (LIFE-1).
    ///
    /// - Returns: The state before, when it is another now.
    mutating func enter(_ next: Stage, at now: Instant) -> AppState? {
        let from = snapshot.state
        stage = next
        let to = next.shown
        if from == to { return nil }
        precondition(
            LifecycleRules.allows(from: from, to: to),
            "app \(snapshot.bundle.number) moves from \(from) to \(to)"
        )
        snapshot.state = to
        snapshot.stateSince = now
        if from == .active || from == .inactive { leftForeground = now }
        return from
    }

    /// The process is gone, with all that was granted to it.
    mutating func noteExit(_ number: UInt64, _ cause: ExitCause, at now: Instant) {
        snapshot.lastExit = number
        snapshot.lastExitCause = cause
        snapshot.lastExitAt = now
        closeWindows()
        tasks.removeAll()
        taskBudgetEnds = nil
    }

    /// Installed, or installed anew: only the counts of its processes and ends go on.
    func installedAnew(at now: Instant) -> AppLifecycle {
        var anew = AppLifecycle()
        anew.snapshot.generation = snapshot.generation
        anew.snapshot.lastExit = snapshot.lastExit
        anew.snapshot.lastExitCause = snapshot.lastExitCause
        anew.snapshot.lastExitAt = snapshot.lastExitAt
        anew.snapshot.stateSince = now
        anew.installedAt = now
        return anew
    }

    // MARK: Windows

    /// - Parameter isAnswered: Whether it ends with a completion handler.
    mutating func openWindow(_ window: Instant.Span, isAnswered: Bool, at now: Instant) {
        let opened = Window(began: now, ends: now.advanced(by: window))
        if isAnswered { answered = opened } else { self.window = opened }
    }

    mutating func closeWindows() { (window, answered) = (nil, nil) }

    /// Closes those that are over.
    mutating func closeWindows(by now: Instant) {
        if let ends = window?.ends, ends <= now { window = nil }
        if let ends = answered?.ends, ends <= now { answered = nil }
    }

    /// A window beside those that a running app has: it runs until the last one ends (LIFE-11).
    ///
    /// - Parameter extends: Whether one that runs gets longer by it.
    mutating func openAnotherWindow(
        _ window: Instant.Span,
        isAnswered: Bool,
        at now: Instant,
        extends: Bool,
        taskBudget: Instant.Span
    ) {
        guard let open = self.window(at: now) else { return openWindow(window, isAnswered: isAnswered, at: now) }
        guard extends else { return }
        let ends = now.advanced(by: window)
        if ends > open.ends, taskBudgetEnds == open.ends.advanced(by: taskBudget) {
            // The tasks began inside the wake, whose end moves away (TASK-8).
            taskBudgetEnds = ends.advanced(by: taskBudget)
        }
        guard let own = isAnswered ? answered : self.window, own.ends > now else {
            return openWindow(window, isAnswered: isAnswered, at: now)
        }
        if isAnswered { answered!.ends = max(own.ends, ends) } else { self.window!.ends = max(own.ends, ends) }
    }

    /// The app's own word that its wake is over (LIFE-11). Says whether there was one.
    mutating func finishWake(at now: Instant, by constants: Constants) -> Bool {
        guard state == .background, window != nil || answered != nil else { return false }
        closeWindows()
        shortenTaskBudget(at: now, by: constants)
        return true
    }

    /// A completion handler was called: wakes that end with one are over, but for what is owed yet.
    ///
    /// - Parameter owed: When the last of the answers that the app owes is due; nil when it owes none.
    mutating func finishAnswered(owed: Instant?, at now: Instant, by constants: Constants) {
        guard let open = answered else { return }
        if let owed, owed > now { answered!.ends = min(open.ends, owed) } else { answered = nil }
        shortenTaskBudget(at: now, by: constants)
    }

    /// A budget that counts from the end of the wake counts from its new end (TASK-8); none grows.
    private mutating func shortenTaskBudget(at now: Instant, by constants: Constants) {
        guard let ends = taskBudgetEnds else { return }
        taskBudgetEnds = min(ends, (window(at: now)?.ends ?? now).advanced(by: constants.profile.taskBudget))
    }

    // MARK: Background tasks

    /// Whether a task that begins now has no time.
    ///
    /// - Parameter runsOn: Whether an area lets the app run for as long as it goes on with what it does.
    func isTaskBudgetSpent(runsOn: Bool, at now: Instant, by constants: Constants) -> Bool {
        guard state == .background, !runsOn, let ends = taskBudgetEnds else { return false }
        // A task inside a wake has its time from the wake's end (TASK-8).
        if window(at: now) != nil { return false }
        return ends.since(now) <= constants.profile.taskExpirationMargin
    }

    /// A task begins. Inside a wake the budget of all tasks lasts for its whole length from the wake's end (TASK-2, TASK-8).
    ///
    /// - Returns: Whether the budget is longer by the wake.
    mutating func lengthenTaskBudget(at now: Instant, by constants: Constants) -> Bool {
        guard let window = window(at: now) else {
            if taskBudgetEnds == nil { taskBudgetEnds = now.advanced(by: constants.profile.taskBudget) }
            return false
        }
        let ends = window.ends.advanced(by: constants.profile.taskBudget)
        if let before = taskBudgetEnds, before >= ends { return false }
        taskBudgetEnds = ends
        return true
    }

    /// Background tasks have their whole time from where nothing else lets the app run on, a wake included (TASK-8).
    mutating func beginTaskBudget(at now: Instant, by constants: Constants) {
        taskBudgetEnds = (window(at: now)?.ends ?? now).advanced(by: constants.profile.taskBudget)
    }

    /// The tasks whose expiration handlers are to be called for the first time (TASK-3).
    mutating func takeExpiring() -> [UInt64] {
        let told = tasks.filter { !$0.expired }.map(\.token)
        for position in tasks.indices { tasks[position].expired = true }
        return told
    }

    // MARK: Time

    /// The next instant at which something about the process is due; nil when nothing is. It changes nothing: a method that
    /// may not change its app would be handed a copy of it.
    ///
    /// - Parameters:
    ///   - lingers: Until when an area lets the app run beside its windows and tasks.
    ///   - runsOn: Whether an area lets the app run for as long as it goes on with what it does, where that matters.
    mutating func deadline(lingers: Instant?, runsOn: Bool, by constants: Constants) -> Instant? {
        switch stage {
        case .notRunning, .suspended, .freezing, .inactive, .active: return nil
        case .launching(_, let deadline, _), .leaving(let deadline), .ending(_, let deadline, _): return deadline
        case .background: break
        }
        let ends = max(window?.ends ?? .zero, answered?.ends ?? .zero)
        let held = ends > .zero ? min(ends, lingers ?? .distantFuture) : lingers
        guard let budgetEnds = taskBudgetEnds, !tasks.isEmpty, !runsOn else { return held }
        var due = budgetEnds
        if tasks.contains(where: { !$0.expired }) {
            due = Instant(
                nanoseconds: max(0, budgetEnds.nanoseconds - constants.profile.taskExpirationMargin.nanoseconds)
            )
        }
        return held.map { min($0, due) } ?? due
    }
}
