import WakeModel

/// What an app asks of Core Bluetooth, and what becomes of its managers.
extension Router {
    /// The bound of one app's managers.
    static let managersLimit = 64

    /// Performs what an app asks of Core Bluetooth; says whether it is of Core Bluetooth.
    mutating func bluetooth(_ request: AppRequest, from app: AppID) -> Bool {
        switch request {
        case .createManager(let number, let identifier):
            createManager(number, restoreIdentifier: identifier, peripheralRole: false, for: app)
        case .releaseManager(let number):
            withManager(number, of: app) { $0.releaseManager($1, of: app) }
        case .scan(let number, let services, let allowDuplicates):
            withManager(number, of: app) { $0.scan($1, of: app, services: services, allowDuplicates: allowDuplicates) }
        case .stopScan(let number):
            withManager(number, of: app) { $0.stopScan($1, of: app) }
        case .connect(let number, let peripheral, let options):
            withManager(number, of: app) { $0.connect($1, of: app, peripheral: peripheral, options: options) }
        case .watchConnections(let number, let peripherals, let services):
            withManager(number, of: app) { $0.watchConnections($1, of: app, of: peripherals, to: services) }
        case .cancelConnection(let number, let peripheral):
            withManager(number, of: app) { $0.cancelConnection($1, of: app, peripheral: peripheral) }
        case .operate(let number, let peripheral, let operation):
            withManager(number, of: app) { router, slot in
                router.operate(operation, slot, of: app, peripheral: peripheral)
            }
        case .peripheralManager(let number, let request):
            peripheralManager(request, number, from: app)
        default: return false
        }
        return true
    }

    mutating func withManager(
        _ number: ManagerNumber,
        of app: AppID,
        peripheralRole: Bool = false,
        _ body: (inout Router, Int) -> Void
    ) {
        guard let slot = areas.bluetooth.apps[app].slot(of: number),
            (areas.bluetooth.apps[app].managers[slot].local != nil) == peripheralRole
        else {
            act(.refused(app, .unknownManager))
            return
        }
        body(&self, slot)
    }

    // MARK: Managers

    mutating func createManager(
        _ number: ManagerNumber,
        restoreIdentifier: NameID,
        peripheralRole: Bool,
        for app: AppID
    ) {
        guard areas.bluetooth.apps[app].slot(of: number) == nil else {
            act(.refused(app, .duplicateManager))
            return
        }
        if restoreIdentifier != .none,
            let slot = areas.bluetooth.apps[app].managers.firstIndex(where: {
                $0.inUse && $0.restoreIdentifier == restoreIdentifier && ($0.local != nil) == peripheralRole
            })
        {
            guard !areas.bluetooth.apps[app].managers[slot].attached else {
                act(.refused(app, .duplicateManager))
                return
            }
            restoreManager(slot, as: number, of: app)
            return
        }
        let free = areas.bluetooth.apps[app].managers.firstIndex { !$0.inUse }
        guard free != nil || areas.bluetooth.apps[app].managers.count < Self.managersLimit else {
            act(.refused(app, .tooMany))
            return
        }
        let slot = free ?? areas.bluetooth.apps[app].managers.count
        let manager = BluetoothRecord.Manager(
            inUse: true,
            attached: true,
            number: number,
            restoreIdentifier: restoreIdentifier,
            createdAt: now,
            local: peripheralRole ? LocalPeripheral() : nil
        )
        areas.bluetooth.apps[app].managers.put(manager, at: slot)
        if !apps[app].snapshot.bluetoothAllowed { act(.did(app, .refusedRadio)) }
        updateAir(of: app)
        act(.tell(app, .managerState(number, bluetoothState(for: app))))
    }

    /// The relaunched process made its manager again: willRestoreState, the state, then what waited (BTC-6).
    private mutating func restoreManager(_ slot: Int, as number: ManagerNumber, of app: AppID) {
        areas.bluetooth.apps[app].managers[slot].attached = true
        areas.bluetooth.apps[app].managers[slot].number = number
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        let manager = areas.bluetooth.apps[app].managers[slot]
        if let local = manager.local {
            act(.did(app, .restoredPeripheral, subject: manager.restoreIdentifier))
            act(.tell(app, .restorePeripheral(number, local.restored)))
            act(.tell(app, .managerState(number, bluetoothState(for: app))))
            updateAir(of: app)
            deliverWaiting(to: app)
            return
        }
        let preserved = manager.peripherals.compactMap { name in
            link(of: client, to: name).map {
                RestoredState.Peripheral(
                    name: name,
                    connected: $0.connected,
                    subscriptions: areas.bluetooth.peripherals[Int(name.number)].subscriptions(of: client)
                )
            }
        }
        let state = RestoredState(
            peripherals: preserved,
            scanServices: manager.scan?.services,
            scanAllowsDuplicates: manager.scan?.allowDuplicates ?? false
        )
        act(.tell(app, .restore(number, state)))
        act(.tell(app, .managerState(number, bluetoothState(for: app))))
        deliverWaiting(to: app)
    }

    /// The process is gone. Managers with a restore identifier are preserved with all they hold; the others let go of
    /// the radio, and stay known only so that records can say why nothing woke the app (BTC-7).
    mutating func detachManagers(of app: AppID) {
        for slot in areas.bluetooth.apps[app].managers.indices
        where areas.bluetooth.apps[app].managers[slot].attached {
            areas.bluetooth.apps[app].managers[slot].attached = false
            let client = BluetoothClient(app: app, slot: UInt16(slot))
            let preserved =
                profile.areas.bluetooth.restoration
                && areas.bluetooth.apps[app].managers[slot].restoreIdentifier != .none
            if let local = areas.bluetooth.apps[app].managers[slot].local {
                detach(local, of: client, preserved: preserved)
            } else if !preserved {
                act(.bluetooth(.release(client)))
            }
        }
    }

    /// The app will not be launched again, so that the system keeps nothing of its managers: links, requests, scans,
    /// subscriptions and adverts end, and nothing is restored later (LAUNCH-2), but for accessories that bring the app back
    /// all the same (BTC-8).
    mutating func letGo(of app: AppID) {
        for slot in areas.bluetooth.apps[app].managers.indices {
            let manager = areas.bluetooth.apps[app].managers[slot]
            guard manager.inUse, !manager.attached else { continue }
            let kept = manager.isKept(constants) ? manager.peripherals.filter { isSetUp($0, for: app) } : []
            releaseManager(slot, of: app, keeping: kept)
        }
    }

    /// Drops the managers of an app that no process is attached to and that match.
    mutating func releaseManagers(of app: AppID, where matches: (BluetoothRecord.Manager) -> Bool) {
        for slot in areas.bluetooth.apps[app].managers.indices {
            let manager = areas.bluetooth.apps[app].managers[slot]
            if manager.inUse, !manager.attached, matches(manager) { releaseManager(slot, of: app) }
        }
    }

    /// Ends what a manager holds: its links, requests, scan, watch and advert, with what waits for it. What is of the kept
    /// peripherals, if there are any, stays, and the manager with it.
    mutating func releaseManager(_ slot: Int, of app: AppID, keeping kept: [NameID] = []) {
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        for peripheral in areas.bluetooth.apps[app].managers[slot].peripherals where !kept.contains(peripheral) {
            removeLink(of: client, to: peripheral)
        }
        areas.bluetooth.scanners.removeAll { $0 == client }
        dropHeld(of: app, slot: slot, source: .bluetooth) { !kept.contains($0.peripheral) }
        dropKept(of: app, slot: slot, source: .bluetooth) { !kept.contains($0.peripheral) }
        dropWaiting(of: app, slot: slot, source: .bluetooth) { !kept.contains($0.peripheral) }
        if areas.bluetooth.apps[app].managers[slot].local == nil {
            act(.bluetooth(.release(client, keeping: kept)))
        } else {
            takeOffAir(client)
        }
        if kept.isEmpty {
            areas.bluetooth.apps[app].managers[slot] = .init()
        } else {
            areas.bluetooth.apps[app].managers[slot].scan = nil
            areas.bluetooth.apps[app].managers[slot].watch = nil
        }
    }

    // MARK: Requests

    private mutating func scan(_ slot: Int, of app: AppID, services: [NameID], allowDuplicates: Bool) {
        guard mayUseRadio(app) else { return }
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        areas.bluetooth.apps[app].managers[slot].scan = .init(
            services: services,
            allowDuplicates: allowDuplicates,
            since: now
        )
        areas.bluetooth.scanners.insertInOrder(client)
        resumeScan(client)
    }

    mutating func resumeScan(_ client: BluetoothClient) {
        guard let scan = areas.bluetooth.apps[client.app].managers[Int(client.slot)].scan else { return }
        areas.bluetooth.apps[client.app].managers[Int(client.slot)].scan!.missed = false
        act(.bluetooth(.scan(client, services: scan.services, allowDuplicates: scan.allowDuplicates)))
    }

    /// Lets the radio report again what it reported in vain: the app may hear of it now.
    mutating func repeatMissedScan(_ client: BluetoothClient) {
        guard isKept(client),
            areas.bluetooth.apps[client.app].managers[Int(client.slot)].scan?.missed == true
        else {
            return
        }
        resumeScan(client)
    }

    mutating func repeatMissedScans(of app: AppID) {
        for slot in areas.bluetooth.apps[app].managers.indices {
            repeatMissedScan(BluetoothClient(app: app, slot: UInt16(slot)))
        }
    }

    private mutating func stopScan(_ slot: Int, of app: AppID) {
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        guard areas.bluetooth.apps[app].managers[slot].scan != nil else { return }
        // What was held is judged by the scan that it was for.
        dropHeld(of: app, slot: slot, source: .bluetooth) { $0.kind == .peripheralDiscovered }
        areas.bluetooth.apps[app].managers[slot].scan = nil
        areas.bluetooth.scanners.removeAll { $0 == client }
        act(.did(app, .stoppedDelivery))
        act(.bluetooth(.stopScan(client)))
    }

    private mutating func connect(_ slot: Int, of app: AppID, peripheral: NameID, options: ConnectOptions) {
        guard mayUseRadio(app) else { return }
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        if link(of: client, to: peripheral) == nil {
            addLink(Link(client: client, connected: false, since: now), to: peripheral)
        }
        setOptions(options, of: client, to: peripheral)
        act(.bluetooth(.connect(client, peripheral: peripheral)))
    }

    private mutating func cancelConnection(_ slot: Int, of app: AppID, peripheral: NameID) {
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        guard link(of: client, to: peripheral) != nil else {
            act(.refused(app, .notConnected))
            return
        }
        // Nothing but the answer is wanted of it from here on (BT-1).
        areas.bluetooth.peripherals[Int(peripheral.number)].subscriptions.removeAll { $0.client == client }
        dropHeld(of: app, slot: slot, source: .bluetooth) {
            $0.kind == .characteristicNotified && $0.peripheral == peripheral
        }
        act(.bluetooth(.disconnect(client, peripheral: peripheral)))
    }

    private mutating func operate(_ operation: BluetoothOperation, _ slot: Int, of app: AppID, peripheral: NameID) {
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        guard link(of: client, to: peripheral)?.connected == true else {
            act(.refused(app, .notConnected))
            return
        }
        switch operation {
        case .setNotify(let handle, true):
            areas.bluetooth.peripherals[Int(peripheral.number)].insert(
                Subscription(attribute: handle, client: client, since: now)
            )
        case .setNotify(let handle, false):
            let ended = subscriptions(of: client, on: peripheral).filter { $0.attribute == handle }
            tellLost(ended, to: .unregistered, by: .none)
            areas.bluetooth.peripherals[Int(peripheral.number)].removeSubscription(of: client, to: handle)
            dropHeld(of: app, slot: slot, source: .bluetooth) {
                $0.kind == .characteristicNotified && $0.peripheral == peripheral && $0.attribute == handle
            }
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .read,
            .write, .readDescriptor, .writeDescriptor, .readSignalStrength, .openChannel:
            break
        }
        act(.bluetooth(.operate(client, peripheral: peripheral, operation)))
    }

    private mutating func watchConnections(
        _ slot: Int,
        of app: AppID,
        of peripherals: [NameID],
        to services: [NameID]
    ) {
        let ends = peripherals.isEmpty && services.isEmpty
        if ends, areas.bluetooth.apps[app].managers[slot].watch == nil { return }
        areas.bluetooth.apps[app].managers[slot].watch =
            ends ? nil : .init(peripherals: peripherals, services: services, since: now)
        if ends { dropHeld(of: app, slot: slot, source: .bluetooth) { $0.kind == .connectionEvent } }
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        act(.bluetooth(.watchConnections(client, peripherals: peripherals, services: services)))
    }

    // MARK: Links

    func link(of client: BluetoothClient, to peripheral: NameID) -> Link? {
        let row = Int(peripheral.number)
        guard row < areas.bluetooth.peripherals.count,
            let position = areas.bluetooth.peripherals[row].position(of: client)
        else { return nil }
        return areas.bluetooth.peripherals[row].links[position]
    }

    private mutating func addLink(_ link: Link, to peripheral: NameID) {
        let row = Int(peripheral.number)
        while areas.bluetooth.peripherals.count <= row { areas.bluetooth.peripherals.append(PeripheralRecord()) }
        areas.bluetooth.peripherals[row].insert(link)
        areas.bluetooth.apps[link.client.app].managers[Int(link.client.slot)].peripherals.append(peripheral)
    }

    mutating func removeLink(of client: BluetoothClient, to peripheral: NameID) {
        let row = Int(peripheral.number)
        guard row < areas.bluetooth.peripherals.count else { return }
        areas.bluetooth.peripherals[row].remove(client)
        guard Int(client.app.number) < apps.count,
            Int(client.slot) < areas.bluetooth.apps[client.app].managers.count
        else { return }
        areas.bluetooth.apps[client.app].managers[Int(client.slot)].peripherals.removeAll {
            $0 == peripheral
        }
    }

    /// The connections that are up, of processes that live and of preserved managers.
    func keptLinks() -> [(client: BluetoothClient, peripheral: NameID)] {
        areas.bluetooth.peripherals.indices.flatMap { row in
            areas.bluetooth.peripherals[row].links
                .filter { $0.connected && isKept($0.client) }
                .map { ($0.client, NameID(UInt32(row))) }
        }
    }

    /// The phone restarted: connections are gone, each with an event of its own, and the radio forgets all that it held.
    mutating func loseConnections(_ kept: [(client: BluetoothClient, peripheral: NameID)], by reboot: EventID) {
        for row in areas.bluetooth.peripherals.indices {
            for link in areas.bluetooth.peripherals[row].links where link.connected {
                let peripheral = NameID(UInt32(row))
                guard kept.contains(where: { $0 == (link.client, peripheral) }) else {
                    removeLink(of: link.client, to: peripheral)
                    continue
                }
                raise(
                    WakeEvent(
                        kind: .peripheralDisconnected,
                        peripheral: peripheral,
                        subject: peripheral,
                        client: link.client,
                        failed: true,
                        parent: reboot
                    )
                )
            }
        }
        for app in everyApp {
            for slot in areas.bluetooth.apps[app].managers.indices
            where areas.bluetooth.apps[app].managers[slot].isKept(constants)
                && areas.bluetooth.apps[app].managers[slot].local == nil
            {
                act(.bluetooth(.release(BluetoothClient(app: app, slot: UInt16(slot)))))
            }
        }
    }

    /// Asks the radio again for every scan, connection and published service that is kept.
    mutating func takeUpRadio() {
        guard areas.bluetooth.isOn else { return }
        updateAir()
        for client in areas.bluetooth.scanners where isKept(client) { resumeScan(client) }
        for row in areas.bluetooth.peripherals.indices {
            for link in areas.bluetooth.peripherals[row].links where !link.connected && isKept(link.client) {
                act(.did(link.client.app, .keptConnectionRequest, subject: NameID(UInt32(row))))
                act(.bluetooth(.connect(link.client, peripheral: NameID(UInt32(row)))))
            }
        }
        for app in everyApp {
            for slot in areas.bluetooth.apps[app].managers.indices {
                let client = BluetoothClient(app: app, slot: UInt16(slot))
                guard let watch = areas.bluetooth.apps[app].managers[slot].watch, isKept(client) else { continue }
                act(.bluetooth(.watchConnections(client, peripherals: watch.peripherals, services: watch.services)))
            }
        }
    }

    func isKept(_ client: BluetoothClient) -> Bool {
        areas.bluetooth.apps[client.app].managers[Int(client.slot)].isKept(constants)
    }
}

/// How an app stands with a peripheral, for those who explain why nothing of it reaches the app.
package enum LinkStanding: Hashable, Sendable {
    case notInstalled
    /// No process of it has run yet.
    case neverRan
    /// Neither has it a link nor does it wait for one.
    case unlinked
    case pending
    case connected
}

/// Questions that change nothing.
extension Router {
    /// How an app stands with a peripheral.
    package func standing(of app: AppID, with peripheral: NameID) -> LinkStanding {
        guard isInstalled(app) else { return .notInstalled }
        if apps[app].snapshot.generation == 0 { return .neverRan }
        let managers = areas.bluetooth.apps[app].managers
        for (slot, manager) in managers.enumerated() where manager.inUse && manager.isKept(constants) {
            let link = link(of: BluetoothClient(app: app, slot: UInt16(slot)), to: peripheral)
            if let link { return link.connected ? .connected : .pending }
        }
        return .unlinked
    }

    /// The restore identifiers in the launch options of an app that an event launches: those of the managers of the event's role,
    /// and none where it is not Bluetooth's (LIFE-4).
    func restoreIdentifiers(launchedFor interest: Interest) -> RestoreIdentifiers {
        guard interest.via != .none, interest.via.source == .bluetooth else { return RestoreIdentifiers() }
        let preserved = preservedRestoreIdentifiers(of: interest.app)
        let isPeripheral = areas.bluetooth.apps[interest.app].managers[Int(interest.slot)].isPeripheralManager
        return isPeripheral
            ? RestoreIdentifiers(peripheral: preserved.peripheral) : RestoreIdentifiers(central: preserved.central)
    }

    /// The restore identifiers of the managers that wait for a fresh process of the app.
    func preservedRestoreIdentifiers(of app: AppID) -> RestoreIdentifiers {
        var preserved = RestoreIdentifiers()
        guard profile.areas.bluetooth.restoration else { return preserved }
        for manager in areas.bluetooth.apps[app].managers
        where manager.inUse && !manager.attached && manager.restoreIdentifier != .none {
            if manager.local == nil {
                preserved.central.append(manager.restoreIdentifier)
            } else {
                preserved.peripheral.append(manager.restoreIdentifier)
            }
        }
        return preserved
    }

    /// Whether a manager's connection to a peripheral is up; nil when it neither has nor waits for one.
    package func connection(of app: AppID, manager: ManagerNumber, to peripheral: NameID) -> Bool? {
        client(of: app, manager: manager).flatMap { link(of: $0, to: peripheral)?.connected }
    }

    /// The client that a live manager of an app is to the sources.
    package func client(of app: AppID, manager: ManagerNumber) -> BluetoothClient? {
        guard isInstalled(app), let slot = areas.bluetooth.apps[app].slot(of: manager) else { return nil }
        return BluetoothClient(app: app, slot: UInt16(slot))
    }

    /// Whether any central is subscribed to a characteristic that a live manager of an app publishes.
    package func isSubscribed(toLocal characteristic: UInt32, of app: AppID, manager: ManagerNumber) -> Bool {
        guard let client = client(of: app, manager: manager) else { return false }
        return local(client)?.subscribers.contains { $0.characteristic == characteristic } == true
    }

    /// The peripherals that some app is connected to, ascending.
    package var connectedPeripherals: [NameID] {
        areas.bluetooth.peripherals.indices.filter { row in
            areas.bluetooth.peripherals[row].links.contains { $0.connected }
        }.map {
            NameID(UInt32($0))
        }
    }

    func registrations(of manager: BluetoothRecord.Manager, _ client: BluetoothClient) -> [KeptRegistration] {
        var kept: [KeptRegistration] = []
        if let scan = manager.scan {
            kept.append(KeptRegistration(via: .scan, subject: scan.services.first ?? .none, since: scan.since))
        }
        for name in manager.peripherals {
            guard Int(name.number) < areas.bluetooth.peripherals.count else { continue }
            let peripheral = areas.bluetooth.peripherals[Int(name.number)]
            guard let link = peripheral.position(of: client).map({ peripheral.links[$0] }) else { continue }
            let via: Registration = link.connected ? .connection : .pendingConnect
            kept.append(KeptRegistration(via: via, subject: name, since: link.since))
            for one in peripheral.subscriptions where one.client == client && one.subject != .none {
                kept.append(KeptRegistration(via: .subscription, subject: one.subject, since: one.since))
            }
        }
        if let watch = manager.watch {
            kept.append(KeptRegistration(via: .watchedConnection, subject: .none, since: watch.since))
        }
        if let first = manager.local?.services.first {
            kept.append(KeptRegistration(via: .publishedService, subject: .none, since: first.since))
        }
        return kept
    }
}
