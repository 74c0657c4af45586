/// The program that is org.bluez. Its raw value is the word of `--backend` for it.
package enum BlueZProgram: String, Sendable {
    /// This machine's own, on the system bus.
    case bluetoothd = "bluez"
    /// Scripts/radio on HCI transports, on a bus of a run's own.
    case bridge = "hci"

    /// What messages call it.
    package var name: String {
        switch self {
        case .bluetoothd: "bluetoothd"
        case .bridge: "the radio's program"
        }
    }

    /// What helps where it is not reached.
    ///
    /// - Parameter isBusMissing: whether it is the bus that is not reached.
    func remedy(isBusMissing: Bool) -> String {
        switch self {
        case .bluetoothd where isBusMissing: "is D-Bus running?"
        case .bluetoothd: "is bluetoothd installed and running (systemctl start bluetooth)?"
        case .bridge: "has it ended? run again"
        }
    }

    /// What helps where it has no adapter, or not that of an address.
    func remedy(without address: String?) -> String {
        switch (self, address) {
        case (.bluetoothd, nil): "plug one in, and see bluetoothctl list"
        case (.bluetoothd, _): "see bluetoothctl list, or use any"
        case (.bridge, nil): "see --hci"
        case (.bridge, _): "see the controllers that --hci names, or use any"
        }
    }

    /// What helps where an adapter cannot be switched on.
    var remedyOfPower: String {
        switch self {
        case .bluetoothd: "see rfkill list and bluetoothctl power on"
        case .bridge: "see the controller of its --hci"
        }
    }

    /// What helps where an adapter cannot be a peripheral.
    var remedyOfRole: String {
        switch self {
        case .bluetoothd: "use an adapter with the roles central and peripheral (see bluetoothctl show)"
        case .bridge: "use a controller that can advertise"
        }
    }
}
