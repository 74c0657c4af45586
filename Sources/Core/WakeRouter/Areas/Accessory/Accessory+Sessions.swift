import WakeModel

/// External accessories: who may see them, their sessions, and what they are told when an app comes and goes.
extension Router {
    /// The most sessions of one app: a set of slots has 64, and one stands for its manager.
    static let sessionsLimit = 63
    /// The most accessories that are connected at a time; further ones are not seen.
    static let accessoriesLimit = 256

    // MARK: What apps ask

    mutating func accessory(_ request: AccessoryRequest, manager number: ManagerNumber, from app: AppID) {
        if areas.accessory.apps[app].manager == 0 { areas.accessory.apps[app].manager = number }
        guard number != 0, areas.accessory.apps[app].manager == number else {
            act(.refused(app, .unknownManager))
            return
        }
        switch request {
        case .register:
            if areas.accessory.apps[app].registeredAt == nil { areas.accessory.apps[app].registeredAt = now }
        case .unregister: areas.accessory.apps[app].registeredAt = nil
        case .open(let session, let connection, let name):
            openSession(session, with: connection, name, for: app)
        case .close(let session):
            guard let slot = areas.accessory.apps[app].slot(of: session) else {
                act(.refused(app, .unknownSession))
                return
            }
            closeSession(slot, of: app)
        }
    }

    private mutating func openSession(
        _ manager: ManagerNumber,
        with connection: AccessoryConnection,
        _ protocolName: NameID,
        for app: AppID
    ) {
        guard manager != 0, manager != areas.accessory.apps[app].manager,
            areas.accessory.apps[app].slot(of: manager) == nil
        else {
            act(.refused(app, manager == 0 ? .unknownManager : .duplicateManager))
            return
        }
        guard let place = freeSessionPlace(app) else {
            act(.refused(app, .tooMany))
            return
        }
        if place < areas.accessory.apps[app].sessions.count { closeSession(place + 1, of: app) }
        areas.accessory.lastSession += 1
        let known = areas.accessory.connected.first { $0.connection == connection }
        let fault = sessionFault(app, known, protocolName)
        let session = AccessoryRecord.Session(
            number: areas.accessory.lastSession,
            manager: manager,
            accessory: connection,
            name: known?.name ?? .none,
            protocolName: protocolName,
            since: now,
            phase: fault == nil ? .opening : .refused
        )
        areas.accessory.apps[app].sessions.put(session, at: place)
        guard let fault else {
            act(.accessory(.open(session.number, accessory: connection, protocolName: protocolName)))
            return
        }
        act(.refused(app, fault.fault))
        if fault.fault == .sessionTaken { act(.did(app, .refusedSecondSession, subject: session.name)) }
        raise(
            WakeEvent(
                kind: .accessorySessionOpened,
                peripheral: session.name,
                local: session.number,
                subject: session.name,
                failed: true,
                services: [protocolName],
                app: app
            ),
            .accessoryFailure(fault.failure)
        )
    }

    private func freeSessionPlace(_ app: AppID) -> Int? {
        let sessions = areas.accessory.apps[app].sessions
        if let free = sessions.firstIndex(where: { $0 == nil }) { return free }
        // One that has ended is kept for the app's word that it knows.
        return sessions.count < Self.sessionsLimit ? sessions.count : sessions.firstIndex { $0?.phase == .over }
    }

    /// Why an app may not open a session; nil when it may.
    private func sessionFault(
        _ app: AppID,
        _ accessory: ConnectedAccessory?,
        _ protocolName: NameID
    ) -> (fault: RequestFault, failure: AccessoryFailure)? {
        guard areas.accessory.apps[app].protocols.contains(protocolName) else {
            // EA-3, whatever the accessory offers.
            return (.protocolNotListed, .notListed)
        }
        guard let accessory, accessory.protocols.contains(protocolName), seesAccessories(app) else {
            return (.notConnected, .gone)
        }
        let taken = areas.accessory.apps.contains { record in
            record.sessions.contains {
                $0.map {
                    $0.accessory == accessory.connection && $0.protocolName == protocolName && $0.isUsed
                } ?? false
            }
        }
        return taken ? (.sessionTaken, .taken) : nil
    }

    private mutating func closeSession(_ slot: Int, of app: AppID) {
        guard let session = areas.accessory.apps[app].sessions[slot - 1] else { return }
        act(.accessory(.close(session.number)))
        areas.accessory.apps[app].sessions[slot - 1] = nil
        dropWaiting(of: app, slot: slot, source: .accessory)
    }

    // MARK: The state of apps

    /// Whether an app is shown the accessories that are connected: without the mode, only in the foreground (EA-1).
    private func seesAccessories(_ app: AppID) -> Bool {
        switch apps[app].state {
        case .active, .inactive: true
        case .background, .suspended: apps[app].snapshot.modes.contains(.externalAccessory)
        case .notRunning: false
        }
    }

    /// An app without the mode left the foreground, or came back to it: for it the accessories go and come (EA-1).
    mutating func followState(of app: AppID, from: AppState, to: AppState) {
        guard !areas.accessory.apps[app].isIdle, !apps[app].snapshot.modes.contains(.externalAccessory) else { return }
        switch (from, to) {
        case (.inactive, .background):
            tellApp(app, .accessoryDisconnected)
            let held = registrations(of: app)
            for place in areas.accessory.apps[app].sessions.indices { closeSession(place + 1, of: app) }
            tellLost(held, of: app, to: .lostInBackground)
        case (.background, .inactive), (.suspended, .inactive): tellApp(app, .accessoryConnected)
        default: break
        }
    }

    private mutating func tellApp(_ app: AppID, _ kind: EventKind) {
        for accessory in areas.accessory.connected where areas.accessory.apps[app].lists(accessory.protocols) {
            let holds = areas.accessory.apps[app].sessions.contains { $0?.accessory == accessory.connection }
            guard areas.accessory.apps[app].registeredAt != nil || holds && kind == .accessoryDisconnected else {
                continue
            }
            raise(accessory.event(kind, for: app))
        }
    }

    /// The process is gone, and its sessions and what it wanted with it.
    mutating func detachAccessories(of app: AppID) {
        guard areas.accessory.apps[app].manager != 0 else { return }
        for case let session? in areas.accessory.apps[app].sessions {
            act(.accessory(.close(session.number)))
        }
        areas.accessory.apps[app].sessions.removeAll()
        areas.accessory.apps[app].manager = 0
        areas.accessory.apps[app].registeredAt = nil
    }

    /// The bench is back: what was connected is so no more, until its source says so again.
    mutating func forgetAccessories() {
        for accessory in areas.accessory.connected {
            raise(accessory.event(.accessoryDisconnected, for: nil))
        }
    }

    /// The accessories that an app may see now, in order of connection (EA-1, EA-3).
    package func visibleAccessories(of app: AppID) -> [AccessoryConnection] {
        guard isInstalled(app), seesAccessories(app) else { return [] }
        let record = areas.accessory.apps[app]
        return areas.accessory.connected.filter { record.lists($0.protocols) }.map(\.connection)
    }

    // MARK: Events

    mutating func routeAccessory(_ event: WakeEvent) {
        if event.kind == .accessoryConnected, event.app == nil { noteConnection(of: event) }
        if AccessoryRules.isNotification(event.kind) {
            for app in everyApp where event.app.map({ $0 == app }) ?? true {
                decideAccessory(event, for: app)
            }
        } else if let app = owner(of: event) {
            noteSession(event, of: app)
            decideAccessory(event, for: app)
        }
        if event.kind == .accessoryDisconnected, event.app == nil { loseAccessory(event) }
    }

    private mutating func decideAccessory(_ event: WakeEvent, for app: AppID) {
        guard let interest = accessoryInterest(of: app, in: event) else { return }
        decide(event, for: interest)
        reschedule(app)
    }

    private mutating func noteConnection(of event: WakeEvent) {
        areas.accessory.connected.removeAll { $0.connection == event.connection }
        guard areas.accessory.connected.count < Self.accessoriesLimit else { return }
        areas.accessory.connected.append(
            ConnectedAccessory(
                connection: event.connection,
                name: event.peripheral,
                protocols: event.services,
                since: now
            )
        )
    }

    /// The accessory is gone, and the port has closed the sessions with it.
    private mutating func loseAccessory(_ event: WakeEvent) {
        areas.accessory.connected.removeAll { $0.connection == event.connection }
        for app in everyApp {
            for place in areas.accessory.apps[app].sessions.indices
            where areas.accessory.apps[app].sessions[place]?.accessory == event.connection {
                // For the answer to its request the app waits in any case.
                guard let session = areas.accessory.apps[app].sessions[place],
                    session.phase == .open || session.phase == .over
                else { continue }
                tellLost(session, of: app, by: event)
                areas.accessory.apps[app].sessions[place] = nil
                dropWaiting(of: app, slot: place + 1, source: .accessory)
            }
        }
    }

    /// The app whose session an event is about; nil when the session has ended before.
    private func owner(of event: WakeEvent) -> AppID? {
        for app in everyApp {
            guard let slot = areas.accessory.apps[app].slot(ofSession: event.session) else { continue }
            return areas.accessory.apps[app].sessions[slot - 1]!.isConcerned(by: event) ? app : nil
        }
        return nil
    }

    /// What an event changes for its session.
    private mutating func noteSession(_ event: WakeEvent, of app: AppID) {
        guard let slot = areas.accessory.apps[app].slot(ofSession: event.session),
            let session = areas.accessory.apps[app].sessions[slot - 1]
        else { return }
        switch event.kind {
        case .accessorySessionOpened:
            areas.accessory.apps[app].sessions[slot - 1]?.phase = event.failed ? .refused : .open
        case .accessorySessionEnded:
            tellLost(session, of: app, by: event)
            areas.accessory.apps[app].sessions[slot - 1]?.phase = .over
        default: break
        }
    }

    /// Says that a session ends with its accessory, or by the accessory's wish.
    private mutating func tellLost(_ session: AccessoryRecord.Session, of app: AppID, by event: WakeEvent) {
        guard session.isUsed else { return }
        act(.lost(app, .accessorySession, subject: session.name, .lostWithDetachment, event.id))
    }

    /// The app has been told that a session could not be opened: its slot is free.
    mutating func noteSessionDelivery(of event: WakeEvent, to app: AppID) {
        guard event.kind == .accessorySessionOpened, event.failed,
            let slot = areas.accessory.apps[app].slot(ofSession: event.session),
            areas.accessory.apps[app].sessions[slot - 1]?.phase == .refused
        else { return }
        areas.accessory.apps[app].sessions[slot - 1] = nil
    }

    /// What an app has to do with an event; nil when nothing.
    mutating func accessoryInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        guard isInstalled(app) else { return nil }
        let record = areas.accessory.apps[app]
        if AccessoryRules.isNotification(event.kind) {
            guard record.registeredAt != nil || record.lists(event.services) else { return nil }
            let since = record.registeredAt ?? apps[app].installedAt
            return Interest(app, via: .accessoryNotifications, since: since)
        }
        guard let slot = record.slot(ofSession: event.session), let session = record.sessions[slot - 1] else {
            return nil
        }
        return Interest(
            app,
            slot: UInt16(slot),
            via: .accessorySession,
            since: session.since
        )
    }

    /// What the rules are to look at.
    mutating func accessoryQuestion(of interest: Interest, _ event: WakeEvent) -> AccessoryQuestion {
        let app = interest.app
        let record = areas.accessory.apps[app]
        let notification = AccessoryRules.isNotification(event.kind)
        return AccessoryQuestion(
            kind: event.kind,
            state: apps[app].state,
            followsState: notification && event.app != nil,
            listed: !notification || record.lists(event.services),
            asked: record.manager != 0
                && (event.app != nil || record.registeredAt != nil
                    || record.sessions.contains { $0?.accessory == event.connection }),
            failed: event.failed
        )
    }
}

extension ConnectedAccessory {
    fileprivate func event(_ kind: EventKind, for app: AppID?) -> WakeEvent {
        WakeEvent(
            kind: kind,
            peripheral: name,
            local: connection,
            subject: name,
            services: protocols,
            app: app
        )
    }
}
