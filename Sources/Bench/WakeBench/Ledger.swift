import WakeModel
import WakePorts

/// What the bench writes into its journal: inputs, deliveries and what became of them, committed together.
struct Ledger {
    private let journal: any Journal
    private let names: NameTable
    /// How many names the journal holds.
    private var journaledNames = 1
    private var uncommitted = 0
    private var sinceSnapshot = 0
    /// Whether a transaction is open.
    private(set) var isOpen = false
    /// When acknowledgements that were not committed with anything else are; nil when there are none.
    private(set) var commitDue: Instant?
    /// What processes have taken and is not written down yet.
    private var acknowledged: [(app: AppID, event: EventID)] = []
    /// Whether acknowledgements come together until they are due, instead of being written down with the next turn.
    var gathersAcknowledgements = false
    /// Deliveries to processes that live and have not acknowledged them, by app.
    private var onTheWay: [AppID: [EventID]] = [:]

    /// The longest that an acknowledgement waits for something to be committed with.
    private static let acknowledgementDelay = Instant.Span.milliseconds(100)
    /// Turns whose actions stay inside share commits of up to this many inputs.
    private static let sharedCommit = 1_000
    /// Inputs between two snapshots.
    private static let snapshotInterval = 10_000

    init(_ journal: any Journal, names: NameTable) {
        self.journal = journal
        self.names = names
    }

    // MARK: Inputs

    /// Writes down an input, and the names that the journal does not know.
    mutating func append(_ item: InboxItem, sequence: UInt64, at now: Instant) throws(JournalError) {
        uncommitted += 1
        sinceSnapshot += 1
        while journaledNames < names.count {
            let name = NameID(UInt32(journaledNames))
            try journal.append(name, text: names.text(name))
            journaledNames += 1
        }
        try journal.append(
            item.input,
            id: item.id,
            payload: item.payload,
            sequence: sequence,
            at: now,
            origin: item.origin
        )
        switch item.input {
        case .redeliver(let app, let event, _):
            // Decided anew: the delivery to the dead process is settled.
            try journal.acknowledge(app: app, event: event.id)
        case .process(let app, .took(let event)):
            onTheWay[app]?.removeAll { $0 == event }
            try journal.acknowledge(app: app, event: event)
        default: break
        }
    }

    /// Writes down what a live run was told.
    mutating func append(_ command: JournaledCommand) throws(JournalError) {
        uncommitted += 1
        try journal.append(command)
    }

    /// The names that the journal holds already.
    mutating func adoptNames(_ count: Int) {
        journaledNames = count
    }

    // MARK: Deliveries

    /// An event is on its way to a process.
    mutating func append(_ delivery: Delivery) throws(JournalError) {
        onTheWay[delivery.app, default: []].append(delivery.event)
        try journal.append(delivery)
    }

    /// A process is gone, and what it had not acknowledged ended with it.
    mutating func append(_ exit: ExitRecord) throws(JournalError) {
        try journal.append(exit)
        for event in onTheWay.removeValue(forKey: exit.app) ?? [] {
            try journal.acknowledge(app: exit.app, event: event)
        }
    }

    /// A process has taken an event; it is written down with the next turn, or when it is due.
    mutating func note(acknowledged event: EventID, by app: AppID, at now: Instant) {
        if gathersAcknowledgements, acknowledged.isEmpty { commitDue = now.advanced(by: Self.acknowledgementDelay) }
        acknowledged.append((app, event))
    }

    /// Whether a turn has acknowledgements to write down.
    func mustAcknowledge(at now: Instant) -> Bool {
        !acknowledged.isEmpty && (!gathersAcknowledgements || commitDue.map { $0 <= now } ?? true)
    }

    private mutating func writeAcknowledged() throws(JournalError) {
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
    private mutating func writeAcknowledged(
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

    // MARK: Commits

    /// A turn begins: opens a transaction, when none is, and writes down what processes have taken.
    mutating func begin(at now: Instant) throws(JournalError) {
        if !isOpen {
            try journal.begin()
            isOpen = true
        }
        guard mustAcknowledge(at: now) else { return }
        if commitDue == nil { commitDue = now.advanced(by: Self.acknowledgementDelay) }
        try writeAcknowledged()
    }

    /// Whether as many inputs wait for their commit as may share one.
    var isFull: Bool { uncommitted >= Self.sharedCommit }

    /// Whether something waits that must not wait longer.
    func mustCommit(at now: Instant) -> Bool {
        uncommitted > 0 || commitDue.map { $0 <= now } ?? true
    }

    var needsSnapshot: Bool { sinceSnapshot >= Self.snapshotInterval }

    /// Whether anything was accepted since the latest snapshot.
    var isPastSnapshot: Bool { sinceSnapshot > 0 }

    /// Keeps the run as it stands: a recovery begins there.
    mutating func append(snapshot: [UInt8], sequence: UInt64, at now: Instant) throws(JournalError) {
        try journal.begin()
        try journal.append(snapshot: snapshot, sequence: sequence, at: now)
        try journal.commit()
        sinceSnapshot = 0
    }

    /// A replay has taken so many inputs since the latest snapshot.
    mutating func endReplay(inputs: Int) {
        // A journal that was read back holds no more names than the table does.
        journaledNames = min(journaledNames, names.count)
        sinceSnapshot = inputs
    }

    /// Ends the transaction.
    mutating func commit() throws(JournalError) {
        try journal.commit()
        isOpen = false
        uncommitted = 0
        if acknowledged.isEmpty { commitDue = nil }
    }
}
