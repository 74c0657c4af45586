import WakeBundles
import WakeDevices

/// Copies of a phone, and its return to them.
///
/// The daemon may be killed at any moment, and the disk may be full: what was kept stays until what takes its place is whole, and
/// each step from one to the other is a rename. ``settle()`` does what a killed daemon left to be done.
extension PhoneFolder {
    var snapshots: String { path + "/snapshots" }
    private func snapshot(_ name: String) -> String { snapshots + "/" + name }
    /// A snapshot that is being copied or removed. No snapshot has such a name.
    private func unfinished(_ name: String) -> String { "\(snapshots)/.\(name)\(Self.newSuffix)" }
    /// One whose place another is about to take.
    private func replaced(_ name: String) -> String { "\(snapshots)/.\(name)\(Self.oldSuffix)" }
    private static let newSuffix = ".new"
    private static let oldSuffix = ".old"
    /// The state that the phone is being brought to: its run or a file `none`, and its `apps.ndjson`, which is moved last.
    var loading: String { path + "/loading" }
    private var staged: String { loading + ".new" }
    /// The run of a phone that is being erased.
    private var erasing: String { path + "/erasing" }
    /// Whether there is a run that a boot goes on with.
    private var hasRun: Bool { Self.exists(RunFolder(of: run).journal) }
    /// Says of a state, in a file without content, that it has no run.
    private var none: String { path + "/none" }

    /// Finishes, or undoes, what a daemon did here when it was killed. To be called before anything here is used.
    func settle() throws(CommandFailure) {
        // What is only in the way of space stays where it cannot be removed.
        try? Self.remove(staged)
        if Self.exists(loading) {
            try takeLoaded()
            try? Self.remove(loading)
        }
        if Self.exists(erasing) { try finishErasing() }
        for file in FolderTree.names(in: snapshots) {
            if file.hasPrefix("."), file.hasSuffix(Self.oldSuffix) {
                let name = String(file.dropFirst().dropLast(Self.oldSuffix.count))
                if Self.exists(snapshot(name)) {
                    try? Self.remove(replaced(name))
                } else {
                    try Self.move(replaced(name), to: snapshot(name))
                }
            } else if file.hasSuffix(Self.newSuffix) {
                try? Self.remove(snapshot(file))
            }
        }
    }

    // MARK: Snapshots

    /// - Throws: ``CommandFailure`` with exit code 12 where something else is in the place of the folder of snapshots.
    func requireSnapshots() throws(CommandFailure) {
        guard Self.exists(snapshots), !Self.isFolder(snapshots) else { return }
        throw CommandFailure(.environment, in: snapshots, "not a folder", hint: "remove it, and save snapshots anew")
    }

    /// In the order of their names.
    var snapshotNames: [String] { FolderTree.names(in: snapshots).filter(Self.isSnapshotName) }

    /// Whether a name can be a snapshot's: those of phones, without what an earlier version called a copy that was not whole.
    static func isSnapshotName(_ text: String) -> Bool { isName(text) && !text.hasSuffix(newSuffix) }

    /// - Parameter options: those of the phone's run.
    /// - Throws: ``CommandFailure``, also where the phone could not be booted; a snapshot of that name is as it was then.
    func saveSnapshot(_ name: String, _ options: RunOptions) throws(CommandFailure) {
        try Self.makeFolder(snapshots)
        try copyState(to: unfinished(name), options)
        do throws(CommandFailure) {
            let copy = PhoneFolder(path: unfinished(name))
            if !copy.hasRun { try Self.replace(copy.none, by: []) }
            if Self.exists(snapshot(name)) { try Self.move(snapshot(name), to: replaced(name)) }
            try Self.move(unfinished(name), to: snapshot(name))
        } catch {
            try? settle()
            throw error
        }
        try? Self.remove(replaced(name))
    }

    /// Brings the run and what has joined to those of a snapshot. Before `loading` has its name nothing has happened; from then
    /// on it is carried out, now or by ``settle()``.
    ///
    /// - Parameters:
    ///   - options: those of the phone's run.
    ///   - willLoad: called when all that is needed is there and whole, before anything happens to the phone.
    /// - Throws: ``CommandFailure``, also where the phone could not be booted with it; the phone is as it was then.
    func loadSnapshot(
        _ name: String,
        _ options: RunOptions,
        willLoad: () throws(CommandFailure) -> Void = {}
    ) throws(CommandFailure) {
        try requireSnapshot(name)
        let source = PhoneFolder(path: snapshot(name))
        let remedy = "remove it with 'wakebench phone snapshot remove \(name) -p \(self.name)'"
        do throws(CommandFailure) {
            try source.copyState(to: staged, options, remedy: remedy)
            try source.requireState(remedy: remedy)
            if !source.hasRun { try Self.replace(PhoneFolder(path: staged).none, by: []) }
            try willLoad()
            try Self.move(staged, to: loading)
        } catch {
            try? Self.remove(staged)
            throw error
        }
        try takeLoaded()
        try? Self.remove(loading)
    }

    /// Asks whether a snapshot has a run, or says that it has none, and what had joined.
    private func requireState(remedy: String) throws(CommandFailure) {
        guard hasRun || Self.exists(none) else {
            throw CommandFailure(
                .wrongState,
                in: RunFolder(of: run).journal,
                "not there, and nothing says that the phone had no run",
                hint: remedy
            )
        }
        guard Self.exists(joinedFile) else {
            throw CommandFailure(.wrongState, in: joinedFile, "removed since the snapshot was saved", hint: remedy)
        }
    }

    func removeSnapshot(_ name: String) throws(CommandFailure) {
        try requireSnapshot(name)
        try Self.move(snapshot(name), to: unfinished(name))
        try Self.remove(unfinished(name))
    }

    func requireSnapshot(_ name: String) throws(CommandFailure) {
        let names = snapshotNames
        guard names.contains(name) else {
            let all = names.isEmpty ? "none" : names.joined(separator: ", ")
            throw CommandFailure(.notFound, "no snapshot '\(name)'", hint: "it has \(all)")
        }
    }

    // MARK: The phone as a whole

    /// Takes away the run and what has joined: the phone is as it was made. Nothing is written: a full disk does not matter.
    ///
    /// - Throws: ``CommandFailure``; the phone is as it was then, or is erased by the next ``settle()``.
    func erase() throws(CommandFailure) {
        try Self.remove(staged)
        if Self.exists(run) { try Self.move(run, to: erasing) }
        try finishErasing()
    }

    /// Each step may have been done before.
    private func finishErasing() throws(CommandFailure) {
        try Self.remove(joinedFile)
        // From now on it is only in the way of space.
        if Self.exists(erasing) { try Self.move(erasing, to: staged) }
        try? Self.remove(staged)
    }

    /// Removes all of the phone. From the first moment on there is none of its name.
    func delete() throws(CommandFailure) {
        let gone = "\(path.dropLast(name.count)).\(name)\(Self.deletedSuffix)"
        try Self.remove(gone)
        guard Self.exists(path) else { return }
        try Self.move(path, to: gone)
        try Self.remove(gone)
    }

    /// Makes all of the phone, or nothing. From the last moment on there is one of its name, in place of what is none.
    ///
    /// - Parameter body: makes it in a folder of another name.
    func make(_ body: (_ unnamed: PhoneFolder) throws(CommandFailure) -> Void) throws(CommandFailure) {
        // What else may lie there is not the bench's to remove.
        guard !Self.exists(path) || Self.isEmptyFolder(path) else {
            throw CommandFailure(
                .wrongState,
                in: path,
                "there already, and no folder of a phone",
                hint: "move it away, or give another name"
            )
        }
        let unnamed = PhoneFolder(path: "\(path.dropLast(name.count)).\(name)\(Self.newSuffix)")
        try Self.remove(unnamed.path)
        do throws(CommandFailure) {
            try body(unnamed)
            // In place of an empty folder, too.
            try Self.move(unnamed.path, to: path)
        } catch {
            try? Self.remove(unnamed.path)
            throw error
        }
    }

    private static let deletedSuffix = ".deleted"

    /// Removes what is left of phones that were being made or deleted when the daemon was killed.
    static func sweep(_ phones: String) {
        for file in FolderTree.names(in: phones) where file.hasPrefix(".") {
            if [deletedSuffix, newSuffix].contains(where: { file.hasSuffix($0) }) { try? remove(phones + "/" + file) }
        }
    }

    /// Copies the run and what has joined to a folder that is not there yet, and asks of the copy what a boot would.
    ///
    /// - Parameters:
    ///   - options: those of the phone's run.
    ///   - remedy: what to do where they are damaged; nil for the remedy of a phone.
    /// - Throws: ``CommandFailure``; the folder is not there then.
    func copyState(to other: String, _ options: RunOptions, remedy: String? = nil) throws(CommandFailure) {
        let copy = PhoneFolder(path: other)
        do throws(CommandFailure) {
            try Self.makeFolder(other)
            // The run itself where it lies behind a link: a copy of the link would be no copy of it.
            if hasRun { try Self.copy(RunFolder.resolved(run), to: copy.run) }
            try Self.replace(copy.joinedFile, by: try joined(remedy: remedy) ?? [])
            let entries = try readJoined(remedy: remedy)
            if hasRun || !entries.isEmpty { try requireWhole(copy, options, remedy: remedy) }
        } catch {
            try? Self.remove(other)
            throw error
        }
    }

    /// Asks whether a boot could go on with a copy of the run, and with what has joined. What is wrong with the copy is wrong here.
    private func requireWhole(
        _ copy: PhoneFolder,
        _ options: RunOptions,
        remedy: String?
    ) throws(CommandFailure) {
        var options = options
        options.out = run
        do throws(CommandFailure) {
            let played = PlayedFiles(options, isLive: true)
            let live = try readScenario(played, remedy: remedy)
            guard hasRun else { return }
            let identity = RunIdentity(options, live.scenario)
            let apps = try RunFolder(of: copy.run).requireWhole(as: identity, playing: played.digest)
            try requireJoined(by: apps, in: live.scenario, remedy: remedy)
        } catch {
            var failure = Daemon.failure(error, of: self, remedy: remedy)
            failure.message = failure.message.replacing(copy.run, with: run)
            if let place = failure.place { failure.place?.file = place.file.replacing(copy.run, with: run) }
            throw failure
        }
    }

    /// Each step may have been done before.
    private func takeLoaded() throws(CommandFailure) {
        let next = PhoneFolder(path: loading)
        guard Self.exists(next.joinedFile) else { return }
        let hasRun = Self.exists(next.run)
        if hasRun || Self.exists(next.none), Self.exists(run) { try Self.move(run, to: loading + "/old") }
        if hasRun { try Self.move(next.run, to: run) }
        // No file takes the place of a folder.
        if Self.exists(joinedFile) { try Self.move(joinedFile, to: loading + "/old-apps") }
        try Self.move(next.joinedFile, to: joinedFile)
    }
}
