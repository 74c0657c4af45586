import Testing
import WakeModel

@testable import WakeRouter

@Suite("Options of a connection, watched connections and channels")
struct ConnectOptionTests {
    private static let other = NameID(11)

    /// An app that asked for the belt with options, is connected, and is suspended.
    private func suspended(
        _ options: ConnectOptions,
        _ profile: Profile = .ios17,
        modes: [BackgroundMode] = [.bluetoothCentral]
    ) -> (Phone, AppID) {
        var phone = Phone(profile)
        let app = connected(&phone, options, modes: modes)
        phone.leave(app)
        phone.forget()
        return (phone, app)
    }

    private func connected(
        _ phone: inout Phone,
        _ options: ConnectOptions,
        modes: [BackgroundMode] = [.bluetoothCentral]
    ) -> AppID {
        let app = phone.install(modes)
        phone.user(.launch, app)
        phone.report(app, .launched)
        phone.request(app, .createManager(1, restoreIdentifier: .none))
        phone.request(app, .connect(1, peripheral: Phone.belt, options: options))
        phone.happen(.peripheralConnected)
        return app
    }

    private func alerts(_ phone: Phone) -> [AppID] {
        phone.actions.compactMap { if case .alert(let app, _, Phone.belt, _) = $0 { app } else { nil } }
    }

    // MARK: BTC-11

    /// Of each delivery, whether the app hears that the system connects again.
    private func reconnections(_ phone: Phone) -> [Bool] {
        phone.actions.compactMap { if case .deliver(_, _, _, _, let reconnects) = $0 { reconnects } else { nil } }
    }

    @Test("BTC-11: the system connects again after link loss, and the app hears that it does")
    func reconnects() {
        var (phone, app) = suspended(.reconnects)
        phone.happen(.peripheralDisconnected, failed: true)
        #expect(phone.verdicts == [.resume])
        #expect(phone.commands == [.connect(BluetoothClient(app: app, slot: 0), peripheral: Phone.belt)])
        #expect(reconnections(phone) == [true])
        phone.happen(.peripheralConnected)
        #expect(phone.verdicts == [.resume, .backgroundDeliver])
    }

    @Test("BTC-11: without the option, and before iOS 17, nothing is connected again", arguments: [true, false])
    func doesNotReconnect(old: Bool) {
        var (phone, _) = suspended(old ? .reconnects : [], old ? .ios13 : .ios17)
        phone.happen(.peripheralDisconnected, failed: true)
        #expect(phone.commands.isEmpty)
        #expect(!reconnections(phone).contains(true))
    }

    @Test("BTC-11: an app that cancels is not connected again, and subscriptions do not outlive the link")
    func cancelled() {
        var phone = Phone()
        let app = connected(&phone, .reconnects)
        let client = BluetoothClient(app: app, slot: 0)
        phone.request(app, .operate(1, peripheral: Phone.belt, .setNotify(Phone.heartRate, true)))
        phone.happen(.peripheralDisconnected, failed: true)
        phone.happen(.peripheralConnected)
        phone.forget()
        phone.happen(.characteristicNotified, attribute: Phone.heartRate)
        #expect(phone.delivered.isEmpty)
        phone.request(app, .cancelConnection(1, peripheral: Phone.belt))
        phone.forget()
        phone.happen(.peripheralDisconnected, to: client)
        #expect(phone.commands.isEmpty)
        #expect(!reconnections(phone).contains(true))
    }

    // MARK: BTC-9

    static let alerting: [(ConnectOptions, EventKind)] = [
        (.alertsOnDisconnection, .peripheralDisconnected), (.alertsOnNotification, .characteristicNotified),
    ]

    @Test("BTC-9: an alert is shown for a suspended app that asked for it, and for no other", arguments: alerting)
    func alert(option: ConnectOptions, kind: EventKind) {
        for options in [option, []] {
            var phone = Phone()
            let app = connected(&phone, options, modes: [])
            phone.request(app, .operate(1, peripheral: Phone.belt, .setNotify(Phone.heartRate, true)))
            phone.leave(app)
            phone.forget()
            phone.happen(kind, attribute: kind == .characteristicNotified ? Phone.heartRate : 0, failed: true)
            #expect(alerts(phone) == (options.isEmpty ? [] : [app]))
        }
    }

    @Test("BTC-9: an app that runs shows its own alerts")
    func runningApp() {
        var phone = Phone()
        _ = connected(&phone, .alertsOnDisconnection)
        phone.happen(.peripheralDisconnected, failed: true)
        #expect(alerts(phone).isEmpty)
    }

    @Test("BTC-9: of two apps the one that the user saw last shows the alert")
    func lastSeen() {
        var phone = Phone()
        let first = connected(&phone, .alertsOnDisconnection, modes: [])
        phone.leave(first)
        let second = connected(&phone, .alertsOnDisconnection, modes: [])
        phone.leave(second)
        phone.forget()
        phone.happen(.peripheralDisconnected, failed: true)
        #expect(alerts(phone) == [second])
    }

    // MARK: Watched connections

    @Test("A watched connection wakes the app that watches, until it stops")
    func watched() {
        var phone = Phone()
        let app = phone.install()
        let client = BluetoothClient(app: app, slot: 0)
        phone.user(.launch, app)
        phone.report(app, .launched)
        phone.request(app, .createManager(1, restoreIdentifier: .none))
        phone.forget()
        phone.request(app, .watchConnections(1, peripherals: [], services: [Phone.service]))
        #expect(phone.commands == [.watchConnections(client, peripherals: [], services: [Phone.service])])
        phone.leave(app)
        phone.forget()
        phone.happen(.connectionEvent, to: client)
        #expect(phone.verdicts == [.resume])
        #expect(phone.last?.snapshot.via == .watchedConnection)
        phone.request(app, .watchConnections(1, peripherals: [], services: []))
        phone.forget()
        phone.happen(.connectionEvent, to: client)
        #expect(phone.reasons == [.noRegistration])
    }

    // MARK: Channels

    @Test("BTC-1: data on a channel wakes a suspended app, and none whose link is gone")
    func channelData() {
        var (phone, app) = suspended([])
        let client = BluetoothClient(app: app, slot: 0)
        phone.happen(.channelDataAvailable, to: client)
        #expect(phone.verdicts == [.resume])
        #expect(phone.last?.rule == .life4)
        phone.happen(.peripheralDisconnected, failed: true)
        phone.forget()
        phone.happen(.channelDataAvailable, to: client)
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("BTC-13: with the switch off data on a channel waits for a suspended app, and is given when it runs")
    func channelDataWaits() {
        var profile = Profile.ios17
        profile.areas.bluetooth.channelDataWakes = false
        var (phone, app) = suspended([], profile)
        let event = phone.happen(.channelDataAvailable, to: BluetoothClient(app: app, slot: 0))
        #expect(phone.verdicts == [.defer])
        #expect(phone.reasons == [.channelWakesNobody])
        phone.user(.launch, app)
        #expect(phone.delivered == [event])
        #expect(phone.last?.rule == .btc13)
        phone.forget()
        phone.happen(.channelDataAvailable, to: BluetoothClient(app: app, slot: 0))
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("BTC-12: that there is room to write again wakes no suspended app, and is told in its next wake")
    func readiness() {
        var (phone, app) = suspended([])
        let event = phone.happen(.readyToWrite, to: BluetoothClient(app: app, slot: 0))
        #expect(phone.verdicts == [.defer])
        #expect(phone.reasons == [.readinessWakesNobody])
        #expect(phone.router.state(of: app) == .suspended)
        phone.happen(.channelDataAvailable, to: BluetoothClient(app: app, slot: 0))
        #expect(phone.delivered.first == event)
        #expect(phone.decisions.contains { $0.event == event && $0.verdict == .backgroundDeliver && $0.rule == .btc12 })
    }

    @Test("BTC-12: that there is room to write again gives a running app no time")
    func readinessGivesNoTime() {
        var (phone, app) = suspended([])
        phone.happen(.channelDataAvailable, to: BluetoothClient(app: app, slot: 0))
        phone.wait(.seconds(9))
        phone.happen(.readyToWrite, to: BluetoothClient(app: app, slot: 0))
        #expect(phone.verdicts == [.resume, .backgroundDeliver])
        phone.wait(.seconds(1))
        #expect(phone.router.isFreezing(app))
    }

    @Test("Opening a channel needs a connection, and is answered to who asked")
    func openChannel() {
        var phone = Phone()
        let app = connected(&phone, [])
        phone.forget()
        phone.request(app, .operate(1, peripheral: Self.other, .openChannel(psm: 0x80)))
        #expect(phone.faults == [.notConnected])
        let client = BluetoothClient(app: app, slot: 0)
        phone.request(app, .operate(1, peripheral: Phone.belt, .openChannel(psm: 0x80)))
        #expect(phone.commands == [.operate(client, peripheral: Phone.belt, .openChannel(psm: 0x80))])
        phone.happen(.channelOpened, to: client)
        #expect(phone.delivered.count == 1)
    }
}
