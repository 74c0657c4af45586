import WakeSystem

/// Things to be done a little later, each under a name; a second one of the same name replaces the first.
final class Delays {
    private let loop: EventLoop
    private var timers: [String: Timer] = [:]

    init(_ loop: EventLoop) { self.loop = loop }

    func after(_ milliseconds: Int64, _ name: String, _ body: @escaping () -> Void) {
        cancel(name)
        let timer = try? loop.timer(on: .monotonic) { [weak self] in
            self?.cancel(name)
            body()
        }
        guard let timer else { preconditionFailure("no timer for \(name)") }
        timers[name] = timer
        timer.arm(at: MonotonicClock.now() + milliseconds * 1_000_000)
    }

    func isWaiting(_ name: String) -> Bool { timers[name] != nil }

    func cancel(_ name: String) { timers.removeValue(forKey: name)?.cancel() }

    func cancelAll() {
        for timer in timers.values { timer.cancel() }
        timers.removeAll()
    }
}
