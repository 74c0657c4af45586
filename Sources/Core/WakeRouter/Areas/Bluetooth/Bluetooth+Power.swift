import WakeModel

/// How the user turned Bluetooth off, which decides what is there when it is on again (BT-2).
enum BluetoothSwitch: UInt8, Codable {
    case on
    case offInSettings
    case offInControlCentre
    case offInAirplaneMode
}

/// Bluetooth going on and off.
extension Router {
    mutating func turnBluetooth(_ change: PhoneChange, into output: inout RouterOutput) {
        switch change {
        case .bluetoothOn: turnBluetoothOn(into: &output)
        case .bluetoothOff: turnBluetoothOff(.offInSettings, into: &output)
        case .bluetoothOffInControlCentre:
            let kind: BluetoothSwitch =
                profile.areas.bluetooth.controlCentreLasts == nil ? .offInSettings : .offInControlCentre
            if areas.bluetooth.powerSwitch == .on { turnBluetoothOff(kind, into: &output) }
        case .airplaneModeOnKeepingBluetooth where profile.areas.bluetooth.airplaneModeKeepsBluetooth: break
        case .airplaneModeOn, .airplaneModeOnKeepingBluetooth:
            if areas.bluetooth.powerSwitch != .offInSettings { turnBluetoothOff(.offInAirplaneMode, into: &output) }
        case .airplaneModeOff:
            if areas.bluetooth.powerSwitch == .offInAirplaneMode { turnBluetoothOn(into: &output) }
        case .lock, .unlock, .reboot, .setPasscode, .removePasscode, .displayOn, .callBegan, .callEnded: break
        }
    }

    mutating func turnBluetoothOn(into output: inout RouterOutput) {
        areas.bluetooth.powerSwitch = .on
        areas.bluetooth.returns = nil
        output.actions.append(.bluetooth(.power(true)))
    }

    /// What was kept over Control Centre goes when Bluetooth is then turned off for good.
    private mutating func turnBluetoothOff(_ kind: BluetoothSwitch, into output: inout RouterOutput) {
        areas.bluetooth.powerSwitch = kind
        areas.bluetooth.returns =
            kind == .offInControlCentre
            ? profile.areas.bluetooth.controlCentreLasts.map { [now] in now.advanced(by: $0) } : nil
        if !areas.bluetooth.isOn { forgetRadio() }
        output.actions.append(.bluetooth(.power(false)))
    }

    /// A restart turns on what was off in Control Centre.
    mutating func bluetoothAfterReboot(into output: inout RouterOutput) {
        if areas.bluetooth.powerSwitch == .offInControlCentre { turnBluetoothOn(into: &output) }
    }

    /// Bluetooth went off or on, whoever turned it: connections, requests and scans are gone for everyone (BTC-5,
    /// BTC-10), but for what the system keeps of terminated apps until Control Centre turns it on again (BTC-8).
    mutating func bluetoothTurned(_ on: Bool, wasOn: Bool, into output: inout RouterOutput) {
        guard on else {
            forgetRadio()
            pauseAir()
            return
        }
        areas.bluetooth.powerSwitch = .on
        areas.bluetooth.returns = nil
        if wasOn { updateAir(into: &output) } else { takeUpRadio(into: &output) }
    }

    private mutating func forgetRadio() {
        areas.bluetooth.scanners = areas.bluetooth.scanners.filter { outlivesPower($0) }
        for row in areas.bluetooth.peripherals.indices {
            let peripheral = NameID(UInt32(row))
            let kept = areas.bluetooth.peripherals[row].links.filter { outlivesPower($0.client, on: peripheral) }
            areas.bluetooth.peripherals[row] = PeripheralRecord(
                links: kept.map { Link(client: $0.client, connected: false, since: $0.since, options: $0.options) }
            )
        }
        for index in apps.indices {
            let app = AppID(UInt32(index))
            if !apps[index].hasProcess, !outlivesPower(app) { apps[index].face.bluetoothOffSince = true }
            for slot in areas.bluetooth.apps[index].managers.indices {
                let client = BluetoothClient(app: app, slot: UInt16(slot))
                if outlivesPower(client) { continue }
                areas.bluetooth.apps[index].managers[slot].scan = nil
                areas.bluetooth.apps[index].managers[slot].watch = nil
                let kept = areas.bluetooth.apps[index].managers[slot].peripherals.filter {
                    outlivesPower(client, on: $0)
                }
                areas.bluetooth.apps[index].managers[slot].peripherals = kept
            }
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
        let manager = areas.bluetooth.apps[Int(client.app.number)].managers[Int(client.slot)]
        return !manager.attached && manager.isKept(profile)
    }

    private func outlivesPower(_ app: AppID) -> Bool {
        areas.bluetooth.powerSwitch == .offInControlCentre && profile.areas.bluetooth.controlCentreKeepsRequests
    }
}
