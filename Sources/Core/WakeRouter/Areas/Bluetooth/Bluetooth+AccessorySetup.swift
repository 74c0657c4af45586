import WakeModel

/// Accessories that the user set up with AccessorySetupKit, which outlive a force quit of their app and Bluetooth being off
/// in Control Centre (BTC-8).
extension Router {
    /// The user sets up a peripheral in the picker of an app; it stays so until the app is uninstalled.
    mutating func setUp(_ peripheral: NameID, for app: AppID, by id: EventID) {
        guard areas.bluetooth.apps[app].mayBeSetUp else { return }
        if areas.bluetooth.apps[app].accessoriesSetUp.contains(peripheral) { act(.did(app, .foundItSo, id)) }
        areas.bluetooth.apps[app].accessoriesSetUp.insertInOrder(peripheral)
    }

    /// Whether a peripheral was set up for an app, on a phone where that counts.
    func isSetUp(_ peripheral: NameID, for app: AppID) -> Bool {
        profile.areas.bluetooth.accessorySetupRelaunches
            && areas.bluetooth.apps[app].accessoriesSetUp.contains(peripheral)
    }

    /// Shows in the observed values that an event is of an accessory that was set up, and what that lifts.
    func noteSetUp(_ event: WakeEvent, for client: BluetoothClient, _ snapshot: inout AppSnapshot) {
        guard isSetUp(event.peripheral, for: client.app) else { return }
        snapshot.accessorySetUp = true
        snapshot.forceQuitLifted = snapshot.state == .notRunning && isBarred(client.app)
        // What waits for it has outlived Bluetooth being off as long as it is there.
        snapshot.bluetoothOffLifted = snapshot.bluetoothOffSince && link(of: client, to: event.peripheral) != nil
    }
}
