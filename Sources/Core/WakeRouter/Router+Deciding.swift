import WakeModel

/// From an event and an app's interest to a verdict, and to what follows from it.
extension Router {
    /// ``decide(_:for:supersedes:restarted:)`` for an area.
    mutating func decide<A: Area>(
        _ event: WakeEvent,
        for interest: Interest,
        by area: A.Type,
        _ supersedes: DecisionID,
        _ restarted: Bool
    ) {
        let app = interest.app
        reached = true
        if isOverflowing {
            refuse(event, for: interest, by: area, .roomInQueues, isNew: true, supersedes: supersedes)
            return
        }
        if apps[app].holdsEvents {
            hold(.init(event: event, interest: interest, supersedes: supersedes, restarted: restarted))
            return
        }
        A.hear(.deciding, of: event, for: interest, in: &self)
        var interest = interest
        var record = Decision(on: event, for: app, supersedes: supersedes, at: now, showing: apps[app].snapshot)
        let (results, question) = A.judge(
            event,
            for: &interest,
            showing: &record.snapshot,
            restarted: restarted,
            isNew: false,
            in: &self
        )
        let ruling = ruling(on: results, question, launching: apps[app].isLaunching)
        let verdict = ruling.verdict
        let state = record.snapshot.state
        if restarted, !verdict.delivers, !A.keeps(event, for: app, self) {
            recordLoss(event, of: app, reason: .benchRestarted, supersedes, record.snapshot)
            A.lost(event, forWantOfRoom: false, in: &self)
            return
        }
        record.take(ruling, checks: results)
        let decision = nextDecision()
        record.id = decision
        output.decisions.append(record)
        A.hear(.recorded(verdict, state), of: event, for: interest, in: &self)
        if ruling.reason == .beforeFirstUnlock, A.waitsForUnlock(event, wouldHave: ruling.wouldHave) {
            keepForUnlock(event, for: interest, denied: decision)
        }
        carryOut(verdict, of: event, decision: decision, question, for: interest, by: area)
        A.hear(.carriedOut(verdict, ruling.reason), of: event, for: interest, in: &self)
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

    private mutating func ruling(
        on results: CheckResults,
        _ question: some AreaQuestion,
        launching: Bool
    ) -> Ruling {
        let (verdict, reason) = verdict(on: results, question, launching: launching)
        var ruling = Ruling(verdict, reason, wouldHave: verdict)
        if let decisive = results.decisive {
            ruling.rule = decisive.rule
            let passed = question.results(results, passing: decisive)
            ruling.wouldHave = self.verdict(on: passed, question, launching: launching).0
        }
        return ruling
    }

    private mutating func verdict(
        on results: CheckResults,
        _ question: some AreaQuestion,
        launching: Bool
    ) -> (Verdict, Reason) {
        guard let decisive = results.decisive else { return question.acceptance(launching: launching) }
        let (verdict, reason) = refusal(decisive, in: results, question)
        // What is lost does not wait.
        let isLost =
            results[.roomInQueues] == .fail || results[.lastsUntilDecided] == .fail || results[.deliveryWanted] == .fail
        return (verdict == .defer && isLost ? .drop : verdict, reason)
    }

    private mutating func refusal(
        _ decisive: Check,
        in results: CheckResults,
        _ question: some AreaQuestion
    ) -> (Verdict, Reason) {
        switch decisive {
        case .roomInQueues: (.drop, .overflow)
        case .lastsUntilDecided: (.drop, .appEnded)
        case .deliveryWanted: (.drop, .registrationEnded)
        case .notForceQuit: (.deny, .forceQuit)
        case .unlockedSinceBoot: (.deny, .beforeFirstUnlock)
        case .runsInBackground: (.deny, .exitsOnSuspend)
        case .phoneIsOn: (.deny, .phoneIsOff)
        default: question.refusal(decisive, in: results)
        }
    }

    /// Adds to what is observed of the app all that is observed at the moment of the decision, but for what only the area of
    /// the interest observes.
    ///
    /// - Parameter limit: The window that the event would begin.
    @inline(__always)
    mutating func observe(_ interest: Interest, in snapshot: inout AppSnapshot, window limit: Instant.Span) {
        let app = interest.app
        observePhone(&snapshot)
        snapshot.via = interest.via
        snapshot.registeredAt = interest.since
        switch snapshot.state {
        case .active, .inactive: break
        case .background:
            if let window = apps[app].window(at: now) {
                // One that a debugger exempts has no limit to show (SYS-5).
                guard window.ends < .distantFuture else { break }
                snapshot.budgetLimit = window.ends.since(window.began)
                snapshot.budgetUsed = now.since(window.began)
            } else {
                snapshot.budgetLimit = limit
            }
        case .suspended, .notRunning: snapshot.budgetLimit = limit
        }
    }

    @inline(__always)
    mutating func observePhone(_ snapshot: inout AppSnapshot) {
        snapshot.unlockedSinceBoot = unlockedSinceBoot
        snapshot.unlockedAt = unlockedAt
        snapshot.passcode = passcode
        snapshot.conditions = conditions
        areas.show(in: &snapshot)
    }

    // MARK: Recording

    mutating func record(
        _ event: WakeEvent,
        app: AppID,
        _ ruling: Ruling,
        checks: CheckResults,
        supersedes: DecisionID,
        snapshot: AppSnapshot
    ) -> DecisionID {
        var record = Decision(on: event, for: app, supersedes: supersedes, at: now, showing: snapshot)
        record.take(ruling, checks: checks)
        record.id = nextDecision()
        output.decisions.append(record)
        return record.id
    }

    @inline(__always)
    private mutating func nextDecision() -> DecisionID {
        lastDecision += 1
        return DecisionID(lastDecision)
    }

    /// An event that nobody registered for is one record (LAUNCH-6), and so is one that was lost before anybody heard of it.
    mutating func nobody(_ event: WakeEvent, supersedes: DecisionID = .none) {
        reached = true
        var checks = CheckResults()
        checks[isOverflowing ? .roomInQueues : .anyoneRegistered] = .fail
        recordUnaddressed(
            event,
            Ruling(.drop, isOverflowing ? .overflow : .noRegistration),
            checks: checks,
            supersedes: supersedes
        )
    }

    /// A record about no app.
    mutating func recordUnaddressed(
        _ event: WakeEvent,
        _ ruling: Ruling,
        checks: CheckResults,
        supersedes: DecisionID = .none
    ) {
        var snapshot = AppSnapshot()
        observePhone(&snapshot)
        _ = record(event, app: .none, ruling, checks: checks, supersedes: supersedes, snapshot: snapshot)
    }

    /// An event that is lost before its app can get it: all that the rules ask is asked, and one thing more, which fails.
    mutating func refuse<A: Area>(
        _ event: WakeEvent,
        for interest: Interest,
        by area: A.Type,
        _ check: Check,
        isNew: Bool = false,
        supersedes: DecisionID
    ) {
        var interest = interest
        var snapshot = apps[interest.app].snapshot
        var (results, question) = A.judge(
            event,
            for: &interest,
            showing: &snapshot,
            restarted: false,
            isNew: isNew,
            in: &self
        )
        results[check] = .fail
        A.lost(event, forWantOfRoom: check == .roomInQueues, in: &self)
        _ = record(
            event,
            app: interest.app,
            ruling(on: results, question, launching: apps[interest.app].isLaunching),
            checks: results,
            supersedes: supersedes,
            snapshot: snapshot
        )
    }

    /// An event of an app that wants nothing of it any more: there is no more to ask (BT-1).
    mutating func refuseUnregistered(_ event: WakeEvent, of app: AppID, supersedes: DecisionID) {
        area(of: event.kind.source).lost(event, forWantOfRoom: false, in: &self)
        var checks = CheckResults()
        checks[.deliveryWanted] = .fail
        var snapshot = apps[app].snapshot
        observePhone(&snapshot)
        _ = record(
            event,
            app: app,
            Ruling(.drop, .registrationEnded),
            checks: checks,
            supersedes: supersedes,
            snapshot: snapshot
        )
    }

    /// The end of a record: what was decided does not reach the app. Nothing is asked again.
    mutating func recordLoss(
        _ event: WakeEvent,
        of app: AppID,
        verdict: Verdict = .drop,
        reason: Reason,
        _ supersedes: DecisionID,
        _ snapshot: AppSnapshot
    ) {
        _ = record(
            event,
            app: app,
            Ruling(verdict, reason),
            checks: CheckResults(),
            supersedes: supersedes,
            snapshot: snapshot
        )
    }

    // MARK: Carrying out

    private mutating func carryOut<A: Area>(
        _ verdict: Verdict,
        of event: WakeEvent,
        decision: DecisionID,
        _ question: A.Question,
        for interest: Interest,
        by area: A.Type
    ) {
        let app = interest.app
        switch verdict {
        case .coalesce, .drop, .deny:
            A.lost(event, forWantOfRoom: false, in: &self)
            return
        case .defer:
            A.hear(.deferring, of: event, for: interest, in: &self)
            if A.keeps(event, for: interest, decision: decision, in: &self) { return }
            enqueue(event, for: interest, decision: decision, deferred: true)
            return
        case .foregroundDeliver: break
        case .backgroundDeliver:
            // A source whose mode is missing does not keep the app running (MODE-2).
            if question.keepsRunning(apps[app].snapshot.modes) {
                apps[app].openAnotherWindow(
                    A.window(constants),
                    isAnswered: question.isAnswered,
                    at: now,
                    extends: profile.wakeWindow == .each,
                    taskBudget: profile.taskBudget
                )
            }
        case .resume:
            enter(.background, app)
            apps[app].openWindow(A.window(constants), isAnswered: question.isAnswered, at: now)
            act(.thaw(app))
            deliverDeferred(to: app)
        case .relaunch:
            launch(app, as: .background, cause: event.id, decision: decision, for: interest)
            apps[app].openWindow(A.window(constants), isAnswered: question.isAnswered, at: now)
        }
        deliver(event, decision: decision, for: interest, by: area)
    }

    /// Hands the event to every manager of the app that it is for; one that is not there yet gets it when it is.
    private mutating func deliver<A: Area>(
        _ event: WakeEvent,
        decision: DecisionID,
        for interest: Interest,
        by area: A.Type
    ) {
        let app = interest.app
        var absent = interest
        absent.slots = SlotSet()
        var delivered = false
        for slot in interest.slots {
            if let number = A.managerNumber(slot, of: app, in: &self) {
                delivered = true
                let reconnects = A.reconnects(number, of: app, after: event, in: &self)
                act(.deliver(app, manager: number, event.id, decision, reconnects: reconnects))
                A.hear(.delivered, of: event, for: interest, in: &self)
            } else if A.expectsManager(slot, of: app, in: &self) {
                absent.slots.insert(UInt16(slot))
            }
        }
        guard !absent.slots.isEmpty else { return }
        enqueue(event, for: absent, decision: decision, deferred: false, undelivered: !delivered)
    }
}

extension Decision {
    /// The record of an event that nothing is decided about yet.
    @inline(__always)
    fileprivate init(
        on event: WakeEvent,
        for app: AppID,
        supersedes: DecisionID,
        at now: Instant,
        showing snapshot: AppSnapshot
    ) {
        self.init(
            id: .none,
            at: now,
            event: event.id,
            kind: event.kind,
            subject: event.subject,
            origin: event.origin,
            parent: event.parent,
            app: app,
            verdict: .drop,
            reason: .noRegistration,
            rule: .launch6,
            checks: CheckResults(),
            wouldHave: nil,
            supersedes: supersedes,
            snapshot: snapshot
        )
    }

    @inline(__always)
    fileprivate mutating func take(_ ruling: Router.Ruling, checks results: CheckResults) {
        verdict = ruling.verdict
        reason = ruling.reason
        rule = ruling.rule
        wouldHave = ruling.wouldHave
        checks = results
    }
}
