/// Numbers that look like chance and come again in each run.
package enum Mixing {
    /// FNV-1a, 64 bits.
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01b3 }
    }

    /// The fork of a seed that belongs to a name.
    package static func fork(_ seed: UInt64, _ name: String) -> UInt64 { seed ^ hash(name.utf8) }

    /// How far a state moves from one number to the next.
    package static let step: UInt64 = 0x9e37_79b9_7f4a_7c15

    /// The number that comes next from a state: SplitMix64 of Steele, Lea and Flood (2014).
    package static func number(from state: UInt64) -> UInt64 {
        var word = state &+ step
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }

    /// The same, and the state moves on.
    package static func next(_ state: inout UInt64) -> UInt64 {
        defer { state &+= step }
        return number(from: state)
    }
}
