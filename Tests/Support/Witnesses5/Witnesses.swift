import BackgroundTasks
import CallKit
import CoreBluetooth
import CoreLocation
import UIKit
import UserNotifications

// What tests of apps put in the place of the system's objects: protocols of before actors, with the handlers that Apple's calls
// had then. In Swift 5 mode the objects conform to them, if with a warning.

protocol Application: AnyObject {
    func beginBackgroundTask(expirationHandler handler: (() -> Void)?) -> UIBackgroundTaskIdentifier
    func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier)
}
extension UIApplication: Application {}

protocol NamedTasks {
    func beginBackgroundTask(withName: String?, expirationHandler: (() -> Void)?) -> UIBackgroundTaskIdentifier
}
extension UIApplication: NamedTasks {}

protocol Scheduler {
    func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool
    func submit(_ request: BGTaskRequest) throws
    func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void)
}
extension BGTaskScheduler: Scheduler {}

protocol Center {
    func requestAuthorization(
        options: UNAuthorizationOptions,
        completionHandler: @escaping (Bool, Error?) -> Void
    )
    func add(_ request: UNNotificationRequest, withCompletionHandler: ((Error?) -> Void)?)
    func getNotificationSettings(completionHandler: @escaping (UNNotificationSettings) -> Void)
    func getPendingNotificationRequests(completionHandler: @escaping ([UNNotificationRequest]) -> Void)
    func getDeliveredNotifications(completionHandler: @escaping ([UNNotification]) -> Void)
}
extension UNUserNotificationCenter: Center {}

protocol Places {
    func startMonitoring(for region: CLRegion)
    var monitoredRegions: Set<CLRegion> { get }
    func requestState(for region: CLRegion)
    func requestAlwaysAuthorization()
}
extension CLLocationManager: Places {}

protocol Peripherals {
    func connect(_ peripheral: CBPeripheral, options: [String: Any]?)
    func scanForPeripherals(withServices: [CBUUID]?, options: [String: Any]?)
}
extension CBCentralManager: Peripherals {}

protocol Calls {
    func reportNewIncomingCall(with UUID: UUID, update: CXCallUpdate, completion: @escaping (Error?) -> Void)
}
extension CXProvider: Calls {}

protocol Requests {
    func request(_ transaction: CXTransaction, completion: @escaping (Error?) -> Void)
}
extension CXCallController: Requests {}

/// A begun and ended task, by way of the protocol.
func runTask(of application: Application) -> Bool {
    let task = application.beginBackgroundTask { print("out of time") }
    application.endBackgroundTask(task)
    return task != .invalid
}

@main
enum Witnesses {
    @MainActor
    static func main() {
        precondition(runTask(of: UIApplication.shared))
        let center: Center = UNUserNotificationCenter.current()
        center.add(UNNotificationRequest(identifier: "now", content: UNNotificationContent(), trigger: nil)) { _ in }
    }
}
