extension ProfileSetting {
    /// Every switch and figure of a profile, by subject. A profile is encoded in this order.
    package static let all: [ProfileSetting] = life + tasks + location + regions + sound + voip + bluetooth

    private static let life: [ProfileSetting] = [
        .time(
            "transitionBudget",
            \.transitionBudget,
            .life2,
            "time for willResignActive and didEnterBackground, and for willTerminate (LIFE-6)"
        ),
        .time("launchBudget", \.launchBudget, .life7, "time for a launch before the watchdog kills it"),
        .flag("multitasking", \.multitasking, .life8, "leaving the foreground suspends an app instead of ending it"),
        .choice(
            "wakeWindow",
            \.wakeWindow,
            \.word,
            .life11,
            "which events of a running app open a window of their own"
        ),
        .flag("forceQuitBars", \.forceQuitBars, .launch2, "a force quit bars background launches"),
        .flag(
            "locationLiftsForceQuit",
            \.locationLiftsForceQuit,
            .launch3,
            "location events relaunch an app that the user force-quit"
        ),
        .flag("rebootLiftsForceQuit", \.rebootLiftsForceQuit, .launch4, "a reboot clears the force-quit bar"),
        .flag(
            "firstUnlockGates",
            \.firstUnlockGates,
            .launch5,
            "with a passcode, nothing is launched between boot and the first unlock"
        ),
    ]

    private static let tasks: [ProfileSetting] = [
        .time("taskBudget", \.taskBudget, .task2, "time of all background tasks of an app together"),
        .time(
            "taskExpirationMargin",
            \.taskExpirationMargin,
            .task3,
            "how long before the end of the budget expiration handlers run"
        ),
        .code("taskTerminationCode", \.taskTerminationCode, .task4, "code of an app whose task outlives the budget"),
    ]

    private static let location: [ProfileSetting] = [
        .count(
            "significantDistance",
            \.significantDistance,
            1...metres,
            "m",
            .loc1,
            "how far the phone moves between two significant changes"
        ),
        .time("significantInterval", \.significantInterval, .loc1, "least time between two significant changes"),
        .flag("locationLevels", \.locationLevels, .loc5, "When In Use is less than Always"),
        .flag(
            "locationBackgroundFlag",
            \.locationBackgroundFlag,
            .loc6,
            "updates in the background need allowsBackgroundLocationUpdates"
        ),
        .count(
            "pauseDistance",
            \.pauseDistance,
            0...metres,
            "m",
            .loc7,
            "how far a phone moves and is still stationary; assumed"
        ),
        .time("pauseDelay", \.pauseDelay, .loc7, "how long a phone is stationary before updates pause; assumed"),
        .flag("provisionalAlways", \.provisionalAlways, .loc10, "asking for Always gives provisional Always first"),
        .time("locationWindow", \.locationWindow, .loc8, "window of a location wake"),
        .flag("visits", \.visits, .mode2, "there are visits"),
    ]

    private static let regions: [ProfileSetting] = [
        .count(
            "regionMargin",
            \.regionMargin,
            0...1_000_000,
            "m",
            .reg2,
            "how far past a boundary a crossing counts; inwards at most half the radius"
        ),
        .time("regionDwell", \.regionDwell, .reg2, "how long the phone stays there before it counts"),
        .count("regionLimit", \.regionLimit, 0...10_000, "regions", .reg3, "regions of an app, circles and beacons"),
        .count(
            "regionRadiusLimit",
            \.regionRadiusLimit,
            1...metres,
            "m",
            .reg7,
            "largest radius of a region; assumed"
        ),
        .flag("beaconRegions", \.beaconRegions, .bcn1, "there are beacon regions and ranging"),
        .time("beaconExitDelay", \.beaconExitDelay, .bcn2, "how long no beacon is seen before the app has left"),
    ]

    private static let sound: [ProfileSetting] = [
        .limit(
            "silenceLimit",
            \.audioSilenceLimit,
            .aud4,
            "how long a run of silence in the background may be; assumed where it is set"
        ),
        .time("audioWindow", \.audioWindow, .aud6, "window of a wake by the end of an interruption; assumed"),
        .flag("audioRelaunches", \.audioRelaunches, .aud12, "sound relaunches a terminated app"),
    ]

    private static let voip: [ProfileSetting] = [
        .choice("voip.legacy", \.legacyVoIP, \.word, .voip1, "whose marked sockets the phone looks after"),
        .time("voip.keepAliveMinimum", \.keepAliveMinimum, .voip3, "shortest period of a keep-alive handler"),
        .time("voip.window", \.voipWindow, .voip3, "window of a VoIP wake, and of a keep-alive handler"),
        .limit("voip.wakeLimit", \.voipWakeLimit, 1...1_000_000, "wakes", .voip6, "VoIP wakes within voip.wakeWindow"),
        .time("voip.wakeWindow", \.voipWakeWindow, .voip6, "how far back VoIP wakes count"),
        .limit(
            "connectionsLast",
            \.connectionsLast,
            .resp3,
            "how long a suspended app keeps connections that the phone does not look after"
        ),
    ]

    private static let bluetooth: [ProfileSetting] = [
        .time("accessoryWindow", \.accessoryWindow, .ea2, "window of an accessory's wake"),
        .time("bluetoothWindow", \.bluetoothWindow, .btc1, "window of a Bluetooth wake"),
        .flag("restoration", \.restoration, .btc6, "there is state preservation and restoration"),
        .flag(
            "bluetoothRelaunchesAfterReboot",
            \.bluetoothRelaunchesAfterReboot,
            .btc8,
            "Bluetooth relaunches an app after a reboot, once unlocked"
        ),
        .flag(
            "controlCentreKeepsRequests",
            \.controlCentreKeepsRequests,
            .btc8,
            "what terminated apps wait for outlives Bluetooth being off in Control Centre"
        ),
        .flag(
            "accessorySetupRelaunches",
            \.accessorySetupRelaunches,
            .btc8,
            "accessories set up with AccessorySetupKit outlive a force quit, and Bluetooth being off in Control Centre"
        ),
        .flag(
            "reconnects",
            \.reconnects,
            .btc11,
            "the system connects again after link loss where the app asks for it"
        ),
        .limit(
            "controlCentreLasts",
            \.controlCentreLasts,
            .bt2,
            "how long Bluetooth stays off in Control Centre; off where it is as off in Settings; assumed"
        ),
        .flag(
            "airplaneModeKeepsBluetooth",
            \.airplaneModeKeepsBluetooth,
            .bt2,
            "Bluetooth can stay on in airplane mode"
        ),
    ]

    /// A quarter of the way around the Earth: distances up to it grow with their chords.
    private static let metres: UInt32 = 10_000_000
}
