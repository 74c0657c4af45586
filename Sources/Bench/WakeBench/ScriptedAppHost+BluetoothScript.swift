import WakeDevices
import WakeModel
import WakePorts

/// What a scripted app does with a peripheral that it is connected to, once it is subscribed to what it wants.
struct PeripheralScript {
    let use: ScriptedApp.Use
    /// By handle, as they were discovered on this connection.
    private var uuids: [AttributeHandle: String] = [:]
    /// Services and subscriptions whose answers are outstanding; nil before the services are known.
    private var outstanding: Int?
    /// Values that came of a characteristic and were not waited for yet.
    private var received: [String: Int] = [:]
    /// The step that is under way; nil before the first and after the last.
    private(set) var step: Int?
    /// Counts what was begun, on this connection and before it, so that the end of a wait is known to be the present one's.
    private(set) var turn: Int

    init(_ use: ScriptedApp.Use, turn: Int = 0) {
        self.use = use
        self.turn = turn
    }

    /// The action that is under way.
    var action: BluetoothCentral.Action? { step.map { use.script[$0].action } }

    /// The handle of a characteristic; nil for one that the peripheral does not have.
    func handle(_ uuid: String) -> AttributeHandle? { uuids.filter { $0.value == uuid }.map(\.key).min() }

    /// Takes what the app is told; true when the script is to go on with another step.
    mutating func hear(_ event: WakeEvent, _ payload: EventPayload) -> Bool {
        switch (event.kind, payload) {
        case (.servicesDiscovered, .services(let services)):
            self = PeripheralScript(use, turn: turn + 1)
            outstanding = services.count
        case (.characteristicsDiscovered, .characteristics(let found)):
            for each in found { uuids[each.handle] = each.uuid }
            outstanding? -= 1
            for each in found where use.characteristics.contains(each.uuid) { outstanding? += 1 }
            return begins()
        case (.notificationStateChanged, _):
            outstanding? -= 1
            return begins()
        case (.characteristicNotified, _):
            guard let uuid = uuids[event.attribute] else { return false }
            received[uuid, default: 0] += 1
            return takesValues()
        case (.valueRead, _):
            if case .read(let uuid) = action, uuid == uuids[event.attribute] { return true }
        case (.valueWritten, _):
            if case .write(let uuid, _, _) = action, uuid == uuids[event.attribute] { return true }
        case (.peripheralDisconnected, _): self = PeripheralScript(use, turn: turn + 1)
        default: break
        }
        return false
    }

    /// Everything is known and subscribed to for the first time.
    private func begins() -> Bool { outstanding == 0 && step == nil }

    /// What the step that is under way has waited for in vain, when its time is over; nil for one that only waits.
    var awaited: String? {
        guard case .awaitValues(let uuid, let count, let within?) = action else { return nil }
        return "waited \(DurationText.words(within)) for \(count) of \(uuid), \(received[uuid, default: 0]) came"
    }

    /// What the step that is under way awaits, with or without a bound, when it can come no more; nil for one that awaits nothing.
    ///
    /// - Parameter end: what ends it, such as `at the end`.
    func awaits(_ end: String) -> String? {
        guard case .awaitValues(let uuid, let count, _) = action else { return nil }
        return "still awaits \(count) of \(uuid) \(end), \(received[uuid, default: 0]) came"
    }

    /// Whether as many values came as the step waits for, which are taken.
    mutating func takesValues() -> Bool {
        guard case .awaitValues(let uuid, let count, _) = action, received[uuid, default: 0] >= count else {
            return false
        }
        received[uuid, default: 0] -= count
        return true
    }

    /// Goes to the next step.
    mutating func goOn() {
        let next = step.map { $0 + 1 } ?? 0
        step = next < use.script.count ? next : nil
        turn += 1
        if step == nil { outstanding = nil }
    }
}

extension ScriptedAppHost {
    /// Lets the scripts of an app hear of what it is told.
    func tellScript(_ delivery: AppDelivery, of app: AppID) {
        let (event, own) = (delivery.event, apps[app]!)
        guard let place = own.devices.firstIndex(of: event.peripheral), !own.script.uses[place].script.isEmpty else {
            return
        }
        var script = own.scripts[event.peripheral] ?? PeripheralScript(own.script.uses[place])
        let asked = script.action
        if event.kind == .peripheralDisconnected, let cut = script.awaits("when its connection ends") {
            note?(cut, app, now)
        }
        let goesOn = script.hear(event, delivery.payload)
        own.scripts[event.peripheral] = script
        if goesOn, let asked, case .failure(let failure) = delivery.payload {
            note?("\(Self.text(asked)) of \(names.text(event.peripheral)) failed: \(failure.message)", app, now)
        }
        if goesOn { continueScript(event.peripheral, of: app, at: now) }
    }

    /// What the scripts of apps that run await now, a line each.
    var unfinished: [(app: AppID, line: String)] {
        apps.keys.sorted().flatMap { app -> [(app: AppID, line: String)] in
            guard let own = apps[app], own.running else { return [] }
            return awaited(of: own, "at the end").map { (app, $0) }
        }
    }

    /// What the scripts of an app whose process has ended awaited is told.
    func tellScriptsEnd(of app: AppID, at now: Instant) {
        for line in awaited(of: apps[app]!, "when its process ends") { note?(line, app, now) }
    }

    private func awaited(of own: App, _ end: String) -> [String] {
        own.devices.compactMap { own.scripts[$0]?.awaits(end) }
    }

    /// The time that a step had is over.
    func scriptDue(_ peripheral: NameID, _ turn: Int, of app: AppID, at now: Instant) {
        guard let script = apps[app]!.scripts[peripheral], script.turn == turn else { return }
        if let awaited = script.awaited { note?(awaited, app, now) }
        continueScript(peripheral, of: app, at: now)
    }

    private static func text(_ action: BluetoothCentral.Action) -> String {
        switch action {
        case .read(let uuid): "read \(uuid)"
        case .write(let uuid, let value, _): "write \(uuid) \(value.hexadecimal)"
        default: "step"
        }
    }

    /// A step is left out, as the peripheral does not have what it is about.
    private func leaveOut(_ action: BluetoothCentral.Action, _ peripheral: NameID, of app: AppID, at instant: Instant) {
        note?("\(Self.text(action)): \(names.text(peripheral)) has no such characteristic", app, instant)
    }

    /// Begins the next step, and those after it that take no time.
    ///
    /// - Parameter instant: the time, which may be later than when the host was told of something.
    private func continueScript(_ peripheral: NameID, of app: AppID, at instant: Instant) {
        let own = apps[app]!
        while var script = own.scripts[peripheral] {
            script.goOn()
            own.scripts[peripheral] = script
            guard let action = script.action else { return }
            switch action {
            case .wait(let span): return waitForScript(peripheral, script.turn, of: app, at: now.advanced(by: span))
            case .awaitValues(_, _, let span):
                let hasCome = script.takesValues()
                own.scripts[peripheral] = script
                if hasCome { continue }
                if let span { waitForScript(peripheral, script.turn, of: app, at: now.advanced(by: span)) }
                return
            case .read(let uuid):
                guard let handle = script.handle(uuid) else {
                    leaveOut(action, peripheral, of: app, at: instant)
                    continue
                }
                return operate(.read(handle), peripheral, of: app)
            case .write(let uuid, let value, let kind):
                guard let handle = script.handle(uuid) else {
                    leaveOut(action, peripheral, of: app, at: instant)
                    continue
                }
                operate(.write(handle, value, withResponse: kind != .command), peripheral, of: app)
                // Nothing answers a command.
                if kind != .command { return }
            case .connect, .discover, .subscribe, .unsubscribe, .exchange, .disconnect: return
            }
        }
    }
}
