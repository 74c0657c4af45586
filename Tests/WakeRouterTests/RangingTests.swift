import Testing
import WakeModel

@testable import WakeRouter

@Suite("Ranging")
struct RangingTests {
    @Test("BCN-4: a running app gets one report a second for each constraint, with all its beacons")
    func reports() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .range(phone.beacons()))
        phone.locate(app, .range(phone.beacons(Phone.home, major: 2)))
        phone.forget()
        phone.sightBeacon(major: 1, minor: 1, distance: 3)
        phone.sightBeacon(major: 2, minor: 1, distance: 1)
        phone.sightBeacon(major: 2, minor: 2, distance: -1)
        #expect(phone.kinds == [.beaconSighted, .beaconSighted, .beaconSighted])
        #expect(phone.reasons.allSatisfy { $0 == .ledToEvents })
        phone.forget()
        phone.wait(.milliseconds(999))
        #expect(phone.kinds.isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.kinds == [.beaconsRanged, .beaconsRanged])
        #expect(phone.decisions.map(\.subject) == [Phone.shop, Phone.home])
        #expect(phone.verdicts == [.foregroundDeliver, .foregroundDeliver])
        #expect(phone.delivered.count == 2)
        #expect(
            phone.ranged.map { $0.map { [$0.major, $0.minor] } } == [[[2, 1], [1, 1], [2, 2]], [[2, 1], [2, 2]]]
        )
        #expect(phone.ranged.first?.map(\.proximity) == [.near, .near, .unknown])
    }

    @Test("BCN-4: when none is there the list is empty, and it comes all the same")
    func empty() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .range(phone.beacons()))
        phone.forget()
        phone.wait(.seconds(3))
        #expect(phone.ranged == [[], [], []])
        #expect(phone.verdicts.count == 3)
        #expect(phone.verdicts.allSatisfy { $0 == .foregroundDeliver })
    }

    @Test("BCN-4: a beacon that is heard no more is at an unknown distance, and then not listed")
    func lost() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .range(phone.beacons()))
        phone.forget()
        phone.sightBeacon(distance: 0.2)
        phone.wait(.seconds(12))
        #expect(
            phone.ranged.map { $0.map(\.proximity) } == [[.immediate]]
                + Array(repeating: [.unknown], count: 8) + [[], [], []]
        )
        #expect(phone.ranged[1].first?.signalStrength == 0)
        phone.forget()
        phone.sightBeacon(distance: 9)
        phone.sightBeacon(distance: 8)
        phone.wait(.seconds(1))
        #expect(phone.ranged.map { $0.map(\.distance) } == [[8]])
    }

    @Test("BCN-4: a suspended app gets no report, nor afterwards what was heard meanwhile")
    func suspended() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .range(phone.beacons()))
        phone.leave(app)
        phone.forget()
        phone.sightBeacon()
        #expect(phone.reasons == [.beaconKnown])
        phone.wait(.seconds(60))
        #expect(phone.ranged.isEmpty)
        phone.hear(.event(WakeEvent(kind: .beaconsRanged, region: Phone.shop, app: app)))
        #expect(phone.last?.reason == .rangingNeedsRunning)
        #expect(phone.last?.rule == .bcn4)
        phone.sightBeacon()
        phone.user(.launch, app)
        phone.forget()
        phone.wait(.seconds(1))
        #expect(phone.ranged == [[]])
    }

    @Test("BCN-4: an app that runs again gets its first report an interval later, whenever it had the last")
    func intervalBeginsAnew() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .range(phone.beacons()))
        phone.wait(.milliseconds(400))
        phone.leave(app)
        phone.wait(.milliseconds(200))
        phone.user(.launch, app)
        phone.forget()
        phone.wait(.milliseconds(999))
        #expect(phone.ranged.isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.ranged == [[]])
    }

    @Test("BCN-4: ranging goes on inside a wake, and does not make it longer")
    func insideWake() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.locate(app, .range(phone.beacons()))
        phone.leave(app)
        phone.forget()
        phone.sightBeacon()
        #expect(phone.router.state(of: app) == .background)
        phone.wait(.milliseconds(9_999))
        #expect(phone.decisions(about: .beaconsRanged).map(\.verdict) == Array(repeating: .backgroundDeliver, count: 9))
        #expect(!phone.actions.contains(.freeze(app)))
        phone.wait(.milliseconds(1))
        #expect(phone.actions.contains(.freeze(app)))
        phone.report(app, .suspended)
        phone.forget()
        phone.wait(.seconds(5))
        #expect(phone.ranged.isEmpty)
    }

    @Test("BCN-4: a report that falls due as its wake ends is not made, and nothing of it is decided")
    func atTheEndOfAWake() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.locate(app, .range(phone.beacons()))
        phone.leave(app)
        phone.sightBeacon()
        phone.wait(.milliseconds(9_999))
        phone.forget()
        phone.wait(.milliseconds(1))
        #expect(phone.actions.contains(.freeze(app)))
        #expect(phone.decisions.isEmpty)
        #expect(phone.ranged.isEmpty)
        // It runs on until the next attempt, and so do the reports.
        phone.report(app, .suspensionRefused)
        phone.forget()
        phone.wait(.seconds(1))
        #expect(phone.decisions(about: .beaconsRanged).map(\.verdict) == [.backgroundDeliver])
    }

    @Test("BCN-4: what is stopped, released with the process or replaced is reported no more")
    func stopped() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .range(phone.beacons()))
        phone.sightBeacon()
        phone.locate(app, .range(phone.beacons(major: 9)))
        phone.forget()
        phone.wait(.seconds(1))
        #expect(phone.ranged == [[]])
        phone.locate(app, .stopRanging(identifier: Phone.shop))
        #expect(phone.locationCommands.last == .watchBeacons([]))
        phone.forget()
        phone.wait(.seconds(2))
        #expect(phone.ranged.isEmpty)
        phone.locate(app, .range(phone.beacons()))
        phone.hear(.terminate(app, .cpu))
        phone.forget()
        phone.wait(.seconds(2))
        #expect(phone.ranged.isEmpty)
    }
}

extension Phone {
    /// The lists of beacons that were reported, in order.
    fileprivate var ranged: [[BeaconSighting]] {
        raised.compactMap { if case .beacons(let beacons) = $0.payload { beacons } else { nil } }
    }
}
