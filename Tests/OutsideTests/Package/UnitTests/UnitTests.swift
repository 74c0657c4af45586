import CoreBluetooth
import Testing
import UIKit
import XCTest

/// Waits for the first state of its manager.
final class Radio: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    let told = DispatchSemaphore(value: 0)

    func centralManagerDidUpdateState(_ central: CBCentralManager) { told.signal() }

    func firstState() -> CBManagerState {
        let manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "radio"))
        told.wait()
        return manager.state
    }
}

@Test("Under Swift Testing Bluetooth is unsupported")
func radioInSwiftTesting() {
    #expect(Radio().firstState() == .unsupported)
}

@MainActor
@Test("UIKit and Testing go together")
func device() {
    #expect(UIDevice.current.model == "iPhone")
}

final class RadioTests: XCTestCase {
    func testRadioInXCTest() {
        XCTAssertEqual(Radio().firstState(), .unsupported)
    }
}
