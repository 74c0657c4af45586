import Glibc
import WakeAudio
import WakeBluetooth
import WakeDevices
import WakeExternalAccessory
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

    package static func examine() -> [Line] {
        let sound = ALSAPresence.examine()
        return leftovers() + freezers() + virtualTime(.examine(), .available()) + bluetooth(.examine())
            + accessories(.examine()) + [self.sound(sound), runs()]
            + libraries(sound)
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
            case .library(let path): Line(what: "virtual time in apps", good: true, finding: path)
            case .missing(let what):
                Line(
                    what: "virtual time in apps",
                    good: false,
                    finding: "\(what); apps' own clocks and timers run on wall time"
                )
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
        return [time, Line(what: "order in apps", good: order.0, finding: order.1)]
    }

    /// The three lines of `--backend bluez`.
    static func bluetooth(_ found: BlueZPresence) -> [Line] {
        let bus = found.busFailure.map { Line(what: "system D-Bus", good: false, finding: "\($0); start dbus.service") }
        let daemon = found.daemonFailure.map { failure in
            Line(
                what: "bluetoothd",
                good: false,
                finding:
                    "\(failure); install the package bluez and start bluetooth.service; simulated Bluetooth works without"
            )
        }
        return [
            bus ?? Line(what: "system D-Bus", good: true, finding: "answers"),
            daemon ?? Line(what: "bluetoothd", good: true, finding: "answers"),
            adapter(found),
        ]
    }

    private static func adapter(_ found: BlueZPresence) -> Line {
        let words = found.adapters.map {
            "\($0.name) \($0.address)\($0.powered ? "" : ", switched off: a run switches it on")"
        }
        let missing =
            found.daemonFailure == nil
            ? "bluetoothd has none; plug one in, and see bluetoothctl list" : "only bluetoothd knows"
        return Line(
            what: "Bluetooth adapter",
            good: !words.isEmpty,
            finding: words.isEmpty ? missing : words.joined(separator: "; ")
        )
    }

    /// The lines of `--backend udev` and `--backend rfcomm`.
    static func accessories(_ found: AccessoryPresence) -> [Line] {
        let udev = Line(
            what: "udev",
            good: found.hasUdev,
            finding: found.hasUdev
                ? "udevd runs"
                : "udevd does not run; start systemd-udevd.service, or accessories that are plugged in are not noticed"
        )
        let closed = found.files.filter { !$0.mayOpen }
        let open = found.files.map { "\($0.node) \($0.device)" }
        let rights = Line(
            what: "USB accessories",
            good: closed.isEmpty && !open.isEmpty,
            finding: closed.first.map {
                "\($0.node) \($0.device): permission denied; add a udev rule with TAG+=\"uaccess\" for it"
            } ?? (open.isEmpty ? "no USB serial port or HID device is plugged in" : open.joined(separator: "; "))
        )
        let rfcomm = Line(
            what: "RFCOMM",
            good: found.rfcommFailure == nil,
            finding: found.rfcommFailure.map { "\($0); load the kernel's module rfcomm" } ?? "in the kernel"
        )
        return [udev, rights, rfcomm]
    }

    /// The line of `--backend audio=alsa`.
    static func sound(_ found: ALSAPresence) -> Line {
        let cards = found.cards.isEmpty ? "none in the kernel" : found.cards.joined(separator: "; ")
        guard let failure = found.failure else { return Line(what: "sound card", good: true, finding: cards) }
        let other = found.cards.isEmpty ? "" : ", or one of the cards \(cards), with --sound-card"
        return Line(what: "sound card", good: false, finding: "\(failure)\(other); simulated sound works without")
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

    private static func libraries(_ sound: ALSAPresence) -> [Line] {
        let systemd = EventLoop.libraryFile
        return [
            Line(what: "SQLite", good: true, finding: SQLiteJournal.libraryVersion),
            Line(what: "libsystemd", good: systemd != nil, finding: systemd ?? "its file is not known"),
            Line(what: "libyaml", good: true, finding: YAMLReader.libraryVersion),
            Line(what: "alsa-lib", good: true, finding: sound.library),
        ]
    }
}
