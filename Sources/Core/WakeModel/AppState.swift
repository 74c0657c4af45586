/// Where an app stands, in the words iOS uses (LIFE-1).
public enum AppState: UInt8, Worded, Codable, Sendable {
    case notRunning
    case inactive
    case active
    case background
    case suspended

    /// Written out, because records have it many times an event.
    package var word: String {
        switch self {
        case .notRunning: "not-running"
        case .inactive: "inactive"
        case .active: "active"
        case .background: "background"
        case .suspended: "suspended"
        }
    }
}

/// Why a process ended (LIFE-10).
public enum ExitCause: UInt8, Worded, Codable, Sendable {
    case exit
    case crash
    case watchdog
    case memory
    case cpu
    case policy
    case userForceQuit
    case system
    case update
    /// The bench itself died or stopped, and its apps with it.
    case bench

    /// Written out, because a name is costly to ask for.
    package var word: String {
        switch self {
        case .exit: "exit"
        case .crash: "crash"
        case .watchdog: "watchdog"
        case .memory: "memory"
        case .cpu: "cpu"
        case .policy: "policy"
        case .userForceQuit: "user-force-quit"
        case .system: "system"
        case .update: "update"
        case .bench: "bench"
        }
    }
}

/// The termination codes that iOS prints for a killed app (TASK-4, LIFE-2, LIFE-7 and others).
package enum TerminationCode {
    /// A watchdog ran out: launch, a transition, or a task before iOS 13.
    package static let watchdog: Int64 = 0x8bad_f00d
    /// A background task was not ended in time, from iOS 13 (TASK-4).
    package static let backgroundTask: Int64 = 0x2182_bad2
}

/// The record of the end of a process (LIFE-10).
package struct ExitRecord: Hashable, Codable, Sendable {
    /// Counts from 1, shown as `x-17`.
    package var number: UInt64
    package var app: AppID
    /// Which process of the app, counted from 1.
    package var generation: UInt32
    package var cause: ExitCause
    /// The exit status, the negated signal number, or the ``TerminationCode``.
    package var code: Int64
    package var stateBefore: AppState
    /// The event that caused it, when one did.
    package var causedBy: EventID
    package var at: Instant

    package init(
        number: UInt64,
        app: AppID,
        generation: UInt32,
        cause: ExitCause,
        code: Int64,
        stateBefore: AppState,
        causedBy: EventID,
        at: Instant
    ) {
        self.number = number
        self.app = app
        self.generation = generation
        self.cause = cause
        self.code = code
        self.stateBefore = stateBefore
        self.causedBy = causedBy
        self.at = at
    }

    /// The code of a process that an exception ended: SIGABRT, negated.
    package static let abort: Int64 = -6
}
