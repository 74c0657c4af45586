import CWakeShims

/// The processor that apps share with each other and with nothing else of the bench: what they do at one instant comes in the
/// same order in each run when no two of their threads run at once.
package struct AppProcessor: Hashable, Sendable {
    /// As the kernel numbers it.
    package let number: Int32
    /// Whether a thread runs there until it waits (SCHED_FIFO); otherwise the kernel may change over to another at any time.
    package let isFirstInFirstOut: Bool

    /// The last one that this process may use, and what it may do there; nil when there is no other for everybody else.
    package static func available() -> AppProcessor? {
        let number = wake_last_processor()
        guard number >= 0 else { return nil }
        return AppProcessor(number: number, isFirstInFirstOut: wake_may_run_first_in_first_out() == 1)
    }
}
