import WakeModel
import WakePorts
import WakeReports
import WakeRouter
import WakeSystem

/// What happens on a phone, for those who follow it and those who wait for something.
extension LivePhone {
    /// What whoever follows a phone hears.
    enum News {
        /// A record of `wake.decision/2` with what came with its event, and the number of its decision.
        case decision(DecisionID, [UInt8])
        /// What is no decision: what the user, the phone or a process did, and notes.
        case row(Timeline.Row)
        /// An app went from a state to another.
        case move(Move)
    }

    struct Move {
        /// Its bundle identifier.
        var app: String
        var at: Instant
        var from: AppState
        var to: AppState
        var pid: Int32
        /// Why its process ended, where it has none any more.
        var cause: ExitCause?
    }

    /// What somebody waits for, and what came meanwhile.
    struct Waiter {
        var token: UInt64
        /// The last decision before.
        var since: DecisionID
        var until: (LivePhone) -> Bool
        /// On the monotonic clock in nanoseconds.
        var deadline: Int64
        var meanwhile = Meanwhile()
        /// Told what came meanwhile, and whether it came about in time.
        var done: (_ meanwhile: Meanwhile, _ cameAbout: Bool) -> Void
    }

    /// What tells one question about a wake from another.
    struct EventShape: Hashable {
        var kind: EventKind
        var subject: NameID
        var app: AppID?
    }

    private static func keep(_ event: WakeEvent, in events: inout [EventShape: WakeEvent]) {
        let shape = EventShape(kind: event.kind, subject: event.subject, app: event.app)
        if events[shape] != nil || events.count < mostEvents { events[shape] = event }
    }

    /// Takes the events from before the phone was switched on, as far as its journal has them, when the first question about any
    /// comes.
    func recallEvents() throws(CommandFailure) {
        guard !knowsEarlierEvents else { return }
        var earlier: [EventShape: WakeEvent] = [:]
        do throws(JournalError) {
            try run.bench.commit()
            try run.journal.allInputs { (input) throws(JournalError) in
                guard var event = input.input.reported else { return }
                event.id = input.id
                Self.keep(event, in: &earlier)
            }
        } catch {
            throw CommandFailure(error)
        }
        lastEvents.merge(earlier) { newer, _ in newer }
        knowsEarlierEvents = true
    }

    /// The most events that are remembered to be asked about.
    private static let mostEvents = 10_000

    private var isListenedTo: Bool { news != nil || !waiters.isEmpty || given.hasOpen }

    /// Has the run tell what happens beside decisions as long as somebody listens.
    func tune() {
        guard (run.follow != nil) != isListenedTo else { return }
        run.follow = isListenedTo ? { [unowned self] in hear($0) } : nil
    }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        if let event = item.input.reported { Self.keep(event, in: &lastEvents) }
        for decision in output.decisions where decision.app != .none { lastDecisions[decision.app] = decision }
        // What a journal is read back to was told before.
        if isListenedTo, !run.bench.replaying {
            for decision in output.decisions { uncommitted.append((decision, value(of: decision, item))) }
        } else {
            deferred.removeAll()
            if let last = output.decisions.last { recent.forget(through: last.id) }
        }
        if news != nil { gatherMoves(output, at: now) }
    }

    /// What came with the event of a decision, also where that is decided again, as the logs tell it.
    private func value(of decision: Decision, _ item: InboxItem) -> String? {
        let value = item.value(for: decision) ?? deferred.removeValue(forKey: decision.supersedes)
        if decision.verdict == .defer, let value { deferred[decision.id] = value }
        return value
    }

    private func gatherMoves(_ output: RouterOutput, at now: Instant) {
        var causes: [AppID: ExitCause] = [:]
        for action in output.actions {
            if case .exited(let record) = action { causes[record.app] = record.cause }
        }
        for action in output.actions {
            guard case .moved(let app, let from, let to) = action else { continue }
            let number = Int(app.number)
            let move = Move(
                app: run.bundle(ofApp: number),
                at: now,
                from: from,
                to: to,
                pid: to == .notRunning ? 0 : run.recorder.pid(of: number),
                cause: to == .notRunning ? causes[app] : nil
            )
            moves.append(move)
        }
    }

    func committed() {
        hasCommitted = true
        defer {
            for move in moves { news?(.move(move)) }
            moves.removeAll(keepingCapacity: true)
        }
        guard !uncommitted.isEmpty else { return }
        let decisions = uncommitted
        uncommitted.removeAll(keepingCapacity: true)
        let records = zip(decisions, writer.records(of: decisions.map { $0.decision })).map { each, record in
            RecordValue.adding(each.value, to: record)
        }
        for (each, record) in zip(decisions, records) {
            recent.add(each.decision.id, record)
            for place in waiters.indices where each.decision.id > waiters[place].since {
                waiters[place].meanwhile.add(record: record)
            }
        }
        guard let news else { return }
        for (each, record) in zip(decisions, records) { news(.decision(each.decision.id, record)) }
    }

    private func hear(_ row: Timeline.Row) {
        guard !row.isDecision else { return }
        news?(.row(row))
        guard !waiters.isEmpty || given.hasOpen else { return }
        for place in waiters.indices { waiters[place].meanwhile.add(row) }
        given.add(row)
    }

    // MARK: Waiting

    func serveWaiters() {
        guard !waiters.isEmpty else { return }
        let now = MonotonicClock.now()
        // Whoever is told may wait for something else.
        let before = waiters
        waiters = []
        for waiter in before {
            let cameAbout = waiter.until(self)
            if cameAbout || waiter.deadline <= now {
                waiter.done(waiter.meanwhile, cameAbout)
            } else {
                waiters.append(waiter)
            }
        }
        tune()
    }

    /// Keeps what is decided from now on, until ``finish(_:until:within:_:)`` or ``forget(_:)``.
    func listen() -> UInt64 {
        lastToken += 1
        waiters.append(
            Waiter(
                token: lastToken,
                since: lastDecision,
                until: { _ in false },
                deadline: .max,
                done: { _, _ in }
            )
        )
        tune()
        return lastToken
    }

    func forget(_ token: UInt64) {
        waiters.removeAll { $0.token == token }
        tune()
    }

    /// Waits until something is so, for so many nanoseconds at most, and tells what came since ``listen()``.
    func finish(
        _ token: UInt64,
        until isSo: @escaping (LivePhone) -> Bool,
        within limit: Int64,
        _ done: @escaping (Meanwhile, Bool) -> Void
    ) {
        guard let place = waiters.firstIndex(where: { $0.token == token }) else { return }
        waiters[place].until = isSo
        waiters[place].deadline = Self.deadline(after: limit)
        waiters[place].done = done
        turn()
    }

    /// On the monotonic clock in nanoseconds.
    static func deadline(after limit: Int64) -> Int64 {
        let deadline = MonotonicClock.now().addingReportingOverflow(limit)
        return deadline.overflow ? .max : deadline.partialValue
    }
}

extension Timeline.Row {
    /// Whether it shows a decision.
    fileprivate var isDecision: Bool { verdict != "-" }
}
