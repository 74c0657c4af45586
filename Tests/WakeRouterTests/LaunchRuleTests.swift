import Testing
import WakeModel

@testable import WakeRouter

@Suite("Background launches")
struct LaunchRuleTests {
    @Test(
        "LAUNCH-1: an app that ended in any way but a force quit is launched for its event",
        arguments: ExitCause.allCases.filter { $0 != .userForceQuit }
    )
    func relaunched(cause: ExitCause) {
        var phone = Phone()
        let app = phone.terminatedSubscriber(cause: cause)
        phone.notify()
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.reasons == [.relaunched])
        #expect(phone.last?.rule == .launch1)
        #expect(phone.router.state(of: app) == .background)
    }

    @Test("LAUNCH-2: a force-quit app is not launched, and would have been")
    func forceQuit() {
        var phone = Phone()
        let app = phone.terminatedSubscriber(cause: .userForceQuit)
        phone.notify()
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.forceQuit])
        #expect(phone.last?.rule == .launch2)
        #expect(phone.last?.wouldHave == .relaunch)
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("LAUNCH-2: a force quit is remembered with the user's action that made it")
    func forceQuitObserved() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.wait(.seconds(7))
        let swipe = phone.user(.forceQuit, app)
        let at = phone.now
        phone.wait(.seconds(7))
        phone.notify()
        #expect(phone.last?.snapshot.forceQuit == true)
        #expect(phone.last?.snapshot.forceQuitAt == at)
        #expect(phone.last?.snapshot.forceQuitBy == swipe)
    }

    @Test("LAUNCH-2: a user launch lifts the bar")
    func userLaunchLifts() {
        var phone = Phone()
        let app = phone.terminatedSubscriber(cause: .userForceQuit)
        phone.open(app)
        phone.subscribe(app)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.forget()
        phone.notify()
        #expect(phone.verdicts == [.relaunch])
    }

    @Test("LAUNCH-2: a force quit takes back a tap on the icon that came while the app was ending")
    func forceQuitTakesBackLaunch() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.hear(.terminate(app, .memory))
        phone.user(.launch, app)
        phone.user(.forceQuit, app)
        phone.report(app, .returned(.willTerminate))
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("LAUNCH-2: before iOS 7 a force quit bars nothing")
    func forceQuitBeforeSeven() {
        var phone = Phone(.ios6)
        _ = phone.terminatedSubscriber(cause: .userForceQuit)
        phone.notify()
        #expect(phone.last?.checks[.notForceQuit] == .notApplicable)
        #expect(phone.reasons == [.noRestoreIdentifier])
    }

    @Test("LAUNCH-4: a reboot lifts the bar of a force quit, where the switch says so", arguments: [true, false])
    func rebootLifts(lifts: Bool) {
        var profile = Profile.ios17
        profile.rebootLiftsForceQuit = lifts
        var phone = Phone(profile)
        let app = phone.install()
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.leave(app)
        phone.user(.forceQuit, app)
        phone.hear(.phone(.reboot))
        phone.hear(.phone(.unlock))
        phone.forget()
        phone.happen(.peripheralConnected)
        #expect(phone.reasons == [lifts ? .relaunched : .forceQuit])
    }

    @Test("LAUNCH-5: with a passcode nothing is launched between boot and the first unlock")
    func beforeFirstUnlock() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.hear(.phone(.reboot))
        phone.forget()
        phone.happen(.peripheralConnectionFailed, to: BluetoothClient(app: app, slot: 0))
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.beforeFirstUnlock])
        #expect(phone.last?.rule == .launch5)
        #expect(phone.last?.wouldHave == .relaunch)
    }

    @Test("LAUNCH-5: without a passcode a rebooted phone launches at once")
    func withoutPasscode() {
        var phone = Phone(passcode: false)
        let app = phone.install()
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.hear(.phone(.reboot))
        phone.forget()
        phone.happen(.peripheralConnected)
        #expect(phone.verdicts == [.relaunch])
    }

    @Test("LAUNCH-5: a sighting denied before the first unlock is looked for again after it")
    func scanAfterUnlock() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.hear(.phone(.reboot))
        phone.sight()
        #expect(phone.reasons == [.beforeFirstUnlock])
        phone.forget()
        phone.hear(.phone(.unlock))
        let client = BluetoothClient(app: app, slot: 0)
        #expect(phone.commands == [.scan(client, services: [Phone.service], allowDuplicates: false)])
        phone.sight()
        #expect(phone.reasons == [.relaunched])
    }

    @Test("LAUNCH-6: an event that nobody registered for is one record without an app")
    func nobody() {
        var phone = Phone()
        _ = phone.install()
        _ = phone.install()
        phone.notify()
        #expect(phone.decisions.count == 1)
        #expect(phone.last?.app == AppID.none)
        #expect(phone.last?.reason == .noRegistration)
        #expect(phone.last?.rule == .launch6)
    }

    @Test("LAUNCH-6: an app that registered for something else has no record")
    func registeredForSomethingElse() {
        var phone = Phone()
        _ = phone.suspendedSubscriber()
        phone.happen(.characteristicNotified, attribute: 0x99)
        #expect(phone.decisions.map(\.app) == [AppID.none])
    }

    @Test("LAUNCH-7: the event and the decision are handed to a resumed app")
    func causeOfResume() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        let event = phone.notify()
        #expect(phone.actions.contains(.deliver(app, manager: 1, event, phone.last!.id)))
    }

    @Test("LAUNCH-8: a user launch delivers at once what waited, oldest first")
    func userLaunchDelivers() {
        var phone = Phone()
        let app = phone.suspendedSubscriber([])
        let first = phone.notify()
        let second = phone.notify()
        #expect(phone.verdicts == [.defer, .defer])
        phone.user(.launch, app)
        #expect(phone.delivered == [first, second])
        #expect(phone.verdicts.suffix(2) == [.foregroundDeliver, .foregroundDeliver])
        #expect(phone.reasons.suffix(2) == [.deliveredLater, .deliveredLater])
        #expect(phone.decisions.suffix(2).map(\.supersedes) == phone.decisions.prefix(2).map(\.id))
    }

    @Test("LAUNCH-8, BTC-2: what waited is delivered when another event resumes the app")
    func resumeDelivers() {
        var phone = Phone()
        let app = phone.install([.voip])
        phone.open(app)
        phone.subscribe(app)
        phone.voip(app, .watch(1, peer: Phone.server))
        phone.leave(app)
        phone.forget()
        let waited = phone.notify()
        #expect(phone.verdicts == [.defer])
        let call = phone.call(app)
        #expect(phone.delivered == [waited, call])
        #expect(phone.verdicts == [.defer, .resume, .backgroundDeliver])
        #expect(phone.reasons.last == .deliveredLater)
        #expect(phone.last?.supersedes == phone.decisions.first?.id)
    }

    @Test("LAUNCH-5: removing the passcode before the first unlock is that unlock")
    func passcodeRemoved() {
        var phone = Phone()
        let app = phone.install([.bluetoothCentral])
        let caller = phone.install([.voip])
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.hear(.phone(.reboot))
        #expect(phone.verdicts == [])
        phone.hear(.phone(.removePasscode))
        #expect(phone.decisions.map(\.app) == [caller])
        #expect(phone.reasons == [.launchedAfterBoot])
        phone.hear(.phone(.setPasscode))
        phone.forget()
        phone.happen(.peripheralConnected)
        #expect(phone.verdicts == [.relaunch])
    }

    @Test("LAUNCH-2, BTC-6: nothing is restored when the user launches an app that was force-quit")
    func nothingRestoredAfterForceQuit() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.user(.forceQuit, app)
        phone.forget()
        phone.open(app)
        let restores = phone.actions.contains { if case .restore = $0 { true } else { false } }
        #expect(!restores)
        // The same app, ended by the system, has its state restored.
        phone.subscribe(app)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.forget()
        phone.open(app)
        #expect(phone.actions.contains { if case .restore = $0 { true } else { false } })
    }

    @Test("OPT-1: an app that exits on suspend is told, ends, and never enters the background")
    func exitsOnSuspend() {
        var phone = Phone()
        let app = phone.install(exitsOnSuspend: true)
        phone.open(app)
        phone.forget()
        phone.user(.home, app)
        #expect(phone.callbacks == [.willResignActive, .willTerminate])
        phone.wait(.seconds(5))
        #expect(phone.moves == [.inactive, .notRunning])
        #expect(phone.exits.map(\.cause) == [.exit])
    }

    @Test("OPT-2: an app that exits on suspend is not launched in the background")
    func noLaunchForExitsOnSuspend() {
        var phone = Phone()
        let app = phone.install(exitsOnSuspend: true)
        phone.open(app)
        phone.subscribe(app)
        phone.user(.home, app)
        phone.wait(.seconds(5))
        phone.forget()
        phone.notify()
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.exitsOnSuspend])
        #expect(phone.last?.rule == .opt2)
    }
}
