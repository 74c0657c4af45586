import Glibc

extension GroupRoots {
    /// Removes the empty control groups that killed runs and probes have left behind. What a live bench made, what holds a
    /// process, and what was made in another PID namespace, of whose processes nothing is known here, stays.
    ///
    /// - Returns: how many runs had left some.
    @discardableResult
    package func removeEmptyGroups() -> Int {
        var removed = 0
        for root in Set([version2, version1, version1Tasks].compactMap(\.self)) {
            for run in Self.folders(in: root) where run.hasPrefix("wakebench-") {
                let folder = "\(root)/\(run)"
                for group in Self.folders(in: folder) where GroupMaker.hasEnded(group) {
                    _ = Self.remove("\(folder)/\(group)", depth: 2)
                }
                // A bench that is about to make its own group in it makes both again.
                if unsafe rmdir(folder) == 0 { removed += 1 }
            }
        }
        return removed
    }

    /// Removes a group and those in it, so deep; the kernel keeps one that holds a process.
    private static func remove(_ folder: String, depth: Int) -> Bool {
        if depth > 0 { for group in folders(in: folder) { _ = remove("\(folder)/\(group)", depth: depth - 1) } }
        return unsafe rmdir(folder) == 0
    }

    private static func folders(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if unsafe entry.pointee.d_type == UInt8(DT_DIR), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}

/// Whose a group within a run's or a probe's is: its name ends with the number of the process that made it, and the namespace that
/// the number is of, as benches of several containers may see the same groups.
enum GroupMaker {
    /// How the names of this process's groups end, after a dash.
    static var mark: String { "\(getpid())-\(namespace)" }

    /// The inode of this process's PID namespace; 0 where it cannot be read.
    static let namespace: UInt64 = {
        var status = stat()
        return unsafe stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    }()

    /// Whether the process that made a group is known to be gone.
    static func hasEnded(_ group: String) -> Bool {
        let parts = group.split(separator: "-")
        guard parts.count == 3, ["bench", "attempt"].contains(parts[0]), let process = Int32(parts[1]), process > 0,
            namespace != 0, UInt64(parts[2]) == namespace
        else { return false }
        return kill(process, 0) != 0 && errno == ESRCH
    }
}
