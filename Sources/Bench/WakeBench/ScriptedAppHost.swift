import WakeDevices
import WakeModel
import WakePorts

/// Apps that the scenario plays: no process, only answers, at the full speed of virtual time.
package final class ScriptedAppHost: AppHost {
    /// Something that an app does later.
    fileprivate enum Errand {
        case endReaction(ScriptedApp.Ending)
        case endTask(UInt64)
        case returned(LifecycleCallback)
    }

    /// What one app does, and where its present process stands.
    final class App {
        let script: ScriptedApp
        /// The devices of the script's `uses`, as the router names them.
        let devices: [NameID]
        /// The servers that it calls, as records name them.
        let servers: [NameID]
        var generation: UInt32 = 0
        var running = false
        var frozen = false
        /// What came due while the process was frozen.
        fileprivate var overdue: [Errand] = []
        var nextToken: UInt64 = 1
        /// Subscriptions that the process has, by peripheral.
        var connected: [NameID: Bool] = [:]
        /// What it publishes as a peripheral, whether this process has, and the values as they are now.
        let publication: Publication
        var isPublished = false
        var values: [UInt32: [UInt8]] = [:]
        /// What it plays cannot be heard.
        var isSilent = false
        /// The number of its last request about sound.
        var lastRequest: UInt32 = 0
        /// The number of its next session, and what it writes to those that are being opened.
        var nextSession: ManagerNumber = 0
        var writes: [ManagerNumber: [UInt8]] = [:]

        init(script: ScriptedApp, devices: [NameID], servers: [NameID]) {
            self.script = script
            self.devices = devices
            self.servers = servers
            publication = Publication(script.peripheral)
        }
    }

    /// The central manager that a scripted app makes.
    private static let manager: ManagerNumber = 1

    package var hear: ((AppID, UInt32, AppWord) -> Void)?
    /// Where what an app does with its sound goes, in place of buffers.
    package var pretend: ((PretendedSound, AppID, Instant) -> Void)?
    /// The accessories that an app may see.
    var visibleAccessories: ((AppID) -> [Accessory])?
    /// Hears that an app has written to an accessory.
    var wroteToSession: (() -> Void)?
    let names: NameTable
    let profile: Profile
    var apps: [AppID: App] = [:]
    private var errands = TimedQueue<(app: AppID, generation: UInt32, errand: Errand)>()

    package init(names: NameTable, profile: Profile) {
        self.names = names
        self.profile = profile
    }

    /// Takes an app on. `devices` are the names of all devices of the scenario, by position.
    package func add(_ script: ScriptedApp, as app: AppID, devices: [NameID]) {
        apps[app] = App(
            script: script,
            devices: script.uses.map { devices[$0.device] },
            servers: script.voip?.servers.map { devices[$0] } ?? []
        )
    }

    /// The present process of an app says something.
    func say(_ app: AppID, _ word: AppWord) { hear?(app, apps[app]!.generation, word) }

    package var nextDeadline: Instant? { errands.next }
    package var isQuiet: Bool { true }
    package func stop() {}

    // MARK: The process

    package func launch(_ app: AppID, generation: UInt32, state: AppState, cause: LaunchCause?, at now: Instant) {
        apps[app]!.generation = generation
        apps[app]!.running = true
        apps[app]!.frozen = false
        apps[app]!.nextToken = 1
        apps[app]!.connected = [:]
        apps[app]!.overdue = []
        apps[app]!.isPublished = false
        apps[app]!.values = apps[app]!.publication.values
        let script = apps[app]!.script
        if !script.uses.isEmpty || script.scan != nil {
            request(
                .createManager(Self.manager, restoreIdentifier: names.intern(script.restoreIdentifier ?? "")),
                from: app
            )
        }
        if let use = script.location { useLocation(use, of: app) }
        if let peripheral = script.peripheral { createPeripheralManager(peripheral, of: app) }
        if let use = script.audio { useSound(use, of: app) }
        if let use = script.accessory { useAccessories(use, of: app) }
        if let use = script.voip { useSockets(use, of: app) }
        say(app, .report(.launched))
        if let reaction = script.reactions.first(where: { $0.trigger == .launch }) { begin(reaction, of: app, at: now) }
    }

    package func thaw(_ app: AppID, at now: Instant) {
        apps[app]!.frozen = false
        for errand in apps[app]!.overdue { add(errand, of: app, at: now) }
        apps[app]!.overdue.removeAll()
    }

    package func freeze(_ app: AppID, at now: Instant) {
        apps[app]!.frozen = true
        say(app, .report(.suspended))
    }

    package func kill(_ app: AppID, at now: Instant) {
        apps[app]!.running = false
    }

    package func callback(_ callback: LifecycleCallback, state: AppState, to app: AppID, at now: Instant) {
        let reaction = apps[app]!.script.reactions.first { $0.trigger == .callback(callback) }
        guard let reaction else {
            say(app, .report(.returned(callback)))
            return
        }
        begin(reaction, of: app, at: now)
        add(.returned(callback), of: app, at: now.advanced(by: reaction.work))
    }

    package func expireTasks(_ tokens: [UInt64], of app: AppID, at now: Instant) {
        for token in tokens where !neverEnds(app) { request(.endTask(token: token), from: app) }
    }

    /// Whether the script holds on to its tasks even when they expire.
    private func neverEnds(_ app: AppID) -> Bool {
        apps[app]!.script.reactions.contains { $0.task == .neverEnds }
    }

    // MARK: Events

    package func deliver(_ delivery: AppDelivery, to app: AppID, at now: Instant) {
        guard apps[app]!.running else { return }
        if delivery.event.kind.source == .accessory {
            followAccessory(delivery, of: app)
        } else if delivery.event.kind.source == .audio {
            followSound(delivery.event, of: app)
        } else if delivery.manager == Self.peripheralManager {
            serve(delivery, of: app)
        } else {
            follow(delivery, of: app)
        }
        if let reaction = apps[app]!.script.reaction(to: delivery.event.kind) { begin(reaction, of: app, at: now) }
    }

    package func tell(_ notice: AppNotice, to app: AppID, at now: Instant) {
        switch notice {
        case .managerState(let manager, let state): managerState(manager, state, to: app)
        case .restore(_, let state): restore(state, to: app)
        case .restorePeripheral(_, let state): apps[app]!.isPublished = !state.services.isEmpty
        case .audioAnswer(_, .granted): soundGranted(to: app, at: now)
        case .audioAnswer(_, .refused), .locationAuthorization: break
        }
    }

    private func managerState(_ manager: ManagerNumber, _ state: BluetoothState, to app: AppID) {
        guard state == .poweredOn else { return }
        if manager == Self.peripheralManager { return publish(app) }
        let own = apps[app]!
        for device in own.devices where own.connected[device] == nil {
            request(.connect(manager, peripheral: device), from: app)
        }
        if let scan = own.script.scan {
            request(
                .scan(
                    manager,
                    services: scan.services.map(names.intern),
                    allowDuplicates: scan.allowDuplicates
                ),
                from: app
            )
        }
    }

    private func restore(_ state: RestoredState, to app: AppID) {
        for peripheral in state.peripherals {
            apps[app]!.connected[peripheral.name] = peripheral.connected
            if peripheral.connected, peripheral.subscriptions.isEmpty {
                discover(peripheral.name, of: app)
            }
        }
    }

    /// What any app does to get its notifications: connect, discover, subscribe, and connect again.
    private func follow(_ delivery: AppDelivery, of app: AppID) {
        let event = delivery.event
        switch (event.kind, delivery.payload) {
        case (.peripheralDiscovered, _):
            if apps[app]!.script.scan?.connects == true, apps[app]!.connected[event.peripheral] == nil {
                apps[app]!.connected[event.peripheral] = false
                request(.connect(Self.manager, peripheral: event.peripheral), from: app)
            }
        case (.peripheralConnected, _):
            apps[app]!.connected[event.peripheral] = true
            discover(event.peripheral, of: app)
        case (.peripheralDisconnected, _), (.peripheralConnectionFailed, _):
            apps[app]!.connected[event.peripheral] = false
            request(.connect(Self.manager, peripheral: event.peripheral), from: app)
        case (.bluetoothPoweredOff, _): apps[app]!.connected = [:]
        case (.bluetoothPoweredOn, _): managerState(Self.manager, .poweredOn, to: app)
        case (.servicesDiscovered, .services(let services)):
            for service in services {
                operate(.discoverCharacteristics(of: service.handle, []), event.peripheral, of: app)
            }
        case (.characteristicsDiscovered, .characteristics(let characteristics)):
            for characteristic in characteristics where wants(characteristic, of: event.peripheral, app) {
                operate(.setNotify(characteristic.handle, true), event.peripheral, of: app)
            }
        default: break
        }
    }

    private func discover(_ peripheral: NameID, of app: AppID) {
        operate(.discoverServices([]), peripheral, of: app)
    }

    private func wants(_ characteristic: GATTCharacteristic, of peripheral: NameID, _ app: AppID) -> Bool {
        let state = apps[app]!
        let notifies = characteristic.properties & 0x30 != 0
        for (use, device) in zip(state.script.uses, state.devices) where device == peripheral {
            if use.characteristics.contains(characteristic.uuid) { return true }
        }
        return notifies && !state.devices.contains(peripheral)
    }

    private func operate(_ operation: BluetoothOperation, _ peripheral: NameID, of app: AppID) {
        request(.operate(Self.manager, peripheral: peripheral, operation), from: app)
    }

    func request(_ request: AppRequest, from app: AppID) {
        say(app, .request(request))
    }

    // MARK: Reactions

    private func begin(_ reaction: ScriptedApp.Reaction, of app: AppID, at now: Instant) {
        if let task = reaction.task {
            let token = apps[app]!.nextToken
            apps[app]!.nextToken += 1
            request(.beginTask(token: token), from: app)
            if case .endsAfter(let span) = task { add(.endTask(token), of: app, at: now.advanced(by: span)) }
        }
        if reaction.then != .nothing { add(.endReaction(reaction.then), of: app, at: now.advanced(by: reaction.work)) }
    }

    private func add(_ errand: Errand, of app: AppID, at instant: Instant) {
        errands.add((app, apps[app]!.generation, errand), at: instant)
    }

    package func timeReached(_ now: Instant) {
        while let (_, due) = errands.takeDue(by: now) {
            guard let app = apps[due.app], app.running, app.generation == due.generation else { continue }
            if app.frozen {
                // A frozen process does nothing; it goes on with it once it is thawed.
                apps[due.app]!.overdue.append(due.errand)
            } else {
                carryOut(due.errand, of: due.app)
            }
        }
    }

    private func carryOut(_ errand: Errand, of app: AppID) {
        switch errand {
        case .endTask(let token): request(.endTask(token: token), from: app)
        case .returned(let callback): say(app, .report(.returned(callback)))
        case .endReaction(.end): request(.done, from: app)
        case .endReaction(.nothing): break
        case .endReaction(.exit):
            apps[app]!.running = false
            say(app, .report(.exited(0)))
        case .endReaction(.crash):
            apps[app]!.running = false
            say(app, .report(.exited(-11)))
        }
    }
}
