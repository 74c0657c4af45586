import WakeJournal
import WakeModel
import WakePorts
import WakeRouter

/// Hears what a turn of the bench brought, before it is committed and carried out.
package protocol BenchObserver: AnyObject {
    /// One input and all that the router made of it.
    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant)
    /// All that was heard so far survives the bench.
    func committed()
}

extension BenchObserver {
    package func committed() {}
}

/// The event loop's work: carries inputs up to the router and actions down to apps and sources, in one direction, on one thread.
///
/// An input is accepted when its turn is committed to the journal; no action leaves the bench before that.
package final class Bench {
    /// An app and the host that runs it.
    struct HostedApp {
        let host: any AppHost
        let leavesTheBench: Bool
        /// Which of its processes is the last, as the router counts them: a call to the router would copy it.
        var generation: UInt32 = 0
    }

    /// What is to be done once the turn is committed.
    enum Pending {
        case action(Action, event: WakeEvent?, payload: EventPayload)
        /// Sources hear of an event that was accepted.
        case heard(WakeEvent, EventPayload)
    }

    package internal(set) var router: Router
    /// The router's next deadline, asked for once an input.
    package internal(set) var routerDeadline = Instant.distantFuture
    package let names: NameTable
    /// The sources, in the order in which they were added.
    private(set) var sources: [any SourcePort] = []
    /// Those of them that are outside the bench.
    private var realSources: [any SourcePort] = []
    /// Who hears of the events of a kind once they are accepted, by the kind's raw value.
    private var listeners = [[any SourcePort]](repeating: [], count: 256)
    /// What gives apps the sockets of their channels and sessions.
    private(set) var keepers: [ChannelKeeper] = []
    /// By number.
    var apps: [HostedApp] = []
    /// The hosts, each once.
    private(set) var hosts: [any AppHost] = []
    private var observers: [any BenchObserver] = []

    private var inbox: Inbox
    /// What the router found in the input at hand, on its way back to it, in order.
    private var raised: [InboxItem] = []
    var output = RouterOutput()
    var pending: [Pending] = []
    /// What is being done.
    var underway: [Pending] = []
    var kept = KeptEvents()
    /// For those who are told of it later.
    var standing = StandingPayloads()
    var ledger: Ledger

    /// While a journal is read back: nothing is journaled again, and only the simulated radio hears of the actions.
    var replaying = false
    /// What the radio said during a replay and the journal does not have: the bench died before it was accepted.
    var unheard: [SourceReport] = []
    /// What a replay made, to be compared with what the journal has.
    var replayed = ReplayedCounts()

    package internal(set) var now = Instant.zero
    package internal(set) var sequence: UInt64 = 0
    package internal(set) var lastEvent: UInt64 = 0

    /// The most events that wait for the router; beyond it a source that cannot wait loses its oldest.
    package static let inboxLimit = 65_536

    /// - Parameter inboxLimit: the most events that wait for the router.
    package init(router: Router, names: NameTable, journal: any Journal, inboxLimit: Int = Bench.inboxLimit) {
        inbox = Inbox(limit: inboxLimit)
        self.router = router
        self.names = names
        ledger = Ledger(journal, names: names)
    }

    /// Carries a source's events to the inbox, and the router's commands to the source.
    package func add(_ source: any SourcePort) {
        sources.append(source)
        if !source.isSimulated { realSources.append(source) }
        for kind in source.heardKinds { listeners[Int(kind.rawValue)].append(source) }
        source.report = { [unowned self] in submit($0) }
    }

    /// Has a keeper give apps the sockets of what is opened for them.
    package func add(_ keeper: ChannelKeeper) {
        keepers.append(keeper)
        observers.append(keeper)
    }

    package func add(_ observer: any BenchObserver) {
        observers.append(observer)
    }

    /// Lets go of all that hears of it: those often hold the bench themselves.
    func letGo() {
        (observers, sources, realSources, keepers, hosts, apps) = ([], [], [], [], [], [])
        listeners = []
    }

    /// Ties an app to the host that runs it, before it is installed.
    package func assign(_ app: AppID, to host: any AppHost, leavesTheBench: Bool) {
        precondition(Int(app.number) == apps.count, "app numbers are given in order")
        apps.append(HostedApp(host: host, leavesTheBench: leavesTheBench))
    }

    /// Carries a host's words to the inbox.
    package func listen(to host: any AppHost) {
        hosts.append(host)
        host.hear = { [unowned self] app, generation, word in hear(word, from: app, generation) }
    }

    // MARK: Inbox

    /// Events that were lost beyond all bounds, without a verdict.
    package var unrecorded: UInt64 { inbox.unrecorded }

    /// An event of a source.
    package func submit(_ report: SourceReport) {
        // What the radio did before the bench died comes from the journal, as far as it was accepted.
        if replaying {
            unheard.append(report)
            return
        }
        inbox.add(numbered(report.event), report.payload)
    }

    /// Something the user, the phone or the system does; it gets an event number of its own (SYS-1).
    package func submit(_ input: Input, origin: NameID) {
        lastEvent += 1
        enqueue(InboxItem(input: input, origin: origin, id: EventID(lastEvent)))
    }

    /// Writes down that a step of the scenario is carried out now, before what comes of it: a journal that is read back has it at the
    /// same place. The router looks at its clock.
    func submitStep(_ origin: NameID) { enqueue(InboxItem(input: .timeReached, origin: origin)) }

    private func hear(_ word: AppWord, from app: AppID, _ generation: UInt32) {
        switch word {
        case .report(let report): enqueue(InboxItem(input: .process(app, report), generation: generation))
        case .request(let request): enqueue(InboxItem(input: .request(app, request), generation: generation))
        case .acknowledged(let event):
            guard generation == self[app].generation else { return }
            guard router.keepsUntilTaken(event, for: app) else {
                return ledger.note(acknowledged: event, by: app, at: now)
            }
            // It must not come again, and is committed at once.
            enqueue(InboxItem(input: .process(app, .took(event)), generation: generation))
        }
    }

    /// Whether an item is of a process that another has followed meanwhile: it is not for the app's present one.
    private func isLate(_ item: InboxItem) -> Bool {
        switch item.input {
        case .process(let app, _), .request(let app, _): item.generation != self[app].generation
        default: false
        }
    }

    func enqueue(_ item: InboxItem) {
        inbox.add(item)
    }

    /// An event that is accepted now, with its number.
    private func numbered(_ event: WakeEvent) -> WakeEvent {
        lastEvent += 1
        var event = event
        event.id = EventID(lastEvent)
        return event
    }

    /// Whether a turn has something to do at `now`.
    package func hasWork(at now: Instant) -> Bool {
        !inbox.isEmpty || routerDeadline <= now || ledger.mustAcknowledge(at: now)
    }

    // MARK: Turns

    /// Handles all that is there, and what comes of it at once, until the bench is quiet at `now`.
    ///
    /// - Returns: whether there was anything.
    @discardableResult
    package func run(at now: Instant) throws(JournalError) -> Bool {
        guard hasWork(at: now) else { return false }
        while hasWork(at: now) { try turn(at: now) }
        return true
    }

    /// One turn: what is in the inbox now goes through the router, is committed, and is carried out.
    private func turn(at now: Instant) throws(JournalError) {
        self.now = max(self.now, now)
        try ledger.begin(at: self.now)
        if routerDeadline <= self.now, inbox.isEmpty { enqueue(InboxItem(input: .timeReached)) }
        var leaves = false
        for item in inbox.takeOverflowed() where try handle(item) { leaves = true }
        while let item = inbox.next() {
            if try handle(item) { leaves = true }
        }
        if leaves || ledger.isFull { try commit() }
        perform()
    }

    /// When acknowledgements that were not committed with anything else are; nil when there are none.
    package var commitDue: Instant? { ledger.commitDue }

    /// Commits what was accepted. What was only acknowledged may wait for the next input, up to ``commitDue``: a bench
    /// that dies before has it decided again, as one whose acknowledgement was still on its way.
    package func settle(at now: Instant) throws(JournalError) {
        if ledger.mustCommit(at: now) { try commit() }
    }

    /// Writes down what a live run was told, after all that was accepted before; it is kept with the next commit.
    func append(_ command: JournaledCommand) throws(JournalError) {
        try ledger.begin(at: now)
        try ledger.append(command)
    }

    /// Ends the transaction that is open: what was accepted so far survives the bench.
    package func commit() throws(JournalError) {
        guard ledger.isOpen else { return }
        try ledger.commit()
        for observer in observers { observer.committed() }
    }

    /// Takes one input through the router and writes down all of it. Says whether an action leaves the bench.
    private func handle(_ item: InboxItem) throws(JournalError) -> Bool {
        if isLate(item) { return false }
        sequence += 1
        decide(item)
        try ledger.append(item, sequence: sequence, at: now)
        var leaves = try collect(item)
        tellObservers(item)
        if !raised.isEmpty {
            let found = raised
            raised.removeAll(keepingCapacity: true)
            for item in found where try handle(item) { leaves = true }
        }
        return leaves
    }

    /// Takes one input through the router.
    func decide(_ item: InboxItem) {
        output.removeAll()
        if let event = item.input.event { standing.note(event, item.payload) }
        router.handle(item.input, id: item.id, at: now, into: &output)
        routerDeadline = output.nextDeadline ?? .distantFuture
    }

    func tellObservers(_ item: InboxItem) {
        for observer in observers { observer.observe(item, output, at: now) }
    }

    // MARK: What comes of an input

    /// Journals what must be known after a crash, and puts the actions aside until the commit. Says whether one leaves
    /// the bench.
    func collect(_ item: InboxItem) throws(JournalError) -> Bool {
        var leaves = false
        if let event = item.input.reported, !listeners[Int(event.kind.rawValue)].isEmpty {
            pending.append(.heard(event, item.payload))
        }
        for action in output.actions {
            if leavesTheBench(action) { leaves = true }
            switch action {
            case .keep(_, let id): kept.keep(id, of: item)
            case .discard(_, let id): kept.discard(id)
            case .deliver(let app, let manager, let id, let decision, _):
                if replaying, self[app].leavesTheBench { replayed.deliveries += 1 }
                if !replaying, self[app].leavesTheBench {
                    try ledger.append(
                        Delivery(
                            app: app,
                            manager: manager,
                            event: id,
                            decision: decision,
                            generation: self[app].generation
                        )
                    )
                }
                pend(action, with: id, item)
            case .launch(let app, let generation, _, let cause, _, _):
                apps[Int(app.number)].generation = generation
                pend(action, with: cause, item)
            case .raise(let event, let payload):
                // A replay finds it among its inputs.
                if !replaying { raise(event, payload, by: item) }
            case .exited(let record):
                if replaying { replayed.exits += 1 } else { try ledger.append(record) }
            case .refused, .moved, .alert, .did, .lost: break
            case .thaw, .freeze, .kill, .closeListeners, .callback, .expireTasks, .tell, .command:
                pending.append(.action(action, event: nil, payload: .none))
            }
        }
        return leaves
    }

    /// The router found something: it is the next input but what it found before.
    private func raise(_ event: WakeEvent, _ payload: EventPayload, by item: InboxItem) {
        let event = numbered(event)
        var payload = payload
        if payload == .none, event.parent != .none, event.parent == item.input.event?.id {
            payload = item.payload
        } else if payload == .none, let parent = kept[event.parent], parent.event.kind == event.kind {
            payload = parent.payload
        } else if payload == .none {
            payload = standing.payload(of: event)
        }
        raised.append(
            InboxItem(
                input: .event(event),
                payload: payload,
                origin: event.origin,
                id: event.id
            )
        )
    }

    /// Whether a command is for a source outside the bench.
    func isForOutside(_ command: SourceCommand) -> Bool { realSources.contains { $0.takes(command) } }

    /// Tells the sources that want to know of an accepted event; while a journal is read back, those that it brings back.
    func tellSources(_ event: WakeEvent, _ payload: EventPayload) {
        for source in listeners[Int(event.kind.rawValue)] where !replaying || source.isReplayed {
            source.hear(event, payload, at: now)
        }
    }

    /// Has the sources carry out a command; while a journal is read back, those that it brings back.
    func carryOut(_ command: SourceCommand) {
        for source in sources where source.takes(command) {
            if !replaying || source.isReplayed { source.carryOut(command, at: now) }
        }
    }

    /// Puts an action aside that brings an event to an app.
    private func pend(_ action: Action, with id: EventID, _ item: InboxItem) {
        if let event = item.input.event, event.id == id {
            pending.append(.action(action, event: event, payload: item.payload))
        } else if let kept = kept[id] {
            pending.append(.action(action, event: kept.event, payload: kept.payload))
        } else {
            pending.append(.action(action, event: nil, payload: .none))
        }
    }
}
