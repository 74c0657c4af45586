import Foundation
import Testing
import WakeBench
import WakeModel
import WakeReports

@Suite("Runs in which a phone keeps a device's attributes")
struct KeptAttributesRunTests {
    private static let silent = """
        device: bluetooth-peripheral
        name: HR Belt
        address: "F0:11:22:33:44:55"
        advertising: {interval: 152.5ms, services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - uuid: 2A37
                properties: [notify]
                notifications: [{after: 2s, values: ["0048", "0049"], every: 10s}]
                repeat: true
          - service: 180F
            characteristics: [{uuid: 2A19, properties: [read, notify], value: "5a"}]
        faults:
          - {name: moved, stale-handles: 16}
          - {name: gone, change-services: {remove: [180F]}}

        """
    private static let telling = silent.replacing(
        "\nfaults:",
        with: "\n  - {service: 1801, characteristics: [{uuid: 2A05, properties: [indicate]}]}\nfaults:"
    )

    /// An app with a belt, which is suspended after a few seconds, and these steps.
    private func run(_ belt: String, _ uuid: String, _ steps: String..., settings: String = "{attributeCache: on}")
        throws -> RunLog
    {
        let lines = steps.map { "  - {\($0)}" }.joined(separator: "\n")
        let scenario = """
            scenario: kept
            profile: ios17
            settings: \(settings)
            devices: [{file: belt.yaml, name: belt}]
            apps:
              - scripted: org.invented.fw
                name: fw
                modes: [bluetooth-central]
                restore-identifier: r1
                uses: [{device: belt, characteristic: \(uuid)}]
                on: [{event: any, work: 1s, then: end}]
            steps:
              - {at: 0, launch: fw}
              - {at: 5s, home: fw}
            \(lines)
            until: 3m

            """
        var log: RunLog?
        try ScenarioFolder.with(scenario, belt: belt) { options in
            try Run(options).execute()
            log = try RunLog(folder: options.out)
        }
        return try #require(log)
    }

    /// When events of a kind came, in seconds, whatever was decided.
    private func seconds(_ log: RunLog, _ kind: String) -> [Int64] {
        log.decisions.filter { $0.kind == kind }.map { $0.at.nanoseconds / 1_000_000_000 }
    }

    private func oldTables(_ log: RunLog) -> [String] {
        log.deeds.filter { $0.deed == .keptAttributes }.map { "\($0.app ?? "") \($0.subject)" }
    }

    private static let away = ["at: 20s, out-of-range: belt", "at: 60s, in-range: belt"]

    @Test("BTC-14: why says that the phone goes by an old table, until it forgets it")
    func forgotten() throws {
        let gone = "at: 10s, arm: belt, fault: gone"
        let kept = try run(Self.silent, "2A37", gone)
        #expect(Why(kept, app: "org.invented.fw").explanation().contains("keeps its old table"))
        let forgotten = try run(Self.silent, "2A37", gone, "at: 20s, forget-attributes: belt")
        #expect(!Why(forgotten, app: "org.invented.fw").explanation().contains("keeps its old table"))
    }

    @Test("BTC-14: handles that moved while the belt was away are old ones to the phone, until it forgets them")
    func moved() throws {
        let log = try run(
            Self.silent,
            "2A37",
            "at: 10s, arm: belt, fault: moved",
            Self.away[0],
            Self.away[1],
            "at: 100s, disconnect: belt"
        )
        #expect(log.notes.contains { $0.text == "script of fw: subscribe belt/2A37 failed: The handle is invalid." })
        #expect(seconds(log, "characteristic-notified").allSatisfy { $0 < 21 })
        #expect(oldTables(log) == ["org.invented.fw belt", "org.invented.fw belt"])
        let why = Why(log, app: "org.invented.fw").explanation()
        #expect(why.contains("\n  table    belt at T+00:01:40: the peripheral's attributes changed"), "\(why)")
        let forgotten = try run(
            Self.silent,
            "2A37",
            "at: 10s, arm: belt, fault: moved",
            Self.away[0],
            Self.away[1],
            "at: 80s, forget-attributes: belt",
            "at: 81s, forget-attributes: belt",
            "at: 100s, disconnect: belt"
        )
        let times = seconds(forgotten, "characteristic-notified")
        #expect(times.contains { $0 > 100 } && !times.contains { (21...100).contains($0) })
        let notes = forgotten.notes.map(\.text).filter { $0.hasPrefix("forget-attributes belt: ") }
        #expect(
            notes.map { $0.dropFirst(24) } == [
                "the phone looks for them anew when an app discovers", "nothing changed, as the phone keeps none of it",
            ]
        )
        #expect(oldTables(forgotten).count == 1)
    }

    @Test(
        "BTC-14: moved handles are found anew with Service Changed, with the switch off, and after Bluetooth was off",
        arguments: [
            (telling, "{attributeCache: on}", "note: on"), (silent, "{attributeCache: off}", "note: on"),
            (silent, "{attributeCache: on}", "bluetooth: off"),
        ]
    )
    func foundAnew(belt: String, settings: String, step: String) throws {
        let log = try run(
            belt,
            "2A37",
            "at: 10s, arm: belt, fault: moved",
            Self.away[0],
            "at: 40s, \(step)",
            "at: 50s, bluetooth: on",
            Self.away[1],
            settings: settings
        )
        #expect(seconds(log, "characteristic-notified").contains { $0 > 60 })
        #expect(oldTables(log).isEmpty)
    }

    @Test("BTC-14: a service that went while the belt was away is listed still, and gives nothing")
    func goneWhileAway() throws {
        let log = try run(Self.silent, "2A19", Self.away[0], "at: 30s, arm: belt, fault: gone", Self.away[1])
        #expect(log.notes.contains { $0.text == "script of fw: subscribe belt/2A19 failed: The handle is invalid." })
        // 180D and 180F are looked into, the first time and the second.
        #expect(
            log.decisions.filter { $0.kind == "characteristics-discovered" }.map(\.subject) == [
                "belt/180D", "belt/180F", "belt/180D", "belt/180F",
            ]
        )
    }

    @Test(
        "BTC-14: over a link apps hear of services that go where the device has Service Changed, and nobody else does"
    )
    func goneOverLink() throws {
        let told = try run(Self.telling, "2A19", "at: 10s, arm: belt, fault: gone")
        #expect(seconds(told, "services-modified") == [10] && oldTables(told).isEmpty)
        let untold = try run(Self.silent, "2A19", "at: 10s, arm: belt, fault: gone")
        #expect(seconds(untold, "services-modified") == [])
        #expect(oldTables(untold) == ["org.invented.fw belt"])
        #expect(untold.decisions.allSatisfy { $0.at < Instant(nanoseconds: 10_000_000_000) })
    }
}
