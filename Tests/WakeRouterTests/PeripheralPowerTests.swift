import Testing
import WakeModel

@testable import WakeRouter

/// The app or the phone changes while the radio is off, and the radio comes back with what it was told before.
@Suite("Bluetooth, peripheral role, over the radio being off")
struct PeripheralPowerTests {
    private let client = Phone.client
    private let published = PeripheralRoleCommand.publish(Phone.client, Phone.battery, again: true)
    private let full = Phone.lampInFull
    private let reduced = Phone.lampReduced

    @Test(
        "BTP-3: an app without the mode that left the foreground while Bluetooth was off is not advertised when it is on"
    )
    func leftWhileOff() {
        var phone = Phone()
        let app = phone.publisher([])
        phone.happen(.bluetoothPoweredOff)
        phone.leave(app)
        phone.forget()
        phone.happen(.bluetoothPoweredOn)
        #expect(phone.airCommands == [published, .stopAdvertising(client), .setServing(client, false)])
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.airCommands == [.setServing(client, true), full])
    }

    @Test("BTP-3: an app without the mode that came forward while Bluetooth was off is served when it is on")
    func cameForwardWhileOff() {
        var phone = Phone()
        let app = phone.suspendedPublisher([])
        phone.happen(.bluetoothPoweredOff)
        phone.user(.launch, app)
        phone.forget()
        phone.happen(.bluetoothPoweredOn)
        #expect(phone.airCommands == [published, .setServing(client, true), full])
    }

    @Test("BTP-3, LAUNCH-5: what is preserved is served when the phone was unlocked while Bluetooth was off")
    func unlockedWhileOff() {
        var phone = Phone()
        _ = phone.terminatedPublisher()
        phone.hear(.phone(.reboot))
        #expect(phone.airCommands.last == .setServing(client, false))
        phone.turn(.bluetoothOffInControlCentre)
        phone.hear(.phone(.unlock))
        phone.forget()
        phone.turn(.bluetoothOn)
        #expect(phone.airCommands == [published, .setServing(client, true), reduced])
    }

    @Test("BTP-3: nothing is stopped of advertising that waits for the foreground")
    func waitsOverOff() {
        var phone = Phone()
        let app = phone.publisher([])
        phone.ask(app, .stopAdvertising)
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.ask(app, .startAdvertising(localName: "Lamp", services: [Phone.service]))
        phone.happen(.bluetoothPoweredOff)
        phone.forget()
        phone.happen(.bluetoothPoweredOn)
        #expect(phone.airCommands == [published, .setServing(client, false)])
    }
}
