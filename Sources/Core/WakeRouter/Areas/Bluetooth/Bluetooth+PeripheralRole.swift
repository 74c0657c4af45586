import WakeModel

/// What an app asks of a peripheral manager, and what of it is on the air.
extension Router {
    /// The bounds of what one peripheral manager holds.
    static let servicesLimit = 256
    static let subscribersLimit = 1_024
    static let requestsLimit = 64
    static let channelsLimit = 64

    mutating func peripheralManager(_ request: PeripheralManagerRequest, _ number: ManagerNumber, from app: AppID) {
        if case .create(let identifier) = request {
            createManager(number, restoreIdentifier: identifier, peripheralRole: true, for: app)
            return
        }
        withManager(number, of: app, peripheralRole: true) { router, slot in
            let client = BluetoothClient(app: app, slot: UInt16(slot))
            if case .release = request {
                router.releaseManager(slot, of: app)
            } else if router.mayUseRadio(app) {
                router.perform(request, for: client)
            }
        }
    }

    /// Whether an app's request can go to the radio; it is refused otherwise (BTC-10, BTP-5).
    mutating func mayUseRadio(_ app: AppID) -> Bool {
        if !apps[app].snapshot.bluetoothAllowed {
            act(.did(app, .refusedRadio))
            act(.refused(app, .notAuthorized))
            return false
        }
        if !areas.bluetooth.isOn { act(.refused(app, .bluetoothOff)) }
        return areas.bluetooth.isOn
    }

    /// What a manager of the app is told of Bluetooth.
    func bluetoothState(for app: AppID) -> BluetoothState {
        if !apps[app].snapshot.bluetoothAllowed { return .unauthorized }
        return areas.bluetooth.isOn ? .poweredOn : .poweredOff
    }

    private mutating func perform(_ request: PeripheralManagerRequest, for client: BluetoothClient) {
        let app = client.app
        switch request {
        case .create, .release: break
        case .addService(let service): add(service, for: client)
        case .removeService(let number): removeService(number, of: client)
        case .removeAllServices:
            for service in local(client)?.services ?? [] {
                removeService(service.service.number, of: client)
            }
        case .startAdvertising(let localName, let services):
            let content = LocalAdvertisement(localName: localName, services: services)
            let isFirst = local(client)?.advertising == nil
            if isFirst { change(client) { $0.advertising = .init(content: content) } }
            // Without the mode nothing is advertised outside the foreground; it begins when the app is there (BTP-3).
            guard local(client)?.standing != .disabled else { return }
            change(client) { $0.advertising?.asked = true }
            advertise(content, for: client, again: false)
        case .stopAdvertising:
            guard local(client)?.advertising != nil else { return }
            change(client) { $0.advertising = nil }
            act(.peripheralRole(.stopAdvertising(client)))
        case .updateValue(let characteristic, let value, let centrals):
            guard local(client)?.service(with: characteristic) != nil else {
                act(.refused(app, .unknownCharacteristic))
                return
            }
            act(
                .peripheralRole(
                    .update(client, characteristic: characteristic, value: value, centrals: centrals)
                )
            )
        case .respond(let number, let result, let value):
            guard closeRequest(number, of: client) != nil else {
                act(.refused(app, .unknownRequest))
                return
            }
            act(.peripheralRole(.respond(client, request: number, result: result, value: value)))
        case .publishChannel(let encrypted):
            guard (local(client)?.channels.count ?? 0) < Self.channelsLimit else {
                act(.refused(app, .tooMany))
                return
            }
            act(.peripheralRole(.publishChannel(client, encrypted: encrypted)))
        case .unpublishChannel(let psm):
            act(.peripheralRole(.unpublishChannel(client, psm: psm)))
        }
    }

    private mutating func add(_ service: LocalService, for client: BluetoothClient) {
        guard let held = local(client) else { return }
        let place = held.services.firstIndex { $0.service.number == service.number }
        guard place != nil || held.services.count < Self.servicesLimit else {
            act(.refused(client.app, .tooMany))
            return
        }
        let added = LocalPeripheral.Service(service: service, since: now)
        change(client) { $0.services.put(added, at: place ?? $0.services.count) }
        act(.peripheralRole(.publish(client, service, again: false)))
    }

    private mutating func removeService(_ number: UInt32, of client: BluetoothClient) {
        guard let service = local(client)?.services.first(where: { $0.service.number == number }) else {
            act(.refused(client.app, .unknownService))
            return
        }
        change(client) { held in held.services.removeAll { $0.service.number == number } }
        // A central's wish for what is not there any more is not wanted (BT-1); the end of a subscription is.
        dropHeld(of: client.app, slot: Int(client.slot), source: .bluetooth) { event in
            switch event.kind {
            case .readRequested, .writeRequested, .centralSubscribed: service.has(event.characteristic)
            default: false
            }
        }
        act(.peripheralRole(.unpublish(client, service: number)))
    }

    // MARK: What a manager holds

    /// The centrals that are subscribed to a characteristic that a live manager of an app publishes, ascending.
    package func subscribers(
        toLocal characteristic: UInt32,
        of app: AppID,
        manager: ManagerNumber
    ) -> [NameID] {
        guard let client = client(of: app, manager: manager) else { return [] }
        return local(client)?.subscribers.filter { $0.characteristic == characteristic }.map(\.central) ?? []
    }

    /// What a peripheral manager holds; nil when the client is none, or was released.
    func local(_ client: BluetoothClient) -> LocalPeripheral? {
        guard Int(client.app.number) < apps.count,
            Int(client.slot) < areas.bluetooth.apps[client.app].managers.count
        else { return nil }
        return areas.bluetooth.apps[client.app].managers[Int(client.slot)].local
    }

    /// Changes what a peripheral manager holds.
    mutating func change(_ client: BluetoothClient, _ body: (inout LocalPeripheral) -> Void) {
        let app = client.app
        guard local(client) != nil else { return }
        body(&areas.bluetooth.apps[app].managers[Int(client.slot)].local!)
    }

    // MARK: On the air

    /// What of a peripheral manager belongs on the air in the state its app is in.
    private func standing(of client: BluetoothClient) -> LocalPeripheral.Standing {
        let record = apps[client.app]
        let manager = areas.bluetooth.apps[client.app].managers[Int(client.slot)]
        guard areas.bluetooth.isOn, record.installed, manager.isKept(constants) else { return .off }
        guard record.snapshot.bluetoothAllowed else { return .disabled }
        let hasMode = record.snapshot.modes.contains(.bluetoothPeripheral)
        if manager.attached {
            switch record.state {
            case .active, .inactive: return .full
            case .background, .suspended, .notRunning: return hasMode ? .reduced : .disabled
            }
        }
        // Preserved: on the air as long as a central's request would bring the app back (BTC-8).
        let isLocked = profile.firstUnlockGates && passcode && !unlockedSinceBoot
        let isOver =
            record.snapshot.rebootedSince && !profile.areas.bluetooth.relaunchesAfterReboot
            || record.snapshot.bluetoothOffSince
        let wakes = hasMode && !isLocked && !isOver && !record.snapshot.exitsOnSuspend
        return wakes ? .reduced : .disabled
    }

    /// Brings the radio to where an app's peripheral managers stand.
    mutating func updateAir(of app: AppID) {
        for slot in areas.bluetooth.apps[app].managers.indices {
            let client = BluetoothClient(app: app, slot: UInt16(slot))
            guard let held = local(client) else { continue }
            let wanted = standing(of: client)
            guard wanted != held.standing else { continue }
            change(client) { $0.standing = wanted }
            show(held, of: client, as: wanted)
            if wanted != .off, wanted != .disabled { change(client) { $0.advertising?.asked = true } }
        }
    }

    mutating func updateAir() {
        for app in everyApp { updateAir(of: app) }
    }

    private mutating func show(_ held: LocalPeripheral, of client: BluetoothClient, as wanted: LocalPeripheral.Standing)
    {
        if wanted == .off { return }
        // A radio that was off comes back with what it was told before, so it is told how all of it stands now.
        let wasOff = held.standing == .off
        if wasOff {
            for service in held.services {
                act(.peripheralRole(.publish(client, service.service, again: true)))
            }
        }
        if wanted == .disabled {
            if held.advertising?.asked == true {
                act(.peripheralRole(.stopAdvertising(client)))
            }
            act(.peripheralRole(.setServing(client, false)))
            act(.did(client.app, .stoppedServing))
            return
        }
        if wasOff || held.standing == .disabled {
            act(.peripheralRole(.setServing(client, true)))
        }
        if let advertising = held.advertising {
            advertise(advertising.content, for: client, again: advertising.asked)
        }
    }

    /// Advertises what the app asked for, as far as its state allows (BTP-2).
    private mutating func advertise(_ content: LocalAdvertisement, for client: BluetoothClient, again: Bool) {
        let isFull = local(client)?.standing == .full
        if !isFull { act(.did(client.app, .hidAdvertisement)) }
        act(
            .peripheralRole(
                .advertise(
                    client,
                    localName: isFull ? content.localName : nil,
                    services: isFull ? content.services : [],
                    overflow: isFull ? [] : content.services,
                    again: again
                )
            )
        )
    }

    /// The process that made the manager is gone. What is preserved stays on the air, but for channels (BTP-4).
    mutating func detach(_ held: LocalPeripheral, of client: BluetoothClient, preserved: Bool) {
        guard preserved else {
            takeOffAir(client)
            return
        }
        for psm in held.channels { act(.peripheralRole(.unpublishChannel(client, psm: psm))) }
        change(client) { $0.channels.removeAll() }
    }

    /// The radio let go of all that a client held: the subscriptions ended with it, and the centrals got their answers.
    mutating func takeOffAir(_ client: BluetoothClient) {
        refuseRequests(of: client) { _ in true }
        change(client) { held in
            held.standing = .off
            held.subscribers.removeAll()
            held.channels.removeAll()
        }
        act(.peripheralRole(.release(client)))
    }

    /// The phone or the bench restarted, and the radio with it: what is preserved is to be put on the air anew (SYS-2).
    mutating func takeOffAir() {
        for app in everyApp {
            for client in preservedPeripherals(of: app) { takeOffAir(client) }
            reschedule(app)
        }
    }

    private func preservedPeripherals(of app: AppID) -> [BluetoothClient] {
        guard profile.areas.bluetooth.restoration else { return [] }
        return areas.bluetooth.apps[app].managers.indices.compactMap { slot in
            let manager = areas.bluetooth.apps[app].managers[slot]
            guard manager.local != nil, manager.restoreIdentifier != .none else { return nil }
            return BluetoothClient(app: app, slot: UInt16(slot))
        }
    }
}
