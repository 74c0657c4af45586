import Testing
import WakeModel

@testable import WakeRouter

@Suite("Location")
struct LocationRuleTests {
    @Test("LOC-1: a change of 500 m wakes a suspended app, and a smaller one is nothing")
    func significant() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .startSignificant)
        phone.leave(app)
        phone.wait(.seconds(300))
        phone.forget()
        phone.fix(490)
        #expect(phone.reasons == [.nothingCrossed])
        #expect(phone.last?.app == AppID.none)
        phone.forget()
        let fix = phone.fix(510)
        #expect(phone.kinds == [.positionFixed, .significantChange])
        #expect(phone.reasons == [.ledToEvents, .resumed])
        #expect(phone.last?.parent == fix)
        #expect(phone.last?.snapshot.via == .significantChange)
        #expect(phone.router.state(of: app) == .background)
    }

    @Test("LOC-1: a significant change brings a terminated app back")
    func significantRelaunches() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .startSignificant)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.wait(.seconds(300))
        phone.forget()
        phone.fix(600)
        #expect(phone.decisions(about: .significantChange).map(\.verdict) == [.relaunch])
        phone.forget()
        phone.locate(app, .create)
        #expect(phone.delivered.count == 1)
    }

    @Test("LOC-1: two significant changes are five minutes apart")
    func significantInterval() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .startSignificant)
        phone.wait(.seconds(300))
        phone.fix(600)
        phone.wait(.seconds(299))
        phone.forget()
        phone.fix(1_200)
        #expect(phone.decisions(about: .significantChange).isEmpty)
        phone.wait(.seconds(1))
        phone.fix(1_210)
        #expect(phone.decisions(about: .significantChange).count == 1)
    }

    @Test("LOC-1: a change is measured from the last one that was given, not from where the service began")
    func significantReference() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .startSignificant)
        phone.wait(.seconds(300))
        phone.fix(600)
        phone.wait(.seconds(300))
        phone.forget()
        phone.fix(700)
        phone.fix(1_090)
        #expect(phone.decisions(about: .significantChange).isEmpty)
        phone.fix(1_110)
        #expect(phone.decisions(about: .significantChange).count == 1)
        phone.wait(.seconds(300))
        phone.fix(600)
        #expect(phone.decisions(about: .significantChange).count == 2)
    }

    @Test("LOC-1: the first update after starting comes from the cache, and without one it is the first fix")
    func significantFirst() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .startSignificant)
        #expect(phone.decisions(about: .significantChange).isEmpty)
        phone.fix(0)
        #expect(phone.decisions(about: .significantChange).map(\.verdict) == [.foregroundDeliver])
        let cached = phone.fix(10)
        let other = phone.locating([])
        phone.forget()
        phone.locate(other, .startSignificant)
        #expect(phone.kinds == [.significantChange])
        #expect(phone.verdicts == [.foregroundDeliver])
        #expect(phone.last?.parent == cached)
        // Asked for again, it is the same service.
        phone.forget()
        phone.locate(other, .startSignificant)
        #expect(phone.decisions.isEmpty)
    }

    @Test("LOC-1: a change that the user did not allow counts for nothing")
    func significantRefused() {
        var phone = Phone()
        let app = phone.locating([], always: false)
        phone.fix(0)
        phone.locate(app, .startSignificant)
        phone.leave(app)
        phone.wait(.seconds(300))
        phone.forget()
        phone.fix(600)
        #expect(phone.decisions(about: .significantChange).map(\.reason) == [.notAuthorized])
        phone.user(.launch, app)
        phone.wait(.seconds(300))
        phone.fix(900)
        #expect(phone.decisions(about: .significantChange).last?.verdict == .foregroundDeliver)
        phone.forget()
        phone.wait(.seconds(300))
        phone.fix(1_300)
        #expect(phone.decisions(about: .significantChange).isEmpty)
    }

    @Test("LOC-1: who starts before the user was asked is given the first fix after the answer")
    func significantAnswered() {
        var phone = Phone()
        let app = phone.install([])
        phone.openLocating(app)
        phone.fix(0)
        phone.locate(app, .startSignificant)
        #expect(phone.decisions(about: .significantChange).map(\.reason) == [.notAuthorized])
        phone.locate(app, .requestAuthorization(always: true))
        phone.forget()
        phone.fix(10)
        #expect(phone.decisions(about: .significantChange).map(\.verdict) == [.foregroundDeliver])
    }

    @Test("LOC-2: updates that may not go on in the background stop while the app is suspended")
    func foregroundOnly() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app, background: false)
        phone.fix(0)
        phone.leave(app)
        phone.forget()
        phone.fix(50)
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.foregroundUpdatesOnly])
        #expect(phone.last?.rule == .loc2)
        #expect(phone.last?.wouldHave == .defer)
        phone.user(.launch, app)
        phone.forget()
        phone.fix(100)
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("LOC-3: to iOS 8, with the mode, each update wakes the app in the background")
    func updatesWake() {
        var phone = Phone(.ios8)
        let app = phone.locating()
        phone.startUpdating(app)
        phone.leave(app)
        phone.forget()
        phone.fix(50)
        #expect(phone.verdicts == [.resume])
        phone.fix(60)
        #expect(phone.verdicts == [.resume, .backgroundDeliver])
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        phone.fix(70)
        #expect(phone.verdicts == [.resume, .backgroundDeliver, .resume])
        #expect(phone.delivered.count == 3)
    }

    @Test("LOC-3: without the mode an update wakes nobody (MODE-2)")
    func updatesWithoutMode() {
        var phone = Phone(.ios8)
        let app = phone.locating([])
        phone.startUpdating(app)
        phone.leave(app)
        phone.forget()
        phone.fix(50)
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.modeMissing])
        #expect(phone.last?.wouldHave == .resume)
    }

    @Test("LOC-3: standard updates do not bring a terminated app back, and a new process has none")
    func updatesDoNotRelaunch() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app)
        phone.leave(app)
        phone.hear(.terminate(app, .cpu))
        phone.forget()
        phone.fix(50)
        #expect(phone.reasons == [.notRelaunchedByUpdates])
        #expect(phone.last?.rule == .loc3)
        phone.openLocating(app)
        phone.forget()
        phone.fix(100)
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("LOC-4: an update comes when the phone moved as far as distanceFilter since the last one")
    func distanceFilter() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app, filter: 50)
        phone.forget()
        for metres in [0.0, 49, 51, 99, 102] { phone.fix(metres) }
        #expect(phone.verdicts == [.foregroundDeliver, .coalesce, .foregroundDeliver, .coalesce, .foregroundDeliver])
        #expect(phone.decisions[1].reason == .withinDistanceFilter)
        #expect(phone.decisions[1].rule == .loc4)
    }

    @Test("LOC-4: of two managers only the one whose filter is passed gets the update")
    func distanceFilterOfManagers() {
        var phone = Phone()
        let app = phone.locating()
        phone.locate(app, .create, manager: 2)
        phone.startUpdating(app, filter: 50)
        phone.locate(
            app,
            .startUpdating(distanceFilterChord: 0, allowsBackground: false, pausesAutomatically: false),
            manager: 2
        )
        phone.fix(0)
        phone.forget()
        phone.fix(10)
        let managers: [ManagerNumber] = phone.actions.compactMap {
            if case .deliver(_, let manager, _, _, _) = $0 { manager } else { nil }
        }
        #expect(managers == [2])
    }

    @Test("LOC-4: one fix is given to who asked for one, whatever the filter, and no more")
    func oneFix() {
        var phone = Phone()
        let app = phone.locating()
        phone.locate(app, .requestLocation)
        phone.forget()
        phone.fix(0)
        phone.fix(1)
        #expect(phone.verdicts == [.foregroundDeliver, .drop])
        #expect(phone.locationCommands == [.positioning(false)])
    }

    @Test("LOC-5: When In Use wakes nobody for a region")
    func whenInUse() {
        var phone = Phone()
        let app = phone.suspendedMonitor(always: false)
        phone.enter()
        #expect(phone.last?.verdict == .deny)
        #expect(phone.last?.reason == .notAuthorized)
        #expect(phone.last?.rule == .loc5)
        #expect(phone.last?.wouldHave == .resume)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("LOC-5: When In Use goes on in the background with the mode when it began in the foreground")
    func whenInUseContinues() {
        var phone = Phone()
        let app = phone.locating(always: false)
        phone.startUpdating(app)
        phone.leave(app)
        phone.forget()
        phone.fix(10)
        #expect(phone.verdicts == [.backgroundDeliver])
        #expect(phone.router.state(of: app) == .background)
    }

    @Test("LOC-5: When In Use that began in the background hears nothing there")
    func whenInUseFromBackground() {
        var phone = Phone()
        let app = phone.locating(always: false)
        phone.user(.home, app)
        phone.startUpdating(app)
        phone.report(app, .returned(.didEnterBackground))
        phone.report(app, .suspended)
        phone.forget()
        phone.fix(10)
        #expect(phone.reasons == [.notAuthorized])
    }

    @Test("LOC-5: before iOS 8 there is one level, and it wakes")
    func oneLevel() {
        var phone = Phone(.ios6)
        let app = phone.locating([], always: false)
        phone.fix(5_000)
        phone.locate(app, .monitor(phone.circle()))
        phone.leave(app)
        phone.enter()
        #expect(phone.last?.verdict == .resume)
    }

    @Test("LOC-5: the user's refusal is told, and stops what was allowed")
    func refusal() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.hear(.event(WakeEvent(kind: .authorizationChanged, app: app, authorization: .denied)))
        #expect(phone.verdicts == [.defer])
        #expect(phone.reasons == [.answerWaits])
        phone.forget()
        phone.enter()
        #expect(phone.last?.reason == .notAuthorized)
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.verdicts == [.foregroundDeliver])
        phone.startUpdating(app, background: false)
        #expect(phone.raised.last?.event.kind == .locationFailed)
        #expect(
            phone.raised.last?.payload
                == .locationFailure(
                    code: LocationFailureCode.denied,
                    message: "The user does not allow the app to know the position."
                )
        )
    }

    @Test("LOC-6: asking for background updates without the mode ends the app")
    func backgroundWithoutMode() {
        var phone = Phone()
        let app = phone.locating([])
        phone.forget()
        phone.startUpdating(app)
        #expect(phone.exits.map(\.cause) == [.crash])
        #expect(phone.faults == [.locationModeMissing])
        #expect(phone.router.state(of: app) == .notRunning)
        var old = Phone(.ios8)
        let oldApp = old.locating([])
        old.startUpdating(oldApp)
        #expect(old.exits.isEmpty)
    }

    @Test("LOC-6: without the mode the setter ends the app, before any updates", arguments: [true, false])
    func setterWithoutMode(hasMode: Bool) {
        var phone = Phone()
        let app = phone.locating(hasMode ? [.location] : [])
        #expect(phone.router.allowsBackgroundUpdates(of: app) == hasMode)
        phone.forget()
        phone.locate(app, .allowBackground)
        #expect(phone.exits.map(\.cause) == (hasMode ? [] : [.crash]))
        #expect(phone.faults == (hasMode ? [] : [.locationModeMissing]))
        #expect(phone.router.state(of: app) == (hasMode ? .active : .notRunning))
        var old = Phone(.ios8)
        let oldApp = old.locating([])
        old.locate(oldApp, .allowBackground)
        #expect(old.exits.isEmpty)
    }

    @Test("LOC-7: updates of a phone that stands still pause, and the app must start them again")
    func pause() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app, pauses: true)
        phone.fix(0)
        phone.wait(.seconds(899))
        phone.fix(20)
        phone.forget()
        phone.wait(.seconds(1))
        phone.fix(30)
        #expect(phone.kinds == [.positionFixed, .locationUpdatesPaused])
        #expect(phone.locationCommands == [.positioning(false)])
        phone.forget()
        phone.fix(5_000)
        #expect(phone.reasons == [.updatesPaused])
        #expect(phone.last?.rule == .loc7)
        phone.startUpdating(app, pauses: true)
        phone.forget()
        phone.fix(5_010)
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("LOC-7: updates that may not pause go on")
    func noPause() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app)
        phone.fix(0)
        phone.wait(.seconds(10_000))
        phone.forget()
        phone.fix(0)
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("LOC-8: a location wake gives the app ten seconds")
    func window() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.enter()
        #expect(phone.last?.snapshot.budgetLimit == .seconds(10))
        phone.wait(.milliseconds(9_999))
        #expect(phone.router.state(of: app) == .background)
        #expect(!phone.actions.contains(.freeze(app)))
        phone.wait(.milliseconds(1))
        #expect(phone.actions.contains(.freeze(app)))
    }

    @Test("LOC-9: the time for which an app keeps the receiver on is its own")
    func accounting() {
        var phone = Phone()
        let app = phone.locating()
        phone.wait(.seconds(5))
        phone.startUpdating(app, background: false)
        phone.wait(.seconds(30))
        #expect(phone.router.receiverTime(of: app, at: phone.now) == .seconds(30))
        phone.leave(app)
        phone.wait(.seconds(60))
        #expect(phone.router.receiverTime(of: app, at: phone.now) == .seconds(30))
        phone.user(.launch, app)
        phone.wait(.seconds(3))
        phone.locate(app, .stopUpdating)
        phone.wait(.seconds(60))
        #expect(phone.router.receiverTime(of: app, at: phone.now) == .seconds(33))
    }

    @Test("LAUNCH-3: a location event relaunches a force-quit app from iOS 8 on, and names the rule that lets it")
    func liftsForceQuit() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.user(.forceQuit, app)
        phone.forget()
        phone.enter()
        #expect(phone.last?.verdict == .relaunch)
        #expect(phone.last?.reason == .relaunchedAfterForceQuit)
        #expect(phone.last?.rule == .launch3)
        #expect(phone.last?.checks[.notForceQuit] == .notApplicable)
        #expect(phone.last?.snapshot.forceQuitLifted == true)
    }

    @Test("LAUNCH-3: where the switch is off, which it is on no phone from iOS 8 on, the force quit bars location too")
    func doesNotLiftForceQuit() {
        #expect(Profile.all.map(\.areas.location.liftsForceQuit) == [false, true, true, true, true, true])
        var profile = Profile.ios26
        profile.areas.location.liftsForceQuit = false
        var phone = Phone(profile)
        let app = phone.suspendedMonitor()
        phone.user(.forceQuit, app)
        phone.forget()
        phone.enter()
        #expect(phone.last?.reason == .forceQuit)
        #expect(phone.last?.rule == .launch2)
        #expect(phone.last?.wouldHave == .relaunch)
    }

    @Test("LAUNCH-5: no location event launches before the first unlock")
    func beforeFirstUnlock() {
        var phone = Phone()
        _ = phone.suspendedMonitor()
        phone.hear(.phone(.reboot))
        phone.forget()
        phone.enter()
        #expect(phone.last?.reason == .beforeFirstUnlock)
    }

    @Test("LAUNCH-6: a visit goes to who watches visits, and to nobody else")
    func visits() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .startVisits)
        phone.leave(app)
        phone.forget()
        phone.hear(.event(WakeEvent(kind: .visitBegan)))
        #expect(phone.verdicts == [.resume])
        #expect(phone.last?.snapshot.via == .visits)
        phone.locate(app, .stopVisits)
        phone.forget()
        phone.hear(.event(WakeEvent(kind: .visitEnded)))
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("LAUNCH-6: a relaunched app that makes no location manager loses its event")
    func noManager() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.hear(.terminate(app, .memory))
        phone.enter()
        phone.report(app, .launched)
        phone.forget()
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.reasons == [.managerNotCreated])
    }

    @Test("SYS-2: after a restart of the bench the sources are asked again")
    func takenUp() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.user(.launch, app)
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.forget()
        phone.hear(.benchRestarted)
        #expect(
            phone.locationCommands == [
                .positioning(true), .watchBeacons([BeaconIdentity(uuid: Phone.beacon)]),
            ]
        )
    }

    @Test("A manager is told what the app may know, and the user allows what is asked first")
    func authorization() {
        var phone = Phone()
        let app = phone.install([])
        phone.openLocating(app)
        #expect(phone.actions.contains(.tell(app, .locationAuthorization(1, .notDetermined))))
        phone.locate(app, .requestAuthorization(always: false))
        #expect(phone.last?.kind == .authorizationChanged)
        #expect(phone.last?.verdict == .foregroundDeliver)
        phone.locate(app, .create, manager: 2)
        #expect(phone.actions.contains(.tell(app, .locationAuthorization(2, .whenInUse))))
        phone.forget()
        phone.locate(app, .requestAuthorization(always: false))
        #expect(phone.decisions.isEmpty)
    }
}
