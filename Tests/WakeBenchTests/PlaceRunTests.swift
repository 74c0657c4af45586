import Foundation
import Testing
import WakeBench
import WakeModel
import WakeReports

/// Runs in which the phone, or a beacon beside it, goes away and comes again.
@Suite("Runs with regions and beacons")
struct PlaceRunTests {
    private func run(_ scenario: String, _ device: String, seed: UInt64 = 1) throws -> RunLog {
        var log: RunLog?
        try ScenarioFolder.with(scenario, belt: device) { options in
            var options = options
            options.seed = seed
            try Run(options).execute()
            log = try RunLog(folder: options.out)
        }
        return try #require(log)
    }

    private static func beacon(_ distance: String, interval: String) -> String {
        """
        device: ibeacon
        address: "C2:00:00:00:00:01"
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        interval: \(interval)
        radio: {fading: 0, loss: 0}
        distance: [\(distance)]

        """
    }

    private static let desk = """
        scenario: desk
        devices: [{file: belt.yaml, name: beacon}]
        apps:
          - scripted: com.example.a
            name: a
            location: {beacons: [{identifier: s, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0}]}
        steps:
          - {at: 0, launch: a}
          - {at: 1s, home: a}
        until: 150s

        """

    private func crossings(_ log: RunLog) -> [DecisionRecord] {
        log.decisions.filter { ["region-entered", "region-exited"].contains($0.kind) }
    }

    @Test(
        "BCN-2: a beacon that is away for less than 30 s is not left",
        arguments: [28_200, 29_000, 29_900],
        Array(1...8) as [UInt64]
    )
    func shortAbsence(milliseconds: Int, seed: UInt64) throws {
        let legs = "{after: 10s, metres: 2}, {after: 70s, metres: away}, {after: \(milliseconds)ms, metres: 2}"
        let log = try run(Self.desk, Self.beacon(legs, interval: "100ms"), seed: seed)
        #expect(crossings(log).map(\.kind) == ["region-entered"])
    }

    @Test(
        "BCN-2: a beacon is left 30 s after it was heard last, to its interval",
        arguments: [20, 100, 1_000] as [Int64]
    )
    func exit(interval: Int64) throws {
        let legs = "{after: 10s, metres: 2}, {after: 45s, metres: away}"
        let log = try run(Self.desk, Self.beacon(legs, interval: "\(interval)ms"))
        let exit = try #require(crossings(log).last)
        #expect(exit.kind == "region-exited" && exit.verdict == .resume)
        let end = Instant.zero.advanced(by: .seconds(85))
        #expect(exit.at <= end)
        #expect(end.since(exit.at) <= .milliseconds(interval))
    }

    /// A phone that stands in a circle of 100 m, and a receiver that says for 40 s that it is 2 km away, sure to 5 km.
    private static let standing = """
        device: location-track
        route:
          - {latitude: 48.1, longitude: 11.5, speed: 1m/s, wait: 10m}
          - {latitude: 48.1001, longitude: 11.5}
        faults:
          - {name: cell, poor-accuracy: {accuracy: 5km, lasting: 40s}}
          - {name: off, jump: {distance: 2km, lasting: 40s}}

        """

    @Test("REG-2: a crossing by a poor fix is one, and says so in the log and in why", arguments: [true, false])
    func poorFix(isPoor: Bool) throws {
        let log = try run(
            """
            scenario: poor-fix
            devices: [{file: belt.yaml, name: track}]
            apps:
              - scripted: com.example.a
                name: a
                location: {regions: [{identifier: h, latitude: 48.1, longitude: 11.5, radius: 100m}]}
            steps:
              - {at: 0, launch: a}
              - {at: 1s, home: a}
            \(isPoor ? "  - {at: 1m, arm: track, fault: cell}" : "")
              - {at: 1m, arm: track, fault: off}
            until: 90s

            """,
            Self.standing
        )
        let exit = try #require(crossings(log).first { $0.kind == "region-exited" })
        #expect(LogTime.shortText(exit.at) == "T+00:01:21")
        #expect(exit.verdict == .resume)
        let told = log.deeds.filter { $0.deed == .crossedByPoorFix }
        #expect(told.map(\.at) == (isPoor ? [exit.at] : []))
        #expect(told.allSatisfy { $0.subject == "h" && $0.event == exit.parent })
        let why = Why(log, app: "com.example.a").explanation()
        #expect(why.contains(Deed.crossedByPoorFix.row.sentence) == isPoor, "\(why)")
    }
}
