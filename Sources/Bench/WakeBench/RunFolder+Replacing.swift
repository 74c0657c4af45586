import Glibc
import WakeJournal
import WakeReports
import WakeSystem

/// Making room for a run, or a suite, in the folder of another.
extension RunFolder {
    /// What a run makes in its folder, beside the folders that it makes there.
    private static let names =
        reports.map { $0 + LogFile.unfinishedSuffix } + ["decisions.ndjson", "outcomes.ndjson"] + reports
        + [RunFolder.clockName, "journal.sqlite-wal", "journal.sqlite-shm", "journal.sqlite"]

    /// Of these what is made whole or not at all.
    private static let reports = [RunResults.name, "report.html", "comparison.html", "trace.json", "junit.xml"]

    /// What a suite has beside the folders of its runs; the file that it is known by is the last.
    private static let suiteNames = [SuitePage.name, "junit.xml", SuiteResults.name]

    /// Makes the folder of a run, in place of what is over there where ``RunOptions/replaces`` says so.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 for the folder of a suite, and as ``clear(_:)`` does.
    static func ofRun(_ options: RunOptions) throws(CommandFailure) -> RunFolder {
        if options.replaces { try clear(options.out) }
        let folder = try RunFolder(making: options.out)
        // What the journal of another run says is told by ``RunJournal``.
        guard folder.hasSuite else { return folder }
        throw taken(folder, by: "suite")
    }

    /// Makes the folder of a suite, in place of what is over there if so wanted.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 for the folder of a suite or a run, and as ``clear(_:)`` does.
    package static func ofSuite(_ path: String, replaces: Bool) throws(CommandFailure) -> RunFolder {
        if replaces { try clear(path) }
        let folder = try RunFolder(making: path)
        if folder.hasSuite { throw taken(folder, by: "suite") }
        guard folder.hasJournal || folder.hasLog else { return folder }
        throw taken(folder, by: "run")
    }

    private var hasJournal: Bool { unsafe access(journal, F_OK) == 0 }
    private var hasLog: Bool { unsafe access(decisions, F_OK) == 0 }
    private var hasSuite: Bool { unsafe access(path + "/" + SuiteResults.name, F_OK) == 0 }

    private static func taken(_ folder: RunFolder, by what: String) -> CommandFailure {
        CommandFailure(
            .wrongState,
            in: folder.path,
            "the folder of a \(what)",
            hint: "give another folder with --out, or replace it with --force"
        )
    }

    /// Takes away what a run or a suite that is over left in a folder, and nothing else: the folders of a suite's runs stay. A
    /// folder that is not there, or has neither, stays as it is.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 for a run that goes on or broke off, and 12 for a folder of another user's.
    static func clear(_ path: String) throws(CommandFailure) {
        let folder = RunFolder(of: path)
        guard let opened = try? Descriptor.open(path, O_RDONLY | O_DIRECTORY) else { return }
        try requireOwn(opened.number, path)
        if folder.hasJournal || folder.hasLog {
            if folder.hasJournal { try requireFinished(folder.journal) } else { try requireUnused(folder.journal) }
            remove("apps", in: opened.number)
            remove("transfers", in: opened.number)
            remove(radioName, in: opened.number)
            remove(playedName, in: opened.number)
            // The journal goes last: until then the folder is known for what it is.
            for name in names { unsafe unlinkat(opened.number, name, 0) }
        }
        guard folder.hasSuite else { return }
        for name in suiteNames { unsafe unlinkat(opened.number, name, 0) }
    }

    private static func requireFinished(_ journal: String) throws(CommandFailure) {
        let isFinished: Bool
        do { isFinished = try SQLiteJournal(opening: journal).recover().finished } catch {
            throw CommandFailure(error)
        }
        guard isFinished else {
            throw CommandFailure(
                .wrongState,
                "\(journal): that run was interrupted, and --force replaces only finished runs",
                hint: "resume it without --force, or give another --out"
            )
        }
    }

    /// A run without a journal holds the lock of one while it goes on.
    private static func requireUnused(_ journal: String) throws(CommandFailure) {
        do { _ = try FolderLock(journal: journal) } catch { throw CommandFailure(error) }
    }

    /// Removes what a name of an open folder stands for, and all that is in it; links are removed, never followed. What cannot be
    /// removed stays, and so does what lies deeper than any path can name.
    static func remove(_ name: String, in folder: Int32, levels: Int = Int(PATH_MAX) / 2) {
        guard unsafe unlinkat(folder, name, 0) != 0, errno == EISDIR, levels > 0 else { return }
        let number = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return }
        guard let stream = unsafe fdopendir(number) else {
            close(number)
            return
        }
        var found: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { found.append(name) }
        }
        for name in found { remove(name, in: number, levels: levels - 1) }
        unsafe closedir(stream)
        unsafe unlinkat(folder, name, AT_REMOVEDIR)
    }
}
