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
    /// - Throws: ``CommandFailure`` when the folder has no journal, or its scenario can no longer be read.
    package init(run folder: String, appFolders: [String]) throws(CommandFailure) {
        var replay = try JournalReplay(run: folder, appFolders: appFolders)
        try replay.play { _, _ in }
        (router, names, now) = (replay.router, replay.names, replay.now)
    }

    /// A line a request under a heading: when its next chance is, and what it waits for.
    ///
    /// - Parameter bundle: the only app that is asked about; nil for all.
    package func lines(of bundle: String?) -> [String] {
        var rows = [["APP", "KIND", "IDENTIFIER", "NEXT CHANCE", "WAITS FOR"]]
        for (place, name) in router.bundles.enumerated() where bundle == nil || names.text(name) == bundle {
            for task in router.tasks(of: AppID(UInt32(place)), at: now) {
                rows.append([
                    names.text(name), task.kind.word, task.identifier == .none ? "-" : names.text(task.identifier),
                    task.nextChance.map(LogTime.shortText) ?? "-",
                    task.unmet.isEmpty ? "its time" : task.unmet.map(\.statement).joined(separator: "; "),
                ])
            }
        }
        return TextTable.lines(rows)
    }
}
