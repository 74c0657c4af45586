import CoreBluetooth
import Foundation
import Testing

@Suite("Core Bluetooth's values")
struct ErrorTests {
    /// The kinds of question that code asks of an error that came as `Error?`.
    private func kind(_ error: (any Error)?) -> String {
        switch error {
        case CBError.connectionTimeout?: "timeout"
        case CBATTError.readNotPermitted?: "unreadable"
        case let error as CBError where error.code == .peripheralDisconnected: "gone"
        case .some: "other"
        case nil: "none"
        }
    }

    @Test("An error is found by pattern, by cast, and as an NSError with its domain, code and text")
    func bridging() throws {
        let error: any Error = CBError(.connectionTimeout, userInfo: [NSLocalizedDescriptionKey: "slow"])
        #expect(kind(error) == "timeout")
        #expect(kind(CBATTError(.readNotPermitted)) == "unreadable")
        #expect(kind(CBError(.peripheralDisconnected)) == "gone")
        #expect(kind(CBATTError(.invalidHandle)) == "other")
        #expect(kind(nil) == "none")
        let bridged = error as NSError
        #expect(bridged.domain == CBErrorDomain)
        #expect(bridged.code == 6)
        #expect(bridged.localizedDescription == "slow")
        #expect(error.localizedDescription == "slow")
        #expect(CBError(_nsError: bridged).code == .connectionTimeout)
        #expect((error as? CBError)?.code == .connectionTimeout)
        #expect((error as? CBATTError) == nil)
    }

    @Test("An application's own ATT error keeps its number")
    func applicationError() {
        let error = CBATTError(_nsError: NSError(domain: CBATTErrorDomain, code: 0x80))
        #expect(error.errorCode == 0x80)
        #expect((error as NSError).code == 0x80)
    }

    @Test("The values of an advertisement cast as on a phone")
    func casts() {
        let data: [String: Any] = [
            CBAdvertisementDataIsConnectable: NSNumber(value: true),
            CBAdvertisementDataTxPowerLevelKey: NSNumber(value: 4),
        ]
        #expect(data[CBAdvertisementDataIsConnectable] as? Bool == true)
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? Int == 4)
        let options: [String: Any] = [CBCentralManagerOptionShowPowerAlertKey: true]
        #expect(options[CBCentralManagerOptionShowPowerAlertKey] as? NSNumber == 1)
    }

    @Test("UUIDs are equal when they stand for the same bits, and are keys")
    func uuids() {
        let short = CBUUID(string: "180D")
        let long = CBUUID(string: "0000180D-0000-1000-8000-00805F9B34FB")
        #expect(short == long)
        #expect([short: 1][long] == 1)
    }
}
