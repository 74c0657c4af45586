import BackgroundTasks
import ChildProcess
import CoreBluetooth
import CoreLocation
import ExternalAccessory
import Foundation
import Synchronization
import Testing
import UIKit

/// Notes what it is told, and calls back at the first.
private final class Listener: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate,
    CLLocationManagerDelegate, @unchecked Sendable
{
    private let told = Mutex<[String]>([])
    let first = DispatchSemaphore(value: 0)

    var lines: [String] { told.withLock { $0 } }

    private func note(_ line: String) {
        told.withLock { $0.append(line) }
        first.signal()
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { note("central \(central.state)") }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { note("peripheral \(peripheral.state)") }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        note("authorization \(manager.authorizationStatus)")
    }

    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        note("failed \((error as? CLError)?.code == .denied)")
    }

    func locationManager(
        _ manager: CLLocationManager,
        monitoringDidFailFor region: CLRegion?,
        withError error: any Error
    ) {
        note("monitoring failed \((error as? CLError)?.code == .regionMonitoringDenied)")
    }
}

@Suite("A process that no bench started")
struct WithoutBenchTests {
    @Test("Its central manager says once that Bluetooth is unsupported, on its queue, and takes commands as misuse")
    func central() {
        let listener = Listener()
        let queue = DispatchQueue(label: "central")
        let manager = CBCentralManager(delegate: listener, queue: queue)
        listener.first.wait()
        manager.scanForPeripherals(withServices: nil)
        queue.sync {}
        #expect(listener.lines == ["central \(CBManagerState.unsupported)"])
        #expect(manager.state == .unsupported)
        #expect(!manager.isScanning)
    }

    @Test("Its peripheral manager says once that Bluetooth is unsupported")
    func peripheral() {
        let listener = Listener()
        let queue = DispatchQueue(label: "peripheral")
        let manager = CBPeripheralManager(delegate: listener, queue: queue)
        listener.first.wait()
        manager.startAdvertising(nil)
        queue.sync {}
        #expect(listener.lines == ["peripheral \(CBManagerState.unsupported)"])
        #expect(!manager.isAdvertising)
    }

    @Test("Its location manager is restricted, says so once, and fails what is asked of it")
    @MainActor
    func location() async {
        let listener = Listener()
        let manager = CLLocationManager()
        manager.delegate = listener
        manager.requestLocation()
        manager.startMonitoring(
            for: CLCircularRegion(center: CLLocationCoordinate2D(), radius: 10, identifier: "here")
        )
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(
            listener.lines == [
                "authorization \(CLAuthorizationStatus.restricted)", "failed true", "monitoring failed true",
            ]
        )
        #expect(!CLLocationManager.locationServicesEnabled())
        #expect(!CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self))
    }

    @Test("Its background tasks and accessories are there, and nothing comes of them")
    @MainActor
    func quiet() {
        let task = UIApplication.shared.beginBackgroundTask()
        #expect(task != .invalid)
        UIApplication.shared.endBackgroundTask(task)
        #expect(UIApplication.shared.backgroundTimeRemaining == .greatestFiniteMagnitude)
        #expect(EAAccessoryManager.shared().connectedAccessories.isEmpty)
        #expect(Wakebench.currentWake == nil)
        Wakebench.drew()
    }

    @Test("With WAKEBENCH_REQUIRED=1 a manager ends it with code 2")
    func required() async {
        reapAdopted()
        await #expect(processExitsWith: .exitCode(2)) {
            unsafe setenv("WAKEBENCH_REQUIRED", "1", 1)
            _ = CBCentralManager(delegate: nil, queue: nil)
        }
    }

    @Test("Its task scheduler is unavailable: no handler is registered, no request taken, none pending")
    func tasks() async {
        let scheduler = BGTaskScheduler.shared
        #expect(!scheduler.register(forTaskWithIdentifier: "com.example.refresh", using: nil) { _ in })
        let error = #expect(throws: BGTaskScheduler.Error.self) {
            try scheduler.submit(BGAppRefreshTaskRequest(identifier: "com.example.refresh"))
        }
        #expect(error?.code == .unavailable)
        let impossible = #expect(throws: BGTaskScheduler.Error.self) {
            try scheduler.submit(BGAppRefreshTaskRequest(identifier: ""))
        }
        #expect(impossible?.code == .notPermitted)
        #expect(await scheduler.pendingTaskRequests().isEmpty)
    }

    @Test("BGT-3: a second launch handler for an identifier ends the app")
    func secondHandler() async {
        reapAdopted()
        await #expect(processExitsWith: .failure) {
            for _ in 0..<2 {
                BGTaskScheduler.shared.register(forTaskWithIdentifier: "com.example.refresh", using: nil) { _ in }
            }
        }
    }

    @Test("A copy of a task request asks for the same")
    func taskRequests() throws {
        let request = BGProcessingTaskRequest(identifier: "com.example.clean")
        request.earliestBeginDate = Date(timeIntervalSince1970: 1_767_226_500)
        request.requiresExternalPower = true
        let copy = try #require(request.copy() as? BGProcessingTaskRequest)
        #expect(copy !== request && copy.identifier == "com.example.clean")
        #expect(copy.earliestBeginDate == request.earliestBeginDate)
        #expect(copy.requiresExternalPower && !copy.requiresNetworkConnectivity)
    }
}
