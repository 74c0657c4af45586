import WakeModel

/// All that the router keeps of one app.
struct AppRecord: Equatable {
    /// What the process is about to do, beside the state.
    enum Phase: Equatable {
        /// No process, or a frozen one.
        case resting
        /// Valid transitions to: `running`, `ending`, `resting`.
        case launching(deadline: Instant)
        /// Valid transitions to: `leaving`, `freezing`, `ending`, `resting`.
        case running
        /// didEnterBackground has not returned (LIFE-2). Valid transitions to: `running`, `ending`, `resting`.
        case leaving(deadline: Instant)
        /// The host is freezing the process. Valid transitions to: `resting`, `running`.
        case freezing
        /// willTerminate has not returned (LIFE-6). Valid transitions to: `resting`.
        case ending(deadline: Instant, cause: ExitCause, code: Int64, by: EventID)
    }

    /// The window of the wake that runs (LIFE-11).
    struct Window: Equatable {
        var began: Instant
        var ends: Instant
    }

    /// An open background task (TASK-1).
    struct BackgroundTask: Equatable {
        var token: UInt64
        /// Its expiration handler was called, which happens once (TASK-3).
        var expired = false
    }

    /// An event that was decided and waits for the app to be able to take it.
    struct Waiting: Equatable {
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
    struct Held: Equatable {
        var event: WakeEvent
        var interest: Interest
        /// The record that the decision replaces, for an event that was decided before a restart of the bench.
        var supersedes: DecisionID
        var restarted: Bool
    }

    var installed = true
    /// When it was installed last: what its Info.plist asks for counts from then.
    var installedAt = Instant.zero
    /// The state and the observed values that every decision shows.
    var face = AppSnapshot()
    var phase = Phase.resting
    var window: Window?
    /// The open background tasks, in order of beginning (TASK-1).
    var tasks: [BackgroundTask] = []
    /// When the task budget ends; nil while none runs (TASK-2).
    var taskBudgetEnds: Instant?
    /// Where the app is to be once it is launched: the user may have brought it forward, or sent it away, meanwhile.
    var launchTarget = AppState.background
    /// The user tapped the icon while the old process was ending: a new one follows, bound for ``launchTarget``.
    var userLaunchAfterEnd: EventID?
    /// When the app was last seen by the user (BTC-9).
    var leftForeground = Instant.zero
    var waiting: [Waiting] = []
    /// Events that arrived while the process was being frozen or ended: decided when that is over.
    var held: [Held] = []
    /// Events that were denied because the phone was not unlocked since boot, and are decided anew when it is (LAUNCH-5).
    var awaitingUnlock: [Held] = []

    var state: AppState { face.state }

    var isLaunching: Bool {
        switch phase {
        case .launching: true
        case .resting, .running, .leaving, .freezing, .ending: false
        }
    }

    /// The window that runs; one that ended while the app was launching or leaving is over.
    @inline(__always)
    func window(at now: Instant) -> Window? {
        guard let window, window.ends > now else { return nil }
        return window
    }

    /// Whether a process exists, running or frozen.
    var hasProcess: Bool { face.state != .notRunning }
}
