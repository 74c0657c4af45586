import Testing
import WakeModel

@testable import WakeRouter

@Suite("Reduced accuracy")
struct ReducedAccuracyTests {
    @Test("LOC-11: with reduced accuracy no crossing wakes an app, and with the precise position the next does")
    func crossings() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.user(.refusePrecise, app)
        #expect(!phone.router.knowsPrecisely(app))
        #expect(phone.router.registrations(of: app).map(\.lacks) == [.reducedAccuracy])
        phone.forget()
        phone.enter()
        let denied = phone.decisions(about: .regionEntered)
        #expect(denied.map(\.reason) == [.reducedAccuracy])
        #expect(denied.map(\.verdict) == [.deny])
        #expect(denied.map(\.rule) == [.loc11])
        #expect(denied.map(\.wouldHave) == [.resume])
        phone.user(.allowPrecise, app)
        #expect(phone.router.registrations(of: app).map(\.lacks) == [nil])
        phone.forget()
        phone.fix(5_000)
        phone.wait(.seconds(20))
        #expect(phone.decisions(about: .regionExited).map(\.verdict) == [.resume])
        #expect(phone.last?.checks[.precisionNotNeeded] == .notEvaluated)
    }

    @Test("LOC-11: with reduced accuracy an app in the foreground hears of no beacon, watched for or ranged")
    func beacons() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.locate(app, .range(phone.beacons()))
        phone.user(.refusePrecise, app)
        phone.forget()
        phone.sightBeacon()
        phone.wait(.seconds(1))
        #expect(phone.decisions(about: .regionEntered).map(\.reason) == [.reducedAccuracy])
        #expect(phone.decisions(about: .beaconsRanged).map(\.reason) == [.reducedAccuracy])
    }

    @Test("LOC-11: significant changes, visits and updates come with reduced accuracy, too")
    func goesOn() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .startSignificant)
        phone.locate(app, .startVisits)
        phone.user(.refusePrecise, app)
        phone.startUpdating(app, background: false)
        phone.forget()
        phone.fix(0)
        phone.hear(.event(WakeEvent(kind: .visitBegan)))
        for kind in [EventKind.positionFixed, .significantChange, .visitBegan] {
            let decisions = phone.decisions(about: kind)
            #expect(decisions.map(\.verdict) == [.foregroundDeliver])
            #expect(decisions.map { $0.checks[.precisionNotNeeded] } == [.pass])
        }
    }

    @Test("LOC-11, REG-5: with reduced accuracy the state of a region is unknown")
    func state() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .monitor(phone.circle()))
        for (action, state) in [(UserAction.refusePrecise, RegionState.unknown), (.allowPrecise, .inside)] {
            phone.user(action, app)
            phone.forget()
            phone.locate(app, .requestState(identifier: Phone.home))
            #expect(phone.raised.map { $0.payload } == [.regionState(state)])
        }
    }

    @Test("LOC-11: an app with a location manager is told that it may know less, or more, and of nothing that was so")
    func told() {
        var phone = Phone()
        let app = phone.locating([])
        phone.forget()
        phone.user(.refusePrecise, app)
        #expect(phone.decisions(about: .authorizationChanged).map(\.verdict) == [.foregroundDeliver])
        #expect(phone.router.locationAuthorization(of: app) == .provisionalAlways)
        phone.forget()
        phone.user(.refusePrecise, app)
        #expect(phone.decisions.isEmpty)
        #expect(phone.deeds(.foundItSo) == [app])
        let other = phone.install([])
        phone.forget()
        phone.user(.refusePrecise, other)
        #expect(phone.decisions.isEmpty)
        #expect(!phone.router.knowsPrecisely(other))
    }

    @Test("LOC-11: before iOS 14 the user cannot keep the precise position from an app, which is said")
    func before() {
        var phone = Phone(.ios13)
        let app = phone.suspendedMonitor()
        phone.user(.refusePrecise, app)
        #expect(phone.deeds(.foundNoSuchChoice) == [app])
        #expect(phone.router.knowsPrecisely(app))
        phone.enter()
        #expect(phone.decisions(about: .regionEntered).map(\.verdict) == [.resume])
    }
}
