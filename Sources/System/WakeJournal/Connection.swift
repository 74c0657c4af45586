import CJournalFiles
import CSQLite
import Glibc
import WakePorts

/// A database connection, closed exactly once.
@safe
final class Connection {
    fileprivate let handle: OpaquePointer
    let path: String

    init(path: String, creating: Bool) throws(JournalError) {
        self.path = path
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creating ? SQLITE_OPEN_CREATE : 0)
        let code = unsafe sqlite3_open_v2(path, &opened, flags, wake_journal_files())
        guard code == SQLITE_OK, let opened = unsafe opened else {
            let reason = unsafe opened.map { unsafe sqlite3_system_errno($0) } ?? ENOENT
            let words = unsafe Self.words(String(cString: sqlite3_errstr(code)), reason)
            unsafe sqlite3_close_v2(opened)
            let isMissing = code == SQLITE_CANTOPEN && !creating && reason == ENOENT
            throw JournalError(isMissing ? .missing : .system(words), path: path)
        }
        unsafe handle = opened
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
    }

    /// Whether a transaction is open.
    var inTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Runs statements that give no rows.
    func execute(_ statements: String) throws(JournalError) {
        let code = unsafe sqlite3_exec(handle, statements, nil, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
    }

    /// The first value of the first row, as a number; 0 when there is none.
    func number(_ statement: String) throws(JournalError) -> Int64 {
        let statement = try Statement(statement, on: self)
        return try statement.next() ? statement.int64(0) : 0
    }

    /// Moves what is in the write-ahead log into the database.
    func checkpoint() throws(JournalError) {
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
    }

    /// Calls after each commit with the number of pages in the write-ahead log. The context outlives the connection's
    /// last commit.
    func setLogHook(
        _ context: UnsafeMutableRawPointer,
        _ hook:
            @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32
    ) {
        unsafe sqlite3_wal_hook(handle, hook, context)
    }

    /// A return code as an error.
    func failure(_ code: Int32) -> JournalError {
        switch code & 0xff {
        case SQLITE_FULL: JournalError(.full, path: path)
        case SQLITE_IOERR where isAtSizeLimit: JournalError(.full, path: path)
        case SQLITE_CANTOPEN where hasNoRoomForFiles: JournalError(.full, path: path)
        case SQLITE_NOTADB: JournalError(.notAJournal, path: path)
        case SQLITE_BUSY, SQLITE_LOCKED: JournalError(.inUse(pid: 0), path: path)
        case SQLITE_CORRUPT: JournalError(.damaged(words), path: path)
        // The statements are always the same: a table or a column of them is not there, or holds something else.
        case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT: JournalError(.damaged(words), path: path)
        case SQLITE_CANTOPEN, SQLITE_IOERR:
            JournalError(.system(Self.words(words, unsafe sqlite3_system_errno(handle))), path: path)
        default: JournalError(.system(words), path: path)
        }
    }

    /// Whether a file has come to the size that this process may give one (ulimit -f): the library keeps no error of it.
    private var isAtSizeLimit: Bool {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur < Int.max else {
            return false
        }
        return ["", "-wal", "-journal"].contains { suffix in
            var status = stat()
            // No write of the library is larger than a page of 64 KiB.
            return unsafe stat(path + suffix, &status) == 0 && Int(status.st_size) + 65_536 >= Int(limit.rlim_cur)
        }
    }

    /// Whether no file can be made there, with space left or not: the library looks for the file then, and keeps that it found none.
    private var hasNoRoomForFiles: Bool {
        var disk = statvfs()
        guard unsafe statvfs(path, &disk) == 0, disk.f_flag & UInt(ST_RDONLY) == 0 else { return false }
        return disk.f_bavail == 0 || disk.f_files > 0 && disk.f_favail == 0
    }

    /// The library's words, with the system's reason for them when it is known.
    private static func words(_ words: String, _ reason: Int32) -> String {
        reason == 0 ? words : "\(words): \(JournalLock.words(reason))"
    }

    private var words: String { unsafe String(cString: sqlite3_errmsg(handle)) }
}

/// A prepared statement, finalised exactly once.
@safe
final class Statement {
    private let handle: OpaquePointer
    private let connection: Connection

    init(_ text: String, on connection: Connection) throws(JournalError) {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection.handle,
            text,
            -1,
            UInt32(SQLITE_PREPARE_PERSISTENT),
            &prepared,
            nil
        )
        guard code == SQLITE_OK, let prepared = unsafe prepared else { throw connection.failure(code) }
        unsafe handle = prepared
        self.connection = connection
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    /// Gives the parameter, counted from 1, a number.
    func bind(_ position: Int32, _ value: Int64) {
        let code = unsafe sqlite3_bind_int64(handle, position, value)
        precondition(code == SQLITE_OK, "binding parameter \(position) failed with \(code)")
    }

    /// Gives the parameter a number of 64 bits without a sign, kept in the same bits.
    func bind(_ position: Int32, _ value: UInt64) {
        bind(position, Int64(bitPattern: value))
    }

    /// Runs a statement that gives no rows, and makes it ready for the next time.
    func run() throws(JournalError) {
        let code = unsafe sqlite3_step(handle)
        unsafe sqlite3_reset(handle)
        if code != SQLITE_DONE { throw connection.failure(code) }
    }

    /// Runs with parameters of which some lie in memory that is lent to it, and forgets all of them.
    private func stepOnce() -> Int32 {
        defer {
            unsafe sqlite3_reset(handle)
            unsafe sqlite3_clear_bindings(handle)
        }
        return unsafe sqlite3_step(handle)
    }

    /// Runs with a blob as the parameter at `position`, which is not copied.
    func run(blob: [UInt8], at position: Int32) throws(JournalError) {
        let code = unsafe blob.withUnsafeBytes { bytes in
            unsafe sqlite3_bind_blob64(handle, position, bytes.baseAddress, UInt64(bytes.count), nil)
            return stepOnce()
        }
        if code != SQLITE_DONE { throw connection.failure(code) }
    }

    /// Runs with two blobs cut from one buffer: the first `split` bytes and the rest.
    func run(buffer: [UInt8], split: Int, at first: Int32, _ second: Int32) throws(JournalError) {
        let code = unsafe buffer.withUnsafeBytes { bytes in
            unsafe sqlite3_bind_blob64(handle, first, bytes.baseAddress, UInt64(split), nil)
            let rest = unsafe bytes.baseAddress?.advanced(by: split)
            unsafe sqlite3_bind_blob64(handle, second, rest, UInt64(bytes.count - split), nil)
            return stepOnce()
        }
        if code != SQLITE_DONE { throw connection.failure(code) }
    }

    /// Runs with a text as the parameter at `position`.
    func run(text: String, at position: Int32) throws(JournalError) {
        var text = text
        let code = text.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) { characters in
                // A null pointer would bind NULL, and an empty string has none to offer.
                if let start = characters.baseAddress {
                    unsafe sqlite3_bind_text64(
                        handle,
                        position,
                        start,
                        UInt64(characters.count),
                        nil,
                        UInt8(SQLITE_UTF8)
                    )
                } else {
                    unsafe sqlite3_bind_zeroblob(handle, position, 0)
                }
                return stepOnce()
            }
        }
        if code != SQLITE_DONE { throw connection.failure(code) }
    }

    /// Goes to the next row; false after the last, when the statement is ready for the next time.
    func next() throws(JournalError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        unsafe sqlite3_reset(handle)
        guard code == SQLITE_DONE else { throw connection.failure(code) }
        return false
    }

    /// Leaves the rows that are left.
    func reset() {
        unsafe sqlite3_reset(handle)
    }

    /// A column of the row, counted from 0.
    func int64(_ column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(handle, column)
    }

    func uint64(_ column: Int32) -> UInt64 {
        UInt64(bitPattern: int64(column))
    }

    func bytes(_ column: Int32) -> [UInt8] {
        let start = unsafe sqlite3_column_blob(handle, column)
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// Text; nil when the column holds bytes that are not UTF-8.
    func text(_ column: Int32) -> String? {
        String(validating: bytes(column), as: UTF8.self)
    }
}
