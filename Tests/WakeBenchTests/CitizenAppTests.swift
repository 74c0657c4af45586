import ChildProcess
import Foundation
import Glibc
import Testing
import TriedFreezers
import WakeProcesses

@testable import WakeBench

/// A run of real apps that do one thing each that costs an app something.
private final class Citizens {
    let bench: BenchProgram

    /// - Parameters:
    ///   - apps: the name of each, and what MisbehavingApp is to do.
    ///   - until: when the run ends; without it, 10 s after the last step.
    init(_ apps: [(name: String, mode: String)], steps: String, expect: String, until: String? = nil) throws {
        bench = try BenchProgram()
        for app in apps {
            let program = try BenchProgram.built("MisbehavingApp")
            try bench.makeApp(app.name, "com.example.\(app.name)", text: "#!/bin/sh\nexec '\(program)' \(app.mode)\n")
        }
        let bundles = apps.map { "  - {bundle: \($0.name).app, name: \($0.name)}" }.joined(separator: "\n")
        let end = until.map { "until: \($0)\n" } ?? ""
        try bench.write(
            "scenario: citizens\napps:\n\(bundles)\nsteps:\n\(steps)\nexpect:\n\(expect)\n\(end)",
            to: "citizens.yaml"
        )
    }

    func run(_ more: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        let words = ["run", "citizens.yaml", "--apps", "apps", "--out", "out", "--quiet"] + more
        let run = try bench.run(words)
        #expect(run.code == 0, "\(run.errors)", sourceLocation: sourceLocation)
    }

    /// The records of outcomes.ndjson of a schema.
    func records(_ schema: String) throws -> [[String: Any]] {
        try bench.records(of: "out/outcomes.ndjson").filter { $0["schema"] as? String == schema }
    }

    var notes: [String] { get throws { try records("wake.note/1").compactMap { $0["note"] as? String } } }

    var deeds: [String] { get throws { try records("wake.deed/1").compactMap { $0["deed"] as? String } } }

    /// What a command prints.
    func say(_ words: String...) throws -> String {
        let answer = try bench.run(words)
        #expect(answer.code == 0, "\(answer.errors)")
        return try bench.lines(of: "stdout").joined(separator: "\n")
    }
}

@Suite("Real apps as citizens", .serialized)
struct CitizenAppTests {

    private static func leaving(_ app: String) -> String {
        "  - {at: 0, launch: \(app)}\n  - {at: 2s, home: \(app)}"
    }

    @Test(
        "RESP-4: an app that is frozen with a lock on what is not its own ends with 0xdead10cc, and why says so",
        arguments: TriedFreezers.names,
        ["flock", "shared", "posix", "ofd"]
    )
    func locks(freezer: String, kind: String) throws {
        let citizens = try Citizens(
            [("locker", "lock \(kind) ../group.db")],
            steps: Self.leaving("locker"),
            expect: "  - {app: locker, exits: 1, cause: policy}",
            until: "30s"
        )
        try citizens.run("--freezer", freezer)
        let exits = try citizens.records("wake.exit/1")
        #expect(exits.map { $0["code"] as? Int } == [0xdead_10cc])
        #expect(try citizens.deeds.contains("ended-for-locks"))
        #expect(try citizens.notes.contains { $0.hasPrefix("frozen with ") && $0.contains("/out/apps/group.db") })
        let why = try citizens.say("why", "locker", "--run", "out")
        #expect(why.contains("0xdead10cc"))
        #expect(why.contains("RESP-4"))
        #expect(why.contains("  held     ") && why.contains("group.db"))
    }

    @Test(
        "RESP-4: a lock in the app's own container, and a database that is merely open, cost nothing",
        arguments: ["flock own.db", "posix own.db", "wal ../group.db-shm"]
    )
    func ownLocks(what: String) throws {
        let citizens = try Citizens(
            [("locker", "lock \(what)")],
            steps: Self.leaving("locker"),
            expect: "  - {app: locker, exits: 0}\n  - {app: locker, state: suspended}",
            until: "30s"
        )
        try citizens.run()
        #expect(try !citizens.deeds.contains("ended-for-locks"))
    }

    @Test(
        "RESP-4: a transaction that is open at suspension costs the app its process, and one that is committed does not",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3")
    )
    func database() throws {
        let bench = try BenchProgram()
        try bench.install("GroupNotesPython")
        let scenario = BenchProgram.repository.appending(path: "Devices/Scenarios/locked-database.yaml").path
        let run = try bench.run(["run", scenario, "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let exits = try bench.records(of: "out/outcomes.ndjson").filter { $0["schema"] as? String == "wake.exit/1" }
        #expect(exits.map { $0["code"] as? Int } == [0xdead_10cc])
        let log = try bench.lines(of: "out/apps/com.example.group-notes.log")
        #expect(log == ["1 notes, not saved yet", "1 notes, saved"])
    }

    @Test(
        "RESP-2: what an app listens on is closed when it is suspended, and the notes say what",
        arguments: TriedFreezers.names
    )
    func listens(freezer: String) throws {
        let citizens = try Citizens(
            [("server", "listen ../socket")],
            steps: Self.leaving("server") + "\n  - {at: 20s, launch: server}\n  - {at: 22s, home: server}",
            expect: "  - {app: server, exits: 0}\n  - {app: server, state: suspended}",
            until: "50s"
        )
        try citizens.run("--freezer", freezer)
        #expect(try citizens.deeds.filter { $0 == "closed-listeners" }.count == 1)
        #expect(try citizens.notes.filter { $0 == "listens on unix ../socket no more" }.count == 1)
    }

    @Test("RESP-1: an app that draws in the background ends, whatever task it has")
    func draws() throws {
        let citizens = try Citizens(
            [("painter", "draw")],
            steps: Self.leaving("painter"),
            expect: "  - {app: painter, exits: 1, cause: policy}",
            until: "30s"
        )
        try citizens.run()
        #expect(try citizens.deeds.contains("ended-for-drawing"))
    }

    @Test("CPU-1: an app that keeps a processor busy in the background ends, and one that does not goes on")
    func spins() throws {
        // A busy machine, too, leaves the spinner more of a processor than this share; and no step goes by the clock.
        let (share, window) = (2, 3)
        let citizens = try Citizens(
            [("spinner", "spin"), ("calm", "healthy")],
            steps: """
                  - {at: 0, launch: calm}
                  - {when: {app: calm, state: active}, launch: spinner}
                  - {when: {app: spinner, state: active}, home: spinner}
                  - {when: {app: spinner, state: not-running}, within: 60s, note: the spinner has ended}
                """,
            expect: "  - {app: spinner, exits: 1, cause: cpu}\n  - {app: calm, exits: 0}"
        )
        try citizens.run("--clock", "real", "--set", "processor.window=\(window)s", "--set", "processor.share=\(share)")
        #expect(try citizens.deeds.contains("ended-for-processor-time"))
        let why = try citizens.say("why", "spinner", "--run", "out")
        #expect(why.contains("CPU-1"))
        // What it used is in its account.
        let used = try citizens.records("wake.usage/1").filter { $0["app"] as? String == "com.example.spinner" }
        #expect(used.compactMap { $0["processor_us"] as? Int }.reduce(0, +) > window * 1_000_000 * share / 100)
        #expect(try citizens.say("blame", "out").contains("PROCESSOR"))
    }

    @Test("CPU-1: the foreground may be as busy as it likes")
    func spinsInFront() throws {
        let citizens = try Citizens(
            [("spinner", "spin")],
            steps: "  - {at: 0, launch: spinner}",
            expect: "  - {app: spinner, exits: 0}",
            until: "3s"
        )
        try citizens.run("--clock", "real", "--set", "processor.window=1s", "--set", "processor.share=20")
    }

    @Test("MEM-3: an app with more memory than it may have ends, in the foreground too")
    func hogs() throws {
        let citizens = try Citizens(
            [("hog", "hog 80"), ("modest", "hog 8")],
            steps: "  - {at: 0, launch: modest}\n  - {at: 1s, launch: hog}",
            expect: "  - {app: hog, exits: 1, cause: memory}\n  - {app: modest, exits: 0}",
            until: "8s"
        )
        try citizens.run("--clock", "real", "--set", "memory.limit=60")
        #expect(try citizens.deeds.contains("ended-for-footprint"))
        #expect(try citizens.say("why", "hog", "--run", "out").contains("MEM-3"))
    }
}

@Suite("Samples of processor time")
struct ProcessorSamplesTests {
    @Test("The share is of the looks that are kept, and the first says nothing")
    func share() {
        var samples = ProcessorSamples()
        #expect(samples.add(1_000, at: 0) == nil)
        #expect(samples.add(1_050, at: 100) == 50)
        #expect(samples.add(1_150, at: 200) == 75)
        // A pause is averaged with what was before.
        #expect(samples.add(1_150, at: 300) == 50)
        // Two processors at once are more than one.
        #expect(samples.add(1_650, at: 400) == 162)
        #expect(samples.add(1_650, at: 500) == 130)
        // The oldest look, at 0, is not kept any more.
        #expect(samples.add(1_650, at: 600) == 120)
    }

    @Test("Looks at one instant say nothing")
    func still() {
        var samples = ProcessorSamples()
        #expect(samples.add(0, at: 5) == nil)
        #expect(samples.add(9, at: 5) == nil)
    }
}
