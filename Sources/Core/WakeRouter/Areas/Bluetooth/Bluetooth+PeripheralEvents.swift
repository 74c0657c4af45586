import WakeModel

/// What centrals do to published services, and the answers that they wait for.
extension Router {
    /// The interest of a peripheral manager in an event that is addressed to it.
    mutating func interest(of client: BluetoothClient, _ manager: BluetoothRecord.Manager, in event: WakeEvent)
        -> Interest?
    {
        guard let local = manager.local else { return nil }
        switch event.kind {
        case .readRequested, .writeRequested, .centralSubscribed:
            return local.service(with: event.characteristic).map {
                Interest(client, via: .publishedService, since: $0.since)
            }
        case .centralUnsubscribed:
            let service = local.service(with: event.characteristic)
            guard service != nil || local.isSubscribed(event.peripheral, to: event.characteristic) else { return nil }
            return Interest(client, via: .publishedService, since: service?.since ?? manager.createdAt)
        case .channelOpened, .channelDataAvailable:
            return Interest(client, via: .publishedService, since: manager.createdAt)
        case .serviceAdded, .advertisingStarted, .readyToUpdate, .channelPublished, .channelUnpublished:
            return Interest(client, via: .operation, since: manager.createdAt, wanted: manager.attached)
        default: return nil
        }
    }

    /// What an event changes for a peripheral manager, whoever heard of it.
    mutating func settleLocal(after event: WakeEvent) {
        guard let client = event.client else { return }
        switch event.kind {
        case .serviceAdded:
            guard event.failed else { return }
            change(client) { held in held.services.removeAll { $0.service.number == event.service } }
        case .advertisingStarted:
            change(client) { held in
                if !event.failed {
                    held.advertising?.confirmed = true
                } else if held.advertising?.confirmed == false {
                    held.advertising = nil
                }
            }
        case .centralSubscribed:
            change(client) { held in
                guard held.service(with: event.characteristic) != nil, held.subscribers.count < Self.subscribersLimit
                else {
                    return
                }
                held.subscribe(event.peripheral, to: event.characteristic)
            }
        case .centralUnsubscribed:
            change(client) { $0.unsubscribe(event.peripheral, from: event.characteristic) }
        case .channelPublished:
            guard !event.failed, let psm = event.psm else { return }
            change(client) { held in
                if !held.channels.contains(psm) { held.channels.append(psm) }
            }
        case .channelUnpublished:
            change(client) { held in held.channels.removeAll { $0 == event.psm } }
        default: break
        }
    }

    /// Bluetooth is off: subscriptions and requests ended with the links; services and advertising wait until it is on.
    mutating func pauseAir() {
        for app in everyApp {
            for slot in areas.bluetooth.apps[app].managers.indices
            where areas.bluetooth.apps[app].managers[slot].local != nil {
                areas.bluetooth.apps[app].managers[slot].local!.standing = .off
                areas.bluetooth.apps[app].managers[slot].local!.requests.removeAll()
                areas.bluetooth.apps[app].managers[slot].local!.channels.removeAll()
            }
            noteRequests(of: app)
            reschedule(app)
        }
    }

    // MARK: Answers

    /// A central waits for an answer from here on. False when the manager has as many such as it can have.
    mutating func openRequest(_ event: WakeEvent, for client: BluetoothClient) -> Bool {
        guard event.request != 0, let held = local(client) else { return true }
        if held.requests.contains(where: { $0.number == event.request }) { return true }
        guard held.requests.count < Self.requestsLimit else { return false }
        let deadline = now.advanced(by: PeripheralRules.transactionTime)
        change(client) { $0.requests.append(.init(number: event.request, deadline: deadline)) }
        noteRequests(of: client.app)
        return true
    }

    /// Whether somebody still waits for the answer to an event, when it wants one.
    mutating func isAwaited(_ event: WakeEvent) -> Bool {
        guard event.request != 0, let client = event.client, let held = local(client) else { return true }
        return held.requests.contains { $0.number == event.request }
    }

    /// Takes out an open request; nil when nobody waits for its answer.
    mutating func closeRequest(_ number: UInt32, of client: BluetoothClient) -> LocalPeripheral.Request? {
        var closed: LocalPeripheral.Request?
        change(client) { closed = $0.takeRequest(number) }
        if closed != nil { noteRequests(of: client.app) }
        return closed
    }

    /// The process has the request, and its central waits for the app.
    mutating func noteDelivery(of event: WakeEvent) {
        guard event.request != 0, let client = event.client else { return }
        change(client) { held in
            for place in held.requests.indices where held.requests[place].number == event.request {
                held.requests[place].delivered = true
            }
        }
    }

    /// The event will not reach the app: a central that waits for its answer gets an error.
    mutating func refuseRequest(of event: WakeEvent, _ error: UInt8) {
        guard event.request != 0, let client = event.client, closeRequest(event.request, of: client) != nil else {
            return
        }
        respond(error, to: event.request, of: client)
    }

    /// Refuses those open requests of a client that match.
    mutating func refuseRequests(of client: BluetoothClient, where matches: (LocalPeripheral.Request) -> Bool) {
        let refused = local(client)?.requests.filter(matches) ?? []
        guard !refused.isEmpty else { return }
        change(client) { held in held.requests.removeAll(where: matches) }
        noteRequests(of: client.app)
        for request in refused { respond(AttributeError.unlikely, to: request.number, of: client) }
    }

    /// The process that had them is gone, and answers no more.
    mutating func refuseDeliveredRequests(of app: AppID) {
        for slot in areas.bluetooth.apps[app].managers.indices {
            refuseRequests(of: BluetoothClient(app: app, slot: UInt16(slot))) { $0.delivered }
        }
    }

    mutating func respond(_ error: UInt8, to request: UInt32, of client: BluetoothClient) {
        act(.peripheralRole(.respond(client, request: request, result: error, value: nil)))
    }

    /// The time of a transaction is over: the central got no answer, and is told so.
    mutating func expireRequests(of app: AppID) {
        guard let due = areas.bluetooth.apps[app].requestDeadline, due <= now else { return }
        let limit = now
        for slot in areas.bluetooth.apps[app].managers.indices {
            let client = BluetoothClient(app: app, slot: UInt16(slot))
            let late = local(client)?.requests.filter { $0.deadline <= limit && $0.delivered } ?? []
            refuseRequests(of: client) { $0.deadline <= limit }
            for _ in late { act(.refused(app, .requestNotAnswered)) }
        }
    }

    /// Keeps the earliest deadline of an app's open requests at hand.
    private mutating func noteRequests(of app: AppID) {
        areas.bluetooth.apps[app].requestDeadline = areas.bluetooth.apps[app].firstRequestDeadline
    }
}
