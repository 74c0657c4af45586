import ChildProcess
import Foundation
import Testing
import WakeDevices

/// A bench with bundles of the app that talks to accessories of com.example.bulk.
private struct AccessoryStage {
    let bench: BenchProgram

    init() throws { bench = try BenchProgram() }

    /// Makes a bundle whose app does what the words say.
    func install(_ name: String, _ words: String = "", modes: [String] = ["external-accessory"]) throws {
        let bundle = bench.folder.appending(path: "apps/\(name).app")
        try bench.makeApp(
            name,
            "com.example.\(name)",
            text: "#!/bin/sh\nexec '\(try BenchProgram.built("AccessoryApp"))' \(words)\n"
        )
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>com.example.\(name)</string>
            <key>CFBundleExecutable</key><string>program</string>
            <key>UISupportedExternalAccessoryProtocols</key><array><string>com.example.bulk</string></array>
            <key>UIBackgroundModes</key><array>\(modes.map { "<string>\($0)</string>" }.joined())</array>
            </dict></plist>
            """
        try Data(list.utf8).write(to: bundle.appending(path: "Info.plist"))
    }

    func describe(link: String = "tty: {}", _ rest: String) throws {
        try bench.write(
            """
            device: external-accessory
            name: Bulk
            usb: {vendor: "1d6b", product: "0104"}
            protocols:
              - protocol: com.example.bulk
                \(link)
            \(rest)
            """,
            to: "bulk.yaml"
        )
    }

    func play(_ apps: [String], _ steps: String) throws -> (code: Int32, errors: String) {
        let entries = apps.map { "{bundle: \($0).app, name: \($0)}" }.joined(separator: ", ")
        try bench.write(
            """
            scenario: bulk
            devices: [{file: bulk.yaml, name: bulk}]
            apps: [\(entries)]
            \(steps)
            """,
            to: "bulk-scenario.yaml"
        )
        return try bench.run(
            ["run", "bulk-scenario.yaml", "--apps", "apps", "--out", "out", "--quiet", "--patience", "60"]
        )
    }

    func log(_ name: String) throws -> [String] {
        try bench.lines(of: "out/apps/com.example.\(name).log").map(String.init)
    }

    /// The decisions of a kind as verdict and reason.
    func decisions(_ kind: String) throws -> [String] {
        try bench.records(of: "out/decisions.ndjson").compactMap { record in
            let event = record["event"] as? [String: Any]
            guard (event?["kind"] ?? record["kind"]) as? String == kind else { return nil }
            return "\(record["verdict"] ?? "") \(record["reason"] ?? "")"
        }
    }
}

@Suite("Real apps with accessories")
struct AccessoryAppTests {
    @Test("EA-5: 100 MB reach an app that is suspended and woken all the while, and the sums are equal")
    func hundredMegabytes() throws {
        let stage = try AccessoryStage()
        try stage.install("reader", "quick")
        try stage.describe(
            """
                send: [{after: 5s, pattern: {bytes: 104857600, block: 65536}, every: 100ms}]
            """
        )
        let run = try stage.play(
            ["reader"],
            """
            steps:
              - {at: 0, launch: reader}
              - {after: 3s, home: reader}
            until: 200s
            expect:
              - {app: reader, verdict: resume, kind: accessory-data, at-least: 100}
              - {app: reader, kind: accessory-session-ended, verdict: drop, count: 0}
            """
        )
        #expect(run.code == 0, "\(run.errors)")
        var sum = Checksum()
        let file = stage.bench.folder.appending(path: "bulk.yaml").path
        let timetable = try ExternalAccessory.load(file: file).protocols[0].script.timetable
        var place = Timetable.Position()
        while let value = timetable.take(&place) { sum.add(value[...]) }
        let told = try stage.log("reader").last { $0.hasPrefix("sum") }
        #expect(told == "sum \(sum.count) \(String(sum.value, radix: 16)) wrote false")
    }

    @Test("EA-5: a link that cannot wait overflows: an error on the stream after what fits, and a record")
    func overflow() throws {
        let stage = try AccessoryStage()
        try stage.install("reader")
        try stage.describe(
            link: "hid: {size: 64}",
            """
            faults: [{name: bursts, flood: 2000000}]
            """
        )
        let run = try stage.play(
            ["reader"],
            """
            steps:
              - {at: 0, launch: reader}
              - {after: 3s, home: reader}
              - {after: 10s, arm: bulk, fault: bursts}
            until: 60s
            expect:
              - {app: reader, reason: AccessoryBytesLost, rule: EA-5, count: 1}
            """
        )
        #expect(run.code == 0, "\(run.errors)")
        let log = try stage.log("reader")
        #expect(log.contains("input error 105"))
        let words = try #require(log.last { $0.hasPrefix("sum") }).split(separator: " ")
        #expect(Int(words[1]).map { (65_536..<2_000_000).contains($0) } == true)
    }

    @Test("An accessory pulled in the middle of a write ends its session, and comes back as a new connection")
    func pulled() throws {
        let stage = try AccessoryStage()
        try stage.install("writer", "write")
        try stage.describe(
            """
            faults: [{name: pulled, unplug-after-received: 50000, back-after: 5s}]
            """
        )
        let run = try stage.play(
            ["writer"],
            """
            steps:
              - {at: 0, arm: bulk, fault: pulled}
              - {at: 0, launch: writer}
            until: 20s
            expect:
              - {app: writer, kind: accessory-disconnected, verdict: foreground-deliver, count: 1}
              - {app: writer, kind: accessory-connected, verdict: foreground-deliver, count: 1}
              - {app: writer, kind: accessory-session-opened, verdict: foreground-deliver, at-least: 2}
            """
        )
        #expect(run.code == 0, "\(run.errors)")
        let log = try stage.log("writer").filter { !$0.hasPrefix("output") && !$0.hasPrefix("sum") }
        let start = ["unlisted nil", "second nil", "session com.example.bulk of Bulk"]
        #expect(
            log.filter { !$0.hasPrefix("picker") }
                == ["connected 1 Bulk true"] + start + ["disconnected 1 Bulk false", "connected 2 Bulk true"] + start
        )
        #expect(try stage.log("writer").contains("picker resultNotFound"))
    }

    @Test("EA-5: an app that dies holding a session gives it back, and another app can open it")
    func dies() throws {
        let stage = try AccessoryStage()
        try stage.install("first", "die")
        try stage.install("second")
        try stage.describe(
            """
                send: [{after: 5s, text: ["hello"]}]
            """
        )
        let run = try stage.play(
            ["first", "second"],
            """
            steps:
              - {at: 0, launch: first}
              - {at: 10s, launch: second}
            until: 30s
            expect:
              - {app: first, exits: 1}
            """
        )
        #expect(run.code == 0, "\(run.errors)")
        #expect(try stage.log("first").last == "dies")
        #expect(try stage.log("second").contains("session com.example.bulk of Bulk"))
    }

    @Test("SYS-2: a session that a killed bench held ends as a disconnection, and the accessory connects anew")
    func killedBench() throws {
        let stage = try AccessoryStage()
        try stage.install("reader")
        try stage.describe(
            """
                send: [{after: 100ms, pattern: {bytes: 1000000, block: 100}, every: 20ms}]
            """
        )
        try stage.bench.write(
            """
            scenario: killed
            devices: [{file: bulk.yaml, name: bulk}]
            apps: [{bundle: reader.app, name: reader}]
            steps:
              - {at: 0, every: 500ms, times: 12, launch: reader}
            until: 7s
            """,
            to: "killed.yaml"
        )
        let arguments = ["run", "killed.yaml", "--apps", "apps", "--out", "out", "--quiet", "--clock", "real"]
        let process = try stage.bench.start(arguments)
        let end = Date().addingTimeInterval(BenchProgram.patience)
        while process.isRunning, Date() < end, try !stage.log("reader").contains(where: { $0.hasPrefix("session") }) {
            moment(milliseconds: 2)
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let run = try stage.bench.run(arguments)
        #expect(run.code == 0, "\(run.errors)")
        let log = try stage.log("reader").filter { $0.hasPrefix("connected") || $0.hasPrefix("session") }
        let session = "session com.example.bulk of Bulk"
        #expect(log == ["connected 1 Bulk true", session, "connected 2 Bulk true", session])
        let records = try stage.bench.records(of: "out/decisions.ndjson")
        let kinds = records.compactMap { ($0["event"] as? [String: Any])?["kind"] as? String ?? $0["kind"] as? String }
        #expect(kinds.count { $0 == "accessory-disconnected" } == 1, "\(kinds)")
        #expect(kinds.count { $0 == "accessory-connected" } == 2, "\(kinds)")
    }

    @Test("EA-1: without the mode sessions end in the background, and the app sees its accessory go and come")
    func withoutMode() throws {
        let stage = try AccessoryStage()
        try stage.install("plain", "", modes: [])
        try stage.describe("")
        let run = try stage.play(
            ["plain"],
            """
            steps:
              - {at: 0, launch: plain}
              - {after: 1s, home: plain}
              - {after: 10s, launch: plain}
            until: 20s
            expect:
              - {app: plain, rule: EA-1, verdict: background-deliver, kind: accessory-disconnected, count: 1}
              - {app: plain, rule: EA-1, verdict: foreground-deliver, kind: accessory-connected, count: 1}
            """
        )
        #expect(run.code == 0, "\(run.errors)")
        let log = try stage.log("plain").filter { $0.contains("connected") || $0.hasPrefix("session") }
        #expect(
            log == [
                "connected 1 Bulk true", "session com.example.bulk of Bulk", "disconnected 1 Bulk false",
                "connected 1 Bulk true", "session com.example.bulk of Bulk",
            ]
        )
    }

    @Test(
        "The shipped scenarios of accessories meet their expectations, with the app in Swift and in another language",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3"),
        arguments: ["serial-dock", "hid-scanner", "rfcomm-printer"],
        ["AccessoryLogger", "AccessoryLoggerPython"]
    )
    func shipped(name: String, app: String) throws {
        let bench = try BenchProgram()
        let bundle = bench.folder.appending(path: "apps/AccessoryLogger.app")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let source = BenchProgram.repository.appending(path: "Sources/Examples/\(app)")
        let isScript = app.hasSuffix("Python")
        let program =
            isScript ? source.appending(path: "accessory_logger.py") : URL(filePath: try BenchProgram.built(app))
        for file in [program, source.appending(path: "Info.plist")] {
            try link(file.path, to: bundle.appending(path: file.lastPathComponent).path)
        }
        let scenario = BenchProgram.repository.appending(path: "Devices/Scenarios/\(name).yaml").path
        let run = try bench.run(["run", scenario, "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let identifier = "com.example.accessory-logger" + (isScript ? ".python" : "")
        let log = try bench.lines(of: "out/apps/\(identifier).log")
        #expect(log.count { $0.hasPrefix("received") } == (name == "serial-dock" ? 4 : name == "hid-scanner" ? 3 : 2))
    }
}

/// What the app prints of the bytes that it has read.
private struct Checksum {
    private(set) var count = 0
    private(set) var value: UInt64 = 0

    /// Of so many that eight go into them.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        count += bytes.count
        var sum = value
        let all = Array(bytes)
        unsafe all.withUnsafeBytes { buffer in
            for place in stride(from: 0, to: buffer.count, by: 8) {
                sum = (sum ^ (unsafe buffer.load(fromByteOffset: place, as: UInt64.self))) &* 0x0100_0000_01b3
                sum ^= sum >> 29
            }
        }
        value = sum
    }
}
