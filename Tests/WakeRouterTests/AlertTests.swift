import Testing
import WakeModel

@testable import WakeRouter

@Suite("Alerts of Core Bluetooth")
struct AlertTests {
    private func alerts(_ phone: Phone) -> [AppID] {
        phone.actions.compactMap { if case .alert(let app, _, Phone.belt, _) = $0 { app } else { nil } }
    }

    /// The user opens an app, which asks for the belt with an option.
    private func asking(_ phone: inout Phone, _ options: ConnectOptions) -> AppID {
        let app = phone.install()
        phone.user(.launch, app)
        phone.report(app, .launched)
        phone.request(app, .createManager(1, restoreIdentifier: .none))
        phone.request(app, .connect(1, peripheral: Phone.belt, options: options))
        return app
    }

    @Test("BTC-9: a connection shows an alert to the user of a suspended app that asked for one")
    func connection() {
        for options in [ConnectOptions.alertsOnConnection, []] {
            var phone = Phone()
            let app = asking(&phone, options)
            phone.leave(app)
            phone.forget()
            phone.happen(.peripheralConnected)
            #expect(phone.verdicts == [.resume])
            #expect(alerts(phone) == (options.isEmpty ? [] : [app]))
        }
    }

    @Test("BTC-9: of two apps the suspended one shows the alert, though the user saw the running one last")
    func runningAppShowsNone() {
        var phone = Phone()
        let asleep = asking(&phone, .alertsOnNotification)
        phone.happen(.peripheralConnected)
        phone.request(asleep, .operate(1, peripheral: Phone.belt, .setNotify(Phone.heartRate, true)))
        phone.leave(asleep)
        let awake = asking(&phone, .alertsOnNotification)
        phone.happen(.peripheralConnected, to: BluetoothClient(app: awake, slot: 0))
        phone.request(awake, .operate(1, peripheral: Phone.belt, .setNotify(Phone.heartRate, true)))
        phone.user(.home, awake)
        #expect(phone.router.state(of: asleep) == .suspended)
        #expect(phone.router.state(of: awake) == .background)
        phone.forget()
        phone.notify()
        #expect(phone.verdicts == [.resume, .backgroundDeliver])
        #expect(alerts(phone) == [asleep])
    }
}
