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
            Int(client.app.number) < apps.count && Int(client.slot) < apps[client.app].managers.count
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
        for (number, app) in apps.enumerated() {
            for slot in app.managers.indices where app.managers[slot].scan != nil {
                scanners.append(BluetoothClient(app: AppID(UInt32(number)), slot: UInt16(slot)))
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
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        router.bluetooth(request, from: app)
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        router.routeBluetooth(event)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        guard var held else { return router.preservedInterest(of: app, in: event) }
        // A launch for an event before this one lets go of managers that nobody restores.
        for slot in held.slots where !router.areas.bluetooth.apps[app].managers[slot].inUse { held.slots.remove(slot) }
        guard !held.slots.isEmpty else { return nil }
        if !held.slots.contains(Int(held.slot)) { held.slot = held.slots.lowest }
        return held
    }

    static func isConsistent(_ interest: Interest, _ router: Router) -> Bool {
        let count = router.areas.bluetooth.apps[interest.app].managers.count
        let slots = count == 64 ? UInt64.max : (1 << UInt64(count)) - 1
        return Int(interest.slot) < count && interest.slots.bits & ~slots == 0
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        var kept: [KeptRegistration] = []
        for (slot, manager) in router.areas.bluetooth.apps[app].managers.enumerated()
        where manager.isKept(router.constants) {
            kept += router.registrations(of: manager, BluetoothClient(app: app, slot: UInt16(slot)))
        }
        return kept
    }

    static func taker(of via: Registration, ending cause: Deed?, _ router: Router) -> Deed {
        if let cause { return cause }
        guard router.profile.areas.bluetooth.restoration else { return .lostWithProcess }
        return via == .publishedService ? .lostUnpreserved : .lostWithoutRestoreIdentifier
    }

    static func window(_ constants: Constants) -> Instant.Span { constants.profile.areas.bluetooth.window }

    static func ruleOfWaiting(_ event: WakeEvent, _ interest: Interest, in router: inout Router) -> RuleID {
        guard router.local(interest.client) == nil else { return .btp1 }
        return switch event.kind {
        case .readyToWrite: .btc12
        case .channelDataAvailable where !router.profile.areas.bluetooth.channelDataWakes: .btc13
        default: .btc2
        }
    }

    @inline(__always)
    static func observe(_ interest: Interest, in snapshot: inout AppSnapshot, of router: inout Router) {
        router.observe(interest, in: &snapshot, window: window(router.constants))
        snapshot.restoreIdentifier =
            router.areas.bluetooth.apps[interest.app].managers[Int(interest.slot)].restoreIdentifier
    }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, BluetoothQuestion) {
        let app = interest.app
        // Held on to, its profile is read where it stands rather than copied.
        let constants = router.constants
        if router.areas.bluetooth.apps[app].managers[Int(interest.slot)].isPeripheralManager {
            observe(interest, in: &snapshot, of: &router)
            let question = PeripheralQuestion(
                kind: event.kind,
                state: snapshot.state,
                wanted: interest.wanted && (isNew || router.isAwaited(event))
            )
            return (
                PeripheralRules.evaluate(question, of: &snapshot, by: constants), .peripheral(question)
            )
        }
        let sighting =
            event.kind == .peripheralDiscovered
            ? router.sight(event.peripheral, by: &interest, again: restarted) : .none
        observe(interest, in: &snapshot, of: &router)
        snapshot.scanServices = UInt16(clamping: sighting.services)
        snapshot.endedByReboot = event.kind == .peripheralDisconnected && event.parent != .none
        if !router.areas.bluetooth.apps[app].accessoriesSetUp.isEmpty {
            router.noteSetUp(event, for: interest.client, &snapshot)
        }
        let question = CentralQuestion(
            kind: event.kind,
            state: snapshot.state,
            scanNamesServices: sighting.services > 0,
            firstSighting: sighting.first,
            wanted: interest.wanted,
            liftsForceQuit: snapshot.forceQuitLifted
        )
        return (BluetoothRules.evaluate(question, of: &snapshot, by: constants), .central(question))
    }

    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router) {
        switch step {
        case .recorded(let verdict, let state):
            if state == .suspended { router.showAlert(of: event, to: interest) }
            if event.kind == .peripheralDiscovered { router.noteSighting(of: event.peripheral, by: interest, verdict) }
        case .delivered: router.noteDelivery(of: event)
        case .deciding, .carriedOut, .deferring, .deferredDelivered: break
        }
    }

    /// What would not have woken the app is kept all the same: the unlock may change links. A sighting is not: the radio
    /// looks afresh then, and what is there is seen again. A central that asked for something has its answer.
    static func waitsForUnlock(_ event: WakeEvent, wouldHave verdict: Verdict?) -> Bool {
        event.kind != .peripheralDiscovered && event.request == 0
    }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? {
        guard router.areas.bluetooth.apps[app].managers[slot].attached else { return nil }
        return router.areas.bluetooth.apps[app].managers[slot].number
    }

    static func expectsManager(_ slot: Int, of app: AppID, in router: inout Router) -> Bool {
        router.areas.bluetooth.apps[app].managers[slot].inUse
    }

    static func reconnects(
        _ manager: ManagerNumber,
        of app: AppID,
        after event: WakeEvent,
        in router: inout Router
    ) -> Bool {
        // Asked before the router, which is copied for a question.
        event.kind == .peripheralDisconnected && event.failed && router.reconnects(app, manager, after: event)
    }

    static func lost(_ event: WakeEvent, forWantOfRoom: Bool, in router: inout Router) {
        let error = forWantOfRoom ? AttributeError.insufficientResources : AttributeError.unlikely
        router.refuseRequest(of: event, error)
    }
}

/// Bluetooth, and what happens to apps and to the phone.
extension BluetoothArea {
    static func installed(_ app: AppID, _ manifest: AppManifest, in router: inout Router) -> Bool {
        router.areas.bluetooth.apps[app].mayBeSetUp = manifest.accessorySetup
        let isAllowed = manifest.bluetoothAuthorization == .allowed
        let changed = router.apps[app].snapshot.bluetoothAllowed != isAllowed
        router.apps[app].snapshot.bluetoothAllowed = isAllowed
        // The user changed the app's access in Settings, which ends it (BTP-5).
        return changed
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .uninstalled: router.releaseManagers(of: app) { _ in true }
        case .launching: router.releaseManagers(of: app) { $0.restoreIdentifier == .none }
        case .launched: router.apps[app].snapshot.bluetoothOffSince = false
        case .foregrounded: router.repeatMissedScans(of: app)
        case .ended:
            router.refuseDeliveredRequests(of: app)
            router.detachManagers(of: app)
        case .barred: router.letGo(of: app)
        case .changed: router.updateAir(of: app)
        case .lapsed: router.expireRequests(of: app)
        case .moved, .suspended, .settling, .gone, .due, .reportDue: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router) {
        switch step {
        case .changed(let change, _): router.turnBluetooth(change)
        case .rebooting: router.areas.bluetooth.endedByReboot = router.keptLinks()
        case .rebooted(let id):
            let lost = router.areas.bluetooth.endedByReboot
            router.areas.bluetooth.endedByReboot = []
            router.loseConnections(lost, by: id)
            router.act(.bluetooth(.forgetAttributes))
            router.takeOffAir()
        case .takeUp: router.takeUpRadio()
        case .restarted:
            // A restart turns on what was off in Control Centre.
            if router.areas.bluetooth.powerSwitch == .offInControlCentre { router.turnBluetoothOn() }
        case .unlocked:
            for client in router.areas.bluetooth.scanners { router.repeatMissedScan(client) }
            router.updateAir()
        case .benchRestarted: router.takeOffAir()
        case .due:
            guard let returns = router.areas.bluetooth.returns, returns <= router.now else { return }
            router.turnBluetoothOn()
        case .lockChanged, .clockSet, .conditionsChanged, .booted: break
        }
    }

    static func lack(of change: PhoneChange, _ router: Router) -> Deed? {
        router.isBluetoothSo(change) ? .foundItSo : nil
    }

    func show(in snapshot: inout AppSnapshot) {
        snapshot.bluetoothOn = isOn
    }

    func due(of app: AppID) -> Instant {
        apps[app].requestDeadline ?? .distantFuture
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
        case .central(let question): modes.contains(.bluetoothCentral) && question.kind != .readyToWrite
        case .peripheral(let question):
            modes.contains(.bluetoothPeripheral) && PeripheralRules.isRequest(question.kind)
        }
    }
}
