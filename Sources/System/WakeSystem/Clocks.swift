import Glibc

/// Time since the machine started, without its sleep.
package enum MonotonicClock {
    /// Nanoseconds.
    package static func now() -> Int64 { nanoseconds(CLOCK_MONOTONIC) }
}

/// Time since the machine started, its sleep included.
package enum BootClock {
    /// Nanoseconds.
    package static func now() -> Int64 { nanoseconds(CLOCK_BOOTTIME) }
}

/// The time of day; it may jump.
package enum WallClock {
    /// Nanoseconds since 1970.
    package static func now() -> Int64 { nanoseconds(CLOCK_REALTIME) }
}

private func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    let code = unsafe clock_gettime(clock, &time)
    precondition(code == 0, "clock_gettime(\(clock)) failed with \(errno)")
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
