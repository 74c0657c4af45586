import Foundation
import Synchronization
import WakeClient
import WakeWire

/// The state of Bluetooth as a manager sees it.
public enum CBManagerState: Int, Sendable {
    /// Not known yet.
    case unknown = 0
    /// The connection to the system was lost for a moment.
    case resetting = 1
    /// This phone has no Bluetooth Low Energy.
    case unsupported = 2
    /// The app may not use Bluetooth.
    case unauthorized = 3
    /// Bluetooth is off.
    case poweredOff = 4
    /// Bluetooth is on.
    case poweredOn = 5
}

/// The state of a central manager, as it was before iOS 10: a type of its own with the numbers of ``CBManagerState``.
public enum CBCentralManagerState: Int, Sendable {
    /// Not known yet.
    case unknown = 0
    /// The connection to the system was lost for a moment.
    case resetting = 1
    /// This phone has no Bluetooth Low Energy.
    case unsupported = 2
    /// The app may not use Bluetooth.
    case unauthorized = 3
    /// Bluetooth is off.
    case poweredOff = 4
    /// Bluetooth is on.
    case poweredOn = 5
}

/// The state of a peripheral manager, as it was before iOS 10: a type of its own with the numbers of ``CBManagerState``.
public enum CBPeripheralManagerState: Int, Sendable {
    /// Not known yet.
    case unknown = 0
    /// The connection to the system was lost for a moment.
    case resetting = 1
    /// This phone has no Bluetooth Low Energy.
    case unsupported = 2
    /// The app may not use Bluetooth.
    case unauthorized = 3
    /// Bluetooth is off.
    case poweredOff = 4
    /// Bluetooth is on.
    case poweredOn = 5
}

/// Whether the app may use Bluetooth.
public enum CBManagerAuthorization: Int, Sendable {
    /// The user was not asked yet.
    case notDetermined = 0
    /// A policy forbids it.
    case restricted = 1
    /// The user refused.
    case denied = 2
    /// Allowed.
    case allowedAlways = 3
}

/// What central managers and peripheral managers have in common.
open class CBManager: NSObject {
    private static let denied = Mutex(false)
    let lock = NSLock()
    /// The number that the bench knows the manager by.
    var number: UInt32 = 0
    private var storedState = CBManagerState.unknown

    /// Makes a manager; the subclasses' own initializers are the ones to use.
    public override init() {
        super.init()
    }

    /// The state of Bluetooth; `unknown` until the delegate is told the first.
    open var state: CBManagerState {
        lock.withLock { storedState }
    }

    /// Whether this app may use Bluetooth.
    open var authorization: CBManagerAuthorization {
        CBManager.authorization
    }

    /// Whether this app may use Bluetooth.
    open class var authorization: CBManagerAuthorization {
        denied.withLock { $0 } ? .denied : .allowedAlways
    }

    func setState(_ state: CBManagerState) {
        lock.withLock { storedState = state }
        CBManager.denied.withLock { $0 = state == .unauthorized }
    }

    func isPoweredOn() -> Bool {
        guard state == .poweredOn else {
            reportMisuse("\(self) can only accept this command while in the powered on state")
            return false
        }
        return true
    }

    func flag(_ key: String, in options: [String: Any]?) -> Bool {
        (options?[key] as? NSNumber)?.boolValue ?? false
    }
}

extension CBManagerState {
    init(_ state: WireRadioState) {
        switch state {
        case .unknown: self = .unknown
        case .resetting: self = .resetting
        case .unsupported: self = .unsupported
        case .unauthorized: self = .unauthorized
        case .poweredOff: self = .poweredOff
        case .poweredOn: self = .poweredOn
        }
    }
}

/// Says on stderr, in Apple's words where Apple has some, that something is not done.
func reportWarning(_ line: String) {
    complain("[CoreBluetooth] WARNING: \(line)")
}

extension CBManager {
    /// Says that a delegate of a manager without a restore identifier waits in vain to be restored.
    ///
    /// - Parameter kind: how the delegate's methods begin.
    func reportUselessRestoration(_ kind: String, _ delegate: AnyObject?) {
        guard let delegate, ProgramSymbols.implements("\(kind)(_:willRestoreState:)", by: delegate) else { return }
        reportMisuse(
            "\(self) has no restore identifier but the delegate implements the \(kind):willRestoreState: "
                + "method. Restoring will not be supported"
        )
    }
}

/// Says on stderr, in Apple's words, that the framework was used wrongly.
func reportMisuse(_ line: String) {
    complain("[CoreBluetooth] API MISUSE: \(line)")
}
