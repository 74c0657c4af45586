import WakeJournal
import WakeModel
import WakePorts
import WakeRouter

/// Hears what a turn of the bench brought, before it is committed and carried out.
package protocol BenchObserver: AnyObject {
    /// One input and all that the router made of it.
    func observe(_ input: Input, id: EventID, origin: NameID, payload: EventPayload, output: RouterOutput, at: Instant)
    /// All that was heard so far survives the bench.
    func committed()
}

extension BenchObserver {
    package func committed() {}
}

/// The stairs: carries inputs up to the router and actions down to the doors, in one direction, on one thread.
///
/// An input is accepted when its turn is committed to the journal; no action leaves the bench before that.
package final class Bench {
    /// An input on its way to the router.
    private struct Item {
        var input: Input
        var payload: EventPayload
        var origin: NameID
        var id: EventID
    }

    /// The payload of an event that waits for an app.
    private struct Kept {
        var event: WakeEvent
        var payload: EventPayload
        var holders: Int
    }

    /// What is to be done once the turn is committed.
    private enum Pending {
        case action(Action, event: WakeEvent?, payload: EventPayload)
        /// The peripheral end hears that the adapter went on or off.
        case adapter(poweredOn: Bool)
    }

    package private(set) var router: Router
    /// The router's next deadline, asked for once an input.
    package private(set) var routerDeadline = Instant.distantFuture
    package let names: NameTable
    package let bluetooth: any BluetoothCentralPort
    /// Where apps are peripherals; nil when the run has none. Set before it starts.
    package var peripheralRole: (any BluetoothPeripheralPort)? {
        didSet { peripheralRole?.report = { [unowned self] in submit($0) } }
    }
    /// Where positions come from; nil when nobody needs any.
    package var location: (any LocationPort)? {
        didSet { location?.report = { [unowned self] in submit($0) } }
    }
    /// Where sound goes and comes from; nil when nobody needs any.
    package var audio: (any AudioPort)? {
        didSet { audio?.report = { [unowned self] in submit($0) } }
    }
    /// Where accessories are; nil when nobody needs any.
    package var accessory: (any AccessoryPort)? {
        didSet { accessory?.report = { [unowned self] in submit($0) } }
    }
    /// Gives apps the sockets of their sessions with accessories.
    package var sessionKeeper: ChannelKeeper? {
        didSet { if let sessionKeeper { add(sessionKeeper) } }
    }
    /// Watches the sockets of VoIP apps; nil when there are none.
    package var voip: (any VoIPPort)? {
        didSet { voip?.report = { [unowned self] in submit($0) } }
    }
    /// Gives apps the sockets of their L2CAP channels.
    package var keeper: ChannelKeeper? {
        didSet { if let keeper { add(keeper) } }
    }
    private let journal: any Journal
    /// By app.
    private var hosts: [any AppHost] = []
    /// Each once.
    private var listened: [any AppHost] = []
    private var leavesTheBench: [Bool] = []
    /// Which process of each app is the last, as the router counts them: a call to the router would copy it.
    private var generations: [UInt32] = []
    private var observers: [any BenchObserver] = []

    private var inbox: [Item] = []
    private var inboxHead = 0
    /// Events that the inbox had no room for, oldest first, on their way to their verdict.
    private var overflowed: [Item] = []
    /// Events that were lost beyond all bounds, without a verdict.
    package private(set) var unrecorded: UInt64 = 0
    /// What the router found in the input at hand, on its way back to it, in order.
    private var raised: [Item] = []
    private var output = RouterOutput()
    private var pending: [Pending] = []
    /// What is being done.
    private var underway: [Pending] = []
    private var kept: [EventID: Kept] = [:]
    private var journaledNames = 1
    private var uncommitted = 0
    private var inTransaction = false
    /// When acknowledgements that were not committed with anything else are; nil when there are none.
    package private(set) var commitDue: Instant?

    /// While a journal is read back: nothing is journaled again, and only the simulated radio hears of the actions.
    private var replaying = false

    package private(set) var now = Instant.zero
    package private(set) var sequence: UInt64 = 0
    package private(set) var lastEvent: UInt64 = 0
    private var sinceSnapshot = 0

    /// The most events that wait for the router; beyond it a source that cannot wait loses its oldest.
    package static let inboxLimit = 65_536
    /// The longest that an acknowledgement waits for something to be committed with.
    static let acknowledgementDelay = Instant.Span.milliseconds(100)
    /// Turns whose actions stay inside share commits of up to this many inputs.
    package static let sharedCommit = 1_000
    /// Inputs between two snapshots of the router.
    package static let snapshotInterval = 10_000

    package init(router: Router, names: NameTable, bluetooth: any BluetoothCentralPort, journal: any Journal) {
        self.router = router
        self.names = names
        self.bluetooth = bluetooth
        self.journal = journal
        bluetooth.report = { [unowned self] in submit($0) }
    }

    package func add(_ observer: any BenchObserver) {
        observers.append(observer)
    }

    /// Ties an app to the host that runs it, before it is installed.
    package func assign(_ app: AppID, to host: any AppHost, leavesTheBench outside: Bool) {
        precondition(Int(app.number) == hosts.count, "app numbers are given in order")
        hosts.append(host)
        leavesTheBench.append(outside)
        generations.append(0)
    }

    /// Carries a host's words to the inbox.
    package func listen(to host: any AppHost) {
        listened.append(host)
        host.hear = { [unowned self] app, word in hear(word, from: app) }
    }

    // MARK: Inbox

    /// An event of a source.
    package func submit(_ report: SourceReport) {
        // What the radio did before the bench died comes from the journal, as far as it was accepted.
        if replaying {
            unheard.append(report)
            return
        }
        lastEvent += 1
        var event = report.event
        event.id = EventID(lastEvent)
        if inbox.count - inboxHead >= Self.inboxLimit { dropOldest(of: event.kind.source) }
        enqueue(Item(input: .event(event), payload: report.payload, origin: event.origin, id: event.id))
    }

    /// The inbox is full: the oldest event of a source makes room for its newest. What apps, the user and the phone do
    /// is never dropped.
    private func dropOldest(of source: Source) {
        let oldest = inbox[inboxHead...].firstIndex { item in
            if case .event(let event) = item.input { event.kind.source == source } else { false }
        }
        guard let oldest, case .event(let event) = inbox[oldest].input else { return }
        if overflowed.count < Self.inboxLimit {
            overflowed.append(
                Item(input: .overflowed(event), payload: .none, origin: event.origin, id: event.id)
            )
        } else {
            unrecorded += 1
        }
        if oldest > inboxHead {
            inbox.remove(at: oldest)
            return
        }
        inboxHead += 1
        if inboxHead == Self.inboxLimit {
            inbox.removeFirst(inboxHead)
            inboxHead = 0
        }
    }

    /// Something the user, the phone or the system does; it gets an event number of its own (SYS-1).
    package func submit(_ input: Input, origin: NameID) {
        lastEvent += 1
        enqueue(Item(input: input, payload: .none, origin: origin, id: EventID(lastEvent)))
    }

    private func hear(_ word: AppWord, from app: AppID) {
        switch word {
        case .report(let report): enqueue(Item(input: .process(app, report), payload: .none, origin: .none, id: .none))
        case .request(let request):
            enqueue(Item(input: .request(app, request), payload: .none, origin: .none, id: .none))
        case .acknowledged(let event): acknowledged.append((app, event))
        }
    }

    private var acknowledged: [(app: AppID, event: EventID)] = []
    /// Deliveries to processes that live and have not acknowledged them, by app.
    private var onTheWay: [AppID: [EventID]] = [:]
    /// What the radio said during a replay and the journal does not have: the bench died before it was accepted.
    private var unheard: [SourceReport] = []

    private func enqueue(_ item: Item) {
        inbox.append(item)
    }

    /// Whether a turn has something to do at `now`.
    package func hasWork(at now: Instant) -> Bool {
        inboxHead < inbox.count || !acknowledged.isEmpty || routerDeadline <= now
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
        if !inTransaction {
            try journal.begin()
            inTransaction = true
        }
        if !acknowledged.isEmpty, commitDue == nil { commitDue = self.now.advanced(by: Self.acknowledgementDelay) }
        try writeAcknowledged()
        if routerDeadline <= self.now, inboxHead == inbox.count {
            enqueue(Item(input: .timeReached, payload: .none, origin: .none, id: .none))
        }
        var leaves = false
        for item in overflowed where try handle(item) { leaves = true }
        overflowed.removeAll()
        while inboxHead < inbox.count {
            let item = inbox[inboxHead]
            inboxHead += 1
            if try handle(item) { leaves = true }
        }
        inbox.removeAll(keepingCapacity: true)
        inboxHead = 0
        if leaves || uncommitted >= Self.sharedCommit { try commit() }
        perform()
    }

    /// Writes down what processes have taken.
    private func writeAcknowledged() throws(JournalError) {
        var start = 0
        while start < acknowledged.count {
            let app = acknowledged[start].app
            var end = start + 1
            while end < acknowledged.count, acknowledged[end].app == app { end += 1 }
            if end == start + 1 {
                let event = acknowledged[start].event
                try journal.acknowledge(app: app, event: event)
                onTheWay[app]?.removeAll { $0 == event }
            } else {
                try writeAcknowledged(acknowledged[start..<end], of: app)
            }
            start = end
        }
        acknowledged.removeAll(keepingCapacity: true)
    }

    /// Events that an app took one after the other are mostly all that it was sent between the first and the last.
    private func writeAcknowledged(
        _ taken: ArraySlice<(app: AppID, event: EventID)>,
        of app: AppID
    ) throws(JournalError) {
        let events = Set(taken.map(\.event))
        onTheWay[app]?.removeAll { events.contains($0) }
        guard let first = events.min(), let last = events.max() else { return }
        if onTheWay[app]?.contains(where: { $0 > first && $0 < last }) == true {
            for (app, event) in taken { try journal.acknowledge(app: app, event: event) }
        } else {
            try journal.acknowledge(app: app, from: first, through: last)
        }
    }

    /// Commits what was accepted. What was only acknowledged may wait for the next input, up to ``commitDue``: a bench
    /// that dies before has it decided again, as one whose acknowledgement was still on its way.
    package func settle(at now: Instant) throws(JournalError) {
        if uncommitted > 0 || commitDue.map({ $0 <= now }) ?? true { try commit() }
    }

    /// Ends the transaction that is open: what was accepted so far survives the bench.
    package func commit() throws(JournalError) {
        guard inTransaction else { return }
        if sinceSnapshot >= Self.snapshotInterval { try snapshot() }
        try journal.commit()
        inTransaction = false
        uncommitted = 0
        commitDue = nil
        for observer in observers { observer.committed() }
    }

    /// Keeps the router as it stands, so that a journal whose older inputs went can be continued too.
    private func snapshot() throws(JournalError) {
        var writer = ByteWriter(reserving: 1 << 16)
        writer.write(lastEvent)
        router.encode(into: &writer)
        let pending = kept.keys.sorted()
        try journal.append(snapshot: Array(writer.bytes), sequence: sequence, at: now, pending: pending)
        sinceSnapshot = 0
    }

    /// Takes one input through the router and writes down all of it. Says whether an action leaves the bench.
    private func handle(_ item: Item) throws(JournalError) -> Bool {
        sequence += 1
        uncommitted += 1
        sinceSnapshot += 1
        output.removeAll()
        if case .position(let position) = item.payload, item.input.event?.kind == .positionFixed {
            bluetooth.phoneMoved(latitude: position.latitude, longitude: position.longitude, at: now)
        }
        router.handle(item.input, id: item.id, at: now, into: &output)
        routerDeadline = output.nextDeadline ?? .distantFuture
        while journaledNames < names.count {
            let name = NameID(UInt32(journaledNames))
            try journal.append(name, text: names.text(name))
            journaledNames += 1
        }
        try journal.append(item.input, payload: item.payload, sequence: sequence, at: now, origin: item.origin)
        if case .redeliver(let app, let event, _) = item.input {
            // Decided anew: the delivery to the dead process is settled.
            try journal.acknowledge(app: app, event: event.id)
        }
        var leaves = try collect(item)
        tellObservers(item)
        if !raised.isEmpty {
            let found = raised
            raised.removeAll(keepingCapacity: true)
            for item in found where try handle(item) { leaves = true }
        }
        return leaves
    }

    private func tellObservers(_ item: Item) {
        for observer in observers {
            observer.observe(
                item.input,
                id: item.id,
                origin: item.origin,
                payload: item.payload,
                output: output,
                at: now
            )
        }
    }

    /// Journals what must be known after a crash, and puts the actions aside until the commit.
    private func collect(_ item: Item) throws(JournalError) -> Bool {
        var leaves = false
        if let on = item.input.adapterPower { pending.append(.adapter(poweredOn: on)) }
        for action in output.actions {
            switch action {
            case .keep(_, let id):
                if (kept[id]?.holders += 1) == nil, let event = item.input.event {
                    kept[id] = Kept(event: event, payload: item.payload, holders: 1)
                }
            case .discard(_, let id):
                kept[id]?.holders -= 1
                if kept[id]?.holders == 0 { kept[id] = nil }
            case .deliver(let app, let manager, let id, let decision):
                let outside = leavesTheBench[Int(app.number)]
                if outside, !replaying {
                    leaves = true
                    onTheWay[app, default: []].append(id)
                    try journal.append(
                        Delivery(
                            app: app,
                            manager: manager,
                            event: id,
                            decision: decision,
                            generation: generations[Int(app.number)]
                        )
                    )
                }
                pend(action, id, item)
            case .launch(let app, let generation, _, let cause, _):
                generations[Int(app.number)] = generation
                if leavesTheBench[Int(app.number)] { leaves = true }
                pend(action, cause, item)
            case .thaw(let app), .freeze(let app), .kill(let app), .callback(let app, _, _),
                .expireTasks(let app, _), .managerState(let app, _, _), .restore(let app, _, _),
                .restorePeripheral(let app, _, _), .locationAuthorization(let app, _, _), .audioAnswer(let app, _, _):
                if leavesTheBench[Int(app.number)] { leaves = true }
                pending.append(.action(action, event: nil, payload: .none))
            case .bluetooth:
                if bluetooth.backend != "simulated" { leaves = true }
                pending.append(.action(action, event: nil, payload: .none))
            case .peripheralRole:
                if let peripheralRole, peripheralRole.backend != "simulated" { leaves = true }
                pending.append(.action(action, event: nil, payload: .none))
            case .location:
                if let location, location.backend != "simulated" { leaves = true }
                pending.append(.action(action, event: nil, payload: .none))
            case .audio:
                if let audio, audio.backend != "simulated" { leaves = true }
                pending.append(.action(action, event: nil, payload: .none))
            case .accessory:
                if let accessory, accessory.backend != "simulated" { leaves = true }
                pending.append(.action(action, event: nil, payload: .none))
            case .voip:
                if let voip, voip.backend != "simulated" { leaves = true }
                pending.append(.action(action, event: nil, payload: .none))
            case .raise(let event, let payload):
                // A replay finds it among its inputs.
                if !replaying { raise(event, payload, by: item) }
            case .exited(let record):
                guard !replaying else { continue }
                try journal.append(record)
                // What the process had not acknowledged ended with it.
                for event in onTheWay.removeValue(forKey: record.app) ?? [] {
                    try journal.acknowledge(app: record.app, event: event)
                }
            case .refused, .moved, .alert: break
            }
        }
        return leaves
    }

    /// The router found something: it is the next input but what it found before.
    private func raise(_ event: WakeEvent, _ payload: EventPayload, by item: Item) {
        lastEvent += 1
        var event = event
        event.id = EventID(lastEvent)
        let inherits = payload == .none && event.parent != .none && event.parent == item.input.event?.id
        raised.append(
            Item(
                input: .event(event),
                payload: inherits ? item.payload : payload,
                origin: event.origin,
                id: event.id
            )
        )
    }

    private func pend(_ action: Action, _ id: EventID, _ item: Item) {
        if let event = item.input.event, event.id == id {
            pending.append(.action(action, event: event, payload: item.payload))
        } else if let kept = kept[id] {
            pending.append(.action(action, event: kept.event, payload: kept.payload))
        } else {
            pending.append(.action(action, event: nil, payload: .none))
        }
    }

    // MARK: Going on after a crash

    /// From now on inputs come from a journal, until ``goOn(unacknowledged:events:origin:)``.
    package func beginReplay() { replaying = true }

    /// Takes an input that was accepted before the bench died through the router again. `radio` hears the commands that
    /// follow from it, when it can be brought back to where it was.
    package func replay(
        _ journaled: JournaledInput,
        radio: (any BluetoothCentralPort)?,
        peripheralRole: (any BluetoothPeripheralPort)? = nil
    ) {
        replaying = true
        now = journaled.at
        sequence = journaled.sequence
        let positions = location?.backend == "simulated" ? location : nil
        radio?.timeReached(now)
        positions?.timeReached(now)
        if accessory?.backend == "simulated" { accessory?.timeReached(now) }
        let calls = voip?.backend == "simulated" ? voip : nil
        calls?.timeReached(now)
        peripheralRole?.timeReached(now)
        if let event = journaled.input.reported {
            let accepted = unheard.firstIndex {
                $0.event.kind == event.kind && $0.event.peripheral == event.peripheral
                    && $0.event.attribute == event.attribute && $0.event.client == event.client
                    && $0.event.fix == event.fix && $0.event.beacon == event.beacon
                    && $0.event.region == event.region && $0.event.app == event.app
                    && $0.event.local == event.local && $0.event.request == event.request
                    && ($0.payload == journaled.payload || journaled.payload == .none)
            }
            if let accepted { unheard.remove(at: accepted) }
        }
        let item = Item(
            input: journaled.input,
            payload: journaled.payload,
            origin: journaled.origin,
            id: number(of: journaled.input)
        )
        if case .position(let position) = item.payload, item.input.event?.kind == .positionFixed {
            radio?.phoneMoved(latitude: position.latitude, longitude: position.longitude, at: now)
        }
        output.removeAll()
        router.handle(item.input, id: item.id, at: now, into: &output)
        routerDeadline = output.nextDeadline ?? .distantFuture
        // Nothing is appended while replaying, so nothing can fail.
        _ = try? collect(item)
        tellObservers(item)
        for item in pending {
            switch item {
            case .action(.bluetooth(let command), _, _): radio?.perform(command, at: now)
            case .action(.peripheralRole(let command), _, _): peripheralRole?.perform(command, at: now)
            case .adapter(let on): peripheralRole?.setPower(on, at: now)
            case .action(.location(let command), _, _):
                if case .watchBeacons(let beacons) = command { radio?.watchBeacons(beacons, at: now) }
                positions?.perform(command, at: now)
            case .action(.accessory(let command), _, _):
                if accessory?.backend == "simulated" { accessory?.perform(command, at: now) }
            case .action(.voip(let command), _, _): calls?.perform(command, at: now)
            case .action: break
            }
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// The event number that an input took when it was accepted.
    private func number(of input: Input) -> EventID {
        switch input {
        case .event(let event), .overflowed(let event):
            lastEvent = max(lastEvent, event.id.number)
            return event.id
        case .phone, .install, .uninstall, .user, .terminate, .benchRestarted:
            lastEvent += 1
            return EventID(lastEvent)
        case .timeReached, .request, .process, .redeliver: return .none
        }
    }

    /// Takes the place of all inputs up to a snapshot, when those are gone.
    package func restore(_ snapshot: JournaledSnapshot, profile: Profile) throws(EncodingFault) {
        var reader = ByteReader(snapshot.bytes)
        lastEvent = try reader.readUInt64()
        router = try Router(from: &reader, profile: profile)
        routerDeadline = router.nextDeadline ?? .distantFuture
        for app in generations.indices { generations[app] = router.generation(of: AppID(UInt32(app))) }
        now = snapshot.at
        sequence = snapshot.sequence
    }

    /// The bench is back: every process is gone, and what was on its way to one is decided again.
    package func goOn(unacknowledged: [Delivery], events: [EventID: (WakeEvent, EventPayload)], origin: NameID) {
        replaying = false
        journaledNames = min(journaledNames, names.count)
        submit(.benchRestarted, origin: origin)
        for (app, id, decision) in undelivered(unacknowledged) {
            guard let (event, payload) = events[id] else { continue }
            enqueue(
                Item(
                    input: .redeliver(app, event, supersedes: decision),
                    payload: payload,
                    origin: origin,
                    id: .none
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

    /// The names that the journal holds already.
    package func adoptNames(_ count: Int) {
        journaledNames = count
    }

    // MARK: Doors

    private func perform() {
        guard !pending.isEmpty else { return }
        for host in listened { host.gather() }
        // A door may answer from inside the call; the answers wait in the inbox for the next turn.
        swap(&pending, &underway)
        for item in underway {
            switch item {
            case .action(let action, let event, let payload): perform(action, event, payload)
            case .adapter(let on): peripheralRole?.setPower(on, at: now)
            }
        }
        underway.removeAll(keepingCapacity: true)
        for host in listened { host.release() }
    }

    private func perform(_ action: Action, _ event: WakeEvent?, _ payload: EventPayload) {
        switch action {
        case .launch(let app, let generation, let state, _, let decision):
            let cause = event.map {
                LaunchCause(
                    event: $0,
                    decision: decision,
                    restoreIdentifiers: router.preservedRestoreIdentifiers(of: app),
                    peripheralRestoreIdentifiers: router.preservedRestoreIdentifiers(
                        of: app,
                        peripheralRole: true
                    )
                )
            }
            host(app).launch(app, generation: generation, state: state, cause: cause, at: now)
        case .thaw(let app): host(app).thaw(app, at: now)
        case .freeze(let app): host(app).freeze(app, at: now)
        case .kill(let app): host(app).kill(app, at: now)
        case .callback(let app, let callback, let state):
            host(app).callback(callback, state: state, to: app, at: now)
        case .expireTasks(let app, let tokens): host(app).expireTasks(tokens, of: app, at: now)
        case .deliver(let app, let manager, _, let decision):
            var payload = payload
            if event?.kind == .accessoryConnected, payload == .none {
                // The router found it, and has no words.
                let found = accessory?.accessories.first { $0.connection == event?.local }
                payload = found.map { .accessory($0) } ?? .none
            }
            guard let event else {
                preconditionFailure("decision \(decision.number) delivers an event that nobody kept")
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
        case .managerState(let app, let manager, let state):
            host(app).managerState(manager, state, to: app, at: now)
        case .restore(let app, let manager, let state): host(app).restore(manager, state, to: app, at: now)
        case .restorePeripheral(let app, let manager, let state):
            host(app).restorePeripheral(manager, state, to: app, at: now)
        case .peripheralRole(let command): peripheralRole?.perform(command, at: now)
        case .bluetooth(let command): bluetooth.perform(command, at: now)
        case .locationAuthorization(let app, let manager, let authorization):
            host(app).locationAuthorization(authorization, manager: manager, to: app, at: now)
        case .location(let command):
            if case .watchBeacons(let beacons) = command { bluetooth.watchBeacons(beacons, at: now) }
            location?.perform(command, at: now)
        case .audio(let command): audio?.perform(command, at: now)
        case .audioAnswer(let app, let request, let answer):
            host(app).audioAnswer(answer, request: request, stream: stream(of: app, answer), to: app, at: now)
        case .accessory(let command): accessory?.perform(command, at: now)
        case .voip(let command): voip?.perform(command, at: now)
        case .keep, .discard, .exited, .refused, .moved, .alert, .raise: break
        }
    }

    /// The ends of a real app's stream, when it has one.
    private func stream(of app: AppID, _ answer: AudioAnswer) -> SharedAudio? {
        guard case .granted = answer, leavesTheBench[Int(app.number)] else { return nil }
        return try? audio?.share(with: app)
    }

    /// The socket of a channel or a session that was opened for an app.
    private func channel(_ event: WakeEvent, for app: AppID, _ manager: ManagerNumber) -> Int32? {
        guard event.kind == .channelOpened || event.kind == .accessorySessionOpened, !event.failed else { return nil }
        let keeper = event.kind == .accessorySessionOpened ? sessionKeeper : keeper
        return keeper?.hold(event, for: app, manager: manager, isRead: !leavesTheBench[Int(app.number)])
    }

    private func host(_ app: AppID) -> any AppHost { hosts[Int(app.number)] }
}

extension Input {
    /// The event of a source in it.
    fileprivate var reported: WakeEvent? {
        switch self {
        case .event(let event), .overflowed(let event): event
        default: nil
        }
    }

    /// Whether the adapter went on or off with it.
    fileprivate var adapterPower: Bool? {
        switch reported?.kind {
        case .bluetoothPoweredOn: true
        case .bluetoothPoweredOff: false
        default: nil
        }
    }

    /// The event that it brings, when it brings one.
    var event: WakeEvent? {
        switch self {
        case .event(let event), .overflowed(let event), .redeliver(_, let event, _): event
        case .timeReached, .phone, .install, .uninstall, .user, .terminate, .request, .process, .benchRestarted: nil
        }
    }
}
