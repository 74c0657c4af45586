import WakeModel

/// What a run writes down before it acts, so that nothing accepted is lost when the bench dies.
///
/// The caller decides where a transaction begins and ends: everything appended between ``begin()`` and ``commit()`` is
/// kept whole or not at all. When either an append or the commit throws, the transaction has been rolled back; after the
/// cause is gone the same turn can be begun and appended again.
package protocol Journal: AnyObject {
    func begin() throws(JournalError)

    /// An accepted input. Sequence numbers ascend by at least 1.
    ///
    /// - Parameter id: the event number that it took: an event's own, and that of what the user, the phone or the system did;
    ///   ``EventID/none`` for what takes none.
    func append(
        _ input: Input,
        id: EventID,
        payload: EventPayload,
        sequence: UInt64,
        at: Instant,
        origin: NameID
    ) throws(JournalError)

    func append(_ exit: ExitRecord) throws(JournalError)

    /// An event is about to be sent to a process. Committed before the packet leaves, so that no process sees it twice:
    /// a second one with the same app, event, manager and generation is refused.
    func append(_ delivery: Delivery) throws(JournalError)

    /// The process has taken the events that it was sent from `first` to `last`, or they have been decided otherwise:
    /// nothing of them is left to recover. Harmless when there were none.
    func acknowledge(app: AppID, from first: EventID, through last: EventID) throws(JournalError)

    /// The bench gave a name a number.
    func append(_ name: NameID, text: String) throws(JournalError)

    /// Something that a live run was told, before anything that comes of it. Numbers ascend by 1 from 1.
    func append(_ command: JournaledCommand) throws(JournalError)

    /// The run as it stands after the input `sequence`, in the bench's own bytes.
    func append(snapshot: [UInt8], sequence: UInt64, at: Instant) throws(JournalError)

    func commit() throws(JournalError)

    /// Forgets what was appended since ``begin()``. Harmless outside of a transaction.
    func rollback()

    /// The run has come to its end: no input follows, and only its reports may still be missing.
    func end(_ ending: RunEnding) throws(JournalError)

    /// The run is over and its reports are there: there is nothing to recover.
    func finish() throws(JournalError)
}

extension Journal {
    /// The same of one event.
    package func acknowledge(app: AppID, event: EventID) throws(JournalError) {
        try acknowledge(app: app, from: event, through: event)
    }
}

/// One event on its way to one manager of one process.
package struct Delivery: Hashable, Sendable {
    package var app: AppID
    package var manager: ManagerNumber
    package var event: EventID
    package var decision: DecisionID
    /// Which process of the app, counted from 1.
    package var generation: UInt32

    package init(
        app: AppID,
        manager: ManagerNumber = 0,
        event: EventID,
        decision: DecisionID,
        generation: UInt32
    ) {
        self.app = app
        self.manager = manager
        self.event = event
        self.decision = decision
        self.generation = generation
    }
}

/// Something that a live run was told while it played.
package struct JournaledCommand: Hashable, Sendable {
    /// From 1.
    package var number: UInt64
    /// The last input that was accepted before it; 0 when none was.
    package var after: UInt64
    package var at: Instant
    /// What whoever gave it calls it, so that it is done once however often it is given; empty for none.
    package var id: String
    /// What was said, as JSON.
    package var line: String

    package init(number: UInt64, after: UInt64, at: Instant, id: String, line: String) {
        (self.number, self.after, self.at, self.id, self.line) = (number, after, at, id, line)
    }
}

/// How a run came to its end, for reports that are written later.
package struct RunEnding: Hashable, Sendable {
    /// Where the run's clock stood.
    package var at: Instant
    /// Whether the run was asked to end before its time.
    package var isInterrupted: Bool
    /// When the run began, in nanoseconds since 1970.
    package var began: Int64
    /// How long the run took by the wall clock.
    package var took: Instant.Span

    package init(at: Instant, isInterrupted: Bool = false, began: Int64, took: Instant.Span) {
        self.at = at
        self.isInterrupted = isInterrupted
        self.began = began
        self.took = took
    }
}

/// What a run is, as its journal knows it.
package struct JournalMeta: Hashable, Sendable {
    /// Unique among runs but for copies of one; names the run's cgroups, together with its folder.
    package var run: String
    package var scenarioPath: String
    /// A hash of the scenario's bytes, to tell a changed file.
    package var scenarioHash: String
    package var seed: UInt64
    package var profile: Profile
    /// Of every area, as on the command line: `bluetooth=bluez,location=simulated`.
    package var backends: String
    /// `cgroup2`, `cgroup1`, `sigstop`.
    package var freezer: String
    /// When the run begins for its apps, in seconds since 1970.
    package var date: Int64

    package init(
        run: String,
        scenarioPath: String,
        scenarioHash: String,
        seed: UInt64,
        profile: Profile,
        backends: String,
        freezer: String,
        date: Int64
    ) {
        self.run = run
        self.scenarioPath = scenarioPath
        self.scenarioHash = scenarioHash
        self.seed = seed
        self.profile = profile
        self.backends = backends
        self.freezer = freezer
        self.date = date
    }
}

/// The journal cannot be written or read.
package struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// No space is left. The journal can be used again once there is.
        case full
        /// A live process holds the journal; 0 when its number is not known.
        case inUse(pid: Int32)
        /// There is no such file.
        case missing
        /// The file exists already.
        case exists
        /// The file is something else.
        case notAJournal
        /// Another version of the program wrote it.
        case version(Int32)
        /// The file holds something that the program cannot have written.
        case damaged(String)
        /// A file of the journal was removed or renamed while it was in use, or another has taken its name: what is written
        /// would not be found again.
        case displaced
        /// The system refused; the library's words.
        case system(String)
    }

    package var kind: Kind
    /// The file.
    package var path: String

    package init(_ kind: Kind, path: String) {
        self.kind = kind
        self.path = path
    }

    /// What is wrong with the file.
    package var complaint: String {
        switch kind {
        case .full: "no space left for the journal"
        case .inUse(let pid): "in use by \(pid == 0 ? "another process" : "process \(pid)")"
        case .missing: "no journal there"
        case .exists: "a journal is there already"
        case .notAJournal: "not a journal of wakebench"
        case .version(let version): "written in journal format \(version), which this program does not read"
        case .damaged(let what): "damaged (\(what))"
        case .displaced: "removed or replaced while the run went on"
        case .system(let words): words
        }
    }

    /// What to do about it.
    package var remedy: String {
        switch kind {
        case .full: "free some space there or give another --out"
        case .inUse: "stop that run first or give another --out"
        case .missing, .notAJournal: "give the folder of a run"
        case .exists: "give another --out"
        case .version: "use the version that wrote it"
        case .damaged, .displaced: "start a new run with another --out"
        case .system: "check the folder's permissions and disk"
        }
    }

    /// One line that names the file and the remedy.
    package var description: String { "\(path): \(complaint); \(remedy)" }
}

/// Keeps nothing, for runs that must only be fast.
package final class NoJournal: Journal {
    package init() {}

    package func begin() {}
    package func append(
        _ input: Input,
        id: EventID,
        payload: EventPayload,
        sequence: UInt64,
        at: Instant,
        origin: NameID
    ) {}
    package func append(_ exit: ExitRecord) {}
    package func append(_ delivery: Delivery) {}
    package func acknowledge(app: AppID, from first: EventID, through last: EventID) {}
    package func append(_ name: NameID, text: String) {}
    package func append(_ command: JournaledCommand) {}
    package func append(snapshot: [UInt8], sequence: UInt64, at: Instant) {}
    package func commit() {}
    package func rollback() {}
    package func end(_ ending: RunEnding) {}
    package func finish() {}
}
