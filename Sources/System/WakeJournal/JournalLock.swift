import Glibc
import WakePorts

/// Keeps a second process away from a journal, and tells it who holds it.
///
/// The kernel drops the lock with the process, however that ends; the file stays and is harmless.
@safe
struct JournalLock: ~Copyable {
    private let descriptor: Int32

    init(journal path: String) throws(JournalError) {
        let lockPath = path + ".lock"
        let opened = unsafe open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard opened >= 0 else {
            throw JournalError(.system("cannot open \(lockPath): \(Self.words(errno))"), path: path)
        }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let holder = Self.holder(opened)
            close(opened)
            throw JournalError(.inUse(pid: holder), path: path)
        }
        descriptor = opened
        let text = Array("\(getpid())\n".utf8)
        // The number only makes a message better: a disk without space for it does not matter.
        _ = ftruncate(opened, 0)
        _ = unsafe text.withUnsafeBytes { unsafe pwrite(opened, $0.baseAddress, $0.count, 0) }
    }

    deinit {
        close(descriptor)
    }

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
