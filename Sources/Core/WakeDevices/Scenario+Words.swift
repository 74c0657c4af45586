import WakeModel

extension AppState {
    /// The word used in scenarios.
    package var fileWord: String {
        switch self {
        case .notRunning: "not-running"
        case .inactive: "inactive"
        case .active: "active"
        case .background: "background"
        case .suspended: "suspended"
        }
    }
}

extension PhoneChange {
    /// The word used in scenarios.
    package var fileWord: String {
        switch self {
        case .lock: "lock"
        case .unlock: "unlock"
        case .reboot: "reboot"
        case .setPasscode: "set-passcode"
        case .removePasscode: "remove-passcode"
        case .displayOn: "display-on"
        case .callBegan: "call-began"
        case .callEnded: "call-ended"
        case .bluetoothOn: "bluetooth-on"
        case .bluetoothOff: "bluetooth-off"
        case .bluetoothOffInControlCentre: "bluetooth-off-in-control-centre"
        case .airplaneModeOn: "airplane-mode-on"
        case .airplaneModeOnKeepingBluetooth: "airplane-mode-on-keeping-bluetooth"
        case .airplaneModeOff: "airplane-mode-off"
        }
    }
}
