/// Things to be done as soon as the call that they come from is over, in order.
package final class Afterwards {
    private let soon: Timer
    private var waiting: [() -> Void] = []
    private var isUnderway = false

    /// - Throws: ``SystemError`` when the loop takes no more timers.
    package init(_ loop: EventLoop) throws(SystemError) {
        soon = try loop.timer(on: .monotonic)
        soon.handler = { [unowned self] in carryOut() }
    }

    /// Does something after the call that it comes from.
    package func add(_ body: @escaping () -> Void) {
        waiting.append(body)
        soon.arm(at: 1)
    }

    /// Does at once what waits; what comes meanwhile is done after it.
    package func carryOut() {
        guard !isUnderway else { return }
        isUnderway = true
        defer { isUnderway = false }
        while !waiting.isEmpty { waiting.removeFirst()() }
    }

    /// Nothing that waits is done.
    package func stop() {
        soon.disarm()
        waiting.removeAll()
    }
}
