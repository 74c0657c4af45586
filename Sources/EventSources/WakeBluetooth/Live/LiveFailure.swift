import WakeBus
import WakeSystem

/// Why nothing comes of a visit to a device.
package enum LiveFailure: Error, Hashable, Sendable {
    /// There is no bus, no bluetoothd or no adapter, or the kernel refuses; in words, with the remedy.
    case missing(String)
    /// The device was not heard; those that were, by address and name.
    case notHeard([String])
    /// Several devices have the name; their addresses.
    case several([String])
    /// The device was heard, and there was no link, or its services did not come, in time.
    case notReached(String)
    /// Several controllers could be meant; their addresses.
    case severalAdapters([String])
    /// Somebody wants no more of it.
    case interrupted
}

/// Turns the loop until something holds, or the time is over.
package struct LiveWait {
    package let loop: EventLoop
    private let stop: StopFlag?

    /// - Parameter stop: ends every wait with ``LiveFailure/interrupted``.
    package init(_ loop: EventLoop, stop: StopFlag? = nil) { (self.loop, self.stop) = (loop, stop) }

    /// - Parameter deadline: in nanoseconds of ``MonotonicClock``.
    /// - Returns: whether it held in time.
    package func wait(to deadline: Int64, until holds: () -> Bool) throws(LiveFailure) -> Bool {
        while !holds() {
            if stop?.isAsked == true { throw .interrupted }
            let left = deadline - MonotonicClock.now()
            guard left > 0 else { return false }
            do throws(SystemError) { try loop.runOnce(timeout: left) } catch { throw .missing(error.description) }
        }
        return true
    }

    package func wait(for time: Duration, until holds: () -> Bool) throws(LiveFailure) -> Bool {
        try wait(to: MonotonicClock.now() + Int64(time / .nanoseconds(1)), until: holds)
    }
}
