import Glibc
import WakeJournal
import WakeReports
import WakeSystem

/// Making room for a run in the folder of another.
extension RunFolder {
    /// What a run makes in its folder, beside the folders that it makes there.
    private static let names = [
        "decisions.ndjson", "outcomes.ndjson", RunResults.name, RunResults.unfinishedName, "report.html",
        "comparison.html", "trace.json", "junit.xml", RunFolder.clockName, "journal.sqlite-wal", "journal.sqlite-shm",
        "journal.sqlite",
    ]

    /// Takes away what a run that is over left in a folder, and nothing else. A folder that is not there, or has no run, stays
    /// as it is.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 for a run that goes on or broke off, and 12 for a folder of another user's.
    static func clear(_ path: String) throws(CommandFailure) {
        let folder = RunFolder(of: path)
        guard let opened = try? Descriptor.open(path, O_RDONLY | O_DIRECTORY) else { return }
        try requireOwn(opened.number, path)
        let hasJournal = unsafe access(folder.journal, F_OK) == 0
        let hasLog = unsafe access(folder.decisions, F_OK) == 0
        guard hasJournal || hasLog else { return }
        if hasJournal { try requireFinished(folder.journal) } else { try requireUnused(folder.journal) }
        remove("apps", in: opened.number)
        remove("transfers", in: opened.number)
        remove(playedName, in: opened.number)
        // The journal goes last: until then the folder is known for what it is.
        for name in names { unsafe unlinkat(opened.number, name, 0) }
    }

    private static func requireFinished(_ journal: String) throws(CommandFailure) {
        let isFinished: Bool
        do { isFinished = try SQLiteJournal(opening: journal).recover().finished } catch {
            throw CommandFailure(error)
        }
        guard isFinished else {
            throw CommandFailure(
                .wrongState,
                "\(journal): that run broke off, and --force replaces one that is over",
                hint: "go on with it without --force, or give another --out"
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
