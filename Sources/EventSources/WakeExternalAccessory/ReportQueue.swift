import WakePorts
import WakeSystem

/// Reports on their way out of a real end, in order: an answer waits until the call that it comes from is over.
final class ReportQueue {
    /// Where they go.
    var report: ((SourceReport) -> Void)?
    private let soon: Timer
    private var prepared: [SourceReport] = []

    /// - Throws: ``SystemError`` when the loop takes no more timers.
    init(loop: EventLoop) throws(SystemError) {
        var ring: () -> Void = {}
        soon = try loop.timer(on: .monotonic) { ring() }
        ring = { [weak self] in self?.tellPrepared() }
    }

    /// Tells after the call that it comes from.
    func later(_ told: SourceReport) {
        prepared.append(told)
        soon.arm(at: 1)
    }

    /// Tells now, after what was to be told before.
    func tell(_ told: SourceReport) {
        tellPrepared()
        report?(told)
    }

    /// Nothing is told any more.
    func stop() {
        report = nil
        soon.disarm()
        prepared.removeAll()
    }

    private func tellPrepared() {
        let told = prepared
        prepared.removeAll()
        for each in told { report?(each) }
    }
}
