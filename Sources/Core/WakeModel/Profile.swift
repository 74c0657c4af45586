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
    /// Whether what waits for a peripheral outlives Bluetooth being off in Control Centre, where from iOS 11 on it only
    /// drops links (BT-2, BTC-8).
    package var controlCentreKeepsRequests: Bool
    /// Whether accessories that the user set up with AccessorySetupKit relaunch a force-quit app, and what waits for them
    /// outlives Bluetooth being off in Control Centre (BTC-8). Where ``controlCentreKeepsRequests``, all does.
    package var accessorySetupRelaunches: Bool
    /// How long Bluetooth stays off in Control Centre: iOS turns it on at five in the next morning, and the bench knows no
    /// time of day, so this is assumed. Nil where Control Centre turns it off as Settings does (BT-2).
    package var controlCentreLasts: Instant.Span?
    /// Whether Bluetooth can stay on in airplane mode (BT-2).
    package var airplaneModeKeepsBluetooth: Bool
    /// Whether the system connects again after link loss where the app asks for it (BTC-11).
    package var reconnects: Bool
    /// Whether leaving the foreground suspends at all (LIFE-8).
    package var multitasking: Bool
    /// The window of a location wake (LOC-8).
    package var locationWindow: Instant.Span
    /// The window of an accessory's wake (EA-2).
    package var accessoryWindow: Instant.Span
    /// How far the phone moves between two significant changes, in metres (LOC-1).
    package var significantDistance: UInt32
    /// The least time between two significant changes (LOC-1).
    package var significantInterval: Instant.Span
    /// How far past a boundary a crossing counts, in metres; inwards at most half the radius (REG-2).
    package var regionMargin: UInt32
    /// How long the phone stays there before it counts (REG-2).
    package var regionDwell: Instant.Span
    /// How many regions an app may monitor, circular and beacon together (REG-3).
    package var regionLimit: UInt32
    /// The largest radius of a region, in metres (REG-7); assumed, since Apple publishes none.
    package var regionRadiusLimit: UInt32
    /// How long no matching beacon is seen before the app has left (BCN-2).
    package var beaconExitDelay: Instant.Span
    /// How far a phone may move and still be stationary, in metres (LOC-7); assumed.
    package var pauseDistance: UInt32
    /// How long a phone is stationary before updates pause (LOC-7); assumed.
    package var pauseDelay: Instant.Span
    /// Whether location events relaunch an app that the user force-quit (LAUNCH-3).
    package var locationLiftsForceQuit: Bool
    /// Whether When In Use is less than Always (LOC-5).
    package var locationLevels: Bool
    /// Whether asking for Always gives it provisionally, until the first event in the background (LOC-10).
    package var provisionalAlways: Bool
    /// Whether background updates need allowsBackgroundLocationUpdates (LOC-6), and then keep the app from being suspended
    /// instead of waking it for each (LOC-3).
    package var locationBackgroundFlag: Bool
    /// Whether there are beacon regions and ranging (BCN-1).
    package var beaconRegions: Bool
    /// Whether there are visits.
    package var visits: Bool
    /// For which apps sockets marked for VoIP are watched (VOIP-1), with all that belongs to it.
    package var legacyVoIP: LegacySockets
    /// The window of a VoIP wake, and of a keep-alive handler (VOIP-3).
    package var voipWindow: Instant.Span
    /// The shortest keep-alive period (VOIP-3).
    package var keepAliveMinimum: Instant.Span
    /// How many VoIP wakes there may be within ``voipWakeWindow`` (VOIP-6); nil for any number.
    package var voipWakeLimit: UInt32?
    package var voipWakeWindow: Instant.Span
    /// The window of a wake by the end of an interruption (AUD-6); assumed.
    package var audioWindow: Instant.Span
    /// How long a run of silence in the background may be; nil for ever (AUD-4).
    package var audioSilenceLimit: Instant.Span?
    /// Whether sound relaunches a terminated app, as the guide of 2014 has it (AUD-12).
    package var audioRelaunches: Bool
    /// How long a suspended app keeps connections that the phone does not look after (RESP-3); nil for ever.
    package var connectionsLast: Instant.Span?

    private static func generation(
        _ name: String,
        taskBudget: Int64,
        taskCode: Int64 = TerminationCode.watchdog,
        restoration: Bool = true,
        forceQuitBars: Bool = true,
        firstUnlockGates: Bool = true,
        bluetoothRelaunchesAfterReboot: Bool = false,
        controlCentreKeepsRequests: Bool = false,
        accessorySetupRelaunches: Bool = false,
        controlCentreLasts: Instant.Span? = .seconds(86_400),
        airplaneModeKeepsBluetooth: Bool = true,
        reconnects: Bool = false,
        locationLiftsForceQuit: Bool = true,
        locationLevels: Bool = true,
        provisionalAlways: Bool = false,
        locationBackgroundFlag: Bool = true,
        beaconRegions: Bool = true,
        visits: Bool = true,
        legacyVoIP: LegacySockets = .bySDK
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
            controlCentreKeepsRequests: controlCentreKeepsRequests,
            accessorySetupRelaunches: accessorySetupRelaunches,
            controlCentreLasts: controlCentreLasts,
            airplaneModeKeepsBluetooth: airplaneModeKeepsBluetooth,
            reconnects: reconnects,
            multitasking: true,
            locationWindow: .seconds(10),
            accessoryWindow: .seconds(10),
            significantDistance: 500,
            significantInterval: .seconds(300),
            regionMargin: 200,
            regionDwell: .seconds(20),
            regionLimit: 20,
            regionRadiusLimit: 1_000_000,
            beaconExitDelay: .seconds(30),
            pauseDistance: 100,
            pauseDelay: .seconds(900),
            locationLiftsForceQuit: locationLiftsForceQuit,
            locationLevels: locationLevels,
            provisionalAlways: provisionalAlways,
            locationBackgroundFlag: locationBackgroundFlag,
            beaconRegions: beaconRegions,
            visits: visits,
            legacyVoIP: legacyVoIP,
            voipWindow: .seconds(10),
            keepAliveMinimum: .seconds(600),
            voipWakeLimit: 15,
            voipWakeWindow: .seconds(300),
            audioWindow: .seconds(10),
            audioSilenceLimit: nil,
            audioRelaunches: false,
            connectionsLast: nil
        )
    }

    package static let ios6 = generation(
        "ios6",
        taskBudget: 600,
        restoration: false,
        forceQuitBars: false,
        firstUnlockGates: false,
        controlCentreLasts: nil,
        airplaneModeKeepsBluetooth: false,
        locationLiftsForceQuit: false,
        locationLevels: false,
        locationBackgroundFlag: false,
        beaconRegions: false,
        visits: false,
        legacyVoIP: .on
    )
    package static let ios8 = generation(
        "ios8",
        taskBudget: 180,
        controlCentreLasts: nil,
        airplaneModeKeepsBluetooth: false,
        locationBackgroundFlag: false,
        legacyVoIP: .on
    )
    package static let ios12 = generation(
        "ios12",
        taskBudget: 180,
        bluetoothRelaunchesAfterReboot: true,
        controlCentreKeepsRequests: true
    )
    package static let ios13 = generation(
        "ios13",
        taskBudget: 30,
        taskCode: TerminationCode.backgroundTask,
        bluetoothRelaunchesAfterReboot: true,
        controlCentreKeepsRequests: true,
        provisionalAlways: true
    )
    package static let ios17 = generation(
        "ios17",
        taskBudget: 30,
        taskCode: TerminationCode.backgroundTask,
        bluetoothRelaunchesAfterReboot: true,
        controlCentreKeepsRequests: true,
        reconnects: true,
        provisionalAlways: true
    )
    package static let ios26 = generation(
        "ios26",
        taskBudget: 30,
        taskCode: TerminationCode.backgroundTask,
        bluetoothRelaunchesAfterReboot: true,
        accessorySetupRelaunches: true,
        reconnects: true,
        locationLiftsForceQuit: false,
        provisionalAlways: true
    )

    /// All shipped profiles, oldest first.
    package static let all: [Profile] = [ios6, ios8, ios12, ios13, ios17, ios26]

    /// The profile of a name; nil when there is none.
    package static func named(_ name: String) -> Profile? { all.first { $0.name == name } }
}
