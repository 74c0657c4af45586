import WakeModel

/// Something that an app waits for, as the system keeps it.
package struct KeptRegistration: Hashable, Sendable {
    package var via: Registration
    /// The peripheral, the region, the accessory or the peer; ``NameID/none`` for none.
    package var subject: NameID
    package var since: Instant
}

/// What apps are registered for: a look for those who explain a silence. Nothing is decided by it.
extension Router {
    /// All that an app is registered for, in the order of the sources; nothing for an app that was never installed.
    package func registrations(of app: AppID) -> [KeptRegistration] {
        guard Int(app.number) < apps.count, apps[Int(app.number)].installed else { return [] }
        let record = apps[Int(app.number)]
        var kept: [KeptRegistration] = []
        for (slot, manager) in record.managers.enumerated() where manager.isKept(profile) {
            kept += registrations(of: manager, BluetoothClient(app: app, slot: UInt16(slot)))
        }
        kept += registrations(of: record.location)
        if record.audio.attached, let since = record.audio.since {
            kept.append(KeptRegistration(via: .audioSession, subject: .none, since: since))
        }
        if let since = record.accessory.registeredAt {
            kept.append(KeptRegistration(via: .accessoryNotifications, subject: .none, since: since))
        }
        for case let session? in record.accessory.sessions where session.isUsed {
            kept.append(KeptRegistration(via: .accessorySession, subject: session.name, since: session.since))
        }
        for socket in record.voip.sockets {
            kept.append(KeptRegistration(via: .voipSocket, subject: socket.peer, since: socket.since))
        }
        if let keepAlive = record.voip.keepAlive {
            kept.append(KeptRegistration(via: .keepAlive, subject: .none, since: keepAlive.since))
        }
        return kept
    }

    private func registrations(of manager: AppRecord.Manager, _ client: BluetoothClient) -> [KeptRegistration] {
        var kept: [KeptRegistration] = []
        if let scan = manager.scan {
            kept.append(KeptRegistration(via: .scan, subject: scan.services.first ?? .none, since: scan.since))
        }
        for name in manager.peripherals {
            guard Int(name.number) < peripherals.count else { continue }
            let peripheral = peripherals[Int(name.number)]
            guard let link = peripheral.position(of: client).map({ peripheral.links[$0] }) else { continue }
            let via: Registration = link.connected ? .connection : .pendingConnect
            kept.append(KeptRegistration(via: via, subject: name, since: link.since))
        }
        if let watch = manager.watch {
            kept.append(KeptRegistration(via: .watchedConnection, subject: .none, since: watch.since))
        }
        if let first = manager.local?.services.first {
            kept.append(KeptRegistration(via: .publishedService, subject: .none, since: first.since))
        }
        return kept
    }

    private func registrations(of location: LocationRecord) -> [KeptRegistration] {
        var kept: [KeptRegistration] = []
        for manager in location.managers where manager.attached {
            if let updates = manager.updates {
                kept.append(KeptRegistration(via: .standardUpdates, subject: .none, since: updates.since))
            }
        }
        if let significant = location.significant {
            kept.append(KeptRegistration(via: .significantChange, subject: .none, since: significant.since))
        }
        if let since = location.visits {
            kept.append(KeptRegistration(via: .visits, subject: .none, since: since))
        }
        for case let region? in location.regions {
            kept.append(KeptRegistration(via: region.via, subject: region.identifier, since: region.since))
        }
        return kept
    }
}
