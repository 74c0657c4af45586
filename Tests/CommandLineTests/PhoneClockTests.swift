import Foundation
import Testing

/// A bench with phones of one scenario.
private final class ClockBench {
    let bench: ServedBench

    init(_ scenario: String, phones: [String] = ["one"], _ options: String...) throws {
        bench = try ServedBench()
        try bench.program.write("belt.yaml", Self.belt)
        try bench.program.write("clock.yaml", scenario)
        for phone in phones {
            try say(["phone", "create", phone, "--scenario", "clock.yaml"] + options)
            try say(["phone", "boot", phone])
        }
    }

    /// A belt that says something every second to whoever listens.
    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - uuid: 2A37
                properties: [notify]
                notifications: [{after: 1s, counter: {from: 0, count: 7000, every: 1s, width: 4}}]

        """

    @discardableResult
    func say(_ words: [String]) throws -> String {
        let said = try bench.run(words)
        try #require(said.code == 0, "\(words): \(said.errors)")
        return said.output
    }

    func say(_ words: String...) throws { try say(words) }

    /// What the phone tells of its time, in seconds.
    func time(_ phone: String = "one") throws -> Double { try Self.seconds(say(["time", "now", "-p", phone])) }

    /// Seconds of `T+00:00:01.250`.
    static func seconds(_ text: String) throws -> Double {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let parts = text.dropFirst(2).split(separator: ":").compactMap { Double($0) }
        try #require(text.hasPrefix("T+") && parts.count == 3, "\(text)")
        return parts[0] * 3_600 + parts[1] * 60 + parts[2]
    }

    /// Waits until the phone tells a time of so many seconds, and says what it told.
    @discardableResult
    func wait(for time: Double, of phone: String = "one") throws -> Double {
        var told = try self.time(phone)
        while told < time { told = try self.time(phone) }
        return told
    }

    /// The lines of a schema in a log of the first phone.
    func lines(_ schema: String) throws -> [[String: Any]] {
        try bench.program.read("state/phones/one/run/outcomes.ndjson").split(separator: "\n")
            .filter { $0.contains("\"\(schema)\"") }
            .compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
    }

    /// Waits until the log of the first phone has a line, and says at how many seconds it happened.
    func time(of schema: String, _ key: String, _ value: String) throws -> Double {
        var found: [String: Any]?
        while found == nil {
            usleep(20_000)
            found = try lines(schema).first { $0[key] as? String == value }
        }
        return try Self.seconds(try #require(found?["t"] as? String))
    }

    /// The decisions of the first phone for a reason, with their times in seconds.
    func decisions(_ reason: String) throws -> [Double] {
        let state = bench.program.folder.appending(path: "state").path
        let log = try bench.program.run("log", "-p", "one", environment: ["WAKEBENCH_STATE": state])
        try #require(log.code == 0, "\(log.errors)")
        return try log.output.split(separator: "\n").compactMap { line in
            let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard record?["reason"] as? String == reason else { return nil }
            return try Self.seconds(try #require(record?["t"] as? String))
        }
    }
}

/// How a phone ends before it goes on.
enum PhoneEnding: CaseIterable, Sendable {
    case daemonStops
    case daemonIsKilled
    case phoneIsShutDown

    fileprivate func happen(to clocks: ClockBench) throws {
        switch self {
        case .daemonStops: try clocks.bench.stopAndServeAgain()
        case .daemonIsKilled: try clocks.bench.killAndServeAgain()
        case .phoneIsShutDown:
            try clocks.say("phone", "shutdown", "one")
            try clocks.say("phone", "boot", "one")
        }
    }
}

@Suite("The clock of a phone that is switched off and on", .timeLimit(.minutes(5)))
struct PhoneClockTests {
    /// Nothing happens between the second second and the fifth.
    private static let scenario = """
        scenario: clock
        devices: [{file: belt.yaml, name: belt}]
        apps:
          - scripted: com.example.kitchen
            name: kitchen
            notifications: {schedule: [{id: tea, title: Tea, after: 6s}]}
        steps:
          - {at: 0, launch: kitchen}
          - {at: 1s, out-of-range: belt}
          - {at: 1s, note: the belt is away}
          - {at: 5s, phone: lock}

        """

    @Test(
        "Real time goes on from what the phone told last: what is over does not come again, and what is to come is in time",
        arguments: PhoneEnding.allCases
    )
    func goesOn(ending: PhoneEnding) throws {
        let clocks = try ClockBench(Self.scenario)
        let before = try clocks.wait(for: 3)
        try ending.happen(to: clocks)
        let after = try clocks.time()
        #expect(after >= before)
        let devices = try #require(try clocks.bench.json("device", "list")["devices"] as? [[String: Any]])
        #expect(devices.first?["in_range"] as? Bool == false)
        // The app is not there any more: the system shows its notification.
        try clocks.wait(for: 7)
        #expect(try clocks.time(of: "wake.act/1", "act", "lock") >= 5)
        let shown = try clocks.decisions("ShownBySystem")
        #expect(shown.count == 1 && shown[0] >= 6, "\(shown)")
        #expect(try clocks.lines("wake.act/1").compactMap { $0["act"] as? String } == ["launch", "lock"])
        #expect(try clocks.lines("wake.range/1").count == 1)
        #expect(try clocks.lines("wake.note/1").count { $0["note"] as? String == "the belt is away" } == 1)
        try clocks.say("phone", "shutdown", "one")
        let same = try clocks.bench("run", "--from", "state/phones/one/run")
        #expect(same.code == 0 && same.output.contains("gave the same"), "\(same.output)\(same.errors)")
    }

    @Test("A phone that has nothing to do goes on from what it told last, too", arguments: PhoneEnding.allCases)
    func empty(ending: PhoneEnding) throws {
        let clocks = try ClockBench("scenario: empty\napps: []\n")
        let before = try clocks.wait(for: 2)
        try ending.happen(to: clocks)
        #expect(try clocks.time() >= before)
    }

    @Test(
        "A clock whose file is removed while the phone is on has a new one before its time is told again, or the phone ends",
        arguments: PhoneEnding.allCases
    )
    func removed(ending: PhoneEnding) throws {
        let clocks = try ClockBench(Self.scenario)
        var before = try clocks.wait(for: 4)
        try FileManager.default.removeItem(at: clocks.bench.program.folder.appending(path: Self.file))
        if ending == .daemonIsKilled { before = try clocks.time() }
        try ending.happen(to: clocks)
        #expect(try clocks.time() >= before)
    }

    private static let file = "state/phones/one/run/clock"

    @Test("The time does not go back over many kills, each right after it was told")
    func kills() throws {
        let clocks = try ClockBench(Self.scenario)
        var told = [try clocks.time()]
        for _ in 0..<5 {
            try clocks.bench.killAndServeAgain()
            told.append(try clocks.time())
        }
        #expect(told == told.sorted(), "\(told)")
    }

    @Test("The clock stands while the phone is off")
    func stands() throws {
        let clocks = try ClockBench(Self.scenario, phones: ["one", "two"])
        func machine() -> Double { ProcessInfo.processInfo.systemUptime }
        let began = machine()
        let before = try clocks.time()
        try clocks.say("phone", "shutdown", "one")
        let off = machine()
        try clocks.wait(for: clocks.time("two") + 2, of: "two")
        let on = machine()
        try clocks.say("phone", "boot", "one")
        let after = try clocks.time()
        // Times are told in whole milliseconds.
        #expect(after - before <= machine() - began - (on - off) + 0.002)
        #expect(after >= before)
    }

    @Test("An erased phone begins with the first instant")
    func erased() throws {
        let clocks = try ClockBench(Self.scenario)
        let before = try clocks.wait(for: 3)
        for verb in ["shutdown", "erase", "boot"] { try clocks.say("phone", verb, "one") }
        #expect(try clocks.time() < before)
    }

    @Test(
        "A clock that is gone or cannot be read is left aside: the phone goes on from its last input",
        arguments: [
            "", "\0\0\0", "wake.clock/2 0000000000000000001\n", "wake.clock/1 9999999999999999999\n",
            String(repeating: "1", count: 100), nil,
        ]
    )
    func damaged(text: String?) throws {
        let clocks = try ClockBench(Self.scenario)
        try clocks.wait(for: 2)
        try clocks.say("phone", "shutdown", "one")
        if let text {
            try clocks.bench.program.write(Self.file, text)
        } else {
            try FileManager.default.removeItem(at: clocks.bench.program.folder.appending(path: Self.file))
        }
        try clocks.say("phone", "boot", "one")
        #expect(try clocks.time() < 1_000)
        let kept = try clocks.bench.program.read(Self.file)
        #expect(kept.hasPrefix("wake.clock/1 ") && kept.utf8.count == 33, "\(kept)")
    }

    @Test("A link in the place of the clock is not followed, and costs this phone alone")
    func link() throws {
        let clocks = try ClockBench(Self.scenario, phones: ["one", "two"])
        try clocks.say("phone", "shutdown", "one")
        let folder = clocks.bench.program.folder.appending(path: "state/phones/one/run").path
        try FileManager.default.removeItem(atPath: folder + "/clock")
        try FileManager.default.createSymbolicLink(atPath: folder + "/clock", withDestinationPath: "elsewhere")
        expectRefusal(
            try clocks.bench("phone", "boot", "one"),
            code: 12,
            says: "run/clock: a symbolic link, which is not followed; begin anew with 'wakebench phone erase one'"
        )
        #expect(!FileManager.default.fileExists(atPath: folder + "/elsewhere"))
        #expect(try clocks.bench("time", "now", "-p", "two").code == 0)
    }

    @Test("A virtual phone that is killed on its way to a time goes on with it, and what is due comes at its instant")
    func killedOnItsWay() throws {
        let clocks = try ClockBench(
            """
            scenario: way
            devices: [{file: belt.yaml, name: belt}]
            apps:
              - scripted: com.acme.heart
                name: heart
                modes: [bluetooth-central]
                restore-identifier: heart
                uses: [{device: belt, characteristic: 2A37}]
            steps: [{at: 0, launch: heart}, {at: 90m, note: late}]

            """,
            phones: ["one"],
            "--clock",
            "virtual"
        )
        try clocks.say("time", "advance", "2h", "--no-wait")
        try clocks.bench.killAndServeAgain()
        try clocks.wait(for: 7_200)
        #expect(try clocks.time(of: "wake.note/1", "note", "late") == 5_400)
        #expect(try clocks.time() == 7_200)
    }
}
