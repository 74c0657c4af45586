import RouterSnapshots
import Testing
import WakeModel

@testable import WakeRouter

/// BTC-8's matrix, over its whole product: how the app ended, what it waited for, and in which profile.
@Suite("The relaunch matrix")
struct RelaunchMatrixTests {
    /// How the app ended, and what became of Bluetooth since.
    enum Ending: CaseIterable {
        case purged, crashed, forceQuit, offInSettings, offInControlCentre, airplaneMode, airplaneModeKeepingBluetooth,
            restartedAndLocked, restartedAndUnlocked
    }

    /// What the app waited for.
    enum Wait: CaseIterable {
        case connection, sighting, value, disconnection, read
    }

    struct Case {
        var profile: Profile
        var ending: Ending
        var wait: Wait
        var restoreIdentifier: Bool
        var mode: Bool
        /// The user has set up the peripheral with AccessorySetupKit.
        var isSetUp: Bool
    }

    private static let client = BluetoothClient(app: AppID(0), slot: 0)

    /// What the matrix says: rows by Technical Q&A 1962 and Technote 3115.
    private func isRelaunched(_ each: Case) -> Bool {
        guard each.profile != .ios6, each.restoreIdentifier, each.mode else { return false }
        let isConnected = each.wait == .value || each.wait == .disconnection
        // Links and requests are of an accessory; scans and services of one's own are not.
        let setUpCounts = each.profile == .ios26 && each.isSetUp && (isConnected || each.wait == .connection)
        switch each.ending {
        case .purged, .crashed: return true
        case .forceQuit: return setUpCounts
        case .offInSettings, .airplaneMode, .restartedAndLocked: return false
        case .offInControlCentre: return setUpCounts || [.ios12, .ios13, .ios17].contains(each.profile)
        case .airplaneModeKeepingBluetooth: return each.profile != .ios8
        // A link does not outlive the restart.
        case .restartedAndUnlocked: return each.profile != .ios8 && !isConnected
        }
    }

    @Test("BTC-8: the way an app ended decides its relaunch", arguments: Profile.all)
    func matrix(profile: Profile) {
        var cases = 0
        for ending in Ending.allCases {
            for wait in Wait.allCases {
                for bits in 0..<8 {
                    let each = Case(
                        profile: profile,
                        ending: ending,
                        wait: wait,
                        restoreIdentifier: bits & 1 == 0,
                        mode: bits & 2 == 0,
                        isSetUp: bits & 4 == 0
                    )
                    var phone = Phone(profile)
                    waits(each, &phone)
                    ends(each, &phone)
                    phone.forget()
                    happens(each, &phone)
                    let isRelaunched = phone.verdicts.contains(.relaunch)
                    #expect(isRelaunched == self.isRelaunched(each), "\(each)")
                    cases += 1
                }
            }
        }
        #expect(cases == 9 * 5 * 8)
    }

    /// A suspended app waits for something.
    private func waits(_ each: Case, _ phone: inout Phone) {
        let identifier = each.restoreIdentifier ? Phone.identifier : .none
        let app = phone.install(each.mode ? [.bluetoothCentral, .bluetoothPeripheral] : [], accessorySetup: true)
        if each.isSetUp { phone.hear(.setUp(app, peripheral: Phone.belt)) }
        if each.wait == .read {
            phone.user(.launch, app)
            phone.ask(app, .create(restoreIdentifier: identifier))
            phone.report(app, .launched)
            phone.ask(app, .addService(Phone.battery))
        } else {
            phone.open(app, restoreIdentifier: identifier)
        }
        switch each.wait {
        case .connection: phone.request(app, .connect(1, peripheral: Phone.belt))
        case .sighting: phone.request(app, .scan(1, services: [Phone.service], allowDuplicates: false))
        case .value, .disconnection: phone.subscribe(app)
        case .read: break
        }
        phone.leave(app)
    }

    private func ends(_ each: Case, _ phone: inout Phone) {
        let app = AppID(0)
        switch each.ending {
        case .purged, .offInSettings, .offInControlCentre, .airplaneMode, .airplaneModeKeepingBluetooth:
            phone.hear(.terminate(app, .memory))
        case .crashed: phone.report(app, .exited(-11))
        case .forceQuit: phone.user(.forceQuit, app)
        case .restartedAndLocked, .restartedAndUnlocked: phone.hear(.phone(.reboot))
        }
        switch each.ending {
        case .offInSettings: phone.turn(.bluetoothOff, .bluetoothOn)
        case .offInControlCentre: phone.turn(.bluetoothOffInControlCentre, .bluetoothOn)
        case .airplaneMode: phone.turn(.airplaneModeOn, .airplaneModeOff)
        case .airplaneModeKeepingBluetooth: phone.turn(.airplaneModeOnKeepingBluetooth, .airplaneModeOff)
        case .restartedAndUnlocked: phone.hear(.phone(.unlock))
        case .purged, .crashed, .forceQuit, .restartedAndLocked: break
        }
    }

    /// What the app waited for happens, as far as the phone still asks for it; a link that was dropped comes back first.
    private func happens(_ each: Case, _ phone: inout Phone) {
        switch each.wait {
        case .connection: phone.happen(.peripheralConnected)
        case .sighting: phone.sight()
        case .value, .disconnection:
            if each.ending == .offInControlCentre { phone.happen(.peripheralConnected) }
            if each.wait == .value { phone.notify() } else { phone.happen(.peripheralDisconnected) }
        case .read: phone.read(7)
        }
    }

    @Test("BT-2: off in Control Centre, what a terminated app waits for is asked for again when it is on")
    func controlCentre() {
        var phone = Phone()
        let app = phone.terminatedSubscriber()
        phone.turn(.bluetoothOffInControlCentre)
        #expect(phone.commands == [.power(false)])
        phone.notify()
        #expect(phone.last?.reason == .noRegistration)
        phone.forget()
        phone.turn(.bluetoothOn)
        #expect(phone.commands == [.power(true), .connect(Self.client, peripheral: Phone.belt)])
        let event = phone.happen(.peripheralConnected)
        #expect(phone.last?.verdict == .relaunch)
        phone.request(app, .createManager(1, restoreIdentifier: Phone.identifier))
        #expect(phone.delivered == [event])
    }

    @Test("BT-2, BTC-10: a process is told that Control Centre turned Bluetooth off, and asks anew itself")
    func controlCentreTellsProcess() {
        var phone = Phone()
        let app = phone.suspendedSubscriber()
        phone.turn(.bluetoothOffInControlCentre)
        #expect(phone.verdicts == [.resume])
        phone.request(app, .done)
        phone.report(app, .suspended)
        phone.forget()
        phone.turn(.bluetoothOn)
        #expect(phone.commands == [.power(true)])
        phone.forget()
        phone.happen(.peripheralConnected)
        #expect(phone.reasons == [.noRegistration])
    }

    @Test("BT-2: what Control Centre keeps goes when Settings or airplane mode turn Bluetooth off for good")
    func controlCentreThenOff() {
        for off in [PhoneChange.bluetoothOff, .airplaneModeOn] {
            var phone = Phone()
            _ = phone.terminatedSubscriber()
            phone.turn(.bluetoothOffInControlCentre, off)
            phone.forget()
            phone.turn(.bluetoothOn)
            #expect(phone.commands == [.power(true)])
            phone.happen(.peripheralConnected)
            #expect(phone.last?.reason == .noRegistration)
        }
    }

    @Test("BT-2: a restart turns on what was off in Control Centre, and nothing that was off otherwise")
    func restartTurnsOn() {
        for off in [PhoneChange.bluetoothOffInControlCentre, .bluetoothOff, .airplaneModeOn] {
            var phone = Phone(passcode: false)
            _ = phone.terminatedSubscriber()
            phone.turn(off)
            phone.forget()
            phone.turn(.reboot)
            #expect(phone.commands.contains(.power(true)) == (off == .bluetoothOffInControlCentre))
            phone.happen(.peripheralConnected)
            #expect((phone.last?.reason == .relaunched) == (off == .bluetoothOffInControlCentre))
        }
    }

    @Test("BTC-8: with the switch, airplane mode that keeps Bluetooth leaves terminated apps what was set up")
    func airplaneModeNeedsSetup() {
        for (isOn, isSetUp) in [(false, false), (true, false), (true, true)] {
            var profile = Profile.ios26
            profile.areas.bluetooth.airplaneNeedsSetup = isOn
            var phone = Phone(profile)
            let app = phone.install(accessorySetup: true)
            if isSetUp { phone.hear(.setUp(app, peripheral: Phone.belt)) }
            phone.open(app, restoreIdentifier: Phone.identifier)
            phone.request(app, .connect(1, peripheral: Phone.belt))
            phone.leave(app)
            phone.hear(.terminate(app, .memory))
            phone.turn(.airplaneModeOnKeepingBluetooth)
            phone.forget()
            phone.happen(.peripheralConnected)
            #expect(phone.reasons == [isOn && !isSetUp ? .noRegistration : .relaunched], "\(isOn) \(isSetUp)")
        }
    }

    @Test("BT-2: leaving airplane mode turns on only what it turned off")
    func leavingAirplaneMode() {
        for (change, power) in [
            (PhoneChange.airplaneModeOn, [false, true]), (.airplaneModeOnKeepingBluetooth, []),
            (.bluetoothOff, [false]),
        ] {
            var phone = Phone()
            phone.turn(change, .airplaneModeOff)
            #expect(phone.powers == power)
        }
        var older = Phone(.ios8)
        older.turn(.airplaneModeOnKeepingBluetooth, .airplaneModeOff)
        #expect(older.powers == [false, true])
    }

    @Test("BT-2: what is off in Control Centre comes on by itself the next day, and nothing else does")
    func nextDay() {
        for off in [PhoneChange.bluetoothOffInControlCentre, .bluetoothOff, .airplaneModeOn] {
            var phone = Phone()
            phone.turn(off)
            phone.wait(.seconds(86_399))
            #expect(phone.powers == [false])
            phone.wait(.seconds(2))
            #expect(phone.powers == (off == .bluetoothOffInControlCentre ? [false, true] : [false]))
        }
        var older = Phone(.ios8)
        older.turn(.bluetoothOffInControlCentre)
        older.wait(.seconds(100_000))
        #expect(older.powers == [false])
    }

    @Test("BT-2: who turns Bluetooth on before the next day is not disturbed then")
    func turnedOnBefore() {
        var phone = Phone()
        phone.turn(.bluetoothOffInControlCentre, .bluetoothOn)
        phone.wait(.seconds(100_000))
        #expect(phone.powers == [false, true])
    }

    @Test("BT-2, SYS-2: how Bluetooth was turned off outlives a restart of the bench")
    func snapshot() throws {
        var phone = Phone()
        _ = phone.terminatedSubscriber()
        phone.turn(.bluetoothOffInControlCentre)
        phone.router = try Router(snapshot: phone.router.snapshot, profile: .ios17)
        phone.forget()
        phone.hear(.benchRestarted)
        phone.turn(.bluetoothOn)
        phone.happen(.peripheralConnected)
        #expect(phone.last?.verdict == .relaunch)
    }
}

extension Phone {
    /// What the adapter was told.
    var powers: [Bool] { commands.compactMap { if case .power(let on) = $0 { on } else { nil } } }

    /// The user turns something, and the adapter follows.
    mutating func turn(_ changes: PhoneChange...) {
        for change in changes {
            let before = powers.count
            hear(.phone(change))
            for on in powers.dropFirst(before) { happen(on ? .bluetoothPoweredOn : .bluetoothPoweredOff) }
        }
    }
}
