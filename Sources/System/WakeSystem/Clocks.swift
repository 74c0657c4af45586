import Glibc

/// The kernel's clock that never jumps.
package enum MonotonicClock {
    /// Nanoseconds since boot, without the time asleep.
    package static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// The clock on the wall, for records that people read.
package enum WallClock {
    /// Nanoseconds since 1970, UTC.
    package static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
