import CoreBluetooth
import Foundation

/// Finds a belt, keeps connected to it, and counts its values in memory.
@MainActor
final class HeartRateMonitor: NSObject, @preconcurrency CBCentralManagerDelegate, @preconcurrency CBPeripheralDelegate {
    private let heartRateService = CBUUID(string: "180D")
    private let heartRateMeasurement = CBUUID(string: "2A37")
    private var central: CBCentralManager!
    private var belt: CBPeripheral?
    private var count = 0

    override init() {
        super.init()
        central = CBCentralManager(
            delegate: self,
            queue: nil,
            options: [CBCentralManagerOptionRestoreIdentifierKey: "heart-rate"]
        )
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        log("willRestoreState peripherals=\(peripherals.count)")
        belt = peripherals.first
        belt?.delegate = self
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        log("didUpdateState \(central.state == .poweredOn ? "poweredOn" : "\(central.state)")")
        guard central.state == .poweredOn else { return }
        // A belt that another app is connected to does not advertise.
        belt = belt ?? central.retrieveConnectedPeripherals(withServices: [heartRateService]).first
        guard let belt else {
            central.scanForPeripherals(withServices: [heartRateService])
            return
        }
        belt.delegate = self
        switch belt.state {
        case .connected: if belt.services == nil { belt.discoverServices([heartRateService]) }
        default: central.connect(belt)
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        log("didDiscover \(peripheral.name ?? "?")")
        belt = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        log("didConnect")
        peripheral.delegate = self
        peripheral.discoverServices([heartRateService])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        log("didFailToConnect")
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        log("didDisconnect")
        belt = peripheral
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] where service.uuid == heartRateService {
            peripheral.discoverCharacteristics([heartRateMeasurement], for: service)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        // What was found is void, or there is more than was found.
        peripheral.discoverServices([heartRateService])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        for characteristic in service.characteristics ?? [] where characteristic.uuid == heartRateMeasurement {
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: Error?
    ) {
        log("didUpdateNotificationState \(characteristic.isNotifying)")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard let value = characteristic.value, value.count >= 2 else { return }
        count += 1
        let digits = value.map { String(format: "%02x", $0) }.joined()
        let pid = ProcessInfo.processInfo.processIdentifier
        log("didUpdateValue pid=\(pid) count=\(count) value=\(digits) bpm=\(value[value.startIndex + 1])")
    }
}
