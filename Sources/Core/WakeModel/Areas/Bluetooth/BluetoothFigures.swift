/// What a profile has of Core Bluetooth.
package struct BluetoothFigures: Hashable, Codable, Sendable {
    /// The window of a Bluetooth wake (BTC-1).
    package var window = Instant.Span.seconds(10)
    /// Whether state preservation and restoration exists (BTC-6).
    package var restoration: Bool
    /// Whether Bluetooth relaunches after a reboot once unlocked (BTC-8).
    package var relaunchesAfterReboot: Bool
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
    /// Whether bytes on an L2CAP channel wake a suspended app (BTC-13).
    package var channelDataWakes = true
    /// Whether what the phone found of a peripheral's attributes outlives the link (BTC-14).
    package var attributeCache = true
    /// Whether in airplane mode, with Bluetooth on, only what waits for accessories set up with AccessorySetupKit relaunches an app, as
    /// TN3115's note may be read (BTC-8).
    package var airplaneNeedsSetup = false
    /// Whether the system connects again after link loss where the app asks for it (BTC-11).
    package var reconnects: Bool

    init(ios version: Int) {
        restoration = version >= 8
        relaunchesAfterReboot = version >= 12
        controlCentreKeepsRequests = version >= 12 && version < 26
        accessorySetupRelaunches = version >= 26
        controlCentreLasts = version >= 12 ? .seconds(86_400) : nil
        airplaneModeKeepsBluetooth = version >= 12
        reconnects = version >= 17
    }

    static let settings: [ProfileSetting] = [
        .init("bluetoothWindow", \.areas.bluetooth.window, .btc1, "window of a Bluetooth wake"),
        .init("restoration", \.areas.bluetooth.restoration, .btc6, "there is state preservation and restoration"),
        .init(
            "bluetoothRelaunchesAfterReboot",
            \.areas.bluetooth.relaunchesAfterReboot,
            .btc8,
            "Bluetooth relaunches an app after a reboot, once unlocked"
        ),
        .init(
            "controlCentreKeepsRequests",
            \.areas.bluetooth.controlCentreKeepsRequests,
            .btc8,
            "what terminated apps wait for outlives Bluetooth being off in Control Centre"
        ),
        .init(
            "accessorySetupRelaunches",
            \.areas.bluetooth.accessorySetupRelaunches,
            .btc8,
            "accessories set up with AccessorySetupKit outlive a force quit, and Bluetooth being off in Control Centre"
        ),
        .init(
            "reconnects",
            \.areas.bluetooth.reconnects,
            .btc11,
            "the system connects again after link loss where the app asks for it"
        ),
        .init(
            "controlCentreLasts",
            \.areas.bluetooth.controlCentreLasts,
            .bt2,
            "how long Bluetooth stays off in Control Centre; off where it is as off in Settings; assumed"
        ),
        .init(
            "airplaneModeKeepsBluetooth",
            \.areas.bluetooth.airplaneModeKeepsBluetooth,
            .bt2,
            "Bluetooth can stay on in airplane mode"
        ),
        .init(
            "channelDataWakes",
            \.areas.bluetooth.channelDataWakes,
            .btc13,
            "bytes on an L2CAP channel wake a suspended app"
        ),
        .init(
            "attributeCache",
            \.areas.bluetooth.attributeCache,
            .btc14,
            "the phone keeps the attributes of a peripheral over links, where it has no Service Changed or is bonded"
        ),
        .init(
            "bluetooth.airplaneNeedsSetup",
            \.areas.bluetooth.airplaneNeedsSetup,
            .btc8,
            "airplane mode takes what terminated apps wait for, but of accessories set up with AccessorySetupKit, though Bluetooth stays on"
        ),
    ]
}
