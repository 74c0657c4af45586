import WakeModel
import WakePorts

/// The doors: actions leave for apps and sources.
extension Bench {
    subscript(app: AppID) -> HostedApp { apps[Int(app.number)] }

    /// Whether an action is carried out outside: by a process, or by what is not simulated.
    func leavesTheBench(_ action: Action) -> Bool {
        switch action {
        case .deliver(let app, _, _, _), .launch(let app, _, _, _, _), .thaw(let app), .freeze(let app), .kill(let app),
            .callback(let app, _, _), .expireTasks(let app, _), .managerState(let app, _, _), .restore(let app, _, _),
            .restorePeripheral(let app, _, _), .locationAuthorization(let app, _, _), .audioAnswer(let app, _, _):
            self[app].leavesTheBench
        case .bluetooth: isReal(bluetooth)
        case .peripheralRole: isReal(peripheralRole)
        case .location: isReal(location)
        case .audio: isReal(audio)
        case .accessory: isReal(accessory)
        case .voip: isReal(voip)
        case .keep, .discard, .raise, .exited, .refused, .moved, .alert: false
        }
    }

    /// Whether a source has something outside the bench; one that is not there has nothing.
    func isReal(_ port: (any SourcePort)?) -> Bool {
        port?.isSimulated == false
    }

    /// Carries out what was put aside.
    func perform() {
        guard !pending.isEmpty else { return }
        for host in hosts { host.gather() }
        // A door may answer from inside the call; the answers wait in the inbox for the next turn.
        swap(&pending, &underway)
        for item in underway {
            switch item {
            case .action(let action, let event, let payload): perform(action, event, payload)
            case .adapter(let on): peripheralRole?.setPower(on, at: now)
            }
        }
        underway.removeAll(keepingCapacity: true)
        for host in hosts { host.release() }
    }

    private func perform(_ action: Action, _ event: WakeEvent?, _ payload: EventPayload) {
        switch action {
        case .launch(let app, let generation, let state, _, let decision):
            let cause = event.map { launchCause($0, of: app, decision) }
            host(app).launch(app, generation: generation, state: state, cause: cause, at: now)
        case .deliver(let app, let manager, _, let decision):
            guard let event else {
                preconditionFailure("decision \(decision.number) delivers an event that nobody kept")
            }
            deliver(event, payload, to: app, manager, decision)
        case .thaw(let app): host(app).thaw(app, at: now)
        case .freeze(let app): host(app).freeze(app, at: now)
        case .kill(let app): host(app).kill(app, at: now)
        case .callback(let app, let callback, let state):
            host(app).callback(callback, state: state, to: app, at: now)
        case .expireTasks(let app, let tokens): host(app).expireTasks(tokens, of: app, at: now)
        case .managerState(let app, let manager, let state):
            host(app).managerState(manager, state, to: app, at: now)
        case .restore(let app, let manager, let state): host(app).restore(manager, state, to: app, at: now)
        case .restorePeripheral(let app, let manager, let state):
            host(app).restorePeripheral(manager, state, to: app, at: now)
        case .peripheralRole(let command):
            hasCommandedOthers = true
            peripheralRole?.perform(command, at: now)
        case .bluetooth(let command): bluetooth.perform(command, at: now)
        case .locationAuthorization(let app, let manager, let authorization):
            host(app).locationAuthorization(authorization, manager: manager, to: app, at: now)
        case .location(let command):
            if case .watchBeacons(let beacons) = command { bluetooth.watchBeacons(beacons, at: now) }
            location?.perform(command, at: now)
        case .audio(let command): audio?.perform(command, at: now)
        case .audioAnswer(let app, let request, let answer):
            host(app).audioAnswer(answer, request: request, stream: stream(of: app, answer), to: app, at: now)
        case .accessory(let command):
            hasCommandedOthers = true
            accessory?.perform(command, at: now)
        case .voip(let command):
            hasCommandedOthers = true
            voip?.perform(command, at: now)
        case .keep, .discard, .exited, .refused, .moved, .alert, .raise: break
        }
    }

    private func launchCause(_ event: WakeEvent, of app: AppID, _ decision: DecisionID) -> LaunchCause {
        LaunchCause(
            event: event,
            decision: decision,
            restoreIdentifiers: router.preservedRestoreIdentifiers(of: app),
            peripheralRestoreIdentifiers: router.preservedRestoreIdentifiers(of: app, peripheralRole: true)
        )
    }

    private func deliver(
        _ event: WakeEvent,
        _ payload: EventPayload,
        to app: AppID,
        _ manager: ManagerNumber,
        _ decision: DecisionID
    ) {
        var payload = payload
        if event.kind == .accessoryConnected, payload == .none {
            // The router found it, and has no words.
            let found = accessory?.accessories.first { $0.connection == event.local }
            payload = found.map { .accessory($0) } ?? .none
        }
        host(app).deliver(
            AppDelivery(
                event: event,
                payload: payload,
                decision: decision,
                manager: manager,
                reconnects: event.kind == .peripheralDisconnected && event.failed
                    && router.reconnects(app, manager, to: event.peripheral),
                channel: channel(event, for: app, manager)
            ),
            to: app,
            at: now
        )
    }

    /// The ends of a real app's stream, when it has one.
    private func stream(of app: AppID, _ answer: AudioAnswer) -> SharedAudio? {
        guard case .granted = answer, self[app].leavesTheBench else { return nil }
        return try? audio?.share(with: app)
    }

    /// The socket of a channel or a session that was opened for an app.
    private func channel(_ event: WakeEvent, for app: AppID, _ manager: ManagerNumber) -> Int32? {
        guard event.kind == .channelOpened || event.kind == .accessorySessionOpened, !event.failed else { return nil }
        let keeper = event.kind == .accessorySessionOpened ? sessionKeeper : keeper
        return keeper?.hold(event, for: app, manager: manager, isRead: !self[app].leavesTheBench)
    }

    private func host(_ app: AppID) -> any AppHost { self[app].host }
}
