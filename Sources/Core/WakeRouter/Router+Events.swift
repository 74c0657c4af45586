import WakeModel

/// From an event to decisions and deliveries.
extension Router {
    /// Finds the apps that registered for the event, and decides for each.
    mutating func route(_ event: WakeEvent, into output: inout RouterOutput) {
        reached = false
        if let client = event.client {
            if Int(client.app.number) < apps.count, let interest = interest(of: client, in: event) {
                decide(event, for: interest, into: &output)
                reschedule(client.app)
            }
        } else {
            fanOut(event, into: &output)
        }
        if !reached { nobody(event, into: &output) }
        settleLinks(after: event)
    }

    /// What the event changes for everyone, whoever heard of it.
    private mutating func settleLinks(after event: WakeEvent) {
        switch event.kind {
        case .peripheralConnected:
            changeLinks(of: event) { $0.connected = true }
        case .peripheralConnectionFailed:
            removeLinks(of: event, connected: false)
        case .peripheralDisconnected:
            removeLinks(of: event, connected: true)
        case .notificationStateChanged:
            if event.failed {
                changeLinks(of: event) { link in link.subscriptions.removeAll { $0 == event.attribute } }
            }
        case .bluetoothPoweredOff: forgetRadio()
        case .bluetoothPoweredOn, .peripheralDiscovered, .characteristicNotified, .servicesDiscovered,
            .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered, .valueRead,
            .valueWritten, .descriptorRead, .descriptorWritten, .signalStrengthRead, .nameChanged,
            .servicesModified, .readyToWrite:
            break
        }
    }

    private mutating func changeLinks(of event: WakeEvent, _ change: (inout Link) -> Void) {
        if let client = event.client {
            changeLink(of: client, to: event.peripheral, change)
        } else if Int(event.peripheral.number) < links.count {
            for position in links[Int(event.peripheral.number)].indices {
                change(&links[Int(event.peripheral.number)][position])
            }
        }
    }

    private mutating func removeLinks(of event: WakeEvent, connected: Bool) {
        if let client = event.client {
            removeLink(of: client, to: event.peripheral)
        } else if Int(event.peripheral.number) < links.count {
            for link in links[Int(event.peripheral.number)] where link.connected == connected {
                removeLink(of: link.client, to: event.peripheral)
            }
        }
    }

    /// Bluetooth is off: connections, requests and scans are gone for everyone (BTC-5, BTC-10).
    private mutating func forgetRadio() {
        for row in links.indices { links[row].removeAll() }
        scanners.removeAll()
        for index in apps.indices {
            for slot in apps[index].managers.indices {
                apps[index].managers[slot].scan = nil
                apps[index].managers[slot].peripherals.removeAll()
            }
        }
    }

    private mutating func fanOut(_ event: WakeEvent, into output: inout RouterOutput) {
        switch event.kind {
        case .bluetoothPoweredOn, .bluetoothPoweredOff:
            bluetoothOn = event.kind == .bluetoothPoweredOn
            for index in apps.indices {
                // One record an app; each of its managers hears of it.
                guard let slot = apps[index].managers.firstIndex(where: { $0.attached }) else { continue }
                let client = BluetoothClient(app: AppID(UInt32(index)), slot: UInt16(slot))
                decide(
                    event,
                    for: Interest(
                        client: client,
                        via: .manager,
                        since: apps[index].managers[slot].createdAt
                    ),
                    into: &output
                )
                reschedule(client.app)
            }
        case .peripheralDiscovered:
            var previous = AppID.none
            for client in scanners where client.app != previous {
                guard let interest = interest(of: client, in: event) else { continue }
                previous = client.app
                decide(event, for: interest, into: &output)
                reschedule(client.app)
            }
        case .peripheralConnected, .peripheralConnectionFailed, .peripheralDisconnected, .characteristicNotified,
            .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
            .valueRead, .valueWritten, .notificationStateChanged, .descriptorRead, .descriptorWritten,
            .signalStrengthRead, .nameChanged, .servicesModified, .readyToWrite:
            let row = Int(event.peripheral.number)
            guard row < links.count else { return }
            var previous = AppID.none
            for position in links[row].indices {
                let link = links[row][position]
                guard link.client.app != previous, let interest = interest(of: link, in: event) else { continue }
                previous = link.client.app
                decide(event, for: interest, into: &output)
                reschedule(link.client.app)
            }
        }
    }

    private func interest(of link: Link, in event: WakeEvent) -> Interest? {
        switch event.kind {
        case .characteristicNotified:
            link.subscriptions.contains(event.attribute)
                ? Interest(client: link.client, via: .subscription, since: link.since) : nil
        case .peripheralConnected, .peripheralConnectionFailed:
            link.connected ? nil : Interest(client: link.client, via: .pendingConnect, since: link.since)
        case .bluetoothPoweredOn, .bluetoothPoweredOff, .peripheralDiscovered, .peripheralDisconnected,
            .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
            .valueRead, .valueWritten, .notificationStateChanged, .descriptorRead, .descriptorWritten,
            .signalStrengthRead, .nameChanged, .servicesModified, .readyToWrite:
            link.connected ? Interest(client: link.client, via: .connection, since: link.since) : nil
        }
    }

    /// The interest of one client: of a scanner in a discovery, of the addressed client in its answer.
    private func interest(of client: BluetoothClient, in event: WakeEvent) -> Interest? {
        let record = apps[Int(client.app.number)]
        guard record.installed, Int(client.slot) < record.managers.count, record.managers[Int(client.slot)].inUse
        else { return nil }
        let manager = record.managers[Int(client.slot)]
        if event.kind == .peripheralDiscovered {
            guard let scan = manager.scan else { return nil }
            let matches = scan.services.isEmpty || scan.services.contains { event.services.contains($0) }
            return matches ? Interest(client: client, via: .scan, since: scan.since) : nil
        }
        let link = link(of: client, to: event.peripheral)
        switch event.kind {
        case .peripheralConnected, .peripheralConnectionFailed:
            return link.map { Interest(client: client, via: .pendingConnect, since: $0.since) }
        case .peripheralDisconnected:
            return link.map { Interest(client: client, via: .connection, since: $0.since) }
        case .bluetoothPoweredOn, .bluetoothPoweredOff, .peripheralDiscovered, .characteristicNotified,
            .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
            .valueRead, .valueWritten, .notificationStateChanged, .descriptorRead, .descriptorWritten,
            .signalStrengthRead, .nameChanged, .servicesModified, .readyToWrite:
            return Interest(
                client: client,
                via: .operation,
                since: link?.since ?? manager.createdAt,
                wanted: manager.attached
            )
        }
    }

    // MARK: Deciding

    /// Gives one app its verdict on an event and starts what follows from it.
    private mutating func decide(
        _ event: WakeEvent,
        for interest: Interest,
        supersedes: DecisionID = .none,
        restarted: Bool = false,
        into output: inout RouterOutput
    ) {
        let index = Int(interest.client.app.number)
        reached = true
        switch apps[index].phase {
        case .freezing, .ending:
            hold(event, for: interest, into: &output)
            return
        case .resting, .launching, .running, .leaving: break
        }
        let slot = Int(interest.client.slot)
        var seenBefore = false
        var namesServices = true
        if event.kind == .peripheralDiscovered, let scan = apps[index].managers[slot].scan {
            let foreground = apps[index].state == .active || apps[index].state == .inactive
            seenBefore = scan.seen.contains(event.peripheral) && !(scan.allowDuplicates && foreground)
            namesServices = !scan.services.isEmpty
            apps[index].managers[slot].scan!.seen.insert(event.peripheral)
        }
        let face = observe(interest)
        let state = apps[index].state
        let results = BluetoothRules.evaluate(
            BluetoothQuestion(
                kind: event.kind,
                state: state,
                answerable: apps[index].managers[slot].attached,
                scanNamesServices: namesServices,
                firstSighting: !seenBefore,
                wanted: interest.wanted,
                rebootedSince: apps[index].rebootedSince
            ),
            of: face,
            by: profile
        )
        var (verdict, reason) = verdict(results, for: index)
        var rule = results.decisive?.rule ?? reason.rule
        var wouldHave = verdict
        if let decisive = results.decisive {
            var passed = results
            passed[decisive] = .pass
            wouldHave = self.verdict(passed, for: index).0
        }
        if restarted, !verdict.delivers {
            (verdict, reason, rule) = (.drop, .benchRestarted, Reason.benchRestarted.rule)
        }
        let decision = record(
            event,
            app: interest.client.app,
            verdict: verdict,
            reason: reason,
            rule: rule,
            checks: results,
            wouldHave: wouldHave,
            supersedes: supersedes,
            snapshot: face,
            into: &output
        )
        carryOut(verdict, of: event, decision: decision, for: interest.client, into: &output)
    }

    private func verdict(_ results: CheckResults, for index: Int) -> (Verdict, Reason) {
        if let decisive = results.decisive { return BluetoothRules.refusal(decisive, in: apps[index].state) }
        var launching = false
        if case .launching = apps[index].phase { launching = true }
        return BluetoothRules.acceptance(in: apps[index].state, launching: launching)
    }

    /// The observed values at the moment of the decision.
    private func observe(_ interest: Interest) -> AppSnapshot {
        let record = apps[Int(interest.client.app.number)]
        var face = record.face
        face.unlockedSinceBoot = unlockedSinceBoot
        face.unlockedAt = unlockedAt
        face.passcode = passcode
        face.bluetoothOn = bluetoothOn
        face.via = interest.via
        face.registeredAt = interest.since
        face.restoreIdentifier = record.managers[Int(interest.client.slot)].restoreIdentifier
        switch record.state {
        case .active, .inactive: break
        case .background:
            if let window = record.window {
                face.budgetLimit = window.ends.since(window.began)
                face.budgetUsed = now.since(window.began)
            } else {
                face.budgetLimit = profile.bluetoothWindow
            }
        case .suspended, .notRunning: face.budgetLimit = profile.bluetoothWindow
        }
        return face
    }

    private mutating func record(
        _ event: WakeEvent,
        app: AppID,
        verdict: Verdict,
        reason: Reason,
        rule: RuleID,
        checks: CheckResults,
        wouldHave: Verdict,
        supersedes: DecisionID,
        snapshot: AppSnapshot,
        into output: inout RouterOutput
    ) -> DecisionID {
        lastDecision += 1
        let id = DecisionID(lastDecision)
        output.decisions.append(
            Decision(
                id: id,
                at: now,
                event: event.id,
                kind: event.kind,
                subject: event.subject,
                origin: event.origin,
                parent: event.parent,
                app: app,
                verdict: verdict,
                reason: reason,
                rule: rule,
                checks: checks,
                wouldHave: wouldHave,
                supersedes: supersedes,
                snapshot: snapshot
            )
        )
        return id
    }

    /// An event that nobody registered for is one record (LAUNCH-6).
    private mutating func nobody(_ event: WakeEvent, into output: inout RouterOutput) {
        var checks = CheckResults()
        checks[.registered] = .fail
        var snapshot = AppSnapshot()
        snapshot.unlockedSinceBoot = unlockedSinceBoot
        snapshot.passcode = passcode
        snapshot.bluetoothOn = bluetoothOn
        _ = record(
            event,
            app: .none,
            verdict: .drop,
            reason: .noRegistration,
            rule: .launch6,
            checks: checks,
            wouldHave: .drop,
            supersedes: .none,
            snapshot: snapshot,
            into: &output
        )
    }

    // MARK: Carrying out

    private mutating func carryOut(
        _ verdict: Verdict,
        of event: WakeEvent,
        decision: DecisionID,
        for client: BluetoothClient,
        into output: inout RouterOutput
    ) {
        let index = Int(client.app.number)
        switch verdict {
        case .coalesce, .drop, .deny: return
        case .defer:
            enqueue(event, decision: decision, client: client, deferred: true, into: &output)
            return
        case .foregroundDeliver: break
        case .backgroundDeliver:
            if apps[index].window == nil { openWindow(client.app) }
        case .resume:
            move(client.app, to: .background, into: &output)
            apps[index].phase = .running
            openWindow(client.app)
            output.actions.append(.thaw(client.app))
            deliverDeferred(to: client.app, into: &output)
        case .relaunch:
            releaseManagers(of: client.app, into: &output) { $0.restoreIdentifier == .none }
            launch(client.app, as: .background, cause: event.id, decision: decision, into: &output)
            openWindow(client.app)
        }
        deliver(event, decision: decision, to: client, into: &output)
    }

    private mutating func openWindow(_ app: AppID) {
        apps[Int(app.number)].window = .init(began: now, ends: now.advanced(by: profile.bluetoothWindow))
    }

    /// Hands the event to every manager of the app that it is for; one that is not there yet gets it when it is.
    private mutating func deliver(
        _ event: WakeEvent,
        decision: DecisionID,
        to client: BluetoothClient,
        into output: inout RouterOutput
    ) {
        let index = Int(client.app.number)
        for slot in apps[index].managers.indices {
            let concerned =
                slot == Int(client.slot)
                || event.client == nil && apps[index].managers[slot].inUse
                    && concerns(event, BluetoothClient(app: client.app, slot: UInt16(slot)))
            guard concerned else { continue }
            if apps[index].managers[slot].attached {
                output.actions.append(
                    .deliver(client.app, manager: apps[index].managers[slot].number, event.id, decision)
                )
            } else {
                let waiting = BluetoothClient(app: client.app, slot: UInt16(slot))
                enqueue(event, decision: decision, client: waiting, deferred: false, into: &output)
            }
        }
    }

    private func concerns(_ event: WakeEvent, _ client: BluetoothClient) -> Bool {
        switch event.kind {
        case .bluetoothPoweredOn, .bluetoothPoweredOff: return true
        case .peripheralDiscovered: return interest(of: client, in: event) != nil
        case .peripheralConnected, .peripheralConnectionFailed, .peripheralDisconnected, .characteristicNotified,
            .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
            .valueRead, .valueWritten, .notificationStateChanged, .descriptorRead, .descriptorWritten,
            .signalStrengthRead, .nameChanged, .servicesModified, .readyToWrite:
            return link(of: client, to: event.peripheral).map { interest(of: $0, in: event) != nil } ?? false
        }
    }

    // MARK: Waiting

    private mutating func enqueue(
        _ event: WakeEvent,
        decision: DecisionID,
        client: BluetoothClient,
        deferred: Bool,
        into output: inout RouterOutput
    ) {
        let index = Int(client.app.number)
        if apps[index].waiting.count >= Self.waitingLimit {
            let oldest = apps[index].waiting.removeFirst()
            dismiss(oldest, of: client.app, reason: .overflow, into: &output)
        }
        output.actions.append(.keep(client.app, event.id))
        apps[index].waiting.append(
            .init(
                event: event.id,
                decision: decision,
                kind: event.kind,
                subject: event.subject,
                origin: event.origin,
                parent: event.parent,
                slot: client.slot,
                deferred: deferred
            )
        )
    }

    /// A waiting event will not reach the app; a deferred one gets its final verdict here.
    private mutating func dismiss(
        _ waiting: AppRecord.Waiting,
        of app: AppID,
        reason: Reason,
        into output: inout RouterOutput
    ) {
        if waiting.deferred {
            _ = recordLater(waiting, of: app, verdict: .drop, reason: reason, into: &output)
        }
        output.actions.append(.discard(app, waiting.event))
    }

    mutating func dropWaiting(of app: AppID, reason: Reason, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !apps[index].waiting.isEmpty else { return }
        let waiting = apps[index].waiting
        apps[index].waiting.removeAll()
        for item in waiting { dismiss(item, of: app, reason: reason, into: &output) }
    }

    /// The second, final record of an event that was deferred.
    private mutating func recordLater(
        _ waiting: AppRecord.Waiting,
        of app: AppID,
        verdict: Verdict,
        reason: Reason,
        into output: inout RouterOutput
    ) -> DecisionID {
        let client = BluetoothClient(app: app, slot: waiting.slot)
        var event = WakeEvent(
            kind: waiting.kind,
            subject: waiting.subject,
            origin: waiting.origin,
            parent: waiting.parent
        )
        event.id = waiting.event
        var checks = CheckResults()
        checks[.registered] = .pass
        return record(
            event,
            app: app,
            verdict: verdict,
            reason: reason,
            rule: reason.rule,
            checks: checks,
            wouldHave: verdict,
            supersedes: waiting.decision,
            snapshot: observe(Interest(client: client, via: .subscription, since: .zero)),
            into: &output
        )
    }

    /// The app runs: what was deferred for it is delivered, oldest first (BTC-2, LAUNCH-8).
    mutating func deliverDeferred(to app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].waiting.contains(where: \.deferred) else { return }
        let foreground = apps[index].state == .active || apps[index].state == .inactive
        for position in apps[index].waiting.indices where apps[index].waiting[position].deferred {
            apps[index].waiting[position].decision = recordLater(
                apps[index].waiting[position],
                of: app,
                verdict: foreground ? .foregroundDeliver : .backgroundDeliver,
                reason: .deliveredLater,
                into: &output
            )
            apps[index].waiting[position].deferred = false
        }
        for slot in apps[index].managers.indices where apps[index].managers[slot].attached {
            deliverWaiting(to: app, slot: slot, number: apps[index].managers[slot].number, into: &output)
        }
    }

    /// Hands over what waited for one manager.
    mutating func deliverWaiting(
        to app: AppID,
        slot: Int,
        number: ManagerNumber,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        for item in apps[index].waiting where !item.deferred && item.slot == UInt16(slot) {
            output.actions.append(.deliver(app, manager: number, item.event, item.decision))
            output.actions.append(.discard(app, item.event))
        }
        apps[index].waiting.removeAll { !$0.deferred && $0.slot == UInt16(slot) }
    }

    // MARK: Holding

    /// Keeps an event undecided until the process is frozen, or gone, or runs on.
    private mutating func hold(_ event: WakeEvent, for interest: Interest, into output: inout RouterOutput) {
        let index = Int(interest.client.app.number)
        if apps[index].held.count >= Self.waitingLimit {
            let oldest = apps[index].held.removeFirst()
            dropUndecided(oldest.event, of: interest.client.app, reason: .overflow, into: &output)
            output.actions.append(.discard(interest.client.app, oldest.event.id))
        }
        output.actions.append(.keep(interest.client.app, event.id))
        apps[index].held.append(.init(event: event, interest: interest))
    }

    private mutating func dropUndecided(
        _ event: WakeEvent,
        of app: AppID,
        reason: Reason,
        supersedes: DecisionID = .none,
        into output: inout RouterOutput
    ) {
        var checks = CheckResults()
        checks[.deliveryWanted] = .fail
        var snapshot = apps[Int(app.number)].face
        snapshot.bluetoothOn = bluetoothOn
        snapshot.unlockedSinceBoot = unlockedSinceBoot
        snapshot.passcode = passcode
        _ = record(
            event,
            app: app,
            verdict: .drop,
            reason: reason,
            rule: reason.rule,
            checks: checks,
            wouldHave: .drop,
            supersedes: supersedes,
            snapshot: snapshot,
            into: &output
        )
    }

    mutating func dropHeld(of app: AppID, into output: inout RouterOutput) {
        let held = apps[Int(app.number)].held
        apps[Int(app.number)].held.removeAll()
        for item in held {
            dropUndecided(item.event, of: app, reason: .appEnded, into: &output)
            output.actions.append(.discard(app, item.event.id))
        }
    }

    /// Decides what arrived meanwhile, in order.
    mutating func decideHeld(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !apps[index].held.isEmpty else { return }
        let held = apps[index].held
        apps[index].held.removeAll()
        for item in held {
            decide(item.event, for: item.interest, into: &output)
            output.actions.append(.discard(app, item.event.id))
        }
    }

    // MARK: After a restart of the bench

    /// Decides an unacknowledged delivery again; what the rules do not allow now is dropped as lost in the restart.
    mutating func redeliver(
        _ event: WakeEvent,
        to app: AppID,
        supersedes: DecisionID,
        into output: inout RouterOutput
    ) {
        guard let interest = preservedInterest(of: app, in: event) else {
            dropUndecided(event, of: app, reason: .benchRestarted, supersedes: supersedes, into: &output)
            return
        }
        decide(event, for: interest, supersedes: supersedes, restarted: true, into: &output)
    }

    private func preservedInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        let managers = apps[Int(app.number)].managers
        guard
            let slot = event.client.map({ Int($0.slot) })
                ?? managers.firstIndex(where: { $0.inUse && $0.peripherals.contains(event.peripheral) })
                ?? managers.firstIndex(where: \.inUse),
            slot < managers.count, managers[slot].inUse
        else { return nil }
        let client = BluetoothClient(app: app, slot: UInt16(slot))
        if var found = interest(of: client, in: event) {
            if found.via == .operation {
                // An undirected event comes to a subscription; an answer is for the process that asked.
                found.via = event.client == nil ? .subscription : .operation
                found.wanted = event.client == nil
            }
            return found
        }
        return Interest(client: client, via: .connection, since: managers[slot].createdAt)
    }
}
