import CWakeShims
import Glibc
import WakeSystem

extension FreezerProbe {
    /// Tries each freezer with groups of its own, and removes them again.
    package static func all(roots: GroupRoots = .ofThisProcess()) -> [FreezerProbe] {
        let run = "probe-\(getpid())-\(MonotonicClock.now())"
        return FreezerKind.allCases.map { kind in
            let probe = FreezerProbe.attempt(kind, roots: roots, run: run)
            if let folder = roots.folder(of: run, kind) { unsafe rmdir(folder) }
            return probe
        }
    }

    /// Tries one freezer; on success the run's folder is left for its groups.
    static func attempt(_ kind: FreezerKind, roots: GroupRoots, run: String) -> FreezerProbe {
        if kind == .sigstop {
            return FreezerProbe(kind: kind, usable: true, reason: "SIGSTOP to each process of an app; needs no rights")
        }
        guard let folder = roots.folder(of: run, kind) else {
            let missing = kind == .cgroup2 ? "no cgroup2 hierarchy" : "no version 1 freezer hierarchy"
            return FreezerProbe(
                kind: kind,
                usable: false,
                reason: "\(missing) is mounted with this process's group in it; mount one or use another freezer"
            )
        }
        do {
            try attemptGroup(kind, in: folder)
            return FreezerProbe(kind: kind, usable: true, reason: folder)
        } catch {
            unsafe rmdir(folder)
            return FreezerProbe(kind: kind, usable: false, reason: "\(error); \(remedy(for: error, kind))")
        }
    }

    private static func attemptGroup(_ kind: FreezerKind, in folder: String) throws(SystemError) {
        let group = "\(folder)/attempt-\(GroupMaker.mark)"
        try makeGroup(group, in: folder)
        var killed: Int32 = 0
        // A group stays busy for a moment after its last process.
        defer { _ = unsafe wake_clear_group(group, kind.version, &killed) }
        let control = "\(group)/\(kind == .cgroup2 ? "cgroup.freeze" : "freezer.state")"
        _ = try Descriptor.open(control, O_RDWR)
        if kind == .cgroup2 { _ = try Descriptor.open("\(group)/cgroup.kill", O_WRONLY) }
        let processes = try Descriptor.open("\(group)/cgroup.procs", O_WRONLY)
        guard wake_try_group(processes.number) == 0 else {
            throw SystemError(last: "write", subject: "\(group)/cgroup.procs")
        }
    }

    private static func remedy(for error: SystemError, _ kind: FreezerKind) -> String {
        switch error.code {
        case EACCES, EPERM, EROFS:
            kind == .cgroup2
                ? "run as root, or inside `systemd-run --user --scope -p Delegate=yes`"
                : "run as root, or own the group"
        case ENOENT where error.subject.hasSuffix("cgroup.kill"):
            "needs Linux 5.14"
        default:
            "use another freezer"
        }
    }
}

/// Makes a group of an app and, where they are gone, the two above it, which somebody may take away as long as they are empty.
func makeAppGroup(_ folder: String, mayExist: Bool) throws(SystemError) {
    let groups = outerGroup(of: folder)
    for attempt in 0... {
        if unsafe mkdir(folder, 0o755) == 0 || mayExist && errno == EEXIST { return }
        guard errno == ENOENT, attempt < 100 else { throw SystemError(last: "mkdir", subject: folder) }
        try makeGroup(groups, in: outerGroup(of: groups))
    }
}

/// The group that a group is in.
func outerGroup(of folder: String) -> String { String(folder[..<(folder.lastIndex(of: "/") ?? folder.endIndex)]) }

/// Makes a group; one that exists already is fine.
func makeGroup(_ folder: String) throws(SystemError) {
    if unsafe mkdir(folder, 0o755) != 0 && errno != EEXIST { throw SystemError(last: "mkdir", subject: folder) }
}

/// Makes a group and the one it is in. A bench that sweeps may take the outer one away before the inner one is there.
func makeGroup(_ inner: String, in outer: String) throws(SystemError) {
    for attempt in 0... {
        try makeGroup(outer)
        do throws(SystemError) { return try makeGroup(inner) } catch {
            guard error.code == ENOENT, attempt < 100 else { throw error }
        }
    }
}
