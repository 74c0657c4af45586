import CoreBluetooth
import CoreLocation
import Foundation
import Testing

@Suite("Declarations that Linux lacks")
struct DeclarationTests {
    @Test("Any object stands for %@ in a format, by its description, and beside other values")
    func formats() {
        let text = String(format: "%@ %d %@ %@", NSNumber(value: 7), 8, CBUUID(string: "180D"), "nine" as NSString)
        #expect(text == "7 8 180D nine")
        let error = NSError(domain: "d", code: 1, userInfo: [NSLocalizedDescriptionKey: "so it is"])
        #expect(String(format: "%@", error) == error.description)
    }

    @Test("Units of time are Dispatch's")
    func units() {
        #expect(NSEC_PER_SEC == USEC_PER_SEC * NSEC_PER_USEC)
        #expect(NSEC_PER_SEC == MSEC_PER_SEC * NSEC_PER_MSEC)
    }

    @Test("The states of managers before iOS 10 are types of their own with the same numbers")
    func states() {
        #expect(CBCentralManagerState.poweredOn.rawValue == CBManagerState.poweredOn.rawValue)
        #expect(CBPeripheralManagerState.unauthorized.rawValue == CBManagerState.unauthorized.rawValue)
        #expect(type(of: CBCentralManagerState.unknown as Any) != type(of: CBManagerState.unknown as Any))
    }

    @Test("A UUID of nothing equals its like alone")
    func emptyUUID() {
        #expect(CBUUID() == CBUUID())
        #expect(CBUUID() != CBUUID(string: "0000"))
        #expect(CBUUID().uuidString == "" && CBUUID().data.isEmpty)
    }

    @Test("A visit can be made, and its properties overridden, as tests of apps do")
    func visit() {
        final class Stay: CLVisit, @unchecked Sendable {
            override var arrivalDate: Date { Date(timeIntervalSince1970: 5) }
        }
        #expect(CLVisit().arrivalDate == .distantPast && CLVisit().departureDate == .distantFuture)
        let stay: CLVisit = Stay()
        #expect(stay.arrivalDate.timeIntervalSince1970 == 5)
    }
}
