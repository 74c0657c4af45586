import WakeSystem

/// What is done a little later.
enum BlueZDelay: Hashable, Sendable {
    /// The bus is opened again.
    case bus
    /// bluetoothd is asked for its objects again.
    case objects
    /// A link may be one that a dead bluetoothd left behind.
    case leftOverLinks
    case power
    case discovery
    /// No link is asked for, so that somebody hears advertisements.
    case listening
    /// A link is asked for again.
    case retry(BlueZDeviceID)
    /// The attribute table of a device is looked at again.
    case attributes(BlueZDeviceID)
    /// A characteristic, by its path, is subscribed to again.
    case resubscribe(String)
    case server
    case profiles
    /// A connection over a profile is asked for again.
    case profile(BlueZDeviceID, String)
}

/// Things to be done a little later; a second one of the same kind replaces the first.
final class Delays {
    private let loop: EventLoop
    private var timers: [BlueZDelay: Timer] = [:]

    init(_ loop: EventLoop) { self.loop = loop }

    func after(_ milliseconds: Int64, _ delay: BlueZDelay, _ body: @escaping () -> Void) {
        cancel(delay)
        let timer = try? loop.timer(on: .monotonic) { [weak self] in
            self?.cancel(delay)
            body()
        }
        guard let timer else { preconditionFailure("no timer for \(delay)") }
        timers[delay] = timer
        timer.arm(after: milliseconds)
    }

    func isWaiting(_ delay: BlueZDelay) -> Bool { timers[delay] != nil }

    func cancel(_ delay: BlueZDelay) { timers.removeValue(forKey: delay)?.cancel() }

    func cancelAll() {
        for timer in timers.values { timer.cancel() }
        timers.removeAll()
    }
}
