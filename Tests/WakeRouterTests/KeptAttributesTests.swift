import Testing
import WakeModel

@testable import WakeRouter

@Suite("Attributes that the phone keeps")
struct KeptAttributesTests {
    @Test("BTC-14: a change that the phone is not told of is no decision, and a deed of each app with a link")
    func untold() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        let other = phone.install()
        phone.open(other)
        phone.forget()
        let event = phone.happen(.servicesModified, attribute: Phone.heartRate, failed: true)
        #expect(phone.decisions.isEmpty)
        #expect(phone.actions == [.did(app, .keptAttributes, subject: Phone.belt, event)])
        phone.notify()
        #expect(phone.reasons == [.resumed])
    }

    @Test("BTC-14: an app that comes to such a link is the only one of whom it is said")
    func untoldToOne() {
        var phone = Phone()
        _ = phone.suspendedSubscriber()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.forget()
        let client = BluetoothClient(app: app, slot: 0)
        let event = phone.happen(.servicesModified, to: client, failed: true)
        #expect(phone.actions == [.did(app, .keptAttributes, subject: Phone.belt, event)])
    }

    @Test(
        "BTC-14: Bluetooth off in Settings and a restart clear the attributes that the phone keeps, and nothing else does",
        arguments: [
            (.bluetoothOff, true), (.reboot, true), (.shutDown, true), (.bluetoothOffInControlCentre, false),
            (.airplaneModeOn, false), (.airplaneModeOnKeepingBluetooth, false), (.lock, false),
        ] as [(PhoneChange, Bool)]
    )
    func forgets(change: PhoneChange, isForgotten: Bool) {
        var phone = Phone()
        _ = phone.suspendedSubscriber()
        phone.hear(.phone(change))
        #expect(phone.commands.contains(.forgetAttributes) == isForgotten)
    }
}
