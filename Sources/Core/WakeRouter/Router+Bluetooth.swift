import WakeModel

/// What an app asks of Core Bluetooth, and what becomes of its managers.
extension Router {
    mutating func request(_ request: AppRequest, from app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].hasProcess, apps[index].state != .suspended else {
            output.actions.append(.refused(app, .notRunning))
            if apps[index].hasProcess { refuseSound(request, of: app, into: &output) }
            return
        }
        switch request {
        case .beginTask(let token): beginTask(token, from: app, into: &output)
        case .endTask(let token): endTask(token, from: app, into: &output)
        case .done: wakeDone(app, into: &output)
        case .createManager(let number, let identifier):
            createManager(number, restoreIdentifier: identifier, peripheralRole: false, for: app, into: &output)
        case .releaseManager(let number):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.releaseManager(slot, of: app, into: &output)
            }
        case .scan(let number, let services, let allowDuplicates):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.scan(slot, of: app, services: services, allowDuplicates: allowDuplicates, into: &output)
            }
        case .stopScan(let number):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.stopScan(slot, of: app, into: &output)
            }
        case .connect(let number, let peripheral, let options):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.connect(slot, of: app, peripheral: peripheral, options: options, into: &output)
            }
        case .watchConnections(let number, let peripherals, let services):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.watchConnections(slot, of: app, of: peripherals, to: services, into: &output)
            }
        case .cancelConnection(let number, let peripheral):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.cancelConnection(slot, of: app, peripheral: peripheral, into: &output)
            }
        case .operate(let number, let peripheral, let operation):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.operate(operation, slot, of: app, peripheral: peripheral, into: &output)
            }
        case .peripheralManager(let number, let request):
            peripheralManager(request, number, from: app, into: &output)
        case .location(let number, let request): location(request, manager: number, from: app, into: &output)
        case .audio(let request): audio(request, from: app, into: &output)
        case .accessory(let number, let request): accessory(request, manager: number, from: app, into: &output)
        case .voip(let request): voip(request, from: app, into: &output)
        }
    }

    mutating func withManager(
        _ number: ManagerNumber,
        of app: AppID,
        peripheralRole: Bool = false,
        into output: inout RouterOutput,
        _ body: (inout Router, Int, inout RouterOutput) -> Void
    ) {
        guard let slot = apps[Int(app.number)].slot(of: number),
            (apps[Int(app.number)].managers[slot].local != nil) == peripheralRole
        else {
            output.actions.append(.refused(app, .unknownManager))
            return
        }
        body(&self, slot, &output)
    }

    // MARK: Managers

    mutating func createManager(
        _ number: ManagerNumber,
        restoreIdentifier: NameID,
        peripheralRole: Bool,
        for app: AppID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        guard apps[index].slot(of: number) == nil else {
            output.actions.append(.refused(app, .duplicateManager))
            return
        }
        if restoreIdentifier != .none,
            let slot = apps[index].managers.firstIndex(where: {
                $0.inUse && $0.restoreIdentifier == restoreIdentifier && ($0.local != nil) == peripheralRole
            })
        {
            guard !apps[index].managers[slot].attached else {
                output.actions.append(.refused(app, .duplicateManager))
                return
            }
            restoreManager(slot, as: number, of: app, into: &output)
            return
        }
        let free = apps[index].managers.firstIndex { !$0.inUse }
        guard free != nil || apps[index].managers.count < Self.managersLimit else {
            output.actions.append(.refused(app, .tooMany))
            return
        }
        let slot = free ?? apps[index].managers.count
        if free == nil { apps[index].managers.append(.init()) }
        apps[index].managers[slot] = .init(
            inUse: true,
            attached: true,
            number: number,
            restoreIdentifier: restoreIdentifier,
            createdAt: now,
            local: peripheralRole ? LocalPeripheral() : nil
        )
        updateAir(of: app, into: &output)
        output.actions.append(.managerState(app, number, bluetoothState(for: app)))
    }

    /// The relaunched process made its manager again: willRestoreState, the state, then what waited (BTC-6).
    private mutating func restoreManager(
        _ slot: Int,
        as number: ManagerNumber,
        of app: AppID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        apps[index].managers[slot].attached = true
        apps[index].managers[slot].number = number
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        let manager = apps[index].managers[slot]
        if let local = manager.local {
            output.actions.append(.restorePeripheral(app, number, local.restored))
            output.actions.append(.managerState(app, number, bluetoothState(for: app)))
            updateAir(of: app, into: &output)
            deliverWaiting(to: app, into: &output)
            return
        }
        let preserved = manager.peripherals.compactMap { name in
            link(of: client, to: name).map {
                RestoredState.Peripheral(
                    name: name,
                    connected: $0.connected,
                    subscriptions: peripherals[Int(name.number)].subscriptions(of: client)
                )
            }
        }
        output.actions.append(
            .restore(
                app,
                number,
                RestoredState(
                    peripherals: preserved,
                    scanServices: manager.scan?.services,
                    scanAllowsDuplicates: manager.scan?.allowDuplicates ?? false
                )
            )
        )
        output.actions.append(.managerState(app, number, bluetoothState(for: app)))
        deliverWaiting(to: app, into: &output)
    }

    /// The process is gone. Managers with a restore identifier are preserved with all they hold; the others let go of
    /// the radio, and stay known only so that records can say why nothing woke the app (BTC-7).
    mutating func detachManagers(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        for slot in apps[index].managers.indices where apps[index].managers[slot].attached {
            apps[index].managers[slot].attached = false
            let client = BluetoothClient(app: app, slot: UInt16(slot))
            let preserved = profile.restoration && apps[index].managers[slot].restoreIdentifier != .none
            if let local = apps[index].managers[slot].local {
                detach(local, of: client, preserved: preserved, into: &output)
            } else if !preserved {
                output.actions.append(.bluetooth(.release(client)))
            }
        }
    }

    /// Whether the user force-quit the app, and the system does not launch it until the user does (LAUNCH-2).
    func isBarred(_ app: AppID) -> Bool { profile.forceQuitBars && apps[Int(app.number)].face.forceQuit }

    /// The app will not be launched again, so that the system keeps nothing of its managers: links, requests, scans,
    /// subscriptions and adverts end, and nothing is restored later (LAUNCH-2), but for accessories that bring the app back
    /// all the same (BTC-8).
    mutating func letGo(of app: AppID, into output: inout RouterOutput) {
        for slot in apps[Int(app.number)].managers.indices {
            let manager = apps[Int(app.number)].managers[slot]
            guard manager.inUse, !manager.attached else { continue }
            let kept = manager.isKept(profile) ? manager.peripherals.filter { isSetUp($0, for: app) } : []
            releaseManager(slot, of: app, keeping: kept, into: &output)
        }
    }

    /// Drops the managers of an app that no process is attached to and that match.
    mutating func releaseManagers(
        of app: AppID,
        into output: inout RouterOutput,
        where matches: (AppRecord.Manager) -> Bool
    ) {
        let index = Int(app.number)
        for slot in apps[index].managers.indices {
            let manager = apps[index].managers[slot]
            if manager.inUse, !manager.attached, matches(manager) { releaseManager(slot, of: app, into: &output) }
        }
    }

    /// Ends what a manager holds: its links, requests, scan, watch and advert, with what waits for it. What is of the kept
    /// peripherals, if there are any, stays, and the manager with it.
    mutating func releaseManager(
        _ slot: Int,
        of app: AppID,
        keeping kept: [NameID] = [],
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        for peripheral in apps[index].managers[slot].peripherals where !kept.contains(peripheral) {
            removeLink(of: client, to: peripheral)
        }
        scanners.removeAll { $0 == client }
        dropHeld(of: app, slot: slot, into: &output) { !kept.contains($0.peripheral) }
        dropKept(of: app, slot: slot, into: &output) { !kept.contains($0.peripheral) }
        dropWaiting(of: app, slot: slot, source: .bluetooth, into: &output) { !kept.contains($0.peripheral) }
        if apps[index].managers[slot].local == nil {
            output.actions.append(.bluetooth(.release(client, keeping: kept)))
        } else {
            takeOffAir(client, into: &output)
        }
        if kept.isEmpty {
            apps[index].managers[slot] = .init()
        } else {
            apps[index].managers[slot].scan = nil
            apps[index].managers[slot].watch = nil
        }
    }

    // MARK: Requests

    private mutating func scan(
        _ slot: Int,
        of app: AppID,
        services: [NameID],
        allowDuplicates: Bool,
        into output: inout RouterOutput
    ) {
        guard mayUseRadio(app, into: &output) else { return }
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        apps[Int(app.number)].managers[slot].scan = .init(
            services: services,
            allowDuplicates: allowDuplicates,
            since: now
        )
        if let place = scanners.firstIndex(where: { $0 >= client }) {
            if scanners[place] != client { scanners.insert(client, at: place) }
        } else {
            scanners.append(client)
        }
        resumeScan(client, into: &output)
    }

    mutating func resumeScan(_ client: BluetoothClient, into output: inout RouterOutput) {
        guard let scan = apps[Int(client.app.number)].managers[Int(client.slot)].scan else { return }
        apps[Int(client.app.number)].managers[Int(client.slot)].scan!.missed = false
        output.actions.append(
            .bluetooth(.scan(client, services: scan.services, allowDuplicates: scan.allowDuplicates))
        )
    }

    /// Lets the radio report again what it reported in vain: the app may hear of it now.
    mutating func repeatMissedScan(_ client: BluetoothClient, into output: inout RouterOutput) {
        guard isKept(client), apps[Int(client.app.number)].managers[Int(client.slot)].scan?.missed == true else {
            return
        }
        resumeScan(client, into: &output)
    }

    mutating func repeatMissedScans(of app: AppID, into output: inout RouterOutput) {
        for slot in apps[Int(app.number)].managers.indices {
            repeatMissedScan(BluetoothClient(app: app, slot: UInt16(slot)), into: &output)
        }
    }

    private mutating func stopScan(_ slot: Int, of app: AppID, into output: inout RouterOutput) {
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        guard apps[Int(app.number)].managers[slot].scan != nil else { return }
        // What was held is judged by the scan that it was for.
        dropHeld(of: app, slot: slot, into: &output) { $0.kind == .peripheralDiscovered }
        apps[Int(app.number)].managers[slot].scan = nil
        scanners.removeAll { $0 == client }
        output.actions.append(.bluetooth(.stopScan(client)))
    }

    private mutating func connect(
        _ slot: Int,
        of app: AppID,
        peripheral: NameID,
        options: ConnectOptions,
        into output: inout RouterOutput
    ) {
        guard mayUseRadio(app, into: &output) else { return }
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        if link(of: client, to: peripheral) == nil {
            addLink(Link(client: client, connected: false, since: now), to: peripheral)
        }
        setOptions(options, of: client, to: peripheral)
        output.actions.append(.bluetooth(.connect(client, peripheral: peripheral)))
    }

    private mutating func cancelConnection(
        _ slot: Int,
        of app: AppID,
        peripheral: NameID,
        into output: inout RouterOutput
    ) {
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        guard link(of: client, to: peripheral) != nil else {
            output.actions.append(.refused(app, .notConnected))
            return
        }
        // Nothing but the answer is wanted of it from here on (BT-1).
        peripherals[Int(peripheral.number)].subscriptions.removeAll { $0.client == client }
        dropHeld(of: app, slot: slot, into: &output) {
            $0.kind == .characteristicNotified && $0.peripheral == peripheral
        }
        output.actions.append(.bluetooth(.disconnect(client, peripheral: peripheral)))
    }

    private mutating func operate(
        _ operation: BluetoothOperation,
        _ slot: Int,
        of app: AppID,
        peripheral: NameID,
        into output: inout RouterOutput
    ) {
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        guard link(of: client, to: peripheral)?.connected == true else {
            output.actions.append(.refused(app, .notConnected))
            return
        }
        switch operation {
        case .setNotify(let handle, true):
            peripherals[Int(peripheral.number)].insert(
                Subscription(attribute: handle, client: client, since: now)
            )
        case .setNotify(let handle, false):
            peripherals[Int(peripheral.number)].removeSubscription(of: client, to: handle)
            dropHeld(of: app, slot: slot, into: &output) {
                $0.kind == .characteristicNotified && $0.peripheral == peripheral && $0.attribute == handle
            }
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .read,
            .write, .readDescriptor, .writeDescriptor, .readSignalStrength, .openChannel:
            break
        }
        output.actions.append(.bluetooth(.operate(client, peripheral: peripheral, operation)))
    }

    private mutating func watchConnections(
        _ slot: Int,
        of app: AppID,
        of peripherals: [NameID],
        to services: [NameID],
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        let ends = peripherals.isEmpty && services.isEmpty
        if ends, apps[index].managers[slot].watch == nil { return }
        apps[index].managers[slot].watch =
            ends ? nil : .init(peripherals: peripherals, services: services, since: now)
        if ends { dropHeld(of: app, slot: slot, into: &output) { $0.kind == .connectionEvent } }
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        output.actions.append(
            .bluetooth(.watchConnections(client, peripherals: peripherals, services: services))
        )
    }

    // MARK: Links

    func link(of client: BluetoothClient, to peripheral: NameID) -> Link? {
        let row = Int(peripheral.number)
        guard row < peripherals.count, let position = peripherals[row].position(of: client) else { return nil }
        return peripherals[row].links[position]
    }

    private mutating func addLink(_ link: Link, to peripheral: NameID) {
        let row = Int(peripheral.number)
        while peripherals.count <= row { peripherals.append(PeripheralRecord()) }
        peripherals[row].insert(link)
        apps[Int(link.client.app.number)].managers[Int(link.client.slot)].peripherals.append(peripheral)
    }

    mutating func removeLink(of client: BluetoothClient, to peripheral: NameID) {
        let row = Int(peripheral.number)
        guard row < peripherals.count else { return }
        peripherals[row].remove(client)
        guard Int(client.app.number) < apps.count,
            Int(client.slot) < apps[Int(client.app.number)].managers.count
        else { return }
        apps[Int(client.app.number)].managers[Int(client.slot)].peripherals.removeAll { $0 == peripheral }
    }

    /// The connections that are up, of processes that live and of preserved managers.
    func keptLinks() -> [(client: BluetoothClient, peripheral: NameID)] {
        peripherals.indices.flatMap { row in
            peripherals[row].links
                .filter { $0.connected && isKept($0.client) }
                .map { ($0.client, NameID(UInt32(row))) }
        }
    }

    /// The phone restarted: connections are gone, each with an event of its own, and the radio forgets all that it held.
    mutating func loseConnections(
        _ kept: [(client: BluetoothClient, peripheral: NameID)],
        by reboot: EventID,
        into output: inout RouterOutput
    ) {
        for row in peripherals.indices {
            for link in peripherals[row].links where link.connected {
                let peripheral = NameID(UInt32(row))
                guard kept.contains(where: { $0 == (link.client, peripheral) }) else {
                    removeLink(of: link.client, to: peripheral)
                    continue
                }
                output.actions.append(
                    .raise(
                        WakeEvent(
                            kind: .peripheralDisconnected,
                            peripheral: peripheral,
                            subject: peripheral,
                            client: link.client,
                            failed: true,
                            parent: reboot
                        ),
                        .none
                    )
                )
            }
        }
        for index in apps.indices {
            for slot in apps[index].managers.indices
            where apps[index].managers[slot].isKept(profile) && apps[index].managers[slot].local == nil {
                output.actions.append(
                    .bluetooth(.release(BluetoothClient(app: AppID(UInt32(index)), slot: UInt16(slot))))
                )
            }
        }
    }

    /// Asks the radio again for every scan, connection and published service that is kept.
    mutating func takeUpRadio(into output: inout RouterOutput) {
        guard bluetoothOn else { return }
        updateAir(into: &output)
        for client in scanners where isKept(client) { resumeScan(client, into: &output) }
        for row in peripherals.indices {
            for link in peripherals[row].links where !link.connected && isKept(link.client) {
                output.actions.append(.bluetooth(.connect(link.client, peripheral: NameID(UInt32(row)))))
            }
        }
        for index in apps.indices {
            for slot in apps[index].managers.indices {
                let client = BluetoothClient(app: AppID(UInt32(index)), slot: UInt16(slot))
                guard let watch = apps[index].managers[slot].watch, isKept(client) else { continue }
                output.actions.append(
                    .bluetooth(.watchConnections(client, peripherals: watch.peripherals, services: watch.services))
                )
            }
        }
    }

    func isKept(_ client: BluetoothClient) -> Bool {
        apps[Int(client.app.number)].managers[Int(client.slot)].isKept(profile)
    }
}

extension Router {
    /// The restore identifiers that a fresh process of the app finds in its launch options, of its central or of its
    /// peripheral managers, in order of creation.
    package func preservedRestoreIdentifiers(of app: AppID, peripheralRole: Bool = false) -> [NameID] {
        guard isInstalled(app), profile.restoration else { return [] }
        return apps[Int(app.number)].managers.compactMap { manager in
            manager.inUse && !manager.attached && manager.restoreIdentifier != .none
                && (manager.local != nil) == peripheralRole ? manager.restoreIdentifier : nil
        }
    }
}
