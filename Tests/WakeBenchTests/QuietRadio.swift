import WakeModel
import WakePorts

/// A radio that is on, and says nothing.
final class QuietRadio: BluetoothCentralPort {
    let backend = "simulated"
    var report: ((SourceReport) -> Void)?
    let poweredOn = true
    var nextDeadline: Instant? { nil }

    func start(at now: Instant) {}
    func stop() {}
    func timeReached(_ now: Instant) {}
    func perform(_ command: BluetoothCommand, at now: Instant) {}
    func setPower(_ on: Bool, at now: Instant) {}
    func arm(fault: String, device: String, at now: Instant) {}
    func knownPeripheral(_ name: NameID) -> KnownPeripheral? { nil }
    func connectedPeripherals(services: [NameID]) -> [NameID] { [] }
}
