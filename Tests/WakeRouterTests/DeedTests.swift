import Testing
import WakeModel

@testable import WakeRouter

/// What the router says that it did: each where it did it, and nowhere else.
@Suite("Deeds of lives and tasks")
struct DeedTests {
    @Test("LIFE-2, LIFE-7: the watchdog says whether it was the launch or the leaving that took too long")
    func watchdog() {
        var phone = Phone()
        let leaving = phone.install()
        phone.open(leaving)
        phone.user(.home, leaving)
        phone.wait(.seconds(5))
        #expect(phone.deeds(.endedInLeaving) == [leaving])
        #expect(phone.deeds(.endedInLaunch) == [])
        let launching = phone.install()
        phone.user(.launch, launching)
        phone.wait(.seconds(20))
        #expect(phone.deeds(.endedInLaunch) == [launching])
        #expect(phone.deeds(.endedInLeaving) == [leaving])
    }

    @Test("LIFE-5, LIFE-6: who is suspended is not asked, who runs in the background is")
    func ends() {
        var phone = Phone()
        let asleep = phone.suspendedSubscriber()
        phone.hear(.terminate(asleep, .memory))
        #expect(phone.deeds(.endedUnasked) == [asleep])
        #expect(phone.deeds(.askedToEnd) == [])
        let awake = phone.suspendedSubscriber()
        phone.notify()
        phone.hear(.terminate(awake, .memory))
        #expect(phone.deeds(.askedToEnd) == [awake])
        #expect(phone.deeds(.endedUnasked) == [])
    }

    @Test("LIFE-8, OPT-1: an app that may not stay says by which rule", arguments: [true, false])
    func leaves(exitsOnSuspend: Bool) {
        var profile = Profile.ios17
        profile.multitasking = exitsOnSuspend
        var phone = Phone(profile)
        let app = phone.install(exitsOnSuspend: exitsOnSuspend)
        phone.open(app)
        phone.user(.home, app)
        #expect(phone.deeds(.endedOnSuspend) == (exitsOnSuspend ? [app] : []))
        #expect(phone.deeds(.endedWithoutMultitasking) == (exitsOnSuspend ? [] : [app]))
    }

    @Test("LAUNCH-4: a reboot lifts the bar of who has one")
    func barLifted() {
        var phone = Phone()
        let barred = phone.terminatedSubscriber(cause: .userForceQuit)
        _ = phone.terminatedSubscriber()
        phone.hear(.phone(.reboot))
        #expect(phone.deeds(.liftedForceQuit) == [barred])
    }

    @Test("LAUNCH-8: an app that comes forward gets what waited, if anything did")
    func whatWaited() {
        var phone = Phone()
        let app = phone.suspendedSubscriber([])
        phone.user(.launch, app)
        #expect(phone.deeds(.gaveWhatWaited) == [])
        phone.leave(app)
        phone.notify()
        #expect(phone.verdicts.last == .defer)
        phone.user(.launch, app)
        #expect(phone.deeds(.gaveWhatWaited) == [app])
    }

    @Test("TASK-1, TASK-2, TASK-6: a task keeps the app running, ends with its token, and with no other")
    func tasks() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        #expect(phone.deeds(.runsForTasks) == [app])
        phone.request(app, .endTask(token: 2))
        #expect(phone.deeds(.passedOverUnknownTask) == [app])
        #expect(phone.deeds(.endedTask) == [])
        phone.request(app, .endTask(token: 1))
        #expect(phone.deeds(.endedTask) == [app])
        #expect(phone.deeds(.passedOverUnknownTask) == [app])
    }

    @Test("TASK-2: an app without tasks does not go on for them")
    func noTasks() {
        var phone = Phone()
        let app = phone.withApp()
        phone.leave(app)
        #expect(phone.deeds(.runsForTasks) == [])
    }

    @Test("TASK-3, TASK-4: the handlers are called, and later the app is ended")
    func expiration() {
        var phone = Phone()
        let app = phone.withApp()
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.wait(.seconds(24))
        #expect(phone.deeds(.expiredTasks) == [])
        phone.wait(.seconds(1))
        #expect(phone.deeds(.expiredTasks) == [app])
        #expect(phone.deeds(.endedForTasks) == [])
        phone.wait(.seconds(5))
        #expect(phone.deeds(.endedForTasks) == [app])
    }

    @Test("TASK-8: a task of a wake has its time from its end, one of an app that left has not")
    func taskOfWake() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.request(app, .beginTask(token: 1))
        #expect(phone.deeds(.grantedBudgetAfterWake) == [app])
        phone.request(app, .beginTask(token: 2))
        #expect(phone.deeds(.grantedBudgetAfterWake) == [app])
    }

    @Test("MODE-1: an app is installed with the modes that it has")
    func modes() {
        var phone = Phone()
        let app = phone.install([.audio])
        _ = phone.install([])
        #expect(phone.deeds(.tookModes) == [app])
        #expect(phone.router.apps[Int(app.number)].snapshot.modes.contains(.audio))
    }

    @Test("SYS-2: what is kept is taken up after a restart of the phone and of the bench")
    func takenUp() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.hear(.phone(.lock))
        #expect(phone.deeds(.tookUpWhatIsKept) == [])
        phone.hear(.phone(.reboot))
        #expect(phone.deeds(.tookUpWhatIsKept) == [.none])
        phone.hear(.benchRestarted)
        #expect(phone.deeds(.tookUpWhatIsKept) == [.none, .none])
        #expect(phone.router.state(of: app) == .notRunning)
    }

    @Test("Each deed has a sentence, and its word is its own")
    func rows() {
        #expect(Set(Deed.allCases.map(\.word)).count == Deed.allCases.count)
        #expect(Deed.allCases.contains { !$0.row.isEveryday })
        #expect(Deed.allCases.contains { $0.row.isEveryday })
    }
}

extension Phone {
    /// The apps that a deed was done for, in order.
    func deeds(_ deed: Deed) -> [AppID] {
        actions.compactMap { if case .did(let app, deed, _, _) = $0 { app } else { nil } }
    }

    /// An app in the foreground.
    mutating func withApp(_ modes: [BackgroundMode] = [.bluetoothCentral]) -> AppID {
        let app = install(modes)
        open(app)
        return app
    }
}
