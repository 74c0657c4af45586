import WakeDevices
import WakeJournal
import WakeModel
import WakePorts
import WakeReports
import WakeRouter

/// What the phone of a run would say to an event that came after it: the router as the run's journal left it, asked without anything
/// being run.
package struct WakeQuestion {
    private let router: Router
    private let names: NameTable
    private let profile: Profile
    private let lastEvent: UInt64
    private let now: Instant
    /// The last event of each kind and subject that the journal holds, oldest first.
    private let events: [WakeEvent]

    /// Reads the journal of a run that no other program has.
    ///
    /// - Parameter appFolders: where bundles of the scenario are looked for.
    /// - Throws: ``CommandFailure`` when the folder has no journal, or its scenario can no longer be read.
    package init(run folder: String, appFolders: [String]) throws(CommandFailure) {
        let path = folder + "/" + RunFolder.journalName
        let journal: SQLiteJournal
        let recovery: JournalRecovery
        do throws(JournalError) {
            journal = try SQLiteJournal(opening: path)
            recovery = try journal.recover()
        } catch {
            throw CommandFailure(error)
        }
        names = NameTable()
        for name in recovery.names { _ = names.intern(name) }
        profile = recovery.meta.profile
        var standing = try Self.standing(recovery, folder, appFolders)
        do throws(JournalError) {
            try journal.readInputs(after: recovery.snapshot?.sequence ?? 0) { (input) throws(JournalError) in
                standing.hear(input)
            }
        } catch {
            throw CommandFailure(error)
        }
        (router, now, lastEvent, events) = (standing.router, standing.now, standing.lastEvent, standing.events)
    }

    /// The router as the latest snapshot has it, or as the run began.
    private static func standing(
        _ recovery: JournalRecovery,
        _ folder: String,
        _ appFolders: [String]
    ) throws(CommandFailure) -> Standing {
        guard let snapshot = recovery.snapshot else {
            do throws(FileError) {
                let scenario = try Scenario.load(file: recovery.meta.scenarioPath, searchFolders: appFolders)
                return Standing(router: Areas.router(of: scenario, recovery.meta.profile))
            } catch {
                throw CommandFailure(.invalidFile, error)
            }
        }
        var coder = SnapshotCoder(reading: snapshot.bytes, names: UInt32(recovery.names.count))
        var places = LogPlaces()
        do throws(EncodingFault) {
            try coder.code(&places)
            let part = try Bench.standing(from: &coder, profile: recovery.meta.profile)
            return Standing(router: part.router, now: part.now, lastEvent: part.lastEvent)
        } catch {
            throw CommandFailure(.invalidFile, "\(folder): its snapshot is damaged: \(error)")
        }
    }

    /// The kinds of event that the journal has examples of, in the order of their table.
    package var kinds: [EventKind] { EventKind.allCases.filter { kind in events.contains { $0.kind == kind } } }

    /// The app of a bundle identifier; nil when none was installed.
    package func app(_ bundle: String) -> AppID? {
        names.known(bundle).flatMap { router.bundles.firstIndex(of: $0) }.map { AppID(UInt32($0)) }
    }

    /// What would become of the latest event of a kind for an app, if it came again now: a record for each subject.
    ///
    /// - Returns: nothing where the journal has no such event that could be for the app.
    package func records(of kind: EventKind, for app: AppID, in log: RunLog) -> [DecisionRecord] {
        let writer = DecisionLog(header: log.header, profile: profile, names: names.text)
        for event in events where event.kind == kind && (event.app == nil || event.app == app) {
            var (event, router) = (event, router)
            event.id = EventID(lastEvent + 1)
            event.parent = .none
            var output = RouterOutput()
            router.handle(.event(event), id: event.id, at: now, into: &output)
            let about = output.decisions.filter { $0.event == event.id && ($0.app == app || $0.app == .none) }
            if !about.isEmpty { try? writer.append(batch: about[...]) }
        }
        return DecisionRecord.all(in: writer.contents)
    }
}

extension WakeQuestion {
    /// The router on its way through the inputs of a journal.
    private struct Standing {
        var router: Router
        var now = Instant.zero
        var lastEvent: UInt64 = 0
        var events: [WakeEvent] = []

        mutating func hear(_ journaled: JournaledInput) {
            now = journaled.at
            var id = EventID.none
            switch journaled.input {
            case .event(let event), .overflowed(let event):
                id = event.id
                lastEvent = max(lastEvent, event.id.number)
                events.removeAll { $0.kind == event.kind && $0.subject == event.subject && $0.app == event.app }
                events.append(event)
            case .phone, .install, .uninstall, .user, .setUp, .terminate, .benchRestarted:
                lastEvent += 1
                id = EventID(lastEvent)
            case .timeReached, .request, .process, .redeliver: break
            }
            var output = RouterOutput()
            router.handle(journaled.input, id: id, at: journaled.at, into: &output)
        }
    }
}
