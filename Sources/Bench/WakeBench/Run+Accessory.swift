import WakeDevices
import WakeExternalAccessory
import WakeModel
import WakePorts
import WakeSystem

/// The accessories of a run.
extension Run {
    /// The end that the backend names.
    static func accessory(
        _ backend: String,
        _ scenario: Scenario,
        names: NameTable,
        seed: UInt64,
        loop: EventLoop
    ) throws(CommandFailure) -> any AccessoryPort {
        switch backend {
        case "simulated":
            return SimulatedAccessories(devices: scenario.devices, names: names, seed: seed, loop: loop)
        default:
            throw CommandFailure(.usage, "accessory=\(backend) is not built in; use accessory=simulated")
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
