import CWakeShims
import Glibc

/// Wakes a loop when a process that is nobody's child here has ended.
package final class ProcessEnd {
    private let descriptor: Descriptor
    private var watch: Watch?

    /// - Returns: nil when there is no such process, or it cannot be watched.
    package init?(of process: Int32, on loop: EventLoop) throws(SystemError) {
        guard process > 0 else { return nil }
        let number = wake_pidfd_open(process)
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
        watch = try loop.watch(number, for: .readable) { _ in }
    }

    deinit {
        watch?.cancel()
    }
}
