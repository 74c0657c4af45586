import Foundation
import WakeClient
import WakeModel
import WakeWire

/// The key of the accessory in the user info of a notification.
public let EAAccessoryKey = "EAAccessoryKey"
/// The key of the accessory that the user chose in the Bluetooth picker.
public let EAAccessorySelectedKey = "EAAccessorySelectedKey"

extension NSNotification.Name {
    /// An accessory connected; posted only after ``EAAccessoryManager/registerForLocalNotifications()``.
    public static let EAAccessoryDidConnect = NSNotification.Name("EAAccessoryDidConnectNotification")
    /// An accessory is gone; posted only after ``EAAccessoryManager/registerForLocalNotifications()``.
    public static let EAAccessoryDidDisconnect = NSNotification.Name("EAAccessoryDidDisconnectNotification")
}

/// Why the Bluetooth picker ended without a new accessory.
public struct EABluetoothAccessoryPickerError: Error, Equatable, Sendable {
    /// The domain of such errors.
    public static let errorDomain = "EABluetoothAccessoryPickerErrorDomain"

    /// The reasons.
    public enum Code: Int, Sendable {
        /// The chosen accessory is connected already.
        case alreadyConnected = 0
        /// No accessory was found.
        case resultNotFound = 1
        /// The user cancelled.
        case resultCancelled = 2
        /// The accessory could not be connected.
        case resultFailed = 3
    }

    /// The reason.
    public let code: Code

    /// An error with a reason.
    public init(_ code: Code) {
        self.code = code
    }

    /// See ``Code/alreadyConnected``.
    public static var alreadyConnected: Code { .alreadyConnected }
    /// See ``Code/resultNotFound``.
    public static var resultNotFound: Code { .resultNotFound }
    /// See ``Code/resultCancelled``.
    public static var resultCancelled: Code { .resultCancelled }
    /// See ``Code/resultFailed``.
    public static var resultFailed: Code { .resultFailed }
}

extension EABluetoothAccessoryPickerError: CustomNSError {
    /// The number of the reason.
    public var errorCode: Int { code.rawValue }
}

/// Hears how the Bluetooth picker ended.
public typealias EABluetoothAccessoryPickerCompletion = @Sendable (Error?) -> Void

/// Knows the accessories that the app may see, and says when they come and go.
///
/// Notifications are posted on the main queue.
open class EAAccessoryManager: NSObject, @unchecked Sendable {
    private static let instance = EAAccessoryManager()

    private let lock = NSLock()
    private var known: [UInt32: EAAccessory] = [:]
    private var isRegistered = false
    private(set) var number: UInt32 = 0

    /// The app's only manager.
    open class func shared() -> EAAccessoryManager { instance }

    private override init() {
        super.init()
        let client = BenchClient.shared
        client.runWithoutApplication()
        number = client.register(queue: .main) { [unowned self] body, _ in
            if case .accessory(let event) = body { receive(event) }
        }
    }

    /// The accessories that are connected and offer a protocol that the app lists.
    open var connectedAccessories: [EAAccessory] {
        let reply = BenchClient.shared.request { .accessory(manager: number, .list(id: $0)) }
        return (reply.accessories ?? []).map { accessory($0) }
    }

    /// Posts ``Foundation/NSNotification/Name/EAAccessoryDidConnect`` and the like from now on.
    open func registerForLocalNotifications() {
        lock.withLock { isRegistered = true }
        BenchClient.shared.send(.accessory(manager: number, .register))
    }

    /// Posts no more notifications.
    open func unregisterForLocalNotifications() {
        lock.withLock { isRegistered = false }
        BenchClient.shared.send(.accessory(manager: number, .unregister))
    }

    /// Lets the user choose a Bluetooth accessory; on the emulated phone nobody is there to do so, and none is found.
    open func showBluetoothAccessoryPicker(
        withNameFilter predicate: NSPredicate?,
        completion: EABluetoothAccessoryPickerCompletion? = nil
    ) {
        DispatchQueue.main.async { completion?(EABluetoothAccessoryPickerError(.resultNotFound)) }
    }

    /// The one object for a connection.
    private func accessory(_ wire: Accessory) -> EAAccessory {
        lock.withLock {
            if let accessory = known[wire.connection] { return accessory }
            let accessory = EAAccessory(wire)
            known[wire.connection] = accessory
            return accessory
        }
    }

    private func receive(_ event: WireAccessoryEvent) {
        switch event {
        case .connected(let wire): post(.EAAccessoryDidConnect, accessory(wire))
        case .disconnected(let connection):
            guard let accessory = lock.withLock({ known.removeValue(forKey: connection) }) else { return }
            accessory.disconnect()
            post(.EAAccessoryDidDisconnect, accessory)
        case .sessionOpened, .data, .sessionEnded: break
        }
    }

    private func post(_ name: NSNotification.Name, _ accessory: EAAccessory) {
        guard lock.withLock({ isRegistered }) else { return }
        NotificationCenter.default.post(name: name, object: self, userInfo: [EAAccessoryKey: accessory])
    }
}
