import Testing
import WakeModel

@testable import WakeRouter

/// What an app is not registered for any more, and what took it.
struct Loss: Equatable {
    var app: AppID
    var via: Registration
    var subject: NameID
    var taker: Deed

    init(_ app: AppID, _ via: Registration, of subject: NameID = .none, _ taker: Deed) {
        (self.app, self.via, self.subject, self.taker) = (app, via, subject, taker)
    }
}

extension Phone {
    /// What was said to be lost, in order.
    var losses: [Loss] {
        actions.compactMap {
            guard case .lost(let app, let via, let subject, let taker, _) = $0 else { return nil }
            return Loss(app, via, of: subject, taker)
        }
    }

    /// What records call the belt's heart rate, and another characteristic of it.
    static let measurement = NameID(41)
    static let bodySensor = NameID(42)

    /// The belt says yes to a subscription.
    mutating func confirm(
        _ app: AppID,
        _ attribute: AttributeHandle = Phone.heartRate,
        as subject: NameID = Phone.measurement
    ) {
        hear(
            .event(
                WakeEvent(
                    kind: .notificationStateChanged,
                    peripheral: Phone.belt,
                    attribute: attribute,
                    subject: subject,
                    client: BluetoothClient(app: app, slot: 0)
                )
            )
        )
    }
}

/// What takes the link of an app that sleeps.
enum LinkEnd: CaseIterable {
    case process, forceQuit, reboot, radio, uninstalled, link

    var taker: Deed {
        switch self {
        case .process: .lostWithoutRestoreIdentifier
        case .forceQuit: .lostToForceQuit
        case .reboot: .lostToReboot
        case .radio: .lostToRadio
        case .uninstalled: .lostToUninstall
        case .link: .lostWithLink
        }
    }

    func befall(_ app: AppID, in phone: inout Phone) {
        switch self {
        case .process: phone.hear(.terminate(app, .memory))
        case .forceQuit: phone.user(.forceQuit, app)
        case .reboot: phone.hear(.phone(.reboot))
        case .radio: phone.happen(.bluetoothPoweredOff)
        case .uninstalled: phone.hear(.uninstall(app))
        case .link: phone.happen(.peripheralDisconnected, failed: true)
        }
    }
}

@Suite("What an app loses is said, with what took it")
struct LossTests {
    @Test("BTC-6: a link goes with the process where its manager has no restore identifier, and stays where it has one")
    func noRestoreIdentifier() {
        var phone = Phone()
        let app = phone.suspendedSubscriber(restoreIdentifier: .none)
        let end = phone.hear(.terminate(app, .memory))
        #expect(phone.losses == [Loss(app, .connection, of: Phone.belt, .lostWithoutRestoreIdentifier)])
        let told: [EventID] = phone.actions.compactMap {
            if case .lost(_, _, _, _, let event) = $0 { event } else { nil }
        }
        #expect(told == [end])
        var other = Phone()
        let kept = other.suspendedSubscriber()
        other.hear(.terminate(kept, .memory))
        #expect(other.losses == [])
    }

    @Test("BTC-6: where no version restores anything, no identifier would have kept it")
    func noRestoration() {
        var profile = Profile.ios17
        profile.areas.bluetooth.restoration = false
        var phone = Phone(profile)
        let app = phone.suspendedSubscriber()
        phone.hear(.terminate(app, .memory))
        #expect(phone.losses == [Loss(app, .connection, of: Phone.belt, .lostWithProcess)])
    }

    @Test("BTP-4: what an app published goes with the process where its manager has no restore identifier")
    func unpreserved() {
        var phone = Phone()
        let app = phone.publisher(restoreIdentifier: .none)
        phone.leave(app)
        phone.forget()
        phone.hear(.terminate(app, .memory))
        #expect(phone.losses == [Loss(app, .publishedService, .lostUnpreserved)])
    }

    @Test(
        "LAUNCH-2: a force quit takes a link, of an app that runs and of one whose process is gone",
        arguments: [true, false]
    )
    func forceQuit(isAlive: Bool) {
        var phone = Phone()
        let app = isAlive ? phone.suspendedSubscriber() : phone.terminatedSubscriber()
        phone.user(.forceQuit, app)
        #expect(phone.losses == [Loss(app, .connection, of: Phone.belt, .lostToForceQuit)])
        #expect(phone.deeds(.barredWithoutProcess) == (isAlive ? [] : [app]))
        #expect(phone.deeds(.foundItSo) == [])
        phone.forget()
        let event = phone.user(.forceQuit, app)
        #expect(phone.actions.contains(.did(app, .foundItSo, event)))
        #expect(phone.deeds(.barredWithoutProcess) == [] && phone.losses == [])
    }

    @Test("BTC-8: a restart of the phone takes links once, and not what waits for one", arguments: [true, false])
    func reboot(isKept: Bool) {
        var phone = Phone()
        let app = phone.suspendedSubscriber(restoreIdentifier: isKept ? Phone.identifier : .none)
        phone.hear(.phone(.reboot))
        #expect(phone.losses == [Loss(app, .connection, of: Phone.belt, .lostToReboot)])
        var other = Phone()
        let waiting = other.install()
        other.open(waiting)
        other.request(waiting, .connect(1, peripheral: Phone.belt))
        other.leave(waiting)
        other.forget()
        other.hear(.phone(.reboot))
        #expect(other.losses == [])
    }

    @Test("BTC-10: Bluetooth takes links with it when it goes off")
    func radioOff() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.happen(.bluetoothPoweredOff)
        #expect(phone.losses == [Loss(app, .connection, of: Phone.belt, .lostToRadio)])
    }

    @Test("BTC-8: of an app without a process Bluetooth takes what the system kept, and nobody is told to ask again")
    func radioOffAfterEnd() {
        var phone = Phone()
        let app = phone.terminatedSubscriber()
        phone.happen(.bluetoothPoweredOff)
        #expect(phone.losses == [Loss(app, .connection, of: Phone.belt, .lostToRadioAfterEnd)])
    }

    @Test("SYS-2: an app that is uninstalled takes all with it, once", arguments: [true, false])
    func uninstalled(isKept: Bool) {
        var phone = Phone()
        let app = phone.suspendedSubscriber(restoreIdentifier: isKept ? Phone.identifier : .none)
        phone.hear(.uninstall(app))
        #expect(phone.losses == [Loss(app, .connection, of: Phone.belt, .lostToUninstall)])
    }

    @Test("LIFE-10, LOC-3: location updates go with the process, and a region does not")
    func updates() {
        var phone = Phone()
        let app = phone.locating()
        phone.startUpdating(app)
        phone.locate(app, .monitor(phone.circle()))
        phone.forget()
        phone.hear(.terminate(app, .crash))
        #expect(phone.losses == [Loss(app, .standardUpdates, .lostWithProcess)])
    }

    @Test(
        "BTC-11: a link that is lost is said to be; one that the app cancelled it gave up itself",
        arguments: [true, false]
    )
    func link(isCancelled: Bool) {
        var phone = Phone()
        let app = phone.withApp()
        phone.subscribe(app)
        phone.forget()
        if isCancelled { phone.request(app, .cancelConnection(1, peripheral: Phone.belt)) }
        let client = BluetoothClient(app: app, slot: 0)
        phone.happen(.peripheralDisconnected, to: isCancelled ? client : nil, failed: !isCancelled)
        let taker: Deed = isCancelled ? .unregistered : .lostWithLink
        #expect(phone.losses == [Loss(app, .connection, of: Phone.belt, taker)])
    }

    @Test("BT-1: what an app gives up itself is said, and what it never had is not")
    func unregistered() {
        var phone = Phone()
        let app = phone.withApp()
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.subscribe(app)
        phone.confirm(app)
        phone.forget()
        phone.request(app, .stopScan(1))
        phone.request(app, .stopScan(1))
        phone.request(app, .operate(1, peripheral: Phone.belt, .setNotify(Phone.heartRate, false)))
        phone.request(app, .operate(1, peripheral: Phone.belt, .setNotify(Phone.heartRate, false)))
        #expect(
            phone.losses == [
                Loss(app, .scan, of: Phone.service, .unregistered),
                Loss(app, .subscription, of: Phone.measurement, .unregistered),
            ]
        )
        phone.forget()
        phone.request(app, .releaseManager(1))
        #expect(phone.losses == [Loss(app, .connection, of: Phone.belt, .unregistered)])
    }

    @Test(
        "BT-1: what the peripheral has confirmed an app is registered for, and loses with the link",
        arguments: LinkEnd.allCases
    )
    func subscription(end: LinkEnd) {
        var phone = Phone()
        let app = phone.install()
        phone.open(app, restoreIdentifier: end == .process ? .none : Phone.identifier)
        phone.subscribe(app)
        // Nothing is lost of what the peripheral has not answered to.
        phone.request(app, .operate(1, peripheral: Phone.belt, .setNotify(0x20, true)))
        #expect(phone.router.registrations(of: app).map(\.via) == [.connection])
        phone.confirm(app)
        #expect(phone.router.registrations(of: app).map(\.subject) == [Phone.belt, Phone.measurement])
        phone.leave(app)
        phone.forget()
        end.befall(app, in: &phone)
        #expect(
            phone.losses == [
                Loss(app, .connection, of: Phone.belt, end.taker),
                Loss(app, .subscription, of: Phone.measurement, end.taker),
            ]
        )
        #expect(phone.router.registrations(of: app).isEmpty)
    }

    @Test("BTC-11: a link that the system makes again is not lost, and what was subscribed to over it is")
    func reconnected() {
        var phone = Phone()
        let app = phone.withApp()
        phone.request(app, .connect(1, peripheral: Phone.belt, options: .reconnects))
        phone.happen(.peripheralConnected, to: BluetoothClient(app: app, slot: 0))
        phone.request(app, .operate(1, peripheral: Phone.belt, .setNotify(Phone.heartRate, true)))
        phone.confirm(app)
        phone.forget()
        phone.happen(.peripheralDisconnected, failed: true)
        #expect(phone.losses == [Loss(app, .subscription, of: Phone.measurement, .lostWithLink)])
    }

    @Test("BT-1: a subscription goes with its service, and one of another service stays")
    func service() {
        var phone = Phone()
        let app = phone.withApp()
        phone.subscribe(app)
        phone.request(app, .operate(1, peripheral: Phone.belt, .setNotify(0x20, true)))
        phone.confirm(app)
        phone.confirm(app, 0x20, as: Phone.bodySensor)
        phone.forget()
        let gone = WakeEvent(kind: .servicesModified, peripheral: Phone.belt, attribute: 0x1f, local: 0x2f)
        phone.hear(.event(gone))
        #expect(phone.losses == [Loss(app, .subscription, of: Phone.bodySensor, .lostWithService)])
        #expect(phone.router.registrations(of: app).map(\.subject) == [Phone.belt, Phone.measurement])
    }

    @Test("EA-2: a session goes with its accessory, and by the accessory's wish", arguments: [true, false])
    func session(isPulled: Bool) {
        var phone = Phone()
        let app = phone.suspendedHolder()
        if isPulled { phone.pull() } else { phone.dockEvent(.accessorySessionEnded, 1) }
        #expect(phone.losses == [Loss(app, .accessorySession, of: Phone.dock, .lostWithDetachment)])
    }

    @Test("EA-1: without the mode a session goes with the foreground")
    func sessionInBackground() {
        var phone = Phone()
        let app = phone.installAccessoryApp([])
        phone.openAccessoryApp(app)
        phone.plug()
        phone.openSession(app)
        phone.forget()
        phone.user(.home, app)
        #expect(phone.losses == [Loss(app, .accessorySession, of: Phone.dock, .lostInBackground)])
    }

    @Test("XFER-5: a force quit takes transfers that are under way, and no other end does", arguments: [true, false])
    func transfers(isAlive: Bool) {
        var phone = Phone()
        let app = isAlive ? phone.suspendedDownloader(tasks: 2) : phone.terminatedDownloader(tasks: 2)
        phone.end(app, 1)
        #expect(phone.router.registrations(of: app).map(\.subject) == [Phone.session])
        phone.forget()
        phone.user(.forceQuit, app)
        #expect(phone.losses == [Loss(app, .transferSession, of: Phone.session, .lostToForceQuit)])
        #expect(phone.router.registrations(of: app).isEmpty)
        var other = Phone()
        let kept = other.suspendedDownloader()
        other.hear(.terminate(kept, .memory))
        other.hear(.phone(.reboot))
        #expect(other.losses == [])
    }

    @Test("XFER-2: of a session whose transfers are over nothing is waited for, and nothing is lost")
    func transfersOver() {
        var phone = Phone()
        let app = phone.suspendedDownloader()
        phone.end(app)
        #expect(phone.router.registrations(of: app).isEmpty)
        phone.user(.forceQuit, app)
        #expect(phone.losses == [])
    }

    @Test("NOTE-4: a notification that the app takes back it gave up itself", arguments: [true, false])
    func cancelledNotification(isAll: Bool) {
        var phone = Phone()
        let app = phone.appInFront()
        phone.schedule(app, .interval(.seconds(600), repeats: false))
        phone.forget()
        let request: NotificationRequest = isAll ? .cancelAll : .cancel([Phone.notice])
        phone.request(app, .notification(request))
        phone.request(app, .notification(request))
        #expect(phone.losses == [Loss(app, .notification, of: Phone.notice, .unregistered)])
    }

    @Test(
        "XFER-2: a session whose last transfer the app stops it gave up itself",
        arguments: [TransferRequest.cancel(2), .cancelKeepingBytes(2), .suspend(2)]
    )
    func stoppedTransfers(request: TransferRequest) {
        var phone = Phone()
        // A discretionary transfer waits, and the source has not begun it.
        let app = phone.downloader(tasks: 2) { $0.isDiscretionary = true }
        phone.forget()
        phone.transfer(app, .cancel(1))
        #expect(phone.losses == [])
        phone.transfer(app, request)
        #expect(phone.losses == [Loss(app, .transferSession, of: Phone.session, .unregistered)])
        #expect(phone.router.registrations(of: app).isEmpty)
    }

    @Test("A request that comes true is no loss")
    func connected() {
        var phone = Phone()
        let app = phone.withApp()
        phone.subscribe(app)
        phone.leave(app)
        phone.notify()
        #expect(phone.losses == [])
    }

    // MARK: Questions

    /// What is said of a value of the belt that came now, where nobody is registered for it.
    private func refusal(_ phone: Phone, _ app: AppID, _ kind: EventKind = .characteristicNotified) -> [Decision] {
        var asked = phone.router
        var output = RouterOutput()
        var event = WakeEvent(kind: kind, peripheral: Phone.belt, attribute: Phone.heartRate)
        event.id = EventID(99)
        asked.refuseBarred(event, for: app, at: phone.now, into: &output)
        return output.decisions
    }

    @Test("LAUNCH-2: of an app that was force-quit the bar is what stands against an event that it lost its link for")
    func refusedBarred() {
        var phone = Phone()
        let app = phone.terminatedSubscriber(cause: .userForceQuit)
        let decisions = refusal(phone, app)
        #expect(decisions.map(\.verdict) == [.deny])
        #expect(decisions.map(\.reason) == [.forceQuit])
        #expect(decisions.map(\.rule) == [.launch2])
        #expect(decisions.map(\.app) == [app])
        // What a force quit leaves alone does not fail for it.
        #expect(refusal(phone, app, .regionEntered).isEmpty)
        phone.user(.launch, app)
        #expect(refusal(phone, app).isEmpty)
    }

    @Test("XFER-2: the next transfer of a session is asked about, as the last one is over; a force quit leaves none")
    func nextTransfer() throws {
        var phone = Phone()
        let app = phone.suspendedDownloader(tasks: 2)
        phone.end(app, 1)
        phone.hear(.terminate(app, .memory))
        func next(_ phone: Phone) -> WakeEvent? {
            var asked = phone.router
            return asked.nextTry(after: .transferEnded(1, of: app, task: 1, Phone.session, .finished))
        }
        var event = try #require(next(phone))
        event.id = EventID(99)
        var (asked, output) = (phone.router, RouterOutput())
        asked.handle(.event(event), id: event.id, at: phone.now, into: &output)
        #expect(output.decisions.map(\.verdict) == [.relaunch])
        #expect(output.decisions.map(\.reason) == [.sessionDone])
        phone.user(.forceQuit, app)
        #expect(next(phone) == nil)
        #expect(refusal(phone, app, .transferEnded).map(\.reason) == [.forceQuit])
    }

    @Test("LAUNCH-2: an app that is not barred is refused nothing for it")
    func notBarred() {
        var phone = Phone()
        let app = phone.terminatedSubscriber(restoreIdentifier: .none)
        #expect(refusal(phone, app).isEmpty)
        var profile = Profile.ios17
        profile.forceQuitBars = false
        var old = Phone(profile)
        let swiped = old.terminatedSubscriber(cause: .userForceQuit)
        #expect(refusal(old, swiped).isEmpty)
    }

    @Test("BTC-6: how an app stands with a peripheral follows what became of its link")
    func standing() {
        var phone = Phone()
        let app = phone.install()
        func standing() -> LinkStanding { phone.router.standing(of: app, with: Phone.belt) }
        #expect(standing() == .neverRan)
        phone.open(app, restoreIdentifier: .none)
        #expect(standing() == .unlinked)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        #expect(standing() == .pending)
        phone.happen(.peripheralConnected, to: BluetoothClient(app: app, slot: 0))
        #expect(standing() == .connected)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        #expect(standing() == .unlinked)
        phone.hear(.uninstall(app))
        #expect(standing() == .notInstalled)
    }
}

/// What is done to an app or a phone that is not as it is meant for.
@Suite("What changes nothing is said to change nothing")
struct FindingTests {
    @Test(
        "LIFE-1: what is done to an app that does not run changes nothing",
        arguments: [UserAction.home, .interrupt, .resumeActive]
    )
    func notRunning(action: UserAction) {
        var phone = Phone()
        let app = phone.terminatedSubscriber()
        let event = phone.user(action, app)
        #expect(phone.actions.contains(.did(app, .foundNoProcess, event)))
        #expect(phone.moves == [])
    }

    @Test("LIFE-1: an app that sleeps is sent home in vain, and one in the foreground is not")
    func elsewhere() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.user(.home, app)
        #expect(phone.deeds(.foundElsewhere) == [app])
        phone.user(.launch, app)
        phone.user(.launch, app)
        #expect(phone.deeds(.foundItSo) == [app])
        phone.forget()
        phone.user(.interrupt, app)
        phone.user(.resumeActive, app)
        phone.user(.home, app)
        #expect(phone.actions.allSatisfy { if case .did(_, let deed, _, _) = $0 { !deed.tellsOfAct } else { true } })
    }

    @Test("LIFE-5, LAUNCH-2: an app without a process is ended in vain; a force quit bars it all the same")
    func ended() {
        var phone = Phone()
        let app = phone.terminatedSubscriber()
        let event = phone.hear(.terminate(app, .memory))
        #expect(phone.actions.contains(.did(app, .foundNoProcess, event)))
        #expect(phone.exits == [])
        phone.user(.forceQuit, app)
        #expect(phone.deeds(.barredWithoutProcess) == [app])
        var profile = Profile.ios17
        profile.forceQuitBars = false
        var old = Phone(profile)
        let swiped = old.terminatedSubscriber()
        old.user(.forceQuit, swiped)
        #expect(old.deeds(.foundNoProcess) == [swiped])
        #expect(old.deeds(.barredWithoutProcess) == [])
    }

    @Test("SYS-2: what is done to an app that is not installed changes nothing")
    func notInstalled() {
        var phone = Phone()
        let app = phone.install()
        phone.hear(.uninstall(app))
        phone.forget()
        let events = [
            phone.user(.launch, app), phone.hear(.uninstall(app)), phone.hear(.terminate(app, .memory)),
            phone.hear(.setUp(app, peripheral: Phone.belt)),
        ]
        #expect(phone.actions == events.map { Action.did(app, .foundNotInstalled, $0) })
    }

    @Test("SYS-1: a phone that is off takes nothing but to be turned on, and one that is so already stays so")
    func phone() {
        var phone = Phone()
        let app = phone.install()
        phone.hear(.phone(.lock))
        #expect(phone.deeds(.foundItSo) == [])
        phone.hear(.phone(.lock))
        #expect(phone.deeds(.foundItSo) == [.none])
        phone.hear(.phone(.shutDown))
        phone.hear(.phone(.unlock))
        #expect(phone.deeds(.foundPhoneOff) == [.none])
        phone.user(.launch, app)
        #expect(phone.deeds(.foundPhoneOff) == [.none, app])
        phone.hear(.uninstall(app))
        phone.hear(.clock(PhoneClock(epoch: 0, zone: 3_600)))
        #expect(phone.deeds(.foundPhoneOff) == [.none, app, app, .none])
        phone.hear(.phone(.boot))
        phone.hear(.phone(.boot))
        #expect(phone.deeds(.foundItSo) == [.none, .none])
        phone.user(.launch, app)
        #expect(phone.deeds(.foundNotInstalled) == [])
    }

    @Test("SYS-1: a phone that is on is not started, and its display stays as it is")
    func started() {
        var phone = Phone()
        phone.hear(.phone(.displayOn))
        phone.forget()
        let event = phone.hear(.phone(.boot))
        #expect(phone.actions == [.did(.none, .foundItSo, event)])
        #expect(phone.router.conditions.contains(.displayOn))
    }

    @Test(
        "SYS-1: a change that finds the phone so already says so, and comes to nothing else",
        arguments: [
            ([], PhoneChange.bluetoothOn), ([.bluetoothOff], .bluetoothOff),
            ([.bluetoothOff], .bluetoothOffInControlCentre), ([], .airplaneModeOff),
            ([.airplaneModeOn], .airplaneModeOn),
            ([.airplaneModeOnKeepingBluetooth], .airplaneModeOnKeepingBluetooth), ([], .callEnded),
            ([], .callEndedWithoutResume), ([], .callEndedUntold), ([.callBegan], .callBegan), ([], .setPasscode),
            ([.removePasscode], .removePasscode), ([], .displayOn),
            ([], .memoryRelief), ([.chargerConnected], .chargerConnected),
        ] as [([PhoneChange], PhoneChange)]
    )
    func again(before: [PhoneChange], change: PhoneChange) {
        var phone = Phone()
        for first in before {
            phone.hear(.phone(first))
            if first == .bluetoothOff || first == .airplaneModeOn { phone.happen(.bluetoothPoweredOff) }
            #expect(phone.deeds(.foundItSo) == [])
        }
        phone.forget()
        let event = phone.hear(.phone(change))
        #expect(phone.actions == [Action.did(.none, .foundItSo, event)])
    }

    @Test("MEM-1: word about memory comes to nothing where no app runs")
    func memory() {
        var phone = Phone()
        for change in [PhoneChange.memoryWarning, .memoryShortage] {
            let event = phone.hear(.phone(change))
            #expect(phone.actions == [Action.did(.none, .foundNoAppRunning, event)])
            phone.forget()
        }
        let app = phone.suspendedSubscriber()
        phone.hear(.phone(.memoryShortage))
        #expect(phone.deeds(.purgedForMemory) == [app])
        #expect(phone.deeds(.foundNoAppRunning) == [])
    }

    @Test("SYS-5, PWR-3, BTC-8: what is done to an app that is so already changes nothing")
    func appAgain() {
        var phone = Phone()
        let app = phone.install(accessorySetup: true)
        let actions: [UserAction] = [.attachDebugger, .attachExemptingDebugger, .refuseRefresh]
        for action in actions { phone.user(action, app) }
        phone.hear(.setUp(app, peripheral: Phone.belt))
        #expect(phone.deeds(.foundItSo) == [])
        for action in [UserAction.attachExemptingDebugger, .refuseRefresh] { phone.user(action, app) }
        phone.hear(.setUp(app, peripheral: Phone.belt))
        phone.user(.detachDebugger, app)
        phone.user(.detachDebugger, app)
        #expect(phone.deeds(.foundItSo) == [app, app, app, app])
    }
}
