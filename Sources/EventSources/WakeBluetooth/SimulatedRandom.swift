import WakeDevices
import WakeModel

/// Random numbers that a seed and a name give again in each run.
struct SimulatedRandom: Codable {
    private var state: UInt64

    /// The fork of a seed that belongs to a name.
    init(seed: UInt64, name: String) {
        state = Mixing.fork(seed, name)
        _ = next()
    }

    mutating func next() -> UInt64 { Mixing.next(&state) }

    /// From 0 up to but without 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Of a normal distribution of mean 0 and deviation 1, nearly: a sum of twelve, which needs no mathematics library
    /// and so is the same on every machine.
    mutating func normal() -> Double { (0..<12).reduce(-Self.mostNormal) { sum, _ in sum + fraction() } }

    /// What ``normal()`` never exceeds.
    static let mostNormal = 6.0

    /// A time from `low` up to but without `high`.
    mutating func span(from low: Instant.Span, to high: Instant.Span) -> Instant.Span {
        let width = UInt64(max(1, high.nanoseconds - low.nanoseconds))
        return Instant.Span(nanoseconds: low.nanoseconds + Int64(next() % width))
    }
}
