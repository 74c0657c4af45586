import Glibc
import WakeDevices
import WakeJournal
import WakeModel
import WakePorts
import WakeReports
import WakeRouter
import WakeSystem

/// The journal of a run: a new one, or that of a run that broke off and is to go on.
struct RunJournal {
    let journal: any Journal
    /// What the broken run left; nil for a new one.
    let recovery: JournalRecovery?
    private let file: SQLiteJournal?
    /// Names the run's processes and control groups. That of a copy of the folder is another, though its journal says the same.
    let runName: String

    /// The folder of a run without a journal.
    private let lock: FolderLock?

    /// The journal that the options ask for.
    static func of(
        _ options: RunOptions,
        in folder: RunFolder,
        playing played: PlayedFiles,
        as identity: RunIdentity
    ) throws(CommandFailure) -> RunJournal {
        guard options.journal else { return try RunJournal(without: folder) }
        return try RunJournal(folder, playing: played, options: options, as: identity)
    }

    /// A run that keeps no journal, and has its folder to itself nevertheless.
    ///
    /// - Throws: ``CommandFailure`` when the folder has another run.
    init(without folder: RunFolder) throws(CommandFailure) {
        lock = try Self.lock(folder)
        journal = NoJournal()
        recovery = nil
        file = nil
        runName = Self.newName()
    }

    /// Makes the journal of a new run, or opens that of a broken one when the folder has it.
    ///
    /// - Throws: ``CommandFailure`` when the folder's run is over, or is another one.
    init(
        _ folder: RunFolder,
        playing played: PlayedFiles,
        options: RunOptions,
        as identity: RunIdentity
    ) throws(CommandFailure) {
        let settings = played.isLive ? Self.liveSettings : Self.settings
        let (path, hash) = (folder.journal, played.digest)
        let name = Self.newName()
        let isNew = unsafe access(path, F_OK) != 0
        if isNew { _ = try Self.lock(folder) }
        lock = nil
        do throws(JournalError) {
            if isNew {
                let meta = JournalMeta(
                    run: name,
                    scenarioPath: played.scenario,
                    scenarioHash: hash,
                    seed: identity.seed,
                    profile: identity.profile,
                    backends: identity.backends.text,
                    freezer: options.freezer.rawValue,
                    date: identity.date.seconds
                )
                let created = try SQLiteJournal(creating: path, meta: meta, settings: settings)
                (journal, file, recovery, runName) = (created, created, nil, Self.name(of: name, in: folder))
                return
            }
            let opened = try SQLiteJournal(opening: path, settings: settings)
            let found = try opened.recover()
            (journal, file, recovery, runName) = (opened, opened, found, Self.name(of: found.meta.run, in: folder))
        } catch {
            throw CommandFailure(error)
        }
        if let recovery { try Self.requireSame(recovery, as: identity, playing: hash, path) }
    }

    /// Asks whether a run broke off, and is the one that is to go on.
    ///
    /// - Parameter hash: that of the scenario.
    private static func requireSame(
        _ recovery: JournalRecovery,
        as identity: RunIdentity,
        playing hash: String,
        _ path: String
    ) throws(CommandFailure) {
        if recovery.finished {
            throw CommandFailure(
                .wrongState,
                in: path,
                "that run is over",
                hint: "give another folder with --out, or replace it with --force"
            )
        }
        let same =
            recovery.meta.scenarioHash == hash && recovery.meta.seed == identity.seed
            && recovery.meta.profile == identity.profile && recovery.meta.backends == identity.backends.text
            && recovery.meta.date == identity.date.seconds
        guard same else {
            throw CommandFailure(
                .wrongState,
                in: path,
                "a run of another scenario, seed, profile, date or backend broke off there",
                hint: "give its own again to go on with it, or another --out"
            )
        }
    }

    /// Opens the journal of a run that is at rest, whatever it played.
    private init(opening folder: RunFolder) throws(JournalError) {
        let opened = try SQLiteJournal(opening: folder.journal, settings: Self.liveSettings)
        let found = try opened.recover()
        (journal, file, recovery, runName) = (opened, opened, found, found.meta.run)
        lock = nil
    }

    /// Reads all that a recovery reads of the journal of a run that is at rest, and looks how long the logs are.
    ///
    /// - Parameter hash: that of the scenario.
    /// - Returns: how many apps the run has.
    /// - Throws: ``CommandFailure`` where a recovery would.
    fileprivate static func requireWhole(
        in folder: RunFolder,
        as identity: RunIdentity,
        playing hash: String
    ) throws(CommandFailure) -> Int {
        var places: LogPlaces
        let found: JournalRecovery?
        let apps: Int
        do throws(JournalError) {
            let journal = try RunJournal(opening: folder)
            found = journal.recovery
            _ = try journal.undelivered()
            apps = try journal.appCount()
            places = try journal.logPlaces()
        } catch {
            throw CommandFailure(error)
        }
        if let found { try requireSame(found, as: identity, playing: hash, folder.journal) }
        do throws(ReportError) {
            if try folder.hasEnded(places.part) { places = LogPlaces(part: places.part + 1) }
            for (log, length) in [
                (folder.decisions, places.decisions.length), (folder.outcomes, places.outcomes),
            ] where length > 0 {
                guard let status = RunFolder.status(of: log) else { throw ReportError(.missing, path: log) }
                guard status.st_size >= length else {
                    throw ReportError(.foreign("shorter than the journal says"), path: log)
                }
            }
        } catch {
            throw CommandFailure(.environment, error)
        }
        return apps
    }

    /// Locks a folder that has no journal.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 when it has the log of a run, with which nothing can go on.
    private static func lock(_ folder: RunFolder) throws(CommandFailure) -> FolderLock {
        let lock: FolderLock
        do throws(JournalError) { lock = try FolderLock(journal: folder.journal) } catch {
            throw CommandFailure(error)
        }
        let log = folder.decisions
        guard let status = RunFolder.status(of: log), status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return lock
        }
        throw CommandFailure(
            .wrongState,
            in: log,
            "the log of a run that kept no journal",
            hint: "give another folder with --out, or replace it with --force"
        )
    }

    /// The events of unacknowledged deliveries, with what the apps were to read.
    func undelivered() throws(JournalError) -> [EventID: (WakeEvent, EventPayload)] {
        guard let file, let recovery else { return [:] }
        let wanted = Set(recovery.unacknowledged.map(\.event))
        var found: [EventID: (WakeEvent, EventPayload)] = [:]
        guard !wanted.isEmpty else { return found }
        try file.readInputs(names: recovery.names.count, undelivered: true) { (input) throws(JournalError) in
            if let event = input.input.event, wanted.contains(event.id) { found[event.id] = (event, input.payload) }
        }
        return found
    }

    /// The decisions from one on whose deliveries were all acknowledged.
    func acknowledged(from decision: DecisionID) throws(JournalError) -> Set<DecisionID> {
        try file?.readAcknowledged(from: decision) ?? []
    }

    /// Every input after the latest snapshot, oldest first.
    ///
    /// - Throws: ``JournalError`` when an input is damaged, missing, or out of the order of time.
    func inputs(_ body: (JournaledInput) throws(JournalError) -> Void) throws(JournalError) {
        guard let file, let recovery else { return }
        var last = (sequence: recovery.snapshot?.sequence ?? 0, at: recovery.snapshot?.at ?? .zero)
        try file.readInputs(after: last.sequence, names: recovery.names.count) { (input) throws(JournalError) in
            if input.sequence != last.sequence + 1 { throw damaged("input \(last.sequence + 1) is missing") }
            if input.at < last.at { throw damaged("input \(input.sequence) is earlier than the one before") }
            try body(input)
            last = (input.sequence, input.at)
        }
    }

    /// Reads the latest snapshot from its beginning; nil when there is none.
    var snapshot: SnapshotCoder? {
        guard let recovery, let snapshot = recovery.snapshot else { return nil }
        return SnapshotCoder(reading: snapshot.bytes, names: UInt32(clamping: recovery.names.count))
    }

    /// A part of the latest snapshot makes no sense.
    func damagedSnapshot(_ fault: EncodingFault) -> JournalError {
        damaged("the snapshot after input \(recovery?.snapshot?.sequence ?? 0): \(fault)")
    }

    /// How far the logs had come at the latest snapshot.
    func logPlaces() throws(JournalError) -> LogPlaces {
        var places = LogPlaces()
        guard var coder = snapshot else { return places }
        do throws(EncodingFault) { try coder.code(&places) } catch { throw damagedSnapshot(error) }
        return places
    }

    /// Tells every input that is still there, oldest first, also those that the latest snapshot holds.
    func allInputs(_ body: (JournaledInput) throws(JournalError) -> Void) throws(JournalError) {
        try file?.readInputs(body)
    }

    /// How many apps there are, be they uninstalled by now: those of the latest snapshot, and those installed since. Every input
    /// is read.
    func appCount() throws(JournalError) -> Int {
        var count = 0
        if var coder = snapshot, let profile = recovery?.meta.profile {
            var places = LogPlaces()
            do throws(EncodingFault) {
                try coder.code(&places)
                count = try Bench.standing(from: &coder, profile: profile).router.bundles.count
            } catch { throw damagedSnapshot(error) }
        }
        try inputs { (input) throws(JournalError) in
            if case .install(let app, _) = input.input { count = max(count, Int(app.number) + 1) }
        }
        return count
    }

    /// Whether what is appended is kept.
    var isKept: Bool { file != nil }

    /// - Throws: ``JournalError`` of the kind `displaced`, see ``SQLiteJournal/requireInPlace()``.
    func requireInPlace() throws(JournalError) { try file?.requireInPlace() }

    /// What is wrong with the journal, as the error that ends the run.
    func damaged(_ what: String) -> JournalError {
        JournalError(.damaged(what), path: file?.path ?? "")
    }

    /// A journal up to this size holds all inputs of its run; beyond, only what a recovery reads stays.
    private static let settings = SQLiteJournal.Settings(bound: 16 << 20)
    /// That of a live run is one of many, and has no end.
    private static let liveSettings = SQLiteJournal.Settings(bound: 6 << 20, logBound: 4 << 20)

    private static func newName() -> String {
        "run-\(getpid())-\(String(UInt64(bitPattern: WallClock.now()), radix: 36))"
    }

    /// The name of a run's processes, which tells them from those of a copy of the run. A bench that is started again finds those
    /// of the one before by it, also where the folder was renamed.
    private static func name(of run: String, in folder: RunFolder) -> String {
        guard let place = FileIdentity(at: folder.path, followsLinks: true) else { return run }
        return "\(run)-\(place.text)"
    }
}

/// What tells a run from others of its scenario: what the options say, else the scenario, else what is usual.
struct RunIdentity {
    let profile: Profile
    let seed: UInt64
    let date: RunDate
    let backends: RunBackends

    init(_ options: RunOptions, _ scenario: Scenario) {
        profile = (options.profile ?? scenario.profile ?? .ios17).with(scenario.settings + options.settings)
        seed = options.seed ?? scenario.seed ?? 1
        date = options.date ?? scenario.phone.date ?? .usual
        backends = RunBackends(options, scenario)
    }
}

extension RunFolder {
    /// Asks of a run that is at rest, such as a copy, what the boot of its phone would ask of its files.
    ///
    /// - Parameters:
    ///   - identity: what the phone's run is.
    ///   - hash: that of its scenario.
    /// - Returns: how many apps it has.
    /// - Throws: ``CommandFailure`` where it could not go on.
    func requireWhole(as identity: RunIdentity, playing hash: String) throws(CommandFailure) -> Int {
        for file in [clock, answers, decisions, outcomes] {
            guard let kind = Self.status(of: file).map({ $0.st_mode & S_IFMT }), kind != S_IFREG else { continue }
            let code = kind == S_IFDIR ? EISDIR : kind == S_IFLNK ? ELOOP : ENXIO
            throw PhoneFolder.failure(SystemError("open", code: code), of: file)
        }
        try requireFolders()
        // As whoever carries transfers out asks.
        if identity.backends[TransferArea.source] != "simulated", let status = Self.status(of: transfers),
            status.st_mode & 0o077 != 0
        {
            let found = "\(transfers) is not this user's alone: others may use it; chmod 700 it"
            throw CommandFailure(.environment, found)
        }
        return try RunJournal.requireWhole(in: self, as: identity, playing: hash)
    }

    /// Asks whether folders are what is in the places of folders.
    func requireFolders() throws(CommandFailure) {
        for folder in [played, path + "/apps", transfers] {
            guard let kind = Self.status(of: folder).map({ $0.st_mode & S_IFMT }), kind != S_IFDIR else { continue }
            let found = "a link or a file, and no folder"
            throw CommandFailure(.environment, in: folder, found, hint: "remove it")
        }
    }

    /// What is at a path, itself where it is a link; nil for nothing.
    fileprivate static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }
}

extension CommandFailure {
    /// A journal that cannot be used: a file that is none or is damaged is an invalid one (11).
    init(_ error: JournalError) {
        let code: ExitCode =
            switch error.kind {
            case .full, .system: .environment
            case .damaged, .notAJournal: .invalidFile
            case .inUse, .missing, .exists, .version, .displaced: .wrongState
            }
        self.init(
            code,
            "\(error.path): \(error.complaint)",
            hint: error.remedy,
            place: error.path.isEmpty ? nil : Place(file: error.path)
        )
    }
}
