extension NewApp {
    var swiftFiles: [File] {
        [
            File(path: "Package.swift", text: manifest),
            File(path: "Sources/AppDelegate.swift", text: appDelegate),
            File(path: "Sources/BeltCentral.swift", text: beltCentral),
            File(path: "Tests/ScenarioTests.swift", text: scenarioTests),
        ]
    }

    private var manifest: String {
        let source = package ?? .git(url: "wakebench", tag: nil)
        let from = PackageSource.quoted(source.identity)
        return """
            // swift-tools-version: 6.0
            import PackageDescription

            let package = Package(
                name: "\(name)",
                dependencies: [
                    \(source.line)
                ],
                targets: [
                    .executableTarget(
                        name: "\(name)",
                        dependencies: [
                            .product(name: "CoreBluetooth", package: \(from)),
                            .product(name: "UIKit", package: \(from)),
                        ],
                        path: "Sources",
                        // For code that an iOS app shares: #if os(iOS) || WAKEBENCH
                        swiftSettings: [.define("WAKEBENCH")]
                    ),
                    .testTarget(
                        name: "\(name)Tests",
                        dependencies: [.product(name: "WakebenchTesting", package: \(from))],
                        path: "Tests"
                    ),
                ]
            )

            """
    }

    private var scenarioTests: String {
        """
        import Testing
        import WakebenchTesting

        @Test("The belt resumes the suspended app, and relaunches it after the system ended it")
        func belt() async throws {
            let run = try await Wakebench.run(.file("scenario.yaml"), apps: [.program("\(name)")])
            #expect(try run.count(app: "app", kind: .characteristicNotified, verdict: .resume) >= 1)
            let relaunch = try #require(try run.first(app: "app", verdict: .relaunch))
            #expect(relaunch.reason == .relaunched)
            #expect(try run.log(of: "app").contains("willRestoreState peripherals=1"))
        }

        """
    }

    private var appDelegate: String {
        """
        import Foundation
        import UIKit

        @main
        final class AppDelegate: UIResponder, UIApplicationDelegate {
            private var belts: BeltCentral?

            func application(
                _ application: UIApplication,
                didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
            ) -> Bool {
                let keys = launchOptions.map { $0.keys.map(\\.rawValue).sorted() } ?? []
                log("didFinishLaunching pid=\\(ProcessInfo.processInfo.processIdentifier) launchOptions=\\(keys)")
                belts = BeltCentral()
                return true
            }

            func applicationDidEnterBackground(_ application: UIApplication) { log("didEnterBackground") }
        }

        /// Prints a line at once, so that nothing is lost when the process ends.
        func log(_ line: String) {
            FileHandle.standardOutput.write(Data((line + "\\n").utf8))
        }

        """
    }

    private var beltCentral: String {
        """
        import CoreBluetooth
        import Foundation

        /// Finds a belt, keeps connected to it, and counts its values in memory.
        @MainActor
        final class BeltCentral: NSObject, @preconcurrency CBCentralManagerDelegate, @preconcurrency CBPeripheralDelegate {
            private let service = CBUUID(string: "180D")
            private let measurement = CBUUID(string: "2A37")
            private var central: CBCentralManager!
            private var belt: CBPeripheral?
            private var count = 0

            override init() {
                super.init()
                // The restore identifier lets the system launch the app again for what its central waits for.
                central = CBCentralManager(
                    delegate: self,
                    queue: nil,
                    options: [CBCentralManagerOptionRestoreIdentifierKey: "belts"]
                )
            }

            func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
                let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
                log("willRestoreState peripherals=\\(peripherals.count)")
                belt = peripherals.first
                belt?.delegate = self
            }

            func centralManagerDidUpdateState(_ central: CBCentralManager) {
                guard central.state == .poweredOn else { return }
                guard let belt else {
                    central.scanForPeripherals(withServices: [service])
                    return
                }
                switch belt.state {
                case .connected: if belt.services == nil { belt.discoverServices([service]) }
                default: central.connect(belt)
                }
            }

            func centralManager(
                _ central: CBCentralManager,
                didDiscover peripheral: CBPeripheral,
                advertisementData: [String: Any],
                rssi RSSI: NSNumber
            ) {
                log("didDiscover \\(peripheral.name ?? "?")")
                belt = peripheral
                peripheral.delegate = self
                central.stopScan()
                central.connect(peripheral)
            }

            func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
                log("didConnect")
                peripheral.discoverServices([service])
            }

            func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
                log("didDisconnect")
                central.connect(peripheral)
            }

            func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
                for found in peripheral.services ?? [] where found.uuid == service {
                    peripheral.discoverCharacteristics([measurement], for: found)
                }
            }

            func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
                for found in service.characteristics ?? [] where found.uuid == measurement {
                    peripheral.setNotifyValue(true, for: found)
                }
            }

            func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
                guard let value = characteristic.value, value.count >= 2 else { return }
                count += 1
                let digits = value.map { String(format: "%02x", $0) }.joined()
                let pid = ProcessInfo.processInfo.processIdentifier
                log("didUpdateValue pid=\\(pid) count=\\(count) value=\\(digits) bpm=\\(value[value.startIndex + 1])")
            }
        }

        """
    }
}
