import WakeAudio
import WakeBluetooth
import WakeDevices
import WakeExternalAccessory
import WakeLocation
import WakeModel
import WakePorts
import WakeSystem
import WakeVoIP

/// Makes the sources that a run's backends name.
struct SourceMaker {
    let backends: RunBackends
    let scenario: Scenario
    let options: RunOptions
    let names: NameTable
    let seed: UInt64
    let realTime: Bool
    let loop: EventLoop

    func bluetooth() throws(SystemError) -> any BluetoothCentralPort {
        guard backends[.bluetooth] == "bluez" else {
            return SimulatedBluetooth(devices: scenario.devices, names: names, seed: seed, loop: loop)
        }
        return try BlueZBluetooth(
            devices: scenario.devices,
            names: names,
            loop: loop,
            adapterAddress: options.adapter
        )
    }

    /// The peripheral end shares the radio's adapter.
    func peripheralRole(
        beside radio: any BluetoothCentralPort
    ) throws(SystemError) -> any BluetoothPeripheralPort {
        guard let radio = radio as? BlueZBluetooth else {
            let beside = radio as? SimulatedBluetooth
            return SimulatedPeripheralRole(devices: scenario.devices, names: names, seed: seed, beside: beside)
        }
        return try BlueZPeripheralRole(devices: scenario.devices, names: names, loop: loop, beside: radio)
    }

    func location() throws(SystemError) -> any LocationPort {
        switch backends[.location] {
        case "gpsd": return try GPSDLocation(names: names, loop: loop, port: options.gpsdPort)
        case "nmea":
            let receiver = options.receiver.map { NMEAReceiver.path($0) } ?? .any
            return try NMEALocation(receiver, names: names, loop: loop)
        default:
            let tracks = scenario.devices.compactMap { device in device.track.map { (device.name, $0) } }
            return SimulatedLocation(tracks: tracks, names: names, seed: seed)
        }
    }

    func audio() throws(SystemError) -> any AudioPort {
        guard backends[.audio] == "alsa" else {
            return SimulatedAudio(
                devices: scenario.devices,
                names: names,
                loop: loop,
                inRealTime: realTime
            )
        }
        return try ALSAAudio(
            card: options.soundCard,
            microphone: options.microphone,
            devices: scenario.devices,
            names: names,
            loop: loop
        )
    }

    /// One over Bluetooth shares the radio's adapter.
    func accessory(beside radio: any BluetoothCentralPort) throws(SystemError) -> any AccessoryPort {
        switch backends[.accessory] {
        case "udev": return try UdevAccessories(devices: scenario.devices, names: names, loop: loop)
        case "rfcomm":
            return try RFCOMMAccessories(
                devices: scenario.devices,
                names: names,
                loop: loop,
                adapterAddress: options.adapter,
                beside: (radio as? BlueZBluetooth)?.adapter
            )
        default: return SimulatedAccessories(devices: scenario.devices, names: names, seed: seed, loop: loop)
        }
    }

    func voip() -> any VoIPPort {
        let servers = scenario.devices.compactMap { device in device.form.callServer.map { (device.name, $0) } }
        guard backends[.voip] == "socket" else {
            let hasProcesses = scenario.apps.contains { app in
                if case .bundle = app.form { true } else { false }
            }
            return SimulatedVoIP(servers: servers, names: names, seed: seed, loop: loop, listens: hasProcesses)
        }
        return SocketVoIP(servers: servers, names: names, loop: loop)
    }
}
