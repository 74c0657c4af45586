import WakeModel

/// All that the router keeps of one app.
struct AppRecord {
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

    /// An event that was decided and waits for the app to be able to take it.
    struct Waiting: Equatable {
        var event: EventID
        var decision: DecisionID
        var kind: EventKind
        var subject: NameID
        var origin: NameID
        var parent: EventID
        var slot: UInt16
        /// The app could not be woken for it: it gets a second decision when it runs (BTC-2).
        var deferred: Bool
    }

    /// An event that is not decided yet, and the interest it met.
    struct Held: Equatable {
        var event: WakeEvent
        var interest: Interest
    }

    /// A central manager, alive or preserved (BTC-6).
    struct Manager: Equatable {
        var inUse = false
        /// The process has created it; false while preserved for a relaunch.
        var attached = false
        var number: ManagerNumber = 0
        var restoreIdentifier: NameID = .none
        var createdAt: Instant = .zero
        var scan: Scan?
        /// The peripherals with a ``Link``, in order of connection.
        var peripherals: [NameID] = []
    }

    /// A running scan.
    struct Scan: Equatable {
        var services: [NameID]
        var allowDuplicates: Bool
        var since: Instant
        /// The peripherals reported since the scan began (BTC-4).
        var seen: Set<NameID> = []
    }

    var installed = true
    /// The state and the observed values that every decision shows.
    var face = AppSnapshot()
    var phase = Phase.resting
    var window: Window?
    /// The open background tasks, in order of beginning (TASK-1).
    var tasks: [UInt64] = []
    /// When the task budget ends; nil while none runs (TASK-2).
    var taskBudgetEnds: Instant?
    /// The expiration handlers were called (TASK-3).
    var tasksExpired = false
    /// The user brought the app forward, or sent it away, while it was launching.
    var launchTarget = AppState.background
    /// The user tapped the icon while the old process was ending.
    var userLaunchAfterEnd: EventID?
    /// The phone was restarted since a process last ran.
    var rebootedSince = false
    var managers: [Manager] = []
    var waiting: [Waiting] = []
    /// Events that arrived while the process was being frozen or ended: decided when that is over.
    var held: [Held] = []

    var state: AppState { face.state }

    /// The index of a live manager of the present process.
    func slot(of number: ManagerNumber) -> Int? {
        managers.firstIndex { $0.attached && $0.number == number }
    }

    /// Whether a process exists that will run again by itself or is running.
    var hasProcess: Bool { face.state != .notRunning }

    /// The next instant at which something about this app is due.
    func nextDeadline(_ profile: borrowing Profile) -> Instant? {
        switch phase {
        case .resting, .freezing: return nil
        case .launching(let deadline), .leaving(let deadline), .ending(let deadline, _, _, _): return deadline
        case .running: break
        }
        guard face.state == .background else { return nil }
        var next = window?.ends
        if let ends = taskBudgetEnds, !tasks.isEmpty {
            let due =
                tasksExpired
                ? ends
                : Instant(nanoseconds: max(0, ends.nanoseconds - profile.taskExpirationMargin.nanoseconds))
            next = next.map { min($0, due) } ?? due
        }
        return next
    }
}

/// One client's hold on one peripheral.
struct Link: Equatable {
    var client: BluetoothClient
    var connected: Bool
    var since: Instant
    /// Subscribed characteristics, ascending.
    var subscriptions: [AttributeHandle]
}

/// One client's interest in an event.
struct Interest: Equatable {
    var client: BluetoothClient
    var via: Registration
    var since: Instant
    /// False for the answer to a process that is gone.
    var wanted = true
}
