// An app whose Core Bluetooth lives on a queue of its own and whose state lives on main. How a value gets from the one to the
// other is its bundle's HOP; with TIMERS it sets timers of each kind, with MINUTES one that comes each minute. With CROWD many
// threads do something at one instant, and with TURNS it tells how it is scheduled, before, in and after a second of work. Times
// are of its own monotonic clock, in nanoseconds since its first line.
import CoreBluetooth
import Foundation
import UIKit

func monotonic() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

let beginning = monotonic()

func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// How a value gets to main.
enum Hop: String {
    case inline, main, global, asyncAfter, task, mainActor

    static let delay: Int64 = 50_000_000

    func perform(_ work: @escaping @Sendable () -> Void) {
        switch self {
        case .inline: work()
        case .main: DispatchQueue.main.async(execute: work)
        case .global: DispatchQueue.global().async { DispatchQueue.main.async(execute: work) }
        case .asyncAfter:
            DispatchQueue.main.asyncAfter(deadline: .now() + .nanoseconds(Int(Self.delay)), execute: work)
        case .task: Task { work() }
        case .mainActor: Task { @MainActor in work() }
        }
    }
}

let hop = Hop(rawValue: ProcessInfo.processInfo.environment["HOP"] ?? "") ?? .inline

final class Monitor: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    private let queue = DispatchQueue(label: "bluetooth")
    private var central: CBCentralManager!
    private var belt: CBPeripheral?

    override init() {
        super.init()
        central = CBCentralManager(delegate: self, queue: queue)
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
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        let came = monotonic()
        let value = (characteristic.value ?? Data()).map { String(format: "%02x", $0) }.joined()
        hop.perform { [self] in
            let late = monotonic() - came
            log("value \(value) at \(came - beginning) handled \(late) later")
            // What it does about it comes after the hop, and the next instant must not overtake it.
            if value.hasSuffix("3") { queue.async { [self] in belt?.readRSSI() } }
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: Error?) {
        log("rssi at \(monotonic() - beginning)")
    }
}

/// Sets a timer of each kind, and tells how far off each came.
@MainActor enum Timers {
    private static var kept: [AnyObject] = []

    nonisolated static func came(_ name: String, _ due: Int64) { log("\(name) off \(monotonic() - due)") }

    static func begin() {
        let now = monotonic()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1_250)) {
            came("asyncAfter", now + 1_250_000_000)
        }
        kept.append(
            Timer.scheduledTimer(withTimeInterval: 2.5, repeats: false) { _ in came("Timer", now + 2_500_000_000) }
        )
        Task.detached {
            let begun = monotonic()
            try? await Task.sleep(nanoseconds: 3_750_000_000)
            came("Task.sleep", begun + 3_750_000_000)
        }
        Thread.detachNewThread {
            let begun = monotonic()
            Thread.sleep(forTimeInterval: 5)
            came("Thread.sleep", begun + 5_000_000_000)
        }
        let source = DispatchSource.makeTimerSource(queue: .global())
        var count = 0
        source.schedule(deadline: .now() + .seconds(6), repeating: .seconds(7))
        source.setEventHandler {
            came("DispatchSourceTimer", now + 6_000_000_000 + Int64(count) * 7_000_000_000)
            count += 1
            if count == 3 { source.cancel() }
        }
        source.resume()
        kept.append(source as AnyObject)
    }
}

/// Eight threads and as many blocks wake at one instant, again and again.
func gatherCrowd() {
    let lock = NSLock()
    for number in 0..<8 {
        Thread.detachNewThread {
            for _ in 0..<20 {
                Thread.sleep(forTimeInterval: 0.25)
                lock.withLock { log("thread \(number)") }
            }
        }
        for step in 1...20 {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(250 * step)) {
                lock.withLock { log("block \(number)") }
            }
        }
    }
}

/// Tells the kernel's policy for this thread: 0 SCHED_OTHER, 1 SCHED_FIFO.
func takeTurns() {
    log("policy \(sched_getscheduler(0))")
    while clock() < CLOCKS_PER_SEC {}
    log("policy \(sched_getscheduler(0)) at work")
    _ = Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in
        log("policy \(sched_getscheduler(0)) after a rest")
    }
}

final class AppDelegate: UIResponder, UIApplicationDelegate {
    private var monitor: Monitor?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        log("began at \(beginning)")
        log("date \(Date().formatted(.iso8601))")
        if ProcessInfo.processInfo.environment["SPIN"] != nil {
            let begun = monotonic()
            while monotonic() < begun + 500_000_000 {}
            log("spun \(monotonic() - begun)")
        }
        if ProcessInfo.processInfo.environment["CROWD"] != nil { gatherCrowd() }
        if ProcessInfo.processInfo.environment["TURNS"] != nil { takeTurns() }
        if ProcessInfo.processInfo.environment["MINUTES"] != nil {
            _ = Timer.scheduledTimer(withTimeInterval: 60, repeats: true) { _ in
                log("minute at \(monotonic() - beginning)")
            }
        }
        if ProcessInfo.processInfo.environment["TIMERS"] != nil { Timers.begin() } else { monitor = Monitor() }
        return true
    }
}

_ = UIApplicationMain(CommandLine.argc, CommandLine.unsafeArgv, nil, NSStringFromClass(AppDelegate.self))
