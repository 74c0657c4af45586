import CoreBluetooth
import UIKit

AppDelegate.main()

/// An app that counts a fast belt's notifications.
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private var counter: Counter?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        counter = Counter()
        return true
    }
}

/// Subscribes to the belt, whose values count from 0, and ends the app at the value 65535.
@MainActor
final class Counter: NSObject, @preconcurrency CBCentralManagerDelegate, @preconcurrency CBPeripheralDelegate {
    private static let last = 65_535

    private var central: CBCentralManager!
    private var belt: CBPeripheral?
    private var received = 0
    private var lost = 0
    private var expected = 0

    override init() {
        super.init()
        let options = [CBCentralManagerOptionRestoreIdentifierKey: "belt"]
        central = CBCentralManager(delegate: self, queue: nil, options: options)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard let value = characteristic.value, value.count == 2 else { return }
        let number = Int(value[value.startIndex]) << 8 | Int(value[value.startIndex + 1])
        if number == Self.last {
            print("counted values=\(received) lost=\(lost)")
            exit(0)
        }
        lost += (number - expected) & 0xffff
        expected = number + 1
        received += 1
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        belt = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
        belt?.delegate = self
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn, belt == nil else { return }
        central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        belt = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "180D")])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }
}
