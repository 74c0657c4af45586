import Glibc
import WakeDevices
import WakeJournal
import WakeProcesses
import WakeSystem
import WakeVirtualTime

/// Looks at what this machine can do for a bench. It needs no rights, and changes nothing but that it removes empty control
/// groups which killed runs left behind.
package enum Doctor {
    /// One finding.
    package struct Line: Hashable, Sendable {
        package var what: String
        package var good: Bool
        /// What was found, and the remedy when something is missing.
        package var finding: String
    }

    /// What is installed beside the program.
    package struct Installation: Sendable {
        /// What `--hci` needs; nil where it is not.
        package var radioProgram: String?

        package init(radioProgram: String?) { self.radioProgram = radioProgram }
    }

    package static func examine(_ installation: Installation) -> [Line] {
        let areas = Areas.rows.sorted { $0.source.rawValue < $1.source.rawValue }
        return leftovers() + freezers() + virtualTime(.examine(), .available())
            + areas.flatMap { $0.examine(installation) }
            + [PhoneOfMachine.examine(), runs()] + libraries()
    }

    /// A line when there was something to remove.
    private static func leftovers() -> [Line] {
        let removed = GroupRoots.ofThisProcess().removeEmptyGroups()
        let finding = "removed the empty ones of \(removed) killed run\(removed == 1 ? "" : "s")"
        return removed == 0 ? [] : [Line(what: "control groups", good: true, finding: finding)]
    }

    private static func freezers() -> [Line] {
        let probes = FreezerProbe.all()
        let chosen = probes.first { $0.usable }
        return probes.map { probe in
            let used = probe == chosen ? " (used unless --freezer says otherwise)" : ""
            return Line(what: "freezer \(probe.kind.rawValue)", good: probe.usable, finding: plain(probe.reason) + used)
        }
    }

    /// The reason without the name of the group that the probe made and removed.
    private static func plain(_ reason: String) -> String {
        guard let mark = reason.firstRange(of: "/wakebench-probe-") else { return reason }
        return String(reason[..<mark.lowerBound] + reason[mark.upperBound...].drop { $0 != ":" && $0 != "/" })
    }

    /// What virtual time is inside apps, and what of them comes in the same order in each run.
    static func virtualTime(_ support: TimeSupport, _ processor: AppProcessor?) -> [Line] {
        let time =
            switch support {
            case .library(let path): (true, path)
            case .missing(let what): (false, "\(what); apps' own clocks and timers run on wall time")
            }
        let order =
            switch processor {
            case .some(let processor) where processor.isFirstInFirstOut:
                (true, "processor \(processor.number) is the apps', and no thread there is interrupted by another")
            case .some(let processor):
                (
                    false,
                    "processor \(processor.number) is the apps'; as root, or with ulimit -r 1, what they do at one instant is in "
                        + "the same order each time"
                )
            case nil: (false, "only one processor: what apps do at one instant may come in another order each time")
            }
        return [
            Line(what: "virtual time in apps", good: time.0, finding: time.1),
            Line(what: "order in apps", good: order.0, finding: order.1),
        ]
    }

    /// Whether a run can be written to the folder where runs go by default.
    private static func runs() -> Line {
        let name = RunFolder.defaultParent
        let there = unsafe access(name, F_OK) == 0
        let folder = there ? "./\(name)" : "."
        guard unsafe access(folder, W_OK | X_OK) == 0 else {
            let reason = SystemError(last: "access").description
            return Line(what: "run folder", good: false, finding: "\(folder): \(reason); give another with --out")
        }
        var space = statvfs()
        guard unsafe statvfs(folder, &space) == 0 else {
            return Line(what: "run folder", good: true, finding: "./\(name) can be written")
        }
        let free = (UInt64(space.f_bavail) * UInt64(space.f_frsize)) >> 20
        let enough = free >= 64
        let remedy = enough ? "" : "; a run needs more, give another folder with --out"
        return Line(what: "run folder", good: enough, finding: "./\(name) can be written, \(free) MiB free\(remedy)")
    }

    private static func libraries() -> [Line] {
        let systemd = EventLoop.libraryFile
        return [
            Line(what: "SQLite", good: true, finding: SQLiteJournal.libraryVersion),
            Line(what: "libsystemd", good: systemd != nil, finding: systemd ?? "its file is not known"),
            Line(what: "libyaml", good: true, finding: YAMLReader.libraryVersion),
        ]
    }
}
