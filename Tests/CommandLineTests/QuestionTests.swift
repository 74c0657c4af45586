import Foundation
import Testing

@Suite("Questions about runs that are over")
struct QuestionTests {
    /// The run of a beacon whose app was force-quit, in the folder `out`.
    private func afterForceQuit(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try program.writeForceQuit()
        let run = try program.run("run", "swiped.yaml", "--out", "out", "-q")
        #expect(run.code == 0, "\(run.errors)")
        try body(program)
    }

    @Test("LAUNCH-2: can-wake says that a force-quit app stays away, why, and what would change it")
    func cannotWake() throws {
        try afterForceQuit { program in
            let answer = try program.run("can-wake", "heart", "region-entered", "--run", "out")
            #expect(answer.code == 7)
            #expect(answer.output.hasPrefix("no: region-entered desk: deny, ForceQuit\n"))
            #expect(answer.output.contains("LAUNCH-2"))
            #expect(answer.output.contains("try"))
        }
    }

    @Test("LAUNCH-1: can-wake says yes of an app that the same event would bring back")
    func canWake() throws {
        let program = try Program()
        defer { program.clean() }
        let purged = Scenarios.forceQuit.split(separator: "\n").filter { !$0.contains("ForceQuit") }
            .joined(separator: "\n").replacing("force-quit: heart", with: "terminate: heart")
            .replacing("expect:", with: "")
        try program.write("purged.yaml", purged)
        try program.write("beacon.yaml", Scenarios.beacon)
        let run = try program.run("run", "purged.yaml", "--out", "out", "-q")
        #expect(run.code == 0, "\(run.errors)")
        let answer = try program.run("can-wake", "heart", "region-entered", "--run", "out")
        #expect(answer.code == 0, "\(answer.output)\(answer.errors)")
        #expect(answer.output.hasPrefix("yes: region-entered desk: "))
    }

    @Test(
        "BGT-5: can-wake asks of a task about the request that is pending, and says where none is",
        arguments: [true, false]
    )
    func task(isPending: Bool) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write(
            "feed.yaml",
            """
            scenario: feed
            settings: {task.spacing: 1s}
            apps:
              - scripted: com.acme.feed
                name: feed
                modes: [processing]
                tasks: {permitted: [com.acme.clean]\(isPending ? ", submits: [{id: com.acme.clean, kind: processing, after: 1h}]" : "")}
            steps:
              - {at: 0, launch: feed}
              - {at: 1s, submit: feed, request: {id: com.acme.clean, kind: processing}}
              - {at: 1m, home: feed}
              - {at: 2m, phone: display-off}
              - {at: 20m, phone: charger-connected}

            """
        )
        #expect(try program.run("run", "feed.yaml", "--out", "out", "-q").code == 0)
        let answer = try program.run("can-wake", "feed", "processing-task", "--run", "out")
        #expect(answer.code == 7)
        if isPending {
            #expect(
                answer.output.hasPrefix("no: processing-task com.acme.clean: deny, BeforeBeginDate\n"),
                "\(answer.output)"
            )
        } else {
            #expect(
                answer.output.hasPrefix("no: processing-task com.acme.clean: drop, NoRegistration\n"),
                "\(answer.output)"
            )
            #expect(answer.output.contains("submit the task's request before it is to run"))
        }
    }

    @Test("why and can-wake take the words that why prints: decisions, ends of processes, and registrations")
    func ownWords() throws {
        try afterForceQuit { program in
            let plain = try program.run("why", "heart", "--run", "out").output
            let json = try program.run("why", "heart", "--run", "out", "--json").output
            let page = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            let decision = try #require((page?["explained"] as? [String: Any])?["decision"] as? String)
            let entered = try program.run("can-wake", "heart", "region-entered", "--run", "out").output
            #expect(try program.run("can-wake", "heart", decision, "--run", "out").output == entered)
            for word in [decision, "x-1", "beacon-region"] {
                let why = try program.run("why", "heart", word, "--run", "out")
                #expect(why.code == 0 && why.output.hasPrefix(plain.prefix { $0 != "\n" }), "\(word): \(why.errors)")
                let canWake = try program.run("can-wake", "heart", word, "--run", "out")
                #expect(canWake.code == 7, "\(word): \(canWake.errors)")
                #expect(canWake.output.contains("no: region-entered desk: deny, ForceQuit\n"), "\(canWake.output)")
            }
            // The number says which app it is about; of one that there is not, what there is.
            let (whole, alone) = (["why", "heart", decision, "--run", "out"], ["why", decision, "--run", "out"])
            #expect(try program.run(Program.path, alone).output == program.run(Program.path, whole).output)
            for words in [["heart", "d-000999"], ["d-000999"]] {
                let answer = try program.run(Program.path, ["why"] + words + ["--run", "out"])
                expectRefusal(answer, code: 3, says: "no decision d-000999 in out; its last decision is d-0000")
            }
            for word in ["x-9", "pending-connect"] {
                let none = "no decision about com.acme.heart for \(word)"
                expectRefusal(try program.run("why", "heart", word, "--run", "out"), code: 3, says: none)
            }
        }
    }

    @Test("why about a registration or an end of which no decision tells says how the app stands")
    func standingWords() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("belt.yaml", ServedBench.belt)
        try program.write(
            "kept.yaml",
            """
            scenario: kept
            devices: [{file: belt.yaml, name: belt}]
            apps:
              - scripted: com.acme.heart
                name: heart
                modes: [bluetooth-central]
                restore-identifier: heart
                uses: [{device: belt, characteristic: 2A37}]
            steps:
              - {at: 0, launch: heart}
              - {at: 5s, home: heart}
              - {at: 30s, terminate: heart, cause: memory}
              - {at: 1m, notify: belt, characteristic: 2A37, value: "0051"}
              - {at: 2m, terminate: heart, cause: memory}
            until: 3m

            """
        )
        #expect(try program.run("run", "kept.yaml", "--out", "out", "-q").code == 0)
        let plain = try program.run("why", "heart", "--run", "out").output
        #expect(plain.contains(" (x-2); ") && plain.contains("(connection since "), "\(plain)")
        for word in ["x-2", "connection"] {
            #expect(try program.run("why", "heart", word, "--run", "out").output == plain, "\(word)")
        }
        for word in ["x-1", "subscription"] {
            let woken = try program.run("why", "heart", word, "--run", "out").output
            #expect(woken.hasPrefix("com.acme.heart  woken at T+00:01:00 by bluetooth "), "\(word): \(woken)")
        }
    }

    @Test("can-wake changes nothing of the run")
    func changesNothing() throws {
        try afterForceQuit { program in
            let before = try program.read("out/decisions.ndjson")
            _ = try program.run("can-wake", "heart", "region-entered", "--run", "out")
            let first = try program.run("can-wake", "heart", "region-entered", "--run", "out").output
            #expect(try program.run("can-wake", "heart", "region-entered", "--run", "out").output == first)
            #expect(try program.read("out/decisions.ndjson") == before)
        }
    }

    @Test("can-wake refuses what it does not know, and says what there is")
    func unknown() throws {
        try afterForceQuit { program in
            let misspelt = try program.run("can-wake", "heart", "region-entred", "--run", "out")
            expectRefusal(misspelt, code: 2, says: "did you mean region-entered?")
            let absent = try program.run("can-wake", "heart", "voip-data", "--run", "out")
            expectRefusal(absent, code: 3, says: "region-entered")
            let several = try program.run("can-wake", "heart", "bluetooth-powered", "--run", "out")
            expectRefusal(several, code: 3, says: "no bluetooth-powered-on or bluetooth-powered-off for com.acme.heart")
            expectRefusal(try program.run("can-wake", "heart", "voip-data", "--run", "none"), code: 3)
        }
    }

    @Test("run --diff lists the verdicts that another profile changes, with their rules")
    func difference() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write(
            "swiped.yaml",
            """
            scenario: swiped
            profile: ios6
            apps:
              - scripted: com.acme.heart
                name: heart
                location: {authorization: always, regions: [{identifier: home, latitude: 40, longitude: 5, radius: 200m}]}
            steps:
              - {at: 0, launch: heart}
              - {at: 5s, home: heart}
              - {at: 30s, force-quit: heart}
              - {at: 60s, enter: home}
            until: 90s

            """
        )
        let outcome = try program.run("run", "swiped.yaml", "--diff", "ios17", "--out", "both")
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(
            outcome.output.contains(
                "region-entered home  relaunch Relaunched LAUNCH-1  relaunch RelaunchedAfterForceQuit LAUNCH-3\n"
            )
        )
        #expect(outcome.output.contains("1 of 4 events came to something else with ios17"))
        #expect(program.exists("both/own/decisions.ndjson"))
        #expect(program.exists("both/ios17/decisions.ndjson"))
        expectRefusal(try program.run("run", "swiped.yaml", "--diff", "ios99", "--out", "third"), code: 2)
    }

    @Test("SYS-3: run --check-determinism says that the run can be repeated, and coverage counts it")
    func determinism() throws {
        let program = try Program()
        defer { program.clean() }
        try program.writeForceQuit()
        let outcome = try program.run("run", "swiped.yaml", "--check-determinism", "--out", "out", "-q")
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("inputs through a fresh router gave the same"))
        let coverage = try program.run("rules", "--coverage", "out").output.split(separator: "\n")
        let row = try #require(coverage.first { $0.hasPrefix("SYS-3 ") })
        #expect(row.split(separator: " ").dropFirst().first == "1")
        let none = try program.run("run", "swiped.yaml", "--check-determinism", "--no-journal", "--out", "other")
        expectRefusal(none, code: 2)
    }

    @Test("SYS-3: a log in which one byte is another is found, with the record and the field, and 10")
    func altered() throws {
        let program = try Program()
        defer { program.clean() }
        try program.writeForceQuit()
        #expect(try program.run("run", "swiped.yaml", "--out", "out", "-q").code == 0)
        let same = try program.run("log", "out", "--check-determinism")
        #expect(same.code == 0, "\(same.errors)")
        #expect(same.output.hasSuffix("byte for byte (SYS-3)\n"))
        let log = try program.read("out/decisions.ndjson")
        try program.write("out/decisions.ndjson", log.replacing("\"result\":\"fail\"", with: "\"result\":\"fall\""))
        let other = try program.run("log", "out", "--check-determinism")
        #expect(other.code == 10)
        let lines = other.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.contains(" differs: d-") == true)
        #expect(
            lines.last?.contains("checks BCN-1 result: the log has \"fall\", a fresh router gives \"fail\"") == true,
            "\(lines)"
        )
    }

    @Test("rules --coverage counts what decided in the runs of a folder")
    func coverage() throws {
        try afterForceQuit { program in
            let outcome = try program.run("rules", "--coverage", "out")
            #expect(outcome.code == 0)
            let row = outcome.output.split(separator: "\n").first { $0.hasPrefix("LAUNCH-2 ") }
            let cells = try #require(row).split(separator: " ").compactMap { Int($0) }
            #expect(try #require(cells.first) > 0)
            #expect(outcome.output.contains("rules decided in 1 run; none of"))
            #expect(try program.run("rules", "--coverage", ".").output == outcome.output)
            expectRefusal(try program.run("rules", "--coverage", "none"), code: 3)
        }
    }

    @Test("blame charges each app for its wakes, at the costs that are asked for (PWR-1)")
    func blame() throws {
        try afterForceQuit { program in
            let usual = try program.run("blame", "out")
            #expect(usual.code == 0)
            #expect(usual.output.contains("com.acme.heart"))
            let dear = try program.run("blame", "out", "--cost", "wake=100000")
            #expect(dear.output.contains("wake 100000 mJ per wake"))
            #expect(dear.output != usual.output)
            expectRefusal(try program.run("blame", "out", "--cost", "flight=1"), code: 2, says: "the names are wake")
            expectRefusal(try program.run("blame", "out", "--cost", "wake=-1"), code: 2)
        }
    }

    @Test("rules --matrix has a line a mechanism, and refuses a profile that is none")
    func matrix() throws {
        let program = try Program()
        defer { program.clean() }
        let outcome = try program.run("rules", "--matrix", "--profile", "ios17")
        #expect(outcome.output.hasPrefix("MECHANISM "))
        #expect(outcome.output.contains("region (Always)  "))
        expectRefusal(try program.run("rules", "--matrix", "--profile", "ios99"), code: 2)
    }

    @Test("BTP-5: app verify names what a bundle lacks for a phone, and fails only when it is asked to")
    func verify() throws {
        let program = try Program()
        defer { program.clean() }
        try program.makeBundle(script: "echo central.create")
        let plain = try program.run("app", "verify", "Heart.app")
        #expect(plain.code == 0, "\(plain.errors)")
        #expect(plain.output.contains("Heart.app: BTP-5: "))
        let strict = try program.run("app", "verify", "--strict", "Heart.app")
        #expect(strict.code == 7)
        #expect(strict.output == plain.output)
    }
}
