import Glibc
import WakeSystem

/// The folder that a run writes to.
package struct RunFolder: Sendable {
    package let path: String

    package var decisions: String { path + "/decisions.ndjson" }
    package var outcomes: String { path + "/outcomes.ndjson" }
    package var journal: String { path + "/journal.sqlite" }
    package var report: String { path + "/report.html" }
    package var trace: String { path + "/trace.json" }
    package var junit: String { path + "/junit.xml" }
    package var apps: String { path + "/apps" }

    /// Where what an app prints goes, from the run folder.
    package static func log(of bundle: String) -> String { "apps/\(bundle).log" }

    /// Where runs go below the current folder when no place is given.
    package static let defaultParent = "wakebench-runs"

    /// `wakebench-runs/2026-11-21T04-00-11.120Z` below the current folder.
    package static func defaultPath() -> String {
        "\(defaultParent)/\(stamp(WallClock.now()))"
    }

    private static func stamp(_ nanoseconds: Int64) -> String {
        var seconds = time_t(nanoseconds / 1_000_000_000)
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let milliseconds = nanoseconds / 1_000_000 % 1_000
        let fraction = String(repeating: "0", count: 3 - String(milliseconds).count) + "\(milliseconds)"
        let date = unsafe [parts.tm_mon + 1, parts.tm_mday].map(two).joined(separator: "-")
        let time = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: "-")
        return unsafe "\(parts.tm_year + 1900)-\(date)T\(time).\(fraction)Z"
    }

    /// A folder that an earlier run made.
    package init(of path: String) {
        self.path = path
    }

    /// Makes the folder and those above it.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when the system refuses.
    package init(making path: String) throws(CommandFailure) {
        self.path = path
        try Self.make(path)
    }

    /// Makes a folder and those above it; one that is there is left as it is, and must be this user's.
    static func make(_ path: String) throws(CommandFailure) {
        var prefix = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            prefix += prefix.isEmpty || prefix.hasSuffix("/") ? String(part) : "/" + part
            if unsafe mkdir(prefix, 0o700) != 0, errno != EEXIST {
                let reason = SystemError(last: "mkdir").description
                throw CommandFailure(.environment, "\(prefix): \(reason)", hint: "give another folder with --out")
            }
        }
        var status = stat()
        if unsafe stat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR {
            throw CommandFailure(.environment, "\(path): not a folder", hint: "give another with --out")
        }
        // Who owns a folder puts into it, and takes out of it, what he likes.
        if status.st_uid != geteuid() {
            throw CommandFailure(
                .environment,
                "\(path): belongs to user \(status.st_uid), not to user \(geteuid()); give a folder of your own with --out"
            )
        }
    }

    /// Lets the link `latest` beside the folder point to it; a link that cannot be made is left out.
    package func becomeLatest() {
        guard let slash = path.lastIndex(of: "/") else { return }
        let link = path[..<slash] + "/latest"
        let name = String(path[path.index(after: slash)...])
        let temporary = link + ".\(getpid())"
        if unsafe symlink(name, String(temporary)) == 0 { unsafe rename(String(temporary), String(link)) }
    }

    /// Takes the folder away again when nothing was written to it.
    package func removeIfEmpty() {
        unsafe rmdir(path)
    }
}
