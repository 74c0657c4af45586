import ChildProcess
import Foundation
import Testing

/// A record of a phone's log, as far as these tests look at it.
private struct Decided: Equatable, CustomStringConvertible {
    var kind: String
    var subject: String
    var app: String
    var verdict: String

    /// Any that delivers: how far an app was on its way to sleep is a matter of the machine's time.
    static let anyhow = "delivered"

    func fits(_ wanted: Decided) -> Bool {
        var other = self
        if wanted.verdict == Self.anyhow, !["deny", "drop", "defer"].contains(verdict) { other.verdict = Self.anyhow }
        return other == wanted
    }

    var description: String { "\(app): \(kind) \(subject) \(verdict)" }

    init(_ kind: String, _ subject: String, _ app: String, _ verdict: String) {
        (self.kind, self.subject, self.app, self.verdict) = (kind, subject, app, verdict)
    }
}

/// A bench whose phones are devices to each other.
private final class PhonesBench {
    let bench: ServedBench

    init() throws { bench = try ServedBench() }

    /// Makes a phone of a scenario, and switches it on.
    func boot(_ phone: String, _ scenario: String) throws {
        try bench.program.write("\(phone).yaml", scenario)
        let made = try bench("phone", "create", phone, "--scenario", "\(phone).yaml")
        try #require(made.code == 0, "\(made.errors)")
        let booted = try bench("phone", "boot", phone)
        try #require(booted.code == 0, "\(booted.errors)")
    }

    func say(_ words: String...) throws {
        let said = try bench.run(words)
        try #require(said.code == 0, "\(words): \(said.errors)")
    }

    /// Does something on a phone that is given in the last words.
    func inject(_ step: String, _ phone: String) throws { try say("event", "inject", step, "-p", phone) }

    func decisions(of phone: String) throws -> [Decided] {
        let state = bench.program.folder.appending(path: "state").path
        let log = try bench.program.run("log", "-p", phone, environment: ["WAKEBENCH_STATE": state])
        try #require(log.code == 0, "\(log.errors)")
        return try log.output.split(separator: "\n").compactMap { line in
            let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let event = record?["event"] as? [String: Any], let app = record?["app"] as? [String: Any] else {
                return nil
            }
            return Decided(
                event["kind"] as? String ?? "",
                event["subject"] as? String ?? "",
                app["bundle"] as? String ?? "",
                record?["verdict"] as? String ?? ""
            )
        }
    }

    /// Waits until a phone has decided something so often.
    func expect(
        _ wanted: Decided,
        on phone: String,
        times: Int = 1,
        _ place: SourceLocation = #_sourceLocation
    ) throws {
        var last: [Decided] = []
        for _ in 0..<150 {
            last = try decisions(of: phone)
            if last.count(where: { $0.fits(wanted) }) >= times { return }
            usleep(100_000)
        }
        let all = last.map(\.description).joined(separator: "\n")
        Issue.record("\(phone) never decided \(wanted) \(times) times, but\n\(all)", sourceLocation: place)
    }

    /// Shuts a phone down, and takes all that it was told through a fresh router.
    func expectTheSameAgain(_ phone: String) throws {
        try say("phone", "shutdown", phone)
        let same = try bench("run", "--from", "state/phones/\(phone)/run")
        #expect(same.code == 0 && same.output.contains("gave the same"), "\(same.output)\(same.errors)")
    }
}

@Suite("Phones of one bench that are devices to each other", .timeLimit(.minutes(5)))
struct PhonesTests {
    private static func oven(beside device: String = "") -> String {
        """
        scenario: oven
        phone: {passcode: false}
        \(device)
        apps:
          - scripted: com.acme.oven
            name: oven
            modes: [bluetooth-peripheral]
            peripheral:
              restore-identifier: oven
              name: Oven
              services:
                - service: 1809
                  characteristics: [{uuid: 2A1C, properties: [read, write, notify], value: "0042"}]
            on: [{event: any, work: 1s, then: end}]

        """
    }

    private static func reader(of phone: String) -> String {
        """
        scenario: reader
        phone: {passcode: false}
        devices: [{phone: \(phone), name: thermometer}]
        apps:
          - scripted: com.acme.reader
            name: reader
            modes: [bluetooth-central]
            restore-identifier: reader
            uses: [{device: thermometer, characteristic: 2A1C, script: [{write: 2A1C, value: "0043"}, {read: 2A1C}]}]
            on: [{event: any, work: 1s, then: end}]

        """
    }

    private func readerAndOven(_ bench: PhonesBench) throws {
        try bench.boot("morning", Self.reader(of: "evening"))
        try bench.boot("evening", Self.oven())
        try bench.say("app", "launch", "oven", "-p", "evening")
        try bench.say("app", "launch", "reader", "-p", "morning")
        try bench.expect(
            Decided("value-read", "thermometer/2A1C", "com.acme.reader", "foreground-deliver"),
            on: "morning"
        )
        try bench.expect(
            Decided("read-requested", "morning/2A1C", "com.acme.oven", "foreground-deliver"),
            on: "evening"
        )
        for (app, phone) in [("reader", "morning"), ("oven", "evening")] {
            try bench.say("app", "home", app, "-p", phone)
            try bench.say("app", "wait", app, "suspended", "-p", phone, "--timeout", "30s")
        }
    }

    private static let thermometer = Program.repository.appending(path: ".build/debug/ThermometerPeripheral").path

    @Test(
        "A real peripheral app is resumed by what another phone's app writes, and its value resumes a suspended central there",
        .enabled(if: FileManager.default.isExecutableFile(atPath: thermometer), "needs the example apps: swift build")
    )
    func realApp() throws {
        let bench = try PhonesBench()
        let bundled = try bench.bench.program.run(
            Program.repository.appending(path: "Scripts/bundle").path,
            ["ThermometerPeripheral"],
            environment: ["WAKEBENCH_BUNDLES": bench.bench.program.folder.path, "WAKEBENCH": Program.path]
        )
        try #require(bundled.code == 0, "\(bundled.errors)")
        try bench.boot(
            "evening",
            "scenario: oven\nphone: {passcode: false}\napps: [{bundle: ThermometerPeripheral.app, name: oven}]\n"
        )
        try bench.boot(
            "morning",
            """
            scenario: kitchen
            phone: {passcode: false}
            devices: [{phone: evening, name: oven}]
            apps:
              - scripted: com.acme.display
                name: display
                modes: [bluetooth-central]
                uses: [{device: oven, characteristic: 2A1E}]
                on: [{event: any, work: 1s, then: end}]
              - scripted: com.acme.knob
                name: knob
                uses: [{device: oven, script: [{write: 2A21, value: "0a00"}, {read: 2A21}]}]

            """
        )
        try bench.say("app", "launch", "oven", "-p", "evening")
        try bench.say("app", "launch", "display", "-p", "morning")
        try bench.expect(
            Decided("characteristic-notified", "oven/2A1E", "com.acme.display", "foreground-deliver"),
            on: "morning"
        )
        for (app, phone) in [("display", "morning"), ("oven", "evening")] {
            try bench.say("app", "home", app, "-p", phone)
            try bench.say("app", "wait", app, "suspended", "-p", phone, "--timeout", "60s")
        }
        try bench.say("app", "launch", "knob", "-p", "morning")
        try bench.expect(Decided("characteristic-notified", "oven/2A1E", "com.acme.display", "resume"), on: "morning")
        try bench.expect(Decided("value-read", "oven/2A21", "com.acme.knob", "foreground-deliver"), on: "morning")
        let verdicts = try bench.decisions(of: "evening")
        #expect(
            verdicts.contains(Decided("write-requested", "morning/2A21", "com.example.thermometer", "resume")),
            "\(verdicts)"
        )
        let said = try bench.bench.program.read("state/phones/evening/run/apps/com.example.thermometer.log")
        #expect(said.contains("didReceiveWrite 2A21 [\"0a00\"]"), "\(said)")
        for phone in ["morning", "evening"] { try bench.expectTheSameAgain(phone) }
    }

    @Test("A scripted peripheral notifies as often as it is told to, and each value resumes an app of the other phone")
    func values() throws {
        let bench = try PhonesBench()
        try readerAndOven(bench)
        let notify = ["ble", "notify", "oven", "2A1C"]
        expectRefusal(
            try bench.bench.run(notify + ["0044", "-p", "evening"]),
            code: 4,
            says: "oven cannot notify: it is suspended"
        )
        try bench.say("app", "launch", "oven", "-p", "evening")
        for (times, value) in [(1, "0044"), (2, "0045")] {
            let said = try bench.bench.run(notify + [value, "-p", "evening"])
            #expect(said.code == 0, "\(said.errors)")
            #expect(said.output.contains("  notify oven 2A1C \(value): sent to morning\n"), "\(said.output)")
            try bench.expect(
                Decided("characteristic-notified", "thermometer/2A1C", "com.acme.reader", "resume"),
                on: "morning",
                times: times
            )
            try bench.say("app", "wait", "reader", "suspended", "-p", "morning", "--timeout", "30s")
        }
        try bench.say("app", "terminate", "oven", "-p", "evening")
        try bench.say("app", "wait", "oven", "not-running", "-p", "evening", "--timeout", "30s")
        expectRefusal(
            try bench.bench.run(notify + ["0046", "-p", "evening"]),
            code: 4,
            says: "oven cannot notify: it does not run; launch it first"
        )
        expectRefusal(
            try bench.bench("ble", "notify", "thermometer", "2A1C", "0046", "-p", "morning"),
            code: 2,
            says: "'notify' of 'thermometer', which is a phone; expected an app of 'evening'"
        )
        for phone in ["morning", "evening"] { try bench.expectTheSameAgain(phone) }
    }

    @Test("A phone that is shut down, or is out of range, ends its links, and is found again when it is back")
    func ends() throws {
        let bench = try PhonesBench()
        try readerAndOven(bench)
        try bench.say("phone", "shutdown", "evening")
        let gone = Decided("peripheral-disconnected", "thermometer", "com.acme.reader", "resume")
        try bench.expect(gone, on: "morning")
        try bench.say("phone", "boot", "evening")
        try bench.expect(Decided("central-subscribed", "morning/2A1C", "com.acme.oven", "relaunch"), on: "evening")
        let read = Decided("value-read", "thermometer/2A1C", "com.acme.reader", Decided.anyhow)
        try bench.expect(read, on: "morning", times: 2)
        try bench.say("app", "wait", "reader", "suspended", "-p", "morning", "--timeout", "30s")
        try bench.say("app", "wait", "oven", "suspended", "-p", "evening", "--timeout", "30s")
        try bench.inject("{\"out-of-range\": \"thermometer\"}", "morning")
        try bench.expect(gone, on: "morning", times: 2)
        try bench.expect(Decided("central-unsubscribed", "morning/2A1C", "com.acme.oven", "resume"), on: "evening")
        try bench.inject("{\"in-range\": \"thermometer\"}", "morning")
        try bench.expect(read, on: "morning", times: 3)
        for phone in ["morning", "evening"] { try bench.expectTheSameAgain(phone) }
    }

    @Test("Two phones, each both, outlive kill -9 of the daemon: links end, are made again, and no request comes twice")
    func killed() throws {
        let bench = try PhonesBench()
        for (phone, other) in [("morning", "evening"), ("evening", "morning")] {
            let apps = try #require(Self.reader(of: other).firstRange(of: "apps:\n")).upperBound
            let device = "devices: [{phone: \(other), name: thermometer}]"
            try bench.boot(phone, Self.oven(beside: device) + String(Self.reader(of: other)[apps...]))
        }
        let phones = ["morning", "evening"]
        for app in ["oven", "reader"] { for phone in phones { try bench.say("app", "launch", app, "-p", phone) } }
        for phone in phones {
            try bench.expect(
                Decided("value-read", "thermometer/2A1C", "com.acme.reader", "foreground-deliver"),
                on: phone
            )
        }
        for phone in phones {
            try bench.say("app", "home", "reader", "-p", phone)
            try bench.say("app", "wait", "reader", "suspended", "-p", phone, "--timeout", "30s")
            try bench.say("app", "wait", "oven", "suspended", "-p", phone, "--timeout", "30s")
        }
        func requests(_ phone: String) throws -> Int {
            try bench.decisions(of: phone).count { $0.kind == "write-requested" || $0.kind == "central-subscribed" }
        }
        let before = try phones.map(requests)
        #expect(before == [2, 2])
        try bench.bench.killAndServeAgain()
        for phone in phones {
            try bench.expect(
                Decided("peripheral-disconnected", "thermometer", "com.acme.reader", "relaunch"),
                on: phone
            )
            try bench.expect(Decided("central-subscribed", "thermometer/2A1C", "com.acme.oven", "relaunch"), on: phone)
            try bench.expect(
                Decided("value-read", "thermometer/2A1C", "com.acme.reader", Decided.anyhow),
                on: phone,
                times: 2
            )
        }
        #expect(try phones.map(requests) == [4, 4])
        for phone in phones { try bench.expectTheSameAgain(phone) }
    }

    @Test("A phone that cannot be another's device is refused with the reason and the remedy")
    func refusals() throws {
        let bench = try ServedBench()
        try bench.program.write("morning.yaml", Self.reader(of: "evening"))
        let alone = try bench.program.run("run", "morning.yaml", "--out", "run")
        expectRefusal(alone, code: 2, says: "'thermometer' is the phone 'evening' of a daemon", "wakebench serve")
        #expect(!FileManager.default.fileExists(atPath: bench.program.folder.appending(path: "run").path))
        for (phone, options, part) in [
            ("virtual", ["--clock", "virtual"], "no common time"), ("evening", [], "is the phone itself"),
        ] {
            #expect(try bench.run(["phone", "create", phone, "--scenario", "morning.yaml"] + options).code == 0)
            expectRefusal(try bench("phone", "boot", phone), code: 2, says: part)
        }
    }
}
