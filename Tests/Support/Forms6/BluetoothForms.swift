import CoreBluetooth.CBCentralManager
import CoreBluetooth.CBCharacteristic
import CoreBluetooth.CBPeripheral
import CoreBluetooth.CBPeripheralManager
import CoreBluetooth.CBUUID
import class CoreBluetooth.CBService

final class Central: NSObject, CBCentralManagerDelegate {
    var services: [CBService] = []

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
    }
}
