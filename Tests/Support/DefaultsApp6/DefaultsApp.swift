import CoreBluetooth
import UIKit

/// Keeps its restore identifier in UserDefaults, as Apple's page on restoration options says, and how many values it got.
@main
final class DefaultsApp: UIResponder, UIApplicationDelegate {
    private var belt: Belt?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let defaults = UserDefaults.standard
        let saved = defaults.string(forKey: "identifier")
        let identifier = saved ?? UUID().uuidString
        if saved == nil { defaults.set(identifier, forKey: "identifier") }
        say("launch identifier=\(saved == nil ? "new" : "saved") values=\(defaults.integer(forKey: "values"))")
        belt = Belt(restoredBy: identifier)
        return true
    }
}

final class Belt: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?

    init(restoredBy identifier: String) {
        super.init()
        let options = [CBCentralManagerOptionRestoreIdentifierKey: identifier]
        manager = CBCentralManager(delegate: self, queue: nil, options: options)
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        peripheral = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
        peripheral?.delegate = self
        say("restored")
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn, peripheral == nil else { return }
        central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        self.peripheral = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "180D")])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([CBUUID(string: "2A37")], for: service)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        let defaults = UserDefaults.standard
        defaults.set(defaults.integer(forKey: "values") + 1, forKey: "values")
        if ProcessInfo.processInfo.environment["DIES"] != nil { kill(getpid(), SIGKILL) }
    }
}

private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
