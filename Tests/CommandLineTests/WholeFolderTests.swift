import ChildProcess
import Foundation
import Testing

@Suite("The folder of a run is whole")
struct WholeFolderTests {
    /// An app that is ended and woken, two belts whose files have one name, a way and a push.
    private static let phone = """
        scenario: my-phone
        devices:
          - {file: belts/belt.yaml, name: belt}
          - {file: other/belt.yaml, name: spare}
          - {file: way.yaml, name: way}
        apps:
          - scripted: com.example.pulse
            name: pulse
            modes: [bluetooth-central, processing]
            uses: [{device: belt, characteristic: 2A37}]
            push: {work: 2s}
            tasks: {permitted: [com.example.clean], submits: [{id: com.example.clean, kind: processing, after: 1h}]}
        steps:
          - {at: 0, launch: pulse}
          - {at: 2s, home: pulse}
          - {at: 5s, play: way}
          - {at: 10s, push: {app: pulse, file: tea.apns}}
          - {at: 1m, notify: belt, characteristic: 2A37, value: "0051"}
          - {at: 2m, terminate: pulse, cause: memory}
          - {at: 3m, notify: belt, characteristic: 2A37, value: "0052"}

        """

    /// What such a run was made of, each with its text.
    private static let files = [
        ("my-phone.yaml", phone), ("belts/belt.yaml", ServedBench.belt),
        ("other/belt.yaml", ServedBench.belt.replacing("F0:11", with: "F0:22")),
        ("way.yaml", "device: location-track\ngpx: way.gpx\n"),
        (
            "way.gpx",
            """
            <gpx><wpt lat='0' lon='0'><time>2025-05-06T07:32:00Z</time></wpt>
            <wpt lat='0' lon='0.001'><time>2025-05-06T07:32:20Z</time></wpt></gpx>
            """
        ),
        ("tea.apns", #"{"aps": {"content-available": 1}}"#),
    ]

    /// What can be asked about a run, each with the run's folder behind it.
    private static let questions = [
        ["can-wake", "pulse", "characteristic-notified", "--run"], ["task", "list", "--run"],
        ["log", "--check-determinism"], ["run", "--from"], ["why", "pulse", "--run"], ["blame"],
    ]

    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    /// Plays the scenario into `out`.
    private func play(_ program: Program) throws {
        for (name, text) in Self.files { try program.write(name, text) }
        let run = try program.run("run", "my-phone.yaml", "--out", "out", "-q")
        #expect(run.code == 0, "\(run.errors)")
    }

    private func remove(_ name: String, _ program: Program) throws {
        try FileManager.default.removeItem(at: program.folder.appending(path: name))
    }

    /// The exit code of each question with what is said.
    private func answers(_ program: Program, about run: String) throws -> [String] {
        try Self.questions.map { words in
            let outcome = try program.run(Program.path, words + [run])
            return "\(outcome.code) \(outcome.output)\(outcome.errors)"
        }
    }

    @Test("In each report of a copy, the command that explains a failure is about the copy")
    func commandsOfCopy() throws {
        try inFolder { program in
            try program.write("missed.yaml", Scenarios.small + "expect: [{app: heart, verdict: deny, count: 1}]\n")
            #expect(try program.run("run", "missed.yaml", "--out", "first/x", "-q").code == 7)
            let place = { (name: String) in program.folder.appending(path: name).path }
            try FileManager.default.moveItem(atPath: place("first"), toPath: place("its copy"))
            #expect(try program.run("report", "its copy/x").code == 0)
            let summary = try program.run("report", "its copy/x", "-f", "md", "-O", "-").output
            let (page, junit) = (try program.read("its copy/x/report.html"), try program.read("its copy/x/junit.xml"))
            #expect(summary.contains("wakebench why com.acme.heart --run 'its copy/x'"), "\(summary)")
            for text in [page, junit] {
                #expect(text.contains("wakebench why com.acme.heart --run &#39;its copy/x&#39;"), "\(text)")
            }
            for text in [summary, page, junit] { #expect(!text.contains("first/x")) }
        }
    }

    @Test("A copy elsewhere answers what the run does, after the scenario was edited, and after all its files are gone")
    func elsewhere() throws {
        try inFolder { program in
            try play(program)
            let before = try answers(program, about: "out")
            for (words, answer) in zip(Self.questions, before) {
                let isAnswered = answer.hasPrefix("0 ") || words[0] == "can-wake" && answer.hasPrefix("7 ")
                #expect(isAnswered, "\(words): \(answer)")
            }
            try program.write("my-phone.yaml", Self.phone.replacing("name: pulse", with: "name: puls"))
            try program.write("belts/belt.yaml", "no device\n")
            #expect(try answers(program, about: "out") == before)
            for name in ["my-phone.yaml", "belts", "other", "way.yaml", "way.gpx", "tea.apns"] {
                try remove(name, program)
            }
            #expect(try answers(program, about: "out") == before)
            try program.write("elsewhere/mine.txt", "mine")
            let copy = program.folder.appending(path: "elsewhere/run")
            try FileManager.default.copyItem(at: program.folder.appending(path: "out"), to: copy)
            try remove("out", program)
            #expect(try answers(program, about: "elsewhere/run") == before)
        }
    }

    @Test(
        "A copy answers when the bundle of its app is gone, too",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3")
    )
    func realApp() throws {
        try inFolder { program in
            let example = Program.repository.appending(path: "Sources/Examples/HeartRatePython").path
            let words = ["\(example)/heart_rate.py", "--info", "\(example)/Info.plist", "--out", "apps"]
            let made = try program.run(Program.path, ["app", "bundle"] + words)
            #expect(made.code == 0, "\(made.errors)")
            try program.write("belt.yaml", ServedBench.belt)
            let scenario = """
                scenario: real
                devices: [{file: belt.yaml, name: belt}]
                apps: [{bundle: HeartRatePython.app, name: pulse}]
                steps: [{at: 0, launch: pulse}, {at: 5s, home: pulse}, {at: 1m, notify: belt, characteristic: 2A37, value: "0051"}]
                until: 2m

                """
            try program.write("real.yaml", scenario)
            let run = try program.run("run", "real.yaml", "--apps", "apps", "--out", "out", "-q")
            #expect(run.code == 0, "\(run.errors)")
            let before = try answers(program, about: "out")
            #expect(before.allSatisfy { $0.hasPrefix("0 ") }, "\(before)")
            for name in ["real.yaml", "belt.yaml", "apps"] { try remove(name, program) }
            let copy = program.folder.appending(path: "copy")
            try FileManager.default.moveItem(at: program.folder.appending(path: "out"), to: copy)
            #expect(try answers(program, about: "copy") == before)
        }
    }

    private static let small = """
        scenario: small
        apps: [{scripted: com.example.pulse, name: pulse}]
        steps: [{at: 0, launch: pulse}]
        until: 1m

        """

    @Test("A folder without a run, and that of a suite, are refused with 3 whatever is asked")
    func noRun() throws {
        try inFolder { program in
            for name in ["a", "b"] { try program.write("suite/\(name).yaml", Self.small) }
            #expect(try program.run("run", "suite", "--out", "runs", "-q").code == 0)
            for words in Self.questions {
                let absent = try program.run(Program.path, words + ["absent"])
                expectRefusal(absent, code: 3, says: "absent/decisions.ndjson: not there")
                let suite = try program.run(Program.path, words + ["runs"])
                expectRefusal(suite, code: 3, says: "runs: the folder of a suite of 2 runs")
            }
        }
    }

    @Test("What needs the journal of a run says that it kept none, and how it would")
    func noJournal() throws {
        try inFolder { program in
            try program.write("small.yaml", Self.small)
            #expect(try program.run("run", "small.yaml", "--no-journal", "--out", "out", "-q").code == 0)
            for words in Self.questions.prefix(4) {
                let answer = try program.run(Program.path, words + ["out"])
                expectRefusal(answer, code: 4, says: "out: the run kept no journal", "without --no-journal")
            }
        }
    }

    @Test("It holds each file that was played, those of one name apart, and none that is a scenario to be found")
    func holds() throws {
        try inFolder { program in
            try play(program)
            let folder = program.folder.appending(path: "out/played").path
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            let copies = [
                "0-my-phone.yaml.copy", "1-belt.yaml.copy", "2-belt.yaml.copy", "3-way.yaml.copy", "4-way.gpx.copy",
                "5-tea.apns.copy",
            ]
            #expect(names == copies + ["files.json"])
            for (copy, (_, text)) in zip(copies, Self.files) { #expect(try program.read("out/played/\(copy)") == text) }
            expectRefusal(try program.run("run", "out", "--out", "suite"), code: 3, says: "out: no scenario in it")
        }
    }

    @Test("A copy that is not what the run played is refused with 11 and its name, and so is one that leads elsewhere")
    func changed() throws {
        try inFolder { program in
            try play(program)
            let words = Self.questions[0] + ["out"]
            let list = try program.read("out/played/files.json")
            try program.write("out/played/2-belt.yaml.copy", "device: nothing\n")
            expectRefusal(
                try program.run(Program.path, words),
                code: 11,
                says: "out/played/2-belt.yaml.copy: not what the run played as other/belt.yaml"
            )
            let leading = list.replacing("2-belt.yaml.copy", with: "../../other/belt.yaml")
            try program.write("out/played/files.json", leading)
            expectRefusal(
                try program.run(Program.path, words),
                code: 11,
                says: "out/played/files.json: not what wakebench wrote"
            )
            try program.write("out/played/files.json", list)
            try remove("out/played/2-belt.yaml.copy", program)
            try FileManager.default.createSymbolicLink(
                atPath: program.folder.appending(path: "out/played/2-belt.yaml.copy").path,
                withDestinationPath: "../../other/belt.yaml"
            )
            expectRefusal(try program.run(Program.path, words), code: 11, says: "2-belt.yaml.copy: a symbolic link")
        }
    }

    @Test("A link in place of the folder of the copies is refused with 12, and nothing is made behind it")
    func link() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            try program.write("elsewhere/mine.txt", "mine")
            try program.write("out/mine.txt", "mine")
            let elsewhere = program.folder.appending(path: "elsewhere").path
            try FileManager.default.createSymbolicLink(
                atPath: program.folder.appending(path: "out/played").path,
                withDestinationPath: elsewhere
            )
            expectRefusal(
                try program.run("run", "small.yaml", "--out", "out"),
                code: 12,
                says: "out/played: a link or a file"
            )
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere) == ["mine.txt"])
        }
    }

    @Test("--force takes the copies of the old run away with it")
    func force() throws {
        try inFolder { program in
            try play(program)
            try program.write("small.yaml", Scenarios.small)
            let again = try program.run("run", "small.yaml", "--out", "out", "-q", "--force")
            #expect(again.code == 0, "\(again.errors)")
            let folder = program.folder.appending(path: "out/played").path
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            #expect(names == ["0-small.yaml.copy", "files.json"])
            #expect(try program.run("run", "--from", "out").code == 0)
        }
    }

    @Test("A run that broke off goes on with the devices that it began with, whatever their files say by then")
    func goesOn() throws {
        try inFolder { program in
            try program.write("belt.yaml", Scenarios.belt)
            try program.write("connecting.yaml", Scenarios.connecting(until: "4s"))
            let words = ["run", "connecting.yaml", "--clock", "real", "--out", "out"]
            let run = ChildProcess(Program.path, words + ["--follow"])
            run.folder = program.folder
            let output = Pipe()
            run.standardOutput = .pipe(output)
            try run.run()
            var said = ""
            while !said.contains("peripheral-connected") {
                let more = output.fileHandleForReading.availableData
                try #require(!more.isEmpty, "\(said)")
                said += String(decoding: more, as: UTF8.self)
            }
            run.send(SIGKILL)
            run.waitUntilExit()
            try program.write("belt.yaml", "no device\n")
            let rest = try program.run(Program.path, words)
            #expect(rest.code == 0, "\(rest.errors)")
            #expect(rest.output.contains(/process ended +- +bench/), "\(rest.output)")
            // Another scenario is not that run's.
            try program.write("small.yaml", Scenarios.small)
            expectRefusal(try program.run("run", "small.yaml", "--out", "out"), code: 4, says: "that run is over")
        }
    }

    @Test("A phone of the daemon goes on with the files that it was made of, after they are gone, and can be asked")
    func phones() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for words in [["app", "launch", "heart"], ["time", "advance", "5s"], ["app", "home", "heart"]] {
            #expect(try bench.run(words).code == 0)
        }
        #expect(try bench("phone", "shutdown", "one").code == 0)
        for name in ["phone.yaml", "belt.yaml"] { try remove(name, bench.program) }
        let booted = try bench("phone", "boot", "one")
        #expect(booted.code == 0, "\(booted.errors)")
        // The app is brought back by the end of its link, and connects anew.
        #expect(try bench("time", "advance", "30s").code == 0)
        let answer = try bench.json("ble", "notify", "belt", "2A37", "0049", "--require", "wake")
        #expect(bench.verdicts(answer).count == 1)
        #expect((answer["decisions"] as? [[String: Any]])?.first?["value"] as? String == "0049")
        #expect(try bench("phone", "shutdown", "one").code == 0)
        let again = try bench("run", "--from", "state/phones/one/run")
        #expect(again.code == 0, "\(again.errors)")
    }
}
