import Glibc
import WakeJournal

/// Making room for a run in the folder of another.
extension RunFolder {
    /// What a run makes in its folder, beside the folder of its apps.
    private static let names = [
        "decisions.ndjson", "outcomes.ndjson", "results.json", "report.html", "trace.json", "junit.xml",
        "journal.sqlite-wal", "journal.sqlite-shm", "journal.sqlite",
    ]

    /// Takes away what a run that is over left in a folder, and nothing else. A folder that is not there, or has no run, stays
    /// as it is.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 for a run that goes on or broke off.
    static func clear(_ path: String) throws(CommandFailure) {
        let folder = RunFolder(of: path)
        let hasJournal = unsafe access(folder.journal, F_OK) == 0
        let hasLog = unsafe access(folder.decisions, F_OK) == 0
        guard hasJournal || hasLog else { return }
        if hasJournal { try requireFinished(folder.journal) } else { try requireUnused(folder.journal) }
        remove(below: folder.apps)
        // The journal goes last: until then the folder is known for what it is.
        for name in names { unsafe unlink(path + "/" + name) }
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

    /// Removes a folder and all that is in it; links are removed, never followed. What cannot be removed stays.
    private static func remove(below path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            unsafe unlink(path)
            return
        }
        guard let stream = unsafe opendir(path) else { return }
        var found: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { found.append(name) }
        }
        unsafe closedir(stream)
        for name in found { remove(below: path + "/" + name) }
        unsafe rmdir(path)
    }
}
