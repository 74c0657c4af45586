import WakeModel

/// External accessories: who may see them, their sessions, and what they are told when an app comes and goes.
extension Router {
    /// The most sessions of one app: a set of slots has 64, and one stands for its manager.
    static let sessionsLimit = 63
    /// The most accessories that are connected at a time; further ones are not seen.
    static let accessoriesLimit = 256

    // MARK: What apps ask

    mutating func accessory(
        _ request: AccessoryRequest,
        manager number: ManagerNumber,
        from app: AppID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        if areas.accessory.apps[index].manager == 0 { areas.accessory.apps[index].manager = number }
        guard number != 0, areas.accessory.apps[index].manager == number else {
            output.actions.append(.refused(app, .unknownManager))
            return
        }
        switch request {
        case .register:
            if areas.accessory.apps[index].registeredAt == nil { areas.accessory.apps[index].registeredAt = now }
        case .unregister: areas.accessory.apps[index].registeredAt = nil
        case .open(let session, let connection, let name):
            openSession(session, with: connection, name, for: app, into: &output)
        case .close(let session):
            guard let slot = areas.accessory.apps[index].slot(of: session) else {
                output.actions.append(.refused(app, .unknownSession))
                return
            }
            closeSession(slot, of: app, into: &output)
        }
    }

    private mutating func openSession(
        _ manager: ManagerNumber,
        with connection: AccessoryConnection,
        _ protocolName: NameID,
        for app: AppID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        guard manager != 0, manager != areas.accessory.apps[index].manager,
            areas.accessory.apps[index].slot(of: manager) == nil
        else {
            output.actions.append(.refused(app, manager == 0 ? .unknownManager : .duplicateManager))
            return
        }
        guard let place = freeSessionPlace(index) else {
            output.actions.append(.refused(app, .tooMany))
            return
        }
        if place < areas.accessory.apps[index].sessions.count { closeSession(place + 1, of: app, into: &output) }
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
        if place == areas.accessory.apps[index].sessions.count {
            areas.accessory.apps[index].sessions.append(session)
        } else {
            areas.accessory.apps[index].sessions[place] = session
        }
        guard let fault else {
            output.actions.append(
                .accessory(.open(session.number, accessory: connection, protocolName: protocolName))
            )
            return
        }
        output.actions.append(.refused(app, fault.fault))
        output.actions.append(
            .raise(
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
        )
    }

    private func freeSessionPlace(_ index: Int) -> Int? {
        let sessions = areas.accessory.apps[index].sessions
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
        let index = Int(app.number)
        guard areas.accessory.apps[index].protocols.contains(protocolName) else {
            // EA-3, whatever the accessory offers.
            return (.protocolNotListed, .notListed)
        }
        guard let accessory, accessory.protocols.contains(protocolName), seesAccessories(index) else {
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

    private mutating func closeSession(_ slot: Int, of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard let session = areas.accessory.apps[index].sessions[slot - 1] else { return }
        output.actions.append(.accessory(.close(session.number)))
        areas.accessory.apps[index].sessions[slot - 1] = nil
        dropWaiting(of: app, slot: slot, source: .accessory, into: &output)
    }

    // MARK: The state of apps

    /// Whether an app is shown the accessories that are connected: without the mode, only in the foreground (EA-1).
    private func seesAccessories(_ index: Int) -> Bool {
        switch apps[index].state {
        case .active, .inactive: true
        case .background, .suspended: apps[index].face.modes.contains(.externalAccessory)
        case .notRunning: false
        }
    }

    /// An app without the mode left the foreground, or came back to it: for it the accessories go and come (EA-1).
    mutating func followState(of app: AppID, from: AppState, to: AppState, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !areas.accessory.apps[index].isIdle, !apps[index].face.modes.contains(.externalAccessory) else { return }
        switch (from, to) {
        case (.inactive, .background):
            tellApp(app, .accessoryDisconnected, into: &output)
            closeSessions(of: app, into: &output)
        case (.background, .inactive), (.suspended, .inactive): tellApp(app, .accessoryConnected, into: &output)
        default: break
        }
    }

    private mutating func tellApp(_ app: AppID, _ kind: EventKind, into output: inout RouterOutput) {
        let index = Int(app.number)
        for accessory in areas.accessory.connected where areas.accessory.apps[index].lists(accessory.protocols) {
            let holds = areas.accessory.apps[index].sessions.contains { $0?.accessory == accessory.connection }
            guard areas.accessory.apps[index].registeredAt != nil || holds && kind == .accessoryDisconnected else {
                continue
            }
            output.actions.append(.raise(accessory.event(kind, for: app), .none))
        }
    }

    private mutating func closeSessions(of app: AppID, into output: inout RouterOutput) {
        for place in areas.accessory.apps[Int(app.number)].sessions.indices {
            closeSession(place + 1, of: app, into: &output)
        }
    }

    /// The process is gone, and its sessions and what it wanted with it.
    mutating func detachAccessories(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard areas.accessory.apps[index].manager != 0 else { return }
        for case let session? in areas.accessory.apps[index].sessions {
            output.actions.append(.accessory(.close(session.number)))
        }
        areas.accessory.apps[index].sessions.removeAll()
        areas.accessory.apps[index].manager = 0
        areas.accessory.apps[index].registeredAt = nil
    }

    /// The bench is back: what was connected is so no more, until its source says so again.
    mutating func forgetAccessories(into output: inout RouterOutput) {
        for accessory in areas.accessory.connected {
            output.actions.append(.raise(accessory.event(.accessoryDisconnected, for: nil), .none))
        }
    }

    /// The accessories that an app may see now, in order of connection (EA-1, EA-3).
    package func visibleAccessories(of app: AppID) -> [AccessoryConnection] {
        guard isInstalled(app), seesAccessories(Int(app.number)) else { return [] }
        let record = areas.accessory.apps[Int(app.number)]
        return areas.accessory.connected.filter { record.lists($0.protocols) }.map(\.connection)
    }

    // MARK: Events

    mutating func routeAccessory(_ event: WakeEvent, into output: inout RouterOutput) {
        if event.kind == .accessoryConnected, event.app == nil { noteConnection(of: event) }
        if AccessoryRules.isNotification(event.kind) {
            for index in apps.indices where event.app.map({ Int($0.number) == index }) ?? true {
                decideAccessory(event, for: AppID(UInt32(index)), into: &output)
            }
        } else if let app = owner(of: event) {
            noteSession(event, of: app)
            decideAccessory(event, for: app, into: &output)
        }
        if event.kind == .accessoryDisconnected, event.app == nil { loseAccessory(event, into: &output) }
    }

    private mutating func decideAccessory(_ event: WakeEvent, for app: AppID, into output: inout RouterOutput) {
        guard let interest = accessoryInterest(of: app, in: event) else { return }
        decide(event, for: interest, into: &output)
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
    private mutating func loseAccessory(_ event: WakeEvent, into output: inout RouterOutput) {
        areas.accessory.connected.removeAll { $0.connection == event.connection }
        for index in apps.indices {
            for place in areas.accessory.apps[index].sessions.indices
            where areas.accessory.apps[index].sessions[place]?.accessory == event.connection {
                let session = areas.accessory.apps[index].sessions[place]
                // For the answer to its request the app waits in any case.
                guard session?.phase == .open || session?.phase == .over else { continue }
                areas.accessory.apps[index].sessions[place] = nil
                dropWaiting(of: AppID(UInt32(index)), slot: place + 1, source: .accessory, into: &output)
            }
        }
    }

    /// The app whose session an event is about; nil when the session has ended before.
    private func owner(of event: WakeEvent) -> AppID? {
        for index in apps.indices {
            guard let slot = areas.accessory.apps[index].slot(ofSession: event.session) else { continue }
            return areas.accessory.apps[index].sessions[slot - 1]!.isConcerned(by: event) ? AppID(UInt32(index)) : nil
        }
        return nil
    }

    /// What an event changes for its session.
    private mutating func noteSession(_ event: WakeEvent, of app: AppID) {
        let index = Int(app.number)
        guard let slot = areas.accessory.apps[index].slot(ofSession: event.session) else { return }
        switch event.kind {
        case .accessorySessionOpened:
            areas.accessory.apps[index].sessions[slot - 1]?.phase = event.failed ? .refused : .open
        case .accessorySessionEnded: areas.accessory.apps[index].sessions[slot - 1]?.phase = .over
        default: break
        }
    }

    /// The app has been told that a session could not be opened: its slot is free.
    mutating func noteSessionDelivery(of event: WakeEvent, to app: AppID) {
        let index = Int(app.number)
        guard event.kind == .accessorySessionOpened, event.failed,
            let slot = areas.accessory.apps[index].slot(ofSession: event.session),
            areas.accessory.apps[index].sessions[slot - 1]?.phase == .refused
        else { return }
        areas.accessory.apps[index].sessions[slot - 1] = nil
    }

    /// What an app has to do with an event; nil when nothing.
    mutating func accessoryInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        guard isInstalled(app) else { return nil }
        let record = areas.accessory.apps[Int(app.number)]
        if AccessoryRules.isNotification(event.kind) {
            guard record.registeredAt != nil || record.lists(event.services) else { return nil }
            let since = record.registeredAt ?? apps[Int(app.number)].installedAt
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
        let index = Int(interest.app.number)
        let record = areas.accessory.apps[index]
        let notification = AccessoryRules.isNotification(event.kind)
        return AccessoryQuestion(
            kind: event.kind,
            state: apps[index].state,
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
