import Foundation
import Testing
import WakeBench
import WakeReports

@Suite("A feed over a week")
struct FeedWeekTests {
    private static let scenario =
        #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Devices/Scenarios/feed-week.yaml"

    @Test(
        "FETCH-4, BGT-7: from the third day on a feed is refreshed before each use, and cleaned at night on the charger"
    )
    func history() throws {
        let out = FileManager.default.temporaryDirectory.path + "/feed-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: out) }
        try Run(RunOptions(scenario: Self.scenario, out: out)).execute()
        let days = TaskHistory(of: try RunLog(folder: out)).days
        #expect(days.map(\.number) == Array(1...7))
        for day in days.dropFirst(3) {
            #expect(day.refreshes.count == 3, "day \(day.number)")
            #expect(day.beforeUse == 3, "day \(day.number)")
        }
        for day in days {
            // The charger is connected at half past ten.
            let hours = day.processings.map { $0.nanoseconds / 3_600_000_000_000 % 24 }
            #expect(hours == [22], "day \(day.number)")
        }
    }
}
