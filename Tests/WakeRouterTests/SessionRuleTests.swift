import RouterSnapshots
import Testing
import WakeModel

@testable import WakeRouter

@Suite("Background activity sessions")
struct SessionRuleTests {
    @Test("SESS-3: a session that began in the foreground makes When In Use enough for a region, which wakes the app")
    func wakes() {
        var phone = Phone()
        let app = phone.suspendedWithSession()
        phone.enter()
        #expect(phone.last?.kind == .regionEntered)
        #expect(phone.last?.verdict == .resume)
        #expect(phone.last?.snapshot.keptInUse == true)
        #expect(phone.last?.checks[.authorized] == .pass)
        #expect(phone.router.state(of: app) == .background)
    }

    @Test("SESS-3: it makes When In Use enough for the reach of a beacon, too")
    func wakesForBeacon() {
        var phone = Phone()
        let app = phone.locating([], always: false)
        phone.locate(app, .beginSession, manager: Phone.activity)
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.leave(app)
        phone.forget()
        phone.sightBeacon()
        #expect(phone.decisions(about: .regionEntered).map(\.verdict) == [.resume])
    }

    @Test(
        "SESS-3: a session that began in the background does nothing, and one of the foreground beside it does",
        arguments: [(false, Reason.notAuthorized), (true, .resumed)]
    )
    func begunInBackground(hasOther: Bool, reason: Reason) {
        var phone = Phone()
        let app = phone.locating([], always: false)
        phone.fix(5_000)
        phone.locate(app, .monitor(phone.circle()))
        if hasOther { phone.locate(app, .beginSession, manager: 8) }
        phone.user(.home, app)
        phone.locate(app, .beginSession, manager: Phone.activity)
        phone.report(app, .returned(.didEnterBackground))
        phone.report(app, .suspended)
        phone.enter()
        #expect(phone.last?.kind == .regionEntered)
        #expect(phone.last?.reason == reason)
    }

    @Test("SESS-3: once the session is over When In Use wakes nobody")
    func ended() {
        var phone = Phone()
        let app = phone.locating([], always: false)
        phone.fix(5_000)
        phone.locate(app, .monitor(phone.circle()))
        phone.locate(app, .beginSession, manager: Phone.activity)
        phone.locate(app, .endSession, manager: Phone.activity)
        phone.leave(app)
        phone.enter()
        #expect(phone.last?.reason == .notAuthorized)
        #expect(phone.last?.snapshot.keptInUse == false)
    }

    @Test("SESS-3: a session neither relaunches the app nor outlives its process")
    func process() {
        var phone = Phone()
        let app = phone.suspendedWithSession()
        phone.hear(.terminate(app, .memory))
        phone.enter()
        #expect(phone.last?.kind == .regionEntered)
        #expect(phone.last?.reason == .notAuthorized)
        phone.openLocating(app)
        phone.leave(app)
        phone.forget()
        phone.fix(5_000)
        phone.wait(phone.router.profile.areas.location.regionDwell)
        #expect(phone.decisions(about: .regionExited).map(\.reason) == [.notAuthorized])
    }

    @Test("SESS-3: before iOS 17, or with backgroundSessions off, a session does nothing", arguments: [true, false])
    func withoutSessions(isOld: Bool) {
        var profile = isOld ? Profile.ios13 : .ios17
        if !isOld { profile.areas.location.backgroundSessions = false }
        var phone = Phone(profile)
        _ = phone.suspendedWithSession()
        phone.enter()
        #expect(phone.last?.reason == .notAuthorized)
    }

    @Test("SESS-3: updates that begin in the background are given, and hold the app, until the session ends")
    func updates() {
        var phone = Phone()
        let app = phone.locating(always: false)
        phone.locate(app, .beginSession, manager: Phone.activity)
        phone.user(.home, app)
        phone.startUpdating(app)
        phone.report(app, .returned(.didEnterBackground))
        #expect(!phone.actions.contains(.freeze(app)))
        phone.forget()
        phone.fix(10)
        #expect(phone.verdicts == [.backgroundDeliver])
        phone.locate(app, .endSession, manager: Phone.activity)
        #expect(phone.actions.contains(.freeze(app)))
    }

    @Test("SESS-3: a session asks for what updates ask for: without allowsBackgroundLocationUpdates none come (LOC-2)")
    func updatesNeedTheirSetting() {
        var phone = Phone()
        let app = phone.locating(always: false)
        phone.locate(app, .beginSession, manager: Phone.activity)
        phone.startUpdating(app, background: false)
        phone.leave(app)
        phone.forget()
        phone.fix(10)
        #expect(phone.reasons == [.foregroundUpdatesOnly])
    }

    @Test("A region of an app that a session keeps in use lacks nothing")
    func registrations() {
        var phone = Phone()
        let app = phone.suspendedWithSession()
        #expect(LocationArea.registrations(of: app, phone.router).map(\.lacks) == [nil])
        let other = phone.suspendedMonitor(always: false)
        #expect(LocationArea.registrations(of: other, phone.router).map(\.lacks) == [.notAuthorized])
    }

    @Test("A session of a number that is held, of none, one too many, and the end of one that is not held are refused")
    func faults() {
        var phone = Phone()
        let app = phone.locating([], always: false)
        phone.forget()
        phone.locate(app, .beginSession, manager: 1)
        phone.locate(app, .beginSession, manager: 1)
        phone.locate(app, .beginSession, manager: 0)
        phone.locate(app, .endSession, manager: 2)
        #expect(phone.faults == [.duplicateManager, .unknownManager, .unknownManager])
        phone.forget()
        for number in 2...65 { phone.locate(app, .beginSession, manager: ManagerNumber(number)) }
        #expect(phone.faults == [.tooMany])
    }

    @Test("A router that goes on from a snapshot knows the session")
    func snapshot() throws {
        var phone = Phone()
        _ = phone.suspendedWithSession()
        phone.router = try Router(snapshot: phone.router.snapshot, profile: .ios17)
        phone.enter()
        #expect(phone.last?.verdict == .resume)
    }
}

extension Phone {
    fileprivate static let activity: ManagerNumber = 9

    /// An app with When In Use that watches a circle from afar, and is suspended with a session that began in the foreground.
    fileprivate mutating func suspendedWithSession() -> AppID {
        let app = locating([], always: false)
        locate(app, .beginSession, manager: Self.activity)
        fix(5_000)
        locate(app, .monitor(circle()))
        leave(app)
        forget()
        return app
    }
}
