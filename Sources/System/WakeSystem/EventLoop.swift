import CSystemd
import Glibc

/// The one loop of a bench: descriptors, timers and signals on one thread, over sd-event.
@safe package final class EventLoop {
    fileprivate let event: OpaquePointer

    /// Opens a loop.
    ///
    /// - Throws: ``SystemError`` when the kernel has no descriptors left.
    package init() throws(SystemError) {
        var opened: OpaquePointer?
        try SystemError.check(unsafe sd_event_new(&opened), "sd_event_new")
        guard let opened = unsafe opened else { throw SystemError(call: "sd_event_new", errno: ENOMEM) }
        unsafe event = opened
    }

    deinit {
        unsafe sd_event_unref(event)
    }

    /// The sd_event, for sd-bus to attach to. Valid as long as the loop.
    @unsafe package var handle: OpaquePointer { unsafe event }

    /// Runs until ``exit(_:)``; gives back its code.
    @discardableResult
    package func run() throws(SystemError) -> Int32 {
        try SystemError.check(unsafe sd_event_loop(event), "sd_event_loop")
    }

    /// Handles one thing that is ready, waiting for it at most so many nanoseconds; nil waits as long as it takes.
    /// Says whether anything was handled.
    @discardableResult
    package func runOnce(timeout nanoseconds: Int64?) throws(SystemError) -> Bool {
        let microseconds = nanoseconds.map { UInt64(max(0, $0) / 1_000) } ?? UInt64.max
        return try SystemError.check(unsafe sd_event_run(event, microseconds), "sd_event_run") > 0
    }

    /// Ends ``run()`` after the handler that is running.
    package func exit(_ code: Int32) {
        unsafe sd_event_exit(event, code)
    }
}

/// What a descriptor is ready for.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// Urgent: what cgroup and sysfs files say when they change.
    package static let urgent = Readiness(rawValue: EPOLLPRI.rawValue)
    /// The other end is gone. Always watched.
    package static let hangup = Readiness(rawValue: EPOLLHUP.rawValue)
    /// Always watched.
    package static let error = Readiness(rawValue: EPOLLERR.rawValue)
}

/// Something that a loop watches: kept alive by its owner, and given up when it is cancelled or let go.
@safe package class Watch {
    fileprivate var source: OpaquePointer?

    fileprivate init() { unsafe source = nil }

    /// Whether the handler is called.
    package var isEnabled: Bool {
        get {
            guard let source = unsafe source else { return false }
            var state: Int32 = 0
            unsafe sd_event_source_get_enabled(source, &state)
            return state != SD_EVENT_OFF
        }
        set {
            guard let source = unsafe source else { return }
            unsafe sd_event_source_set_enabled(source, Int32(newValue ? SD_EVENT_ON : SD_EVENT_OFF))
        }
    }

    /// Watches no more. Harmless twice, and from inside the handler.
    package func cancel() {
        guard let source = unsafe source else { return }
        unsafe sd_event_source_disable_unref(source)
        unsafe self.source = nil
    }

    fileprivate func setPriority(_ priority: Int64) {
        if let source = unsafe source { unsafe sd_event_source_set_priority(source, priority) }
    }

    deinit {
        cancel()
    }
}

/// A watch over a descriptor, which must stay open until the watch is cancelled.
@safe package final class DescriptorWatch: Watch {
    fileprivate let handler: (Readiness) -> Void

    fileprivate init(_ handler: @escaping (Readiness) -> Void) {
        self.handler = handler
        super.init()
    }

    /// Watches for something else from here on.
    package func change(to readiness: Readiness) {
        if let source = unsafe source { unsafe sd_event_source_set_io_events(source, readiness.rawValue) }
    }
}

/// A timer of the monotonic clock, set again and again without a new one.
@safe package final class TimerWatch: Watch {
    fileprivate let handler: () -> Void

    fileprivate init(_ handler: @escaping () -> Void) {
        self.handler = handler
        super.init()
    }

    /// Calls the handler once, at `nanoseconds` of ``MonotonicClock`` or at once when that has passed.
    package func arm(at nanoseconds: Int64) {
        guard let source = unsafe source else { return }
        unsafe sd_event_source_set_time(source, UInt64(max(0, nanoseconds) + 999) / 1_000)
        unsafe sd_event_source_set_enabled(source, Int32(SD_EVENT_ONESHOT))
    }

    package func disarm() {
        isEnabled = false
    }
}

/// A watch over a signal, which no longer has its default effect.
@safe package final class SignalWatch: Watch {
    fileprivate let handler: () -> Void

    fileprivate init(_ handler: @escaping () -> Void) {
        self.handler = handler
        super.init()
    }
}

extension EventLoop {
    /// Calls the handler whenever the descriptor is ready. Of two that are ready, the smaller priority comes first.
    package func watch(
        _ descriptor: Int32,
        for readiness: Readiness,
        priority: Int64 = 0,
        handler: @escaping (Readiness) -> Void
    ) throws(SystemError) -> DescriptorWatch {
        let watch = DescriptorWatch(handler)
        try SystemError.check(
            unsafe sd_event_add_io(
                event,
                &watch.source,
                descriptor,
                readiness.rawValue,
                { _, _, events, context in
                    // The handler may let the watch go; it lives until the call is over.
                    let watch = unsafe Unmanaged<DescriptorWatch>.fromOpaque(context!).takeUnretainedValue()
                    watch.handler(Readiness(rawValue: events))
                    return 0
                },
                Unmanaged.passUnretained(watch).toOpaque()
            ),
            "sd_event_add_io"
        )
        watch.setPriority(priority)
        return watch
    }

    /// A timer that is not set yet.
    package func timer(priority: Int64 = 0, handler: @escaping () -> Void) throws(SystemError) -> TimerWatch {
        let watch = TimerWatch(handler)
        try SystemError.check(
            // An accuracy of 1 asks for none of the default slack of 250 ms.
            unsafe sd_event_add_time(
                event,
                &watch.source,
                CLOCK_MONOTONIC,
                UInt64.max,
                1,
                { _, _, context in
                    let watch = unsafe Unmanaged<TimerWatch>.fromOpaque(context!).takeUnretainedValue()
                    watch.handler()
                    return 0
                },
                Unmanaged.passUnretained(watch).toOpaque()
            ),
            "sd_event_add_time"
        )
        watch.disarm()
        watch.setPriority(priority)
        return watch
    }

    /// Calls the handler instead of the signal's default effect, for this thread's process.
    package func onSignal(_ signal: Int32, handler: @escaping () -> Void) throws(SystemError) -> SignalWatch {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, signal)
        let code = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        guard code == 0 else { throw SystemError(call: "pthread_sigmask", errno: code) }
        let watch = SignalWatch(handler)
        try SystemError.check(
            unsafe sd_event_add_signal(
                event,
                &watch.source,
                signal,
                { _, _, context in
                    let watch = unsafe Unmanaged<SignalWatch>.fromOpaque(context!).takeUnretainedValue()
                    watch.handler()
                    return 0
                },
                Unmanaged.passUnretained(watch).toOpaque()
            ),
            "sd_event_add_signal"
        )
        return watch
    }
}
