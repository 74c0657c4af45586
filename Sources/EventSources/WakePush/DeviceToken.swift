import WakeModel

/// The device tokens of apps: 32 bytes, the same in each run for the same bundle, so that a server may keep them.
package enum DeviceToken {
    /// The token of an app for VoIP pushes, or for all others.
    package static func bytes(of bundle: String, forCalls: Bool) -> [UInt8] {
        // FNV-1a over the name, then SplitMix64 for as many bytes as a token has.
        var state: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in PushType.topic(of: bundle, forCalls: forCalls).utf8 {
            state = (state ^ UInt64(byte)) &* 0x0100_0000_01b3
        }
        var token: [UInt8] = []
        while token.count < 32 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            mixed ^= mixed >> 31
            for shift in stride(from: 56, through: 0, by: -8) {
                token.append(UInt8(truncatingIfNeeded: mixed >> UInt64(shift)))
            }
        }
        return token
    }

    /// In small letters, as servers write them.
    package static func text(_ token: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return token.reduce(into: "") {
            $0.append(digits[Int($1 >> 4)])
            $0.append(digits[Int($1 & 15)])
        }
    }
}
