import CSQLite

extension SQLiteJournal {
    /// The version of the SQLite in use, such as `3.40.1`.
    package static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }
}
