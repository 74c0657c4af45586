import CVirtualTime
import Glibc
import WakeSystem

/// The virtual clock of one process of an app and of all that it starts: it stands until it is set, and the app's timers and
/// timed waits end by it.
///
/// What the app's processes write into the memory they share with it is taken on trust for nothing but their own timing.
@safe package final class AppClock {
    /// Something that is due.
    package struct Pending: Hashable, Sendable {
        /// In nanoseconds of the run.
        package let deadline: Int64
        /// The process, as the kernel numbers it.
        package let process: UInt32
        /// The thread that waits, or the timer's descriptor or number.
        package let number: UInt32
        package let isTimer: Bool
        let place: UInt32
        let clock: Int32
        let kind: UInt8
        let byMain: Bool

        /// The order of what is due at one instant: by time; then timers, those that the first thread made before others, by
        /// clock and number; then waits, by thread. Never by when they began, which the kernel's scheduler decides.
        package static func precedes(_ one: Self, _ other: Self) -> Bool {
            if one.deadline != other.deadline { return one.deadline < other.deadline }
            if one.isTimer != other.isTimer { return one.isTimer }
            if one.byMain != other.byMain { return one.byMain }
            if one.clock != other.clock { return one.clock < other.clock }
            if one.process != other.process { return one.process < other.process }
            return one.number < other.number
        }
    }

    /// The most that is looked at of what is due at one instant; the rest follows.
    private static let mostDue = 256

    private let page: UnsafeMutablePointer<wake_time_page>
    private let rest: OpaquePointer
    private let descriptor: Descriptor
    private var due = [wake_pending](repeating: wake_pending(), count: AppClock.mostDue)
    /// Where its threads are listed; nothing before a process is there.
    private var threads: wake_threads?

    /// A clock that stands at `now`.
    ///
    /// - Parameters:
    ///   - monotonicBase: CLOCK_MONOTONIC and its kin when the run began, in nanoseconds.
    ///   - realBase: CLOCK_REALTIME then, in nanoseconds since 1970.
    ///   - now: in nanoseconds since the run began.
    package init(monotonicBase: Int64, realBase: Int64, now: Int64) throws(SystemError) {
        var made: UnsafeMutablePointer<wake_time_page>?
        let number = unsafe wake_time_make(monotonicBase, realBase, &made)
        guard number >= 0, let made = unsafe made else { throw SystemError(last: "memfd_create", subject: "a clock") }
        descriptor = Descriptor(owning: number)
        guard let rest = unsafe wake_rest_make() else {
            unsafe wake_time_unmap(made)
            throw SystemError("malloc", code: ENOMEM, subject: "a clock")
        }
        unsafe page = made
        unsafe self.rest = rest
        unsafe wake_time_set(page, now)
    }

    deinit {
        unsafe wake_rest_free(rest)
        unsafe wake_time_unmap(page)
    }

    /// What a process finds its clock by, in its environment, with the library that makes it keep to it.
    package func environment(library: String) -> [String] {
        ["\(WAKE_TIME_VARIABLE)=/proc/\(getpid())/fd/\(descriptor.number)", "LD_PRELOAD=\(library)"]
    }

    /// Sets the clock, in nanoseconds since the run began. Only while the app rests or is frozen, but for one that never
    /// rests.
    package func set(_ now: Int64) { unsafe wake_time_set(page, now) }

    /// Says where the app's threads are listed: an open cgroup.threads or tasks file that outlives this; without one, all of
    /// the process and below it.
    ///
    /// - Parameter output: where its log is written: whoever waits there for the bench to take it does not rest.
    package func watch(list: Int32?, process: Int32, output: Int32? = nil) {
        threads = wake_threads(list: list ?? -1, process: process)
        if let output { _ = unsafe wake_rest_outputs(rest, output) }
    }

    // MARK: Rest

    /// The first half of a check: whether each thread sleeps.
    package func firstLook() -> Unrest? {
        guard let threads else { return nil }
        var why = wake_restless()
        guard unsafe wake_rest_first(rest, threads, &why) == 1 else { return Unrest(why) }
        if unsafe wake_time_terminals(page) > 0 { unsafe wake_rest_push_terminals(rest) }
        return nil
    }

    /// The second half: whether each has slept since. When both halves are nil for all apps, the first ones before the
    /// second ones, all threads of all of them slept at once.
    package func secondLook() -> Unrest? {
        guard let threads else { return nil }
        var why = wake_restless()
        return unsafe wake_rest_second(rest, threads, &why) == 1 ? nil : Unrest(why)
    }

    /// Counts up when a first look finds that something has run since the one before it.
    package var changes: UInt64 { unsafe UInt64(wake_rest_changes(rest)) }

    /// How many threads were looked at last.
    package var threadCount: Int { unsafe Int(wake_rest_count(rest)) }

    /// Lets all threads of the app that may run until they wait, or share their processor.
    package func schedule(firstInFirstOut: Bool) {
        guard let threads else { return }
        unsafe wake_rest_schedule(rest, threads, firstInFirstOut ? 1 : 0)
    }

    // MARK: What the app waits for

    /// What is due now or was before, in the order in which it is to be fired, and the earliest deadline after it; nil when
    /// nothing is a reason for time to move.
    package func pending(at now: Int64) -> (due: [Pending], next: Int64?) {
        var next: Int64 = .max
        let count = unsafe wake_time_due(page, now, &due, Int32(due.count), &next)
        guard count > 0 else { return ([], next == .max ? nil : next) }
        let found = due[..<Int(count)].map { pending in
            Pending(
                deadline: pending.deadline,
                process: pending.process,
                number: pending.number,
                isTimer: pending.is_timer == 1,
                place: pending.place,
                clock: pending.clock,
                kind: pending.kind,
                byMain: pending.by_main == 1
            )
        }
        return (found.sorted(by: Pending.precedes), next == .max ? nil : next)
    }

    /// Ends a wait, or lets a timer expire.
    ///
    /// - Returns: whether something was woken; what is of a process that is gone is forgotten instead.
    @discardableResult
    package func fire(_ pending: Pending, at now: Int64) -> Bool {
        var wanted = wake_pending()
        wanted.deadline = pending.deadline
        wanted.process = pending.process
        wanted.number = pending.number
        wanted.place = pending.place
        wanted.clock = pending.clock
        wanted.is_timer = pending.isTimer ? 1 : 0
        wanted.kind = pending.kind
        wanted.by_main = pending.byMain ? 1 : 0
        return unsafe wake_time_fire(page, rest, &wanted, now) == 1
    }

    // MARK: What the library tells

    /// How often the app has read its clock: one that does so on and on waits for it to move.
    package var reads: UInt64 { unsafe wake_time_reads(page) }

    /// How many processes keep to this clock, or have; 0 while the library is in none.
    package var processes: UInt32 { unsafe wake_time_processes(page) }

    /// The system call of the last timed wait that the library left on wall time; nil when there was none.
    package var unheldCall: Int? {
        var call: UInt32 = 0
        return unsafe wake_time_unsupported(page, &call) == 0 ? nil : Int(call)
    }

    /// Why the library left a process on wall time, an errno; nil when it did not.
    package var fallback: Int32? {
        let code = unsafe wake_time_fallback(page)
        return code == 0 ? nil : Int32(truncatingIfNeeded: code)
    }

    /// Whether the kernel has refused it to all of the app's processes so far: they live on wall time.
    package var isRefused: Bool { processes == 0 && fallback != nil }
}
