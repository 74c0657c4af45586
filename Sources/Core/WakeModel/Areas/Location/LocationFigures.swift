/// What a profile has of Core Location.
package struct LocationFigures: Hashable, Codable, Sendable {
    /// The window of a location wake (LOC-8).
    package var window = Instant.Span.seconds(10)
    /// How far the phone moves between two significant changes, in metres (LOC-1).
    package var significantDistance: UInt32 = 500
    /// The least time between two significant changes (LOC-1).
    package var significantInterval = Instant.Span.seconds(300)
    /// How far past a boundary a crossing counts, in metres; inwards at most half the radius (REG-2).
    package var regionMargin: UInt32 = 200
    /// How long the phone stays there before it counts (REG-2).
    package var regionDwell = Instant.Span.seconds(20)
    /// How many regions an app may monitor, circular and beacon together (REG-3).
    package var regionLimit: UInt32 = 20
    /// The largest radius of a region, in metres (REG-7); assumed, since Apple publishes none.
    package var regionRadiusLimit: UInt32 = 1_000_000
    /// How long no matching beacon is seen before the app has left (BCN-2).
    package var beaconExitDelay = Instant.Span.seconds(30)
    /// How far a phone may move and still be stationary, in metres (LOC-7); assumed.
    package var pauseDistance: UInt32 = 100
    /// How long a phone is stationary before updates pause (LOC-7); assumed.
    package var pauseDelay = Instant.Span.seconds(900)
    /// Whether location events relaunch an app that the user force-quit (LAUNCH-3).
    package var liftsForceQuit: Bool
    /// Whether When In Use is less than Always (LOC-5).
    package var levels: Bool
    /// Whether asking for Always gives it provisionally, until the first event in the background (LOC-10).
    package var provisionalAlways: Bool
    /// Whether the user can keep the precise position from an app (LOC-11).
    package var preciseSwitch: Bool
    /// How sure a position is without it, in metres (LOC-11); assumed: Apple says 1 to 20 km.
    package var reducedAccuracy: UInt32 = 5_000
    /// Whether the user can allow the position once (LOC-12).
    package var allowsOnce: Bool
    /// Whether background updates need allowsBackgroundLocationUpdates (LOC-6), and then keep the app from being suspended
    /// instead of waking it for each (LOC-3).
    package var backgroundFlag: Bool
    /// Whether location events need Background App Refresh, as the archive guide has it (PWR-4).
    package var needsRefresh = false
    /// Whether there are beacon regions and ranging (BCN-1).
    package var beaconRegions: Bool
    /// Whether there are visits.
    package var visits: Bool
    /// Whether a CLBackgroundActivitySession makes When In Use enough in the background (SESS-3).
    package var backgroundSessions: Bool

    init(ios version: Int) {
        liftsForceQuit = version >= 8
        levels = version >= 8
        provisionalAlways = version >= 13
        preciseSwitch = version >= 14
        allowsOnce = version >= 13
        backgroundFlag = version >= 12
        beaconRegions = version >= 8
        visits = version >= 8
        backgroundSessions = version >= 17
    }

    static let launches: [ProfileSetting] = [
        .init(
            "locationLiftsForceQuit",
            \.areas.location.liftsForceQuit,
            .launch3,
            "location events relaunch an app that the user force-quit"
        )
    ]

    static let settings: [ProfileSetting] = [
        .init(
            "significantDistance",
            \.areas.location.significantDistance,
            1...ProfileSetting.metres,
            "m",
            .loc1,
            "how far the phone moves between two significant changes"
        ),
        .init(
            "significantInterval",
            \.areas.location.significantInterval,
            .loc1,
            "least time between two significant changes"
        ),
        .init("locationLevels", \.areas.location.levels, .loc5, "When In Use is less than Always"),
        .init(
            "locationBackgroundFlag",
            \.areas.location.backgroundFlag,
            .loc6,
            "updates in the background need allowsBackgroundLocationUpdates"
        ),
        .init(
            "pauseDistance",
            \.areas.location.pauseDistance,
            0...ProfileSetting.metres,
            "m",
            .loc7,
            "how far a phone moves and is still stationary; assumed"
        ),
        .init(
            "pauseDelay",
            \.areas.location.pauseDelay,
            .loc7,
            "how long a phone is stationary before updates pause; assumed"
        ),
        .init(
            "provisionalAlways",
            \.areas.location.provisionalAlways,
            .loc10,
            "asking for Always gives provisional Always first"
        ),
        .init(
            "backgroundSessions",
            \.areas.location.backgroundSessions,
            .sess3,
            "a background activity session makes When In Use enough"
        ),
        .init(
            "preciseLocationSwitch",
            \.areas.location.preciseSwitch,
            .loc11,
            "the user can keep the precise position from an app"
        ),
        .init(
            "reducedAccuracy",
            \.areas.location.reducedAccuracy,
            1...100_000,
            "m",
            .loc11,
            "how sure a position is without the precise one; assumed"
        ),
        .init("locationAllowOnce", \.areas.location.allowsOnce, .loc12, "the user can allow the position once"),
        .init("locationWindow", \.areas.location.window, .loc8, "window of a location wake"),
        .init("visits", \.areas.location.visits, .mode2, "there are visits"),
        .init(
            "regionMargin",
            \.areas.location.regionMargin,
            0...1_000_000,
            "m",
            .reg2,
            "how far past a boundary a crossing counts; inwards at most half the radius"
        ),
        .init(
            "regionDwell",
            \.areas.location.regionDwell,
            .reg2,
            "how long the phone stays there before it counts"
        ),
        .init(
            "regionLimit",
            \.areas.location.regionLimit,
            0...10_000,
            "regions",
            .reg3,
            "regions of an app, circles and beacons"
        ),
        .init(
            "regionRadiusLimit",
            \.areas.location.regionRadiusLimit,
            1...ProfileSetting.metres,
            "m",
            .reg7,
            "largest radius of a region; assumed"
        ),
        .init("beaconRegions", \.areas.location.beaconRegions, .bcn1, "there are beacon regions and ranging"),
        .init(
            "locationNeedsRefresh",
            \.areas.location.needsRefresh,
            .pwr4,
            "location events need Background App Refresh, as the archive guide has it"
        ),
        .init(
            "beaconExitDelay",
            \.areas.location.beaconExitDelay,
            .bcn2,
            "how long no beacon is seen before the app has left"
        ),
    ]
}
