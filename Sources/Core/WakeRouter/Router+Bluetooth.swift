import WakeModel

/// What an app asks of Core Bluetooth, and what becomes of its managers.
extension Router {
    mutating func request(_ request: AppRequest, from app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].hasProcess, apps[index].state != .suspended else {
            output.actions.append(.refused(app, .notRunning))
            return
        }
        switch request {
        case .beginTask(let token): beginTask(token, from: app, into: &output)
        case .endTask(let token): endTask(token, from: app, into: &output)
        case .done: wakeDone(app, into: &output)
        case .createManager(let number, let identifier):
            createManager(number, restoreIdentifier: identifier, for: app, into: &output)
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
        case .connect(let number, let peripheral):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.connect(slot, of: app, peripheral: peripheral, into: &output)
            }
        case .cancelConnection(let number, let peripheral):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.cancelConnection(slot, of: app, peripheral: peripheral, into: &output)
            }
        case .operate(let number, let peripheral, let operation):
            withManager(number, of: app, into: &output) { router, slot, output in
                router.operate(operation, slot, of: app, peripheral: peripheral, into: &output)
            }
        }
    }

    private mutating func withManager(
        _ number: ManagerNumber,
        of app: AppID,
        into output: inout RouterOutput,
        _ body: (inout Router, Int, inout RouterOutput) -> Void
    ) {
        guard let slot = apps[Int(app.number)].slot(of: number) else {
            output.actions.append(.refused(app, .unknownManager))
            return
        }
        body(&self, slot, &output)
    }

    // MARK: Managers

    private mutating func createManager(
        _ number: ManagerNumber,
        restoreIdentifier: NameID,
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
                $0.inUse && $0.restoreIdentifier == restoreIdentifier
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
            createdAt: now
        )
        output.actions.append(.managerState(app, number, poweredOn: bluetoothOn))
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
        let peripherals = manager.peripherals.compactMap { name in
            link(of: client, to: name).map {
                RestoredState.Peripheral(name: name, connected: $0.connected, subscriptions: $0.subscriptions)
            }
        }
        output.actions.append(
            .restore(
                app,
                number,
                RestoredState(
                    peripherals: peripherals,
                    scanServices: manager.scan?.services,
                    scanAllowsDuplicates: manager.scan?.allowDuplicates ?? false
                )
            )
        )
        output.actions.append(.managerState(app, number, poweredOn: bluetoothOn))
        deliverWaiting(to: app, slot: slot, number: number, into: &output)
    }

    /// The process is gone. Managers with a restore identifier are preserved with all they hold; the others let go of
    /// the radio, and stay known only so that records can say why nothing woke the app (BTC-7).
    mutating func detachManagers(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        for slot in apps[index].managers.indices where apps[index].managers[slot].attached {
            apps[index].managers[slot].attached = false
            let preserved = profile.restoration && apps[index].managers[slot].restoreIdentifier != .none
            if !preserved {
                output.actions.append(.bluetooth(.release(BluetoothClient(app: app, slot: UInt16(slot)))))
            }
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

    private mutating func releaseManager(_ slot: Int, of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        for peripheral in apps[index].managers[slot].peripherals { removeLink(of: client, to: peripheral) }
        scanners.removeAll { $0 == client }
        apps[index].managers[slot] = .init()
        output.actions.append(.bluetooth(.release(client)))
    }

    // MARK: Requests

    private mutating func scan(
        _ slot: Int,
        of app: AppID,
        services: [NameID],
        allowDuplicates: Bool,
        into output: inout RouterOutput
    ) {
        guard bluetoothOn else {
            output.actions.append(.refused(app, .bluetoothOff))
            return
        }
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
        output.actions.append(
            .bluetooth(.scan(client, services: scan.services, allowDuplicates: scan.allowDuplicates))
        )
    }

    private mutating func stopScan(_ slot: Int, of app: AppID, into output: inout RouterOutput) {
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        guard apps[Int(app.number)].managers[slot].scan != nil else { return }
        apps[Int(app.number)].managers[slot].scan = nil
        scanners.removeAll { $0 == client }
        output.actions.append(.bluetooth(.stopScan(client)))
    }

    private mutating func connect(
        _ slot: Int,
        of app: AppID,
        peripheral: NameID,
        into output: inout RouterOutput
    ) {
        guard bluetoothOn else {
            output.actions.append(.refused(app, .bluetoothOff))
            return
        }
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        if link(of: client, to: peripheral) == nil {
            addLink(Link(client: client, connected: false, since: now, subscriptions: []), to: peripheral)
        }
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
        changeLink(of: client, to: peripheral) { $0.subscriptions.removeAll() }
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
        if case .setNotify(let handle, let on) = operation {
            changeLink(of: client, to: peripheral) { link in
                link.subscriptions.removeAll { $0 == handle }
                if on {
                    let place = link.subscriptions.firstIndex { $0 > handle } ?? link.subscriptions.endIndex
                    link.subscriptions.insert(handle, at: place)
                }
            }
        }
        output.actions.append(.bluetooth(.operate(client, peripheral: peripheral, operation)))
    }

    // MARK: Links

    func link(of client: BluetoothClient, to peripheral: NameID) -> Link? {
        guard Int(peripheral.number) < links.count else { return nil }
        return links[Int(peripheral.number)].first { $0.client == client }
    }

    mutating func changeLink(of client: BluetoothClient, to peripheral: NameID, _ change: (inout Link) -> Void) {
        let row = Int(peripheral.number)
        guard row < links.count, let place = links[row].firstIndex(where: { $0.client == client }) else { return }
        change(&links[row][place])
    }

    private mutating func addLink(_ link: Link, to peripheral: NameID) {
        let row = Int(peripheral.number)
        while links.count <= row { links.append([]) }
        let place = links[row].firstIndex { $0.client > link.client } ?? links[row].endIndex
        links[row].insert(link, at: place)
        apps[Int(link.client.app.number)].managers[Int(link.client.slot)].peripherals.append(peripheral)
    }

    mutating func removeLink(of client: BluetoothClient, to peripheral: NameID) {
        let row = Int(peripheral.number)
        guard row < links.count else { return }
        links[row].removeAll { $0.client == client }
        apps[Int(client.app.number)].managers[Int(client.slot)].peripherals.removeAll { $0 == peripheral }
    }

    /// After a reboot: connections are gone; pending ones of preserved managers are asked for again.
    mutating func loseConnections(into output: inout RouterOutput) {
        for row in links.indices {
            for link in links[row] where link.connected {
                removeLink(of: link.client, to: NameID(UInt32(row)))
            }
        }
        for client in scanners { resumeScan(client, into: &output) }
        reconnectPending(into: &output)
    }

    /// Asks the radio again for every connection that is waited for.
    mutating func reconnectPending(into output: inout RouterOutput) {
        for row in links.indices {
            for link in links[row] where !link.connected {
                output.actions.append(.bluetooth(.connect(link.client, peripheral: NameID(UInt32(row)))))
            }
        }
    }
}

extension Router {
    /// The restore identifiers that a fresh process of the app finds in its launch options, in order of creation.
    package func preservedRestoreIdentifiers(of app: AppID) -> [NameID] {
        guard isInstalled(app), profile.restoration else { return [] }
        return apps[Int(app.number)].managers.compactMap { manager in
            manager.inUse && !manager.attached && manager.restoreIdentifier != .none
                ? manager.restoreIdentifier : nil
        }
    }
}
