import Foundation
import Testing
import WakeBench
import WakeReports

@Suite("A commuter's day")
struct CommuteDayTests {
    private static let scenario =
        #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Devices/Scenarios/commute-day.yaml"

    private func play(_ out: String) throws -> Data {
        let run = try Run(RunOptions(scenario: Self.scenario, out: out))
        try run.execute()
        for judgement in run.driver.judgements { #expect(judgement.met, "\(judgement.expected)") }
        return try Data(contentsOf: URL(fileURLWithPath: RunFolder(of: out).decisions))
    }

    @Test("SYS-3: a day of every source decides the same bytes in two runs, and meets its expectations")
    func twice() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/commute-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try play(folder + "/first")
        #expect(first.count > 100_000)
        #expect(try play(folder + "/second") == first)
    }
}
