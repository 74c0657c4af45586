import Testing
import WakeModel

@testable import WakeRouter

@Suite("Bluetooth, peripheral role")
struct PeripheralRuleTests {
    private let client = Phone.client
    private let full = Phone.lampInFull
    private let reduced = Phone.lampReduced

    @Test(
        "BTP-1: reads, writes, subscriptions and channels of a central wake a suspended app for 10 s",
        arguments: [
            .readRequested, .writeRequested, .centralSubscribed, .centralUnsubscribed, .channelOpened,
            .channelDataAvailable,
        ] as [EventKind]
    )
    func wakes(kind: EventKind) {
        var phone = Phone()
        let app = phone.suspendedPublisher()
        phone.hear(kind)
        #expect(phone.verdicts == [.resume])
        #expect(phone.last?.snapshot.via == .publishedService)
        #expect(phone.delivered.count == 1)
        phone.wait(.milliseconds(9_999))
        #expect(!phone.router.isFreezing(app))
        phone.wait(.milliseconds(1))
        #expect(phone.router.isFreezing(app))
    }

    @Test("BTP-1: the answer of the app reaches the central, once")
    func answers() {
        var phone = Phone()
        let app = phone.suspendedPublisher()
        phone.read(7)
        phone.ask(app, .respond(request: 7, result: 0, value: [80]))
        phone.ask(app, .respond(request: 7, result: 0, value: [81]))
        #expect(phone.airCommands == [.respond(client, request: 7, result: 0, value: [80])])
        #expect(phone.faults == [.unknownRequest])
    }

    @Test("BTP-1: a central that gets no answer within 30 s gets an error, and the record says whose fault it is")
    func noAnswer() {
        var phone = Phone()
        _ = phone.suspendedPublisher()
        phone.read(7)
        phone.wait(.milliseconds(29_999))
        #expect(phone.answers == [])
        phone.wait(.milliseconds(1))
        #expect(phone.answers == [[7, 0x0e]])
        #expect(phone.faults == [.requestNotAnswered])
    }

    @Test("BTP-1: a central whose request dies with the process gets an error at once")
    func processGone() {
        var phone = Phone()
        let app = phone.suspendedPublisher()
        phone.read(7)
        phone.report(app, .exited(-11))
        #expect(phone.answers == [[7, 0x0e]])
        #expect(phone.router.nextDeadline == nil)
    }

    @Test("BTP-1: a manager takes 64 open requests, and the next central is told that it is too busy")
    func tooManyRequests() {
        var phone = Phone()
        _ = phone.publisher()
        phone.forget()
        for number in 1...65 as ClosedRange<UInt32> { phone.read(number) }
        #expect(phone.answers == [[65, 0x11]])
        #expect(phone.last?.verdict == .drop)
        #expect(phone.last?.reason == .overflow)
    }

    @Test("BTP-1: what is no central's request does not wake the app and waits for it", arguments: [false, true])
    func notARequest(withMode: Bool) {
        var phone = Phone()
        let app = phone.suspendedPublisher(withMode ? [.bluetoothPeripheral] : [])
        phone.hear(.readyToUpdate, local: 0)
        #expect(phone.verdicts == [.defer])
        #expect(phone.reasons == [withMode ? .notARequest : .modeMissing])
        phone.user(.launch, app)
        #expect(phone.verdicts == [.defer, .foregroundDeliver])
        #expect(phone.delivered.count == 1)
    }

    @Test("BTP-1: the state of the adapter wakes no app that is a peripheral alone, and one that is a central too")
    func adapter() {
        var phone = Phone()
        let app = phone.publisher([.bluetoothPeripheral, .bluetoothCentral])
        phone.leave(app)
        phone.happen(.bluetoothPoweredOff)
        #expect(phone.last?.verdict == .defer)
        phone.happen(.bluetoothPoweredOn)
        phone.user(.launch, app)
        phone.request(app, .createManager(2, restoreIdentifier: .none))
        phone.leave(app)
        phone.forget()
        phone.happen(.bluetoothPoweredOff)
        #expect(phone.verdicts == [.resume])
        #expect(phone.delivered.count == 2)
    }

    @Test("BTP-2: in the background the name goes and the services move to the overflow area, and come back")
    func overflowArea() {
        var phone = Phone()
        let app = phone.publisher()
        #expect(phone.airCommands.last == again(full, false))
        phone.forget()
        phone.leave(app)
        #expect(phone.airCommands == [reduced])
        phone.user(.launch, app)
        #expect(phone.airCommands == [reduced, full])
    }

    @Test("BTP-2: advertising that begins in the background is without a name from the first")
    func beganInBackground() {
        var phone = Phone()
        let app = phone.suspendedPublisher()
        phone.hear(.centralSubscribed)
        phone.ask(app, .stopAdvertising)
        phone.ask(app, .startAdvertising(localName: "Lamp", services: [Phone.service]))
        #expect(phone.airCommands == [.stopAdvertising(client), again(reduced, false)])
    }

    private func again(_ command: PeripheralRoleCommand, _ again: Bool) -> PeripheralRoleCommand {
        guard case .advertise(let client, let name, let services, let overflow, _) = command else { return command }
        return .advertise(client, localName: name, services: services, overflow: overflow, again: again)
    }

    @Test("BTP-3: without the mode advertising and services stop outside the foreground, and go on in it")
    func stopsInBackground() {
        var phone = Phone()
        let app = phone.publisher([])
        phone.forget()
        phone.user(.interrupt, app)
        #expect(phone.airCommands == [])
        phone.user(.home, app)
        #expect(phone.airCommands == [.stopAdvertising(client), .setServing(client, false)])
        phone.report(app, .returned(.didEnterBackground))
        phone.report(app, .suspended)
        #expect(phone.airCommands == [.stopAdvertising(client), .setServing(client, false)])
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.airCommands == [.setServing(client, true), full])
    }

    @Test(
        "BTP-3, MODE-2: without the mode reads and writes of a suspended app are refused with an error",
        arguments: [.readRequested, .writeRequested] as [EventKind]
    )
    func refused(kind: EventKind) {
        var phone = Phone()
        let app = phone.suspendedPublisher([.bluetoothCentral])
        phone.hear(kind, request: 7)
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.modeMissing])
        #expect(phone.last?.wouldHave == .resume)
        #expect(phone.answers == [[7, 0x0e]])
        #expect(phone.router.state(of: app) == .suspended)
    }

    @Test(
        "BTP-3: without the mode advertising that begins in the background waits for the foreground, and is told then"
    )
    func advertisesLater() {
        var phone = Phone()
        let app = phone.publisher([])
        phone.ask(app, .stopAdvertising)
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.forget()
        phone.ask(app, .startAdvertising(localName: "Lamp", services: [Phone.service]))
        #expect(phone.airCommands == [])
        phone.user(.launch, app)
        #expect(phone.airCommands == [.setServing(client, true), again(full, false)])
        phone.user(.home, app)
        phone.forget()
        phone.user(.launch, app)
        #expect(phone.airCommands == [.setServing(client, true), full])
    }

    @Test("BTP-3: without the mode a read is refused while the app runs in the background", arguments: [true, false])
    func refusedInBackground(hasMode: Bool) {
        var phone = Phone()
        let app = phone.publisher(hasMode ? [.bluetoothPeripheral] : [])
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.forget()
        phone.read(7)
        #expect(phone.verdicts == [hasMode ? .backgroundDeliver : .deny])
        #expect(phone.answers == (hasMode ? [] : [[7, 0x0e]]))
        if !hasMode {
            #expect(phone.last?.rule == .mode2)
            #expect(phone.last?.wouldHave == .backgroundDeliver)
        }
    }

    @Test("BTP-3: without the mode a subscription waits until the app runs")
    func subscriptionWaits() {
        var phone = Phone()
        let app = phone.suspendedPublisher([])
        phone.hear(.centralSubscribed)
        #expect(phone.verdicts == [.defer])
        phone.user(.launch, app)
        #expect(phone.last?.reason == .deliveredLater)
        #expect(phone.last?.rule == .btp1)
    }

    @Test(
        "BTP-4, LAUNCH-1: a read relaunches a terminated app, which gets its services, centrals and advertisement back"
    )
    func restores() {
        var phone = Phone()
        let app = phone.publisher()
        phone.hear(.centralSubscribed)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.forget()
        let event = phone.read(7)
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.router.preservedRestoreIdentifiers(of: app).peripheral == [Phone.identifier])
        #expect(phone.router.preservedRestoreIdentifiers(of: app).central == [])
        phone.forget()
        phone.ask(app, .create(restoreIdentifier: Phone.identifier))
        let state = RestoredPeripheral(
            services: [Phone.battery],
            subscribed: [.init(characteristic: Phone.level, central: Phone.central)],
            advertised: Phone.advertisement
        )
        #expect(
            phone.actions == [
                .did(app, .restoredPeripheral, subject: Phone.identifier),
                .tell(app, .restorePeripheral(1, state)),
                .tell(app, .managerState(1, .poweredOn)),
                .deliver(app, manager: 1, event, DecisionID(phone.router.lastDecision)),
                .discard(app, event),
            ]
        )
        phone.ask(app, .respond(request: 7, result: 0, value: [1]))
        #expect(phone.answers == [[7, 0]])
    }

    @Test("BTP-4: an app that does not make its peripheral manager again leaves no central waiting")
    func managerNotMade() {
        var phone = Phone()
        let app = phone.terminatedPublisher()
        phone.read(7)
        phone.report(app, .launched)
        phone.wait(.seconds(10))
        phone.report(app, .suspended)
        #expect(phone.reasons == [.relaunched, .managerNotCreated])
        #expect(phone.answers == [[7, 0x0e]])
    }

    @Test("BTP-4: what has no restore identifier leaves the air with its process, and brings no app back")
    func notPreserved() {
        var phone = Phone()
        let app = phone.suspendedPublisher(restoreIdentifier: .none)
        phone.hear(.terminate(app, .memory))
        #expect(phone.airCommands == [.release(client)])
        phone.forget()
        phone.read(7)
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.notPreserved])
        #expect(phone.last?.rule == .btp4)
        #expect(phone.answers == [[7, 0x0e]])
    }

    @Test("BTP-4: before iOS 7 nothing is preserved")
    func noRestoration() {
        var phone = Phone(.ios6)
        let app = phone.suspendedPublisher()
        phone.hear(.terminate(app, .memory))
        #expect(phone.airCommands == [.release(client)])
        phone.read(7)
        #expect(phone.reasons == [.notPreserved])
    }

    @Test("BTP-4: a central and a peripheral manager may have the same restore identifier")
    func sameIdentifier() {
        var phone = Phone()
        let app = phone.publisher([.bluetoothPeripheral, .bluetoothCentral])
        phone.request(app, .createManager(2, restoreIdentifier: Phone.identifier))
        #expect(phone.faults == [])
        phone.request(app, .scan(1, services: [], allowDuplicates: false))
        phone.request(app, .peripheralManager(2, .stopAdvertising))
        #expect(phone.faults == [.unknownManager, .unknownManager])
    }

    @Test(
        "BTP-5: an app that may not use Bluetooth is told so, and its requests are refused",
        arguments: [false, true]
    )
    func denied(peripheralRole: Bool) {
        var phone = Phone()
        let app = phone.install(bluetooth: .denied)
        phone.user(.launch, app)
        if peripheralRole {
            phone.ask(app, .create(restoreIdentifier: .none))
            phone.ask(app, .addService(Phone.battery))
        } else {
            phone.request(app, .createManager(1, restoreIdentifier: .none))
            phone.request(app, .scan(1, services: [], allowDuplicates: false))
        }
        #expect(phone.actions.contains(.tell(app, .managerState(1, .unauthorized))))
        #expect(phone.faults == [.notAuthorized])
        phone.forget()
        phone.happen(.bluetoothPoweredOff)
        #expect(phone.delivered == [])
    }

    @Test("BTP-5: when the user takes the access away the app ends, and its services answer nothing")
    func takenAway() {
        var phone = Phone()
        let app = phone.publisher()
        phone.forget()
        let manifest = AppManifest(
            bundle: NameID(100),
            modes: BackgroundModes([.bluetoothPeripheral]),
            bluetoothAuthorization: .denied
        )
        phone.hear(.install(app, manifest))
        #expect(phone.exits.map(\.cause) == [.policy])
        #expect(phone.airCommands.contains(.setServing(client, false)))
        phone.read(7)
        #expect(phone.verdicts == [.deny])
        #expect(phone.reasons == [.bluetoothNotAuthorized])
        #expect(phone.answers == [[7, 0x0e]])
    }

    @Test("LAUNCH-2: a force-quit app is off the air with all it published, and nothing of it is restored")
    func forceQuit() {
        var phone = Phone()
        let app = phone.suspendedPublisher()
        phone.user(.forceQuit, app)
        #expect(phone.airCommands == [.release(client)])
        phone.read(7)
        #expect(phone.reasons == [.noRegistration])
        phone.forget()
        phone.hear(.phone(.reboot))
        phone.hear(.phone(.unlock))
        #expect(phone.airCommands == [])
        #expect(phone.router.preservedRestoreIdentifiers(of: app).peripheral == [])
    }

    @Test("LAUNCH-2: a read that comes while a force-quit app ends is refused with the reason")
    func readWhileEnding() {
        var phone = Phone()
        let app = phone.publisher()
        phone.user(.forceQuit, app)
        phone.forget()
        phone.read(7)
        phone.report(app, .returned(.willTerminate))
        #expect(phone.reasons == [.forceQuit])
        #expect(phone.answers == [[7, 0x0e]])
    }

    @Test("LAUNCH-5, BTC-8: after a restart the services are off until the first unlock")
    func firstUnlock() {
        var phone = Phone()
        _ = phone.suspendedPublisher()
        phone.hear(.phone(.reboot))
        #expect(
            phone.airCommands.suffix(4) == [
                .release(client), .publish(client, Phone.battery, again: true), .stopAdvertising(client),
                .setServing(client, false),
            ]
        )
        phone.read(7)
        #expect(phone.reasons == [.beforeFirstUnlock])
        phone.forget()
        phone.hear(.phone(.unlock))
        #expect(phone.airCommands == [.setServing(client, true), reduced])
        phone.read(8)
        #expect(phone.verdicts == [.relaunch])
    }

    @Test("BTC-10: Bluetooth off refuses requests, and when it is on all is published and advertised again")
    func poweredOff() {
        var phone = Phone()
        let app = phone.publisher()
        phone.hear(.centralSubscribed)
        phone.read(7)
        phone.forget()
        phone.happen(.bluetoothPoweredOff)
        phone.hear(.centralUnsubscribed)
        #expect(phone.verdicts == [.foregroundDeliver, .foregroundDeliver])
        phone.ask(app, .startAdvertising(localName: nil, services: []))
        #expect(phone.faults == [.bluetoothOff])
        phone.happen(.bluetoothPoweredOn)
        #expect(
            phone.airCommands == [.publish(client, Phone.battery, again: true), .setServing(client, true), full]
        )
        #expect(phone.router.nextDeadline == nil)
    }

    @Test("LAUNCH-6: a request for what is not published is nobody's, and the central gets an error")
    func unknownAttribute() {
        var phone = Phone()
        let app = phone.publisher()
        phone.ask(app, .removeService(1))
        phone.ask(app, .removeService(1))
        phone.forget()
        phone.read(7)
        #expect(phone.reasons == [.noRegistration])
        #expect(phone.answers == [[7, 0x01]])
        #expect(phone.delivered == [])
    }

    @Test("BT-1: a read that was held when its service went is not delivered")
    func removedWhileHeld() {
        var phone = Phone()
        let app = phone.publisher()
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.forget()
        phone.read(7)
        phone.ask(app, .removeService(1))
        #expect(phone.reasons == [.registrationEnded])
        #expect(phone.answers == [[7, 0x0e]])
    }

    @Test("A service that the radio refuses, and advertising that it refuses, are not the app's any more")
    func refusedByRadio() {
        var phone = Phone()
        let app = phone.install([.bluetoothPeripheral])
        phone.user(.launch, app)
        phone.ask(app, .create(restoreIdentifier: .none))
        phone.report(app, .launched)
        phone.ask(app, .addService(Phone.battery))
        phone.hear(.serviceAdded, local: 1, failed: true)
        phone.ask(app, .updateValue(characteristic: Phone.level, value: [1], centrals: []))
        #expect(phone.faults == [.unknownCharacteristic])
        phone.ask(app, .startAdvertising(localName: nil, services: []))
        phone.hear(.advertisingStarted, local: 0, failed: true)
        phone.forget()
        phone.leave(app)
        #expect(phone.airCommands == [])
    }

    @Test("SYS-2: after a restart of the bench all is put on the air anew, and no central waits for the dead process")
    func benchRestarted() {
        var phone = Phone()
        let app = phone.publisher()
        phone.hear(.centralSubscribed)
        phone.read(7)
        phone.forget()
        phone.hear(.benchRestarted)
        #expect(
            phone.airCommands == [
                .respond(client, request: 7, result: 0x0e, value: nil),
                .release(client),
                .publish(client, Phone.battery, again: true),
                .setServing(client, true),
                reduced,
            ]
        )
        phone.forget()
        phone.hear(
            .redeliver(
                app,
                WakeEvent(
                    kind: .readRequested,
                    peripheral: Phone.central,
                    local: Phone.level,
                    request: 7,
                    client: client,
                    id: EventID(4)
                ),
                supersedes: DecisionID(1)
            )
        )
        #expect(phone.verdicts == [.drop])
        #expect(phone.reasons == [.benchRestarted])
        #expect(phone.router.state(of: app) == .notRunning)
    }
}
