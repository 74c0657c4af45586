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

/// The older states have types of their own, which switches of older code name.
func word(_ state: CBPeripheralManagerState) -> String {
    switch state {
    case .poweredOn: "on"
    case .poweredOff: "off"
    default: "neither"
    }
}

/// Where state goes, and how it is protected.
func protect(_ folder: URL) throws {
    try NSURL(fileURLWithPath: folder.path).setResourceValue(URLFileProtection.complete, forKey: .fileProtectionKey)
    let values = try folder.resourceValues(forKeys: [.fileProtectionKey])
    if values.fileProtection == .completeUntilFirstUserAuthentication { print("until the first unlock") }
}

func checkDeclarations() {
    let folders: [URL] = [.documentsDirectory, .cachesDirectory, .applicationSupportDirectory, .libraryDirectory]
    precondition(folders.map(\.lastPathComponent).contains("Library"))
    UserDefaults.standard.setValue(3, forKey: "pages")
    precondition(UserDefaults.standard.value(forKey: "pages") as? Int == 3)
    let error = NSError(domain: "outside", code: 4)
    precondition(describe(CBUUID(string: "180D"), error) == "180D: \(error.description)")
    precondition(pause(2) == 4_000)
    precondition(nothing().0 == CBUUID() && nothing().1.departureDate == .distantFuture)
    precondition(word(.poweredOff) == "off" && CBCentralManagerState.unsupported.rawValue == 2)
    let activity = NSUserActivity(activityType: "com.example.outside.read")
    activity.addUserInfoEntries(from: ["page": 3])
    precondition(activity.userInfo?["page"] as? Int == 3)
}
