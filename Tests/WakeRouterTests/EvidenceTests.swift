import Testing
import WakeModel

@testable import WakeRouter

@Suite("What a record says of its reasons")
struct EvidenceTests {
    private func asked(_ decision: Decision?) -> [Check] {
        Check.allCases.filter { decision?.checks[$0] != .notEvaluated }
    }

    @Test("SYS-4: a record about no app asks of its own area, and never whether an app registered that did")
    func area() {
        var phone = Phone()
        _ = phone.suspendedMonitor()
        phone.fix(4_000)
        #expect(phone.last?.app == AppID.none)
        #expect(asked(phone.last) == [.anyoneRegistered, .crossesBoundary, .dwellOver])
        #expect(phone.last?.checks[.anyoneRegistered] == .pass)
        #expect(phone.last?.checks.decisive == .crossesBoundary)
        #expect(phone.last?.wouldHave == .drop)
        phone.fix(100)
        #expect(phone.last?.reason == .crossingBegan)
        #expect(phone.last?.checks.decisive == .dwellOver)
        #expect(phone.last?.wouldHave == .coalesce)
    }

    @Test("SYS-4: an event that led to others merged into them, and nothing failed")
    func ledToEvents() {
        var phone = Phone()
        let app = phone.locating([])
        phone.fix(0)
        phone.locate(app, .startSignificant)
        phone.leave(app)
        phone.wait(.seconds(600))
        phone.forget()
        phone.fix(9_000)
        #expect(phone.decisions.first?.verdict == .coalesce)
        #expect(phone.decisions.first?.reason == .ledToEvents)
        #expect(phone.decisions.first?.checks.decisive == nil)
    }

    @Test("SYS-4: what nobody registered for tells nothing of what would have been")
    func nobody() {
        var phone = Phone()
        phone.notify()
        #expect(asked(phone.last) == [.anyoneRegistered])
        #expect(phone.last?.wouldHave == nil)
    }

    @Test("SYS-4: what finds no room is asked all that the rules ask, and whether there was room")
    func overflow() {
        var phone = Phone()
        _ = phone.suspendedSubscriber()
        phone.notify()
        let usual = asked(phone.last)
        _ = phone.hear(
            .overflowed(
                WakeEvent(
                    kind: .characteristicNotified,
                    peripheral: Phone.belt,
                    attribute: Phone.heartRate,
                    id: EventID(99)
                )
            )
        )
        #expect(phone.last?.reason == .overflow)
        #expect(asked(phone.last) == usual + [.roomInQueues])
        #expect(phone.last?.checks.decisive == .roomInQueues)
        #expect(phone.last?.wouldHave == .backgroundDeliver)
    }

    @Test("SYS-4: what is lost names what would have stood in its way first")
    func overflowOfRefused() {
        var phone = Phone()
        _ = phone.suspendedSubscriber([])
        _ = phone.hear(
            .overflowed(
                WakeEvent(
                    kind: .characteristicNotified,
                    peripheral: Phone.belt,
                    attribute: Phone.heartRate,
                    id: EventID(99)
                )
            )
        )
        // It does not wait: there was no room for it.
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.modeMissing])
        #expect(phone.last?.wouldHave == .drop)
        #expect(Check.allCases.filter { phone.last?.checks[$0] == .fail } == [.modePresent, .roomInQueues])
    }

    @Test("SYS-4: a second record that ends the waiting asks nothing again, and says which one it follows")
    func endOfWaiting() {
        var phone = Phone()
        let app = phone.suspendedSubscriber([])
        phone.notify()
        let first = phone.last!
        phone.user(.launch, app)
        #expect(phone.last?.reason == .deliveredLater)
        #expect(phone.last?.rule == .btc2)
        #expect(phone.last?.checks.isEmpty == true)
        #expect(phone.last?.supersedes == first.id)
        #expect(phone.last?.wouldHave == .foregroundDeliver)
    }

    @Test("SYS-4: of an event that its app did not live to get nobody knows what would have been")
    func appEnded() {
        var phone = Phone()
        let app = phone.suspendedSubscriber([])
        phone.notify()
        let first = phone.last!
        phone.hear(.terminate(app, .memory))
        #expect(phone.last?.reason == .appEnded)
        #expect(phone.last?.checks.isEmpty == true)
        #expect(phone.last?.supersedes == first.id)
        #expect(phone.last?.wouldHave == nil)
    }

    @Test("SYS-4: what was held while an app ended, and is lost in a restart of the phone, was asked about")
    func heldAtReboot() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.forget()
        phone.notify()
        #expect(phone.decisions.isEmpty)
        phone.hear(.phone(.reboot))
        let lost = phone.decisions.first { $0.kind == .characteristicNotified }
        #expect(lost?.reason == .appEnded)
        #expect(lost?.checks.decisive == .lastsUntilDecided)
        #expect(lost?.checks[.modePresent] == .pass)
        #expect(lost?.wouldHave == .backgroundDeliver)
    }

    @Test("BTC-8: the restart of the phone that decides is shown, and is over with the next launch")
    func restart() {
        var phone = Phone(.ios8)
        let app = phone.install()
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.leave(app)
        phone.hear(.phone(.reboot))
        phone.hear(.phone(.unlock))
        phone.forget()
        phone.happen(.peripheralConnected, to: BluetoothClient(app: app, slot: 0))
        #expect(phone.last?.checks[.exitAllowsRelaunch] == .fail)
        #expect(phone.last?.snapshot.rebootedSince == true)
        #expect(phone.last?.wouldHave == .relaunch)
        phone.open(app)
        phone.subscribe(app)
        phone.notify()
        #expect(phone.last?.snapshot.rebootedSince == false)
    }

    @Test("BTC-3: a discovery shows how many services its scan names")
    func services() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service, NameID(21)], allowDuplicates: false))
        phone.sight()
        #expect(phone.last?.snapshot.scanServices == 2)
    }

    @Test("LAUNCH-2: the user who opens an app that a location event brought back lifts its bar")
    func broughtBack() {
        var phone = Phone()
        let app = phone.suspendedMonitor()
        phone.user(.forceQuit, app)
        phone.enter()
        #expect(phone.last?.reason == .relaunchedAfterForceQuit)
        #expect(phone.last?.snapshot.forceQuitLifted == true)
        phone.report(app, .launched)
        phone.user(.launch, app)
        #expect(phone.router.state(of: app) == .active)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.forget()
        phone.fix(9_000)
        phone.wait(.seconds(20))
        #expect(phone.last?.kind == .regionExited)
        #expect(phone.last?.reason == .relaunched)
        #expect(phone.last?.snapshot.forceQuit == false)
    }

    @Test("LIFE-1: an app has no process since it was installed, and not since before")
    func installed() {
        var phone = Phone()
        phone.wait(.seconds(50))
        let app = phone.install([])
        phone.locate(app, .create)
        phone.hear(
            .event(WakeEvent(kind: .authorizationChanged, app: app, authorization: .always))
        )
        #expect(phone.last?.snapshot.stateSince == phone.now)
        phone.hear(.uninstall(app))
        phone.wait(.seconds(50))
        phone.hear(.install(app, AppManifest(bundle: NameID(100), modes: [])))
        phone.hear(.event(WakeEvent(kind: .authorizationChanged, app: app, authorization: .always)))
        #expect(phone.last?.snapshot.stateSince == phone.now)
    }
}
