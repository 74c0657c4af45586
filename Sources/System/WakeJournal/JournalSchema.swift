import WakePorts

/// The tables of a journal.
enum JournalSchema {
    /// `WAKE`: tells a journal from any other database.
    static let applicationID: Int64 = 0x5741_4b45
    static let version: Int64 = 19

    /// A snapshot remembers how far exits had come and how many deliveries were left, so that what a replay of the inputs
    /// after it makes can be compared. Each row that a recovery builds on has a ``RowSum``.
    static let text = """
        BEGIN;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
        CREATE TABLE names (number INTEGER PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL);
        CREATE TABLE inputs (
            seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, origin INTEGER NOT NULL, event INTEGER NOT NULL,
            input BLOB NOT NULL, payload BLOB, sum INTEGER NOT NULL);
        CREATE TABLE exits (number INTEGER PRIMARY KEY, exit BLOB NOT NULL);
        CREATE TABLE deliveries (
            event INTEGER NOT NULL, app INTEGER NOT NULL, decision INTEGER NOT NULL, generation INTEGER NOT NULL,
            manager INTEGER NOT NULL, sum INTEGER NOT NULL, acknowledged INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (event, app, manager, generation)) WITHOUT ROWID;
        CREATE TABLE commands (
            number INTEGER PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL, id BLOB NOT NULL, line BLOB NOT NULL,
            sum INTEGER NOT NULL);
        CREATE TABLE snapshots (
            seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, exit INTEGER NOT NULL, deliveries INTEGER NOT NULL,
            snapshot BLOB NOT NULL, sum INTEGER NOT NULL);
        COMMIT;
        """
}

/// Each statement of the hot path, prepared once.
final class JournalStatements {
    let begin: Statement
    let commit: Statement
    let rollback: Statement
    let input: Statement
    let exit: Statement
    let delivery: Statement
    let acknowledge: Statement
    let name: Statement
    let command: Statement
    let snapshot: Statement
    let pageCount: Statement
    let freePages: Statement

    init(_ connection: Connection) throws(JournalError) {
        begin = try Statement("BEGIN IMMEDIATE", on: connection)
        commit = try Statement("COMMIT", on: connection)
        rollback = try Statement("ROLLBACK", on: connection)
        input = try Statement("INSERT INTO inputs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", on: connection)
        exit = try Statement("INSERT INTO exits VALUES (?1, ?2)", on: connection)
        delivery = try Statement(
            "INSERT INTO deliveries (event, app, decision, generation, manager, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            on: connection
        )
        acknowledge = try Statement(
            """
            UPDATE deliveries SET acknowledged = 1, sum = ~sum
            WHERE event BETWEEN ?1 AND ?2 AND app = ?3 AND acknowledged = 0
            """,
            on: connection
        )
        name = try Statement("INSERT INTO names VALUES (?1, ?2, ?3)", on: connection)
        command = try Statement("INSERT INTO commands VALUES (?1, ?2, ?3, ?4, ?5, ?6)", on: connection)
        snapshot = try Statement(
            """
            INSERT OR REPLACE INTO snapshots VALUES (?1, ?2,
                (SELECT coalesce(max(number), 0) FROM exits), (SELECT count(*) FROM deliveries), ?3, ?4)
            """,
            on: connection
        )
        pageCount = try Statement("PRAGMA page_count", on: connection)
        freePages = try Statement("PRAGMA freelist_count", on: connection)
    }
}

extension Statement {
    /// The one number that the statement gives.
    func onlyNumber() throws(JournalError) -> Int64 {
        guard try next() else { return 0 }
        defer { reset() }
        return int64(0)
    }
}
