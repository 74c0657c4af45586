import Testing
import WakeModel

@testable import WakeRouter

@Suite("Regions and beacons")
struct RegionRuleTests {
    @Test("REG-1: coming in and going out are one event each, and being inside at registration is none")
    func crossings() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .monitor(phone.circle()))
        phone.forget()
        phone.wait(.seconds(60))
        phone.fix(10)
        phone.fix(1_300)
        phone.wait(.seconds(20))
        phone.fix(100)
        phone.wait(.seconds(20))
        let crossings = phone.decisions.filter { $0.app == app }
        #expect(crossings.map(\.kind) == [.regionExited, .regionEntered])
        #expect(crossings.allSatisfy { $0.subject == Phone.home && $0.snapshot.via == .region })
    }

    @Test("REG-1: a region that is registered before the first fix takes its state from it, without an event")
    func firstFix() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitor(phone.circle()))
        phone.forget()
        phone.fix(0)
        phone.wait(.seconds(60))
        #expect(phone.reasons == [.nothingCrossed])
        phone.locate(app, .requestState(identifier: Phone.home))
        #expect(phone.raised.last?.payload == .regionState(.inside))
    }

    @Test("REG-2: the boundary itself is not far enough, in either direction")
    func margin() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(5_000)
        phone.locate(app, .monitor(phone.circle()))
        phone.forget()
        phone.fix(810)
        phone.wait(.seconds(60))
        #expect(phone.decisions(about: .regionEntered).isEmpty)
        phone.fix(790)
        #expect(phone.last?.reason == .crossingBegan)
        #expect(phone.last?.rule == .reg2)
        phone.wait(.seconds(20))
        #expect(phone.decisions(about: .regionEntered).count == 1)
        phone.fix(1_190)
        phone.wait(.seconds(60))
        #expect(phone.decisions(about: .regionExited).isEmpty)
        phone.fix(1_210)
        phone.wait(.seconds(20))
        #expect(phone.decisions(about: .regionExited).count == 1)
    }

    @Test("REG-2: a crossing counts when the dwell is over, and its parent is the fix that began it")
    func dwell() {
        var phone = Phone()
        _ = phone.suspendedMonitor()
        let fix = phone.fix(100)
        phone.wait(.milliseconds(19_999))
        #expect(phone.decisions(about: .regionEntered).isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.decisions(about: .regionEntered).map(\.verdict) == [.resume])
        #expect(phone.last?.parent == fix)
    }

    @Test("REG-2: who comes back before the dwell is over has crossed nothing")
    func comesBack() {
        var phone = Phone()
        _ = phone.suspendedMonitor()
        phone.fix(100)
        phone.wait(.seconds(10))
        phone.fix(900)
        phone.wait(.seconds(60))
        #expect(phone.decisions(about: .regionEntered).isEmpty)
        phone.fix(100)
        phone.wait(.seconds(19))
        #expect(phone.decisions(about: .regionEntered).isEmpty)
    }

    @Test(
        "REG-2: a fix that is less sure than it is far from the boundary crosses it all the same, and that is told",
        arguments: [
            (1_300, 299, false), (1_300, 301, true), (700, 299, false), (700, 301, true),
        ] as [(Double, Double, Bool)]
    )
    func poorFix(metres: Double, accuracy: Double, isTold: Bool) {
        var phone = Phone()
        let app = phone.locating([])
        let isExit = metres > 1_000
        phone.fix(isExit ? 0 : 5_000)
        phone.locate(app, .monitor(phone.circle()))
        phone.leave(app)
        phone.forget()
        let fix = phone.fix(metres, accuracy: accuracy)
        phone.wait(.milliseconds(19_999))
        #expect(phone.deeds(.crossedByPoorFix) == [])
        phone.wait(.milliseconds(1))
        #expect(phone.last?.kind == (isExit ? .regionExited : .regionEntered))
        #expect(phone.last?.verdict == .resume)
        #expect(phone.last?.parent == fix)
        #expect(phone.deeds(.crossedByPoorFix) == (isTold ? [app] : []))
        let causes = phone.actions.compactMap { action in
            if case .did(_, .crossedByPoorFix, Phone.home, let event) = action { event } else { nil }
        }
        #expect(causes == (isTold ? [fix] : []))
    }

    @Test("REG-2: what was crossed by a good fix stays so when poor ones follow")
    func poorFixesFollow() {
        var phone = Phone()
        _ = phone.suspendedMonitor()
        phone.fix(100, accuracy: 5)
        phone.wait(.seconds(1))
        phone.fix(100, accuracy: 5_000)
        phone.wait(.seconds(19))
        #expect(phone.last?.kind == .regionEntered)
        #expect(phone.deeds(.crossedByPoorFix) == [])
    }

    @Test("REG-3: the 21st region fails and changes nothing, and the same identifier replaces")
    func limit() {
        var phone = Phone()
        let app = phone.locating([])
        for number in 0..<19 {
            phone.locate(app, .monitor(phone.circle(NameID(UInt32(500 + number)))))
        }
        phone.locate(app, .monitorBeacons(phone.beacons()))
        #expect(phone.decisions(about: .monitoringStarted).count == 20)
        phone.forget()
        phone.locate(app, .monitor(phone.circle(NameID(600))))
        #expect(phone.kinds == [.monitoringFailed])
        guard case .locationFailure(let code, _) = phone.raised.last?.payload else {
            Issue.record("no failure")
            return
        }
        #expect(code == LocationFailureCode.regionMonitoringFailure)
        phone.forget()
        phone.locate(app, .monitor(phone.circle(NameID(500), at: 9_000)))
        #expect(phone.kinds == [.monitoringStarted])
        phone.locate(app, .stopMonitoring(identifier: NameID(501)))
        phone.locate(app, .monitor(phone.circle(NameID(600))))
        #expect(phone.kinds == [.monitoringStarted, .monitoringStarted])
    }

    @Test("REG-3: a region that is asked for again as it is keeps its state, so that a relaunch makes no second entry")
    func askedForAgain() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.sightBeacon()
        #expect(phone.last?.verdict == .relaunch)
        phone.locate(app, .create)
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.forget()
        phone.sightBeacon()
        #expect(phone.reasons == [.beaconKnown])
    }

    @Test("REG-4: a side that is not wanted is neither told nor wakes")
    func sides() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(5_000)
        phone.locate(app, .monitor(phone.circle(notifyOnEntry: false)))
        phone.leave(app)
        phone.forget()
        phone.enter()
        #expect(phone.last?.reason == .sideNotWanted)
        #expect(phone.last?.rule == .reg4)
        #expect(phone.last?.wouldHave == .resume)
        phone.forget()
        phone.fix(5_000)
        phone.wait(.seconds(20))
        #expect(phone.last?.verdict == .resume)
    }

    @Test("REG-4: a side of a beacon region that is not wanted is neither told nor wakes", arguments: [true, false])
    func sidesOfBeacons(wantsEntry: Bool) {
        var phone = Phone()
        let app = phone.locating([])
        var region = phone.beacons()
        region.notifyOnEntry = wantsEntry
        region.notifyOnExit = !wantsEntry
        phone.locate(app, .monitorBeacons(region))
        phone.leave(app)
        phone.forget()
        phone.sightBeacon()
        #expect(phone.last?.kind == .regionEntered)
        #expect(phone.last?.verdict == (wantsEntry ? .resume : .drop))
        #expect(phone.last?.reason == (wantsEntry ? .resumed : .sideNotWanted))
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        phone.forget()
        phone.wait(.milliseconds(20_001))
        #expect(phone.kinds == [.regionExited])
        #expect(phone.verdicts == [wantsEntry ? .drop : .resume])
    }

    @Test("LOC-5: an app that the user denies the position monitors nothing", arguments: [true, false])
    func denied(isRestricted: Bool) {
        var phone = Phone()
        let app = phone.install([])
        phone.openLocating(app)
        let answer: LocationAuthorization = isRestricted ? .restricted : .denied
        phone.hear(.event(WakeEvent(kind: .authorizationChanged, app: app, authorization: answer)))
        phone.fix(5_000)
        phone.forget()
        phone.locate(app, .monitor(phone.circle()))
        phone.locate(app, .monitorBeacons(phone.beacons()))
        #expect(phone.kinds == [.monitoringFailed, .monitoringFailed])
        #expect(
            phone.raised.allSatisfy {
                if case .locationFailure(LocationFailureCode.regionMonitoringDenied, _) = $0.payload {
                    true
                } else {
                    false
                }
            }
        )
        #expect(phone.router.monitoredRegions(of: app).circles.isEmpty)
        #expect(phone.locationCommands.isEmpty)
        phone.forget()
        phone.enter()
        #expect(phone.decisions(about: .regionEntered).isEmpty)
    }

    @Test("REG-1: a circle that is registered anew, as after a launch, stays where it was known to be")
    func registeredAnew() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .monitor(phone.circle()))
        // Between the boundary and the margin the phone has not left; a fresh registration would say outside.
        phone.fix(1_100)
        phone.locate(app, .monitor(phone.circle()))
        phone.locate(app, .requestState(identifier: Phone.home))
        #expect(phone.raised.last?.payload == .regionState(.inside))
        phone.forget()
        phone.fix(1_300)
        phone.wait(.seconds(20))
        #expect(phone.decisions(about: .regionExited).count == 1)
        // At another place it is another region.
        phone.locate(app, .monitor(phone.circle(at: 10_000)))
        phone.locate(app, .requestState(identifier: Phone.home))
        #expect(phone.raised.last?.payload == .regionState(.outside))
    }

    @Test("SYS-2: after a reboot the sources are asked again for what regions need")
    func takenUpAfterReboot() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.user(.launch, app)
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.forget()
        phone.hear(.phone(.reboot))
        #expect(
            phone.locationCommands.suffix(2) == [
                .positioning(true), .watchBeacons([BeaconIdentity(uuid: Phone.beacon)]),
            ]
        )
    }

    @Test("REG-5: the state of a monitored region is inside, outside or unknown, and of another a failure")
    func state() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitor(phone.circle()))
        phone.locate(app, .requestState(identifier: Phone.home))
        #expect(phone.raised.last?.payload == .regionState(.unknown))
        phone.fix(0)
        phone.locate(app, .requestState(identifier: Phone.home))
        #expect(phone.raised.last?.payload == .regionState(.inside))
        phone.fix(3_000)
        phone.wait(.seconds(20))
        phone.locate(app, .requestState(identifier: Phone.home))
        #expect(phone.raised.last?.payload == .regionState(.outside))
        #expect(phone.last?.verdict == .foregroundDeliver)
        #expect(phone.last?.snapshot.via == .answer)
        phone.locate(app, .requestState(identifier: Phone.shop))
        #expect(phone.last?.kind == .monitoringFailed)
    }

    @Test("REG-6: a region survives the process and a reboot, and brings the app back")
    func survives() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.hear(.terminate(app, .memory))
        phone.hear(.phone(.reboot))
        phone.hear(.phone(.unlock))
        phone.forget()
        phone.enter()
        #expect(phone.last?.verdict == .relaunch)
        phone.forget()
        phone.locate(app, .create)
        let managers: [ManagerNumber] = phone.actions.compactMap {
            if case .deliver(_, let manager, _, _, _) = $0 { manager } else { nil }
        }
        #expect(managers == [0])
    }

    @Test("REG-6: a region that the app gave up, or that went with it, wakes nobody")
    func givenUp() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.user(.launch, app)
        phone.locate(app, .stopMonitoring(identifier: Phone.home))
        #expect(phone.locationCommands == [.positioning(false)])
        phone.leave(app)
        phone.forget()
        phone.enter()
        #expect(phone.reasons == [.noRegistration])
        let other = phone.suspendedMonitor()
        phone.hear(.uninstall(other))
        phone.forget()
        phone.enter()
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("REG-7: a radius beyond the largest fails")
    func radius() {
        var phone = Phone()
        let app = phone.locating([])
        phone.forget()
        phone.locate(app, .monitor(phone.circle(radius: 1_000_001)))
        phone.locate(app, .monitor(phone.circle(radius: .nan)))
        phone.locate(app, .monitor(phone.circle(radius: 999_999)))
        #expect(phone.kinds == [.monitoringFailed, .monitoringFailed, .monitoringStarted])
    }

    @Test("A crossing that a scenario says itself goes to every app that watches a region of that name")
    func direct() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.hear(.event(WakeEvent(kind: .regionEntered, subject: Phone.home, region: Phone.home)))
        #expect(phone.verdicts == [.resume])
        phone.locate(app, .requestState(identifier: Phone.home))
        #expect(phone.raised.last?.payload == .regionState(.inside))
        phone.forget()
        phone.hear(.event(WakeEvent(kind: .regionEntered, subject: Phone.shop, region: Phone.shop)))
        #expect(phone.reasons == [.noRegistration])
    }

    @Test(
        "BCN-1: the first matching beacon is an entry, the next is none",
        arguments: [(nil, nil), (1, nil), (1, 7)] as [(UInt16?, UInt16?)]
    )
    func beaconEntry(major: UInt16?, minor: UInt16?) {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons(major: major, minor: minor)))
        phone.leave(app)
        phone.forget()
        let sighting = phone.sightBeacon(major: 1, minor: 7)
        #expect(phone.kinds == [.beaconSighted, .regionEntered])
        #expect(phone.reasons == [.ledToEvents, .resumed])
        #expect(phone.last?.parent == sighting)
        phone.forget()
        phone.sightBeacon(major: 1, minor: 7)
        #expect(phone.reasons == [.beaconKnown])
        #expect(phone.last?.app == AppID.none)
    }

    @Test("BCN-1: a beacon of another major or minor is nobody's")
    func otherBeacon() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons(major: 1, minor: 7)))
        #expect(
            phone.locationCommands == [.watchBeacons([BeaconIdentity(uuid: Phone.beacon, major: 1, minor: 7)])]
        )
        phone.forget()
        phone.sightBeacon(major: 1, minor: 8)
        phone.sightBeacon(major: 2, minor: 7)
        #expect(phone.reasons == [.noRegistration, .noRegistration])
    }

    @Test("BCN-2: a beacon that was not heard for 30 s is gone")
    func beaconExit() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.sightBeacon()
        phone.wait(.seconds(20))
        phone.sightBeacon()
        phone.wait(.seconds(30))
        #expect(phone.decisions(about: .regionExited).isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.decisions(about: .regionExited).map(\.app) == [app])
        phone.forget()
        phone.sightBeacon()
        #expect(phone.kinds == [.beaconSighted, .regionEntered])
    }

    @Test("BCN-2: a beacon that is heard at the very end of the 30 s is in time, whatever came before at that instant")
    func heardAtTheEnd() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.sightBeacon()
        phone.forget()
        phone.wait(.seconds(30))
        phone.fix(0)
        phone.sightBeacon()
        #expect(phone.decisions(about: .beaconSighted).map(\.reason) == [.beaconKnown])
        phone.wait(.seconds(30))
        #expect(phone.decisions(about: .regionExited).isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.decisions(about: .regionExited).count == 1)
        #expect(phone.decisions(about: .regionEntered).isEmpty)
    }

    @Test("BCN-2: the silence of a beacon begins when it was last heard, and not with the report of that")
    func heardBeforeReport() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.wait(.seconds(1))
        phone.sightBeacon(age: .milliseconds(900))
        phone.forget()
        phone.wait(.milliseconds(29_100))
        #expect(phone.decisions(about: .regionExited).isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.decisions(about: .regionExited).count == 1)
    }

    @Test("BCN-2: a report of what was heard earlier shortens nothing")
    func heardEarlier() {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons()))
        phone.wait(.seconds(1))
        phone.sightBeacon(minor: 1)
        phone.sightBeacon(minor: 2, age: .milliseconds(900))
        phone.forget()
        phone.wait(.seconds(30))
        #expect(phone.decisions(about: .regionExited).isEmpty)
        phone.wait(.milliseconds(1))
        #expect(phone.decisions(about: .regionExited).count == 1)
    }

    @Test("BCN-3: turning the display on tells who asked for it that it is inside", arguments: [true, false])
    func display(asked: Bool) {
        var phone = Phone()
        let app = phone.locating([])
        phone.locate(app, .monitorBeacons(phone.beacons(onDisplay: asked)))
        phone.hear(.phone(.displayOn))
        #expect(phone.decisions(about: .regionStateDetermined).isEmpty)
        phone.sightBeacon()
        phone.leave(app)
        phone.forget()
        phone.hear(.phone(.displayOn))
        #expect(phone.verdicts == (asked ? [.resume] : []))
        #expect(phone.raised.last?.payload == (asked ? .regionState(.inside) : nil))
    }
}
