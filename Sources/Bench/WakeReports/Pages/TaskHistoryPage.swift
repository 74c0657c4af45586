import WakeModel

/// When the apps of a run were refreshed and did their processing, for programs: `wake.task-history/1`.
package struct TaskHistoryPage: Encodable, Sendable {
    struct Day: Encodable {
        /// The bundle identifier.
        var app: String
        /// Of the run, from 1.
        var day: Int
        var refreshes: [String]
        /// How many of the refreshes were soon followed by a use.
        var beforeUse: Int
        var processings: [String]
    }

    var schema = "wake.task-history/1"
    var ok = true
    /// The run's.
    var folder: String
    var days: [Day]

    package init(_ history: TaskHistory, folder: String) {
        self.folder = folder
        days = history.days.map { day in
            Day(
                app: day.app,
                day: day.number,
                refreshes: day.refreshes.map { LogTime.text($0) },
                beforeUse: day.beforeUse,
                processings: day.processings.map { LogTime.text($0) }
            )
        }
    }
}
