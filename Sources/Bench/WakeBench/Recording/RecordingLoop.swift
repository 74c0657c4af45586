import Glibc
import WakeModel
import WakeSystem

/// How far a recording is.
package struct RecordingProgress: Hashable, Sendable {
    /// Since it began.
    package var time = Instant.Span.zero
    /// Such as `12 packets, 3 values`.
    package var counts = ""
}

/// Why a recording ended.
package enum RecordingEnd: Hashable, Sendable {
    /// Its time was over.
    case time
    /// Somebody interrupted it (SIGINT, SIGTERM).
    case interrupted
    /// What was recorded has gone, in words.
    case gone(String)
}

/// Turns a loop while something is recorded.
final class RecordingLoop {
    /// How often progress is told at most, in nanoseconds.
    private static let progressPause: Int64 = 250_000_000
    /// How often the time of a silent source is told.
    private static let progressTime: Int64 = 1_000_000_000

    let loop: EventLoop
    let stop = StopFlag()
    private var signals: [SignalWatch] = []
    private let began = MonotonicClock.now()
    private let tell: ((RecordingProgress) -> Void)?

    /// - Parameter tell: takes how far it is; nil when nobody looks.
    init(tell: ((RecordingProgress) -> Void)?) throws(SystemError) {
        loop = try EventLoop()
        self.tell = tell
        for number in [SIGINT, SIGTERM] {
            let stop = stop
            signals.append(try loop.signal(number) { stop.isAsked = true })
        }
    }

    deinit { for signal in signals { signal.cancel() } }

    /// Goes on for so long, or until it is interrupted, or what is recorded has gone.
    ///
    /// - Parameters:
    ///   - counts: what has been recorded, for who looks.
    ///   - each: called after each turn; what was recorded is to be written, and why nothing more comes is to be said.
    func turn(
        for time: Instant.Span?,
        counts: () -> String,
        each: () throws -> String?
    ) throws -> (end: RecordingEnd, time: Instant.Span) {
        let start = MonotonicClock.now()
        var told: Int64 = 0
        while true {
            if let why = try each() { return (.gone(why), Instant.Span(nanoseconds: MonotonicClock.now() - start)) }
            let now = MonotonicClock.now()
            if let tell, now - told >= Self.progressPause {
                tell(RecordingProgress(time: Instant.Span(nanoseconds: now - start), counts: counts()))
                told = now
            }
            if stop.isAsked { return (.interrupted, Instant.Span(nanoseconds: now - start)) }
            let left = time.map { start + $0.nanoseconds - now }
            if let left, left <= 0 { return (.time, Instant.Span(nanoseconds: now - start)) }
            let pause = tell == nil ? nil : Self.progressTime
            _ = try loop.runOnce(timeout: [left, pause].compactMap(\.self).min())
        }
    }
}
