import CoreBluetooth
import Observation

/// What a view shows of a peripheral.
@Observable @MainActor
final class PulseModel {
    var name = ""
    var peripheral: CBPeripheral?

    func connect(_ found: CBPeripheral, by central: CBCentralManager) {
        (name, peripheral) = (found.name ?? "", found)
        central.connect(
            found,
            options: [
                CBConnectPeripheralOptionRequiresANCS: true,
                CBConnectPeripheralOptionEnableTransportBridgingKey: true,
            ]
        )
    }
}
