/// Reproducible chance: SplitMix64 by Steele, Lea and Flood (2014).
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below `bound`.
    mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: (next() >> 33) % UInt64(bound))
    }

    /// True once in `odds` times.
    mutating func once(in odds: Int) -> Bool {
        below(odds) == 0
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}
