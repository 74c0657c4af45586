import CoreBluetooth

/// Finds a data logger, keeps connected to it, and takes its blocks over a channel.
///
/// A channel ends with its process; what a new process is woken by is the logger's alert status, which it listens to
/// beside the channel, or the end of the connection.
@MainActor
final class Collector: NSObject, @preconcurrency CBCentralManagerDelegate, @preconcurrency CBPeripheralDelegate {
    private let service = CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)
    private let number = CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)
    private let alertStatus = CBUUID(string: "2A3F")
    private var central: CBCentralManager!
    private var logger: CBPeripheral?
    private var psmCharacteristic: CBCharacteristic?
    private var blocks: Blocks?

    override init() {
        super.init()
        central = CBCentralManager(
            delegate: self,
            queue: nil,
            options: [CBCentralManagerOptionRestoreIdentifierKey: "logger"]
        )
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        log("willRestoreState peripherals=\(peripherals.count)")
        logger = peripherals.first
        logger?.delegate = self
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        log("didUpdateState \(central.state == .poweredOn ? "poweredOn" : "\(central.state)")")
        guard central.state == .poweredOn else { return }
        // A logger that another app is connected to does not advertise.
        logger = logger ?? central.retrieveConnectedPeripherals(withServices: [service]).first
        guard let logger else {
            central.scanForPeripherals(withServices: [service])
            return
        }
        logger.delegate = self
        switch logger.state {
        case .connected: logger.discoverServices([service])
        default: central.connect(logger)
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        log("didDiscover \(peripheral.name ?? "?")")
        logger = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        log("didConnect")
        peripheral.delegate = self
        peripheral.discoverServices([service])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        log("didFailToConnect")
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        log("didDisconnect")
        logger = peripheral
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for found in peripheral.services ?? [] where found.uuid == service {
            peripheral.discoverCharacteristics([number, alertStatus], for: found)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        let found = service.characteristics ?? []
        psmCharacteristic = found.first { $0.uuid == number }
        if let status = found.first(where: { $0.uuid == alertStatus }), !status.isNotifying {
            peripheral.setNotifyValue(true, for: status)
        } else {
            readNumber(peripheral)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: Error?
    ) {
        log("didUpdateNotificationState \(characteristic.isNotifying)")
        readNumber(peripheral)
    }

    private func readNumber(_ peripheral: CBPeripheral) {
        if let psmCharacteristic { peripheral.readValue(for: psmCharacteristic) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard let value = characteristic.value, !value.isEmpty else { return }
        let digits = value.map { String(format: "%02x", $0) }.joined()
        guard characteristic.uuid == number else {
            log("didUpdateValue pid=\(ProcessInfo.processInfo.processIdentifier) alert-status=\(digits)")
            return
        }
        // The number is little-endian.
        let psm = value.reversed().reduce(CBL2CAPPSM(0)) { $0 << 8 | CBL2CAPPSM($1) }
        log("didUpdateValue psm=\(psm)")
        guard blocks == nil else { return }
        peripheral.openL2CAPChannel(psm)
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: Error?) {
        guard let channel else {
            log("didOpen failed: \(error.map { "\($0.localizedDescription)" } ?? "?")")
            return
        }
        log("didOpen psm=\(channel.psm)")
        blocks = Blocks(channel) { [weak self] in self?.blocks = nil }
    }
}
