import Glibc
import WakePorts

/// Keeps a second process away from a journal, and tells it who holds it.
///
/// The kernel drops the locks with the process, however that ends; the file stays and is harmless. There are two: a record
/// lock is the process's alone and names it, and a lock of the open file is there against a second journal in one process.
/// The latter is shared with a child until that has become another program, so a killed bench may hold it for a moment.
///
/// Who may open the file may lock it: it is its user's alone.
@safe
struct JournalLock: ~Copyable {
    private let descriptor: Int32
    private let path: String

    /// - Throws: ``JournalError``: of the kind `inUse` where another process, or another journal in this one, has it; with pid 0
    ///   where it is not known which.
    init(journal path: String) throws(JournalError) {
        let lockPath = path + ".lock"
        let opened = unsafe open(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            throw JournalError(.system("open: \(Self.words(errno))"), path: lockPath)
        }
        // One that is there may be of an earlier version, which let others open it.
        _ = fchmod(opened, 0o600)
        if let holder = Self.lock(opened) {
            close(opened)
            throw JournalError(.inUse(pid: holder), path: path)
        }
        (descriptor, self.path) = (opened, lockPath)
        let text = Array("\(getpid())\n".utf8)
        // The number only makes a message better: a disk without space for it does not matter.
        _ = ftruncate(opened, 0)
        _ = unsafe text.withUnsafeBytes { unsafe pwrite(opened, $0.baseAddress, $0.count, 0) }
    }

    deinit {
        close(descriptor)
    }

    /// Whether the file has its name still: who finds none there, or another, is not kept away.
    var isInPlace: Bool {
        var (own, found) = (stat(), stat())
        guard unsafe fstat(descriptor, &own) == 0, unsafe lstat(path, &found) == 0 else { return false }
        return own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }

    /// Takes both locks; the process that has them already, 0 for one that is not known; nil when they were free.
    private static func lock(_ descriptor: Int32) -> pid_t? {
        var record = flock()
        record.l_type = Int16(F_WRLCK)
        record.l_whence = Int16(SEEK_SET)
        if unsafe fcntl(descriptor, F_SETLK, &record) != 0 {
            record.l_type = Int16(F_WRLCK)
            let isKnown = unsafe fcntl(descriptor, F_GETLK, &record) == 0 && record.l_type != Int16(F_UNLCK)
            if isKnown { return max(0, record.l_pid) }
            let other = holder(descriptor)
            return isLiving(other) ? other : 0
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return nil }
        let other = holder(descriptor)
        if other == 0 || isLiving(other) { return other }
        // What a dead one had begun to start has it still, and gives it up at once.
        while flock(descriptor, LOCK_EX) != 0 {
            if errno != EINTR { return 0 }
        }
        return nil
    }

    private static func isLiving(_ process: pid_t) -> Bool { kill(process, 0) == 0 || errno == EPERM }

    /// The process whose number the file has; 0 for none: a full disk has no room for it.
    private static func holder(_ descriptor: Int32) -> Int32 {
        var buffer = [UInt8](repeating: 0, count: 16)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return 0 }
        let digits = buffer.prefix(count).prefix { $0 >= 0x30 && $0 <= 0x39 }
        return Int32(String(decoding: digits, as: UTF8.self)) ?? 0
    }

    static func words(_ number: Int32) -> String {
        unsafe String(cString: strerror(number))
    }
}

/// Keeps the folder of a run that keeps no journal away from a second process.
package final class FolderLock {
    private let lock: JournalLock

    /// - Parameter path: where the run's journal would be.
    /// - Throws: ``JournalError``: of the kind `exists` when a journal is there, `inUse` when a live process has the folder.
    package init(journal path: String) throws(JournalError) {
        lock = try JournalLock(journal: path)
        if unsafe access(path, F_OK) == 0 { throw JournalError(.exists, path: path) }
    }

    /// Whether the lock's file was neither removed nor replaced: otherwise a second process may have the folder, too.
    package var isInPlace: Bool { lock.isInPlace }
}

extension FolderLock {
    /// The process that has the folder of a run to itself; nil when none has. Nothing is locked for the answer.
    ///
    /// - Parameter path: where the run's journal is or would be.
    package static func holder(journal path: String) -> Int32? {
        let opened = unsafe open(path + ".lock", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        defer { close(opened) }
        var record = flock()
        record.l_type = Int16(F_WRLCK)
        record.l_whence = Int16(SEEK_SET)
        guard unsafe fcntl(opened, F_GETLK, &record) == 0, record.l_type != Int16(F_UNLCK) else { return nil }
        return record.l_pid
    }
}
