import Testing
import WakeModel

@testable import WakeRouter

@Suite("Provisional Always")
struct ProvisionalAlwaysTests {
    @Test("LOC-10: asking for Always gives it provisionally from iOS 13 on, and at once before")
    func asked() {
        var phone = Phone(.ios13)
        let app = phone.locating([])
        #expect(phone.router.locationAuthorization(of: app) == .provisionalAlways)
        var old = Phone(.ios12)
        let oldApp = old.locating([])
        #expect(old.router.locationAuthorization(of: oldApp) == .always)
    }

    @Test("LOC-10: the user is asked at the first event in the background that needs Always, once, and allows it")
    func allowed() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.enter()
        #expect(phone.last?.verdict == .resume)
        #expect(phone.last?.snapshot.locationAuthorization == .always)
        #expect(phone.alerts == [.regionEntered])
        // To the app nothing has changed.
        #expect(phone.decisions(about: .authorizationChanged).isEmpty)
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        phone.forget()
        phone.fix(5_000)
        phone.wait(.seconds(20))
        #expect(phone.last?.verdict == .resume)
        #expect(phone.alerts.isEmpty)
    }

    @Test("LOC-10: a user who keeps When In Use keeps the event from the app, which hears of it when it runs")
    func kept() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.user(.keepWhenInUse, app)
        phone.enter()
        #expect(phone.alerts == [.regionEntered])
        let crossing = phone.decisions(about: .regionEntered)
        #expect(crossing.map(\.reason) == [.notAuthorized])
        #expect(crossing.first?.snapshot.locationAuthorization == .whenInUse)
        #expect(phone.router.state(of: app) == .suspended)
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.decisions(about: .authorizationChanged).map(\.verdict) == [.foregroundDeliver])
        #expect(phone.raised.isEmpty)
        // Asked again the user keeps it, until he thinks otherwise.
        phone.locate(app, .requestAuthorization(always: true))
        #expect(phone.router.locationAuthorization(of: app) == .whenInUse)
        phone.user(.allowAlways, app)
        phone.locate(app, .requestAuthorization(always: true))
        #expect(phone.router.locationAuthorization(of: app) == .always)
    }

    @Test("LOC-10: a relaunch needs the user's word as well", arguments: [true, false])
    func terminated(keeps: Bool) {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        if keeps { phone.user(.keepWhenInUse, app) }
        phone.hear(.terminate(app, .memory))
        phone.forget()
        phone.enter()
        #expect(phone.decisions(about: .regionEntered).map(\.verdict) == [keeps ? .deny : .relaunch])
        #expect(phone.alerts == [.regionEntered])
    }

    @Test("LOC-10: what needs no Always, or comes to nothing, asks nobody")
    func notAsked() {
        var profile = Profile.ios26
        profile.areas.location.liftsForceQuit = false
        var phone = Phone(profile)
        let app = phone.locating([.location])
        phone.fix(5_000)
        phone.locate(app, .monitor(phone.circle(notifyOnEntry: false)))
        phone.startUpdating(app)
        phone.enter()
        phone.fix(5_000)
        phone.wait(.seconds(20))
        phone.leave(app)
        phone.enter()
        #expect(phone.last?.reason == .sideNotWanted)
        phone.user(.forceQuit, app)
        phone.report(app, .returned(.willTerminate))
        phone.fix(5_000)
        phone.wait(.seconds(20))
        #expect(phone.last?.reason == .forceQuit)
        #expect(phone.alerts.isEmpty)
        #expect(phone.router.locationAuthorization(of: app) == .provisionalAlways)
    }

    @Test("LOC-10: updates that the user keeps from the background let the app be suspended")
    func updates() {
        var phone = Phone()
        let app = phone.locating([.location])
        phone.user(.keepWhenInUse, app)
        phone.user(.home, app)
        phone.startUpdating(app)
        phone.report(app, .returned(.didEnterBackground))
        #expect(phone.router.state(of: app) == .background)
        phone.forget()
        phone.fix(10)
        #expect(phone.alerts == [.positionFixed])
        #expect(phone.decisions(about: .positionFixed).map(\.reason) == [.notAuthorized])
        phone.wait(.seconds(10))
        #expect(phone.actions.contains(.freeze(app)))
    }
}

extension Phone {
    /// What the user was asked about, in order.
    fileprivate var alerts: [EventKind] {
        actions.compactMap { if case .alert(_, let kind, _, _) = $0 { kind } else { nil } }
    }
}
