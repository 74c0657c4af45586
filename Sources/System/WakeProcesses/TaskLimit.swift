import Glibc
import WakeSystem

/// Bounds how many tasks, which are processes and their threads, one app may have, where this process may use a pids
/// controller.
struct TaskLimit {
    /// The most tasks of one app.
    static let most = 1_024

    /// Where groups of the version 1 controller are made; nil when the freezer's own groups count tasks too.
    let folder: String?

    /// - Parameter groups: where the freezer's groups are made, below `run`.
    /// - Returns: nil when no controller can be used here.
    init?(_ roots: GroupRoots, _ kind: FreezerKind, run: String?, groups: String?) {
        guard let run, let groups else { return nil }
        if kind == .cgroup2, let root = roots.version2, Self.count(in: [root, run, groups]) {
            folder = nil
            return
        }
        guard let root = roots.version1Tasks else { return nil }
        let outer = "\(root)/\(run.split(separator: "/").last ?? "")"
        let inner = "\(outer)/\(groups.split(separator: "/").last ?? "")"
        do { try makeGroup(inner, in: outer) } catch { return nil }
        folder = inner
    }

    /// Lets groups count the tasks of those below them.
    private static func count(in folders: [String]) -> Bool {
        folders.allSatisfy { write("+pids", to: "\($0)/cgroup.subtree_control") }
    }

    /// Bounds the tasks of an app.
    ///
    /// - Parameter group: the app's group of the freezer.
    /// - Returns: the group to enter before it runs, when that is another one.
    func bound(_ group: String) throws(SystemError) -> BoundGroup? {
        guard let folder else {
            let groups = outerGroup(of: group)
            // Those above that were made anew do not count yet.
            if !Self.write("\(Self.most)", to: "\(group)/pids.max"), Self.count(in: [outerGroup(of: groups), groups]) {
                _ = Self.write("\(Self.most)", to: "\(group)/pids.max")
            }
            return nil
        }
        return try BoundGroup("\(folder)/\(group.split(separator: "/").last ?? "")")
    }

    fileprivate static func write(_ text: String, to path: String) -> Bool {
        guard let file = try? Descriptor.open(path, O_WRONLY) else { return false }
        return (try? file.write(Array(text.utf8))) == text.utf8.count
    }
}

/// An app's group of the version 1 pids controller, removed with the app.
final class BoundGroup {
    private let folder: String
    /// Open for whoever enters it.
    let processes: Descriptor

    fileprivate init(_ folder: String) throws(SystemError) {
        self.folder = folder
        try makeAppGroup(folder, mayExist: true)
        do {
            processes = try Descriptor.open("\(folder)/cgroup.procs", O_WRONLY)
        } catch {
            unsafe rmdir(folder)
            throw error
        }
        _ = TaskLimit.write("\(TaskLimit.most)", to: "\(folder)/pids.max")
    }

    /// Its processes are gone.
    func remove() { unsafe rmdir(folder) }
}
