import WakeModel

/// The legal moves between the states of an app (LIFE-1).
enum LifecycleRules {
    /// Whether an app may move from one state to the other.
    static func allows(from: AppState, to: AppState) -> Bool {
        switch (from, to) {
        case (.notRunning, .inactive), (.notRunning, .background): true
        case (.inactive, .active), (.active, .inactive): true
        case (.inactive, .background), (.background, .inactive): true
        case (.background, .suspended): true
        case (.suspended, .background), (.suspended, .inactive): true
        case (.inactive, .notRunning), (.active, .notRunning): true
        case (.background, .notRunning), (.suspended, .notRunning): true
        case (.notRunning, _), (.inactive, _), (.active, _), (.background, _), (.suspended, _): false
        }
    }

    /// Whether a running app is asked to end before it is killed for this cause (LIFE-6).
    static func endsCleanly(_ cause: ExitCause, _ pressure: MemoryPressure) -> Bool {
        switch cause {
        case .memory: !isUrgent(cause, pressure)
        case .system, .update, .userForceQuit, .exit: true
        case .crash, .watchdog, .cpu, .policy, .bench: false
        }
    }

    /// Whether the system wants an app's memory at once (LIFE-6, MEM-1).
    static func isUrgent(_ cause: ExitCause, _ pressure: MemoryPressure) -> Bool {
        cause == .memory && pressure == .critical
    }
}
