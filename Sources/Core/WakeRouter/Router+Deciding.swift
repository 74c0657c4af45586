import WakeModel

/// From an event and an app's interest to a verdict, and to what follows from it.
extension Router {
    /// Gives one app its verdict on an event and starts what follows from it.
    ///
    /// - Parameters:
    ///   - supersedes: An earlier record of the same event for the same app.
    ///   - restarted: The event was on its way to the app when the bench died: what is not delivered now is lost.
    mutating func decide(
        _ event: WakeEvent,
        for interest: Interest,
        supersedes: DecisionID = .none,
        restarted: Bool = false,
        into output: inout RouterOutput
    ) {
        let index = Int(interest.client.app.number)
        reached = true
        if isOverflowing {
            refuse(event, for: interest, failing: .roomInQueues, isNew: true, supersedes: supersedes, into: &output)
            return
        }
        switch apps[index].phase {
        case .freezing, .ending:
            hold(
                .init(event: event, interest: interest, supersedes: supersedes, restarted: restarted),
                into: &output
            )
            return
        case .resting, .launching, .running, .leaving: break
        }
        if apps[index].face.locationAuthorization == .provisionalAlways {
            askForAlways(event, interest, into: &output)
        }
        var interest = interest
        let (face, results, role) = judge(event, for: &interest, restarted: restarted)
        let ruling = ruling(on: results, for: index, in: role)
        let verdict = ruling.verdict
        if restarted, !verdict.delivers {
            recordLoss(event, of: interest.client.app, reason: .benchRestarted, supersedes, face, into: &output)
            refuseRequest(of: event, AttributeError.unlikely, into: &output)
            return
        }
        let decision = record(
            event,
            app: interest.client.app,
            ruling,
            checks: results,
            supersedes: supersedes,
            snapshot: face,
            into: &output
        )
        if face.state == .suspended, interest.via.source == .bluetooth {
            showAlert(of: event, to: interest, into: &output)
        }
        if event.kind == .peripheralDiscovered { noteSighting(of: event.peripheral, by: interest, verdict) }
        if ruling.reason == .beforeFirstUnlock,
            interest.via.source == .bluetooth || ruling.wouldHave?.delivers == true
        {
            keepForUnlock(event, for: interest, denied: decision, into: &output)
        }
        carryOut(verdict, of: event, decision: decision, in: role, for: interest, into: &output)
        if event.kind == .positionFixed, verdict.delivers { noteUpdate(event, for: interest, into: &output) }
        if event.kind == .significantChange, verdict.delivers { noteChange(event, of: interest.client.app) }
        if case .voip = role { noteCall(event, verdict, ruling.reason, of: interest.client.app, into: &output) }
    }

    /// The role in which an app hears of an event.
    private enum Role {
        case central(liftsForceQuit: Bool)
        case peripheral(EventKind)
        case location(LocationQuestion)
        case audio(AudioQuestion)
        case accessory(AccessoryQuestion)
        case voip(VoIPQuestion)
    }

    /// Puts the questions of the source. Leaves in the interest the managers that the event counts for.
    ///
    /// - Parameter isNew: The request of a central, if it is one, has not been taken down: it waits for an answer all the same.
    private func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        restarted: Bool,
        isNew: Bool = false
    ) -> (AppSnapshot, CheckResults, Role) {
        let index = Int(interest.client.app.number)
        switch interest.via.source {
        case .location:
            let (face, question) = lookAtLocation(event, for: &interest)
            return (face, LocationRules.evaluate(question, of: face, by: profile), .location(question))
        case .audio:
            let face = observe(interest)
            let question = soundQuestion(of: interest.client.app, event)
            return (face, AudioRules.evaluate(question, of: face, by: profile), .audio(question))
        case .accessory:
            let question = accessoryQuestion(of: interest, event)
            let face = observe(interest)
            return (face, AccessoryRules.evaluate(question, of: face, by: profile), .accessory(question))
        case .voip:
            let question = question(of: interest, event)
            var face = observe(interest)
            face.voipWakes = question.wakes
            face.voipWakeLimitLifted = profile.voipWakeLimit == nil
            return (face, VoIPRules.evaluate(question, of: face, by: profile), .voip(question))
        default:
            break
        }
        if apps[index].managers[Int(interest.client.slot)].local != nil {
            let face = observe(interest)
            let question = PeripheralQuestion(
                kind: event.kind,
                state: face.state,
                wanted: interest.wanted && (isNew || isAwaited(event))
            )
            return (face, PeripheralRules.evaluate(question, of: face, by: profile), .peripheral(event.kind))
        }
        let sighting =
            event.kind == .peripheralDiscovered ? sight(event.peripheral, by: &interest, again: restarted) : .none
        var face = observe(interest)
        face.scanServices = UInt16(clamping: sighting.services)
        face.endedByReboot = event.kind == .peripheralDisconnected && event.parent != .none
        if !apps[index].accessoriesSetUp.isEmpty { noteSetUp(event, for: interest.client, &face) }
        let question = BluetoothQuestion(
            kind: event.kind,
            state: face.state,
            scanNamesServices: sighting.services > 0,
            firstSighting: sighting.first,
            wanted: interest.wanted
        )
        let results = BluetoothRules.evaluate(question, of: face, by: profile)
        return (face, results, .central(liftsForceQuit: face.forceQuitLifted))
    }

    /// What the rules of Core Location look at.
    func lookAtLocation(_ event: WakeEvent, for interest: inout Interest) -> (AppSnapshot, LocationQuestion) {
        var question = question(of: &interest, event)
        var face = observe(interest)
        face.beganInForeground = question.beganInForeground
        face.filterChord = question.filterChord
        face.movedSquare = question.movedSquare
        question.liftsForceQuit = LocationRules.liftsForceQuit(question, of: face, by: profile)
        face.forceQuitLifted = question.liftsForceQuit
        question.couldBeGiven = LocationRules.couldBeGiven(question, of: face, by: profile)
        return (face, question)
    }

    /// What a decision says beside its checks.
    struct Ruling {
        var verdict: Verdict
        var reason: Reason
        var rule: RuleID
        var wouldHave: Verdict?

        /// Without telling what would have been.
        init(_ verdict: Verdict, _ reason: Reason, wouldHave: Verdict? = nil) {
            self.verdict = verdict
            self.reason = reason
            self.rule = reason.rule
            self.wouldHave = wouldHave
        }
    }

    private func ruling(on results: CheckResults, for index: Int, in role: Role) -> Ruling {
        let (verdict, reason) = verdict(on: results, for: index, in: role)
        var ruling = Ruling(verdict, reason, wouldHave: verdict)
        if let decisive = results.decisive {
            ruling.rule = decisive.rule
            var passed = results
            passed[decisive] = .pass
            ruling.wouldHave = self.verdict(on: passed, for: index, in: role).0
        }
        return ruling
    }

    private func verdict(on results: CheckResults, for index: Int, in role: Role) -> (Verdict, Reason) {
        guard let decisive = results.decisive else { return acceptance(for: index, in: role) }
        let (verdict, reason) = refusal(decisive, in: results, state: apps[index].state, role)
        // What is lost does not wait.
        let isLost =
            results[.roomInQueues] == .fail || results[.lastsUntilDecided] == .fail || results[.deliveryWanted] == .fail
        return (verdict == .defer && isLost ? .drop : verdict, reason)
    }

    private func refusal(_ decisive: Check, in results: CheckResults, state: AppState, _ role: Role)
        -> (Verdict, Reason)
    {
        switch decisive {
        case .roomInQueues: return (.drop, .overflow)
        case .lastsUntilDecided: return (.drop, .appEnded)
        case .deliveryWanted: return (.drop, .registrationEnded)
        default: break
        }
        return switch role {
        case .central: BluetoothRules.refusal(decisive, in: results, state: state)
        case .peripheral(let kind): PeripheralRules.refusal(decisive, in: results, of: kind, state: state)
        case .location: LocationRules.refusal(decisive, in: results, state: state)
        case .audio: AudioRules.refusal(decisive, state: state)
        case .accessory: AccessoryRules.refusal(decisive, state: state)
        case .voip: VoIPRules.refusal(decisive)
        }
    }

    private func acceptance(for index: Int, in role: Role) -> (Verdict, Reason) {
        let state = apps[index].state
        var launching = false
        if case .launching = apps[index].phase { launching = true }
        return switch role {
        case .central(liftsForceQuit: true): (.relaunch, .relaunchedForAccessory)
        case .central, .peripheral: BluetoothRules.acceptance(in: state, launching: launching)
        case .location(let question): LocationRules.acceptance(of: question, launching: launching)
        case .audio(let question): AudioRules.acceptance(of: question, launching: launching)
        case .accessory(let question): AccessoryRules.acceptance(question, launching: launching)
        case .voip(let question): VoIPRules.acceptance(of: question, in: state, launching: launching)
        }
    }

    /// The observed values at the moment of the decision.
    func observe(_ interest: Interest) -> AppSnapshot {
        let index = Int(interest.client.app.number)
        var face = apps[index].face
        observePhone(&face)
        face.via = interest.via
        face.registeredAt = interest.since
        if interest.via.source == .bluetooth {
            face.restoreIdentifier = apps[index].managers[Int(interest.client.slot)].restoreIdentifier
        }
        let limit = wakeWindow(of: interest.via.source)
        switch face.state {
        case .active, .inactive: break
        case .background:
            if let window = apps[index].window(at: now) {
                face.budgetLimit = window.ends.since(window.began)
                face.budgetUsed = now.since(window.began)
            } else {
                face.budgetLimit = limit
            }
        case .suspended, .notRunning: face.budgetLimit = limit
        }
        return face
    }

    func observePhone(_ face: inout AppSnapshot) {
        face.unlockedSinceBoot = unlockedSinceBoot
        face.unlockedAt = unlockedAt
        face.passcode = passcode
        face.bluetoothOn = bluetoothOn
    }

    // MARK: Recording

    mutating func record(
        _ event: WakeEvent,
        app: AppID,
        _ ruling: Ruling,
        checks: CheckResults,
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
                verdict: ruling.verdict,
                reason: ruling.reason,
                rule: ruling.rule,
                checks: checks,
                wouldHave: ruling.wouldHave,
                supersedes: supersedes,
                snapshot: snapshot
            )
        )
        return id
    }

    /// An event that nobody registered for is one record (LAUNCH-6), and so is one that was lost before anybody heard of it.
    mutating func nobody(
        _ event: WakeEvent,
        supersedes: DecisionID = .none,
        into output: inout RouterOutput
    ) {
        var checks = CheckResults()
        checks[isOverflowing ? .roomInQueues : .anyoneRegistered] = .fail
        recordUnaddressed(
            event,
            Ruling(.drop, isOverflowing ? .overflow : .noRegistration),
            checks: checks,
            supersedes: supersedes,
            into: &output
        )
    }

    /// A record about no app.
    mutating func recordUnaddressed(
        _ event: WakeEvent,
        _ ruling: Ruling,
        checks: CheckResults,
        supersedes: DecisionID = .none,
        into output: inout RouterOutput
    ) {
        var snapshot = AppSnapshot()
        observePhone(&snapshot)
        _ = record(
            event,
            app: .none,
            ruling,
            checks: checks,
            supersedes: supersedes,
            snapshot: snapshot,
            into: &output
        )
    }

    /// An event that is lost before its app can get it: all that the rules ask is asked, and one thing more, which fails.
    mutating func refuse(
        _ event: WakeEvent,
        for interest: Interest,
        failing check: Check,
        isNew: Bool = false,
        supersedes: DecisionID,
        into output: inout RouterOutput
    ) {
        var interest = interest
        var (face, results, role) = judge(event, for: &interest, restarted: false, isNew: isNew)
        results[check] = .fail
        refuseRequest(
            of: event,
            check == .roomInQueues ? AttributeError.insufficientResources : AttributeError.unlikely,
            into: &output
        )
        _ = record(
            event,
            app: interest.client.app,
            ruling(on: results, for: Int(interest.client.app.number), in: role),
            checks: results,
            supersedes: supersedes,
            snapshot: face,
            into: &output
        )
    }

    /// An event of an app that wants nothing of it any more: there is no more to ask (BT-1).
    mutating func refuseUnregistered(
        _ event: WakeEvent,
        of app: AppID,
        supersedes: DecisionID,
        into output: inout RouterOutput
    ) {
        refuseRequest(of: event, AttributeError.unlikely, into: &output)
        var checks = CheckResults()
        checks[.deliveryWanted] = .fail
        var snapshot = apps[Int(app.number)].face
        observePhone(&snapshot)
        _ = record(
            event,
            app: app,
            Ruling(.drop, .registrationEnded),
            checks: checks,
            supersedes: supersedes,
            snapshot: snapshot,
            into: &output
        )
    }

    /// The end of a record: what was decided does not reach the app. Nothing is asked again.
    mutating func recordLoss(
        _ event: WakeEvent,
        of app: AppID,
        verdict: Verdict = .drop,
        reason: Reason,
        _ supersedes: DecisionID,
        _ snapshot: AppSnapshot,
        into output: inout RouterOutput
    ) {
        _ = record(
            event,
            app: app,
            Ruling(verdict, reason),
            checks: CheckResults(),
            supersedes: supersedes,
            snapshot: snapshot,
            into: &output
        )
    }

    // MARK: Sightings

    /// What the scans of an app make of a sighting (BTC-3, BTC-4).
    private struct Sighting {
        /// How many services the scan names.
        var services: Int
        var first: Bool

        static let none = Sighting(services: 0, first: true)
    }

    /// Looks which scans of the app count the sighting, and leaves those in the interest; when none does, the first
    /// scan stands for all. A sighting that was lost with the bench counts as the first again.
    private func sight(_ peripheral: NameID, by interest: inout Interest, again: Bool) -> Sighting {
        let index = Int(interest.client.app.number)
        let foreground = apps[index].state == .active || apps[index].state == .inactive
        var counting = SlotSet()
        var sighting = Sighting.none
        for slot in interest.slots {
            guard let scan = apps[index].managers[slot].scan else { continue }
            let names = !scan.services.isEmpty
            let first = again || !scan.seen.contains(peripheral) || scan.allowDuplicates && foreground
            if first, names || foreground {
                counting.insert(UInt16(slot))
            } else if slot == Int(interest.client.slot) {
                sighting = Sighting(services: scan.services.count, first: first)
            }
        }
        guard !counting.isEmpty else { return sighting }
        if !counting.contains(Int(interest.client.slot)) {
            interest.client.slot = counting.lowest
        }
        interest.slots = counting
        return Sighting(
            services: apps[index].managers[Int(interest.client.slot)].scan?.services.count ?? 0,
            first: true
        )
    }

    /// A sighting that the app hears of counts for the scans it went to; one that was denied is to be made again.
    private mutating func noteSighting(of peripheral: NameID, by interest: Interest, _ verdict: Verdict) {
        let index = Int(interest.client.app.number)
        for slot in interest.slots where apps[index].managers[slot].scan != nil {
            if verdict.delivers || verdict == .defer {
                apps[index].managers[slot].scan!.seen.insert(peripheral)
            } else if verdict == .deny {
                apps[index].managers[slot].scan!.missed = true
            }
        }
    }

    // MARK: Carrying out

    private mutating func carryOut(
        _ verdict: Verdict,
        of event: WakeEvent,
        decision: DecisionID,
        in role: Role,
        for interest: Interest,
        into output: inout RouterOutput
    ) {
        let app = interest.client.app
        let index = Int(app.number)
        let window = wakeWindow(of: interest.via.source)
        switch verdict {
        case .coalesce, .drop, .deny:
            refuseRequest(of: event, AttributeError.unlikely, into: &output)
            return
        case .defer:
            enqueue(event, for: interest, decision: decision, deferred: true, into: &output)
            return
        case .foregroundDeliver: break
        case .backgroundDeliver:
            // A source whose mode is missing does not keep the app running (MODE-2).
            if keepsRunning(event, in: role, for: index) { openAnotherWindow(app, window) }
        case .resume:
            move(app, to: .background, into: &output)
            apps[index].phase = .running
            openWindow(app, window)
            output.actions.append(.thaw(app))
            deliverDeferred(to: app, into: &output)
        case .relaunch:
            releaseManagers(of: app, into: &output) { $0.restoreIdentifier == .none }
            launch(app, as: .background, cause: event.id, decision: decision, into: &output)
            openWindow(app, window)
        }
        deliver(event, decision: decision, for: interest, into: &output)
    }

    /// Whether an event of a running app has its source's mode, and is one that would wake the app.
    private func keepsRunning(_ event: WakeEvent, in role: Role, for index: Int) -> Bool {
        let modes = apps[index].face.modes
        return switch role {
        case .central: modes.contains(.bluetoothCentral)
        case .peripheral: modes.contains(.bluetoothPeripheral) && PeripheralRules.isRequest(event.kind)
        case .location(let question): LocationRules.keepsRunning(question, modes: modes)
        case .audio(let question): AudioRules.keepsRunning(question, modes: modes)
        case .accessory(let question): modes.contains(.externalAccessory) && AccessoryRules.wakes(question.kind)
        case .voip: watchesSockets(index) && modes.contains(.voip)
        }
    }

    /// How long an event of a source lets an app run.
    private func wakeWindow(of source: Source) -> Instant.Span {
        switch source {
        case .location: profile.locationWindow
        case .audio: profile.audioWindow
        case .accessory: profile.accessoryWindow
        case .voip: profile.voipWindow
        default: profile.bluetoothWindow
        }
    }

    private mutating func openWindow(_ app: AppID, _ window: Instant.Span) {
        apps[Int(app.number)].window = .init(began: now, ends: now.advanced(by: window))
    }

    /// A window beside those that a running app has: it runs until the last one ends (LIFE-11).
    private mutating func openAnotherWindow(_ app: AppID, _ window: Instant.Span) {
        let index = Int(app.number)
        guard let open = apps[index].window(at: now) else {
            openWindow(app, window)
            return
        }
        let ends = now.advanced(by: window)
        guard profile.wakeWindow == .each, ends > open.ends else { return }
        if apps[index].taskBudgetEnds == open.ends.advanced(by: profile.taskBudget) {
            // The tasks began inside the wake, whose end moves away (TASK-8).
            apps[index].taskBudgetEnds = ends.advanced(by: profile.taskBudget)
        }
        apps[index].window!.ends = ends
    }

    /// Hands the event to every manager of the app that it is for; one that is not there yet gets it when it is.
    private mutating func deliver(
        _ event: WakeEvent,
        decision: DecisionID,
        for interest: Interest,
        into output: inout RouterOutput
    ) {
        let app = interest.client.app
        let index = Int(app.number)
        var absent = interest
        absent.slots = SlotSet()
        var delivered = false
        for slot in interest.slots {
            if let number = managerNumber(slot, interest.via, of: index) {
                delivered = true
                noteDelivery(of: event)
                output.actions.append(.deliver(app, manager: number, event.id, decision))
                noteSessionDelivery(of: event, to: app)
            } else if expectsManager(slot, interest.via, of: index) {
                absent.slots.insert(UInt16(slot))
            }
        }
        guard !absent.slots.isEmpty else { return }
        enqueue(event, for: absent, decision: decision, deferred: false, undelivered: !delivered, into: &output)
    }
}
