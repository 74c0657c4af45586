import WakeModel

extension BluetoothArea {
    static let mechanisms = [
        belt("BLE with restore identifier", restoreIdentifier: NameID(3)),
        belt("BLE without restore identifier", restoreIdentifier: .none),
    ]

    /// A belt that notifies, and a scale that the app waits for and that comes into reach.
    private static func belt(_ name: String, restoreIdentifier: NameID) -> WakeMechanism {
        let (belt, scale, client) = (NameID(2), NameID(10), BluetoothClient(app: TriedPhone.app, slot: 0))
        let value: AttributeHandle = 16
        return WakeMechanism(
            name: name,
            modes: BackgroundModes([.bluetoothCentral]),
            prepare: { phone in
                phone.ask(.createManager(1, restoreIdentifier: restoreIdentifier))
                phone.ask(.connect(1, peripheral: scale))
                phone.ask(.connect(1, peripheral: belt))
                phone.hear(.event(WakeEvent(kind: .peripheralConnected, peripheral: belt, client: client)))
                phone.ask(.operate(1, peripheral: belt, .setNotify(value, true)))
            },
            happen: { phone in
                phone.hear(.event(WakeEvent(kind: .characteristicNotified, peripheral: belt, attribute: value)))
                phone.hear(.event(WakeEvent(kind: .peripheralConnected, peripheral: scale, client: client)))
            }
        )
    }
}
