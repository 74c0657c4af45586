import WakeJournal
import WakeModel
import WakePorts
import WakeRouter

/// Recovery after a crash: from the latest snapshot and the inputs after it.
extension Bench {
    /// The names that the journal holds already.
    package func adoptNames(_ count: Int) {
        ledger.adoptNames(count)
    }

    /// From now on inputs come from a journal, until ``endReplay(unacknowledged:events:origin:)``.
    package func beginReplay() { replaying = true }

    /// Takes an input that was accepted before the bench died through the router again. The sources that can be brought back
    /// to where they were hear the commands that follow from it.
    package func replay(_ journaled: JournaledInput) {
        replaying = true
        now = journaled.at
        sequence = journaled.sequence
        for source in sources where source.isReplayed { source.timeReached(now) }
        if let accepted = unheard.firstIndex(where: { $0.became(journaled) }) { unheard.remove(at: accepted) }
        let item = InboxItem(
            input: journaled.input,
            payload: journaled.payload,
            origin: journaled.origin,
            id: journaled.id
        )
        lastEvent = max(lastEvent, journaled.id.number)
        decide(item)
        replayed.inputs += 1
        if let last = output.decisions.last { replayed.lastDecision = last.id }
        // Nothing is appended while replaying, so nothing can fail.
        _ = try? collect(item)
        tellObservers(item)
        for item in pending { performAgain(item) }
        pending.removeAll(keepingCapacity: true)
    }

    /// A simulated end comes back to where it was; a real one is not told again.
    private func performAgain(_ item: Pending) {
        switch item {
        case .heard(let event, let payload): tellSources(event, payload)
        case .action(.command(let command), _, _): carryOut(command)
        case .action: break
        }
    }

    /// Whether so many inputs have come since the latest snapshot that another is due, and nothing is under way.
    package var needsSnapshot: Bool { ledger.needsSnapshot && !replaying && !hasWork(at: now) }

    /// Whether a snapshot would hold more than the latest, and nothing is under way.
    var canTakeSnapshot: Bool { ledger.isPastSnapshot && !replaying && !hasWork(at: now) }

    /// The bench's own part of a snapshot, the router's included.
    func code(with coder: inout SnapshotCoder, profile: Profile) throws(EncodingFault) {
        try coder.code(&lastEvent)
        try coder.code(&now)
        try coder.code(&sequence)
        try coder.code(&standing)
        try coder.code(&kept)
        if coder.isReading { router = Router(profile: profile) }
        try coder.code(&router)
        guard coder.isReading else { return }
        routerDeadline = router.nextDeadline ?? .distantFuture
        for app in apps.indices { apps[app].generation = router.generation(of: AppID(UInt32(app))) }
    }

    /// The router in a bench's part of a snapshot, and how far it had come; in the order of ``code(with:profile:)``.
    static func standing(
        from coder: inout SnapshotCoder,
        profile: Profile
    ) throws(EncodingFault) -> (router: Router, now: Instant, lastEvent: UInt64) {
        var (lastEvent, sequence) = (UInt64(0), UInt64(0))
        var now = Instant.zero
        var standing = StandingPayloads()
        var kept = KeptEvents()
        var router = Router(profile: profile)
        try coder.code(&lastEvent)
        try coder.code(&now)
        try coder.code(&sequence)
        try coder.code(&standing)
        try coder.code(&kept)
        try coder.code(&router)
        return (router, now, lastEvent)
    }

    /// Keeps the run as it stands after the last input; all of it was committed before.
    func append(snapshot: [UInt8]) throws(JournalError) {
        try ledger.append(snapshot: snapshot, sequence: sequence, at: now)
    }

    /// The bench is back: every process is gone, and what was on its way to one is decided again.
    package func endReplay(unacknowledged: [Delivery], events: [EventID: (WakeEvent, EventPayload)], origin: NameID) {
        replaying = false
        ledger.endReplay(inputs: replayed.inputs)
        submit(.benchRestarted, origin: origin)
        for (app, id, decision) in undelivered(unacknowledged) {
            guard let (event, payload) = events[id] else { continue }
            enqueue(
                InboxItem(
                    input: .redeliver(app, event, supersedes: decision),
                    payload: payload,
                    origin: origin
                )
            )
        }
        let missed = unheard
        unheard.removeAll()
        for report in missed { submit(report) }
    }

    /// Deliveries that no process acknowledged, once for each app and event, in the order of acceptance.
    private func undelivered(_ unacknowledged: [Delivery]) -> [(AppID, EventID, DecisionID)] {
        var found: [(app: AppID, event: EventID, decision: DecisionID)] = []
        for delivery in unacknowledged {
            if let place = found.firstIndex(where: { $0.app == delivery.app && $0.event == delivery.event }) {
                found[place].decision = max(found[place].decision, delivery.decision)
            } else {
                found.append((delivery.app, delivery.event, delivery.decision))
            }
        }
        return found.sorted { ($0.event, $0.app) < ($1.event, $1.app) }
    }
}

/// What the inputs of a journal made when they were taken through the router again.
struct ReplayedCounts {
    var inputs = 0
    var exits: Int64 = 0
    /// To apps that are processes.
    var deliveries: Int64 = 0
    var lastDecision = DecisionID.none
}

extension SourceReport {
    /// Whether it is what was accepted as an input.
    fileprivate func became(_ journaled: JournaledInput) -> Bool {
        guard let accepted = journaled.input.reported else { return false }
        return event.kind == accepted.kind && event.peripheral == accepted.peripheral
            && event.attribute == accepted.attribute && event.client == accepted.client
            && event.fix == accepted.fix && event.beacon == accepted.beacon
            && event.region == accepted.region && event.app == accepted.app
            && event.local == accepted.local && event.request == accepted.request
            && (payload == journaled.payload || journaled.payload == .none)
    }
}
