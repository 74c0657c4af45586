import Foundation
import WakeClient

/// What a central manager tells.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// The state of Bluetooth changed, or is known for the first time.
    func centralManagerDidUpdateState(_ central: CBCentralManager)
    /// The manager gets back what it had when the app was ended; called before the first state.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])
    /// An advertisement was seen.
    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    )
    /// A connection was made.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)
    /// A connection could not be made.
    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    )
    /// A connection ended; no error when the app asked for it.
    ///
    /// Where a delegate implements both forms of a disconnect, this one alone is called, as reports of phones have it.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    )
    /// A connection ended; the form that tells when, and whether the system connects again by itself. It is called where the
    /// shorter one is not implemented.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    )
    /// A connection of the phone that the app registered for came up or went.
    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    )
    /// The user let the app use the notification centre through the peripheral, or no longer; never on this phone.
    func centralManager(
        _ central: CBCentralManager,
        didUpdateANCSAuthorizationFor peripheral: CBPeripheral
    )
}

/// What a delegate that does not implement a method does.
extension CBCentralManagerDelegate {
    /// Says that the restore identifier was given for nothing.
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        reportMisuse(
            "\(central) has provided a restore identifier but the delegate doesn't implement the "
                + "centralManager:willRestoreState: method"
        )
    }

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {}

    /// Does nothing.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {}

    /// Has the longer form called.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        central.noteLackOfShortForm(in: self)
    }

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didUpdateANCSAuthorizationFor peripheral: CBPeripheral
    ) {}
}
