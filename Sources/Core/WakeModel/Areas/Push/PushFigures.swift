/// What a profile has of pushes.
package struct PushFigures: Hashable, Codable, Sendable {
    /// Whether `content-available: 1` gives any app time (PUSH-1).
    package var background: Bool
    /// The time of an app for a push, and for its completion handler (PUSH-1).
    package var window = Instant.Span.seconds(30)
    /// What an app whose completion handler comes too late ends with (PUSH-1).
    package var terminationCode: Int64
    /// Whether a background push needs the type background and a priority below 10 (PUSH-2).
    package var checksPriority: Bool
    /// How many background pushes wake an app within ``limitWindow`` (PUSH-3); nil for any number.
    package var limit: UInt32?
    package var limitWindow = Instant.Span.seconds(3_600)
    /// How long APNs keeps a push for a phone that it does not reach (PUSH-4).
    package var storage = Instant.Span.seconds(30 * 24 * 3_600)
    /// The largest payload (PUSH-5), in bytes.
    package var payloadLimit: UInt32 = 4_096
    /// The largest payload of a push for calls (PUSH-5), in bytes.
    package var callPayloadLimit = largestPayload
    /// Whether there is PushKit (PUSH-6).
    package var pushKit: Bool
    /// Whether an app must report a call for each push for calls (PUSH-7).
    package var reportsCalls: Bool
    /// How long it may take to report the call (PUSH-7); assumed: Apple names no figure.
    package var reportLimit = Instant.Span.seconds(30)
    /// After how many calls that it did not report an app is launched for no more of them (PUSH-8); nil for never.
    package var unreportedLimit: UInt32?
    /// Whether there are service extensions (PUSH-9).
    package var extensions: Bool
    /// The time of a service extension (PUSH-9).
    package var extensionWindow = Instant.Span.seconds(30)
    /// How long before the end of its time a service extension is told of it (PUSH-9); assumed: Apple names no figure.
    package var extensionMargin = Instant.Span.seconds(5)
    /// The memory of a service extension (PUSH-9), in megabytes.
    package var extensionMemory: UInt32 = 24
    /// Whether there is Newsstand (NEWS-1).
    package var newsstand: Bool
    /// Whether pushes of calls launch an app before the first unlock after boot, which DTS calls inconsistent (PUSH-12).
    package var beforeFirstUnlock = false
    /// Whether background pushes wake an app only while Background App Refresh is on, as is widely said (PUSH-1).
    package var needsRefresh = false
    /// Whether Low Power Mode pauses background pushes (PWR-2).
    package var pausesInLowPower: Bool

    /// The largest payload that apps can be told of, in bytes: no limit is above it (PUSH-5).
    package static let largestPayload: UInt32 = 5_120

    init(ios version: Int) {
        background = version >= 7
        terminationCode = version < 13 ? TerminationCode.watchdog : TerminationCode.fetchHandler
        checksPriority = version >= 13
        limit = version < 13 ? nil : 3
        pushKit = version >= 8
        reportsCalls = version >= 13
        unreportedLimit = version < 13 ? nil : 3
        extensions = version >= 10
        newsstand = version < 13
        pausesInLowPower = version >= 9
    }

    static let settings: [ProfileSetting] =
        background + apns + calls + [
            .init("push.extensions", \.areas.push.extensions, .push9, "there are notification service extensions"),
            .init("push.extensionWindow", \.areas.push.extensionWindow, .push9, "time of a service extension"),
            .init(
                "push.extensionMargin",
                \.areas.push.extensionMargin,
                .push9,
                "how long before the end of its time a service extension is told of it; assumed"
            ),
            .init(
                "push.extensionMemory",
                \.areas.push.extensionMemory,
                1...100_000,
                "megabytes",
                .push9,
                "memory of a service extension"
            ),
            .init("push.newsstand", \.areas.push.newsstand, .news1, "pushes about new issues launch Newsstand apps"),
        ]

    private static let background: [ProfileSetting] = [
        .init(
            "push.background",
            \.areas.push.background,
            .push1,
            "content-available gives an app time in the background"
        ),
        .init("push.window", \.areas.push.window, .push1, "time for a push, and for its completion handler"),
        .init(
            "push.terminationCode",
            \.areas.push.terminationCode,
            .push1,
            "code of an app whose completion handler comes too late"
        ),
        .init(
            "push.checksPriority",
            \.areas.push.checksPriority,
            .push2,
            "a background push needs the type background and a priority below 10"
        ),
        .init(
            "push.limit",
            \.areas.push.limit,
            1...1_000_000,
            "wakes",
            .push3,
            "background pushes that wake an app within push.limitWindow"
        ),
        .init("push.limitWindow", \.areas.push.limitWindow, .push3, "how far back wakes by background pushes count"),
        .init(
            "push.beforeFirstUnlock",
            \.areas.push.beforeFirstUnlock,
            .push12,
            "pushes of calls launch an app before the first unlock after boot"
        ),
        .init(
            "push.needsRefresh",
            \.areas.push.needsRefresh,
            .push1,
            "background pushes wake an app only while Background App Refresh is on"
        ),
        .init(
            "push.pausesInLowPower",
            \.areas.push.pausesInLowPower,
            .pwr2,
            "Low Power Mode pauses background pushes"
        ),
    ]

    private static let apns: [ProfileSetting] = [
        .init("push.storage", \.areas.push.storage, .push4, "how long APNs keeps a push for a phone out of reach"),
        .init(
            "push.payloadLimit",
            \.areas.push.payloadLimit,
            1...largestPayload,
            "bytes",
            .push5,
            "largest payload of a push"
        ),
        .init(
            "push.callPayloadLimit",
            \.areas.push.callPayloadLimit,
            1...largestPayload,
            "bytes",
            .push5,
            "largest payload of a push for calls"
        ),
    ]

    private static let calls: [ProfileSetting] = [
        .init("push.pushKit", \.areas.push.pushKit, .push6, "there are pushes for calls"),
        .init(
            "push.reportsCalls",
            \.areas.push.reportsCalls,
            .push7,
            "an app must report a call for each push for calls"
        ),
        .init(
            "push.reportLimit",
            \.areas.push.reportLimit,
            .push7,
            "time of an app to report the call of a push for calls; assumed"
        ),
        .init(
            "push.unreportedLimit",
            \.areas.push.unreportedLimit,
            1...1_000,
            "calls",
            .push8,
            "calls that an app may not report before such pushes launch it no more; assumed"
        ),
    ]
}

extension TerminationCode {
    /// A completion handler was not called in time, from iOS 13 (PUSH-1).
    package static let fetchHandler: Int64 = 0x2182_bad4
    /// No call was reported for a push for calls (PUSH-7).
    package static let unreportedCall: Int64 = 0xbaad_ca11
}
