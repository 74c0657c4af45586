import Testing
import WakeModel

@testable import WakeRouter

/// What AccessorySetupKit changes from iOS 26 on: nothing is taken from apps without it.
@Suite("Accessories that were set up")
struct AccessorySetupTests {
    private static let client = BluetoothClient(app: AppID(0), slot: 0)
    /// A second peripheral, which nobody sets up.
    private static let scale = NameID(11)

    /// An app that uses the belt, which was set up, and the scale, which was not; it is suspended, and nothing before counts.
    private func user(
        _ profile: Profile = .ios26,
        restoreIdentifier: NameID = Phone.identifier
    ) -> (Phone, AppID) {
        var phone = Phone(profile)
        let app = phone.install(accessorySetup: true)
        phone.hear(.setUp(app, peripheral: Phone.belt))
        phone.open(app, restoreIdentifier: restoreIdentifier)
        phone.request(app, .connect(1, peripheral: Self.scale))
        phone.subscribe(app)
        phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        phone.request(app, .watchConnections(1, peripherals: [Phone.belt], services: []))
        phone.leave(app)
        phone.forget()
        return (phone, app)
    }

    private func connect(_ phone: inout Phone, _ peripheral: NameID) {
        phone.hear(.event(WakeEvent(kind: .peripheralConnected, peripheral: peripheral)))
    }

    @Test("BTC-8: a force quit leaves the link and the values of an accessory that was set up, and nothing else")
    func forceQuitKeeps() {
        for purged in [false, true] {
            var (phone, app) = user()
            if purged { phone.hear(.terminate(app, .memory)) }
            phone.forget()
            phone.user(.forceQuit, app)
            #expect(phone.commands == [.release(Self.client, keeping: [Phone.belt])])
            #expect(phone.router.areas.bluetooth.scanners.isEmpty)
            phone.forget()
            phone.sight()
            connect(&phone, Self.scale)
            phone.happen(.connectionEvent, to: Self.client)
            #expect(phone.reasons == [.noRegistration, .noRegistration, .noRegistration])
            phone.forget()
            let event = phone.notify()
            #expect(phone.verdicts == [.relaunch])
            #expect(phone.router.preservedRestoreIdentifiers(of: app).central == [Phone.identifier])
            phone.forget()
            phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
            #expect(phone.delivered == [event])
            let restored: [RestoredState] = phone.actions.compactMap {
                if case .tell(_, .restore(_, let state)) = $0 { state } else { nil }
            }
            #expect(restored.map { $0.peripherals.map(\.name) } == [[Phone.belt]])
            #expect(restored.map { $0.peripherals.map(\.subscriptions) } == [[[Phone.heartRate]]])
            #expect(restored.map(\.scanServices) == [nil])
        }
    }

    @Test("BTC-8, SYS-2: what the bench owed a force-quit app of another accessory is lost with its restart")
    func redelivered() {
        for (peripheral, via) in [(Self.scale, Registration.none), (Phone.belt, .subscription)] {
            var (phone, app) = user()
            phone.user(.forceQuit, app)
            phone.forget()
            let event = WakeEvent(
                kind: .characteristicNotified,
                peripheral: peripheral,
                attribute: Phone.heartRate,
                id: EventID(90)
            )
            phone.hear(.redeliver(app, event, supersedes: .none))
            #expect(phone.last?.snapshot.via == via)
            #expect(phone.last?.verdict == (via == .none ? .drop : .relaunch))
        }
    }

    @Test("BTC-8, LAUNCH-2: the record names the force quit, that it is lifted, and by what")
    func record() {
        var (phone, app) = user()
        let act = phone.user(.forceQuit, app)
        phone.notify()
        #expect(phone.last?.reason == .relaunchedForAccessory)
        #expect(phone.last?.rule == .btc8)
        #expect(phone.last?.checks[.notForceQuit] == .notApplicable)
        #expect(phone.last?.snapshot.forceQuit == true)
        #expect(phone.last?.snapshot.forceQuitBy == act)
        #expect(phone.last?.snapshot.forceQuitLifted == true)
        #expect(phone.last?.snapshot.accessorySetUp == true)
    }

    @Test("BTC-8: where nothing bars the app, its accessory lifts nothing")
    func notForceQuit() {
        var (phone, app) = user()
        phone.notify()
        #expect(phone.last?.reason == .resumed)
        #expect(phone.last?.snapshot.forceQuitLifted == false)
        phone.hear(.terminate(app, .memory, .critical))
        phone.notify()
        #expect(phone.last?.reason == .relaunched)
        #expect(phone.last?.checks[.notForceQuit] == .pass)
        #expect(phone.last?.snapshot.forceQuitLifted == false)
        #expect(phone.last?.snapshot.accessorySetUp == true)
    }

    @Test("BTC-8: a running process of a force-quit app lifts nothing by its events")
    func running() {
        var (phone, app) = user()
        phone.user(.forceQuit, app)
        phone.notify()
        phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
        phone.report(app, .launched)
        phone.notify()
        #expect(phone.last?.reason == .alreadyRunning)
        #expect(phone.last?.snapshot.forceQuitLifted == false)
    }

    @Test(
        "BTC-8: without iOS 26, or the app's word in Info.plist, or a restore identifier, all goes with the force quit"
    )
    func withoutIt() {
        for profile in Profile.all where profile != .ios26 {
            var (phone, app) = user(profile)
            phone.user(.forceQuit, app)
            let bars = profile.forceQuitBars
            #expect(phone.commands.contains(.release(Self.client)) == (bars || !profile.areas.bluetooth.restoration))
            phone.forget()
            phone.notify()
            #expect(!phone.verdicts.contains(.relaunch))
            #expect(phone.decisions.allSatisfy { !$0.snapshot.accessorySetUp })
        }
        var phone = Phone(.ios26)
        let app = phone.install()
        phone.hear(.setUp(app, peripheral: Phone.belt))
        #expect(phone.router.areas.bluetooth.apps[0].accessoriesSetUp == [])
        (phone, _) = user(restoreIdentifier: .none)
        phone.user(.forceQuit, AppID(0))
        #expect(phone.commands.last == .release(Self.client))
        phone.forget()
        phone.notify()
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("BTC-8: what was set up is in order, each once, and ends with the app")
    func list() {
        var phone = Phone(.ios26)
        let app = phone.install(accessorySetup: true)
        for name in [Self.scale, Phone.belt, Self.scale, NameID(12), Phone.belt] {
            phone.hear(.setUp(app, peripheral: name))
        }
        #expect(phone.router.areas.bluetooth.apps[0].accessoriesSetUp == [Phone.belt, Self.scale, NameID(12)])
        phone.open(app)
        phone.user(.forceQuit, app)
        phone.hear(.phone(.reboot))
        #expect(phone.router.areas.bluetooth.apps[0].accessoriesSetUp.count == 3)
        phone.hear(.uninstall(app))
        phone.hear(.setUp(app, peripheral: Phone.belt))
        phone.hear(.install(app, AppManifest(bundle: NameID(100), modes: [], accessorySetup: true)))
        #expect(phone.router.areas.bluetooth.apps[0].accessoriesSetUp == [])
    }

    @Test("BTC-8, SYS-2: what was set up, and the app's word for it, outlive a restart of the bench")
    func snapshot() throws {
        var (phone, app) = user()
        phone.user(.forceQuit, app)
        phone.router = try Router(snapshot: phone.router.snapshot, profile: .ios26)
        #expect(phone.router.areas.bluetooth.apps[0].mayBeSetUp)
        phone.forget()
        phone.notify()
        #expect(phone.reasons == [.relaunchedForAccessory])
    }

    @Test("BTC-8, BT-2: Control Centre keeps what waits for an accessory that was set up, and nothing else")
    func controlCentre() {
        var (phone, app) = user()
        phone.hear(.terminate(app, .memory))
        phone.forget()
        phone.turn(.bluetoothOffInControlCentre, .bluetoothOn)
        #expect(phone.commands == [.power(false), .power(true), .connect(Self.client, peripheral: Phone.belt)])
        phone.forget()
        phone.sight()
        connect(&phone, Self.scale)
        #expect(phone.reasons == [.noRegistration, .noRegistration])
        phone.happen(.peripheralConnected)
        #expect(phone.last?.reason == .relaunched)
        #expect(phone.last?.checks[.exitAllowsRelaunch] == .pass)
        #expect(phone.last?.snapshot.bluetoothOffSince == true)
        #expect(phone.last?.snapshot.bluetoothOffLifted == true)
    }

    @Test("BTC-8, BT-2: a process is told of Control Centre, and its accessory is kept no more than others")
    func controlCentreTellsProcess() {
        var (phone, app) = user()
        phone.turn(.bluetoothOffInControlCentre)
        phone.request(app, .done)
        phone.report(app, .suspended)
        phone.forget()
        phone.turn(.bluetoothOn)
        #expect(phone.commands == [.power(true)])
    }

    @Test("BTC-8: what Control Centre kept of an accessory goes when Settings turn Bluetooth off")
    func settings() {
        var (phone, app) = user()
        phone.hear(.terminate(app, .memory))
        phone.turn(.bluetoothOffInControlCentre, .bluetoothOff)
        phone.forget()
        phone.turn(.bluetoothOn)
        #expect(phone.commands == [.power(true)])
        phone.happen(.peripheralConnected)
        #expect(phone.reasons.last == .noRegistration)
    }

    @Test("BTC-8: what came before Settings turned Bluetooth off brings nothing back after it, set up or not")
    func beforeSettings() {
        var phone = Phone(.ios26)
        let app = phone.install(accessorySetup: true)
        phone.hear(.setUp(app, peripheral: Phone.belt))
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.leave(app)
        phone.hear(.phone(.reboot))
        phone.happen(.peripheralConnected)
        #expect(phone.last?.reason == .beforeFirstUnlock)
        phone.turn(.bluetoothOff, .bluetoothOn)
        phone.hear(.phone(.unlock))
        #expect(phone.last?.reason == .notRelaunchedAfterExit)
        #expect(phone.last?.snapshot.bluetoothOffSince == true)
        #expect(phone.last?.snapshot.bluetoothOffLifted == false)
    }

    @Test("BTC-8, LAUNCH-5: of what waits for the unlock, a force quit leaves what is of an accessory that was set up")
    func awaitingUnlock() {
        var phone = Phone(.ios26)
        let app = phone.install(accessorySetup: true)
        phone.hear(.setUp(app, peripheral: Phone.belt))
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Self.scale))
        phone.request(app, .connect(1, peripheral: Phone.belt))
        phone.leave(app)
        phone.hear(.phone(.reboot))
        connect(&phone, Self.scale)
        connect(&phone, Phone.belt)
        #expect(phone.router.apps[0].awaitingUnlock.map(\.event.peripheral) == [Self.scale, Phone.belt])
        phone.user(.forceQuit, app)
        #expect(phone.router.apps[0].awaitingUnlock.map(\.event.peripheral) == [Phone.belt])
        phone.forget()
        phone.hear(.phone(.unlock))
        #expect(phone.reasons == [.relaunchedForAccessory])
    }

    @Test("BTC-8: what came while the app was being ended brings it back for its accessory, and not the rest with it")
    func whileEnding() {
        var phone = Phone(.ios26)
        let app = phone.install(accessorySetup: true)
        phone.hear(.setUp(app, peripheral: Phone.belt))
        phone.open(app)
        phone.request(app, .connect(1, peripheral: Self.scale))
        phone.subscribe(app)
        phone.user(.forceQuit, app)
        let value = phone.notify()
        connect(&phone, Self.scale)
        phone.forget()
        phone.report(app, .returned(.willTerminate))
        #expect(phone.reasons.first == .relaunchedForAccessory)
        #expect(phone.router.apps[0].waiting.map(\.event.peripheral) == [Phone.belt])
        phone.forget()
        phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
        #expect(phone.delivered == [value])
    }
}
