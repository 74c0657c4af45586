import WakeModel

/// When each app of a run was refreshed and how soon its user came after it, and when it did its processing, day by day: derived from
/// the records of the run and from the moves of its apps.
package struct TaskHistory: Sendable {
    /// One app on one day of the run, which counts from its beginning.
    package struct Day: Hashable, Sendable {
        package var app: String
        package var number: Int
        /// Fetches and refresh tasks.
        package var refreshes: [Instant] = []
        /// Of these, how many were soon followed by a use.
        package var beforeUse = 0
        package var processings: [Instant] = []
    }

    /// In order of app and day.
    package let days: [Day]

    /// - Parameter soon: a use so long after a refresh is what the refresh was for.
    package init(_ log: RunLog, soon: Instant.Span) {
        var days: [Day] = []
        for record in log.decisions where record.verdict.delivers {
            guard let app = record.app,
                let kind = BackgroundTaskKind.allCases.first(where: { $0.event.word == record.kind })
            else { continue }
            let number = Int(record.at.nanoseconds / 86_400_000_000_000) + 1
            let place = days.firstIndex { $0.app == app && $0.number == number } ?? days.endIndex
            if place == days.endIndex { days.append(Day(app: app, number: number)) }
            if kind == .processing {
                days[place].processings.append(record.at)
                continue
            }
            days[place].refreshes.append(record.at)
            let isUsed = log.moves.contains { move in
                move.app == app && move.to == .active && move.at >= record.at && move.at.since(record.at) <= soon
            }
            if isUsed { days[place].beforeUse += 1 }
        }
        self.days = days.sorted { $0.app != $1.app ? $0.app < $1.app : $0.number < $1.number }
    }

    /// A line a day under a heading; times are those of the run.
    package var lines: [String] {
        let heading = ["APP", "DAY", "REFRESHES", "BEFORE USE", "PROCESSING"]
        return TextTable.lines(
            [heading]
                + days.map { day in
                    [
                        day.app, "\(day.number)", Self.text(day.refreshes),
                        "\(day.beforeUse) of \(day.refreshes.count)", Self.text(day.processings),
                    ]
                }
        )
    }

    /// Of many the first and the last.
    private static func text(_ times: [Instant]) -> String {
        guard times.count > shown else { return times.isEmpty ? "-" : text(times[...]) }
        return "\(text(times.prefix(shown - 1))) ... \(text(times.suffix(1)))"
    }

    private static func text(_ times: ArraySlice<Instant>) -> String {
        times.map(LogTime.shortText).joined(separator: " ")
    }

    /// How many times of a day stand in a line.
    private static let shown = 6
}
