import CoreBluetooth
import CoreLocation
import Foundation
import os

/// Old words for states, as code of before iOS 10 compares them.
func isOn(_ central: CBCentralManager) -> Bool {
    central.state.rawValue == CBCentralManagerState.poweredOn.rawValue
        && central.state.rawValue == CBPeripheralManagerState.poweredOn.rawValue
}

func describe(_ uuid: CBUUID, _ error: NSError) -> String { String(format: "%@: %@", uuid, error) }

func pause(_ seconds: Double) -> UInt64 {
    UInt64(seconds * Double(NSEC_PER_SEC)) / USEC_PER_SEC + NSEC_PER_MSEC / NSEC_PER_USEC + MSEC_PER_SEC
}

func nothing() -> (CBUUID, CLVisit) { (CBUUID(), CLVisit()) }
