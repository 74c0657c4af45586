import Testing
import WakeModel

@testable import WakeRouter

@Suite("Lifecycle")
struct LifecycleRuleTests {
    @Test("LIFE-1: an illegal move stops the program")
    func illegalMove() async {
        await #expect(processExitsWith: .failure) {
            var life = AppLifecycle()
            _ = life.enter(.suspended, at: .zero)
        }
    }

    @Test("LIFE-1: an app the user launches is inactive, then active")
    func userLaunch() {
        var phone = Phone()
        let app = phone.install()
        #expect(phone.router.state(of: app) == .notRunning)
        phone.open(app)
        #expect(phone.moves == [.inactive, .active])
        #expect(phone.callbacks == [.didBecomeActive])
    }

    @Test("LIFE-1: a cover makes an app inactive, and its going makes it active")
    func interruption() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.forget()
        phone.user(.interrupt, app)
        phone.user(.resumeActive, app)
        #expect(phone.moves == [.inactive, .active])
        #expect(phone.callbacks == [.willResignActive, .didBecomeActive])
    }

    @Test("MODE-3: a bundle that is refused is told with its key, and changes nothing of the app")
    func refusedBundle() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.forget()
        let key = NameID(900)
        let event = phone.hear(.refuseUpdate(app, key: key))
        #expect(phone.actions == [.did(app, .refusedBundle, subject: key, event)])
        #expect(phone.router.state(of: app) == .active)
    }

    @Test("LIFE-10: another version ends the process with the cause update, and its modes count")
    func updated() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.hear(.update(app, AppManifest(bundle: NameID(1), modes: BackgroundModes([.audio]))))
        phone.report(app, .returned(.willTerminate))
        #expect(phone.exits.map(\.cause) == [.update])
        #expect(phone.router.apps[app].snapshot.modes == BackgroundModes([.audio]))
    }

    @Test("LIFE-2: leaving the foreground is told in order")
    func leaving() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.forget()
        phone.user(.home, app)
        #expect(phone.callbacks == [.willResignActive, .didEnterBackground])
        #expect(phone.moves == [.inactive, .background])
    }

    @Test("LIFE-2: an app that does not return from didEnterBackground in 5 s is killed with 0x8badf00d")
    func leavingTooSlowly() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.user(.home, app)
        phone.wait(.milliseconds(4_999))
        #expect(phone.exits == [])
        phone.wait(.milliseconds(1))
        #expect(phone.exits.map(\.code) == [0x8bad_f00d])
        #expect(phone.exits.map(\.cause) == [.watchdog])
    }

    @Test("LIFE-3: with nothing to hold it an app in the background is frozen, then suspended")
    func suspension() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.user(.home, app)
        phone.forget()
        phone.report(app, .returned(.didEnterBackground))
        #expect(phone.actions == [.did(app, .tookViewSnapshot), .freeze(app)])
        #expect(phone.router.isFreezing(app))
        phone.report(app, .suspended)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("LIFE-3: an open task keeps an app in the background running")
    func heldByTask() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        #expect(!phone.router.isFreezing(app))
        phone.request(app, .endTask(token: 1))
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-3: a suspended app gets no event and no answer before it is thawed")
    func suspendedRunsNothing() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.request(app, .scan(1, services: [], allowDuplicates: false))
        #expect(phone.faults == [.notRunning])
        phone.notify()
        let thaw = phone.actions.firstIndex(of: .thaw(app))
        let deliver = phone.actions.firstIndex { if case .deliver = $0 { true } else { false } }
        #expect(thaw != nil && deliver != nil && thaw! < deliver!)
    }

    @Test("LIFE-3: a process that cannot be frozen runs on for a window, and is asked again")
    func refusedSuspension() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.report(app, .suspensionRefused)
        #expect(phone.router.state(of: app) == .background)
        #expect(!phone.router.isFreezing(app))
        phone.wait(.seconds(10))
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-4: a resumed app keeps its process")
    func resumed() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        #expect(phone.verdicts == [.resume])
        #expect(phone.router.generation(of: app) == 1)
    }

    @Test("LIFE-4: a relaunched app is a new process that learns its cause")
    func relaunched() {
        var phone = Phone()
        let app = phone.terminatedSubscriber()
        let event = phone.notify()
        #expect(phone.verdicts == [.relaunch])
        #expect(
            phone.actions.contains(
                .launch(
                    app,
                    generation: 2,
                    state: .background,
                    cause: event,
                    decision: phone.last!.id,
                    restores: RestoreIdentifiers(central: [Phone.identifier])
                )
            )
        )
    }

    @Test("LIFE-5: a suspended app is killed without a callback")
    func suspendedIsKilled() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.hear(.terminate(app, .memory))
        #expect(phone.callbacks == [])
        #expect(phone.actions.contains(.kill(app)))
        #expect(phone.exits.map(\.stateBefore) == [.suspended])
    }

    @Test("LIFE-6: an app that runs in the background is told before it is terminated")
    func terminatedCleanly() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.hear(.terminate(app, .memory))
        #expect(phone.callbacks == [.willTerminate])
        #expect(phone.exits == [])
        phone.report(app, .returned(.willTerminate))
        #expect(phone.exits.map(\.cause) == [.memory])
    }

    @Test(
        "LIFE-6: which causes let a running app return from willTerminate first",
        arguments: [
            (.memory, .normal, true), (.memory, .critical, false), (.system, .normal, true), (.update, .normal, true),
            (.exit, .normal, true), (.crash, .normal, false), (.watchdog, .normal, false), (.cpu, .normal, false),
            (.policy, .normal, false), (.system, .critical, true),
        ] as [(ExitCause, MemoryPressure, Bool)]
    )
    func asksFirst(cause: ExitCause, pressure: MemoryPressure, asks: Bool) {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.forget()
        phone.hear(.terminate(app, cause, pressure))
        #expect(phone.callbacks == (asks ? [.willTerminate] : []))
        #expect(phone.actions.contains(.kill(app)) != asks)
        phone.wait(.seconds(5))
        #expect(phone.exits.map(\.cause) == [cause])
        #expect(phone.actions.contains(.kill(app)))
    }

    @Test("LIFE-6: memory wanted at once does not wait for an app that was asked already")
    func criticalWhileEnding() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.hear(.terminate(app, .update))
        phone.hear(.terminate(app, .memory))
        #expect(phone.exits == [])
        phone.hear(.terminate(app, .memory, .critical))
        #expect(phone.exits.map(\.cause) == [.memory])
        #expect(phone.actions.contains(.kill(app)))
    }

    @Test("LIFE-6: an app that does not return from willTerminate has 5 s")
    func terminatedAfterFiveSeconds() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.hear(.terminate(app, .memory))
        phone.wait(.milliseconds(4_999))
        #expect(phone.exits == [])
        phone.wait(.milliseconds(1))
        #expect(phone.actions.contains(.kill(app)))
        #expect(phone.exits.map(\.cause) == [.memory])
    }

    @Test("LIFE-7: a launch that takes 20 s is killed with 0x8badf00d")
    func launchWatchdog() {
        var phone = Phone()
        let app = phone.install()
        phone.user(.launch, app)
        phone.wait(.milliseconds(19_999))
        #expect(phone.exits == [])
        phone.wait(.milliseconds(1))
        #expect(phone.exits.map(\.code) == [0x8bad_f00d])
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("LIFE-8: without multitasking leaving the foreground ends the app")
    func withoutMultitasking() {
        var profile = Profile.ios6
        profile.multitasking = false
        var phone = Phone(profile)
        let app = phone.install()
        phone.open(app)
        phone.forget()
        phone.user(.home, app)
        #expect(phone.callbacks == [.willResignActive, .willTerminate])
        phone.report(app, .returned(.willTerminate))
        #expect(phone.moves == [.inactive, .notRunning])
    }

    @Test("LIFE-9: a second app in the foreground sends the first to the background")
    func oneForeground() {
        var phone = Phone()
        let first = phone.install()
        let second = phone.install()
        phone.open(first)
        phone.user(.launch, second)
        #expect(phone.router.state(of: first) == .background)
        phone.report(second, .launched)
        #expect(phone.router.state(of: second) == .active)
    }

    @Test("LIFE-9: an active app that is ending is not active beside another")
    func oneForegroundWhileEnding() {
        var phone = Phone()
        let first = phone.install()
        let second = phone.install()
        phone.open(first)
        phone.hear(.terminate(first, .memory))
        phone.open(second)
        #expect(phone.router.state(of: first) == .inactive)
        #expect(phone.router.state(of: second) == .active)
    }

    @Test("LIFE-9: an app opened again while it ends yields to the one opened after it")
    func reopenedWhileEnding() {
        var phone = Phone()
        let first = phone.install()
        let second = phone.install()
        phone.open(first)
        phone.hear(.terminate(first, .memory))
        phone.user(.launch, first)
        phone.open(second)
        phone.report(first, .returned(.willTerminate))
        phone.report(first, .launched)
        #expect(phone.router.state(of: first) == .background)
        #expect(phone.router.state(of: second) == .active)
    }

    @Test("LIFE-10: every end leaves a record", arguments: ExitCause.allCases)
    func exitRecord(cause: ExitCause) {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        let event = phone.hear(.terminate(app, cause))
        #expect(
            phone.exits == [
                ExitRecord(
                    number: 1,
                    app: app,
                    generation: 1,
                    cause: cause,
                    code: 0,
                    stateBefore: .suspended,
                    causedBy: event,
                    at: phone.now
                )
            ]
        )
    }

    @Test(
        "LIFE-10: a process that ends by itself exited or crashed",
        arguments: [(0, .exit), (-11, .crash)] as [(Int64, ExitCause)]
    )
    func endsByItself(code: Int64, cause: ExitCause) {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.report(app, .exited(code))
        #expect(phone.exits.map(\.cause) == [cause])
        #expect(phone.exits.map(\.code) == [code])
        #expect(!phone.actions.contains(.kill(app)))
    }

    @Test("LIFE-11: each event opens a window of its own, and the app runs until the last one ends")
    func windowOfItsOwn() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.wait(.milliseconds(9_999))
        phone.notify()
        #expect(phone.verdicts == [.resume, .backgroundDeliver])
        phone.wait(.milliseconds(9_999))
        #expect(!phone.router.isFreezing(app))
        phone.wait(.milliseconds(1))
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-11: a value each second keeps its app awake, and its word ends all windows")
    func aValueEachSecond() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        for _ in 0..<60 {
            phone.notify()
            phone.wait(.seconds(1))
        }
        #expect(phone.verdicts == [.resume] + Array(repeating: .backgroundDeliver, count: 59))
        #expect(!phone.router.isFreezing(app))
        phone.request(app, .done)
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-11: a shorter window inside a longer one ends nothing")
    func shorterWindow() {
        var profile = Profile.ios17
        profile.areas.bluetooth.window = .seconds(2)
        var phone = Phone(profile)
        let app = phone.install([.bluetoothCentral, .voip])
        phone.open(app)
        phone.subscribe(app)
        phone.voip(app, .watch(1, peer: Phone.server))
        phone.leave(app)
        phone.call(app)
        phone.wait(.seconds(1))
        phone.notify()
        phone.wait(.milliseconds(8_999))
        #expect(!phone.router.isFreezing(app))
        phone.wait(.milliseconds(1))
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-11: with wakeWindow first, only the window of the event that woke the app counts")
    func firstWindowOnly() {
        var profile = Profile.ios17
        profile.wakeWindow = .first
        var phone = Phone(profile)
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.wait(.milliseconds(9_999))
        phone.notify()
        #expect(phone.verdicts == [.resume, .backgroundDeliver])
        phone.wait(.milliseconds(1))
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-11: the first event after suspension resumes the app with a fresh window")
    func freshWindow() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        phone.notify()
        #expect(phone.verdicts == [.resume, .resume])
        phone.wait(.milliseconds(9_999))
        #expect(!phone.router.isFreezing(app))
    }

    @Test("LIFE-11: the app's own word ends the window early")
    func doneEndsWindow() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.wait(.seconds(2))
        phone.request(app, .done)
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-11: an event that comes in a slow launch, after the window of its cause, opens one of its own")
    func windowAfterSlowLaunch() {
        var phone = Phone()
        let app = phone.terminatedSubscriber()
        phone.notify()
        phone.wait(.seconds(15))
        phone.notify()
        phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
        phone.report(app, .launched)
        #expect(!phone.router.isFreezing(app))
        phone.wait(.seconds(10))
        #expect(phone.router.isFreezing(app))
    }

    @Test("LIFE-11: an event that comes while the process is being frozen is decided when it is")
    func heldWhileFreezing() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.wait(.seconds(10))
        let event = phone.notify()
        #expect(phone.decisions.count == 1)
        phone.report(app, .suspended)
        #expect(phone.last?.event == event)
        #expect(phone.last?.verdict == .resume)
        #expect(phone.delivered.last == event)
    }
}
