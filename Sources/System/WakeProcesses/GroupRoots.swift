import Glibc
import WakeSystem

/// Where groups can be made: the bench's own control group in each hierarchy.
package struct GroupRoots: Hashable, Sendable {
    /// The folder of the bench's own group in version 2; nil when there is none.
    package var version2: String?
    /// The folder of the bench's own group of the version 1 freezer; nil when there is none.
    package var version1: String?
    /// The folder of the bench's own group of the version 1 pids controller; nil when there is none.
    package var version1Tasks: String?

    package init(version2: String? = nil, version1: String? = nil, version1Tasks: String? = nil) {
        self.version2 = version2
        self.version1 = version1
        self.version1Tasks = version1Tasks
    }

    /// Looks at this process's mounts and groups. A hierarchy that cannot be read counts as missing.
    package static func ofThisProcess() -> GroupRoots {
        guard let mounts = try? readSmallFile("/proc/self/mountinfo", limit: 1 << 20),
            let groups = try? readSmallFile("/proc/self/cgroup")
        else { return GroupRoots() }
        return GroupRoots(mounts: mounts, groups: groups)
    }

    /// Reads the text of /proc/PID/mountinfo and /proc/PID/cgroup.
    package init(mounts: String, groups: String) {
        var own2: String?
        var own1: String?
        var ownTasks: String?
        for line in groups.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            if fields[0] == "0" && fields[1].isEmpty { own2 = String(fields[2]) }
            if fields[1].split(separator: ",").contains("freezer") { own1 = String(fields[2]) }
            if fields[1].split(separator: ",").contains("pids") { ownTasks = String(fields[2]) }
        }
        for line in mounts.split(separator: "\n") {
            guard let mount = Mount(line) else { continue }
            if mount.type == "cgroup2", version2 == nil, let own2 { version2 = mount.folder(of: own2) }
            if mount.type == "cgroup", mount.options.contains("freezer"), version1 == nil, let own1 {
                version1 = mount.folder(of: own1)
            }
            if mount.type == "cgroup", mount.options.contains("pids"), version1Tasks == nil, let ownTasks {
                version1Tasks = mount.folder(of: ownTasks)
            }
        }
    }

    /// The folder that holds the groups of one run.
    func folder(of run: String, _ kind: FreezerKind) -> String? {
        let root: String? =
            switch kind {
            case .cgroup2: version2
            case .cgroup1: version1
            case .sigstop: nil
            }
        return root.map { "\($0)/wakebench-\(run)" }
    }
}

private struct Mount {
    /// The part of the hierarchy that is mounted.
    var root: String
    var point: String
    var type: Substring
    var options: [Substring]

    /// proc_pid_mountinfo(5): fields 4 and 5 are the root and the mount point; after the dash come type, source, options.
    init?(_ line: Substring) {
        let fields = line.split(separator: " ")
        guard fields.count > 6, let dash = fields[6...].firstIndex(of: "-"), dash + 3 < fields.count else { return nil }
        root = Self.unescaped(fields[3])
        point = Self.unescaped(fields[4])
        type = fields[dash + 1]
        options = fields[dash + 3].split(separator: ",")
    }

    /// The kernel writes a space as \040.
    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                rest = rest.dropFirst(3)
                bytes.append(code)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The folder of a group; nil when the group is outside what is mounted.
    func folder(of group: String) -> String? {
        if group.split(separator: "/").contains("..") { return nil }
        if root == "/" { return group == "/" ? point : point + group }
        if group == root { return point }
        return group.hasPrefix(root + "/") ? point + group.dropFirst(root.utf8.count) : nil
    }
}
