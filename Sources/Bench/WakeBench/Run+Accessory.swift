import WakeBluetooth
import WakeDevices
import WakeExternalAccessory
import WakeModel
import WakePorts
import WakeSystem

/// The accessories of a run.
extension Run {
    /// The end that the backend names; one over Bluetooth shares the radio's adapter.
    static func accessory(
        _ backend: String,
        _ scenario: Scenario,
        names: NameTable,
        seed: UInt64,
        loop: EventLoop,
        beside radio: any BluetoothCentralPort,
        adapter: String?
    ) throws(CommandFailure) -> any AccessoryPort {
        do throws(SystemError) {
            switch backend {
            case "udev": return try UdevAccessories(devices: scenario.devices, names: names, loop: loop)
            case "rfcomm":
                return try RFCOMMAccessories(
                    devices: scenario.devices,
                    names: names,
                    loop: loop,
                    adapterAddress: adapter,
                    beside: (radio as? BlueZBluetooth)?.adapter
                )
            default: return SimulatedAccessories(devices: scenario.devices, names: names, seed: seed, loop: loop)
            }
        } catch {
            throw CommandFailure(.internal, error.description)
        }
    }

    /// Ties the accessories to the bench, and their sessions to the apps.
    func connectAccessories() {
        bench.accessory = accessory
        bench.sessionKeeper = ChannelKeeper(
            loop: loop,
            names: names,
            kind: .accessoryDataAvailable,
            take: { [accessory] in accessory.takeSession($0) },
            report: { [unowned bench] in bench.submit($0) }
        )
        scripted.visibleAccessories = { [unowned self] in accessories(of: $0) }
        scripted.wroteToSession = { [unowned self] in accessory.lookAtSessions(at: bench.now) }
        guard let processes, !realTime else { return }
        bench.sessionKeeper?.tellRunning = { [unowned processes] app, manager in
            processes.host.sessionHoldsBytes(of: app, session: manager)
        }
        (accessory as? SimulatedAccessories)?.written = { [weak bench] in bench?.sessionKeeper?.wrote(to: $0) }
    }

    /// The accessories that an app may see now, in order of connection (EA-3).
    func accessories(of app: AppID) -> [Accessory] {
        let visible = bench.router.visibleAccessories(of: app)
        return accessory.accessories.filter { visible.contains($0.connection) }
    }
}
