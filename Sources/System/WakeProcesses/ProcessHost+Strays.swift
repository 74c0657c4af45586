import CWakeShims
import Glibc
import WakeSystem

/// Processes that an app has moved out of its control groups, as root may: they are not frozen with the app.
extension ProcessHost {
    /// The most processes of one app that are looked at.
    private static let mostBelow = 4_096

    /// The processes of an app that are in none of its groups, as far as their parents tell whose they are; in no order.
    package func strays(of app: UInt32) -> [Int32] {
        guard freezer != .sigstop, let running = apps[app] else { return [] }
        let all = [running.pid] + Self.below(running.pid)
        // One that is ending is in no group of version 1 any more.
        let found = all.filter { !running.enclosure.holds($0) && !Self.isEnding($0) }
        if !found.isEmpty { running.hadStrays = true }
        return found
    }

    /// Kills them while their parents tell whose they are.
    func killStrays(of app: UInt32) {
        // One that is being killed may have started another.
        for _ in 0..<8 {
            let found = strays(of: app)
            if found.isEmpty { return }
            for pid in found {
                let descriptor = wake_pidfd_open(pid)
                guard descriptor >= 0 else { continue }
                _ = wake_pidfd_kill(descriptor, SIGKILL)
                _ = Glibc.close(descriptor)
            }
        }
    }

    private static func below(_ ancestor: Int32) -> [Int32] {
        guard let first = children(of: ancestor) else {
            // A kernel without these files.
            var pids = [Int32](repeating: 0, count: mostBelow)
            let count = unsafe wake_descendants(ancestor, &pids, nil, Int32(mostBelow))
            return Array(pids.prefix(Int(max(count, 0))))
        }
        var found = first
        var next = 0
        while next < found.count, found.count < mostBelow {
            found += children(of: found[next]) ?? []
            next += 1
        }
        return found
    }

    /// The children of a process, which each of its threads has in a file of its own; nil where there is none.
    private static func children(of pid: Int32) -> [Int32]? {
        var found: [Int32]?
        for thread in numberedEntries(of: "/proc/\(pid)/task") {
            guard let text = try? readSmallFile("/proc/\(pid)/task/\(thread)/children") else { continue }
            found = (found ?? []) + text.split(separator: " ").compactMap { Int32($0) }
        }
        return found
    }
}
