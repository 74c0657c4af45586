/// The rule constants of an OS generation.
package struct Profile: Hashable, Sendable {
    /// The word for `--profile`.
    package var name: String
    /// Background task budget of the whole app (TASK-2).
    package var taskBudget: Instant.Span
    /// How long before the end of the budget expiration handlers run (TASK-3).
    package var taskExpirationMargin: Instant.Span
    /// What a task still open at the end of the budget prints (TASK-4).
    package var taskTerminationCode: Int64
    /// The window of a Bluetooth wake (BTC-1).
    package var bluetoothWindow: Instant.Span
    /// The time for willResignActive and didEnterBackground (LIFE-2), and for willTerminate (LIFE-6).
    package var transitionBudget: Instant.Span
    /// The launch watchdog (LIFE-7).
    package var launchBudget: Instant.Span
    /// Whether state preservation and restoration exists (BTC-6).
    package var restoration: Bool
    /// Whether a force quit bars background launches (LAUNCH-2).
    package var forceQuitBars: Bool
    /// Whether a reboot lifts that bar (LAUNCH-4).
    package var rebootLiftsForceQuit: Bool
    /// Whether the first unlock after boot gates launches (LAUNCH-5).
    package var firstUnlockGates: Bool
    /// Whether Bluetooth relaunches after a reboot once unlocked (BTC-8).
    package var bluetoothRelaunchesAfterReboot: Bool
    /// Whether the system connects again after link loss where the app asks for it (BTC-11).
    package var reconnects: Bool
    /// Whether leaving the foreground suspends at all (LIFE-8).
    package var multitasking: Bool

    private static func generation(
        _ name: String,
        taskBudget: Int64,
        taskCode: Int64 = TerminationCode.watchdog,
        restoration: Bool = true,
        forceQuitBars: Bool = true,
        firstUnlockGates: Bool = true,
        bluetoothRelaunchesAfterReboot: Bool = false,
        reconnects: Bool = false
    ) -> Profile {
        Profile(
            name: name,
            taskBudget: .seconds(taskBudget),
            taskExpirationMargin: .seconds(5),
            taskTerminationCode: taskCode,
            bluetoothWindow: .seconds(10),
            transitionBudget: .seconds(5),
            launchBudget: .seconds(20),
            restoration: restoration,
            forceQuitBars: forceQuitBars,
            rebootLiftsForceQuit: true,
            firstUnlockGates: firstUnlockGates,
            bluetoothRelaunchesAfterReboot: bluetoothRelaunchesAfterReboot,
            reconnects: reconnects,
            multitasking: true
        )
    }

    package static let ios6 = generation(
        "ios6",
        taskBudget: 600,
        restoration: false,
        forceQuitBars: false,
        firstUnlockGates: false
    )
    package static let ios8 = generation("ios8", taskBudget: 180)
    package static let ios12 = generation("ios12", taskBudget: 180, bluetoothRelaunchesAfterReboot: true)
    package static let ios13 = generation(
        "ios13",
        taskBudget: 30,
        taskCode: TerminationCode.backgroundTask,
        bluetoothRelaunchesAfterReboot: true
    )
    package static let ios17 = generation(
        "ios17",
        taskBudget: 30,
        taskCode: TerminationCode.backgroundTask,
        bluetoothRelaunchesAfterReboot: true,
        reconnects: true
    )
    package static let ios26 = generation(
        "ios26",
        taskBudget: 30,
        taskCode: TerminationCode.backgroundTask,
        bluetoothRelaunchesAfterReboot: true,
        reconnects: true
    )

    /// All shipped profiles, oldest first.
    package static let all: [Profile] = [ios6, ios8, ios12, ios13, ios17, ios26]

    /// The profile of a name; nil when there is none.
    package static func named(_ name: String) -> Profile? { all.first { $0.name == name } }
}
