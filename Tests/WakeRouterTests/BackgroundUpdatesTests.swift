import Testing
import WakeModel

@testable import WakeRouter

@Suite("Location updates in the background")
struct BackgroundUpdatesTests {
    @Test("LOC-3: from iOS 9 an app is not suspended while its updates go on, and is as soon as it ends them")
    func updatesHold() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app)
        phone.leave(app)
        phone.wait(.seconds(3_600))
        phone.forget()
        phone.fix(50)
        phone.wait(.seconds(3_600))
        phone.fix(60)
        #expect(phone.verdicts == [.backgroundDeliver, .backgroundDeliver])
        #expect(phone.delivered.count == 2)
        #expect(phone.router.state(of: app) == .background)
        #expect(!phone.actions.contains(.freeze(app)))
        phone.locate(app, .stopUpdating)
        #expect(phone.actions.contains(.freeze(app)))
    }

    @Test(
        "LOC-3: updates hold nobody without allowsBackgroundLocationUpdates, the mode or the user's word",
        arguments: [(true, false, true), (false, true, true), (true, true, false)]
    )
    func holdsNobody(mode: Bool, allowed: Bool, authorized: Bool) {
        // From iOS 9 the flag without the mode would end the app (LOC-6).
        var phone = Phone(mode ? .ios17 : .ios8)
        let app = phone.locating(mode ? [.location] : [])
        phone.startUpdating(app, background: allowed)
        if !authorized { phone.hear(.event(WakeEvent(kind: .authorizationChanged, app: app, authorization: .denied))) }
        phone.leave(app)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("LOC-3: a release of the manager lets the app be suspended")
    func released() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app)
        phone.leave(app)
        #expect(phone.router.state(of: app) == .background)
        phone.locate(app, .release)
        #expect(phone.actions.contains(.freeze(app)))
    }

    @Test("LOC-3: paused updates hold the app no more: it is told, and suspended when the time of that is over")
    func paused() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app, pauses: true)
        phone.fix(0)
        phone.leave(app)
        phone.wait(.seconds(900))
        phone.forget()
        phone.fix(10)
        #expect(phone.kinds == [.positionFixed, .locationUpdatesPaused])
        #expect(phone.verdicts == [.backgroundDeliver, .backgroundDeliver])
        phone.wait(.milliseconds(9_999))
        #expect(!phone.actions.contains(.freeze(app)))
        phone.wait(.milliseconds(1))
        #expect(phone.actions.contains(.freeze(app)))
    }

    @Test("LOC-3: an app from which the user takes the position is told, and suspended")
    func refused() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app)
        phone.leave(app)
        phone.forget()
        phone.hear(.event(WakeEvent(kind: .authorizationChanged, app: app, authorization: .denied)))
        #expect(phone.verdicts == [.backgroundDeliver])
        phone.wait(.seconds(10))
        #expect(phone.actions.contains(.freeze(app)))
    }

    @Test("LOC-3: updates that begin while the app is being frozen keep it running")
    func begunLate() {
        var phone = Phone()
        let app = phone.locating()
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        #expect(phone.actions.contains(.freeze(app)))
        phone.forget()
        phone.startUpdating(app)
        #expect(phone.actions.contains(.thaw(app)))
        phone.fix(0)
        #expect(phone.verdicts == [.backgroundDeliver])
    }

    @Test("TASK-5: background time is unlimited while updates go on, and whole when they end")
    func tasks() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app)
        phone.request(app, .beginTask(token: 1))
        phone.leave(app)
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == nil)
        phone.wait(.seconds(600))
        #expect(phone.exits.isEmpty)
        phone.locate(app, .stopUpdating)
        #expect(phone.router.backgroundTimeRemaining(of: app, at: phone.now) == phone.router.profile.taskBudget)
        phone.wait(.seconds(30))
        #expect(phone.exits.map(\.cause) == [.watchdog])
    }

    @Test("LOC-2: updates for a background client that is suspended are kept, the newest, and delivered when it runs")
    func kept() {
        var phone = Phone()
        let app = phone.suspendedClient(filter: 50)
        let first = phone.fix(100)
        #expect(phone.verdicts == [.defer])
        #expect(phone.reasons == [.updateKept])
        #expect(phone.last?.rule == .loc2)
        #expect(phone.last?.wouldHave == .resume)
        let second = phone.fix(200)
        #expect(phone.verdicts == [.defer, .defer, .coalesce])
        #expect(phone.reasons == [.updateKept, .updateKept, .newerUpdateKept])
        #expect(phone.decisions[2].event == first)
        #expect(phone.decisions[2].supersedes == phone.decisions[0].id)
        #expect(phone.actions.contains(.discard(app, first)))
        #expect(phone.delivered.isEmpty)
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.delivered.contains(second))
        #expect(phone.decisions(about: .positionFixed).map(\.verdict) == [.foregroundDeliver])
        #expect(phone.decisions(about: .positionFixed).map(\.reason) == [.deliveredLater])
        #expect(phone.decisions(about: .positionFixed).map(\.rule) == [.loc2])
        // The next counts from the one that was kept.
        phone.forget()
        phone.fix(240)
        #expect(phone.verdicts == [.coalesce])
    }

    @Test("LOC-5: an update that was kept is not given when the user has said no meanwhile")
    func keptAndDenied() {
        var phone = Phone()
        let app = phone.suspendedClient(filter: 0)
        let fix = phone.fix(100)
        phone.forget()
        phone.hear(.event(WakeEvent(kind: .authorizationChanged, app: app, authorization: .denied)))
        #expect(phone.decisions(about: .positionFixed).map(\.verdict) == [.deny])
        #expect(phone.decisions(about: .positionFixed).map(\.reason) == [.notAuthorized])
        #expect(phone.actions.contains(.discard(app, fix)))
        phone.user(.launch, app)
        #expect(!phone.delivered.contains(fix))
    }

    @Test("LOC-5: each manager's updates are judged by where they began", arguments: [(1, 2), (2, 1)])
    func managersOfTheirOwn(first: ManagerNumber, second: ManagerNumber) {
        var phone = Phone()
        let app = phone.locating(always: false)
        phone.locate(app, .create, manager: 2)
        let start = LocationRequest.startUpdating(
            distanceFilterChord: 0,
            allowsBackground: true,
            pausesAutomatically: false
        )
        phone.locate(app, start, manager: first)
        phone.leave(app)
        phone.locate(app, start, manager: second)
        phone.forget()
        phone.fix(100)
        #expect(phone.verdicts == [.backgroundDeliver])
        #expect(phone.deliveredManagers == [first])
    }

    @Test("LOC-2: what is kept is for the managers that go on in the background, and for no other")
    func keptForClients() {
        var phone = Phone()
        let app = phone.suspendedClient(filter: 0, secondFilter: 0, secondAllowsBackground: false)
        let fix = phone.fix(300)
        phone.forget()
        phone.user(.launch, app)
        let managers = phone.actions.compactMap {
            if case .deliver(_, let manager, fix, _, _) = $0 { manager } else { nil }
        }
        #expect(managers == [1])
    }

    @Test("LOC-2: an event that wakes the app brings what was kept with it, before its own")
    func keptUntilWake() {
        var phone = Phone()
        let app = phone.suspendedClient(filter: 0)
        phone.fix(4_000)
        let kept = phone.fix(3_000)
        phone.forget()
        phone.hear(.event(WakeEvent(kind: .regionEntered, subject: Phone.home, region: Phone.home)))
        #expect(phone.router.state(of: app) == .background)
        #expect(phone.delivered.count == 3)
        #expect(phone.delivered[1] == kept)
    }

    @Test("LOC-2: of two managers each keeps the newest that passes its filter")
    func keptByManager() {
        var phone = Phone()
        let app = phone.suspendedClient(filter: 0, secondFilter: 500)
        let far = phone.fix(600)
        let near = phone.fix(100)
        phone.forget()
        phone.user(.launch, app)
        let delivered: [(ManagerNumber, EventID)] = phone.actions.compactMap {
            if case .deliver(_, let manager, let event, _, _) = $0, manager != 0 { (manager, event) } else { nil }
        }
        #expect(delivered.map(\.0) == [2, 1])
        #expect(delivered.map(\.1) == [far, near])
    }

    @Test("LOC-2: what was kept for an app that ends is lost, and a record says so")
    func keptAndEnded() {
        var phone = Phone()
        let app = phone.suspendedClient(filter: 0)
        let fix = phone.fix(100)
        phone.forget()
        phone.hear(.terminate(app, .memory))
        #expect(phone.decisions(about: .positionFixed).map(\.event) == [fix])
        #expect(phone.decisions(about: .positionFixed).map(\.reason) == [.appEnded])
    }

    @Test("LOC-2: what the user does not allow is not kept")
    func notKept() {
        var phone = Phone()
        let app = phone.suspendedClient(filter: 0)
        phone.hear(.event(WakeEvent(kind: .authorizationChanged, app: app, authorization: .denied)))
        phone.forget()
        phone.fix(100)
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.notAuthorized])
        #expect(phone.last?.wouldHave == .defer)
    }

    @Test("LAUNCH-8: a user launch delivers at once the answers and the update that waited")
    func userLaunch() {
        var phone = Phone()
        let app = phone.suspendedClient(filter: 0)
        phone.fix(100)
        phone.hear(.event(WakeEvent(kind: .authorizationChanged, app: app, authorization: .whenInUse)))
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.kinds == [.authorizationChanged, .positionFixed, .authorizationChanged])
        #expect(phone.verdicts.allSatisfy { $0 == .foregroundDeliver })
        #expect(phone.delivered.count == 3)
    }

    @Test("LOC-9: updates that go on in the background keep the receiver on")
    func accounting() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app)
        phone.leave(app)
        phone.wait(.seconds(60))
        #expect(phone.router.receiverTime(of: app, at: phone.now) == .seconds(60))
        phone.hear(.terminate(app, .cpu))
        phone.wait(.seconds(60))
        #expect(phone.router.receiverTime(of: app, at: phone.now) == .seconds(60))
    }

    @Test("LOC-9: paused updates keep no receiver on")
    func accountingPaused() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app, pauses: true)
        phone.fix(0)
        phone.wait(.seconds(900))
        phone.fix(10)
        phone.wait(.seconds(60))
        #expect(phone.router.receiverTime(of: app, at: phone.now) == .seconds(900))
    }

    @Test("LOC-9: to iOS 8 the receiver stays on for a suspended app with the mode", arguments: [true, false])
    func accountingWhileSuspended(mode: Bool) {
        var phone = Phone(.ios8)
        let app = phone.locating(mode ? [.location] : [])
        phone.startUpdating(app)
        phone.leave(app)
        #expect(phone.router.state(of: app) == .suspended)
        phone.wait(.seconds(60))
        #expect(phone.router.receiverTime(of: app, at: phone.now) == (mode ? .seconds(60) : .zero))
    }
}

extension Phone {
    /// An app with the mode whose updates began while the user did not allow them in the background, and that the user
    /// allows all since: suspended all the same, and not yet told of it. It watches the circle too.
    fileprivate mutating func suspendedClient(
        filter: Double,
        secondFilter: Double? = nil,
        secondAllowsBackground: Bool = true
    ) -> AppID {
        let app = locating(always: false)
        locate(app, .monitor(circle()))
        fix(0)
        user(.home, app)
        startUpdating(app, filter: filter)
        if let secondFilter {
            locate(app, .create, manager: 2)
            let chord = Sphere.chord(metres: secondFilter)
            locate(
                app,
                .startUpdating(
                    distanceFilterChord: chord,
                    allowsBackground: secondAllowsBackground,
                    pausesAutomatically: false
                ),
                manager: 2
            )
        }
        user(.launch, app)
        fix(0)
        user(.home, app)
        report(app, .returned(.didEnterBackground))
        report(app, .suspended)
        hear(.event(WakeEvent(kind: .authorizationChanged, app: app, authorization: .always)))
        forget()
        return app
    }
}
