import WakeDevices
import WakeJournal
import WakeModel
import WakePorts
import WakeReports
import WakeRouter

/// A fresh router on its way through the inputs that the journal of a run holds.
struct JournalReplay {
    private let journal: SQLiteJournal
    /// What the inputs come after; they begin with the run where it is 0.
    let start: UInt64
    let names = NameTable()
    let profile: Profile
    private(set) var router: Router
    private(set) var now = Instant.zero
    /// The highest number so far of an event, or of what the user, the phone or the system did.
    private(set) var lastEvent: UInt64 = 0
    private(set) var inputs = 0

    /// Opens the journal of a run that no other program has.
    ///
    /// - Parameters:
    ///   - appFolders: where bundles of the scenario are looked for.
    ///   - reachingBack: begins with the first input that is still there, and not after the latest snapshot.
    /// - Throws: ``CommandFailure`` when the folder has no journal, or the scenario that it has cannot be read; of an older version,
    ///   which kept no scenario, when that is no longer where it was.
    init(run folder: String, appFolders: [String], reachingBack: Bool = false) throws(CommandFailure) {
        var recovery: JournalRecovery
        do throws(JournalError) {
            journal = try SQLiteJournal(opening: folder + "/" + RunFolder.journalName)
            recovery = try journal.recover()
            if reachingBack { recovery.snapshot = try journal.readFirstSnapshot() }
        } catch {
            if case .inUse = error.kind {
                var failure = CommandFailure(error)
                failure.hint = "end the run; of a phone of the daemon with 'wakebench phone shutdown NAME'"
                throw failure
            }
            guard case .missing = error.kind else { throw CommandFailure(error) }
            throw CommandFailure(
                .wrongState,
                in: folder,
                "the run kept no journal, which holds what is asked about",
                hint: "play it again without --no-journal"
            )
        }
        for name in recovery.names { _ = names.intern(name) }
        profile = recovery.meta.profile
        start = recovery.snapshot?.sequence ?? 0
        guard let snapshot = recovery.snapshot else {
            let copies = try PlayedCopies(of: RunFolder(of: folder))
            let files = copies?.files() ?? ScenarioFiles(searchFolders: appFolders)
            do throws(FileError) {
                let path = copies?.scenario ?? recovery.meta.scenarioPath
                router = Areas.router(of: try Scenario.load(file: path, files: files), profile)
            } catch {
                throw CommandFailure(.invalidFile, error)
            }
            return
        }
        var coder = SnapshotCoder(reading: snapshot.bytes, names: UInt32(recovery.names.count))
        var places = LogPlaces()
        do throws(EncodingFault) {
            try coder.code(&places)
            let part = try Bench.standing(from: &coder, profile: profile)
            (router, now, lastEvent) = (part.router, part.now, part.lastEvent)
        } catch {
            throw CommandFailure(.invalidFile, "\(folder): its snapshot is damaged: \(error)")
        }
    }

    /// Takes every input that is left through the router, and tells what came of it.
    mutating func play(_ tell: (Input, RouterOutput) -> Void) throws(CommandFailure) {
        do throws(JournalError) {
            try journal.readInputs(after: start) { (input) throws(JournalError) in tell(input.input, hear(input)) }
        } catch {
            throw CommandFailure(error)
        }
    }

    private mutating func hear(_ journaled: JournaledInput) -> RouterOutput {
        now = journaled.at
        inputs += 1
        lastEvent = max(lastEvent, journaled.id.number)
        var output = RouterOutput()
        router.handle(journaled.input, id: journaled.id, at: journaled.at, into: &output)
        return output
    }
}
