/// The rule constants of an OS generation.
///
/// Each of them is a ``ProfileSetting``.
package struct Profile: Hashable, Codable, Sendable {
    /// The word for `--profile`.
    package var name: String
    /// Which events of a running app open a window of their own (LIFE-11).
    package var wakeWindow = WakeWindow.each
    /// Background task budget of the whole app (TASK-2).
    package var taskBudget: Instant.Span
    /// How long before the end of the budget expiration handlers run (TASK-3).
    package var taskExpirationMargin = Instant.Span.seconds(5)
    /// What a task still open at the end of the budget prints (TASK-4).
    package var taskTerminationCode: Int64
    /// The time for willResignActive and didEnterBackground (LIFE-2), and for willTerminate (LIFE-6).
    package var transitionBudget = Instant.Span.seconds(5)
    /// The launch watchdog (LIFE-7).
    package var launchBudget = Instant.Span.seconds(20)
    /// Whether a force quit bars background launches (LAUNCH-2).
    package var forceQuitBars: Bool
    /// Whether a reboot lifts that bar (LAUNCH-4).
    package var rebootLiftsForceQuit = true
    /// Whether the first unlock after boot gates launches (LAUNCH-5).
    package var firstUnlockGates: Bool
    /// Whether leaving the foreground suspends at all (LIFE-8).
    package var multitasking = true
    /// What each area has of its own.
    package var areas: AreaFigures

    /// - Parameter version: Of iOS.
    private init(ios version: Int) {
        name = "ios\(version)"
        taskBudget = .seconds(version < 8 ? 600 : version < 13 ? 180 : 30)
        taskTerminationCode = version < 13 ? TerminationCode.watchdog : TerminationCode.backgroundTask
        forceQuitBars = version >= 8
        firstUnlockGates = version >= 8
        areas = AreaFigures(ios: version)
    }

    package static let ios6 = Profile(ios: 6)
    package static let ios8 = Profile(ios: 8)
    package static let ios12 = Profile(ios: 12)
    package static let ios13 = Profile(ios: 13)
    package static let ios17 = Profile(ios: 17)
    package static let ios26 = Profile(ios: 26)

    /// All shipped profiles, oldest first.
    package static let all: [Profile] = [ios6, ios8, ios12, ios13, ios17, ios26]

    /// The profile of a name; nil when there is none.
    package static func named(_ name: String) -> Profile? { all.first { $0.name == name } }
}

/// Which windows count of a run of wakes (LIFE-11).
package enum WakeWindow: UInt8, Worded, SettingFigure, Codable {
    /// Each event that the app is given opens a window of its own.
    case each
    /// Only the first event's window counts.
    case first
}

extension ProfileSetting {
    static let life: [ProfileSetting] = [
        .init(
            "transitionBudget",
            \.transitionBudget,
            .life2,
            "time for willResignActive and didEnterBackground, and for willTerminate (LIFE-6)"
        ),
        .init("launchBudget", \.launchBudget, .life7, "time for a launch before the watchdog kills it"),
        .init("multitasking", \.multitasking, .life8, "leaving the foreground suspends an app instead of ending it"),
        .init("wakeWindow", \.wakeWindow, .life11, "which events of a running app open a window of their own"),
        .init("forceQuitBars", \.forceQuitBars, .launch2, "a force quit bars background launches"),
    ]

    static let boot: [ProfileSetting] = [
        .init("rebootLiftsForceQuit", \.rebootLiftsForceQuit, .launch4, "a reboot clears the force-quit bar"),
        .init(
            "firstUnlockGates",
            \.firstUnlockGates,
            .launch5,
            "with a passcode, nothing is launched between boot and the first unlock"
        ),
    ]

    static let tasks: [ProfileSetting] = [
        .init("taskBudget", \.taskBudget, .task2, "time of all background tasks of an app together"),
        .init(
            "taskExpirationMargin",
            \.taskExpirationMargin,
            .task3,
            "how long before the end of the budget expiration handlers run"
        ),
        .init("taskTerminationCode", \.taskTerminationCode, .task4, "code of an app whose task outlives the budget"),
    ]
}
