import Testing
import WakeModel

@testable import WakeRouter

@Suite("The phone's power, network, switches and display")
struct PhoneConditionTests {
    @Test(
        "SYS-1: each switch of the phone turns what it is for, and back",
        arguments: [
            (PhoneChange.chargerConnected, PhoneChange.chargerDisconnected, PhoneConditions.externalPower),
            (.wifiJoined, .wifiLeft, .wifi), (.cellularOn, .cellularOff, .cellular),
            (.lowPowerModeOn, .lowPowerModeOff, .lowPowerMode),
            (.backgroundRefreshOff, .backgroundRefreshOn, .refreshOff),
            (.displayOn, .displayOff, .displayOn), (.airplaneModeOn, .airplaneModeOff, .airplaneMode),
        ]
    )
    func switches(on: PhoneChange, off: PhoneChange, condition: PhoneConditions) {
        var phone = Phone()
        phone.hear(.phone(off))
        #expect(!phone.router.conditions.contains(condition))
        phone.hear(.phone(on))
        #expect(phone.router.conditions.contains(condition))
        #expect(phone.router.conditions.subtracting(condition) == PhoneConditions.usual.subtracting(condition))
    }

    @Test("SYS-1: airplane mode takes Wi-Fi and mobile data away, and they are back after it")
    func airplaneMode() {
        var conditions = PhoneConditions.usual
        #expect(conditions.hasWifi && conditions.hasNetwork)
        conditions = conditions.after(.airplaneModeOn)
        #expect(!conditions.hasWifi && !conditions.hasNetwork)
        conditions = conditions.after(.airplaneModeOff)
        #expect(conditions.hasWifi && conditions.hasNetwork)
    }

    @Test("SYS-1: without Wi-Fi there is a network as long as there is mobile data")
    func cellular() {
        let conditions = PhoneConditions.usual.after(.wifiLeft)
        #expect(!conditions.hasWifi && conditions.hasNetwork)
        #expect(!conditions.after(.cellularOff).hasNetwork)
    }

    @Test("SYS-1: a phone is idle while its display is dark and nobody calls")
    func idle() {
        var phone = Phone()
        #expect(!phone.router.isIdle)
        phone.hear(.phone(.lock))
        #expect(phone.router.isIdle)
        phone.hear(.phone(.callBegan))
        #expect(!phone.router.isIdle)
        phone.hear(.phone(.callEnded))
        #expect(phone.router.isIdle)
        phone.hear(.phone(.displayOn))
        #expect(!phone.router.isIdle)
    }

    @Test("Background App Refresh is on for an app while it is for all and for this one")
    func refresh() {
        var phone = Phone()
        let app = phone.install()
        let other = phone.install()
        #expect(phone.router.refreshes(app))
        phone.user(.refuseRefresh, app)
        #expect(!phone.router.refreshes(app) && phone.router.refreshes(other))
        phone.user(.allowRefresh, app)
        phone.hear(.phone(.backgroundRefreshOff))
        #expect(!phone.router.refreshes(app) && !phone.router.refreshes(other))
        phone.hear(.phone(.backgroundRefreshOn))
        #expect(phone.router.refreshes(app))
    }

    @Test("SYS-1: a shutdown ends every process, and nobody hears of anything until the phone is on again")
    func shutDown() {
        var phone = Phone(passcode: false)
        let app = phone.install()
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.hear(.phone(.shutDown))
        #expect(phone.exits.map(\.cause) == [.system])
        phone.forget()
        phone.happen(.peripheralConnected, to: BluetoothClient(app: app, slot: 0))
        #expect(phone.verdicts == [.deny])
        #expect(phone.last?.reason == .phoneIsOff)
        #expect(phone.last?.rule == .sys1)
        #expect(phone.last?.wouldHave == .relaunch)
        phone.user(.launch, app)
        #expect(phone.router.state(of: app) == .notRunning)
        phone.hear(.phone(.boot))
        phone.user(.launch, app)
        #expect(phone.router.state(of: app) == .inactive)
    }

    @Test("SYS-1: a phone that is shut down does nothing but start")
    func onlyBoot() {
        var phone = Phone()
        phone.hear(.phone(.shutDown))
        for change in PhoneChange.allCases where change != .boot { phone.hear(.phone(change)) }
        #expect(phone.router.conditions.contains(.shutDown))
        phone.hear(.phone(.boot))
        #expect(!phone.router.conditions.contains(.shutDown))
    }

    @Test("SYS-1: a shutdown and a start are a restart, for whoever waits for the first unlock too")
    func shutDownAndBoot() {
        for changes in [[PhoneChange.reboot], [.shutDown, .boot]] {
            var phone = Phone()
            _ = phone.terminatedSubscriber()
            for change in changes { phone.hear(.phone(change)) }
            phone.forget()
            phone.notify()
            #expect(phone.last?.snapshot.unlockedSinceBoot == false)
        }
    }

    @Test("SYS-1: a start without a shutdown is nothing")
    func boot() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.hear(.phone(.boot))
        #expect(phone.router.state(of: app) == .suspended)
    }
}
