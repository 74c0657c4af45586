import CoreBluetooth
import CoreLocation
import UIKit

/// An actor that runs on the queue of its manager.
actor Radio {
    private let queue = DispatchSerialQueue(label: "com.example.outside.radio")
    private var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    func heard() -> Int {
        dispatchPrecondition(condition: .onQueue(queue))
        return count
    }

    /// As a delegate's method is called: on the queue, by no task of the actor's.
    nonisolated func callBack() {
        queue.sync { assumeIsolated { $0.count += 1 } }
    }

    func connect() -> CBCentralManager { CBCentralManager(delegate: nil, queue: queue) }
}

@MainActor
final class Watcher {
    private var count = 0
    private var names: [Notification.Name] = []

    func watch() async {
        for await note in NotificationCenter.default.notifications(named: UIApplication.didBecomeActiveNotification) {
            if note.userInfo == nil { count += 1 }
        }
        let ends = NotificationCenter.default.notifications(named: UIApplication.willTerminateNotification, object: nil)
        let endNames = ends.map { $0.name }
        for await name in endNames { names.append(name) }
    }
}

func leave() async {
    let notes = NotificationCenter.default.notifications(named: UIApplication.didEnterBackgroundNotification)
    for await _ in notes { break }
    _ = await UIApplication.shared.backgroundRefreshStatus
}

func locate(_ manager: CLLocationManager) async throws {
    try await manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "route")
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "route") { error in print(error as Any) }
}

@MainActor
final class Locator {
    private let manager = CLLocationManager()

    func locate() async throws {
        try await manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "route")
    }

    func locateLater() { manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "route") }
}

/// An actor on a queue runs there, also where a call from elsewhere on the queue takes it to.
func checkExecutor() async {
    let radio = Radio()
    radio.callBack()
    let heard = await radio.heard()
    precondition(heard == 1)
}
