/// A lock on a file, as flock(2) and fcntl(2) make them.
package struct FileLock: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// Of the whole file, by flock.
        case flock = "FLOCK"
        /// Of a range of bytes, and of the process; SQLite takes such.
        case posix = "POSIX"
        /// Of a range of bytes, and of the open file description.
        case openFileDescription = "OFDLCK"
    }

    package let kind: Kind
    /// Whether nobody else may have one; otherwise it is shared with readers.
    package let isExclusive: Bool
    /// The file's device and inode as the kernel spells them, such as `08:01:131`.
    let file: String
    package let first: UInt64
    /// The last byte; nil for all up to the end, however far the file grows.
    package let last: UInt64?
    /// Where the file lies, as the kernel names it.
    package let path: String

    /// The locks that the text of a /proc/PID/fdinfo/NUMBER shows, where `path` is what the descriptor is open on.
    ///
    /// There, unlike in /proc/locks, each stands with who holds it: one of an open file description has no process, and a
    /// lock by flock names the process that took it, which may have ended.
    package static func held(_ text: String, path: String) -> [FileLock] {
        text.split(separator: "\n").filter { $0.hasPrefix("lock:") }.compactMap { FileLock(line: $0, path: path) }
    }

    /// `lock:	1: POSIX  ADVISORY  WRITE 1234 08:01:131 1073741824 1073742335`; nil for a lease and for what is none.
    private init?(line: Substring, path: String) {
        let fields = line.split { $0 == " " || $0 == "\t" }
        // One that still waits has an arrow after its number.
        guard fields.count == 9, let kind = Kind(rawValue: String(fields[2])),
            fields[4] == "READ" || fields[4] == "WRITE",
            let first = UInt64(fields[7])
        else { return nil }
        self.kind = kind
        isExclusive = fields[4] == "WRITE"
        file = String(fields[6])
        self.first = first
        if fields[8] == "EOF" {
            last = nil
        } else if let last = UInt64(fields[8]), last >= first {
            self.last = last
        } else {
            return nil
        }
        self.path = path
    }

    /// Whether it does no more than say that a SQLite database in WAL mode is open: each connection holds the byte of the dead
    /// man's switch of its shared memory for as long as it is there (os_unix.c of SQLite: UNIX_SHM_DMS, 128).
    package var saysOpen: Bool { kind == .posix && path.hasSuffix("-shm") && first == 128 && last == 128 }

    /// Whether the file lies in a folder, given without a link and without a slash at its end.
    package func isIn(_ folder: String) -> Bool { path.hasPrefix(folder + "/") }

    /// For people, such as `a shared lock on /srv/group.db (bytes 128 to 128)`.
    package var text: String {
        let range = last.map { " (bytes \(first) to \($0))" } ?? (first == 0 ? "" : " (from byte \(first))")
        return "\(isExclusive ? "an exclusive" : "a shared") lock on \(path)\(range)"
    }
}
