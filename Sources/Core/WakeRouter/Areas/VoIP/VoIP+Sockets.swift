import WakeModel

/// The sockets, keep-alive handlers and launches of VoIP apps.
extension Router {
    mutating func voip(_ request: VoIPRequest, from app: AppID, into output: inout RouterOutput) {
        switch request {
        case .watch(let socket, let peer): watch(socket, peer: peer, of: app, into: &output)
        case .unwatch(let socket): unwatch(socket, of: app, into: &output)
        case .setKeepAlive(let period):
            if let fault = keepAliveFault(of: app, period: period) {
                output.actions.append(.refused(app, fault))
            } else {
                areas.voip.apps[Int(app.number)].keepAlive = .init(
                    period: period,
                    since: now,
                    due: now.advanced(by: period)
                )
            }
        case .clearKeepAlive: areas.voip.apps[Int(app.number)].keepAlive = nil
        }
    }

    /// Whether a keep-alive handler with this period would be called (VOIP-3).
    package func grantsKeepAlive(of app: AppID, period: Instant.Span) -> Bool {
        isInstalled(app) && keepAliveFault(of: app, period: period) == nil
    }

    private func keepAliveFault(of app: AppID, period: Instant.Span) -> RequestFault? {
        if !watchesSockets(Int(app.number)) { return .unavailable }
        if !apps[Int(app.number)].face.modes.contains(.voip) { return .voipModeMissing }
        return period < max(profile.areas.voip.keepAliveMinimum, .milliseconds(1)) ? .keepAliveTooShort : nil
    }

    // MARK: Sockets

    private mutating func watch(
        _ socket: SocketNumber,
        peer: NameID,
        of app: AppID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        guard socket != 0, !areas.voip.apps[index].sockets.contains(where: { $0.number == socket }) else {
            output.actions.append(.refused(app, socket == 0 ? .unknownSocket : .duplicateSocket))
            return
        }
        guard areas.voip.apps[index].sockets.count < VoIPRequest.socketsLimit else {
            output.actions.append(.refused(app, .tooMany))
            output.actions.append(.voip(.close(app, socket)))
            return
        }
        areas.voip.apps[index].sockets.append(.init(number: socket, peer: peer, since: now))
        output.actions.append(.voip(.open(app, socket, peer: peer)))
    }

    private mutating func unwatch(_ socket: SocketNumber, of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard let place = areas.voip.apps[index].sockets.firstIndex(where: { $0.number == socket }) else {
            output.actions.append(.refused(app, .unknownSocket))
            return
        }
        areas.voip.apps[index].sockets.remove(at: place)
        output.actions.append(.voip(.close(app, socket)))
    }

    /// The app moved: the phone looks after its sockets while it is suspended, and only then (VOIP-1).
    mutating func watchSockets(of app: AppID, from: AppState, into output: inout RouterOutput) {
        let index = Int(app.number)
        let to = apps[index].state
        areas.voip.apps[index].tearDown = nil
        if to == .suspended {
            output.actions.append(.voip(.watch(app)))
            if !hasCalls(index), let span = profile.areas.voip.connectionsLast {
                areas.voip.apps[index].tearDown = now.advanced(by: span)
            }
        } else if from == .suspended, to != .notRunning {
            output.actions.append(.voip(.rest(app)))
        }
    }

    /// The process is gone: so are its sockets and its handler, which the next process sets anew (VOIP-3).
    mutating func closeSockets(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        areas.voip.apps[index].keepAlive = nil
        areas.voip.apps[index].tearDown = nil
        guard !areas.voip.apps[index].sockets.isEmpty else { return }
        areas.voip.apps[index].sockets.removeAll()
        output.actions.append(.voip(.closeAll(app)))
    }

    // MARK: Events

    /// How an app is interested in an event now; nil when it is not.
    mutating func voipInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        guard isInstalled(app) else { return nil }
        let record = areas.voip.apps[Int(app.number)]
        switch event.kind {
        case .voipData, .voipClosed:
            return record.sockets.first { $0.number == event.socket }.map {
                Interest(app, via: .voipSocket, since: $0.since)
            }
        case .voipKeepAlive: return record.keepAlive.map { Interest(app, via: .keepAlive, since: $0.since) }
        case .voipAfterBoot, .voipAfterExit:
            return Interest(app, via: .voipMode, since: apps[Int(app.number)].installedAt)
        default: return nil
        }
    }

    /// A wake counts; one too many ends the app that was to be woken (VOIP-6).
    mutating func noteCall(
        _ event: WakeEvent,
        _ verdict: Verdict,
        _ reason: Reason,
        of app: AppID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        if verdict == .resume || verdict == .relaunch, VoIPRules.countsAsWake(event.kind) {
            let window = profile.areas.voip.wakeWindow
            let now = self.now
            areas.voip.apps[index].wakes.removeAll { now.since($0) >= window }
            if profile.areas.voip.wakeLimit != nil { areas.voip.apps[index].wakes.append(now) }
        } else if reason == .voipWakeLimit, apps[index].state == .suspended {
            end(app, cause: .policy, code: TerminationCode.voipWakes, by: event.id, into: &output)
        }
    }

    // MARK: Time

    /// The period of a keep-alive handler is over: it is called, unless the user sees the app (VOIP-3).
    mutating func keepAliveDue(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard let keepAlive = areas.voip.apps[index].keepAlive, keepAlive.due <= now else { return }
        areas.voip.apps[index].keepAlive!.due = max(keepAlive.due, now).advanced(by: keepAlive.period)
        switch apps[index].state {
        case .active, .inactive, .notRunning: return
        case .background, .suspended: raiseForCalls(.voipKeepAlive, app, into: &output)
        }
    }

    /// The phone looks no longer after what it does not look after for calls (RESP-3).
    mutating func tearDownDue(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard let due = areas.voip.apps[index].tearDown, due <= now else { return }
        areas.voip.apps[index].tearDown = nil
        output.actions.append(.voip(.tearDown(app)))
    }

    // MARK: Launches

    /// VoIP apps are there again after a restart of the phone without being asked for (VOIP-4).
    mutating func launchVoIPAfterBoot(into output: inout RouterOutput) {
        for index in apps.indices where hasCalls(index) {
            raiseForCalls(.voipAfterBoot, AppID(UInt32(index)), into: &output)
        }
    }

    /// A VoIP app whose process failed is there again (VOIP-5).
    mutating func launchVoIPAfterExit(
        _ app: AppID,
        _ cause: ExitCause,
        _ code: Int64,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        // What was held for the app, or the user, may have brought it back already.
        guard hasCalls(index), !apps[index].hasProcess, VoIPRules.startsAgain(after: cause, code: code) else { return }
        raiseForCalls(.voipAfterExit, app, into: &output)
    }

    private func hasCalls(_ index: Int) -> Bool {
        watchesSockets(index) && apps[index].installed && apps[index].face.modes.contains(.voip)
    }

    /// Whether the phone looks after the app's marked sockets while it is suspended (VOIP-1).
    func watchesSockets(_ index: Int) -> Bool {
        VoIPRules.watchesSockets(of: apps[index].face.sdk, by: constants.profile)
    }

    private func raiseForCalls(_ kind: EventKind, _ app: AppID, into output: inout RouterOutput) {
        let bundle = apps[Int(app.number)].face.bundle
        output.actions.append(.raise(WakeEvent(kind: kind, subject: bundle, app: app), .none))
    }
}
