import Testing
import WakeModel

@testable import WakeRouter

/// What an app stopped, or lost, brings nothing more.
@Suite("What is let go of")
struct LettingGoTests {
    private static let client = BluetoothClient(app: AppID(0), slot: 0)

    /// An app in the background that the host was asked to freeze: what comes now is held.
    private func freezing(_ prepare: (inout Phone, AppID) -> Void) -> (Phone, AppID) {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        prepare(&phone, app)
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        phone.forget()
        return (phone, app)
    }

    @Test("BT-1: a sighting that came before stopScan does not wake the app after it")
    func stoppedScan() {
        var (phone, app) = freezing { phone, app in
            phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        }
        phone.sight()
        phone.request(app, .stopScan(1))
        phone.report(app, .suspended)
        #expect(phone.commands == [.stopScan(Self.client)])
        #expect(phone.reasons == [.registrationEnded])
        #expect(phone.delivered.isEmpty)
    }

    @Test("BT-1: a value that came before the connection was cancelled does not wake the app after it")
    func cancelledConnection() {
        var (phone, app) = freezing { phone, app in phone.subscribe(app) }
        phone.notify()
        phone.request(app, .cancelConnection(1, peripheral: Phone.belt))
        phone.report(app, .suspended)
        #expect(phone.reasons == [.registrationEnded])
        #expect(phone.delivered.isEmpty)
    }

    @Test("BT-1: no value reaches an app after it cancelled the connection")
    func valuesAfterCancelling() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.notify()
        #expect(phone.delivered.count == 2)
        phone.request(app, .cancelConnection(1, peripheral: Phone.belt))
        phone.forget()
        phone.notify()
        #expect(phone.delivered.isEmpty)
        #expect(phone.last?.verdict == .drop)
    }

    @Test("BTC-5: a connection that ended with Bluetooth is not restored beside the one that came after it")
    func restoredOnce() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.happen(.bluetoothPoweredOff)
        phone.happen(.bluetoothPoweredOn)
        phone.subscribe(app)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        phone.notify()
        phone.forget()
        phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
        let restored: [RestoredState] = phone.actions.compactMap {
            if case .tell(_, .restore(_, let state)) = $0 { state } else { nil }
        }
        #expect(restored.map { $0.peripherals.map(\.name) } == [[Phone.belt]])
    }

    @Test("BTC-7: a relaunch lets go of the managers that had no restore identifier")
    func managersWithoutIdentifier() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.request(app, .createManager(2, restoreIdentifier: .none))
        phone.subscribe(app)
        phone.subscribe(app, manager: 2, slot: 1)
        phone.leave(app)
        phone.hear(.terminate(app, .memory))
        #expect(phone.router.areas.bluetooth.apps[0].managers.map(\.inUse) == [true, true])
        phone.forget()
        phone.notify()
        #expect(phone.verdicts == [.relaunch])
        #expect(phone.router.areas.bluetooth.apps[0].managers.map(\.inUse) == [true, false])
        #expect(phone.commands.contains(.release(BluetoothClient(app: app, slot: 1))))
    }

    @Test("BTP-4: channels that a process published end with it")
    func channels() {
        var phone = Phone()
        let app = phone.publisher()
        phone.ask(app, .publishChannel(encrypted: false))
        phone.hear(.channelPublished, local: 0x81, from: .none)
        phone.leave(app)
        phone.forget()
        phone.hear(.terminate(app, .memory))
        #expect(phone.airCommands == [.unpublishChannel(Phone.client, psm: 0x81)])
    }

    @Test("LIFE-4: the user's return thaws the process before it is told")
    func userThaws() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.user(.launch, app)
        let steps: [String] = phone.actions.compactMap {
            switch $0 {
            case .thaw: "thaw"
            case .callback(_, .willEnterForeground, _): "willEnterForeground"
            case .launch: "launch"
            default: nil
            }
        }
        #expect(steps == ["thaw", "willEnterForeground"])
    }

    @Test("LIFE-10: the record of a relaunch knows how the process before it ended")
    func lastExit() {
        for cause in [ExitCause.memory, .cpu] {
            var phone = Phone()
            _ = phone.terminatedSubscriber(cause: cause)
            phone.notify()
            #expect(phone.last?.verdict == .relaunch)
            #expect(phone.last?.snapshot.lastExitCause == cause)
            #expect(phone.last?.snapshot.lastExit == 1)
        }
    }

    @Test("OPT-2: an app that exits on suspend is not launched for an accessory either")
    func accessoryOfExitingApp() {
        var phone = Phone()
        let app = AppID(0)
        phone.hear(
            .install(
                app,
                AppManifest(
                    bundle: NameID(100),
                    modes: BackgroundModes([.externalAccessory]),
                    exitsOnSuspend: true,
                    accessoryProtocols: [Phone.log]
                )
            )
        )
        phone.openAccessoryApp(app)
        phone.user(.home, app)
        phone.report(app, .returned(.willTerminate))
        phone.forget()
        phone.plug()
        #expect(phone.verdicts == [.deny])
        #expect(phone.last?.checks[.runsInBackground] == .fail)
    }

    @Test("EA-5: an app has no more sessions than the limit")
    func sessionsLimit() {
        var phone = Phone()
        let app = phone.installAccessoryApp()
        phone.openAccessoryApp(app)
        for number in 1...UInt32(Router.sessionsLimit) {
            phone.plug(number)
            phone.ask(app, .open(100 + number, accessory: number, protocolName: Phone.log))
            phone.dockEvent(.accessorySessionOpened, number)
        }
        #expect(phone.faults.isEmpty)
        phone.plug(200)
        phone.ask(app, .open(300, accessory: 200, protocolName: Phone.log))
        #expect(phone.faults == [.tooMany])
    }

    @Test(
        "BT-2: what Control Centre kept goes when Bluetooth is then turned off in Settings",
        arguments: [true, false]
    )
    func controlCentreThenSettings(settings: Bool) {
        var phone = Phone()
        _ = phone.terminatedSubscriber()
        phone.hear(.phone(.bluetoothOffInControlCentre))
        phone.happen(.bluetoothPoweredOff)
        if settings { phone.hear(.phone(.bluetoothOff)) }
        phone.forget()
        phone.hear(.phone(.bluetoothOn))
        phone.happen(.bluetoothPoweredOn)
        let connections = phone.commands.filter { if case .connect = $0 { true } else { false } }
        #expect(connections.count == (settings ? 0 : 1))
    }

    @Test("LIFE-6: an app that was asked to end has its time, unless its memory is wanted at once")
    func askedAlready() {
        for (cause, isUrgent) in [(ExitCause.system, false), (.memory, true)] {
            var phone = Phone()
            let app = phone.install()
            phone.open(app)
            phone.hear(.terminate(app, .update))
            phone.hear(.terminate(app, cause, .critical))
            #expect(phone.exits.map(\.cause) == (isUrgent ? [.memory] : []))
        }
    }

    @Test("TASK-8: the budget of a task that began in the foreground does not move with the wakes after it")
    func budgetStays() {
        var phone = Phone()
        let app = phone.install()
        phone.open(app)
        phone.subscribe(app)
        phone.request(app, .beginTask(token: 1))
        phone.user(.home, app)
        phone.report(app, .returned(.didEnterBackground))
        let left = phone.now
        for _ in 0..<3 {
            phone.wait(.seconds(5))
            phone.notify()
        }
        phone.wait(.seconds(60))
        #expect(phone.exits.map(\.cause) == [.watchdog])
        #expect(phone.exits.map(\.at) == [left.advanced(by: phone.router.profile.taskBudget)])
    }
}
