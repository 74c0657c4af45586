import WakeModel

/// Core Bluetooth in both roles: managers, links, scans, subscriptions, published services, and the radio's switch.
struct BluetoothArea: Codable {
    /// By app number.
    var apps: [BluetoothRecord] = []
    /// What apps hold on each peripheral, by the number of the peripheral's name.
    var peripherals: [PeripheralRecord] = []
    /// The clients that scan, ascending.
    var scanners: [BluetoothClient] = []
    var isOn = true
    var powerSwitch = BluetoothSwitch.on
    /// When Bluetooth that is off in Control Centre is turned on by the phone (BT-2).
    var returns: Instant?
    /// The links that the restart at hand ends.
    var endedByReboot: [(client: BluetoothClient, peripheral: NameID)] = []

    private enum CodingKeys: CodingKey {
        case apps, peripherals, isOn, powerSwitch, returns
    }

    var isConsistent: Bool {
        func isKnown(_ client: BluetoothClient) -> Bool {
            Int(client.app.number) < apps.count && Int(client.slot) < apps[Int(client.app.number)].managers.count
        }
        return peripherals.allSatisfy { record in
            record.links.allSatisfy { isKnown($0.client) } && record.subscriptions.allSatisfy { isKnown($0.client) }
        }
            && apps.allSatisfy { app in
                app.managers.count <= Router.managersLimit && app.requestDeadline == app.firstRequestDeadline
                    && app.managers.allSatisfy { $0.peripherals.allSatisfy { Int($0.number) < peripherals.count } }
            }
    }

    mutating func restore() {
        for (index, app) in apps.enumerated() {
            for slot in app.managers.indices where app.managers[slot].scan != nil {
                scanners.append(BluetoothClient(app: AppID(UInt32(index)), slot: UInt16(slot)))
            }
        }
    }
}

extension Interest {
    init(_ client: BluetoothClient, via: Registration, since: Instant, wanted: Bool = true) {
        self.init(client.app, slot: client.slot, via: via, since: since, wanted: wanted)
    }

    /// The manager that the decision looks at.
    var client: BluetoothClient { BluetoothClient(app: app, slot: slot) }
}

extension BluetoothArea: Area {
    static func perform(
        _ request: AppRequest,
        from app: AppID,
        in router: inout Router,
        into output: inout RouterOutput
    ) -> Bool {
        router.bluetooth(request, from: app, into: &output)
    }

    static func route(_ event: WakeEvent, in router: inout Router, into output: inout RouterOutput) {
        router.routeBluetooth(event, into: &output)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        held ?? router.preservedInterest(of: app, in: event)
    }

    static func isConsistent(_ interest: Interest, _ router: Router) -> Bool {
        let count = router.areas.bluetooth.apps[Int(interest.app.number)].managers.count
        let slots = count == 64 ? UInt64.max : (1 << UInt64(count)) - 1
        return Int(interest.slot) < count && interest.slots.bits & ~slots == 0
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        var kept: [KeptRegistration] = []
        for (slot, manager) in router.areas.bluetooth.apps[Int(app.number)].managers.enumerated()
        where manager.isKept(router.profile) {
            kept += router.registrations(of: manager, BluetoothClient(app: app, slot: UInt16(slot)))
        }
        return kept
    }

    static func window(_ profile: borrowing Profile) -> Instant.Span { profile.areas.bluetooth.window }

    static func ruleOfWaiting(_ event: WakeEvent, _ interest: Interest, in router: inout Router) -> RuleID {
        router.local(interest.client) == nil ? .btc2 : .btp1
    }

    @inline(__always)
    static func observe(_ interest: Interest, in router: inout Router) -> AppSnapshot {
        var face = router.observe(interest, window: router.constants.profile.areas.bluetooth.window)
        face.restoreIdentifier =
            router.areas.bluetooth.apps[Int(interest.app.number)].managers[Int(interest.slot)].restoreIdentifier
        return face
    }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (AppSnapshot, CheckResults, BluetoothQuestion) {
        let index = Int(interest.app.number)
        // Held on to, its profile is read where it stands rather than copied.
        let constants = router.constants
        if router.areas.bluetooth.apps[index].managers[Int(interest.slot)].local != nil {
            let face = observe(interest, in: &router)
            let question = PeripheralQuestion(
                kind: event.kind,
                state: face.state,
                wanted: interest.wanted && (isNew || router.isAwaited(event))
            )
            return (
                face, PeripheralRules.evaluate(question, of: face, by: constants.profile), .peripheral(question)
            )
        }
        let sighting =
            event.kind == .peripheralDiscovered
            ? router.sight(event.peripheral, by: &interest, again: restarted) : .none
        var face = observe(interest, in: &router)
        face.scanServices = UInt16(clamping: sighting.services)
        face.endedByReboot = event.kind == .peripheralDisconnected && event.parent != .none
        if !router.areas.bluetooth.apps[index].accessoriesSetUp.isEmpty {
            router.noteSetUp(event, for: interest.client, &face)
        }
        let question = CentralQuestion(
            kind: event.kind,
            state: face.state,
            scanNamesServices: sighting.services > 0,
            firstSighting: sighting.first,
            wanted: interest.wanted,
            liftsForceQuit: face.forceQuitLifted
        )
        return (face, BluetoothRules.evaluate(question, of: face, by: constants.profile), .central(question))
    }

    static func recorded(
        _ event: WakeEvent,
        for interest: Interest,
        _ verdict: Verdict,
        _ face: AppSnapshot,
        in router: inout Router,
        into output: inout RouterOutput
    ) {
        if face.state == .suspended { router.showAlert(of: event, to: interest, into: &output) }
        if event.kind == .peripheralDiscovered { router.noteSighting(of: event.peripheral, by: interest, verdict) }
    }

    /// What would not have woken the app is kept all the same: the unlock may change links. A sighting is not: the radio
    /// looks afresh then, and what is there is seen again. A central that asked for something has its answer.
    static func waitsForUnlock(_ event: WakeEvent, wouldHave verdict: Verdict?) -> Bool {
        event.kind != .peripheralDiscovered && event.request == 0
    }

    static func managerNumber(_ slot: Int, of index: Int, in router: inout Router) -> ManagerNumber? {
        guard router.areas.bluetooth.apps[index].managers[slot].attached else { return nil }
        return router.areas.bluetooth.apps[index].managers[slot].number
    }

    static func expectsManager(_ slot: Int, of index: Int, in router: inout Router) -> Bool {
        router.areas.bluetooth.apps[index].managers[slot].inUse
    }

    static func delivered(_ event: WakeEvent, to app: AppID, in router: inout Router) {
        router.noteDelivery(of: event)
    }

    static func lost(
        _ event: WakeEvent,
        forWantOfRoom: Bool,
        in router: inout Router,
        into output: inout RouterOutput
    ) {
        let error = forWantOfRoom ? AttributeError.insufficientResources : AttributeError.unlikely
        router.refuseRequest(of: event, error, into: &output)
    }
}

/// Bluetooth, and what happens to apps and to the phone.
extension BluetoothArea {
    static func installed(_ app: AppID, _ manifest: AppManifest, in router: inout Router) -> Bool {
        let index = Int(app.number)
        router.areas.bluetooth.apps[index].mayBeSetUp = manifest.accessorySetup
        let isAllowed = manifest.bluetoothAuthorization == .allowed
        let changed = router.apps[index].face.bluetoothAllowed != isAllowed
        router.apps[index].face.bluetoothAllowed = isAllowed
        // The user changed the app's access in Settings, which ends it (BTP-5).
        return changed
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router, into output: inout RouterOutput) {
        switch step {
        case .uninstalled: router.releaseManagers(of: app, into: &output) { _ in true }
        case .launching: router.releaseManagers(of: app, into: &output) { $0.restoreIdentifier == .none }
        case .launched: router.apps[Int(app.number)].face.bluetoothOffSince = false
        case .foregrounded: router.repeatMissedScans(of: app, into: &output)
        case .ended:
            router.refuseDeliveredRequests(of: app, into: &output)
            router.detachManagers(of: app, into: &output)
        case .barred: router.letGo(of: app, into: &output)
        case .changed: router.updateAir(of: app, into: &output)
        case .lapsed: router.expireRequests(of: app, into: &output)
        case .moved, .suspended, .settling, .gone, .due, .reportDue: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router, into output: inout RouterOutput) {
        switch step {
        case .changed(let change, _): router.turnBluetooth(change, into: &output)
        case .rebooting: router.areas.bluetooth.endedByReboot = router.keptLinks()
        case .rebooted(let id):
            let lost = router.areas.bluetooth.endedByReboot
            router.areas.bluetooth.endedByReboot = []
            router.loseConnections(lost, by: id, into: &output)
            router.takeOffAir(into: &output)
        case .takeUp: router.takeUpRadio(into: &output)
        case .restarted: router.bluetoothAfterReboot(into: &output)
        case .unlocked:
            for client in router.areas.bluetooth.scanners { router.repeatMissedScan(client, into: &output) }
            router.updateAir(into: &output)
        case .benchRestarted: router.takeOffAir(into: &output)
        case .due:
            guard let returns = router.areas.bluetooth.returns, returns <= router.now else { return }
            router.turnBluetoothOn(into: &output)
        case .lockChanged, .booted: break
        }
    }

    func show(in face: inout AppSnapshot) {
        face.bluetoothOn = isOn
    }

    func due(of index: Int) -> Instant {
        apps[index].requestDeadline ?? .distantFuture
    }

    var due: Instant { returns ?? .distantFuture }
}

/// What the rules look at in either role.
enum BluetoothQuestion: AreaQuestion {
    case central(CentralQuestion)
    case peripheral(PeripheralQuestion)

    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        switch self {
        case .central(let question): BluetoothRules.refusal(decisive, in: results, state: question.state)
        case .peripheral(let question):
            PeripheralRules.refusal(decisive, in: results, of: question.kind, state: question.state)
        }
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        switch self {
        case .central(let question) where question.liftsForceQuit: (.relaunch, .relaunchedForAccessory)
        case .central(let question): Acceptance.usual(in: question.state, launching: launching)
        case .peripheral(let question): Acceptance.usual(in: question.state, launching: launching)
        }
    }

    func keepsRunning(_ modes: BackgroundModes) -> Bool {
        switch self {
        case .central: modes.contains(.bluetoothCentral)
        case .peripheral(let question):
            modes.contains(.bluetoothPeripheral) && PeripheralRules.isRequest(question.kind)
        }
    }
}
