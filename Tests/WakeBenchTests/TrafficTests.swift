import Foundation
import Testing
import WakeBench
import WakeReports

@Suite("What goes over the network for apps")
struct TrafficTests {
    private let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    private let out = FileManager.default.temporaryDirectory.path + "/traffic-\(UUID().uuidString)"

    @Test("PWR-1: what each transfer moved is written down once, with its server's sizes, and charged to its app")
    func transfers() throws {
        defer { try? FileManager.default.removeItem(atPath: out) }
        try Run(RunOptions(scenario: root + "/Devices/Scenarios/background-transfers.yaml", out: out)).execute()
        let log = try RunLog(folder: out)
        #expect(Set(log.traffic.map(\.number)).count == log.traffic.count)
        // A file of 100 kB goes up; of episodes of 60 and of 40 MB each comes down to its end.
        let ofPodcasts = log.traffic.filter { $0.app == "com.example.podcasts" }
        #expect(ofPodcasts.map(\.sent).reduce(0, +) == 100_000)
        #expect(Set(ofPodcasts.map(\.received)).isSuperset(of: [40_000_000, 60_000_000]))
        let account = try #require(EnergyAccount.all(of: log).first { $0.app == "com.example.podcasts" })
        let bytes = ofPodcasts.reduce(0.0) { $0 + Double($1.sent) + Double($1.received) }
        #expect(account.total(by: EnergyModel()) >= bytes / 1e6 * EnergyModel()[.traffic])
    }

    @Test("PWR-1: of a download that its app cancels, what had come by its last progress is written down")
    func cancelled() throws {
        let file = out + ".yaml"
        let scenario = """
            scenario: cancelled
            devices:
              - {name: server, file: \(root)/Devices/Transfer/podcast-server.yaml}
            apps:
              - scripted: com.example.podcasts
                name: podcasts
                transfers:
                  sessions: [{id: episodes, tasks: [{download: "https://podcasts.example.com/episodes/1.mp3"}]}]
            steps:
              - {at: 0, launch: podcasts}
              - {at: 20s, transfer: podcasts, session: episodes, cancel-task: 1}
            until: 1m
            """
        try Data(scenario.utf8).write(to: URL(filePath: file))
        defer {
            try? FileManager.default.removeItem(atPath: file)
            try? FileManager.default.removeItem(atPath: out)
        }
        try Run(RunOptions(scenario: file, out: out)).execute()
        // A quarter of 60 MB at 1 MB a second: the next one is not there after 20 s.
        #expect(try RunLog(folder: out).traffic.map(\.received) == [15_000_000])
    }
}
