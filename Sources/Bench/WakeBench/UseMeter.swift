import WakeModel
import WakePorts
import WakeRouter
import WakeSystem

/// Measures what real apps use while they run, in real time: once a second, by one timer, which stands still while none runs.
final class UseMeter: BenchObserver {
    private let host: ProcessAppHost
    /// Between two looks, in nanoseconds.
    private let period: Int64
    private var timer: WakeSystem.Timer?
    /// The apps that are not suspended.
    private var running: [AppID: Running] = [:]

    private struct Running {
        var isBackground: Bool
        var process: UInt32 = 0
        var samples = ProcessorSamples()
    }

    /// - Parameter window: for how long an app may be busy (CPU-1). A short one is looked at more often.
    init(_ host: ProcessAppHost, loop: EventLoop, window: Instant.Span) throws(SystemError) {
        self.host = host
        period = min(max(window.nanoseconds / 60, 100_000_000), 1_000_000_000)
        timer = try loop.timer(on: .monotonic) { [unowned self] in look() }
    }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        for action in output.actions {
            guard case .moved(let app, _, let state) = action, host.hasBundle(app) else { continue }
            switch state {
            case .notRunning, .suspended: running[app] = nil
            case .inactive, .active: begin(app, isBackground: false)
            case .background: begin(app, isBackground: true)
            }
        }
    }

    private func begin(_ app: AppID, isBackground: Bool) {
        if running.isEmpty { arm() }
        running[app] = Running(isBackground: isBackground)
    }

    private func arm() { timer?.arm(at: MonotonicClock.now() + period) }

    private func look() {
        guard !running.isEmpty else { return }
        let now = MonotonicClock.now()
        for app in running.keys.sorted(by: { $0.number < $1.number }) {
            guard let use = host.measureRunning(app), var entry = running[app], entry.isBackground else { continue }
            if entry.process != use.process { entry = Running(isBackground: true, process: use.process) }
            if let share = entry.samples.add(use.processorTime, at: now) { host.tell(share: share, of: app) }
            running[app] = entry
        }
        arm()
    }
}

/// What an app had used of the processor at the last few looks.
struct ProcessorSamples {
    private var samples: [(used: Int64, at: Int64)] = []
    /// A pause of less than so many looks is no rest.
    private static let most = 6

    /// Adds what was used so far by an instant, both in nanoseconds.
    ///
    /// - Returns: how much of one processor was used since the oldest look that is kept, in per cent; nil at the first.
    mutating func add(_ used: Int64, at now: Int64) -> UInt32? {
        if samples.count == Self.most { samples.removeFirst() }
        samples.append((used, now))
        guard let first = samples.first, now > first.at else { return nil }
        return UInt32(clamping: (used - first.used) * 100 / (now - first.at))
    }
}
