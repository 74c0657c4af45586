import Testing
import WakeModel

@testable import WakeRouter

@Suite("Bluetooth, central role")
struct BluetoothRuleTests {
    private let client = BluetoothClient(app: AppID(0), slot: 0)

    @Test("MODE-2: without bluetooth-central a suspended app is not woken, and would have been")
    func modeMissing() {
        var phone = Phone()
        let app = phone.suspendedSubscriber([.fetch])
        phone.notify()
        #expect(phone.verdicts == [.defer])
        #expect(phone.reasons == [.modeMissing])
        #expect(phone.last?.rule == .mode2)
        #expect(phone.last?.wouldHave == .resume)
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("MODE-2: without bluetooth-central a terminated app is not launched")
    func modeMissingTerminated() {
        var phone = Phone()
        _ = phone.terminatedSubscriber([])
        phone.notify()
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.modeMissing])
    }

    @Test("MODE-2: events keep no app running whose mode is missing", arguments: [true, false])
    func modeKeepsRunning(hasMode: Bool) {
        var phone = Phone()
        let app = phone.install(hasMode ? [.bluetoothCentral] : [])
        phone.open(app)
        phone.subscribe(app)
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.forget()
        phone.notify()
        #expect(phone.verdicts == [.backgroundDeliver])
        phone.request(app, .endTask(token: 1))
        #expect(phone.router.isFreezing(app) == !hasMode)
    }

    @Test("BT-1: subscriptions end with the services that they were of, and with no others", arguments: [true, false])
    func subscriptionsEndWithServices(isWithin: Bool) {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.forget()
        let range = isWithin ? Phone.heartRate - 1...Phone.heartRate : Phone.heartRate + 1...Phone.heartRate + 9
        phone.hear(
            .event(
                WakeEvent(
                    kind: .servicesModified,
                    peripheral: Phone.belt,
                    attribute: range.lowerBound,
                    local: UInt32(range.upperBound)
                )
            )
        )
        #expect(phone.verdicts == [.foregroundDeliver])
        phone.forget()
        phone.notify()
        #expect(phone.reasons == [isWithin ? .noRegistration : .inForeground])
    }

    @Test("Services that only come leave subscriptions as they are")
    func subscriptionsOutliveNewServices() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.happen(.servicesModified)
        phone.forget()
        phone.notify()
        #expect(phone.reasons == [.inForeground])
    }

    @Test(
        "BTC-1: notifications, connects, disconnects, discoveries and state changes wake a suspended app",
        arguments: [
            .characteristicNotified, .peripheralConnected, .peripheralDisconnected, .peripheralDiscovered,
            .bluetoothPoweredOff, .valueRead, .servicesModified,
        ] as [EventKind]
    )
    func wakes(kind: EventKind) {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        if kind == .peripheralConnected {
            phone.request(app, .connect(1, peripheral: Phone.belt))
        } else {
            phone.subscribe(app)
        }
        phone.leave(app)
        phone.forget()
        let answer = kind == .valueRead ? client : nil
        phone.happen(kind, attribute: Phone.heartRate, to: answer, services: [Phone.service])
        #expect(phone.verdicts == [.resume])
        #expect(phone.reasons == [.resumed])
        phone.wait(.milliseconds(9_999))
        #expect(!phone.router.isFreezing(app))
        phone.wait(.milliseconds(1))
        #expect(phone.router.isFreezing(app))
    }

    @Test("BTC-1: in the foreground an event is delivered without a window")
    func foreground() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.forget()
        let event = phone.notify()
        #expect(phone.verdicts == [.foregroundDeliver])
        #expect(phone.reasons == [.inForeground])
        #expect(phone.delivered == [event])
    }

    @Test("BTC-1: connections stay open while an app is suspended")
    func connectionsStay() {
        var phone = Phone()
        _ = phone.suspendedSubscriber()
        phone.wait(.seconds(86_400))
        phone.notify()
        #expect(phone.verdicts == [.resume])
    }

    @Test("BTC-2: what waits for an app without the mode is bounded, and the oldest gives way")
    func boundedWaiting() {
        var phone = Phone()
        let app = phone.suspendedSubscriber([])
        for _ in 0..<1_024 { phone.notify() }
        #expect(phone.reasons.allSatisfy { $0 == .modeMissing })
        phone.notify()
        #expect(phone.decisions.suffix(2).map(\.reason) == [.modeMissing, .overflow])
        #expect(phone.last?.supersedes == phone.decisions.first?.id)
        phone.user(.launch, app)
        #expect(phone.delivered.count == 1_024)
    }

    @Test("BTC-2: what waited for an app is dropped with a record when the app ends")
    func waitingDropped() {
        var phone = Phone()
        let app = phone.suspendedSubscriber([])
        phone.notify()
        phone.hear(.terminate(app, .memory))
        #expect(phone.verdicts == [.defer, .drop])
        #expect(phone.last?.reason == .appEnded)
        #expect(phone.last?.supersedes == phone.decisions.first?.id)
    }

    @Test("BTC-3: a background scan without services finds nothing")
    func scanWithoutServices() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [], allowDuplicates: false))
        phone.leave(app)
        phone.forget()
        phone.sight()
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.scanWithoutServices])
        #expect(phone.last?.rule == .btc3)
        #expect(phone.last?.wouldHave == .resume)
    }

    /// An app without the mode that scans, in a state outside the foreground; nothing before counts.
    private func scanner(in state: AppState, _ modes: [BackgroundMode]) -> Phone {
        var phone = Phone()
        let app = phone.install(modes)
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        if state != .background {
            phone.request(app, .endTask(token: 1))
            phone.report(app, .suspended)
        }
        if state == .notRunning { phone.hear(.terminate(app, .memory)) }
        phone.forget()
        return phone
    }

    @Test(
        "BTC-3: without bluetooth-central a scan finds nothing outside the foreground, and finds it there again",
        arguments: [.background, .suspended, .notRunning] as [AppState]
    )
    func scanWithoutMode(state: AppState) {
        var phone = scanner(in: state, [])
        phone.sight()
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.scanNeedsMode])
        #expect(phone.last?.rule == .btc3)
        #expect(phone.last?.wouldHave?.delivers == true)
        #expect(phone.delivered == [])
        phone.forget()
        phone.user(.launch, AppID(0))
        phone.report(AppID(0), .launched)
        #expect(phone.decisions.isEmpty)
        #expect(phone.commands == [.scan(client, services: [Phone.service], allowDuplicates: false)])
        var other = scanner(in: state, [.bluetoothCentral])
        other.sight()
        #expect(other.last?.verdict.delivers == true)
    }

    @Test("BTC-3: an inactive app is in the foreground, and its scan finds without the mode")
    func scanWhileInactive() {
        var phone = Phone()
        let app = phone.install([])
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.user(.interrupt, app)
        phone.forget()
        phone.sight()
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("BTC-3: a scan without services finds everything in the foreground")
    func scanInForeground() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [], allowDuplicates: false))
        phone.forget()
        phone.sight()
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("BTC-3: what a background scan missed is found once the app is in the foreground again")
    func missedSightingComesBack() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [], allowDuplicates: false))
        phone.leave(app)
        phone.sight()
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.commands == [.scan(client, services: [], allowDuplicates: false)])
        phone.sight()
        #expect(phone.verdicts == [.foregroundDeliver])
    }

    @Test("BTC-3: a scan hears only of peripherals that advertise a service it names")
    func otherService() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.forget()
        phone.happen(.peripheralDiscovered, services: [NameID(21)])
        #expect(phone.reasons == [.noRegistration])
    }

    @Test(
        "BTC-4: in the background repeated sightings are one, whatever AllowDuplicates says",
        arguments: [true, false]
    )
    func duplicatesInBackground(allow: Bool) {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: allow))
        phone.leave(app)
        phone.forget()
        phone.sight()
        phone.sight()
        #expect(phone.verdicts == [.resume, .coalesce])
        #expect(phone.last?.reason == .duplicateDiscovery)
        #expect(phone.last?.rule == .btc4)
        #expect(phone.last?.wouldHave == .backgroundDeliver)
    }

    @Test("BTC-4: in the foreground AllowDuplicates decides", arguments: [true, false])
    func duplicatesInForeground(allow: Bool) {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: allow))
        phone.forget()
        phone.sight()
        phone.sight()
        #expect(phone.verdicts == [.foregroundDeliver, allow ? .foregroundDeliver : .coalesce])
    }

    @Test("BTC-5: a connection request waits for a day and survives the app's process")
    func connectionWaits() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.wait(.seconds(86_400))
        phone.forget()
        phone.happen(.peripheralConnected)
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.last?.snapshot.via == .pendingConnect)
    }

    @Test("BTC-5: a cancelled connection request is gone once it is answered")
    func cancelledConnection() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.request(app, .cancelConnection(1, peripheral: Phone.belt))
        #expect(phone.commands.last == .disconnect(client, peripheral: Phone.belt))
        phone.happen(.peripheralDisconnected, to: client)
        phone.forget()
        phone.happen(.peripheralConnected)
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("BTC-6: a relaunched app's manager is restored first, then told its state, then given the event")
    func restoration() {
        var phone = Phone()
        let app = phone.terminatedSubscriber()
        let event = phone.notify()
        let decision = phone.last!.id
        phone.forget()
        phone.request(app, .createManager(7, restoreIdentifier: Phone.identifier))
        let state = RestoredState(
            peripherals: [.init(name: Phone.belt, connected: true, subscriptions: [Phone.heartRate])],
            scanServices: nil,
            scanAllowsDuplicates: false
        )
        #expect(
            phone.actions == [
                .tell(app, .restore(7, state)),
                .tell(app, .managerState(7, .poweredOn)),
                .deliver(app, manager: 7, event, decision),
                .discard(app, event),
            ]
        )
    }

    @Test("BTC-6: the services and options of a scan are restored")
    func restoredScan() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: true))
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.sight()
        #expect(phone.last?.verdict == .relaunch)
        phone.forget()
        phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
        let state = RestoredState(peripherals: [], scanServices: [Phone.service], scanAllowsDuplicates: true)
        #expect(phone.actions.first == .tell(app, .restore(1, state)))
    }

    @Test("BTC-6: an app that was not waiting for the event is not relaunched")
    func notWaiting() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.forget()
        phone.happen(.peripheralConnected)
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("BTC-6: an event whose manager the relaunched app never makes is dropped when the wake is over")
    func managerNeverMade() {
        var phone = Phone()
        let app = phone.terminatedSubscriber()
        phone.notify()
        phone.report(app, .launched)
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.verdicts == [.relaunch, .drop])
        #expect(phone.last?.reason == .managerNotCreated)
    }

    @Test("BTC-6: before iOS 7 nothing is restored")
    func noRestorationBeforeSeven() {
        var phone = Phone(.ios6)
        _ = phone.terminatedSubscriber()
        phone.notify()
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.noRestoreIdentifier])
    }

    @Test("BTC-7: without a restore identifier a terminated app is not relaunched, and would have been")
    func noRestoreIdentifier() {
        var phone = Phone()
        _ = phone.terminatedSubscriber(restoreIdentifier: .none)
        phone.notify()
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.noRestoreIdentifier])
        #expect(phone.last?.rule == .btc6)
        #expect(phone.last?.wouldHave == .relaunch)
    }

    @Test("BTC-7: one manager with a restore identifier is enough, and the others are let go")
    func oneManagerIsEnough() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app, restoreIdentifier: .none)
        phone.request(app, .createManager(2, restoreIdentifier: Phone.identifier))
        phone.subscribe(app)
        phone.subscribe(app, manager: 2, slot: 1)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.forget()
        let event = phone.notify()
        #expect(phone.verdicts == [.relaunch])
        phone.request(app, .createManager(3, restoreIdentifier: Phone.identifier))
        #expect(phone.delivered == [event])
    }

    @Test(
        "BTC-8: a link that a restart ends is recorded for its app, which is not relaunched for it",
        arguments: [true, false]
    )
    func connectedAtReboot(passcode: Bool) {
        var phone = Phone(passcode: passcode)
        let app = phone.suspendedSubscriber()
        let reboot = phone.hear(.phone(.reboot))
        #expect(phone.decisions.map(\.app) == [app])
        #expect(phone.last?.kind == .peripheralDisconnected)
        #expect(phone.last?.parent == reboot)
        #expect(phone.last?.reason == (passcode ? .beforeFirstUnlock : .notRelaunchedAfterExit))
        phone.hear(.phone(.unlock))
        #expect(phone.last?.reason == .notRelaunchedAfterExit)
        #expect(phone.last?.rule == .btc8)
        #expect(phone.last?.wouldHave == .relaunch)
        #expect(phone.router.state(of: app) == .notRunning)
        phone.forget()
        phone.notify()
        phone.happen(.peripheralDisconnected)
        #expect(phone.reasons == [.noRegistration, .noRegistration])
    }

    @Test("BTC-8: a restart ends the links of an app without restore identifier, too, and of no process of long ago")
    func connectedAtRebootWithoutIdentifier() {
        var phone = Phone(passcode: false)
        let app = phone.suspendedSubscriber(restoreIdentifier: .none)
        phone.hear(.phone(.reboot))
        #expect(phone.decisions.map(\.app) == [app])
        #expect(phone.reasons == [.noRestoreIdentifier])
        var other = Phone(passcode: false)
        _ = other.terminatedSubscriber(restoreIdentifier: .none)
        other.hear(.phone(.reboot))
        #expect(other.decisions.isEmpty)
    }

    @Test("BTC-10: Bluetooth off is told, ends every connection, and refuses requests")
    func bluetoothOff() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        let event = phone.happen(.bluetoothPoweredOff)
        #expect(phone.verdicts == [.resume])
        #expect(phone.delivered == [event])
        phone.notify()
        #expect(phone.last?.reason == .noRegistration)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        #expect(phone.faults == [.bluetoothOff, .bluetoothOff])
    }

    @Test("BTC-10: an answer that comes after Bluetooth went off is dropped")
    func answerAfterOff() {
        var phone = Phone()
        _ = phone.suspendedSubscriber()
        phone.happen(.bluetoothPoweredOff)
        phone.happen(.valueRead, to: client)
        #expect(phone.last?.verdict == .drop)
        #expect(phone.last?.reason == .bluetoothOff)
        #expect(phone.last?.rule == .btc10)
    }

    @Test("BT-1: an app that unsubscribed is not woken")
    func unsubscribed() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.request(app, .operate(1, peripheral: Phone.belt, .setNotify(Phone.heartRate, false)))
        phone.leave(app)
        phone.forget()
        phone.notify()
        #expect(phone.reasons == [.noRegistration])
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test("BT-1: an app that stopped scanning is not woken")
    func stoppedScanning() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.request(app, .stopScan(1))
        phone.leave(app)
        phone.forget()
        phone.sight()
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("BT-1: an app that released its manager is not woken")
    func releasedManager() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.request(app, .releaseManager(1))
        #expect(phone.commands.last == .release(client))
        phone.leave(app)
        phone.forget()
        phone.notify()
        #expect(phone.reasons == [.noRegistration])
    }

    @Test(
        "BT-1: a notification that was held when the app unsubscribed, or released its manager, is dropped at once",
        arguments: [true, false]
    )
    func unwantedWhileHeld(unsubscribes: Bool) {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.forget()
        phone.notify()
        #expect(phone.verdicts.isEmpty)
        let unsubscription = AppRequest.operate(1, peripheral: Phone.belt, .setNotify(Phone.heartRate, false))
        phone.request(app, unsubscribes ? unsubscription : .releaseManager(1))
        #expect(phone.verdicts == [.drop])
        #expect(phone.reasons == [.registrationEnded])
        #expect(phone.last?.rule == .bt1)
    }

    @Test("BT-1: the answer to a process that is gone wakes nobody")
    func answerToDeadProcess() {
        var phone = Phone()
        _ = phone.terminatedSubscriber()
        phone.happen(.valueRead, to: client)
        #expect(phone.verdicts == [.drop])
        #expect(phone.reasons == [.registrationEnded])
    }
}
