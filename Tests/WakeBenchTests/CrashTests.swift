import ChildProcess
import Foundation
import Testing
@testable import WakeJournal
import WakeModel
import WakePorts

/// Random numbers that a seed gives again (SplitMix64).
private struct Chance {
    var state: UInt64

    mutating func below(_ bound: UInt64) -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return (mixed ^ (mixed >> 31)) % bound
    }
}

/// What became of the events of runs that were killed.
struct Account {
    var kills = 0
    var accepted = 0
    var decided = 0
    var superseded = 0
    var delivered = 0
    var repeated = 0
    var lost = 0
    var relaunched = 0
    var left = 0

    static func += (sum: inout Account, other: Account) {
        sum.kills += other.kills
        sum.accepted += other.accepted
        sum.decided += other.decided
        sum.superseded += other.superseded
        sum.delivered += other.delivered
        sum.repeated += other.repeated
        sum.lost += other.lost
        sum.relaunched += other.relaunched
        sum.left += other.left
    }

    static let head =
        "run            kills  accepted  decided  superseded  delivered  relaunched  repeated  lost  processes left"

    func line(_ name: String) -> String {
        let numbers = [kills, accepted, decided, superseded, delivered, relaunched, repeated, lost, left]
        let widths = [7, 10, 9, 12, 11, 12, 10, 6, 16]
        let cells = zip(numbers, widths).map { number, width in
            String(repeating: " ", count: max(1, width - "\(number)".count)) + "\(number)"
        }
        return name.padding(toLength: 13, withPad: " ", startingAt: 0) + cells.joined()
    }
}

/// A scenario whose bench is killed again and again.
struct Story {
    var name: String
    var belt: String
    var steps: String
    var options: [String]
    /// Milliseconds from the first write of a bench to the latest kill.
    var killWithin: UInt64

    /// Four belts that notify at 10/7 Hz and then pause, two recorders and a played app, in virtual time.
    static let virtual = Story(
        name: "virtual",
        belt: """
              - {after: 1s, counter: {from: 0, count: 10, every: 700ms}}
              - {after: 25s, counter: {from: 10, count: 3, every: 9s}}
            """,
        steps: """
            steps:
              - {at: 0, launch: one}
              - {at: 6s, launch: two}
              - {at: 8s, launch: played}
              - {at: 10s, home: played}
              - {at: 30s, every: 30s, times: 18, launch: one}
              - {at: 32s, every: 30s, times: 18, home: one}
              - {at: 36s, every: 30s, times: 18, launch: two}
              - {at: 41s, every: 30s, times: 18, home: two}
              - {at: 70s, every: 60s, times: 8, terminate: one, cause: memory}
              - {at: 90s, every: 100s, times: 5, disconnect: belt.2}
            until: 10m
            """,
        options: [],
        killWithin: 80
    )

    /// The same at about 100 notifications a second, in real time.
    static let real = Story(
        name: "real time",
        belt: """
              - {after: 50ms, counter: {from: 0, count: 60, every: 30ms}}
              - {after: 500ms, counter: {from: 10, count: 3, every: 100ms}}
            """,
        steps: """
            steps:
              - {at: 0, launch: one}
              - {at: 100ms, every: 100ms, times: 68, launch: one}
              - {at: 150ms, every: 200ms, times: 34, launch: two}
              - {at: 210ms, launch: played}
              - {at: 170ms, every: 200ms, times: 34, home: two}
            until: 7s
            """,
        options: ["--clock", "real"],
        killWithin: 400
    )

    func prepare(in program: BenchProgram) throws {
        try program.makeApp("One", "com.example.one", copy: "RecorderApp/recorder.py")
        try program.makeApp("Two", "com.example.two", copy: "RecorderApp/recorder.py")
        let device = """
            device: bluetooth-peripheral
            name: Busy Belt
            address: "F0:11:22:33:60:00"
            advertising: {interval: 100ms, services: [180D]}
            gatt:
              - service: 180D
                characteristics:
                  - uuid: 2A37
                    properties: [notify]
                    repeat: true
                    notifications:

            """
        let entries = belt.split(separator: "\n").map { "          \($0)" }.joined(separator: "\n")
        try program.write(device + entries + "\n", to: "belt.yaml")
        let head = """
            scenario: crashes
            devices: [{file: belt.yaml, name: belt, count: 4}]
            apps:
              - {bundle: One.app, name: one}
              - {bundle: Two.app, name: two}
              - scripted: com.example.played
                name: played
                modes: [bluetooth-central]
                restore-identifier: central
                uses: [{device: belt.1, characteristic: 2A37}]

            """
        try program.write(head + steps + "\n", to: "scenario.yaml")
    }
}

@Suite("A killed bench", .serialized)
struct CrashTests {
    private static let killsInRun = 20
    private static let allKills = 200

    @Test(
        "A bench killed with -9 at 200 seeded points under load loses no event, repeats none and leaves no process",
        .enabled(if: BenchProgram.python, "/usr/bin/python3 is missing"),
        .timeLimit(.minutes(15))
    )
    func killed() throws {
        var sum = Account()
        var seed: UInt64 = 0
        print(Account.head)
        while sum.kills < Self.allKills {
            seed += 1
            let story = seed % 5 == 0 ? Story.real : .virtual
            let account = try play(story, seed: seed, kills: min(Self.killsInRun, Self.allKills - sum.kills))
            print(account.line("\(seed) \(story.name)"))
            sum += account
        }
        print(sum.line("all"))
        #expect(sum.relaunched > 0)
        #expect(sum.delivered > 1_000)
    }

    @Test(
        "In real time the end of the run waits for what an app was given before it and has not taken yet",
        .enabled(if: BenchProgram.python, "/usr/bin/python3 is missing")
    )
    func slowAtTheEnd() throws {
        let program = try BenchProgram()
        try program.makeApp("Slow", "com.example.slow", copy: "RecorderApp/recorder.py")
        try program.write(
            """
            device: bluetooth-peripheral
            address: "F0:11:22:33:60:00"
            advertising: {interval: 100ms, services: [180D]}
            """,
            to: "belt.yaml"
        )
        try program.write(
            """
            scenario: slow
            devices: [{file: belt.yaml, name: belt}]
            apps: [{bundle: Slow.app, name: slow}]
            steps: [{at: 0, launch: slow}]
            until: 1s
            """,
            to: "scenario.yaml"
        )
        let arguments = ["run", "scenario.yaml", "--apps", "apps", "--out", "out", "-q", "--clock", "real"]
        let run = try program.run(arguments, environment: ["WAKEBENCH_APP_SLOW": "2"])
        #expect(run.code == 0, "\(run.errors)")
        let given = try program.records(of: "out/decisions.ndjson").map(Verdict.init).filter(\.delivers).map(\.event)
        let taken = try program.lines(of: "out/apps/com.example.slow/received.log").map { $0.split(separator: " ")[1] }
        #expect(!given.isEmpty)
        #expect(Set(given).isSubset(of: taken.map(String.init)))
    }

    private func size(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Plays one run to its end through so many kills.
    private func play(_ story: Story, seed: UInt64, kills: Int) throws -> Account {
        var chance = Chance(state: seed)
        let program = try BenchProgram()
        try story.prepare(in: program)
        let arguments = ["run", "scenario.yaml", "--apps", "apps", "--out", "out", "--seed", "\(seed)", "-q"]
        var account = Account()
        while true {
            let process = try program.start(arguments + story.options)
            if account.kills < kills {
                waitForKill(of: process, within: story.killWithin, program, &chance)
                if process.isRunning {
                    kill(process.processIdentifier, SIGKILL)
                    process.waitUntilExit()
                    account.kills += 1
                    // Half of the time the next bench comes while the dead one's processes are dying.
                    if chance.below(2) == 0 { #expect(program.waitForTheDead().isEmpty, "seed \(seed)") }
                    continue
                }
            }
            process.waitUntilExit()
            let errors = try program.lines(of: "stderr").joined(separator: "\n")
            // A kill after the run's very end leaves nothing to go on with.
            let over = errors.contains("that run is over")
            #expect(process.terminationStatus == 0 || over, "seed \(seed): \(errors)")
            break
        }
        try examine(program, seed, &account)
        return account
    }

    /// A quarter of the kills hits the start and the replay, the others a bench that has begun to write.
    private func waitForKill(of process: ChildProcess, within: UInt64, _ program: BenchProgram, _ chance: inout Chance)
    {
        let log = program.folder.appending(path: "out/journal.sqlite-wal").path
        if chance.below(4) == 0 {
            moment(milliseconds: Int32(chance.below(150)))
            return
        }
        let before = size(of: log)
        let end = Date().addingTimeInterval(BenchProgram.patience)
        while size(of: log) <= before, process.isRunning, Date() < end { moment(milliseconds: 1) }
        moment(milliseconds: Int32(chance.below(within)))
    }

    // MARK: What came of it

    func examine(_ program: BenchProgram, _ seed: UInt64, _ account: inout Account) throws {
        let decisions = try program.records(of: "out/decisions.ndjson").filter { $0["seq"] != nil }
        account.decided = decisions.count
        #expect(decisions.map { $0["seq"] as? Int } == (0..<decisions.count).map { $0 + 1 }, "seed \(seed): a gap")

        let superseded = Set(decisions.compactMap { $0["supersedes"] as? String })
        account.superseded = superseded.count
        let final = decisions.filter { !superseded.contains($0["id"] as? String ?? "") }.map(Verdict.init)
        var verdicts: [String: Int] = [:]
        for verdict in final { verdicts["\(verdict.event) \(verdict.app)", default: 0] += 1 }
        #expect(verdicts.filter { $0.value != 1 }.isEmpty, "seed \(seed): more than one final verdict")

        let journal = try SQLiteJournal(opening: program.folder.appending(path: "out/journal.sqlite").path)
        let decidedEvents = Set(final.map(\.event))
        var undecided: [UInt64] = []
        try journal.readInputs { (input) throws(JournalError) in
            guard case .event(let event) = input.input else { return }
            account.accepted += 1
            let digits = String(event.id.number)
            let name = "e-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
            if !decidedEvents.contains(name) { undecided.append(event.id.number) }
        }
        #expect(undecided.isEmpty, "seed \(seed): accepted and never decided")

        var seen = Set<String>()
        for app in ["com.example.one", "com.example.two"] {
            var pairs = Set<String>()
            for line in try program.lines(of: "out/apps/\(app)/received.log") {
                let words = line.split(separator: " ")
                guard words.count == 4, words[1] != "-" else { continue }
                account.delivered += 1
                if !pairs.insert("\(words[0]) \(words[1])").inserted { account.repeated += 1 }
                seen.insert("\(words[1]) \(app)")
            }
        }
        let lost = final.filter {
            $0.delivers && $0.app != "com.example.played" && !seen.contains("\($0.event) \($0.app)")
        }
        account.lost = lost.count
        account.relaunched = final.count { $0.word == "relaunch" }
        account.left = program.waitForTheDead().count
        #expect(account.repeated == 0, "seed \(seed)")
        #expect(lost.isEmpty, "seed \(seed)")
        #expect(account.left == 0, "seed \(seed)")
        // The guardian of a dead bench takes none of the next bench's apps.
        let exits = try program.records(of: "out/outcomes.ndjson").filter { $0["schema"] as? String == "wake.exit/1" }
        let causes = Set(exits.compactMap { $0["cause"] as? String })
        #expect(causes.isSubset(of: ["bench", "memory"]), "seed \(seed): \(causes)")
        let numbers = exits.compactMap { $0["id"] as? String }
        #expect(Set(numbers).count == numbers.count, "seed \(seed): an exit is written twice")
        #expect(program.groups(of: try journal.recover().meta.run).isEmpty, "seed \(seed)")
    }

    /// What a decision record says, as far as it matters here.
    private struct Verdict {
        var event: String
        var app: String
        var word: String

        init(_ record: [String: Any]) {
            event = (record["event"] as? [String: Any])?["id"] as? String ?? ""
            app = (record["app"] as? [String: Any])?["bundle"] as? String ?? ""
            word = record["verdict"] as? String ?? ""
        }

        var delivers: Bool {
            ["resume", "relaunch", "foreground-deliver", "background-deliver"].contains(word)
        }
    }
}
