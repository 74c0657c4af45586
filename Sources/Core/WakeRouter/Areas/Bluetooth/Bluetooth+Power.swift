import WakeModel

/// How the user turned Bluetooth off, which decides what is there when it is on again (BT-2).
enum BluetoothSwitch: UInt8, Codable {
    case on
    case offInSettings
    case offInControlCentre
    case offInAirplaneMode

    /// What a run's records say of it.
    fileprivate var deed: Deed {
        switch self {
        case .offInControlCentre: .turnedRadioOffUntilTomorrow
        case .offInAirplaneMode: .turnedRadioOffForAirplaneMode
        case .on, .offInSettings: .turnedRadioOff
        }
    }
}

/// Bluetooth going on and off.
extension Router {
    mutating func turnBluetooth(_ change: PhoneChange) {
        switch change {
        case .bluetoothOn: turnBluetoothOn()
        case .bluetoothOff: turnBluetoothOff(.offInSettings)
        case .bluetoothOffInControlCentre:
            let kind: BluetoothSwitch =
                profile.areas.bluetooth.controlCentreLasts == nil ? .offInSettings : .offInControlCentre
            if areas.bluetooth.powerSwitch == .on { turnBluetoothOff(kind) }
        case .airplaneModeOnKeepingBluetooth where profile.areas.bluetooth.airplaneModeKeepsBluetooth:
            if profile.areas.bluetooth.airplaneNeedsSetup { keepOnlyWhatIsSetUp() }
        case .airplaneModeOn, .airplaneModeOnKeepingBluetooth:
            if areas.bluetooth.powerSwitch != .offInSettings { turnBluetoothOff(.offInAirplaneMode) }
        case .airplaneModeOff:
            if areas.bluetooth.powerSwitch == .offInAirplaneMode { turnBluetoothOn() }
        default: break
        }
    }

    /// Whether Bluetooth is already as a change of the phone would have it, and the phone in airplane mode or not.
    func isBluetoothSo(_ change: PhoneChange) -> Bool {
        let (found, isOn) = (areas.bluetooth.powerSwitch, areas.bluetooth.isOn)
        let isInAirplaneMode = conditions.contains(.airplaneMode)
        return switch change {
        case .bluetoothOn: found == .on && isOn
        case .bluetoothOff: found == .offInSettings && !isOn
        case .bluetoothOffInControlCentre: found != .on
        case .airplaneModeOnKeepingBluetooth where profile.areas.bluetooth.airplaneModeKeepsBluetooth: isInAirplaneMode
        case .airplaneModeOn, .airplaneModeOnKeepingBluetooth:
            isInAirplaneMode && (found == .offInSettings || found == .offInAirplaneMode && !isOn)
        case .airplaneModeOff: !isInAirplaneMode && found != .offInAirplaneMode
        default: false
        }
    }

    /// What terminated apps wait for goes, but of accessories that were set up for them (BTC-8).
    private mutating func keepOnlyWhatIsSetUp() {
        for app in everyApp where !apps[app].hasProcess {
            let held = registrations(of: app)
            letGo(of: app)
            tellLost(held, of: app, to: .lostToAirplaneMode)
        }
    }

    mutating func turnBluetoothOn() {
        areas.bluetooth.powerSwitch = .on
        areas.bluetooth.returns = nil
        act(.bluetooth(.power(true)))
    }

    /// What was kept over Control Centre goes when Bluetooth is then turned off for good.
    private mutating func turnBluetoothOff(_ kind: BluetoothSwitch) {
        areas.bluetooth.powerSwitch = kind
        areas.bluetooth.returns =
            kind == .offInControlCentre
            ? profile.areas.bluetooth.controlCentreLasts.map { [now] in now.advanced(by: $0) } : nil
        if !areas.bluetooth.isOn { forgetRadio() }
        act(.did(.none, kind.deed))
        act(.bluetooth(.power(false)))
        if kind == .offInSettings { act(.bluetooth(.forgetAttributes)) }
    }

    /// Bluetooth went off or on, whoever turned it: connections, requests and scans are gone for everyone (BTC-5,
    /// BTC-10), but for what the system keeps of terminated apps until Control Centre turns it on again (BTC-8).
    mutating func bluetoothTurned(_ on: Bool, wasOn: Bool) {
        guard on else {
            forgetRadio()
            pauseAir()
            act(.did(.none, .forgotConnections))
            return
        }
        areas.bluetooth.powerSwitch = .on
        areas.bluetooth.returns = nil
        if wasOn { updateAir() } else { takeUpRadio() }
    }

    private mutating func forgetRadio() {
        var held: [[KeptRegistration]] = []
        for app in everyApp { held.append(registrations(of: app)) }
        areas.bluetooth.scanners = areas.bluetooth.scanners.filter { outlivesPower($0) }
        for row in areas.bluetooth.peripherals.indices {
            let peripheral = NameID(UInt32(row))
            let kept = areas.bluetooth.peripherals[row].links.filter { outlivesPower($0.client, on: peripheral) }
            areas.bluetooth.peripherals[row] = PeripheralRecord(
                links: kept.map { Link(client: $0.client, connected: false, since: $0.since, options: $0.options) }
            )
        }
        for app in everyApp {
            if !apps[app].hasProcess, !outlivesPower(app) { apps[app].snapshot.bluetoothOffSince = true }
            for slot in areas.bluetooth.apps[app].managers.indices {
                let client = BluetoothClient(app: app, slot: UInt16(slot))
                if outlivesPower(client) { continue }
                areas.bluetooth.apps[app].managers[slot].scan = nil
                areas.bluetooth.apps[app].managers[slot].watch = nil
                let kept = areas.bluetooth.apps[app].managers[slot].peripherals.filter {
                    outlivesPower(client, on: $0)
                }
                areas.bluetooth.apps[app].managers[slot].peripherals = kept
            }
            // Only a process is told that Bluetooth is off, and can ask again.
            let taker: Deed = apps[app].hasProcess ? .lostToRadio : .lostToRadioAfterEnd
            tellLost(held[Int(app.number)], of: app, to: taker)
        }
    }

    /// Whether the system keeps what a manager holds while Bluetooth is off: a process is told, and asks anew.
    private func outlivesPower(_ client: BluetoothClient) -> Bool {
        outlivesPower(client.app) && isPreserved(client)
    }

    /// Whether the system keeps what a manager wants of a peripheral while Bluetooth is off.
    private func outlivesPower(_ client: BluetoothClient, on peripheral: NameID) -> Bool {
        guard areas.bluetooth.powerSwitch == .offInControlCentre, isPreserved(client) else { return false }
        return outlivesPower(client.app) || isSetUp(peripheral, for: client.app)
    }

    private func isPreserved(_ client: BluetoothClient) -> Bool {
        let manager = areas.bluetooth.apps[client.app].managers[Int(client.slot)]
        return !manager.attached && manager.isKept(constants)
    }

    private func outlivesPower(_ app: AppID) -> Bool {
        areas.bluetooth.powerSwitch == .offInControlCentre && profile.areas.bluetooth.controlCentreKeepsRequests
    }
}
