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

    @Test("LAUNCH-2: a force-quit app is not launched for what came while it ended, and would have been")
    func forceQuit() {
        var phone = Phone()
        let app = phone.endingSubscriber()
        phone.notify()
        phone.report(app, .returned(.willTerminate))
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.forceQuit])
        #expect(phone.last?.rule == .launch2)
        #expect(phone.last?.wouldHave == .relaunch)
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("LAUNCH-2: a force quit is remembered with the user's action that made it")
    func forceQuitObserved() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.wait(.seconds(7))
        let swipe = phone.user(.forceQuit, app)
        let at = phone.now
        phone.wait(.seconds(1))
        phone.notify()
        phone.wait(.seconds(7))
        #expect(phone.last?.snapshot.forceQuit == true)
        #expect(phone.last?.snapshot.forceQuitAt == at)
        #expect(phone.last?.snapshot.forceQuitBy == swipe)
    }

    @Test("LAUNCH-2: a swiped app's belt is let go, and what it says is for nobody", arguments: [true, false])
    func forceQuitLetsGo(suspended: Bool) {
        var phone = Phone()
        let app = suspended ? phone.suspendedSubscriber() : phone.endingSubscriber()
        if suspended { phone.user(.forceQuit, app) } else { phone.report(app, .returned(.willTerminate)) }
        #expect(phone.commands == [.release(BluetoothClient(app: app, slot: 0))])
        phone.notify()
        phone.happen(.peripheralDisconnected)
        #expect(phone.reasons == [.noRegistration, .noRegistration])
        #expect(phone.router.preservedRestoreIdentifiers(of: app).central == [])
    }

    @Test("LAUNCH-2: requests, scans and watches of a swiped app end with it, with and without a process")
    func forceQuitEndsRequests() {
        for purged in [false, true] {
            var phone = Phone()
            let app = phone.install()
            phone.open(app)
            phone.request(app, .connect(1, peripheral: Phone.belt))
            phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
            phone.request(app, .watchConnections(1, peripherals: [Phone.belt], services: []))
            phone.leave(app)
            if purged { phone.hear(.terminate(app, .memory)) }
            phone.forget()
            phone.user(.forceQuit, app)
            let client = BluetoothClient(app: app, slot: 0)
            #expect(phone.commands == [.release(client)])
            phone.forget()
            phone.sight()
            phone.happen(.peripheralConnected)
            phone.happen(.connectionEvent, to: client)
            #expect(phone.reasons == [.noRegistration, .noRegistration, .noRegistration])
            phone.forget()
            phone.hear(.phone(.reboot))
            phone.hear(.phone(.unlock))
            #expect(phone.commands == [.forgetAttributes])
        }
    }

    @Test("LAUNCH-2: another app that holds the belt of a swiped one goes on hearing of it, and it alone")
    func forceQuitLeavesOthers() {
        var phone = Phone()
        let swiped = phone.suspendedSubscriber()
        let other = phone.install()
        phone.open(other)
        phone.subscribe(other)
        phone.user(.forceQuit, swiped)
        phone.forget()
        phone.notify()
        #expect(phone.decisions.map(\.app) == [other])
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("LAUNCH-2: a swiped app that the user launches starts with nothing of before")
    func forceQuitRestoresNothing() {
        var phone = Phone()
        let app = phone.terminatedSubscriber(cause: .userForceQuit)
        phone.open(app)
        let restored = phone.actions.contains { if case .tell(_, .restore) = $0 { true } else { false } }
        #expect(!restored)
        phone.forget()
        phone.notify()
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("LAUNCH-2, LAUNCH-3: what a swiped app makes when a fence brings it back goes with its process, too")
    func barredAppLetsGo() {
        var phone = Phone()
        let app = phone.suspendedMonitor([.bluetoothCentral])
        phone.user(.forceQuit, app)
        phone.enter()
        phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.forget()
        phone.hear(.terminate(app, .memory))
        phone.report(app, .returned(.willTerminate))
        #expect(phone.commands == [.release(BluetoothClient(app: app, slot: 0))])
    }

    @Test("LAUNCH-2: where the switch is off a force quit is an end as any other")
    func forceQuitWithoutBar() {
        var profile = Profile.ios17
        profile.forceQuitBars = false
        var phone = Phone(profile)
        _ = phone.terminatedSubscriber(cause: .userForceQuit)
        phone.notify()
        #expect(phone.reasons == [.relaunched])
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
        var profile = Profile.ios26
        profile.rebootLiftsForceQuit = lifts
        profile.areas.location.liftsForceQuit = false
        var phone = Phone(profile)
        let app = phone.suspendedMonitor()
        phone.user(.forceQuit, app)
        phone.hear(.phone(.reboot))
        phone.hear(.phone(.unlock))
        phone.forget()
        phone.enter()
        #expect(phone.last?.reason == (lifts ? .relaunched : .forceQuit))
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

    /// An app that waits for the belt, on a phone that was restarted and is locked; nothing before counts.
    private func rebooted(_ phone: inout Phone) -> AppID {
        let app = phone.install()
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.leave(app)
        phone.hear(.phone(.reboot))
        phone.forget()
        return app
    }

    @Test(
        "LAUNCH-5: a connection that came up while locked is decided anew at the first unlock",
        arguments: [true, false]
    )
    func connectedWhileLocked(removesPasscode: Bool) {
        var phone = Phone()
        let app = rebooted(&phone)
        let event = phone.happen(.peripheralConnected)
        #expect(phone.reasons == [.beforeFirstUnlock])
        let denial = phone.last!.id
        phone.hear(.phone(removesPasscode ? .removePasscode : .unlock))
        #expect(phone.reasons == [.beforeFirstUnlock, .relaunched])
        #expect(phone.last?.event == event)
        #expect(phone.last?.supersedes == denial)
        phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
        #expect(phone.delivered == [event])
        let state = RestoredState(
            peripherals: [.init(name: Phone.belt, connected: true, subscriptions: [])],
            scanServices: nil,
            scanAllowsDuplicates: false
        )
        #expect(phone.actions.contains(.tell(app, .restore(1, state))))
        #expect(phone.actions.filter { $0 == .keep(app, event) }.count == 2)
        #expect(phone.actions.filter { $0 == .discard(app, event) }.count == 2)
    }

    @Test("LAUNCH-5: what came while locked is decided once, in its order, and a second unlock repeats nothing")
    func lockedInOrder() {
        var phone = Phone()
        _ = rebooted(&phone)
        let connected = phone.happen(.peripheralConnected)
        let disconnected = phone.happen(.peripheralDisconnected)
        phone.forget()
        phone.hear(.phone(.unlock))
        #expect(phone.decisions.map(\.event) == [connected, disconnected])
        #expect(phone.verdicts == [.relaunch, .backgroundDeliver])
        phone.hear(.phone(.lock))
        phone.hear(.phone(.unlock))
        #expect(phone.decisions.count == 2)
    }

    @Test("LAUNCH-5: a crossing and a significant change that came while locked are decided anew at the first unlock")
    func locationWhileLocked() {
        var phone = Phone()
        let app = phone.locating()
        phone.fix(5_000)
        phone.locate(app, .startSignificant)
        phone.locate(app, .monitor(phone.circle()))
        phone.leave(app)
        phone.hear(.phone(.reboot))
        phone.wait(phone.router.profile.areas.location.significantInterval)
        phone.forget()
        phone.enter()
        let denied = phone.decisions.filter { $0.reason == .beforeFirstUnlock }.map(\.kind)
        #expect(Set(denied) == [.regionEntered, .significantChange])
        phone.forget()
        phone.hear(.phone(.unlock))
        #expect(phone.kinds == denied)
        #expect(phone.verdicts.first == .relaunch)
        #expect(phone.verdicts.filter { !$0.delivers }.isEmpty)
    }

    @Test("LAUNCH-5: what could not have woken the app does not wait for the unlock, and pushes nothing out")
    func fixesDoNotWait() {
        var phone = Phone()
        let app = phone.locating()
        phone.fix(5_000)
        phone.locate(app, .monitor(phone.circle()))
        phone.startUpdating(app)
        phone.leave(app)
        phone.hear(.phone(.reboot))
        phone.enter()
        for metres in 1...1_100 { phone.fix(Double(metres) / 2) }
        phone.forget()
        phone.hear(.phone(.unlock))
        #expect(phone.kinds == [.regionEntered])
        #expect(phone.verdicts == [.relaunch])
    }

    @Test(
        "LAUNCH-5, LOC-1: of the changes before the unlock the newest is given, and the next counts from where it was"
    )
    func newestChangeWaits() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .startSignificant)
        phone.leave(app)
        phone.hear(.phone(.reboot))
        for metres in [5_000.0, 6_000] {
            phone.wait(.seconds(300))
            phone.fix(metres)
        }
        phone.fix(6_600)
        phone.forget()
        phone.hear(.phone(.unlock))
        #expect(phone.kinds == [.significantChange])
        #expect(phone.verdicts == [.relaunch])
        phone.wait(.seconds(300))
        phone.forget()
        phone.fix(6_510)
        #expect(phone.decisions(about: .significantChange).count == 1)
    }

    @Test("LAUNCH-5, LAUNCH-8: a user launch before the first unlock delivers what came while locked")
    func userLaunchWhileLocked() {
        var phone = Phone()
        let app = rebooted(&phone)
        let event = phone.happen(.peripheralConnected)
        phone.forget()
        phone.open(app)
        #expect(phone.verdicts == [.foregroundDeliver])
        #expect(phone.delivered == [event])
        phone.hear(.phone(.unlock))
        #expect(phone.decisions.count == 1)
    }

    @Test("LAUNCH-5: another restart, the app's removal and its force quit end what waits for the unlock")
    func waitsNoMore() {
        for end in [Input.phone(.reboot), .uninstall(AppID(0)), .user(AppID(0), .forceQuit)] {
            var phone = Phone()
            let app = rebooted(&phone)
            let event = phone.happen(.peripheralConnected)
            phone.hear(end)
            #expect(phone.actions.contains(.discard(app, event)))
            phone.forget()
            phone.hear(.phone(.unlock))
            #expect(phone.decisions.allSatisfy { $0.event != event })
        }
    }

    @Test("LAUNCH-5, BTC-7: a manager without restore identifier goes at the relaunch, with what waited for it")
    func lockedWithoutIdentifier() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .createManager(2, restoreIdentifier: .none))
        let other = NameID(11)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.request(app, .connect(2, peripheral: other))
        phone.leave(app)
        phone.hear(.phone(.reboot))
        phone.happen(.peripheralConnected)
        let lost = phone.hear(.event(WakeEvent(kind: .peripheralConnected, peripheral: other)))
        phone.forget()
        phone.hear(.phone(.unlock))
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.actions.contains(.discard(app, lost)))
    }

    @Test("LAUNCH-5, SYS-2: what waits for the unlock outlives a restart of the bench")
    func waitsOverRestart() throws {
        var phone = Phone()
        _ = rebooted(&phone)
        let event = phone.happen(.peripheralConnected)
        phone.router = try Router(snapshot: phone.router.snapshot, profile: .ios17)
        phone.forget()
        phone.hear(.benchRestarted)
        phone.hear(.phone(.unlock))
        #expect(phone.decisions.map(\.event) == [event])
        #expect(phone.verdicts == [.relaunch])
    }

    @Test("LAUNCH-5: as much waits for the unlock as for a process, and the oldest gives way")
    func boundedUntilUnlock() {
        var phone = Phone()
        let app = phone.locating()
        phone.fix(0)
        phone.locate(app, .startVisits)
        phone.leave(app)
        phone.hear(.phone(.reboot))
        let first = phone.hear(.event(WakeEvent(kind: .visitBegan)))
        for _ in 0..<1_024 { phone.hear(.event(WakeEvent(kind: .visitBegan))) }
        #expect(phone.actions.contains(.discard(app, first)))
        phone.forget()
        phone.hear(.phone(.unlock))
        #expect(phone.decisions.count == 1_024)
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

    @Test("SYS-4: a phone without a passcode is unlocked from its restart on, and records say since when")
    func unlockedAtReboot() {
        var phone = Phone(passcode: false)
        let app = phone.suspendedSubscriber()
        phone.wait(.seconds(60))
        phone.hear(.phone(.reboot))
        phone.open(app)
        phone.subscribe(app)
        phone.notify()
        #expect(phone.last?.snapshot.unlockedAt == phone.now)
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
        let restores = phone.actions.contains { if case .tell(_, .restore) = $0 { true } else { false } }
        #expect(!restores)
        // The same app, ended by the system, has its state restored.
        phone.subscribe(app)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.forget()
        phone.open(app)
        #expect(phone.actions.contains { if case .tell(_, .restore) = $0 { true } else { false } })
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
