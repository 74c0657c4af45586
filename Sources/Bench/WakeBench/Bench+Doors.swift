import WakeModel
import WakePorts

/// Actions leave for apps and sources.
extension Bench {
    subscript(app: AppID) -> HostedApp { apps[Int(app.number)] }

    /// Whether an action is carried out outside: by a process, or by what is not simulated.
    func leavesTheBench(_ action: Action) -> Bool {
        switch action {
        case .deliver(let app, _, _, _, _), .launch(let app, _, _, _, _, _), .thaw(let app), .freeze(let app),
            .kill(let app), .closeListeners(let app), .callback(let app, _, _), .expireTasks(let app, _),
            .tell(let app, _):
            self[app].leavesTheBench
        case .command(let command): isForOutside(command)
        case .keep, .discard, .raise, .exited, .refused, .moved, .alert, .did, .lost: false
        }
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
            case .heard(let event, let payload): tellSources(event, payload)
            }
        }
        underway.removeAll(keepingCapacity: true)
        for host in hosts { host.release() }
    }

    private func perform(_ action: Action, _ event: WakeEvent?, _ payload: EventPayload) {
        switch action {
        case .launch(let app, let generation, let state, _, let decision, let restores):
            let cause = event.map { LaunchCause(event: $0, decision: decision, restores: restores) }
            self[app].host.launch(app, generation: generation, state: state, cause: cause, at: now)
        case .deliver(let app, let manager, _, let decision, let reconnects):
            guard let event else {
                preconditionFailure("decision \(decision.number) delivers an event that nobody kept")
            }
            let delivery = AppDelivery(
                event: event,
                payload: payload,
                decision: decision,
                manager: manager,
                reconnects: reconnects,
                channel: channel(event, for: app, manager)
            )
            self[app].host.deliver(delivery, to: app, at: now)
        case .thaw(let app): self[app].host.thaw(app, at: now)
        case .freeze(let app): self[app].host.freeze(app, at: now)
        case .kill(let app): self[app].host.kill(app, at: now)
        case .closeListeners(let app): self[app].host.closeListeners(of: app, at: now)
        case .callback(let app, let callback, let state):
            self[app].host.callback(callback, state: state, to: app, at: now)
        case .expireTasks(let app, let tokens): self[app].host.expireTasks(tokens, of: app, at: now)
        case .tell(let app, let notice): self[app].host.tell(notice, to: app, at: now)
        case .command(let command): carryOut(command)
        case .keep, .discard, .exited, .refused, .moved, .alert, .did, .lost, .raise: break
        }
    }

    /// The socket of a channel or a session that was opened for an app.
    private func channel(_ event: WakeEvent, for app: AppID, _ manager: ManagerNumber) -> Int32? {
        guard !event.failed, let keeper = keepers.first(where: { $0.opening == event.kind }) else { return nil }
        return keeper.hold(event, for: app, manager: manager, isRead: !self[app].leavesTheBench)
    }
}
