/// For which apps the phone looks after sockets marked for VoIP (VOIP-1).
package enum LegacySockets: UInt8, Worded, SettingFigure, Codable {
    case on
    case off
    /// For those built with an SDK below 10.
    case bySDK

    package var word: String { self == .bySDK ? "by-sdk" : "\(self)" }
}

/// What a profile has of calls.
package struct VoIPFigures: Hashable, Codable, Sendable {
    /// For which apps sockets marked for VoIP are watched (VOIP-1), with all that belongs to it.
    package var legacy: LegacySockets
    /// The window of a VoIP wake, and of a keep-alive handler (VOIP-3).
    package var window = Instant.Span.seconds(10)
    /// The shortest keep-alive period (VOIP-3).
    package var keepAliveMinimum = Instant.Span.seconds(600)
    /// How many VoIP wakes there may be within ``wakeWindow`` (VOIP-6); nil for any number.
    package var wakeLimit: UInt32? = 15
    package var wakeWindow = Instant.Span.seconds(300)
    /// Whether an app is launched for its calls before the first unlock after boot, as DTS tells of the early iOS (VOIP-4).
    package var beforeFirstUnlock = false
    /// For how long what a peer says waits for a network before the connection has failed (VOIP-7); nil for ever. Assumed: TCP
    /// would wait for 100 s and more (RFC 1122, section 4.2.3.5), but the phone has another address by then.
    package var connectionTimeout: Instant.Span? = .seconds(30)
    /// How long a suspended app keeps connections that the phone does not look after (RESP-3); nil for ever.
    package var connectionsLast: Instant.Span?

    init(ios version: Int) {
        legacy = version < 12 ? .on : .bySDK
    }

    static let settings: [ProfileSetting] = [
        .init("voip.legacy", \.areas.voip.legacy, .voip1, "whose marked sockets the phone looks after"),
        .init(
            "voip.keepAliveMinimum",
            \.areas.voip.keepAliveMinimum,
            .voip3,
            "shortest period of a keep-alive handler"
        ),
        .init("voip.window", \.areas.voip.window, .voip3, "window of a VoIP wake, and of a keep-alive handler"),
        .init(
            "voip.wakeLimit",
            \.areas.voip.wakeLimit,
            1...1_000_000,
            "wakes",
            .voip6,
            "VoIP wakes within voip.wakeWindow"
        ),
        .init("voip.wakeWindow", \.areas.voip.wakeWindow, .voip6, "how far back VoIP wakes count"),
        .init(
            "voip.beforeFirstUnlock",
            \.areas.voip.beforeFirstUnlock,
            .voip4,
            "VoIP apps are launched before the first unlock after boot"
        ),
        .init(
            "voip.connectionTimeout",
            \.areas.voip.connectionTimeout,
            .voip7,
            "for how long what a peer says waits for a network before its connection fails; assumed"
        ),
        .init(
            "connectionsLast",
            \.areas.voip.connectionsLast,
            .resp3,
            "how long a suspended app keeps connections that the phone does not look after"
        ),
    ]
}

extension TerminationCode {
    /// A VoIP app was woken too often (VOIP-6).
    package static let voipWakes: Int64 = 0xbad2_2222
}
