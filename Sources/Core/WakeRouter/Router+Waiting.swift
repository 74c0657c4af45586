import WakeModel

/// What waits for an app: decided events that it cannot take yet, and undecided ones while its process is in between.
extension Router {
    // MARK: Decided, and waiting

    mutating func enqueue(
        _ event: WakeEvent,
        for interest: Interest,
        decision: DecisionID,
        deferred: Bool,
        undelivered: Bool = true,
        into output: inout RouterOutput
    ) {
        let app = interest.app
        let index = Int(app.number)
        if apps[index].waiting.count >= Self.waitingLimit {
            let oldest = apps[index].waiting.removeFirst()
            dismiss(oldest, of: app, reason: .overflow, into: &output)
        }
        output.actions.append(.keep(app, event.id))
        apps[index].waiting.append(
            .init(
                event: event,
                interest: interest,
                decision: decision,
                deferred: deferred,
                undelivered: undelivered
            )
        )
    }

    /// A waiting event will not reach the app; one that no manager has got has its final verdict here.
    mutating func dismiss(
        _ waiting: AppLifecycle.Waiting,
        of app: AppID,
        verdict: Verdict = .drop,
        reason: Reason,
        into output: inout RouterOutput
    ) {
        if waiting.undelivered {
            recordLoss(
                waiting.event,
                of: app,
                verdict: verdict,
                reason: reason,
                waiting.decision,
                observe(waiting.interest),
                into: &output
            )
        }
        lose(waiting.event, into: &output)
        output.actions.append(.discard(app, waiting.event.id))
    }

    mutating func dropWaiting(of app: AppID, reason: Reason, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !apps[index].waiting.isEmpty else { return }
        let waiting = apps[index].waiting
        apps[index].waiting.removeAll()
        for item in waiting { dismiss(item, of: app, reason: reason, into: &output) }
    }

    /// The wake is over and the app has not made the managers that the events were for (BTC-6).
    mutating func dropForAbsentManagers(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].waiting.contains(where: { !$0.deferred }) else { return }
        let waiting = apps[index].waiting
        apps[index].waiting.removeAll { !$0.deferred }
        for item in waiting where !item.deferred {
            dismiss(item, of: app, reason: .managerNotCreated, into: &output)
        }
    }

    /// The app released one manager: nothing that waits for it is wanted any more (BT-1).
    mutating func dropWaiting(
        of app: AppID,
        slot: Int,
        source: Source,
        into output: inout RouterOutput,
        where matches: (WakeEvent) -> Bool = { _ in true }
    ) {
        let index = Int(app.number)
        var position = 0
        while position < apps[index].waiting.count {
            guard apps[index].waiting[position].interest.via.source == source,
                matches(apps[index].waiting[position].event)
            else {
                position += 1
                continue
            }
            apps[index].waiting[position].interest.slots.remove(slot)
            if apps[index].waiting[position].interest.slots.isEmpty {
                let item = apps[index].waiting.remove(at: position)
                dismiss(item, of: app, reason: .registrationEnded, into: &output)
            } else {
                position += 1
            }
        }
    }

    /// The app runs: what was deferred for it is delivered, oldest first (BTC-2, LAUNCH-8).
    mutating func deliverDeferred(to app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].waiting.contains(where: \.deferred) else { return }
        let foreground = apps[index].state == .active || apps[index].state == .inactive
        for position in apps[index].waiting.indices where apps[index].waiting[position].deferred {
            let verdict: Verdict = foreground ? .foregroundDeliver : .backgroundDeliver
            var ruling = Ruling(verdict, .deliveredLater, wouldHave: verdict)
            let item = apps[index].waiting[position]
            ruling.rule = ruleOfWaiting(item.event, item.interest)
            apps[index].waiting[position].decision = record(
                item.event,
                app: app,
                ruling,
                checks: CheckResults(),
                supersedes: item.decision,
                snapshot: observe(item.interest),
                into: &output
            )
            apps[index].waiting[position].deferred = false
            area(of: item.interest.via.source)
                .deferredDelivered(item.event, for: item.interest, in: &self, into: &output)
        }
        deliverWaiting(to: app, into: &output)
    }

    /// The rule by which a suspended app gets an event when it runs.
    private mutating func ruleOfWaiting(_ event: WakeEvent, _ interest: Interest) -> RuleID {
        area(of: interest.via.source).ruleOfWaiting(event, interest, in: &self)
    }

    private mutating func observe(_ interest: Interest) -> AppSnapshot {
        area(of: interest.via.source).observe(interest, in: &self)
    }

    /// The event will not reach an app.
    private mutating func lose(_ event: WakeEvent, into output: inout RouterOutput) {
        area(of: event.kind.source).lost(event, forWantOfRoom: false, in: &self, into: &output)
    }

    /// Hands over what waits for managers that are there, in the order in which it came.
    mutating func deliverWaiting(to app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        var position = 0
        while position < apps[index].waiting.count {
            if !apps[index].waiting[position].deferred { handOver(position, of: app, into: &output) }
            if apps[index].waiting[position].interest.slots.isEmpty {
                output.actions.append(.discard(app, apps[index].waiting[position].event.id))
                apps[index].waiting.remove(at: position)
            } else {
                position += 1
            }
        }
    }

    private mutating func handOver(_ position: Int, of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        let item = apps[index].waiting[position]
        let area = area(of: item.interest.via.source)
        for slot in item.interest.slots {
            guard let number = area.managerNumber(slot, of: index, in: &self) else { continue }
            let reconnects = reconnects(app, number, after: item.event)
            output.actions.append(
                .deliver(app, manager: number, item.event.id, item.decision, reconnects: reconnects)
            )
            apps[index].waiting[position].interest.slots.remove(slot)
            apps[index].waiting[position].undelivered = false
            area.delivered(item.event, to: app, in: &self)
        }
    }

    // MARK: Undecided, and held

    /// Keeps an event undecided until the process is frozen, or gone, or runs on.
    mutating func hold(_ item: AppLifecycle.Held, into output: inout RouterOutput) {
        let app = item.interest.app
        let index = Int(app.number)
        if apps[index].held.count >= Self.waitingLimit {
            let oldest = apps[index].held.removeFirst()
            dropHeld(oldest, of: app, failing: .roomInQueues, into: &output)
        }
        output.actions.append(.keep(app, item.event.id))
        apps[index].held.append(item)
    }

    /// What was held is lost. The app may want it no more: not every area keeps its interest up to date meanwhile.
    private mutating func dropHeld(
        _ item: AppLifecycle.Held,
        of app: AppID,
        failing check: Check,
        into output: inout RouterOutput
    ) {
        if let interest = area(of: item.interest.via.source).interest(
            of: app,
            in: item.event,
            held: item.interest,
            in: &self
        ) {
            let area = area(of: interest.via.source)
            refuse(item.event, for: interest, by: area, check, supersedes: item.supersedes, into: &output)
        } else {
            refuseUnregistered(item.event, of: app, supersedes: item.supersedes, into: &output)
        }
        output.actions.append(.discard(app, item.event.id))
    }

    /// Drops all that is held for an app.
    mutating func dropHeld(of app: AppID, into output: inout RouterOutput) {
        let held = apps[Int(app.number)].held
        apps[Int(app.number)].held.removeAll()
        for item in held { dropHeld(item, of: app, failing: .lastsUntilDecided, into: &output) }
    }

    /// The app stopped the delivery to one manager while events were held: they are not wanted any more (BT-1).
    mutating func dropHeld(
        of app: AppID,
        slot: Int,
        source: Source,
        into output: inout RouterOutput,
        where matches: (WakeEvent) -> Bool
    ) {
        let index = Int(app.number)
        var position = 0
        while position < apps[index].held.count {
            let item = apps[index].held[position]
            guard item.interest.via.source == source, matches(item.event) else {
                position += 1
                continue
            }
            var others = item.interest.slots
            others.remove(slot)
            if others.isEmpty {
                apps[index].held.remove(at: position)
                dropHeld(item, of: app, failing: .deliveryWanted, into: &output)
            } else {
                apps[index].held[position].interest.slots = others
                position += 1
            }
        }
    }

    /// Decides what arrived meanwhile, in order.
    mutating func decideHeld(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !apps[index].held.isEmpty else { return }
        var undecided = apps[index].held.count
        while undecided > 0, !apps[index].held.isEmpty {
            undecided -= 1
            decide(apps[index].held.removeFirst(), of: app, into: &output)
        }
    }

    /// Decides what was kept back for an app; its payload is needed no longer than that.
    private mutating func decide(_ kept: AppLifecycle.Held, of app: AppID, into output: inout RouterOutput) {
        var held = kept.interest
        if !held.slots.contains(Int(held.slot)) { held.slot = held.slots.lowest }
        decideAnew(
            kept.event,
            of: app,
            held: held,
            supersedes: kept.supersedes,
            restarted: kept.restarted,
            into: &output
        )
        output.actions.append(.discard(app, kept.event.id))
    }

    // MARK: Before the first unlock

    /// Keeps an event that was denied before the first unlock.
    mutating func keepForUnlock(
        _ event: WakeEvent,
        for interest: Interest,
        denied decision: DecisionID,
        into output: inout RouterOutput
    ) {
        let app = interest.app
        let index = Int(app.number)
        let area = area(of: interest.via.source)
        if let older = apps[index].awaitingUnlock.firstIndex(where: { area.replaces(event, $0.event) }) {
            output.actions.append(.discard(app, apps[index].awaitingUnlock.remove(at: older).event.id))
        }
        if apps[index].awaitingUnlock.count >= Self.waitingLimit {
            output.actions.append(.discard(app, apps[index].awaitingUnlock.removeFirst().event.id))
        }
        output.actions.append(.keep(app, event.id))
        apps[index].awaitingUnlock.append(
            .init(event: event, interest: interest, supersedes: decision, restarted: false)
        )
    }

    /// The phone was unlocked, or the user launched the app: what came before is decided anew, in order (LAUNCH-5).
    mutating func decideKept(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !apps[index].awaitingUnlock.isEmpty else { return }
        // The launch for one of them may let go of what others are for.
        var undecided = apps[index].awaitingUnlock.count
        while undecided > 0, !apps[index].awaitingUnlock.isEmpty {
            undecided -= 1
            decide(apps[index].awaitingUnlock.removeFirst(), of: app, into: &output)
        }
        reschedule(app)
    }

    /// Nothing waits for the unlock any more; the denials stand.
    mutating func dropKept(of app: AppID, into output: inout RouterOutput) {
        let kept = apps[Int(app.number)].awaitingUnlock
        apps[Int(app.number)].awaitingUnlock.removeAll()
        for item in kept { output.actions.append(.discard(app, item.event.id)) }
    }

    /// A manager is released: nothing waits for the unlock for it.
    mutating func dropKept(
        of app: AppID,
        slot: Int,
        source: Source,
        into output: inout RouterOutput,
        where matches: (WakeEvent) -> Bool
    ) {
        let index = Int(app.number)
        for place in apps[index].awaitingUnlock.indices.reversed()
        where apps[index].awaitingUnlock[place].interest.via.source == source
            && matches(apps[index].awaitingUnlock[place].event)
        {
            apps[index].awaitingUnlock[place].interest.slots.remove(slot)
            guard apps[index].awaitingUnlock[place].interest.slots.isEmpty else { continue }
            output.actions.append(.discard(app, apps[index].awaitingUnlock.remove(at: place).event.id))
        }
    }

    // MARK: After a restart of the bench

    /// What was decided for a process and never reached it is decided again against the dead app. What was deferred, or
    /// has reached one of its managers, is not: the bench knows of the deliveries and brings them itself.
    mutating func decideWaitingAgain(_ waiting: [AppLifecycle.Waiting], of app: AppID, into output: inout RouterOutput)
    {
        for item in waiting {
            if !item.deferred, item.undelivered {
                decideAnew(
                    item.event,
                    of: app,
                    held: item.interest,
                    supersedes: item.decision,
                    restarted: true,
                    into: &output
                )
                output.actions.append(.discard(app, item.event.id))
            } else {
                dismiss(item, of: app, reason: .benchRestarted, into: &output)
            }
        }
    }

    /// Decides an event by what the app wants of it now.
    private mutating func decideAnew(
        _ event: WakeEvent,
        of app: AppID,
        held: Interest?,
        supersedes: DecisionID,
        restarted: Bool,
        into output: inout RouterOutput
    ) {
        guard let interest = area(of: event.kind.source).interest(of: app, in: event, held: held, in: &self) else {
            if restarted {
                loseInRestart(event, of: app, supersedes, into: &output)
            } else {
                refuseUnregistered(event, of: app, supersedes: supersedes, into: &output)
            }
            return
        }
        decide(event, for: interest, supersedes: supersedes, restarted: restarted, into: &output)
    }

    /// What was on its way to an app when the bench died is lost: nothing of the app asks for it any more.
    private mutating func loseInRestart(
        _ event: WakeEvent,
        of app: AppID,
        _ supersedes: DecisionID,
        into output: inout RouterOutput
    ) {
        lose(event, into: &output)
        var snapshot = apps[Int(app.number)].face
        observePhone(&snapshot)
        recordLoss(event, of: app, reason: .benchRestarted, supersedes, snapshot, into: &output)
    }

    /// Decides an unacknowledged delivery again; what the rules do not allow now is dropped as lost in the restart.
    mutating func redeliver(
        _ event: WakeEvent,
        to app: AppID,
        supersedes: DecisionID,
        into output: inout RouterOutput
    ) {
        decideAnew(event, of: app, held: nil, supersedes: supersedes, restarted: true, into: &output)
    }
}
