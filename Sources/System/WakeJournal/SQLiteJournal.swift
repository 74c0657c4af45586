import CSQLite
import Glibc
import WakeModel
import WakePorts

/// A journal in one SQLite file, written ahead and safe from the death of the bench.
///
/// Commits write and do not wait for the disk; moving pages from the log into the file, which does, waits for a quiet
/// moment or for the log to reach its bound. One process at a time holds a journal.
package final class SQLiteJournal: Journal {
    package struct Settings: Hashable, Sendable {
        /// Bytes in use beyond which inputs older than the last snapshot but one are removed.
        package var bound: Int64
        /// Bytes of log beyond which a commit moves it into the file, however busy the bench is.
        package var logBound: Int64
        /// The most rows of a kind that one snapshot removes, so that no snapshot takes long.
        package var removedAtOnce: Int64
        /// Pages of 1 KiB beyond which the journal counts as full; nil when only the disk says so.
        package var pageLimit: Int64?

        package init(
            bound: Int64 = 64 << 20,
            logBound: Int64 = 32 << 20,
            removedAtOnce: Int64 = 40_000,
            pageLimit: Int64? = nil
        ) {
            self.bound = bound
            self.logBound = logBound
            self.removedAtOnce = removedAtOnce
            self.pageLimit = pageLimit
        }
    }

    package let path: String
    private let settings: Settings
    let connection: Connection
    private let statements: JournalStatements
    private let log: LogSize
    /// In bytes; an older journal may have larger ones.
    private let pageSize: Int64
    private let lock: JournalLock
    /// The file and its log as they were opened; the library makes the log with the first commit.
    private var places: [FilePlace]
    private var writer = ByteWriter(reserving: 1024)

    /// Makes a new journal.
    ///
    /// - Throws: ``JournalError/Kind/exists`` when the file is there, and what the system says.
    package init(creating path: String, meta: JournalMeta, settings: Settings = Settings()) throws(JournalError) {
        self.path = path
        self.settings = settings
        lock = try JournalLock(journal: path)
        guard unsafe access(path, F_OK) != 0 else { throw JournalError(.exists, path: path) }
        try Self.make(path, meta)
        connection = try Connection(path: path, creating: false)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try Self.prepare(connection, settings)
        statements = try JournalStatements(connection)
        pageSize = try connection.number("PRAGMA page_size")
        log = LogSize(connection)
        places = FilePlace.ofJournal(path)
    }

    /// Makes the file with all that every journal has. It gets its name last: whoever finds it finds it whole.
    private static func make(_ path: String, _ meta: JournalMeta) throws(JournalError) {
        let unnamed = path + ".new"
        unsafe unlink(unnamed)
        // The library would let others read it, and what it makes beside it gets the rights of the file.
        let made = unsafe open(unnamed, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard made >= 0 else { throw JournalError(.system(JournalLock.words(errno)), path: path) }
        close(made)
        do throws(JournalError) {
            let connection = try Connection(path: unnamed, creating: true)
            // An input changes the last page of two tables, and each is written whole.
            try connection.execute("PRAGMA page_size = 1024; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;")
            try connection.execute(JournalSchema.text)
            try write(meta, on: connection)
        } catch {
            unsafe unlink(unnamed)
            throw JournalError(error.kind, path: path)
        }
        guard unsafe rename(unnamed, path) == 0 else {
            throw JournalError(.system(JournalLock.words(errno)), path: path)
        }
    }

    /// Opens the journal of an earlier run, to go on or to read it.
    ///
    /// - Throws: ``JournalError`` when there is none, a live process holds it, or it cannot be read.
    package init(opening path: String, settings: Settings = Settings()) throws(JournalError) {
        self.path = path
        self.settings = settings
        guard unsafe access(path, F_OK) == 0 else { throw JournalError(.missing, path: path) }
        for file in [path, path + "-wal", path + ".lock"] {
            if let other = Self.otherKind(file) { throw JournalError(.damaged("\(file) is \(other)"), path: path) }
        }
        lock = try JournalLock(journal: path)
        connection = try Connection(path: path, creating: false)
        // Before the first read, so that the log's index lives in memory and needs no locks.
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        guard try connection.number("PRAGMA application_id") == JournalSchema.applicationID else {
            throw JournalError(.notAJournal, path: path)
        }
        let version = try connection.number("PRAGMA user_version")
        guard version == JournalSchema.version else {
            throw JournalError(.version(Int32(truncatingIfNeeded: version)), path: path)
        }
        try Self.prepare(connection, settings)
        statements = try JournalStatements(connection)
        pageSize = try connection.number("PRAGMA page_size")
        log = LogSize(connection)
        places = FilePlace.ofJournal(path)
    }

    /// What lies at a path in place of a file, such as a link that the library would follow; nil for a file, and for nothing.
    private static func otherKind(_ path: String) -> String? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return switch status.st_mode & S_IFMT {
        case S_IFREG: nil
        case S_IFLNK: "a symbolic link, which is not followed"
        case S_IFDIR: "a folder"
        default: "a pipe, a socket or a device"
        }
    }

    private static func prepare(_ connection: Connection, _ settings: Settings) throws(JournalError) {
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = NORMAL;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA temp_store = MEMORY;
            """
        )
        if let pages = settings.pageLimit { try connection.execute("PRAGMA max_page_count = \(pages)") }
    }

    // MARK: Transactions

    package func begin() throws(JournalError) {
        try statements.begin.run()
    }

    package func commit() throws(JournalError) {
        try attempt { () throws(JournalError) in
            try requireInPlace()
            try statements.commit.run()
        }
        if places.count < 2 { places = FilePlace.ofJournal(path) }
        if log.pages * pageSize > settings.logBound { checkpoint() }
    }

    /// Asks whether what is written here would be found again: the kernel lets a file be written that has no name any more.
    ///
    /// - Throws: ``JournalError/Kind/displaced`` where the file or its log was removed or renamed, or another has its name.
    package func requireInPlace() throws(JournalError) {
        guard places.allSatisfy(\.isKept) else { throw JournalError(.displaced, path: path) }
    }

    package func rollback() {
        guard connection.inTransaction else { return }
        // A rollback only fails when there is nothing to roll back.
        try? statements.rollback.run()
    }

    /// Moves the log into the file. A failure loses nothing: the log stays, and the next one tries again.
    private func checkpoint() {
        do { try connection.checkpoint() } catch { return }
        log.pages = 0
    }

    package func end(_ ending: RunEnding) throws(JournalError) {
        try setMeta("state", text: Self.state(of: ending))
    }

    package func finish() throws(JournalError) {
        try setMeta("state", text: "finished")
        try connection.checkpoint()
    }

    /// Does something; when it fails the whole transaction is undone, so that the caller can begin again.
    private func attempt(_ body: () throws(JournalError) -> Void) throws(JournalError) {
        do throws(JournalError) { try body() } catch {
            rollback()
            throw error
        }
    }

    // MARK: Appending

    package func append(
        _ input: Input,
        id: EventID,
        payload: EventPayload,
        sequence: UInt64,
        at: Instant,
        origin: NameID
    ) throws(JournalError) {
        let statement = statements.input
        statement.bind(1, sequence)
        statement.bind(2, at.nanoseconds)
        statement.bind(3, Int64(origin.number))
        statement.bind(4, id.number)
        writer.removeAll()
        input.encode(into: &writer)
        let split = writer.count
        if payload != .none { payload.encode(into: &writer) }
        let sum = RowSum.input(
            sequence: sequence,
            at: at.nanoseconds,
            origin: Int64(origin.number),
            event: id.number,
            bytes: writer.bytes,
            split: split
        )
        statement.bind(7, sum)
        try attempt { () throws(JournalError) in try statement.run(buffer: writer.bytes, split: split, at: 5, 6) }
    }

    package func append(_ exit: ExitRecord) throws(JournalError) {
        statements.exit.bind(1, exit.number)
        writer.removeAll()
        writer.write(exit)
        try attempt { () throws(JournalError) in try statements.exit.run(blob: writer.bytes, at: 2) }
    }

    package func append(_ delivery: Delivery) throws(JournalError) {
        statements.delivery.bind(1, delivery.event.number)
        statements.delivery.bind(2, Int64(delivery.app.number))
        statements.delivery.bind(3, delivery.decision.number)
        statements.delivery.bind(4, Int64(delivery.generation))
        statements.delivery.bind(5, Int64(delivery.manager))
        let sum = RowSum.delivery(
            event: delivery.event.number,
            app: Int64(delivery.app.number),
            manager: Int64(delivery.manager),
            generation: Int64(delivery.generation),
            decision: delivery.decision.number
        )
        statements.delivery.bind(6, sum)
        try attempt(statements.delivery.run)
    }

    package func acknowledge(app: AppID, from first: EventID, through last: EventID) throws(JournalError) {
        statements.acknowledge.bind(1, first.number)
        statements.acknowledge.bind(2, last.number)
        statements.acknowledge.bind(3, Int64(app.number))
        try attempt(statements.acknowledge.run)
    }

    package func append(_ name: NameID, text: String) throws(JournalError) {
        statements.name.bind(1, Int64(name.number))
        statements.name.bind(3, RowSum.name(Int64(name.number), text: Array(text.utf8)))
        try attempt { () throws(JournalError) in try statements.name.run(text: text, at: 2) }
    }

    package func append(_ command: JournaledCommand) throws(JournalError) {
        let statement = statements.command
        statement.bind(1, command.number)
        statement.bind(2, command.after)
        statement.bind(3, command.at.nanoseconds)
        statement.bind(6, RowSum.command(command))
        let id = Array(command.id.utf8)
        let buffer = id + Array(command.line.utf8)
        try attempt { () throws(JournalError) in try statement.run(buffer: buffer, split: id.count, at: 4, 5) }
    }

    package func append(snapshot: [UInt8], sequence: UInt64, at: Instant) throws(JournalError) {
        try attempt { () throws(JournalError) in
            // What processes have taken is never sent again: no recovery asks for it.
            try connection.execute("DELETE FROM deliveries WHERE acknowledged = 1")
            statements.snapshot.bind(1, sequence)
            statements.snapshot.bind(2, at.nanoseconds)
            statements.snapshot.bind(4, RowSum.snapshot(sequence: sequence, at: at.nanoseconds, bytes: snapshot))
            try statements.snapshot.run(blob: snapshot, at: 3)
            try rotate()
        }
    }

    /// How many commands are remembered whatever becomes of the inputs, so that one that is given again is known.
    package static let rememberedCommands = 10_000

    /// Removes what no recovery needs any more: see ``Settings/bound``.
    private func rotate() throws(JournalError) {
        try connection.execute(
            "DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT 2)"
        )
        guard try connection.number("SELECT count(*) FROM snapshots") == 2, try bytesInUse > settings.bound else {
            return
        }
        let most = settings.removedAtOnce
        try connection.execute(
            """
            DELETE FROM commands
            WHERE seq < (SELECT min(seq) FROM snapshots)
                AND number <= (SELECT max(number) FROM commands) - \(Self.rememberedCommands);
            DELETE FROM inputs WHERE seq IN (
                SELECT seq FROM inputs
                WHERE seq <= (SELECT min(seq) FROM snapshots)
                    AND event NOT IN (SELECT event FROM deliveries)
                ORDER BY seq LIMIT \(most));
            DELETE FROM exits WHERE number IN (
                SELECT number FROM exits
                WHERE number <= (SELECT exit FROM snapshots ORDER BY seq LIMIT 1)
                ORDER BY number LIMIT \(most));
            """
        )
    }

    /// Bytes of the file that hold something.
    package var bytesInUse: Int64 {
        get throws(JournalError) {
            try (statements.pageCount.onlyNumber() - statements.freePages.onlyNumber()) * pageSize
        }
    }

    /// Lets the journal grow to so many pages of 1 KiB, or as far as the disk goes.
    package func setPageLimit(_ pages: Int64?) throws(JournalError) {
        try connection.execute("PRAGMA max_page_count = \(pages ?? 1_073_741_823)")
    }

    // MARK: Meta

    private static func write(_ meta: JournalMeta, on connection: Connection) throws(JournalError) {
        let texts = [
            ("run", meta.run), ("scenario.path", meta.scenarioPath), ("scenario.hash", meta.scenarioHash),
            ("seed", "\(meta.seed)"), ("profile.name", meta.profile.name), ("backends", meta.backends),
            ("freezer", meta.freezer), ("date", "\(meta.date)"),
        ]
        let profile = ByteWriter.bytes(of: meta.profile)
        let sum = RowSum.meta(texts.map { ($0.0, Array($0.1.utf8)) } + [("profile", profile)])
        for (key, text) in texts + [("state", "running"), (sumKey, "\(sum)")] {
            try Statement("INSERT INTO meta VALUES ('\(key)', ?1)", on: connection).run(text: text, at: 1)
        }
        try Statement("INSERT INTO meta VALUES ('profile', ?1)", on: connection).run(blob: profile, at: 1)
    }

    /// The key of the sum of all other values but the state.
    static let sumKey = "sum"

    /// The state of a run that has come to its end, with a sum of its own.
    static func state(of ending: RunEnding) -> String {
        let word = ending.isInterrupted ? interruptedWord : "played"
        let text = "\(ending.at.nanoseconds) \(word) \(ending.began) \(ending.took.nanoseconds)"
        return "ended \(text) \(RowSum.meta([("end", Array(text.utf8))]))"
    }

    /// Stands in the state of a run that was asked to end before its time.
    static let interruptedWord = "interrupted"

    private func setMeta(_ key: String, text: String) throws(JournalError) {
        let statement = try Statement("INSERT OR REPLACE INTO meta VALUES ('\(key)', ?1)", on: connection)
        try attempt { () throws(JournalError) in try statement.run(text: text, at: 1) }
    }
}

/// A file, and where it was found.
private struct FilePlace {
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Nil where nothing is at the path.
    init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        (self.path, device, inode) = (path, status.st_dev, status.st_ino)
    }

    /// Those of a journal that is open, as far as they are there: the library keeps both until it closes.
    static func ofJournal(_ path: String) -> [FilePlace] { [path, path + "-wal"].compactMap(FilePlace.init) }

    /// Whether it is there still.
    var isKept: Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }
}

/// How many pages the write-ahead log holds, as the library says after each commit.
@safe
final class LogSize {
    var pages: Int64 = 0

    init(_ connection: Connection) {
        unsafe connection.setLogHook(Unmanaged.passUnretained(self).toOpaque()) { context, _, _, pages in
            if let context = unsafe context {
                unsafe Unmanaged<LogSize>.fromOpaque(context).takeUnretainedValue().pages = Int64(pages)
            }
            return SQLITE_OK
        }
    }
}
