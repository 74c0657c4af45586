import WakeModel
import WakePorts
import WakeSystem
import WakeWire

/// What real apps must know of the rest of the bench.
extension Run: ProcessAppSurroundings {
    var view: AppView { AppView(bench: bench, areas: areas) }

    /// Apps in virtual time have a date of their own.
    var wallSeconds: Double {
        let date = processes?.host.time.map { $0.realBase + bench.now.nanoseconds }
        return Double(date ?? WallClock.now()) / 1e9
    }

    func note(_ fact: ProcessFact, of app: AppID) {
        recorder.note(fact, of: app)
    }

    func note(_ signpost: WireSignpost, of app: AppID) {
        recorder.note(signpost, of: app, at: instant(of: signpost))
    }

    /// When an app made a signpost that has arrived now. In real time its monotonic clock is the bench's; virtual time
    /// stands still while apps run.
    private func instant(of signpost: WireSignpost) -> Instant {
        guard realTime else { return max(reached, bench.now) }
        let now = MonotonicClock.now()
        let then = signpost.time.map { min(Int64($0 * 1e9), now) } ?? now
        return Instant(nanoseconds: max(0, then - startedAt))
    }
}
