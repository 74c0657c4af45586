import WakeModel

/// Random numbers that a seed and a name give again in each run (SplitMix64).
struct SimulatedRandom: Codable {
    private var state: UInt64

    /// The fork of a seed that belongs to a name.
    init(seed: UInt64, name: String) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01b3 }
        state = seed ^ hash
        _ = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// From 0 up to but without 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Of a normal distribution of mean 0 and deviation 1, nearly: a sum of twelve, which needs no mathematics library
    /// and so is the same on every machine.
    mutating func normal() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + fraction() } }

    /// A time from `low` up to but without `high`.
    mutating func span(from low: Instant.Span, to high: Instant.Span) -> Instant.Span {
        let width = UInt64(max(1, high.nanoseconds - low.nanoseconds))
        return Instant.Span(nanoseconds: low.nanoseconds + Int64(next() % width))
    }
}
