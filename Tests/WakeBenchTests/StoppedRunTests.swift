import Foundation
import Glibc
import Testing
import WakeModel
import WakePorts
import WakeReports
import WakeSystem
import WakeVoIP

@testable import WakeBench

@Suite("What a run that stops early, or goes on, says of itself")
struct StoppedRunTests {
    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}

        """

    /// A belt that nobody uses is lost and noted, with nothing else around.
    private static let quiet = """
        scenario: quiet
        devices: [{file: belt.yaml, name: belt}]
        apps: [{scripted: com.acme.heart, name: heart, modes: [bluetooth-central]}]
        steps:
          - {at: 0, launch: heart}
          - {at: 50ms, out-of-range: belt}
          - {at: 100ms, note: belt lost}
        expect: [{app: heart, state: active}]
        until: 2s

        """

    /// The same, with something that is journaled after it.
    private static let locked = quiet.replacing(
        "expect:",
        with: """
              - {at: 1s, phone: lock}
              - {at: 1500ms, note: belt lost}
              - {at: 1600ms, in-range: belt}
            expect:
            """
    )

    /// The notes and ranges of a run, without their times.
    private func facts(_ out: String) throws -> [String] {
        let text = try String(contentsOfFile: out + "/outcomes.ndjson", encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            for word in [#""note":"belt lost""#, #""in_range":true"#, #""in_range":false"#] where line.contains(word) {
                return word
            }
            return nil
        }
    }

    /// What a kill at this moment would leave, in a folder beside it.
    private func copy(_ out: String, to name: String, logs: Bool = true) throws -> String {
        let copy = URL(filePath: out).deletingLastPathComponent().appending(path: name).path
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        let files = ["journal.sqlite", "journal.sqlite-wal"] + (logs ? ["decisions.ndjson", "outcomes.ndjson"] : [])
        for file in files {
            try FileManager.default.copyItem(atPath: "\(out)/\(file)", toPath: "\(copy)/\(file)")
        }
        return copy
    }

    // MARK: Interrupted

    @Test("A run that was interrupted is that, too, when only its reports were missing: its time is its own")
    func interrupted() throws {
        try ScenarioFolder.with(Self.quiet, belt: Self.belt) { options in
            var options = options
            options.clock = .real
            var first: Run? = try Run(options)
            first?.follow = { if $0.event == "belt lost" { pthread_kill(pthread_self(), SIGINT) } }
            let error = #expect(throws: CommandFailure.self) { try first?.execute() }
            #expect(error?.code == .interrupted)
            let ending = try #require(first?.ending)
            #expect(ending.isInterrupted)
            #expect(ending.took >= .milliseconds(100))
            first = nil
            options.clock = nil
            let second = try Run(options)
            let again = #expect(throws: CommandFailure.self) { try second.execute() }
            #expect(again == error)
            #expect(second.ending == ending)
        }
    }

    @Test(
        "An interrupted run whose page could not be written ends with 130 when that is made up for, and JUnit has the error"
    )
    func interruptedBeforePage() throws {
        let program = try BenchProgram()
        try program.write(Self.belt, to: "belt.yaml")
        try program.write(Self.quiet.replacing("until: 2s", with: "until: 1m"), to: "scenario.yaml")
        let page = program.folder.appending(path: "out/report.html")
        try FileManager.default.createDirectory(at: page, withIntermediateDirectories: true)
        let words = ["run", "scenario.yaml", "--clock", "real", "--out", "out", "-q"]
        let process = try program.start(words)
        let end = Date().addingTimeInterval(BenchProgram.patience)
        while try !program.lines(of: "out/outcomes.ndjson").contains(where: { $0.contains("belt lost") }), Date() < end
        {
            moment(milliseconds: 2)
        }
        process.send(SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 12)
        try FileManager.default.removeItem(at: page)
        let restart = Date()
        let again = try program.run(words)
        #expect(again.code == 130)
        #expect(again.errors.contains("wakebench: interrupted at T+"), "\(again.errors)")
        let junit = try program.lines(of: "out/junit.xml").joined()
        #expect(junit.contains(#"errors="1""#) && junit.contains(#"<error type="interrupted""#), "\(junit)")
        let results = try #require(try program.records(of: "out/results.json").first)
        #expect((results["fault"] as? [String: Any])?["kind"] as? String == "interrupted")
        let began = try #require(results["began"] as? NSNumber)
        #expect(began.doubleValue / 1e9 < restart.timeIntervalSince1970)
    }

    @Test("In real time the clock of a run goes on to its interruption, however quiet it is before")
    func clockOfQuietRun() throws {
        try ScenarioFolder.with(Self.quiet.replacing("until: 2s", with: "until: 1m"), belt: Self.belt) { options in
            var options = options
            options.clock = .real
            let run = try Run(options)
            run.follow = { row in
                guard row.event == "belt lost" else { return }
                let thread = pthread_self()
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { pthread_kill(thread, SIGINT) }
            }
            let error = #expect(throws: CommandFailure.self) { try run.execute() }
            #expect(run.reached >= Instant(nanoseconds: 400_000_000))
            #expect(error?.message == "interrupted at \(LogTime.text(run.reached))")
            #expect(try RunLog(folder: options.out).end == run.reached)
        }
    }

    // MARK: Notes and ranges

    @Test("In real time a note and a range reach those who follow and the log, though nothing else happens")
    func notesOfQuietRun() throws {
        try ScenarioFolder.with(Self.quiet, belt: Self.belt) { options in
            var options = options
            options.clock = .real
            let run = try Run(options)
            var seen: [[String]] = []
            run.follow = { row in
                if row.event == "belt lost" { seen.append((try? facts(options.out)) ?? []) }
                // Before the end of the run, which writes everything.
                if row.at < Instant(nanoseconds: 1_000_000_000), seen.count == 1 {
                    pthread_kill(pthread_self(), SIGINT)
                }
            }
            let error = #expect(throws: CommandFailure.self) { try run.execute() }
            #expect(error == CommandFailure(.interrupted, "interrupted at \(LogTime.text(run.reached))"))
            #expect(seen == [[#""in_range":false"#, #""note":"belt lost""#]])
        }
    }

    @Test(
        "Going on writes the notes and ranges that the dead run had not written, and none again",
        arguments: [true, false]
    )
    func notesOfDeadRun(logs: Bool) throws {
        try ScenarioFolder.with(Self.locked, belt: Self.belt) { options in
            let first = try Run(options)
            var dead = options
            first.follow = { row in
                guard row.event == "lock", let copy = try? copy(options.out, to: "dead", logs: logs) else { return }
                dead.out = copy
            }
            try first.execute()
            let whole = try facts(options.out)
            #expect(whole.count == 4)
            try #require(dead.out != options.out)
            #expect(try !logs || facts(dead.out) == whole)
            let second = try Run(dead)
            try second.execute()
            #expect(second.notes.contains { $0.contains("with the run that broke off") })
            #expect(try facts(dead.out) == whole)
        }
    }

    @Test("What steps reached nobody is in the log once each, when the run goes on too", arguments: [true, false])
    func missesOfDeadRun(logs: Bool) throws {
        let notify = "notify: belt, characteristic: 2A37, value: \"00\""
        let scenario = Self.locked.replacing("note: belt lost", with: notify)
        let gatt = "gatt: [{service: 180D, characteristics: [{uuid: 2A37, properties: [notify]}]}]\n"
        try ScenarioFolder.with(scenario, belt: Self.belt + gatt) { options in
            func misses(_ out: String) throws -> [String] {
                try RunLog(folder: out).notes.map(\.text).filter { $0.contains("belt") }
            }
            let first = try Run(options)
            var dead = options
            first.follow = { row in
                guard row.event == "lock", let copy = try? copy(options.out, to: "dead", logs: logs) else { return }
                dead.out = copy
            }
            try first.execute()
            let whole = try misses(options.out)
            #expect(whole == Array(repeating: "notify belt 2A37 00: belt is out of range", count: 2))
            try #require(dead.out != options.out)
            try Run(dead).execute()
            #expect(try misses(dead.out) == whole)
        }
    }

    @Test("A note and a range with which the journal ends are in the log once, and are not told of again")
    func lastSteps() throws {
        try ScenarioFolder.with(Self.quiet, belt: Self.belt) { options in
            var options = options
            options.clock = .real
            let first = try Run(options)
            var dead = options
            first.follow = { row in
                guard row.event == "belt lost", let copy = try? copy(options.out, to: "dead") else { return }
                dead.out = copy
                pthread_kill(pthread_self(), SIGINT)
            }
            let error = #expect(throws: CommandFailure.self) { try first.execute() }
            #expect(error == CommandFailure(.interrupted, "interrupted at \(LogTime.text(first.reached))"))
            try #require(dead.out != options.out)
            let second = try Run(dead)
            var told = 0
            second.follow = { if $0.event == "belt lost" { told += 1 } }
            try second.execute()
            #expect(told == 0)
            #expect(try facts(dead.out) == [#""in_range":false"#, #""note":"belt lost""#])
            // The copy has no clock.
            #expect(second.notes.contains("\(dead.out)/clock: missing or empty; time goes on from the last input"))
        }
    }

    @Test("A run in real time that is killed goes on from the time that it had told")
    func clockOfDeadRun() throws {
        try ScenarioFolder.with(Self.quiet, belt: Self.belt) { options in
            var options = options
            options.clock = .real
            let first = try Run(options)
            var dead = options
            first.follow = { row in
                guard row.event == "belt lost", let copy = try? copy(options.out, to: "dead") else { return }
                try? FileManager.default.copyItem(atPath: options.out + "/clock", toPath: copy + "/clock")
                dead.out = copy
                pthread_kill(pthread_self(), SIGINT)
            }
            #expect(throws: CommandFailure.self) { try first.execute() }
            try #require(dead.out != options.out)
            let second = try Run(dead)
            try second.execute()
            let note = try #require(second.notes.first { $0.hasPrefix("going on at ") })
            // Times are texts of one width.
            #expect(note >= "going on at T+00:00:00.100", "\(note)")
            #expect(try facts(dead.out) == [#""in_range":false"#, #""note":"belt lost""#])
        }
    }

    @Test("What is found between two turns of a run in real time is written down at the time of the machine's clock")
    func timeBetweenTurns() throws {
        try ScenarioFolder.with(Self.quiet, belt: Self.belt) { options in
            var options = options
            options.clock = .real
            let run = try Run(options)
            let servers = try #require(run.areas.voip.port as? SimulatedVoIP)
            var earliest: Instant?
            run.progress = { reached, _ in
                guard earliest == nil else { return }
                let later = MonotonicClock.now() + 20_000_000
                while MonotonicClock.now() < later { sched_yield() }
                earliest = reached.advanced(by: .milliseconds(20))
                servers.note("a stranger")
            }
            try run.execute()
            let written = try String(contentsOfFile: options.out + "/outcomes.ndjson", encoding: .utf8)
            let line = try #require(written.split(separator: "\n").first { $0.contains("a stranger") })
            let record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let (time, limit) = (try #require(record["t"] as? String), try #require(earliest))
            // Times are texts of one width.
            #expect(time >= LogTime.text(limit), "\(line)")
        }
    }

    // MARK: Readers meanwhile

    @Test("The logs of a virtual run that is followed can be read as far as it has come")
    func readingMeanwhile() throws {
        try ScenarioFolder.with(Self.locked, belt: Self.belt) { options in
            let run = try Run(options)
            #expect(try RunLog(folder: options.out).header.seed == run.seed)
            var words: [String] = []
            run.follow = { row in
                if row.event == "lock" { words = (try? RunLog(folder: options.out).acts.map(\.word)) ?? [] }
            }
            try run.execute()
            #expect(words == ["launch", "lock"])
        }
    }

    // MARK: A folder without a journal

    @Test(
        "A run is refused with 4 where one without a journal has left its log, and --force replaces it",
        arguments: [true, false]
    )
    func overUnjournaled(journal: Bool) throws {
        try ScenarioFolder.with(Self.quiet, belt: Self.belt) { options in
            var unjournaled = options
            unjournaled.journal = false
            try Run(unjournaled).execute()
            let log = options.out + "/decisions.ndjson"
            let before = try Data(contentsOf: URL(filePath: log))
            var other = options
            other.journal = journal
            let error = #expect(throws: CommandFailure.self) { try Run(other) }
            #expect(error?.code == .wrongState)
            #expect(error?.message.hasPrefix(log) == true, "\(error?.message ?? "")")
            #expect(error?.hint?.contains("--force") == true)
            #expect(try Data(contentsOf: URL(filePath: log)) == before)
            other.replaces = true
            try Run(other).execute()
        }
    }
}
