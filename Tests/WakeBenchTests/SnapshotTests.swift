import Foundation
import Testing
@testable import WakeJournal

/// A scenario that has many inputs in little time, and its device files.
struct LongStory: CustomTestStringConvertible {
    var name: String
    var files: [String: String]

    var testDescription: String { name }

    /// Belts and played apps that are ended and launched.
    static let belts = LongStory(
        name: "belts",
        files: [
            "belt.yaml": text("belt.yaml"),
            "scenario.yaml": text("crashes.yaml").replacing("until: 1h", with: "until: 8h"),
        ]
    )

    private static func text(_ name: String) -> String {
        let file = BenchProgram.repository.appending(path: "Scripts/crash.d/\(name)")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }

    /// A central that uses an app, an accessory that comes and goes, and a call server.
    static let ends = LongStory(
        name: "centrals, accessories and call servers",
        files: [
            "reader.yaml": """
            device: bluetooth-central
            name: Reader
            address: "F0:AA:00:00:00:01"
            interval: 30ms
            script:
              - connect: 180D
              - read: 2A38
              - subscribe: 2A37
              - {write: 2A39, value: "01"}
              - {write: 2A39, value: "02"}
              - {await: 2A37, count: 2, within: 3s}
              - unsubscribe: 2A37
              - disconnect
              - wait: 500ms
            repeat: true
            """,
            "dock.yaml": """
            device: external-accessory
            name: Dock
            manufacturer: Wakebench
            model: D1
            serial-number: "1"
            usb: {vendor: "1d6b", product: "0104"}
            protocols:
              - protocol: com.example.log
                tty: {interface: 0}
                repeat: true
                send: [{after: 1s, text: ["on\\n"]}]
            presence: [{detach: 20s}, {attach: 7s}]
            faults:
              - {name: pulled, unplug-after-sent: 40, back-after: 9s}
            """,
            "server.yaml": """
            device: call-server
            plan:
              - await: REGISTER
              - pause: 5s
              - send: "INVITE\\r\\n\\r\\n"
            """,
            "scenario.yaml": """
            scenario: ends
            devices:
              - {file: reader.yaml, name: reader}
              - {file: reader.yaml, name: second}
              - {file: dock.yaml, name: dock}
              - {file: server.yaml, name: server}
            apps:
              - scripted: com.example.strap
                name: strap
                modes: [bluetooth-peripheral]
                peripheral:
                  restore-identifier: strap
                  name: Strap
                  services:
                    - service: 180D
                      characteristics:
                        - {uuid: 2A37, properties: [notify], value: "0048"}
                        - {uuid: 2A38, properties: [read]}
                        - {uuid: 2A39, properties: [write]}
              - scripted: com.example.logger
                name: logger
                modes: [external-accessory]
                accessory: {protocols: [com.example.log], sessions: [{protocol: com.example.log, text: "LOG"}]}
              - scripted: com.example.phone
                name: phone
                sdk: 9.3
                modes: [voip]
                voip: {servers: server}
            steps:
              - {at: 0, launch: strap}
              - {at: 1s, launch: logger}
              - {at: 2s, launch: phone}
              - {at: 3s, home: phone}
              - {at: 60s, every: 100s, times: 10000, arm: dock, fault: pulled}
              - {at: 85s, every: 90s, times: 10000, terminate: logger, cause: memory}
              - {at: 90s, every: 90s, times: 10000, launch: logger}
              - {at: 37s, every: 47s, times: 10000, connect: second}
              - {at: 130s, every: 130s, times: 10000, terminate: strap, cause: memory}
              - {at: 170s, every: 170s, times: 10000, launch: strap}
              - {at: 300s, every: 300s, times: 10000, detach: dock}
              - {at: 310s, every: 300s, times: 10000, attach: dock}
              - {at: 95s, every: 100s, times: 10000, terminate: phone, cause: memory}
              - {at: 101s, every: 100s, times: 10000, launch: phone}
              - {at: 103s, every: 100s, times: 10000, home: phone}
            until: 4h
            """,
        ]
    )
}

@Suite("Snapshots", .serialized)
struct SnapshotTests {
    @Test(
        "A run killed ten times goes on from its latest snapshot exactly as from all of its inputs",
        arguments: [LongStory.belts, .ends]
    )
    func fromSnapshot(_ story: LongStory) throws {
        let program = try BenchProgram()
        for (name, text) in story.files { try program.write(text, to: name) }
        func arguments(_ folder: String) -> [String] { ["run", "scenario.yaml", "--out", folder, "-q"] }
        let log = program.folder.appending(path: "out/decisions.ndjson").path
        for point in 1...10 {
            let process = try program.start(arguments("out"))
            // On a machine that is busy the run must not come to its end before the log is looked at again.
            #expect(setpriority(Int32(PRIO_PROCESS.rawValue), id_t(process.processIdentifier), 19) == 0)
            let end = Date().addingTimeInterval(BenchProgram.patience)
            while size(of: log) < point * 700_000, process.isRunning, Date() < end { moment(milliseconds: 1) }
            try #require(process.isRunning, "kill \(point)")
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let whole = program.folder.appending(path: "whole")
        try FileManager.default.copyItem(at: program.folder.appending(path: "out"), to: whole)
        #expect(try dropSnapshots(of: whole.appending(path: "journal.sqlite").path) == 2)
        for folder in ["out", "whole"] {
            let run = try program.run(arguments(folder))
            #expect(run.code == 0, "\(run.errors)")
        }
        for name in ["decisions.ndjson", "outcomes.ndjson"] {
            #expect(try program.lines(of: "out/\(name)") == program.lines(of: "whole/\(name)"))
        }
        let decisions = try program.records(of: "out/decisions.ndjson").filter { $0["seq"] != nil }
        #expect(decisions.count > 30_000)
        #expect(decisions.map { $0["seq"] as? Int } == (0..<decisions.count).map { $0 + 1 }, "a gap")
    }

    /// Takes a journal's snapshots away, and closes it before a run opens it.
    private func dropSnapshots(of journal: String) throws -> Int64 {
        let connection = try Connection(path: journal, creating: false)
        let count = try connection.number("SELECT count(*) FROM snapshots")
        try connection.execute("DELETE FROM snapshots")
        return count
    }

    private func size(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
