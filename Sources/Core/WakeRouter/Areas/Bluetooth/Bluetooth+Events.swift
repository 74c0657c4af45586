import WakeModel

/// From an event of Bluetooth to the managers that registered for it.
extension Router {
    /// Finds the managers that registered for the event, and decides for their apps.
    mutating func routeBluetooth(_ event: WakeEvent) {
        if event.isUntoldChange { return keepAttributes(event) }
        let wasOn = areas.bluetooth.isOn
        if let client = event.client {
            if let interest = interest(of: client, in: event) {
                if openRequest(event, for: client) {
                    decide(event, for: interest)
                } else {
                    reached = true
                    respond(AttributeError.insufficientResources, to: event.request, of: client)
                    refuse(event, for: interest, by: BluetoothArea.self, .roomInQueues, isNew: true, supersedes: .none)
                }
                reschedule(client.app)
            } else if event.request != 0 {
                respond(AttributeError.invalidHandle, to: event.request, of: client)
            }
        } else {
            fanOut(event)
        }
        if !reached { nobody(event) }
        settleLinks(after: event)
        settleLocal(after: event)
        if event.kind == .bluetoothPoweredOn || event.kind == .bluetoothPoweredOff {
            bluetoothTurned(event.kind == .bluetoothPoweredOn, wasOn: wasOn)
        }
    }

    /// A peripheral's attributes changed, and the phone was not told: there is nothing to decide, and who has a link goes by the old
    /// table (BTC-14).
    private mutating func keepAttributes(_ event: WakeEvent) {
        reached = true
        let row = Int(event.peripheral.number)
        guard row < areas.bluetooth.peripherals.count else { return }
        var last: AppID?
        for link in areas.bluetooth.peripherals[row].links
        where link.connected && link.client.app != last && event.client ?? link.client == link.client
            && isKept(link.client)
        {
            last = link.client.app
            act(.did(link.client.app, .keptAttributes, subject: event.peripheral, event.id))
        }
    }

    // MARK: Interest

    private mutating func fanOut(_ event: WakeEvent) {
        switch event.kind {
        case .bluetoothPoweredOn, .bluetoothPoweredOff:
            areas.bluetooth.isOn = event.kind == .bluetoothPoweredOn
            for app in everyApp { fanOutPower(event, to: app) }
        case .peripheralDiscovered: fanOutDiscovery(event)
        case .characteristicNotified: fanOutNotification(event)
        case .peripheralConnected, .peripheralConnectionFailed:
            fanOutToLinks(event, connected: false, via: .pendingConnect)
        case .peripheralDisconnected, .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered,
            .descriptorsDiscovered, .valueRead, .valueWritten, .notificationStateChanged, .descriptorRead,
            .descriptorWritten, .signalStrengthRead, .nameChanged, .servicesModified, .readyToWrite:
            fanOutToLinks(event, connected: true, via: .connection)
        default:
            // Each is addressed to one client, or is no event of Bluetooth's.
            break
        }
    }

    /// The state of the adapter interests every manager of a process, and wakes no terminated app (BTC-8).
    private mutating func fanOutPower(_ event: WakeEvent, to app: AppID) {
        // To whom Bluetooth is forbidden it makes no difference (BTP-5).
        guard apps[app].snapshot.bluetoothAllowed else { return }
        var found: Interest?
        for slot in areas.bluetooth.apps[app].managers.indices
        where areas.bluetooth.apps[app].managers[slot].attached {
            let client = BluetoothClient(app: app, slot: UInt16(slot))
            let interest = Interest(client, via: .manager, since: areas.bluetooth.apps[app].managers[slot].createdAt)
            guard var merged = found else {
                found = interest
                continue
            }
            merged.slots.insert(client.slot)
            // A central manager is woken for it, a peripheral manager is not (BTP-1).
            if local(merged.client) != nil, areas.bluetooth.apps[app].managers[slot].local == nil {
                merged.slot = client.slot
                merged.since = interest.since
            }
            found = merged
        }
        guard let found else { return }
        decide(event, for: found)
        reschedule(found.client.app)
    }

    private mutating func fanOutDiscovery(_ event: WakeEvent) {
        var position = 0
        while position < areas.bluetooth.scanners.count {
            let app = areas.bluetooth.scanners[position].app
            var found: Interest?
            while position < areas.bluetooth.scanners.count, areas.bluetooth.scanners[position].app == app {
                let client = areas.bluetooth.scanners[position]
                position += 1
                guard let next = interest(of: client, in: event) else { continue }
                merge(next, into: &found)
            }
            guard let found else { continue }
            let count = areas.bluetooth.scanners.count
            decide(event, for: found)
            reschedule(app)
            // A launch lets go of what the dead process's managers without restore identifier held.
            position -= count - areas.bluetooth.scanners.count
        }
    }

    private mutating func fanOutNotification(_ event: WakeEvent) {
        let row = Int(event.peripheral.number)
        guard row < areas.bluetooth.peripherals.count else { return }
        var position = areas.bluetooth.peripherals[row].firstSubscription(to: event.attribute, from: 0)
        var subscriptions = areas.bluetooth.peripherals[row].subscriptions
        while position < subscriptions.count, subscriptions[position].attribute == event.attribute {
            let app = subscriptions[position].client.app
            var found: Interest?
            while position < subscriptions.count, subscriptions[position].attribute == event.attribute,
                subscriptions[position].client.app == app
            {
                let subscription = subscriptions[position]
                position += 1
                merge(Interest(subscription.client, via: .subscription, since: subscription.since), into: &found)
            }
            decide(event, for: found!)
            reschedule(app)
            if areas.bluetooth.peripherals[row].subscriptions.count != subscriptions.count {
                subscriptions = areas.bluetooth.peripherals[row].subscriptions
                position = areas.bluetooth.peripherals[row].firstSubscription(to: event.attribute, from: app.number + 1)
            }
        }
    }

    private mutating func fanOutToLinks(_ event: WakeEvent, connected: Bool, via: Registration) {
        let row = Int(event.peripheral.number)
        guard row < areas.bluetooth.peripherals.count else { return }
        var position = 0
        while position < areas.bluetooth.peripherals[row].links.count {
            let app = areas.bluetooth.peripherals[row].links[position].client.app
            var found: Interest?
            while position < areas.bluetooth.peripherals[row].links.count,
                areas.bluetooth.peripherals[row].links[position].client.app == app
            {
                let link = areas.bluetooth.peripherals[row].links[position]
                position += 1
                if link.connected == connected {
                    merge(Interest(link.client, via: via, since: link.since), into: &found)
                }
            }
            guard let found else { continue }
            decide(event, for: found)
            reschedule(app)
            position = areas.bluetooth.peripherals[row].firstLink(from: app.number + 1)
        }
    }

    /// Adds one manager's interest to what its app is known to want. The decision looks at the first manager, but of a
    /// terminated app at the first that can bring it back.
    private mutating func merge(_ next: Interest, into found: inout Interest?) {
        guard var merged = found else {
            found = next
            return
        }
        merged.slots.insert(next.client.slot)
        let managers = areas.bluetooth.apps[next.client.app].managers
        if managers[Int(merged.client.slot)].restoreIdentifier == .none,
            managers[Int(next.client.slot)].restoreIdentifier != .none,
            !apps[next.client.app].hasProcess
        {
            merged.slot = next.slot
            merged.via = next.via
            merged.since = next.since
        }
        found = merged
    }

    /// The interest of one client: of a scanner in a discovery, of the addressed client in its answer.
    mutating func interest(of client: BluetoothClient, in event: WakeEvent) -> Interest? {
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
        case .peripheralDisconnected, .channelDataAvailable:
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
        case .connectionEvent:
            return manager.watch.map { Interest(client, via: .watchedConnection, since: $0.since) }
        default:
            return nil
        }
    }

    /// How a dead app was interested in an event that it was to get: the event itself may have ended the registration.
    mutating func preservedInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        // The state of the adapter brings nothing back (BTC-8).
        if event.kind == .bluetoothPoweredOn || event.kind == .bluetoothPoweredOff { return nil }
        guard
            let slot = event.client.map({ Int($0.slot) })
                ?? areas.bluetooth.apps[app].managers.firstIndex(where: {
                    $0.inUse && $0.peripherals.contains(event.peripheral)
                })
                ?? areas.bluetooth.apps[app].managers.firstIndex(where: \.inUse),
            slot < areas.bluetooth.apps[app].managers.count, areas.bluetooth.apps[app].managers[slot].inUse
        else { return nil }
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        if local(client) != nil { return interest(of: client, in: event) }
        // A force quit leaves an app only what it has of accessories that were set up (BTC-8).
        if isBarred(app), !isSetUp(event.peripheral, for: app) { return nil }
        guard var found = interest(of: client, in: event) else {
            return Interest(client, via: .connection, since: areas.bluetooth.apps[app].managers[slot].createdAt)
        }
        if found.via == .operation, event.client == nil {
            // An event for everyone came to a subscription; only an answer is for the process that asked.
            found.via = .subscription
            found.wanted = true
        }
        return found
    }

    /// The manager of a client; nil when it was released, or never was.
    private mutating func manager(of client: BluetoothClient) -> BluetoothRecord.Manager? {
        guard isInstalled(client.app), Int(client.slot) < areas.bluetooth.apps[client.app].managers.count
        else {
            return nil
        }
        let manager = areas.bluetooth.apps[client.app].managers[Int(client.slot)]
        return manager.inUse ? manager : nil
    }

    // MARK: Consequences

    /// What the event changes for everyone, whoever heard of it.
    private mutating func settleLinks(after event: WakeEvent) {
        switch event.kind {
        case .peripheralConnected: linksConnected(event)
        case .peripheralConnectionFailed: removePendingLinks(of: event)
        case .peripheralDisconnected: loseLinks(event)
        case .servicesModified: endSubscriptions(voidedBy: event)
        case .notificationStateChanged: settleSubscription(event)
        default: break
        }
    }

    /// The peripheral has answered to a subscription: it has refused it, or from now on the app is registered for it.
    private mutating func settleSubscription(_ event: WakeEvent) {
        let row = Int(event.peripheral.number)
        guard let client = event.client, row < areas.bluetooth.peripherals.count else { return }
        if event.failed {
            areas.bluetooth.peripherals[row].removeSubscription(of: client, to: event.attribute)
        } else {
            areas.bluetooth.peripherals[row].confirm(event.attribute, as: event.subject, of: client)
        }
    }

    /// Services went, and with them what was subscribed of theirs; whatever has the same handles later is something else.
    private mutating func endSubscriptions(voidedBy event: WakeEvent) {
        let row = Int(event.peripheral.number)
        guard let void = event.voidHandles, event.client == nil, row < areas.bluetooth.peripherals.count else { return }
        let gone = areas.bluetooth.peripherals[row].subscriptions.filter { void.contains($0.attribute) }
        areas.bluetooth.peripherals[row].subscriptions.removeAll { gone.contains($0) }
        tellLost(gone, to: .lostWithService, by: event.id)
    }

    private mutating func linksConnected(_ event: WakeEvent) {
        let row = Int(event.peripheral.number)
        guard row < areas.bluetooth.peripherals.count else { return }
        for position in areas.bluetooth.peripherals[row].links.indices {
            if event.client == nil || event.client == areas.bluetooth.peripherals[row].links[position].client {
                areas.bluetooth.peripherals[row].links[position].connected = true
            }
        }
    }

    private mutating func removePendingLinks(of event: WakeEvent) {
        if let client = event.client {
            removeLink(of: client, to: event.peripheral)
        } else if Int(event.peripheral.number) < areas.bluetooth.peripherals.count {
            for link in areas.bluetooth.peripherals[Int(event.peripheral.number)].links
            where !link.connected {
                removeLink(of: link.client, to: event.peripheral)
            }
        }
    }
}
