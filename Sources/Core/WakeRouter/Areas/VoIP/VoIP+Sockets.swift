import WakeModel

/// The sockets, keep-alive handlers and launches of VoIP apps.
extension Router {
    mutating func voip(_ request: VoIPRequest, from app: AppID) {
        switch request {
        case .watch(let socket, let peer): watch(socket, peer: peer, of: app)
        case .unwatch(let socket): unwatch(socket, of: app)
        case .setKeepAlive(let period):
            if let fault = keepAliveFault(of: app, period: period) {
                act(.refused(app, fault))
            } else {
                areas.voip.apps[app].keepAlive = .init(
                    period: period,
                    since: now,
                    due: now.advanced(by: period)
                )
            }
        case .clearKeepAlive: areas.voip.apps[app].keepAlive = nil
        }
    }

    /// Whether a keep-alive handler with this period would be called (VOIP-3).
    package func grantsKeepAlive(of app: AppID, period: Instant.Span) -> Bool {
        isInstalled(app) && keepAliveFault(of: app, period: period) == nil
    }

    private func keepAliveFault(of app: AppID, period: Instant.Span) -> RequestFault? {
        if !watchesSockets(app) { return .unavailable }
        if !apps[app].snapshot.modes.contains(.voip) { return .voipModeMissing }
        return period < max(profile.areas.voip.keepAliveMinimum, .milliseconds(1)) ? .keepAliveTooShort : nil
    }

    // MARK: Sockets

    private mutating func watch(_ socket: SocketNumber, peer: NameID, of app: AppID) {
        guard socket != 0, !areas.voip.apps[app].sockets.contains(where: { $0.number == socket }) else {
            act(.refused(app, socket == 0 ? .unknownSocket : .duplicateSocket))
            return
        }
        guard areas.voip.apps[app].sockets.count < VoIPRequest.socketsLimit else {
            act(.refused(app, .tooMany))
            act(.voip(.close(app, socket)))
            return
        }
        areas.voip.apps[app].sockets.append(.init(number: socket, peer: peer, since: now))
        act(.voip(.open(app, socket, peer: peer)))
    }

    private mutating func unwatch(_ socket: SocketNumber, of app: AppID) {
        guard let place = areas.voip.apps[app].sockets.firstIndex(where: { $0.number == socket }) else {
            act(.refused(app, .unknownSocket))
            return
        }
        areas.voip.apps[app].sockets.remove(at: place)
        act(.voip(.close(app, socket)))
    }

    /// The app moved: the phone looks after its sockets while it is suspended, and only then (VOIP-1).
    mutating func watchSockets(of app: AppID, from: AppState) {
        let to = apps[app].state
        areas.voip.apps[app].tearDown = nil
        if to == .suspended {
            act(.voip(.watch(app)))
            if !hasCalls(app), let span = profile.areas.voip.connectionsLast {
                areas.voip.apps[app].tearDown = now.advanced(by: span)
            }
        } else if from == .suspended, to != .notRunning {
            act(.voip(.rest(app)))
        }
    }

    /// Without a network nothing comes of the other ends (VOIP-7).
    mutating func followNetwork(after before: PhoneConditions) {
        let isThere = conditions.hasNetwork
        guard isThere != before.hasNetwork else { return }
        act(.voip(.network(isThere: isThere, timeout: profile.areas.voip.connectionTimeout)))
    }

    /// Connections are over: nothing comes on their sockets any more.
    private mutating func endSockets(
        of app: AppID,
        to taker: Deed,
        by event: EventID = .none,
        where isOver: (VoIPRecord.Socket) -> Bool = { _ in true }
    ) {
        let held = registrations(of: app)
        for place in areas.voip.apps[app].sockets.indices where isOver(areas.voip.apps[app].sockets[place]) {
            areas.voip.apps[app].sockets[place].isEnded = true
        }
        tellLost(held, of: app, to: taker, by: event)
    }

    /// The process is gone: so are its sockets and its handler, which the next process sets anew (VOIP-3).
    mutating func closeSockets(of app: AppID) {
        areas.voip.apps[app].keepAlive = nil
        areas.voip.apps[app].tearDown = nil
        guard !areas.voip.apps[app].sockets.isEmpty else { return }
        areas.voip.apps[app].sockets.removeAll()
        act(.voip(.closeAll(app)))
    }

    // MARK: Events

    /// How an app is interested in an event now; nil when it is not.
    mutating func voipInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        guard isInstalled(app) else { return nil }
        let record = areas.voip.apps[app]
        switch event.kind {
        case .voipData, .voipClosed:
            return record.sockets.first { $0.number == event.socket && !$0.isEnded }.map {
                Interest(app, via: .voipSocket, since: $0.since)
            }
        case .voipKeepAlive: return record.keepAlive.map { Interest(app, via: .keepAlive, since: $0.since) }
        case .voipAfterBoot, .voipAfterExit:
            return Interest(app, via: .voipMode, since: apps[app].installedAt)
        default: return nil
        }
    }

    /// The end of a socket is its last event, whatever is decided on it. A wake counts; one too many ends the app that was to be
    /// woken (VOIP-6).
    mutating func noteCall(_ event: WakeEvent, _ verdict: Verdict, _ reason: Reason, of app: AppID) {
        if event.kind == .voipClosed {
            if verdict == .resume { act(.did(app, .wokeForEndOfSocket, event.id)) }
            endSockets(of: app, to: .lostToPeer, by: event.id) { $0.number == event.socket }
        }
        if verdict == .resume || verdict == .relaunch, VoIPRules.countsAsWake(event.kind) {
            let window = profile.areas.voip.wakeWindow
            let now = self.now
            areas.voip.apps[app].wakes.removeAll { now.since($0) >= window }
            if profile.areas.voip.wakeLimit != nil { areas.voip.apps[app].wakes.append(now) }
        } else if reason == .voipWakeLimit, apps[app].state == .suspended {
            end(app, cause: .policy, code: TerminationCode.voipWakes, by: event.id)
        }
    }

    // MARK: Time

    /// The period of a keep-alive handler is over: it is called, unless the user sees the app (VOIP-3).
    mutating func keepAliveDue(of app: AppID) {
        guard let keepAlive = areas.voip.apps[app].keepAlive, keepAlive.due <= now else { return }
        areas.voip.apps[app].keepAlive!.due = max(keepAlive.due, now).advanced(by: keepAlive.period)
        switch apps[app].state {
        case .active, .inactive, .notRunning: return
        case .background, .suspended:
            act(.did(app, .calledKeepAlive))
            raiseForCalls(.voipKeepAlive, app)
        }
    }

    /// The phone looks no longer after what it does not look after for calls (RESP-3).
    mutating func tearDownDue(of app: AppID) {
        guard let due = areas.voip.apps[app].tearDown, due <= now else { return }
        areas.voip.apps[app].tearDown = nil
        act(.voip(.tearDown(app)))
        act(.did(app, .toreDownConnections))
        endSockets(of: app, to: .lostToTearDown)
    }

    // MARK: Launches

    /// VoIP apps are there again after a restart of the phone without being asked for (VOIP-4).
    mutating func launchVoIPAfterBoot() {
        for app in everyApp where hasCalls(app) {
            raiseForCalls(.voipAfterBoot, app)
        }
    }

    /// A VoIP app whose process failed is there again (VOIP-5).
    mutating func launchVoIPAfterExit(_ app: AppID, _ cause: ExitCause, _ code: Int64) {
        // What was held for the app, or the user, may have brought it back already.
        guard hasCalls(app), !apps[app].hasProcess, VoIPRules.startsAgain(after: cause, code: code) else { return }
        raiseForCalls(.voipAfterExit, app)
    }

    private func hasCalls(_ app: AppID) -> Bool {
        watchesSockets(app) && apps[app].installed && apps[app].snapshot.modes.contains(.voip)
    }

    /// Whether the phone looks after the app's marked sockets while it is suspended (VOIP-1).
    func watchesSockets(_ app: AppID) -> Bool {
        VoIPRules.watchesSockets(of: apps[app].snapshot.sdk, by: constants)
    }

    private mutating func raiseForCalls(_ kind: EventKind, _ app: AppID) {
        let bundle = apps[app].snapshot.bundle
        raise(WakeEvent(kind: kind, subject: bundle, app: app))
    }
}
