import WakeDevices
import WakeModel

/// How a recording's time becomes the file's.
package struct Pace: Sendable {
    /// How much faster than in the recording.
    package var speed = 1.0
    /// What is taken of the recording, counted from its beginning.
    package var from = Instant.Span.zero
    package var to: Instant.Span?
    /// The longest pause; longer ones are cut to it.
    package var gapLimit: Instant.Span?
    /// Whether each stream begins again after its end.
    package var loops = false

    package init() {}
}

/// The pauses of a recording, one after the other, as a file has them: cut, and as much shorter as they are played faster.
struct PacedPauses {
    private let pace: Pace
    private var total: Int64 = 0
    private var written: Int64 = 0

    init(_ pace: Pace) { self.pace = pace }

    /// The next pause, in nanoseconds; of the file's to the microsecond.
    mutating func next(_ pause: Int64) -> Instant.Span {
        let cut = pace.gapLimit.map { min(pause, $0.nanoseconds) } ?? pause
        total = min(total, .max - max(0, cut)) + cut
        // Rounded from the beginning, so that errors do not add up; a file says no longer times than some years.
        let rounded = Int64(min((Double(total) / pace.speed / 1000).rounded(), 9e15)) * 1000
        defer { written = rounded }
        return min(Instant.Span(nanoseconds: rounded - written), DurationText.longest)
    }
}
