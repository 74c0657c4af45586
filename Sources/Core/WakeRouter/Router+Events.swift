import WakeModel

/// From an event to the apps that registered for it.
extension Router {
    /// Finds the apps that registered for the event, and decides for each.
    mutating func route(_ event: WakeEvent, into output: inout RouterOutput) {
        reached = false
        if event.kind.source == .location {
            routeLocation(event, into: &output)
            if !reached { nobody(event, into: &output) }
            return
        }
        if event.kind.source == .audio {
            routeSound(event, into: &output)
            if !reached { nobody(event, into: &output) }
            return
        }
        if event.kind.source == .accessory {
            routeAccessory(event, into: &output)
            if !reached { nobody(event, into: &output) }
            return
        }
        if event.kind.source == .voip {
            routeVoIP(event, into: &output)
            if !reached { nobody(event, into: &output) }
            return
        }
        let wasOn = bluetoothOn
        if let client = event.client {
            if let interest = interest(of: client, in: event) {
                if openRequest(event, for: client) {
                    decide(event, for: interest, into: &output)
                } else {
                    reached = true
                    respond(AttributeError.insufficientResources, to: event.request, of: client, into: &output)
                    refuse(event, for: interest, failing: .roomInQueues, isNew: true, supersedes: .none, into: &output)
                }
                reschedule(client.app)
            } else if event.request != 0 {
                respond(AttributeError.invalidHandle, to: event.request, of: client, into: &output)
            }
        } else {
            fanOut(event, into: &output)
        }
        if !reached { nobody(event, into: &output) }
        settleLinks(after: event, into: &output)
        settleLocal(after: event)
        if event.kind == .bluetoothPoweredOn || event.kind == .bluetoothPoweredOff {
            bluetoothTurned(event.kind == .bluetoothPoweredOn, wasOn: wasOn, into: &output)
        }
    }

    // MARK: Interest

    private mutating func fanOut(_ event: WakeEvent, into output: inout RouterOutput) {
        switch event.kind {
        case .bluetoothPoweredOn, .bluetoothPoweredOff:
            bluetoothOn = event.kind == .bluetoothPoweredOn
            for index in apps.indices { fanOutPower(event, to: index, into: &output) }
        case .peripheralDiscovered: fanOutDiscovery(event, into: &output)
        case .characteristicNotified: fanOutNotification(event, into: &output)
        case .peripheralConnected, .peripheralConnectionFailed:
            fanOutToLinks(event, connected: false, via: .pendingConnect, into: &output)
        case .peripheralDisconnected, .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered,
            .descriptorsDiscovered, .valueRead, .valueWritten, .notificationStateChanged, .descriptorRead,
            .descriptorWritten, .signalStrengthRead, .nameChanged, .servicesModified, .readyToWrite:
            fanOutToLinks(event, connected: true, via: .connection, into: &output)
        default:
            // Each is addressed to one client, or is no event of Bluetooth's.
            break
        }
    }

    /// The state of the adapter interests every manager of a process, and wakes no terminated app (BTC-8).
    private mutating func fanOutPower(_ event: WakeEvent, to index: Int, into output: inout RouterOutput) {
        // To whom Bluetooth is forbidden it makes no difference (BTP-5).
        guard apps[index].face.bluetoothAllowed else { return }
        var found: Interest?
        for slot in apps[index].managers.indices where apps[index].managers[slot].attached {
            let client = BluetoothClient(app: AppID(UInt32(index)), slot: UInt16(slot))
            let interest = Interest(client, via: .manager, since: apps[index].managers[slot].createdAt)
            guard var merged = found else {
                found = interest
                continue
            }
            merged.slots.insert(client.slot)
            // A central manager is woken for it, a peripheral manager is not (BTP-1).
            if local(merged.client) != nil, apps[index].managers[slot].local == nil {
                merged.client = client
                merged.since = interest.since
            }
            found = merged
        }
        guard let found else { return }
        decide(event, for: found, into: &output)
        reschedule(found.client.app)
    }

    private mutating func fanOutDiscovery(_ event: WakeEvent, into output: inout RouterOutput) {
        var position = 0
        while position < scanners.count {
            let app = scanners[position].app
            var found: Interest?
            while position < scanners.count, scanners[position].app == app {
                let client = scanners[position]
                position += 1
                guard let next = interest(of: client, in: event) else { continue }
                merge(next, into: &found)
            }
            guard let found else { continue }
            let count = scanners.count
            decide(event, for: found, into: &output)
            reschedule(app)
            // A launch lets go of what the dead process's managers without restore identifier held.
            position -= count - scanners.count
        }
    }

    private mutating func fanOutNotification(_ event: WakeEvent, into output: inout RouterOutput) {
        let row = Int(event.peripheral.number)
        guard row < peripherals.count else { return }
        var position = peripherals[row].firstSubscription(to: event.attribute, from: 0)
        while position < peripherals[row].subscriptions.count,
            peripherals[row].subscriptions[position].attribute == event.attribute
        {
            let app = peripherals[row].subscriptions[position].client.app
            var found: Interest?
            while position < peripherals[row].subscriptions.count,
                peripherals[row].subscriptions[position].attribute == event.attribute,
                peripherals[row].subscriptions[position].client.app == app
            {
                let subscription = peripherals[row].subscriptions[position]
                position += 1
                merge(Interest(subscription.client, via: .subscription, since: subscription.since), into: &found)
            }
            let count = peripherals[row].subscriptions.count
            decide(event, for: found!, into: &output)
            reschedule(app)
            if peripherals[row].subscriptions.count != count {
                position = peripherals[row].firstSubscription(to: event.attribute, from: app.number + 1)
            }
        }
    }

    private mutating func fanOutToLinks(
        _ event: WakeEvent,
        connected: Bool,
        via: Registration,
        into output: inout RouterOutput
    ) {
        let row = Int(event.peripheral.number)
        guard row < peripherals.count else { return }
        var position = 0
        while position < peripherals[row].links.count {
            let app = peripherals[row].links[position].client.app
            var found: Interest?
            while position < peripherals[row].links.count, peripherals[row].links[position].client.app == app {
                let link = peripherals[row].links[position]
                position += 1
                if link.connected == connected {
                    merge(Interest(link.client, via: via, since: link.since), into: &found)
                }
            }
            guard let found else { continue }
            decide(event, for: found, into: &output)
            reschedule(app)
            position = peripherals[row].firstLink(from: app.number + 1)
        }
    }

    /// Adds one manager's interest to what its app is known to want. The decision looks at the first manager, but of a
    /// terminated app at the first that can bring it back.
    private func merge(_ next: Interest, into found: inout Interest?) {
        guard var merged = found else {
            found = next
            return
        }
        merged.slots.insert(next.client.slot)
        let managers = apps[Int(next.client.app.number)].managers
        if managers[Int(merged.client.slot)].restoreIdentifier == .none,
            managers[Int(next.client.slot)].restoreIdentifier != .none,
            !apps[Int(next.client.app.number)].hasProcess
        {
            merged.client = next.client
            merged.via = next.via
            merged.since = next.since
        }
        found = merged
    }

    /// The interest of one client: of a scanner in a discovery, of the addressed client in its answer.
    func interest(of client: BluetoothClient, in event: WakeEvent) -> Interest? {
        guard let manager = manager(of: client) else { return nil }
        if manager.local != nil { return interest(of: client, manager, in: event) }
        switch event.kind {
        case .peripheralDiscovered:
            guard let scan = manager.scan else { return nil }
            let matches = scan.services.isEmpty || scan.services.contains { event.services.contains($0) }
            return matches ? Interest(client, via: .scan, since: scan.since) : nil
        case .peripheralConnected, .peripheralConnectionFailed:
            return link(of: client, to: event.peripheral).map {
                Interest(client, via: .pendingConnect, since: $0.since)
            }
        case .peripheralDisconnected:
            return link(of: client, to: event.peripheral).map { Interest(client, via: .connection, since: $0.since) }
        case .bluetoothPoweredOn, .bluetoothPoweredOff, .characteristicNotified, .servicesDiscovered,
            .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered, .valueRead,
            .valueWritten, .notificationStateChanged, .descriptorRead, .descriptorWritten, .signalStrengthRead,
            .nameChanged, .servicesModified, .readyToWrite:
            return Interest(
                client,
                via: .operation,
                since: link(of: client, to: event.peripheral)?.since ?? manager.createdAt,
                wanted: manager.attached
            )
        case .channelOpened:
            return link(of: client, to: event.peripheral).map {
                Interest(client, via: .operation, since: $0.since, wanted: manager.attached)
            }
        case .channelDataAvailable:
            return link(of: client, to: event.peripheral).map { Interest(client, via: .connection, since: $0.since) }
        case .connectionEvent:
            return manager.watch.map { Interest(client, via: .watchedConnection, since: $0.since) }
        default:
            return nil
        }
    }

    /// The manager of a client; nil when it was released, or never was.
    private func manager(of client: BluetoothClient) -> AppRecord.Manager? {
        guard isInstalled(client.app), Int(client.slot) < apps[Int(client.app.number)].managers.count else {
            return nil
        }
        let manager = apps[Int(client.app.number)].managers[Int(client.slot)]
        return manager.inUse ? manager : nil
    }

    // MARK: Consequences

    /// What the event changes for everyone, whoever heard of it.
    private mutating func settleLinks(after event: WakeEvent, into output: inout RouterOutput) {
        switch event.kind {
        case .peripheralConnected: linksConnected(event)
        case .peripheralConnectionFailed: removeLinks(of: event, connected: false)
        case .peripheralDisconnected: loseLinks(event, into: &output)
        case .notificationStateChanged:
            if event.failed, let client = event.client, Int(event.peripheral.number) < peripherals.count {
                peripherals[Int(event.peripheral.number)].removeSubscription(of: client, to: event.attribute)
            }
        default: break
        }
    }

    private mutating func linksConnected(_ event: WakeEvent) {
        let row = Int(event.peripheral.number)
        guard row < peripherals.count else { return }
        for position in peripherals[row].links.indices {
            if event.client == nil || event.client == peripherals[row].links[position].client {
                peripherals[row].links[position].connected = true
            }
        }
    }

    private mutating func removeLinks(of event: WakeEvent, connected: Bool) {
        if let client = event.client {
            removeLink(of: client, to: event.peripheral)
        } else if Int(event.peripheral.number) < peripherals.count {
            for link in peripherals[Int(event.peripheral.number)].links where link.connected == connected {
                removeLink(of: link.client, to: event.peripheral)
            }
        }
    }
}
