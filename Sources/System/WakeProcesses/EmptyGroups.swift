import Glibc

extension GroupRoots {
    /// Removes the empty control groups that killed runs and probes have left behind. What a live bench made, and what holds
    /// a process, stays.
    ///
    /// - Returns: how many runs had left some.
    @discardableResult
    package func removeEmptyGroups() -> Int {
        var removed = 0
        for root in Set([version2, version1, version1Tasks].compactMap(\.self)) {
            for run in Self.folders(in: root) where run.hasPrefix("wakebench-") && Self.isAbandoned(run, in: root) {
                if Self.remove("\(root)/\(run)", depth: 3) { removed += 1 }
            }
        }
        return removed
    }

    /// Whether every bench that made the group, or something in it, has ended.
    private static func isAbandoned(_ run: String, in root: String) -> Bool {
        let groups = folders(in: "\(root)/\(run)")
        // A bench that is about to make its own group in it makes both again.
        if groups.isEmpty, !run.hasPrefix("wakebench-probe-") { return true }
        var makers = groups.filter { $0.hasPrefix("bench-") }.map { $0.dropFirst("bench-".count) }
        if makers.isEmpty {
            // A run's and a probe's own name holds the number of the process too.
            let parts = run.split(separator: "-")
            guard parts.count > 2, ["run", "probe"].contains(parts[1]) else { return false }
            makers = [parts[2]]
        }
        return makers.allSatisfy { maker in
            guard let pid = Int32(maker), pid > 0 else { return false }
            return kill(pid, 0) != 0 && errno == ESRCH
        }
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
