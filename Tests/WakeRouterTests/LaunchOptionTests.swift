import Testing
import WakeModel

@testable import WakeRouter

@Suite("What a launch names")
struct LaunchOptionTests {
    /// What the launch of an app names that has managers of both roles and watches a circle, and whose process is gone.
    private func named(by happen: (inout Phone, AppID) -> Void) -> RestoreIdentifiers? {
        var phone = Phone()
        let app = phone.publisher([.bluetoothPeripheral, .bluetoothCentral])
        phone.request(app, .createManager(2, restoreIdentifier: NameID(31)))
        phone.subscribe(app, manager: 2, slot: 1)
        phone.locate(app, .create, manager: 3)
        phone.locate(app, .requestAuthorization(always: true), manager: 3)
        phone.fix(5_000)
        phone.locate(app, .monitor(phone.circle()), manager: 3)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.forget()
        happen(&phone, app)
        let launches = phone.actions.compactMap { action in
            if case .launch(_, _, _, _, _, let restores) = action { restores } else { nil }
        }
        return launches.count == 1 ? launches[0] : nil
    }

    @Test("LIFE-4: a launch for an event of a central names the central managers alone")
    func central() {
        let names = named { phone, _ in phone.notify() }
        #expect(names == RestoreIdentifiers(central: [NameID(31)]))
    }

    @Test("LIFE-4: a launch for an event of a peripheral names the peripheral managers alone")
    func peripheral() {
        let names = named { phone, _ in phone.read(7) }
        #expect(names == RestoreIdentifiers(peripheral: [Phone.identifier]))
        let channel = named { phone, _ in phone.hear(.channelOpened, local: 0) }
        #expect(channel == RestoreIdentifiers(peripheral: [Phone.identifier]))
    }

    @Test("LIFE-4: a launch for a position names no manager of Bluetooth, though some wait to be made again")
    func otherSource() {
        #expect(named { phone, _ in phone.enter() } == RestoreIdentifiers())
    }

    @Test("LIFE-4: a launch by the user names no manager")
    func byUser() {
        #expect(named { phone, app in phone.user(.launch, app) } == RestoreIdentifiers())
    }
}
