import Glibc
import WakeSystem

/// Tells when a path may have come into being, by inotify on the nearest folder above it that is there.
///
/// It tells too often rather than too seldom: whoever hears of it looks for itself.
final class PathWatch {
    private let path: String
    private let descriptor: Descriptor
    private let handler: () -> Void
    private var watch: Watch?
    private var folder = ""
    private var number: Int32 = -1
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    /// - Throws: ``SystemError`` when the kernel has no watches left.
    init(path: String, on loop: EventLoop, handler: @escaping () -> Void) throws(SystemError) {
        self.path = path
        self.handler = handler
        let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { throw SystemError(last: "inotify_init1") }
        descriptor = Descriptor(owning: number)
        watch = try loop.watch(number, for: .readable) { [weak self] _ in self?.changed() }
        aim()
    }

    deinit {
        watch?.cancel()
    }

    private func changed() {
        while let count = try? descriptor.read(into: &buffer), count > 0 {}
        aim()
        handler()
    }

    /// Watches the nearest folder that is there, which may be another than before.
    private func aim() {
        var candidate = path[...]
        while let slash = candidate.lastIndex(of: "/") {
            candidate = candidate[..<slash]
            let next = candidate.isEmpty ? "/" : String(candidate)
            if next == folder, number >= 0, isThere(next) { return }
            let kinds = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
            let added = unsafe inotify_add_watch(descriptor.number, next, UInt32(kinds))
            guard added >= 0 else { continue }
            if number >= 0, number != added { inotify_rm_watch(descriptor.number, number) }
            (folder, number) = (next, added)
            return
        }
    }

    private func isThere(_ folder: String) -> Bool { unsafe access(folder, F_OK) == 0 }
}
