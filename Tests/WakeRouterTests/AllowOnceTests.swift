import Testing
import WakeModel

@testable import WakeRouter

@Suite("Allow once")
struct AllowOnceTests {
    /// An app whose user allows the position once, and that has asked for it in the foreground.
    private func allowed(_ phone: inout Phone, _ modes: [BackgroundMode] = [], always: Bool = false) -> AppID {
        let app = phone.install(modes)
        phone.user(.allowOnce, app)
        phone.openLocating(app)
        phone.locate(app, .requestAuthorization(always: always))
        return app
    }

    @Test("LOC-12: what is allowed once is When In Use until the app leaves the foreground", arguments: [true, false])
    func once(always: Bool) {
        var phone = Phone()
        let app = allowed(&phone, always: always)
        #expect(phone.router.locationAuthorization(of: app) == .allowOnce)
        #expect(phone.deeds(.allowedOnce) == [app])
        phone.fix(5_000)
        phone.locate(app, .monitor(phone.circle()))
        phone.enter()
        #expect(phone.decisions(about: .regionEntered).map(\.verdict) == [.foregroundDeliver])
        phone.fix(5_000)
        phone.wait(.seconds(20))
        phone.forget()
        phone.leave(app)
        #expect(phone.deeds(.endedOnce) == [app])
        #expect(phone.router.locationAuthorization(of: app) == .notDetermined)
        #expect(phone.decisions(about: .authorizationChanged).map(\.verdict) == [.backgroundDeliver])
        phone.forget()
        phone.enter()
        #expect(phone.decisions(about: .regionEntered).map(\.reason) == [.notAuthorized])
    }

    @Test("LOC-12: the user is asked anew each time, and by no app that is not in use")
    func again() {
        var phone = Phone()
        let app = allowed(&phone)
        phone.user(.home, app)
        phone.locate(app, .requestAuthorization(always: false))
        #expect(phone.router.locationAuthorization(of: app) == .notDetermined)
        phone.user(.launch, app)
        phone.locate(app, .requestAuthorization(always: false))
        #expect(phone.router.locationAuthorization(of: app) == .allowOnce)
        #expect(phone.deeds(.allowedOnce) == [app, app])
    }

    @Test("LOC-12: updates that began in the foreground keep the app in use until they end")
    func updates() {
        var phone = Phone()
        let app = allowed(&phone, [.location])
        phone.startUpdating(app)
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        #expect(phone.router.locationAuthorization(of: app) == .allowOnce)
        phone.forget()
        phone.fix(10)
        #expect(phone.verdicts == [.backgroundDeliver])
        phone.locate(app, .stopUpdating)
        #expect(phone.deeds(.endedOnce) == [app])
        #expect(phone.router.locationAuthorization(of: app) == .notDetermined)
    }

    @Test("LOC-12: what was allowed once is over with the process")
    func ended() {
        var phone = Phone()
        let app = allowed(&phone)
        phone.report(app, .exited(0))
        #expect(phone.deeds(.endedOnce) == [app])
        #expect(phone.router.locationAuthorization(of: app) == .notDetermined)
    }

    @Test("LOC-12: chosen later it takes back what was allowed, and any other choice in Settings ends it")
    func chosen() {
        var phone = Phone()
        let app = phone.locating([])
        phone.forget()
        phone.user(.allowOnce, app)
        #expect(phone.router.locationAuthorization(of: app) == .notDetermined)
        #expect(phone.decisions(about: .authorizationChanged).map(\.verdict) == [.foregroundDeliver])
        phone.user(.allowOnce, app)
        #expect(phone.deeds(.foundItSo) == [app])
        let settings = WakeEvent(
            kind: .authorizationChanged,
            app: app,
            authorization: .notDetermined,
            origin: NameID(9)
        )
        phone.hear(.event(settings))
        phone.locate(app, .requestAuthorization(always: false))
        #expect(phone.router.locationAuthorization(of: app) == .whenInUse)
    }

    @Test("LOC-12: before iOS 13 nobody is asked whether once is enough, which is said")
    func before() {
        var phone = Phone(.ios12)
        let app = allowed(&phone)
        #expect(phone.deeds(.foundNoSuchChoice) == [app])
        #expect(phone.router.locationAuthorization(of: app) == .whenInUse)
        phone.leave(app)
        #expect(phone.router.locationAuthorization(of: app) == .whenInUse)
    }
}
