import WakeModel
import WakeReports
import WakeRouter

/// What the apps of a run wait to be run for by the system's scheduler: the router as the run's journal left it.
package struct TaskQuestion {
    private let router: Router
    private let names: NameTable
    private let now: Instant

    /// Reads the journal of a run that no other program has.
    ///
    /// - Parameter appFolders: where bundles of the scenario are looked for.
    /// - Throws: ``CommandFailure`` when the folder has no journal, or its scenario cannot be read.
    package init(run folder: String, appFolders: [String]) throws(CommandFailure) {
        var replay = try JournalReplay(run: folder, appFolders: appFolders)
        try replay.play { _, _ in }
        (router, names, now) = (replay.router, replay.names, replay.now)
    }

    /// A request that waits.
    package struct Task: Hashable, Sendable {
        /// The bundle identifier.
        package var app: String
        package var kind: String
        /// Nil for what has none.
        package var identifier: String?
        /// When it is tried next; nil where nothing says so.
        package var nextChance: Instant?
        /// What stands in its way beside its time.
        package var waitsFor: [String]
    }

    /// What waits, in the order of the apps.
    ///
    /// - Parameter bundle: the only app that is asked about; nil for all.
    package func tasks(of bundle: String?) -> [Task] {
        router.bundles.enumerated().flatMap { place, name -> [Task] in
            guard bundle == nil || names.text(name) == bundle else { return [] }
            return router.tasks(of: AppID(UInt32(place)), at: now).map { task in
                Task(
                    app: names.text(name),
                    kind: task.kind.word,
                    identifier: task.identifier == .none ? nil : names.text(task.identifier),
                    nextChance: task.nextChance,
                    waitsFor: task.unmet.map(\.statement)
                )
            }
        }
    }

    /// A line a request under a heading: when its next chance is, and what it waits for.
    ///
    /// - Parameter bundle: the only app that is asked about; nil for all.
    package func lines(of bundle: String?) -> [String] {
        let rows = tasks(of: bundle).map { task in
            [
                task.app, task.kind, task.identifier ?? "-", task.nextChance.map(LogTime.shortText) ?? "-",
                task.waitsFor.isEmpty ? "its time" : task.waitsFor.joined(separator: "; "),
            ]
        }
        return TextTable.lines([["APP", "KIND", "IDENTIFIER", "NEXT CHANCE", "WAITS FOR"]] + rows)
    }
}
