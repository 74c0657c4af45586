import Foundation
import Testing
import WakeBench
import WakeModel
import WakeReports

@Suite("Runs whose steps have a central do something")
struct CentralOrderRunTests {
    private let out = FileManager.default.temporaryDirectory.path + "/orders-\(UUID().uuidString)"

    private func play(_ steps: String, _ options: String = "") throws -> RunLog {
        let reader = """
            device: bluetooth-central
            address: "F0:AA:00:00:00:01"
            script: []
            """
        let scenario = """
            scenario: orders
            \(options)
            devices: [{file: reader.yaml}]
            apps:
              - scripted: com.example.strap
                name: strap
                modes: [bluetooth-peripheral]
                peripheral:
                  name: Strap
                  services:
                    - service: 180D
                      characteristics: [{uuid: 2A39, properties: [write]}]
                on: [{event: any, then: end}]
            steps: [{at: 0, launch: strap}, {at: 1s, home: strap}, \(steps)]
            """
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: out) }
        try Data(reader.utf8).write(to: URL(filePath: out + "/reader.yaml"))
        try Data(scenario.utf8).write(to: URL(filePath: out + "/orders.yaml"))
        try Run(RunOptions(scenario: out + "/orders.yaml", out: out + "/run")).execute()
        return try RunLog(folder: out + "/run")
    }

    @Test("BTP-1: What a central is told to write wakes the suspended app that it is connected to")
    func wakes() throws {
        let all = try play(
            "{at: 10s, connect: reader, service: 180D}, {at: 12s, write: reader, characteristic: 2A39, value: \"01\"}"
        )
        .decisions
        let written = all.filter { $0.kind == "write-requested" }
        #expect(written.map(\.verdict) == [.resume])
        #expect(written.map(\.at) == [.zero.advanced(by: .seconds(12) + .milliseconds(30))])
    }

    @Test("A read that the app does not let happen is a line, and so is what is still looked for at the end")
    func refused() throws {
        let log = try play(
            "{at: 10s, connect: reader, service: 180D}, {at: 12s, read: reader, characteristic: 2A39}, "
                + "{at: 14s, disconnect: reader}, {at: 16s, connect: reader, service: 180F}"
        )
        #expect(
            log.notes.map(\.text) == [
                "reader: connected", "read reader 2A39: the app that publishes it does not let it be read",
                "connect reader 180F: nobody advertises it now, and it goes on looking",
                "reader: still looks for 180F at the end, which nobody advertises",
            ]
        )
    }

    @Test("A central loses its link to a phone that is shut down, and finds nothing of it while it is off")
    func shutDown() throws {
        let log = try play(
            "{at: 10s, connect: reader, service: 180D}, {at: 12s, phone: shut-down}, "
                + "{at: 14s, write: reader, characteristic: 2A39, value: \"01\"}, {at: 16s, connect: reader, service: 180D}"
        )
        #expect(
            log.notes.map(\.text) == [
                "reader: connected", "write: reader has no link: connect it first",
                "connect reader 180D: nobody advertises it now, and it goes on looking",
                "reader: still looks for 180D at the end, which nobody advertises",
            ]
        )
    }

    @Test("Steps of a central that wait behind a connect that finds nobody are a line at the end")
    func behind() throws {
        let words = ["read: reader", "write: reader, value: \"01\"", "subscribe: reader"]
        let steps = words.enumerated().map { "{at: \($0 + 11)s, \($1), characteristic: 2A39}" }
        let log = try play("{at: 10s, connect: reader, service: 180F}, " + steps.joined(separator: ", "))
        #expect(
            log.notes.map(\.text) == [
                "connect reader 180F: nobody advertises it now, and it goes on looking",
                "reader: still looks for 180F at the end, which nobody advertises",
                "reader: 3 steps that it had not carried out are void",
            ]
        )
    }

    @Test("A write without a link is a line with what to do, and the steps after it are carried out")
    func unlinked() throws {
        let log = try play(
            "{at: 12s, write: reader, characteristic: 2A39, value: \"01\"}, {at: 14s, connect: reader, service: 180D}, "
                + "{at: 16s, write: reader, characteristic: 2A39, value: \"01\"}"
        )
        let done = ["reader: connected", "reader: wrote 2A39 01"]
        #expect(log.notes.map(\.text) == ["write: reader has no link: connect it first"] + done)
        #expect(log.decisions.filter { $0.kind == "write-requested" }.map(\.verdict) == [.resume])
    }
}
