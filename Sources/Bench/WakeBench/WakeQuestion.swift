import WakeModel
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
    /// - Throws: ``CommandFailure`` when the folder has no journal, or its scenario cannot be read.
    package init(run folder: String, appFolders: [String]) throws(CommandFailure) {
        var replay = try JournalReplay(run: folder, appFolders: appFolders)
        var events: [WakeEvent] = []
        try replay.play { input, _ in
            switch input {
            case .event(let event), .overflowed(let event):
                events.removeAll { $0.kind == event.kind && $0.subject == event.subject && $0.app == event.app }
                events.append(event)
            default: break
            }
        }
        (names, profile, self.events) = (replay.names, replay.profile, events)
        (router, now, lastEvent) = (replay.router, replay.now, replay.lastEvent)
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
        let writer = Self.records(
            of: events.filter { $0.kind == kind },
            for: app,
            asked: router,
            at: now,
            after: lastEvent,
            DecisionLog(header: log.header, profile: profile, names: names.text)
        )
        return DecisionRecord.all(in: writer.contents)
    }

    /// Asks a router what would become of events for an app, each by itself.
    ///
    /// - Returns: the writer, with a record for each.
    static func records(
        of events: [WakeEvent],
        for app: AppID,
        asked router: Router,
        at now: Instant,
        after lastEvent: UInt64,
        _ writer: DecisionLog
    ) -> DecisionLog {
        for event in events where event.app == nil || event.app == app {
            var (event, router) = (event, router)
            // A task is handed over once: asked about is the next.
            if let next = router.nextTry(after: event) { event = next }
            event.id = EventID(lastEvent + 1)
            event.parent = .none
            var output = RouterOutput()
            router.handle(.event(event), id: event.id, at: now, into: &output)
            let about = output.decisions.filter { $0.event == event.id && ($0.app == app || $0.app == .none) }
            if !about.isEmpty { try? writer.append(batch: about[...]) }
        }
        return writer
    }
}
