import CSystemd
import Glibc

/// The one thread's loop: descriptors, timers, signals and the end of each turn.
///
/// All of it, and everything registered with it, belongs to the thread that runs it. It waits in the kernel and never
/// looks on its own. Handlers run one at a time, the most urgent ready source first.
@safe package final class EventLoop {
    /// The `sd_event *`, for libraries that attach to it such as sd-bus; valid while the loop lives.
    @unsafe package let handle: OpaquePointer

    /// After so many handlers in a row the turn ends even though more is ready.
    package static let longestTurn = 256

    private var turnHandlers: [() -> Void] = []
    private var turnSource: OpaquePointer?
    private var handledInTurn = 0

    package init() throws(SystemError) {
        var opened: OpaquePointer?
        let code = unsafe sd_event_new(&opened)
        guard code >= 0, let opened = unsafe opened else { throw SystemError("sd_event_new", code: -code) }
        unsafe handle = opened
    }

    deinit {
        unsafe sd_event_source_disable_unref(turnSource)
        unsafe sd_event_unref(handle)
    }

    /// Calls the handler each time the descriptor is ready for one of the interests, for as long as it is.
    ///
    /// The descriptor stays the caller's and must outlive the watch. The watch ends when it is cancelled or released.
    package func watch(
        _ descriptor: Int32,
        for interests: Readiness,
        priority: Priority = .normal,
        handler: @escaping (Readiness) -> Void
    ) throws(SystemError) -> Watch {
        let watch = Watch(loop: self, handler: handler)
        var source: OpaquePointer?
        let code = unsafe sd_event_add_io(handle, &source, descriptor, interests.rawValue, watchReady, watch.address)
        guard code >= 0 else { throw SystemError("sd_event_add_io", code: -code, subject: "descriptor \(descriptor)") }
        unsafe watch.source = source
        unsafe sd_event_source_set_priority(source, priority.rawValue)
        return watch
    }

    /// A timer, not armed yet, with an accuracy of one microsecond. It ends when it is released.
    ///
    /// - Parameter handler: what it does when it goes off; may be set later, as ``Timer/handler``.
    package func timer(
        on clock: Timer.Clock = .boot,
        priority: Priority = .normal,
        handler: @escaping () -> Void = {}
    ) throws(SystemError) -> Timer {
        let timer = Timer(loop: self, handler: handler)
        var source: OpaquePointer?
        let code = unsafe sd_event_add_time(handle, &source, clock.number, .max, 1, timerDue, timer.address)
        guard code >= 0 else { throw SystemError("sd_event_add_time", code: -code) }
        unsafe timer.source = source
        unsafe sd_event_source_set_priority(source, priority.rawValue)
        unsafe sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
        return timer
    }

    /// Calls the handler for each arrival of the signal, which is blocked in this thread from now on.
    ///
    /// To be called before other threads start, or in a process where they block the signal too.
    package func signal(_ number: Int32, handler: @escaping () -> Void) throws(SystemError) -> SignalWatch {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, number)
        let masked = unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
        guard masked == 0 else { throw SystemError("pthread_sigmask", code: masked) }
        let watch = SignalWatch(loop: self, handler: handler)
        var source: OpaquePointer?
        let code = unsafe sd_event_add_signal(handle, &source, number, signalArrived, watch.address)
        guard code >= 0 else { throw SystemError("sd_event_add_signal", code: -code, subject: "signal \(number)") }
        unsafe watch.source = source
        return watch
    }

    /// Calls the handler at the end of each turn in which something happened: when all that was ready has been handled,
    /// at the latest after ``longestTurn`` handlers.
    package func atTurnEnd(_ handler: @escaping () -> Void) throws(SystemError) {
        if unsafe turnSource == nil {
            var source: OpaquePointer?
            let address = unsafe Unmanaged.passUnretained(self).toOpaque()
            let code = unsafe sd_event_add_post(handle, &source, turnOver, address)
            guard code >= 0 else { throw SystemError("sd_event_add_post", code: -code) }
            unsafe turnSource = source
            unsafe sd_event_source_set_priority(source, Int64(SD_EVENT_PRIORITY_IDLE))
        }
        turnHandlers.append(handler)
    }

    /// Waits and handles until ``exit(_:)``.
    ///
    /// - Returns: the code given to ``exit(_:)``.
    package func run() throws(SystemError) -> Int32 {
        let code = unsafe sd_event_loop(handle)
        guard code >= 0 else { throw SystemError("sd_event_loop", code: -code) }
        return code
    }

    /// Waits for one ready source and handles it.
    ///
    /// - Parameter timeout: the longest wait in nanoseconds; nil waits for ever, 0 not at all.
    /// - Returns: whether something was handled.
    @discardableResult
    package func runOnce(timeout: Int64? = nil) throws(SystemError) -> Bool {
        let microseconds = timeout.map { UInt64((max($0, 0) + 999) / 1_000) } ?? .max
        let code = unsafe sd_event_run(handle, microseconds)
        guard code >= 0 || code == -ESTALE else { throw SystemError("sd_event_run", code: -code) }
        return code > 0
    }

    /// Ends ``run()`` after the current handler.
    package func exit(_ code: Int32 = 0) {
        precondition(code >= 0, "EventLoop.exit(\(code))")
        unsafe sd_event_exit(handle, code)
    }

    fileprivate func handled() {
        handledInTurn += 1
        if handledInTurn >= Self.longestTurn { endTurn() }
    }

    fileprivate func endTurn() {
        handledInTurn = 0
        for handler in turnHandlers { handler() }
    }
}

extension EventLoop {
    /// Which ready source goes first.
    package enum Priority: Int64, Sendable {
        /// Before everything else: what ends things.
        case urgent = -100
        case normal = 0
        /// After everything else.
        case late = 50
    }
}

/// What a descriptor is watched for, and what it is ready for.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let readable = Readiness(rawValue: 0x1)
    /// A change of a kernel file such as cgroup.events.
    package static let changed = Readiness(rawValue: 0x2)
    package static let writable = Readiness(rawValue: 0x4)
    /// Reported even when not asked for.
    package static let failed = Readiness(rawValue: 0x8)
    /// The other end has gone. Reported even when not asked for.
    package static let hangup = Readiness(rawValue: 0x10)
    /// The other end writes no more.
    package static let peerClosed = Readiness(rawValue: 0x2000)
    /// With other interests: the handler is called when the descriptor becomes ready, not for as long as it is.
    package static let edge = Readiness(rawValue: 0x8000_0000)
}

/// Something the loop waits for. It ends when the last reference goes.
@safe package class EventSource {
    fileprivate let loop: EventLoop
    fileprivate var source: OpaquePointer?

    fileprivate init(loop: EventLoop) {
        self.loop = loop
    }

    deinit {
        cancel()
    }

    fileprivate var address: UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }

    fileprivate func setEnabled(_ mode: Int32) {
        guard unsafe source != nil else { return }
        let code = unsafe sd_event_source_set_enabled(source, mode)
        // A finished loop refuses; nothing would be dispatched anyway.
        precondition(code >= 0 || code == -ESTALE, "sd_event_source_set_enabled failed with \(-code)")
    }

    /// Waits no more. Harmless when done already.
    package func cancel() {
        unsafe source = sd_event_source_disable_unref(source)
    }
}

/// A watched descriptor.
@safe package final class Watch: EventSource {
    private let handler: (Readiness) -> Void

    fileprivate init(loop: EventLoop, handler: @escaping (Readiness) -> Void) {
        self.handler = handler
        super.init(loop: loop)
    }

    /// Waits again after ``disable()``.
    package func enable() { setEnabled(Int32(SD_EVENT_ON)) }

    /// Leaves the descriptor alone until ``enable()``.
    package func disable() { setEnabled(Int32(SD_EVENT_OFF)) }

    /// Waits for other things than before.
    package func setInterests(_ interests: Readiness) {
        guard unsafe source != nil else { return }
        unsafe sd_event_source_set_io_events(source, interests.rawValue)
    }

    fileprivate func ready(_ readiness: Readiness) {
        handler(readiness)
        loop.handled()
    }
}

/// A one-shot timer that can be armed again and again without allocating.
@safe package final class Timer: EventSource {
    /// What the timer measures.
    package enum Clock: Sendable {
        /// ``BootClock``.
        case boot
        /// ``MonotonicClock``.
        case monotonic

        fileprivate var number: clockid_t {
            switch self {
            case .boot: CLOCK_BOOTTIME
            case .monotonic: CLOCK_MONOTONIC
            }
        }
    }

    /// What it does when it goes off.
    package var handler: () -> Void

    fileprivate init(loop: EventLoop, handler: @escaping () -> Void) {
        self.handler = handler
        super.init(loop: loop)
    }

    /// Goes off once at `nanoseconds` on the timer's clock, never early; a time in the past is due at once. Replaces
    /// what was armed before.
    package func arm(at nanoseconds: Int64) {
        guard unsafe source != nil else { return }
        let microseconds = UInt64(max(nanoseconds, 0) / 1_000 + (nanoseconds > 0 && nanoseconds % 1_000 != 0 ? 1 : 0))
        unsafe sd_event_source_set_time(source, microseconds)
        setEnabled(Int32(SD_EVENT_ONESHOT))
    }

    /// The same on the monotonic clock, so many milliseconds from now.
    package func arm(after milliseconds: Int64) { arm(at: MonotonicClock.now() + milliseconds * 1_000_000) }

    /// Does not go off any more until armed.
    package func disarm() { setEnabled(Int32(SD_EVENT_OFF)) }

    fileprivate func due() {
        handler()
        loop.handled()
    }
}

/// A watched signal.
@safe package final class SignalWatch: EventSource {
    private let handler: () -> Void

    fileprivate init(loop: EventLoop, handler: @escaping () -> Void) {
        self.handler = handler
        super.init(loop: loop)
    }

    fileprivate func arrived() {
        handler()
        loop.handled()
    }
}

private func watchReady(
    _ source: OpaquePointer?,
    _ descriptor: Int32,
    _ events: UInt32,
    _ address: UnsafeMutableRawPointer?
) -> Int32 {
    let watch = unsafe Unmanaged<Watch>.fromOpaque(address!).takeUnretainedValue()
    watch.ready(Readiness(rawValue: events))
    return 0
}

private func timerDue(_ source: OpaquePointer?, _ time: UInt64, _ address: UnsafeMutableRawPointer?) -> Int32 {
    let timer = unsafe Unmanaged<Timer>.fromOpaque(address!).takeUnretainedValue()
    timer.due()
    return 0
}

private func signalArrived(
    _ source: OpaquePointer?,
    _ information: UnsafePointer<signalfd_siginfo>?,
    _ address: UnsafeMutableRawPointer?
) -> Int32 {
    let watch = unsafe Unmanaged<SignalWatch>.fromOpaque(address!).takeUnretainedValue()
    watch.arrived()
    return 0
}

private func turnOver(_ source: OpaquePointer?, _ address: UnsafeMutableRawPointer?) -> Int32 {
    let loop = unsafe Unmanaged<EventLoop>.fromOpaque(address!).takeUnretainedValue()
    loop.endTurn()
    return 0
}
