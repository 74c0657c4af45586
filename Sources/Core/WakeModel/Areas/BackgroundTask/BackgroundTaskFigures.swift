/// What a profile has of background fetch and of the task scheduler.
package struct BackgroundTaskFigures: Hashable, Codable, Sendable {
    /// Whether there is background fetch: from iOS 7 (FETCH-1).
    package var hasFetch: Bool
    /// Whether there is a task scheduler: from iOS 13 (BGT-1).
    package var hasTasks: Bool
    /// Whether Low Power Mode, which came with iOS 9, holds both back (PWR-2).
    package var heedsLowPower: Bool
    /// How long a fetch, or the refresh tasks of one launch, may take (FETCH-2, BGT-6).
    package var refreshLimit = Instant.Span.seconds(30)
    /// What a late answer to a fetch prints (FETCH-2); before iOS 13 assumed.
    package var fetchTerminationCode: Int64
    /// How long the processing tasks of one launch may take (BGT-7); assumed.
    package var processingLimit = Instant.Span.seconds(300)
    /// How long before the end of its time a task's expiration handler runs (BGT-8); assumed.
    package var expirationMargin = Instant.Span.seconds(5)
    /// What a task that was not completed prints (BGT-8); assumed.
    package var taskTerminationCode = TerminationCode.backgroundFetch
    /// An answer within it is a quick one (FETCH-3); assumed.
    package var quickAnswer = Instant.Span.seconds(15)
    /// The time between two runs of an app whose answers are the best (FETCH-3); assumed.
    package var spacing = Instant.Span.seconds(900)
    /// How long before the user is expected to open the app a refresh may begin (FETCH-4); assumed.
    package var lead = Instant.Span.seconds(600)
    /// The parts of a day in which uses of the app are counted (FETCH-4); assumed.
    package var slot = Instant.Span.seconds(1_800)
    /// On how many days the user must have opened the app at a time to be expected then (FETCH-4); assumed.
    package var habitDays: UInt32 = 2
    /// How far back uses of the app are remembered (FETCH-4); assumed.
    package var memory = Instant.Span.seconds(7 * 86_400)
    /// How long after its last use an app may still be run for what it asked for in the background (BGT-11); assumed.
    package var recentUse = Instant.Span.seconds(2 * 86_400)
    /// An earliestBeginDate beyond it is far in the future (BGT-5).
    package var farDate = Instant.Span.seconds(7 * 86_400)
    /// How long nobody must have used the phone before processing begins (BGT-7); assumed.
    package var idle = Instant.Span.seconds(600)
    /// How many refresh requests of an app may be pending (BGT-2).
    package var refreshRequests: UInt32 = 1
    /// How many processing requests of an app may be pending (BGT-2).
    package var processingRequests: UInt32 = 10

    /// Whether processing requests outlive a force quit, and run on external power (BGT-15).
    package var outlivesForceQuit: Bool

    init(ios version: Int) {
        outlivesForceQuit = version >= 17
        hasFetch = version >= 7
        hasTasks = version >= 13
        heedsLowPower = version >= 9
        fetchTerminationCode = version < 13 ? TerminationCode.watchdog : TerminationCode.backgroundFetch
    }

    static let settings: [ProfileSetting] = fetches + tasks + chances

    private static let fetches: [ProfileSetting] = [
        .init("fetch.available", \.areas.backgroundTask.hasFetch, .fetch1, "whether there is background fetch"),
        .init(
            "fetch.limit",
            \.areas.backgroundTask.refreshLimit,
            .fetch2,
            "how long a fetch, or the refresh tasks of one launch, may take"
        ),
        .init(
            "fetch.terminationCode",
            \.areas.backgroundTask.fetchTerminationCode,
            .fetch2,
            "what an app ends with whose answer to a fetch comes late"
        ),
        .init(
            "fetch.quickAnswer",
            \.areas.backgroundTask.quickAnswer,
            .fetch3,
            "longest answer that raises an app's chances; assumed"
        ),
    ]

    private static let tasks: [ProfileSetting] = [
        .init("task.available", \.areas.backgroundTask.hasTasks, .bgt1, "whether there is a task scheduler"),
        .init(
            "task.refreshRequests",
            \.areas.backgroundTask.refreshRequests,
            1...10,
            "requests",
            .bgt2,
            "refresh requests of an app that are pending"
        ),
        .init(
            "task.processingRequests",
            \.areas.backgroundTask.processingRequests,
            1...20,
            "requests",
            .bgt2,
            "processing requests of an app that are pending"
        ),
        .init("task.farDate", \.areas.backgroundTask.farDate, .bgt5, "how far ahead earliestBeginDate is far"),
        .init(
            "task.processingLimit",
            \.areas.backgroundTask.processingLimit,
            .bgt7,
            "how long the processing tasks of one launch may take; assumed"
        ),
        .init(
            "task.idle",
            \.areas.backgroundTask.idle,
            .bgt7,
            "how long nobody has used the phone before processing begins; assumed"
        ),
        .init(
            "task.outlivesForceQuit",
            \.areas.backgroundTask.outlivesForceQuit,
            .bgt15,
            "processing requests outlive a force quit, and run on external power, which is assumed"
        ),
        .init(
            "task.expirationMargin",
            \.areas.backgroundTask.expirationMargin,
            .bgt8,
            "how long before the end of its time a task expires; assumed"
        ),
        .init(
            "task.terminationCode",
            \.areas.backgroundTask.taskTerminationCode,
            .bgt8,
            "what an app ends with that does not complete a task; assumed"
        ),
        .init(
            "task.recentUse",
            \.areas.backgroundTask.recentUse,
            .bgt11,
            "how long after its last use an app is recently used; assumed"
        ),
        .init(
            "task.heedsLowPower",
            \.areas.backgroundTask.heedsLowPower,
            .pwr2,
            "whether Low Power Mode pauses fetch and tasks"
        ),
    ]

    private static let chances: [ProfileSetting] = [
        .init(
            "task.spacing",
            \.areas.backgroundTask.spacing,
            .fetch3,
            "time between two runs of an app whose answers are the best; assumed"
        ),
        .init(
            "task.lead",
            \.areas.backgroundTask.lead,
            .fetch4,
            "how long before an expected use a refresh may begin; assumed"
        ),
        .init(
            "task.slot",
            \.areas.backgroundTask.slot,
            .seconds(300) ... .seconds(86_400),
            .fetch4,
            "parts of a day in which uses are counted; assumed"
        ),
        .init(
            "task.habitDays",
            \.areas.backgroundTask.habitDays,
            1...100,
            "days",
            .fetch4,
            "days with a use at a time of day that make it expected; assumed"
        ),
        .init("task.memory", \.areas.backgroundTask.memory, .fetch4, "how far back uses are remembered; assumed"),
    ]
}

extension TerminationCode {
    /// A background fetch was not finished in time, from iOS 13 (FETCH-2).
    package static let backgroundFetch: Int64 = 0x2182_bad4
}
