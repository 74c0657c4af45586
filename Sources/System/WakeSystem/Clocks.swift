import Glibc

/// Time since the machine started, without its sleep.
package enum MonotonicClock {
    /// Nanoseconds.
    package static func now() -> Int64 { reading(of: CLOCK_MONOTONIC) }
}

/// Time since the machine started, its sleep included.
package enum BootClock {
    /// Nanoseconds.
    package static func now() -> Int64 { reading(of: CLOCK_BOOTTIME) }
}

/// The time of day; it may jump.
package enum WallClock {
    /// Nanoseconds since 1970. From 2262-04-11 on it stands: a later time is more than the number can say.
    package static func now() -> Int64 { reading(of: CLOCK_REALTIME) }

    /// A time in nanoseconds; the latest or the earliest that the number can say rather than overflow.
    package static func nanoseconds(of time: timespec) -> Int64 {
        let (scaled, isFar) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isFarther) = scaled.addingReportingOverflow(Int64(time.tv_nsec))
        return isFar || isFarther ? (time.tv_sec < 0 ? .min : .max) : sum
    }
}

private func reading(of clock: clockid_t) -> Int64 {
    var time = timespec()
    let code = unsafe clock_gettime(clock, &time)
    precondition(code == 0, "clock_gettime(\(clock)) failed with \(errno)")
    return WallClock.nanoseconds(of: time)
}
