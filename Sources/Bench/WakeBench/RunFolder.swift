import Glibc
import WakeReports
import WakeSystem

/// The folder that a run writes to.
package struct RunFolder: Sendable {
    package let path: String

    package var decisions: String { path + "/decisions.ndjson" }
    package var outcomes: String { path + "/outcomes.ndjson" }
    package var journal: String { path + "/" + Self.journalName }
    static let journalName = "journal.sqlite"
    /// How far the clock has come: see ``KeptClock``.
    var clock: String { path + "/" + Self.clockName }
    static let clockName = "clock"
    /// What came of the commands of a live run: see ``GivenCommands``.
    var answers: String { path + "/answers.ndjson" }
    package var report: String { path + "/report.html" }
    /// The page of this run and another.
    package var comparison: String { path + "/comparison.html" }
    package var trace: String { path + "/trace.json" }
    package var junit: String { path + "/junit.xml" }
    /// The folder of the files that the run plays.
    var played: String { path + "/" + Self.playedName }
    /// The folder that holds the keys of pairings over `bluetooth=hci`.
    static let radioName = "radio"
    static let playedName = "played"
    /// The folder of transfers and what they bring.
    var transfers: String { path + "/transfers" }

    /// Where what an app prints goes, from the run folder.
    package static func log(of bundle: String) -> String { "apps/\(bundle).log" }

    /// The logs of a live run go on in new files: those that end get the number of their part, and old parts go.
    ///
    /// A part whose decisions have its number has ended, even if its outcomes have not got it yet.
    func endPart(_ part: UInt64) throws(ReportError) {
        for log in [decisions, outcomes] {
            guard unsafe rename(log, Self.part(part, of: log)) == 0 else {
                throw ReportError(.system("rename", errno), path: log)
            }
            if part >= Self.keptParts { unsafe unlink(Self.part(part - Self.keptParts, of: log)) }
        }
    }

    /// Whether a part has ended.
    func hasEnded(_ part: UInt64) throws(ReportError) -> Bool {
        guard unsafe access(Self.part(part, of: decisions), F_OK) == 0 else { return false }
        let ended = Self.part(part, of: outcomes)
        if unsafe access(ended, F_OK) != 0, unsafe rename(outcomes, ended) != 0 {
            throw ReportError(.system("rename", errno), path: outcomes)
        }
        return true
    }

    /// How many parts are kept beside the present one.
    private static let keptParts: UInt64 = 2

    /// `decisions.3.ndjson`.
    private static func part(_ part: UInt64, of log: String) -> String {
        "\(log.dropLast(".ndjson".count)).\(part).ndjson"
    }

    /// Where runs go below the current folder when no place is given.
    package static let defaultParent = "wakebench-runs"

    /// `wakebench-runs/2026-11-21T04-00-11.120Z` below the current folder.
    package static func defaultPath() -> String {
        "\(defaultParent)/\(WallTime.text(WallClock.now()).replacing(":", with: "-"))"
    }

    /// Does something in a folder of its own, at ``defaultPath()`` or with a number behind that. The folder is made first, so that
    /// no other run has it too, whether it begins in the same millisecond or the machine's clock is beyond the last time that can
    /// be written; where nothing was put into it, it goes.
    ///
    /// - Parameter suffix: behind the time in its name.
    package static func withOwnPlace<Answer>(
        suffix: String = "",
        _ body: (_ path: String) throws(CommandFailure) -> Answer
    ) throws(CommandFailure) -> Answer {
        let isFirst = (try? make(defaultParent)) ?? false
        let path = claim(defaultPath() + suffix)
        defer {
            unsafe rmdir(path)
            if isFirst { unsafe rmdir(defaultParent) }
        }
        return try body(path)
    }

    /// Makes a folder that was not there: at a path, or else with -2, -3 and so on behind it.
    ///
    /// - Returns: where; the path as it was given where none can be made, which is told by whoever writes there.
    static func claim(_ path: String) -> String {
        for number in 1...mostOfName {
            let numbered = number == 1 ? path : "\(path)-\(number)"
            if unsafe mkdir(numbered, 0o700) == 0 { return numbered }
            guard errno == EEXIST else { break }
        }
        return path
    }

    private static let mostOfName = 10_000

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
    ///
    /// - Parameter option: what names another.
    /// - Returns: whether it was not there.
    @discardableResult
    static func make(_ path: String, option: String = "--out") throws(CommandFailure) -> Bool {
        var prefix = path.hasPrefix("/") ? "/" : ""
        var isNew = false
        for part in path.split(separator: "/") {
            prefix += prefix.isEmpty || prefix.hasSuffix("/") ? String(part) : "/" + part
            isNew = unsafe mkdir(prefix, 0o700) == 0
            if !isNew, errno != EEXIST {
                let reason = SystemError(last: "mkdir").description
                throw CommandFailure(.environment, in: prefix, reason, hint: "give another folder with \(option)")
            }
        }
        var status = stat()
        if unsafe stat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR {
            throw CommandFailure(.environment, in: path, "not a folder", hint: "give another with \(option)")
        }
        try requireOwn(status, path, option)
        return isNew
    }

    /// The owner of a folder puts anything into it, and takes anything out of it.
    private static func requireOwn(_ status: stat, _ path: String, _ option: String) throws(CommandFailure) {
        guard status.st_uid != geteuid() else { return }
        throw CommandFailure(
            .environment,
            in: path,
            "belongs to user \(status.st_uid), not to user \(geteuid())",
            hint: "give a folder of your own with \(option)"
        )
    }

    /// The same of an open folder.
    static func requireOwn(_ folder: Int32, _ path: String) throws(CommandFailure) {
        var status = stat()
        guard unsafe fstat(folder, &status) == 0 else {
            throw CommandFailure(.environment, SystemError(last: "fstat", subject: path).description)
        }
        try requireOwn(status, path, "--out")
    }

    /// Sees to it that only this user, and root, put anything into a folder of this user's, or something else in its place.
    ///
    /// - Parameters:
    ///   - path: a whole path; what of it is not there yet is as good as this user's.
    ///   - option: what names another.
    /// - Throws: ``CommandFailure`` with exit code 12 where others may write into it, or one above it is another user's, or lets
    ///   any user take things out of it.
    static func requireUndisturbed(_ path: String, option: String) throws(CommandFailure) {
        if let own = attributes(of: path), own.st_uid == geteuid(), own.st_mode & 0o022 != 0 {
            throw CommandFailure(
                .environment,
                in: path,
                "users other than user \(geteuid()) may write into it",
                hint: "keep them out with 'chmod go-w \(path)'"
            )
        }
        // In a user namespace root may have another number.
        let trusted = [geteuid(), 0] + (attributes(of: "/").map { [$0.st_uid] } ?? [])
        for folder in above(path) + above(resolved(path)) {
            guard let found = attributes(of: folder) else { continue }
            guard trusted.contains(found.st_uid) else {
                throw CommandFailure(
                    .environment,
                    in: path,
                    "lies in \(folder), which belongs to user \(found.st_uid), not to user \(geteuid())",
                    hint: "give a folder elsewhere with \(option)"
                )
            }
            // From one like /tmp each takes out its own alone (inode(7), the sticky bit).
            guard found.st_mode & 0o002 == 0 || found.st_mode & 0o1000 != 0 else {
                throw CommandFailure(
                    .environment,
                    in: path,
                    "lies in \(folder), where any user may put another in its place",
                    hint: "keep them out with 'chmod o-w \(folder)'"
                )
            }
        }
    }

    static func attributes(of path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    /// The folders on the way to a whole path.
    private static func above(_ path: String) -> [String] {
        var folders = ["/"]
        for part in path.split(separator: "/").dropLast() {
            folders.append(folders.count == 1 ? "/\(part)" : "\(folders[folders.count - 1])/\(part)")
        }
        return folders
    }

    /// A path without links; as it is where nothing is there.
    static func resolved(_ path: String) -> String {
        guard let whole = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(whole) }
        return unsafe String(cString: whole)
    }

    /// What an app finds in its own folder when it is first launched: where Foundation has it keep documents and caches, its
    /// temporary files, and what a phone has there and apps name by its path.
    private static let foldersOfHome = [
        ["Documents"], [".cache"], ["tmp"], ["Library", "Caches"], ["Library", "Preferences"],
    ]

    /// Makes the folder that an app with a bundle identifier has for its own, with what is in it from the first; one that is there is
    /// left as it is.
    ///
    /// - Returns: its path.
    /// - Throws: ``CommandFailure`` with exit code 12 when the system refuses, or a part of it is a link or another user's.
    func makeHome(of bundle: String) throws(CommandFailure) -> String {
        for names in Self.foldersOfHome { _ = try makeFolder(["apps", bundle] + names) }
        return try makeFolder(["apps", bundle])
    }

    /// Removes the folder that an app had for its own, with all in it; one that is not there is none to remove.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when the system refuses.
    func removeHome(of bundle: String) throws(CommandFailure) {
        try PhoneFolder.remove(try makeFolder(["apps"]) + "/" + bundle)
    }

    /// Makes a folder below the run's, and those above it; what is there is left as it is.
    ///
    /// - Parameter parts: the names on the way to it.
    /// - Returns: its path.
    /// - Throws: ``CommandFailure`` with exit code 12 when the system refuses, or a part of it is a link or another user's.
    func makeFolder(_ parts: [String]) throws(CommandFailure) -> String {
        var place = path
        guard var folder = try? Descriptor.open(path, O_RDONLY | O_DIRECTORY) else {
            throw CommandFailure(.environment, in: path, "not a folder", hint: "give another with --out")
        }
        for part in parts {
            place += "/" + part
            folder = try Self.make(part, in: folder, place)
        }
        return place
    }

    /// Makes a folder in another; a link in its place is not followed.
    private static func make(
        _ name: String,
        in parent: borrowing Descriptor,
        _ path: String
    ) throws(CommandFailure) -> Descriptor {
        if unsafe mkdirat(parent.number, name, 0o700) != 0, errno != EEXIST {
            let reason = SystemError(last: "mkdir").description
            throw CommandFailure(.environment, in: path, reason, hint: "give another folder with --out")
        }
        let number = unsafe openat(parent.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else {
            let reason = errno == ENOTDIR ? "a link or a file, and no folder" : SystemError(last: "open").description
            throw CommandFailure(
                .environment,
                in: path,
                reason,
                hint: "remove it, or give another folder with --out"
            )
        }
        let folder = Descriptor(owning: number)
        try requireOwn(folder.number, path)
        return folder
    }

    /// A path as one would give it here: from the current folder on, where it lies below that.
    package static func fromHere(_ path: String) -> String {
        var path = path[...]
        if path.hasPrefix("/"), let current = unsafe getcwd(nil, 0) {
            defer { unsafe free(current) }
            let here = unsafe String(cString: current) + "/"
            if path.hasPrefix(here) { path = path.dropFirst(here.count) }
        }
        while path.hasPrefix("./") { path = path.dropFirst(2).drop { $0 == "/" } }
        return path.isEmpty ? "." : String(path)
    }

    /// A path as any process can use it.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(current) }
        return unsafe String(cString: current) + "/" + path
    }

    /// The link to the run that was played last, below the current folder.
    package static let latestLink = defaultParent + "/latest"

    /// Has the link ``latestLink`` lead to the folder, wherever that lies.
    ///
    /// - Returns: whether it does: it may be that nothing can be made in the current folder.
    package func becomeLatest() -> Bool {
        let shown = Self.fromHere(path)
        // Through the link itself.
        if shown == Self.latestLink { return true }
        guard (try? Self.make(Self.defaultParent)) != nil else { return false }
        let parts = shown.split(separator: "/")
        let isBeside = !shown.hasPrefix("/") && parts.count == 2 && parts[0] == Self.defaultParent
        let target = isBeside ? String(parts[1]) : Self.absolute(path)
        let temporary = Self.latestLink + ".\(getpid())"
        guard unsafe symlink(target, temporary) == 0 else { return false }
        if unsafe rename(temporary, Self.latestLink) == 0 { return true }
        unsafe unlink(temporary)
        return false
    }
}
