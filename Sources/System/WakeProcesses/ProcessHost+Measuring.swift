import CWakeShims
import Glibc
import WakeSystem

/// What apps use and hold. It is looked for when it is asked for, in the kernel's files of each process; an app that may not be
/// looked at, as it has changed its user, shows nothing.
extension ProcessHost {
    /// The most that is read of a table of the machine's sockets, in bytes.
    private static let largestTable = 16 << 20

    /// What the app has used so far; nil when it has no process, or has just ended.
    package func usage(of app: UInt32) -> ProcessUsage? {
        guard let running = apps[app] else { return nil }
        let members = running.enclosure.members
        guard let time = running.enclosure.processorTime ?? Self.processorTime(of: members) else { return nil }
        return ProcessUsage(
            processorTime: running.processorTime.now(time),
            footprint: Self.footprint(of: members)
        )
    }

    /// The most memory that the app is known to have had at once, in bytes; nil when it has no process.
    package func peakFootprint(of app: UInt32) -> Int64? {
        guard let members = apps[app]?.enclosure.members else { return nil }
        var (peak, sum): (Int64, Int64) = (0, 0)
        for pid in members {
            let status = try? readSmallFile("/proc/\(pid)/status")
            peak = max(peak, status.flatMap { KernelText.peakMemory(status: $0) } ?? 0)
            sum += Self.sharedMemory(of: pid, among: members) ?? status.flatMap { KernelText.memory(status: $0) } ?? 0
        }
        return max(peak, sum)
    }

    private static func processorTime(of members: [Int32]) -> Int64? {
        let tick = 1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK)))
        var sum: Int64 = 0
        var isKnown = false
        for pid in members {
            let time = wake_cpu_time(pid)
            guard time >= 0 else { continue }
            isKnown = true
            let text = try? readSmallFile("/proc/\(pid)/stat", limit: 1_024)
            sum += time + (text.flatMap(KernelText.childTicks) ?? 0) * tick
        }
        return isKnown ? sum : nil
    }

    private static func footprint(of members: [Int32]) -> Int64 {
        var sum: Int64 = 0
        for pid in members {
            sum +=
                sharedMemory(of: pid, among: members)
                ?? (try? readSmallFile("/proc/\(pid)/status")).flatMap { KernelText.memory(status: $0) } ?? 0
        }
        return sum
    }

    /// The kernel adds up what two processes share only by looking at every page, which is done only where there are two.
    ///
    /// - Returns: the memory of one of them in bytes; nil where it is alone.
    private static func sharedMemory(of pid: Int32, among members: [Int32]) -> Int64? {
        guard members.count > 1 else { return nil }
        return (try? readSmallFile("/proc/\(pid)/smaps_rollup")).flatMap { KernelText.memory(rollup: $0) }
    }

    // MARK: Locks

    /// The locks that the app holds on files outside of a folder, each once, in the order of its processes and descriptors.
    ///
    /// - Parameter folder: what is the app's alone.
    package func locks(of app: UInt32, outside folder: String) -> [FileLock] {
        guard let members = apps[app]?.enclosure.members else { return [] }
        let own = Self.withoutLinks(folder)
        var found: [FileLock] = []
        for pid in members {
            for entry in OpenFile.all(of: pid) where entry.path.hasPrefix("/") && !entry.path.hasPrefix("/dev/null") {
                // A file that has no name any more is nobody else's.
                guard !entry.path.hasSuffix(" (deleted)"),
                    let text = try? readSmallFile("/proc/\(pid)/fdinfo/\(entry.number)")
                else { continue }
                for lock in FileLock.held(text, path: entry.path) where !lock.saysOpen && !lock.isIn(own) {
                    if !found.contains(lock) { found.append(lock) }
                }
            }
        }
        return found
    }

    private static func withoutLinks(_ folder: String) -> String {
        guard let path = unsafe realpath(folder, nil) else { return folder }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    // MARK: Sockets

    /// The sockets on which the app listens, each once.
    package func listeners(of app: UInt32) -> [ListeningSocket] {
        var found: [ListeningSocket] = []
        for place in places(of: app) where !found.contains(place.socket) { found.append(place.socket) }
        return found
    }

    /// Ends the listening of the app's sockets, whether it is frozen or not: it accepts nothing any more, and who connects is
    /// refused. Its descriptors stay open.
    ///
    /// - Returns: the sockets, each with why it listens on; nil for one that does not.
    package func closeListeners(of app: UInt32) -> [(socket: ListeningSocket, failure: SystemError?)] {
        var done: [(socket: ListeningSocket, failure: SystemError?)] = []
        for place in places(of: app) where !done.contains(where: { $0.socket == place.socket }) {
            let failed = wake_end_listening(place.pid, place.number, place.socket.inode) != 0
            done.append((place.socket, failed ? SystemError(last: "pidfd_getfd", subject: place.socket.name) : nil))
            if !failed { apps[app]?.closedListeners.insert(place.socket.inode) }
        }
        return done
    }

    private func places(of app: UInt32) -> [(pid: Int32, number: Int32, socket: ListeningSocket)] {
        guard let running = apps[app] else { return [] }
        var places: [(pid: Int32, number: Int32, socket: ListeningSocket)] = []
        var tables: [String: [UInt64: ListeningSocket]] = [:]
        for pid in running.enclosure.members {
            let sockets = OpenFile.all(of: pid).compactMap { file in file.socket.map { (file.number, $0) } }
                .filter { $0.1 != running.peer }
            guard !sockets.isEmpty else { continue }
            let space = OpenFile.target("/proc/\(pid)/ns/net") ?? ""
            let table = tables[space] ?? Self.listeners(seenBy: pid)
            tables[space] = table
            for (number, inode) in sockets {
                if let socket = table[inode], !running.closedListeners.contains(inode) {
                    places.append((pid, number, socket))
                }
            }
        }
        return places
    }

    /// All that listen in the network of a process, by inode.
    private static func listeners(seenBy pid: Int32) -> [UInt64: ListeningSocket] {
        func table(_ name: String) -> String {
            (try? readSmallFile("/proc/\(pid)/net/\(name)", limit: largestTable)) ?? ""
        }
        let all = ["tcp", "tcp6"].flatMap { ListeningSocket.tcp(table($0)) } + ListeningSocket.unix(table("unix"))
        return Dictionary(all.map { ($0.inode, $0) }) { first, _ in first }
    }
}

/// The names in a folder that are numbers; none where it cannot be read.
func numberedEntries(of folder: String) -> [Int32] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var numbers: [Int32] = []
    while let entry = unsafe readdir(stream) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
            unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if let number = Int32(name) { numbers.append(number) }
    }
    return numbers
}

/// A descriptor of a process, and what it is open on.
private struct OpenFile {
    let number: Int32
    /// A path, or such as `socket:[1234]`.
    let path: String

    /// The inode of a socket; nil for what is none.
    var socket: UInt64? {
        guard path.hasPrefix("socket:["), path.hasSuffix("]") else { return nil }
        return UInt64(path.dropFirst("socket:[".count).dropLast())
    }

    /// In the order of their numbers.
    static func all(of pid: Int32) -> [OpenFile] {
        let folder = "/proc/\(pid)/fd"
        return numberedEntries(of: folder).sorted().compactMap { number in
            target("\(folder)/\(number)").map { OpenFile(number: number, path: $0) }
        }
    }

    /// What a link of the kernel's points to.
    static func target(_ link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe readlink(link, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}
