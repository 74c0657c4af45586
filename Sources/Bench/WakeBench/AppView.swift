import WakeModel
import WakePorts

/// What apps learn without changing anything, read from the router and from the sources. Each area adds its own questions.
struct AppView {
    unowned let bench: Bench
    let areas: Areas

    /// Seconds left in the background; nil in the foreground (TASK-5).
    func backgroundSecondsRemaining(of app: AppID) -> Double? {
        bench.router.backgroundTimeRemaining(of: app, at: bench.now).map { Double($0.nanoseconds) / 1e9 }
    }

    /// Whether a task that the app begins now would have time (TASK-7).
    func grantsTask(of app: AppID) -> Bool { bench.router.grantsTask(of: app, at: bench.now) }
}
