import CoreBluetooth
import Foundation
import UIKit

AppDelegate.main()

/// An app that counts a fast belt's notifications, and what they cost it and its bench.
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

/// Subscribes to the belt, whose values count from 0, and prints one line at the first and the last that it measures.
@MainActor
final class Counter: NSObject, @preconcurrency CBCentralManagerDelegate, @preconcurrency CBPeripheralDelegate {
    /// The values before the measurement begins, and those in it.
    static let warmUp = 400
    static let measured = 4_000

    private var central: CBCentralManager!
    private var belt: CBPeripheral?
    private var received = 0
    private var lost = 0
    private var last: Int?
    private var start = Usage()

    override init() {
        super.init()
        central = CBCentralManager(delegate: self, queue: nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard let value = characteristic.value, value.count >= 2 else { return }
        let number = Int(value[value.endIndex - 2]) << 8 | Int(value[value.endIndex - 1])
        if let last { lost += (number - last - 1) & 0xffff }
        last = number
        received += 1
        if received == Self.warmUp { start = Usage() }
        if received == Self.warmUp + Self.measured { finish() }
    }

    private func finish() {
        let end = Usage()
        print(
            "measured values=\(Self.measured) lost=\(lost) seconds=\(end.clock - start.clock)"
                + " app=\(end.app - start.app) bench=\(end.bench - start.bench)"
        )
        exit(0)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
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

/// The time, and the processor time of this process and of the bench that started it, in seconds.
struct Usage {
    let clock: Double
    let app: Double
    let bench: Double

    init() {
        clock = ProcessInfo.processInfo.systemUptime
        app = Self.processorTime(of: getpid())
        bench = Self.processorTime(of: getppid())
    }

    /// The user and system time of a process: fields 14 and 15 of /proc/PID/stat, in ticks.
    private static func processorTime(of process: pid_t) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return .nan }
        let fields = text[end...].split(separator: " ")
        return (Double(fields[12]) ?? .nan) / Double(sysconf(Int32(_SC_CLK_TCK)))
            + (Double(fields[13]) ?? .nan) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
