import Testing
import WakeModel

@testable import WakeRouter

@Suite("The system")
struct SystemRuleTests {
    @Test("SYS-2: after a restart of the bench scans and pending connections are asked for again")
    func takenUpAgain() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.forget()
        phone.hear(.benchRestarted)
        #expect(phone.exits.map(\.cause) == [.bench])
        #expect(!phone.actions.contains(.kill(app)))
        let client = BluetoothClient(app: app, slot: 0)
        #expect(
            phone.commands == [
                .scan(client, services: [Phone.service], allowDuplicates: false),
                .connect(client, peripheral: Phone.belt),
            ]
        )
        phone.happen(.peripheralConnected, to: client)
        #expect(phone.verdicts == [.relaunch])
    }

    @Test("SYS-2: a connection that was up when the bench died relaunches its app by the news of its end")
    func connectionEnds() {
        var phone = Phone()
        _ = phone.suspendedSubscriber()
        phone.hear(.benchRestarted)
        phone.happen(.peripheralDisconnected)
        #expect(phone.verdicts == [.relaunch])
        phone.notify()
        #expect(phone.last?.reason == .noRegistration)
    }

    @Test("SYS-2: a delivery lost with the bench relaunches the app, and replaces its record")
    func redelivered() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        let event = phone.notify()
        let first = phone.last!.id
        phone.hear(.benchRestarted)
        phone.forget()
        phone.hear(.redeliver(app, notification(event), supersedes: first))
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.last?.supersedes == first)
        #expect(phone.last?.event == event)
    }

    @Test("SYS-2: an event that waited for a launching app when the bench died launches it again")
    func waitingDecidedAgain() {
        var phone = Phone()
        let app = phone.terminatedSubscriber()
        let event = phone.notify()
        let first = phone.last!.id
        phone.forget()
        phone.hear(.benchRestarted)
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.last?.supersedes == first)
        phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
        #expect(phone.delivered == [event])
    }

    @Test("SYS-2: an event that waited for an app without the mode when the bench died is dropped with a record")
    func deferredDropped() {
        var phone = Phone()
        _ = phone.suspendedSubscriber([])
        phone.notify()
        phone.hear(.benchRestarted)
        #expect(phone.verdicts == [.defer, .drop])
        #expect(phone.last?.reason == .benchRestarted)
    }

    @Test("SYS-2: a sighting lost with the bench is no duplicate of itself")
    func sightingRedelivered() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.leave(app)
        let event = phone.sight()
        let first = phone.last!.id
        phone.hear(.benchRestarted)
        let sighting = WakeEvent(
            kind: .peripheralDiscovered,
            peripheral: Phone.belt,
            services: [Phone.service],
            id: event
        )
        phone.hear(.redeliver(app, sighting, supersedes: first))
        #expect(phone.verdicts == [.resume, .relaunch])
    }

    @Test("SYS-2: a delivery lost with the bench that the rules do not allow now is dropped with that reason")
    func notRedelivered() {
        var phone = Phone()
        let app = phone.suspendedSubscriber(restoreIdentifier: .none)
        let event = phone.notify()
        let first = phone.last!.id
        phone.hear(.benchRestarted)
        phone.forget()
        phone.hear(.redeliver(app, notification(event), supersedes: first))
        #expect(phone.verdicts == [.drop])
        #expect(phone.reasons == [.benchRestarted])
        #expect(phone.last?.rule == .sys2)
        #expect(phone.last?.supersedes == first)
    }

    private func notification(_ event: EventID) -> WakeEvent {
        WakeEvent(
            kind: .characteristicNotified,
            peripheral: Phone.belt,
            attribute: Phone.heartRate,
            id: event
        )
    }

    @Test("SYS-3: a due deadline is handled before an input of the same instant")
    func deadlineFirst() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.notify()
        phone.waitUnnoticed(.seconds(10))
        phone.forget()
        phone.notify()
        #expect(phone.actions.first == .freeze(app))
        #expect(phone.decisions == [])
        phone.report(app, .suspended)
        #expect(phone.verdicts == [.resume])
    }

    @Test("SYS-3: time that goes back is taken as standing still")
    func timeGoesBack() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.wait(.seconds(60))
        phone.notify()
        var output = RouterOutput()
        phone.router.handle(.request(app, .done), id: .none, at: .zero, into: &output)
        phone.router.handle(.process(app, .suspended), id: .none, at: .zero, into: &output)
        phone.wait(.zero)
        phone.notify()
        #expect(phone.last?.at == phone.now)
    }

    @Test("SYS-4: every check is evaluated, and the first failing one of the rulebook decides")
    func allChecks() {
        var phone = Phone()
        let app = phone.endingSubscriber([], restoreIdentifier: .none)
        phone.notify()
        phone.report(app, .returned(.willTerminate))
        let decision = phone.last!
        #expect(
            Check.allCases.filter { decision.checks[$0] == .fail } == [.notForceQuit, .modePresent, .restoreIdentifier]
        )
        let ofCentralRole: [Check] = [
            .notForceQuit, .unlockedSinceBoot, .modePresent, .scanHasMode, .scanNamesServices, .notDuplicate,
            .restoreIdentifier, .exitAllowsRelaunch, .bluetoothOn,
            .bluetoothAuthorized, .deliveryWanted, .runsInBackground,
        ]
        #expect(Check.allCases.filter { decision.checks[$0] != .notEvaluated } == ofCentralRole)
        #expect(decision.checks.decisive == .notForceQuit)
        #expect(decision.reason == .forceQuit)
        #expect(decision.wouldHave == .deny)
    }

    @Test("SYS-4: the order of checks is the order of the rulebook")
    func orderOfChecks() {
        let rules = Check.allCases.map(\.rule)
        #expect(rules.map(\.rawValue) == rules.map(\.rawValue).sorted())
    }

    @Test("SYS-4: each interested app has its own record")
    func eachAppARecord() {
        var phone = Phone()
        let first = phone.suspendedSubscriber()
        let second = phone.install([])
        phone.open(second)
        phone.subscribe(second)
        phone.leave(second)
        phone.forget()
        phone.notify()
        #expect(phone.decisions.map(\.app) == [first, second])
        #expect(phone.verdicts == [.resume, .defer])
    }

    @Test("SYS-4: two managers of one app have one record and a delivery each")
    func twoManagers() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .createManager(2, restoreIdentifier: .none))
        phone.subscribe(app)
        phone.subscribe(app, manager: 2, slot: 1)
        phone.forget()
        let event = phone.notify()
        #expect(phone.verdicts == [.foregroundDeliver])
        #expect(phone.delivered == [event, event])
    }

    @Test("SYS-4: two managers of one app both get what was held while its process was frozen")
    func twoManagersHeld() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .createManager(2, restoreIdentifier: .none))
        phone.subscribe(app)
        phone.subscribe(app, manager: 2, slot: 1)
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.forget()
        let event = phone.happen(.peripheralDisconnected)
        phone.report(app, .suspended)
        #expect(phone.verdicts == [.resume])
        #expect(phone.delivered == [event, event])
    }

    @Test("SYS-4: an uninstalled app's waiting events have a record, and it is interested in nothing more")
    func uninstalled() {
        var phone = Phone()
        let app = phone.suspendedSubscriber([])
        phone.notify()
        phone.hear(.uninstall(app))
        #expect(phone.verdicts == [.defer, .drop])
        phone.forget()
        phone.notify()
        #expect(phone.reasons == [.noRegistration])
    }
}
