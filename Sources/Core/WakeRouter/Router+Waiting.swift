import WakeModel

/// What waits for an app: decided events that it cannot take yet, and undecided ones while its process is in between.
extension Router {
    // MARK: Decided, and waiting

    mutating func enqueue(
        _ event: WakeEvent,
        for interest: Interest,
        decision: DecisionID,
        deferred: Bool,
        undelivered: Bool = true
    ) {
        let app = interest.app
        if apps[app].waiting.count >= Self.waitingLimit {
            let oldest = apps[app].waiting.removeFirst()
            dismiss(oldest, of: app, reason: .overflow)
        }
        act(.keep(app, event.id))
        apps[app].waiting.append(
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
    mutating func dismiss(_ waiting: AppLifecycle.Waiting, of app: AppID, verdict: Verdict = .drop, reason: Reason) {
        if waiting.undelivered {
            recordLoss(
                waiting.event,
                of: app,
                verdict: verdict,
                reason: reason,
                waiting.decision,
                observe(waiting.interest)
            )
        }
        lose(waiting.event)
        act(.discard(app, waiting.event.id))
    }

    mutating func dropWaiting(of app: AppID, reason: Reason) {
        guard !apps[app].waiting.isEmpty else { return }
        let waiting = apps[app].waiting
        apps[app].waiting.removeAll()
        for item in waiting { dismiss(item, of: app, reason: reason) }
    }

    /// The wake is over and the app has not made the managers that the events were for (BTC-6).
    mutating func dropForAbsentManagers(of app: AppID) {
        guard apps[app].waiting.contains(where: { !$0.deferred }) else { return }
        let waiting = apps[app].waiting
        apps[app].waiting.removeAll { !$0.deferred }
        for item in waiting where !item.deferred {
            dismiss(item, of: app, reason: .managerNotCreated)
        }
    }

    /// The app released one manager: nothing that waits for it is wanted any more (BT-1).
    mutating func dropWaiting(
        of app: AppID,
        slot: Int,
        source: Source,
        where matches: (WakeEvent) -> Bool = { _ in true }
    ) {
        var position = 0
        while position < apps[app].waiting.count {
            guard apps[app].waiting[position].interest.via.source == source,
                matches(apps[app].waiting[position].event)
            else {
                position += 1
                continue
            }
            apps[app].waiting[position].interest.slots.remove(slot)
            if apps[app].waiting[position].interest.slots.isEmpty {
                let item = apps[app].waiting.remove(at: position)
                dismiss(item, of: app, reason: .registrationEnded)
            } else {
                position += 1
            }
        }
    }

    /// The app runs: what was deferred for it is delivered, oldest first (BTC-2, LAUNCH-8).
    mutating func deliverDeferred(to app: AppID) {
        guard apps[app].waiting.contains(where: \.deferred) else { return }
        let foreground = apps[app].state == .active || apps[app].state == .inactive
        for position in apps[app].waiting.indices where apps[app].waiting[position].deferred {
            let verdict: Verdict = foreground ? .foregroundDeliver : .backgroundDeliver
            var ruling = Ruling(verdict, .deliveredLater, wouldHave: verdict)
            let item = apps[app].waiting[position]
            let area = area(of: item.interest.via.source)
            ruling.rule = area.ruleOfWaiting(item.event, item.interest, in: &self)
            apps[app].waiting[position].decision = record(
                item.event,
                app: app,
                ruling,
                checks: CheckResults(),
                supersedes: item.decision,
                snapshot: observe(item.interest)
            )
            apps[app].waiting[position].deferred = false
            area.hear(.deferredDelivered, of: item.event, for: item.interest, in: &self)
        }
        deliverWaiting(to: app)
    }

    private mutating func observe(_ interest: Interest) -> AppSnapshot {
        var snapshot = apps[interest.app].snapshot
        area(of: interest.via.source).observe(interest, in: &snapshot, of: &self)
        return snapshot
    }

    /// The event will not reach an app.
    private mutating func lose(_ event: WakeEvent) {
        area(of: event.kind.source).lost(event, forWantOfRoom: false, in: &self)
    }

    /// Hands over what waits for managers that are there, in the order in which it came.
    mutating func deliverWaiting(to app: AppID) {
        var position = 0
        while position < apps[app].waiting.count {
            if !apps[app].waiting[position].deferred { handOver(position, of: app) }
            if apps[app].waiting[position].interest.slots.isEmpty {
                act(.discard(app, apps[app].waiting[position].event.id))
                apps[app].waiting.remove(at: position)
            } else {
                position += 1
            }
        }
    }

    private mutating func handOver(_ position: Int, of app: AppID) {
        let item = apps[app].waiting[position]
        let area = area(of: item.interest.via.source)
        for slot in item.interest.slots {
            guard let number = area.managerNumber(slot, of: app, in: &self) else { continue }
            let reconnects = area.reconnects(number, of: app, after: item.event, in: &self)
            act(.deliver(app, manager: number, item.event.id, item.decision, reconnects: reconnects))
            apps[app].waiting[position].interest.slots.remove(slot)
            apps[app].waiting[position].undelivered = false
            area.hear(.delivered, of: item.event, for: item.interest, in: &self)
        }
    }

    // MARK: Undecided, and held

    /// Keeps an event undecided until the process is frozen, or gone, or runs on.
    mutating func hold(_ item: AppLifecycle.Held) {
        let app = item.interest.app
        if apps[app].held.count >= Self.waitingLimit {
            let oldest = apps[app].held.removeFirst()
            dropHeld(oldest, of: app, failing: .roomInQueues)
        }
        act(.keep(app, item.event.id))
        apps[app].held.append(item)
    }

    /// What was held is lost. The app may want it no more: not every area keeps its interest up to date meanwhile.
    private mutating func dropHeld(_ item: AppLifecycle.Held, of app: AppID, failing check: Check) {
        if let interest = area(of: item.interest.via.source).interest(
            of: app,
            in: item.event,
            held: item.interest,
            in: &self
        ) {
            let area = area(of: interest.via.source)
            refuse(item.event, for: interest, by: area, check, supersedes: item.supersedes)
        } else {
            refuseUnregistered(item.event, of: app, supersedes: item.supersedes)
        }
        act(.discard(app, item.event.id))
    }

    /// Drops all that is held for an app.
    mutating func dropHeld(of app: AppID) {
        let held = apps[app].held
        apps[app].held.removeAll()
        for item in held { dropHeld(item, of: app, failing: .lastsUntilDecided) }
    }

    /// The app stopped the delivery to one manager while events were held: they are not wanted any more (BT-1).
    mutating func dropHeld(of app: AppID, slot: Int, source: Source, where matches: (WakeEvent) -> Bool) {
        var position = 0
        while position < apps[app].held.count {
            let item = apps[app].held[position]
            guard item.interest.via.source == source, matches(item.event) else {
                position += 1
                continue
            }
            var others = item.interest.slots
            others.remove(slot)
            if others.isEmpty {
                apps[app].held.remove(at: position)
                dropHeld(item, of: app, failing: .deliveryWanted)
            } else {
                apps[app].held[position].interest.slots = others
                position += 1
            }
        }
    }

    /// Decides what arrived meanwhile, in order.
    mutating func decideHeld(of app: AppID) {
        guard !apps[app].held.isEmpty else { return }
        var undecided = apps[app].held.count
        while undecided > 0, !apps[app].held.isEmpty {
            undecided -= 1
            decide(apps[app].held.removeFirst(), of: app)
        }
    }

    /// Decides what was kept back for an app; its payload is needed no longer than that.
    private mutating func decide(_ kept: AppLifecycle.Held, of app: AppID) {
        var held = kept.interest
        if !held.slots.contains(Int(held.slot)) { held.slot = held.slots.lowest }
        decideAnew(kept.event, of: app, held: held, supersedes: kept.supersedes, restarted: kept.restarted)
        act(.discard(app, kept.event.id))
    }

    // MARK: Before the first unlock

    /// Keeps an event that was denied before the first unlock.
    mutating func keepForUnlock(_ event: WakeEvent, for interest: Interest, denied decision: DecisionID) {
        let app = interest.app
        let area = area(of: interest.via.source)
        if let older = apps[app].awaitingUnlock.firstIndex(where: { area.replaces(event, $0.event) }) {
            act(.discard(app, apps[app].awaitingUnlock.remove(at: older).event.id))
        }
        if apps[app].awaitingUnlock.count >= Self.waitingLimit {
            act(.discard(app, apps[app].awaitingUnlock.removeFirst().event.id))
        }
        act(.keep(app, event.id))
        apps[app].awaitingUnlock.append(
            .init(event: event, interest: interest, supersedes: decision, restarted: false)
        )
    }

    /// The phone was unlocked, or the user launched the app: what came before is decided anew, in order (LAUNCH-5).
    mutating func decideKept(of app: AppID) {
        guard !apps[app].awaitingUnlock.isEmpty else { return }
        // The launch for one of them may let go of what others are for.
        var undecided = apps[app].awaitingUnlock.count
        while undecided > 0, !apps[app].awaitingUnlock.isEmpty {
            undecided -= 1
            decide(apps[app].awaitingUnlock.removeFirst(), of: app)
        }
        reschedule(app)
    }

    /// Nothing waits for the unlock any more; the denials stand.
    mutating func dropKept(of app: AppID) {
        let kept = apps[app].awaitingUnlock
        apps[app].awaitingUnlock.removeAll()
        for item in kept { act(.discard(app, item.event.id)) }
    }

    /// A manager is released: nothing waits for the unlock for it.
    mutating func dropKept(of app: AppID, slot: Int, source: Source, where matches: (WakeEvent) -> Bool) {
        for place in apps[app].awaitingUnlock.indices.reversed()
        where apps[app].awaitingUnlock[place].interest.via.source == source
            && matches(apps[app].awaitingUnlock[place].event)
        {
            apps[app].awaitingUnlock[place].interest.slots.remove(slot)
            guard apps[app].awaitingUnlock[place].interest.slots.isEmpty else { continue }
            act(.discard(app, apps[app].awaitingUnlock.remove(at: place).event.id))
        }
    }

    // MARK: After a restart of the bench

    /// What was decided for a process and never reached it is decided again against the dead app. What was deferred, or
    /// has reached one of its managers, is not: the bench knows of the deliveries and brings them itself.
    mutating func decideWaitingAgain(_ waiting: [AppLifecycle.Waiting], of app: AppID) {
        for item in waiting {
            if !item.deferred, item.undelivered {
                decideAnew(item.event, of: app, held: item.interest, supersedes: item.decision, restarted: true)
                act(.discard(app, item.event.id))
            } else {
                dismiss(item, of: app, reason: .benchRestarted)
            }
        }
    }

    /// Decides an event by what the app wants of it now; what was on its way in a restart, and the rules do not allow now, is
    /// dropped as lost in it.
    mutating func decideAnew(
        _ event: WakeEvent,
        of app: AppID,
        held: Interest?,
        supersedes: DecisionID,
        restarted: Bool
    ) {
        guard let interest = area(of: event.kind.source).interest(of: app, in: event, held: held, in: &self) else {
            if restarted {
                loseInRestart(event, of: app, supersedes)
            } else {
                refuseUnregistered(event, of: app, supersedes: supersedes)
            }
            return
        }
        decide(event, for: interest, supersedes: supersedes, restarted: restarted)
    }

    /// What was on its way to an app when the bench died is lost: nothing of the app asks for it any more.
    private mutating func loseInRestart(_ event: WakeEvent, of app: AppID, _ supersedes: DecisionID) {
        lose(event)
        var snapshot = apps[app].snapshot
        observePhone(&snapshot)
        recordLoss(event, of: app, reason: .benchRestarted, supersedes, snapshot)
    }
}
