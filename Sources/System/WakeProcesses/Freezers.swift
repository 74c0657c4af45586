import WakeSystem

/// How apps are to be frozen.
package enum FreezerChoice: String, Hashable, Sendable, CaseIterable {
    /// The first that works: cgroup2, cgroup1, sigstop.
    case automatic
    case cgroup2
    case cgroup1
    case sigstop
}

/// A way to freeze an app and all that it starts.
package enum FreezerKind: String, Hashable, Sendable, CaseIterable {
    /// `cgroup.freeze` of control groups version 2.
    case cgroup2
    /// The freezer controller of control groups version 1.
    case cgroup1
    /// SIGSTOP to each process.
    case sigstop

    var version: Int32 {
        switch self {
        case .cgroup2: 2
        case .cgroup1: 1
        case .sigstop: 0
        }
    }
}

/// Whether a freezer works here, found by trying.
package struct FreezerProbe: Hashable, Sendable {
    package var kind: FreezerKind
    package var usable: Bool
    /// One line: what is used, or what is missing and the remedy.
    package var reason: String
}

/// What holds one app's processes together, so that nothing of it escapes a freeze or a kill.
///
/// A completion is called later from the loop or at once, and never after ``thaw()`` or ``kill()``.
protocol Enclosure: AnyObject {
    /// Stops everything, then says so.
    func freeze(_ completion: @escaping (FreezeOutcome) -> Void)
    /// Lets everything go on. Whether the kernel took it.
    func thaw() -> Bool
    /// Kills everything, frozen or not.
    func kill()
    /// The main process has been reaped: kills what is left, and calls back when nothing is.
    func end(_ gone: @escaping () -> Void)
    /// The app's end, once the descriptor given with the process is readable.
    func reap() -> ProcessExit
    /// Where the threads of everything are listed; it stays open as long as this lives.
    var threads: AppThreads { get }
    /// The processes that live now.
    var members: [Int32] { get }
    /// Whether a process is frozen and killed with it, in a group within too; true of a process that has ended.
    func holds(_ pid: Int32) -> Bool
    /// Processor time of all that was ever in it, in nanoseconds; nil where the kernel does not count it.
    var processorTime: Int64? { get }
}

/// A started app.
struct StartedProcess {
    var pid: Int32
    /// Readable when the process has ended; owned by the enclosure.
    var exitDescriptor: Int32
    var enclosure: any Enclosure
}

/// The longest a freeze may take, in nanoseconds, before it counts as failed.
let freezePatience: Int64 = 2_000_000_000

/// Looks again after a while that doubles: for what the kernel tells nobody.
final class Recheck {
    private var timer: Timer?
    private var delay: Int64 = 0
    private var end: Int64 = 0

    /// Calls `check` after 0.2 ms, 0.4 ms and so on, at most 10 ms apart.
    init(loop: EventLoop, check: @escaping () -> Void) throws(SystemError) {
        timer = try loop.timer(on: .monotonic) { check() }
    }

    /// - Parameter once: looks only at the end of the patience.
    func start(once: Bool = false) {
        delay = once ? freezePatience : 200_000
        end = MonotonicClock.now() + freezePatience
        again()
    }

    /// Whether there is time for another look.
    @discardableResult
    func again() -> Bool {
        let now = MonotonicClock.now()
        guard now < end else { return false }
        timer?.arm(at: min(now + delay, end))
        delay = min(delay * 2, 10_000_000)
        return true
    }

    func stop() {
        timer?.disarm()
    }
}
