import ChildProcess
import Foundation
import FoundationXML
import Glibc
import Testing

@Suite("Several scenarios in one run")
struct SuiteTests {
    private static let good = Scenarios.small
    private static let missing = Scenarios.small + "expect: [{app: heart, verdict: deny, count: 1}]\n"
    private static let long = """
        scenario: long
        apps: [{bundle: Heart.app, name: heart}]
        steps: [{at: 0, launch: heart}]
        until: 10m
        expect: [{app: heart, verdict: resume}]

        """

    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    private func writeFour(_ program: Program) throws {
        try program.write("suite/a.yaml", Self.good)
        try program.write("suite/b.yaml", Self.missing)
        try program.write("suite/c.yaml", "scenario: c\napps: 7\n")
        try program.write("suite/below/d.yaml", Self.good)
        try program.write("suite/belt.yaml", Scenarios.belt)
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// The outcomes by name that a suite's object tells.
    private func outcomes(_ suite: [String: Any]) throws -> [String: String] {
        let runs = try #require(suite["runs"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: runs.map { ($0["name"] as? String ?? "", $0["outcome"] as? String ?? "") }
        )
    }

    @Test("A folder's scenarios are played, and one that fails or cannot be read costs the others nothing")
    func folder() throws {
        try inFolder { program in
            try writeFour(program)
            let run = try program.run("run", "suite", "-j", "2", "--out", "out")
            // The first that could not be played says the exit code.
            #expect(run.code == 11)
            let suite = try object(try program.read("out/suite.json"))
            #expect(suite["ok"] as? Bool == false)
            #expect(try outcomes(suite) == ["a": "passed", "b": "failed", "c": "error", "d": "passed"])
            for name in ["a", "b", "d"] { #expect(program.exists("out/\(name)/report.html")) }
            let runs = try #require(suite["runs"] as? [[String: Any]])
            let fault = try #require(runs.first { $0["name"] as? String == "c" }?["fault"] as? [String: Any])
            #expect(fault["file"] as? String == "suite/c.yaml")
            #expect([fault["line"] as? Int, fault["column"] as? Int] == [2, 7], "\(fault)")
            #expect((fault["hint"] as? String)?.hasPrefix("expected ") == true, "\(fault)")
        }
    }

    @Test(
        "A run whose message a full disk has no room for is told with the file and what is free",
        .enabled(if: SmallDisk.canMount, "needs root and the right to mount a tmpfs")
    )
    func fullDisk() throws {
        try inFolder { program in
            try program.write("suite/a.yaml", Self.good)
            try program.write("suite/b.yaml", Self.good)
            let disk = try SmallDisk(program.folder.appending(path: "small").path)
            defer { disk.unmount() }
            disk.fill()
            let run = try program.run("run", "suite", "--out", "small/out")
            #expect(run.code == 12, "\(run.errors)")
            let said = run.output + run.errors
            for name in ["a", "b"] {
                #expect(said.contains("small/out/\(name)/output.txt has no room for what it said: "), "\(said)")
            }
        }
    }

    @Test("Each run is told once, those that did not pass last, with their places and what explains them as in JUnit")
    func told() throws {
        try inFolder { program in
            try writeFour(program)
            let run = try program.run("run", "suite", "--out", "out")
            let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let told = lines.prefix { !$0.isEmpty }
            #expect(
                told.map { String($0.prefix { $0 != " " }) } == ["passed", "passed", "failed", "", "", "", "error"]
            )
            let failed = Array(told.dropFirst(2))
            #expect(failed[0].hasSuffix("  heart deny: 1; found 0  [suite/b.yaml:5]"), "\(run.output)")
            let explanation = [
                "by T+00:00:01.000", "nothing was decided about com.acme.heart",
                "wakebench why com.acme.heart --run out/b",
            ]
            #expect(Array(failed[1...3]) == explanation.map { "    " + $0 })
            #expect(try program.read("out/junit.xml").contains(explanation.joined(separator: "\n")))
            #expect(failed[4].contains("  invalid-file: suite/c.yaml:2: "), "\(run.output)")
            #expect(lines.contains { $0.hasPrefix("4 runs: 2 passed, 1 failed, 1 error; ") })
            #expect(lines.suffix(2) == ["report: out/index.html", ""])
            let quiet = try program.run("run", "suite", "--out", "again", "-q")
            #expect(quiet.output.hasPrefix("failed  "), "\(quiet.output)")
            #expect(try program.run("why", "heart", "--run", "out/b").code == 0)
        }
    }

    @Test("A step that waited in vain is told in a suite with the nearest decisions and the command that explains them")
    func waited() throws {
        try inFolder { program in
            let step = "{when: {app: heart, state: suspended}, within: 5s, note: never}"
            try program.write(
                "a/x.yaml",
                Self.good.replacing("steps: [", with: "steps: [\(step), ").replacing("until: 1s\n", with: "")
            )
            let run = try program.run("run", "a", "--out", "out")
            #expect(run.code == 6)
            let lines = run.output.split(separator: "\n").map(String.init)
            let complaint = "  timeout: a/x.yaml:3: waited 5.0 s for the state suspended; heart is "
            #expect(lines[0].hasPrefix("error  ") && lines[0].contains(complaint), "\(run.output)")
            #expect(lines[1].hasPrefix("    by T+00:00:05.000"), "\(run.output)")
            #expect(lines.contains("    wakebench why com.acme.heart --run out/x"), "\(run.output)")
            let runs = try #require(try object(try program.read("out/suite.json"))["runs"] as? [[String: Any]])
            let fault = try #require(runs.first?["fault"] as? [String: Any])
            #expect([fault["line"] as? Int, fault["column"] as? Int] == [3, 9], "\(fault)")
            let junit = try program.read("out/junit.xml")
            #expect(junit.contains("name=\"plays to its end\" file=\"a/x.yaml\" line=\"3\""), "\(junit)")
            #expect(junit.contains("wakebench why com.acme.heart --run out/x</error>"), "\(junit)")
        }
    }

    @Test("Places keep their folders: in the object, in JUnit, on the page and on the console")
    func places() throws {
        try inFolder { program in
            for folder in ["a", "b"] { try program.write("two/\(folder)/x.yaml", Self.missing) }
            let run = try program.run("run", "./two", "--out", "out")
            #expect(run.code == 7)
            let suite = try object(try program.read("out/suite.json"))
            let runs = try #require(suite["runs"] as? [[String: Any]])
            #expect(runs.map { $0["scenario"] as? String } == ["two/a/x.yaml", "two/b/x.yaml"])
            let places = runs.map { run -> [String] in
                let results = run["results"] as? [String: Any]
                let expectations = results?["expectations"] as? [[String: Any]] ?? []
                return expectations.map { "\($0["file"] ?? "") \($0["line"] ?? "") \($0["place"] ?? "")" }
            }
            #expect(places == [["two/a/x.yaml 5 two/a/x.yaml:5"], ["two/b/x.yaml 5 two/b/x.yaml:5"]])
            let document = try XMLDocument(data: Data(try program.read("out/junit.xml").utf8))
            let cases = try document.nodes(forXPath: "//testcase").compactMap { $0 as? XMLElement }.map { each in
                ["file", "line"].map { each.attribute(forName: $0)?.stringValue ?? "-" }.joined(separator: ":")
            }
            // The case of the run itself is where its steps begin.
            #expect(cases == ["two/a/x.yaml:3", "two/a/x.yaml:5", "two/b/x.yaml:3", "two/b/x.yaml:5"])
            for text in [run.output, try program.read("out/index.html")] {
                for folder in ["a", "b"] { #expect(text.contains("[two/\(folder)/x.yaml:5]")) }
            }
        }
    }

    @Test("The exit code of a suite is that of the first run that could not be played, as its help says")
    func exitCode() throws {
        try inFolder { program in
            try program.write("a.yaml", Self.missing)
            try program.write(
                "b.yaml",
                Self.good.replacing("until: 1s\n", with: "").replacing(
                    "steps: [",
                    with: "steps: [{when: {app: heart, state: suspended}, within: 5s, note: never}, "
                )
            )
            try program.write("c.yaml", "scenario: c\napps: 7\n")
            for (files, code) in [(["a.yaml", "b.yaml", "c.yaml"], 6), (["a.yaml", "c.yaml", "b.yaml"], 11)]
                as [([String], Int32)]
            {
                let run = try program.run(Program.path, ["run"] + files + ["--out", "out-\(code)", "--json"])
                #expect(run.code == code)
                #expect(try object(run.output)["ok"] as? Bool == false)
            }
            let help = try program.run("help", "run").output
            #expect(help.contains("that of the first that could not be played to its end, else 7"))
        }
    }

    @Test("A run that cannot be begun is an error, and the others are played")
    func notBegun() throws {
        try inFolder { program in
            try writeFour(program)
            // In the place of the run's folder.
            try program.write("out/a", "a file")
            #expect(try program.run("run", "suite/a.yaml", "suite/below/d.yaml", "--out", "out").code == 12)
            let suite = try object(try program.read("out/suite.json"))
            #expect(try outcomes(suite) == ["a": "error", "d": "passed"])
            #expect(try program.read("out/junit.xml").contains("out/a: not a folder"))
        }
    }

    @Test("What a suite or a run left in --out stays without --force, and --force makes room for the other too")
    func replaced() throws {
        try inFolder { program in
            try program.write("small.yaml", Self.good)
            try program.write("other.yaml", Self.missing)
            func suite(_ words: String...) throws -> Program.Outcome {
                try program.run(Program.path, ["run", "small.yaml", "other.yaml", "-q", "--out"] + words)
            }
            #expect(try suite("all").code == 7)
            #expect(try program.run("run", "small.yaml", "-q", "--out", "one").code == 0)
            let files = ["all/suite.json", "all/junit.xml", "all/index.html", "one/junit.xml", "one/decisions.ndjson"]
            let before = try files.map { try program.read($0) }
            let remedy = "; give another folder with --out, or replace it with --force"
            expectRefusal(try suite("all"), code: 4, says: "all: the folder of a suite" + remedy)
            expectRefusal(try suite("one"), code: 4, says: "one: the folder of a run" + remedy)
            let single = try program.run("run", "small.yaml", "-q", "--out", "all")
            expectRefusal(single, code: 4, says: "all: the folder of a suite" + remedy)
            #expect(try files.map { try program.read($0) } == before)
            #expect(!program.exists("all/decisions.ndjson") && !program.exists("one/suite.json"))

            #expect(try suite("all", "--force").code == 7)
            let again = try outcomes(try object(try program.read("all/suite.json")))
            #expect(again == ["small": "passed", "other": "failed"])
            #expect(try suite("one", "--force").code == 7)
            #expect(program.exists("one/suite.json") && !program.exists("one/decisions.ndjson"))
            #expect(try program.run("run", "small.yaml", "-q", "--out", "all", "--force").code == 0)
            #expect(program.exists("all/decisions.ndjson") && !program.exists("all/suite.json"))
            #expect(program.exists("all/other/report.html"))
        }
    }

    @Test("One JUnit file has a suite of each run, also of one that could not begin, and --junit has the same")
    func junit() throws {
        try inFolder { program in
            try writeFour(program)
            _ = try program.run("run", "suite", "--out", "out", "--junit", "all.xml")
            let text = try program.read("out/junit.xml")
            #expect(try program.read("all.xml") == text)
            let document = try XMLDocument(data: Data(text.utf8))
            let suites = try document.nodes(forXPath: "/testsuites/testsuite")
            #expect(
                suites.compactMap { ($0 as? XMLElement)?.attribute(forName: "name")?.stringValue }
                    == ["a", "b", "d", "c"]
            )
            let all = try #require(document.rootElement())
            func count(_ name: String) -> String? { all.attribute(forName: name)?.stringValue }
            #expect([count("tests"), count("failures"), count("errors"), count("skipped")] == ["5", "1", "1", nil])
            let skipped = try document.nodes(forXPath: "/testsuites/testsuite/@skipped").map(\.stringValue)
            #expect(skipped == ["0", "0", "0", "0"])
            #expect(try document.nodes(forXPath: "//testsuite[@name='b']//failure").count == 1)
            #expect(try document.nodes(forXPath: "//testsuite[@name='c']//error").count == 1)
        }
    }

    @Test("The page links the pages of the runs that have one, and shows what failed")
    func page() throws {
        try inFolder { program in
            try writeFour(program)
            _ = try program.run("run", "suite", "--out", "out")
            let page = try program.read("out/index.html")
            for name in ["a", "b", "d"] { #expect(page.contains("<a href=\"./\(name)/report.html\">\(name)</a>")) }
            #expect(!page.contains("./c/report.html"))
            #expect(page.contains("[suite/b.yaml:5]"))
            #expect(page.contains("<h1>2 of 4 runs passed</h1>"))
        }
    }

    @Test("Each seed and repetition is a run with a name of its own, and shards share them out")
    func variants() throws {
        try inFolder { program in
            try program.write("small.yaml", Self.good)
            let run = try program.run(
                "run",
                "small.yaml",
                "--seeds",
                "3-4,9",
                "--repeat",
                "2",
                "--out",
                "out",
                "--json"
            )
            #expect(run.code == 0, "\(run.errors)")
            let names = ["3.1", "3.2", "4.1", "4.2", "9.1", "9.2"].map { "small.seed-\($0)" }
            #expect(try outcomes(try object(run.output)).keys.sorted() == names)
            let header = try program.run("log", "out/small.seed-9.2").output.split(separator: "\n").first
            #expect(header?.contains("\"seed\":9,") == true)
            var shared: [String] = []
            for shard in ["1/4", "2/4", "3/4", "4/4"] {
                let words = ["run", "small.yaml", "--seeds", "3-4,9", "--repeat", "2", "--json", "--shard", shard]
                let part = try program.run(Program.path, words + ["--out", "part-\(shard.prefix(1))"])
                shared += try outcomes(try object(part.output)).keys
            }
            #expect(shared.sorted() == names)
        }
    }

    @Test("Scenarios of one name in different folders are told apart by their folders")
    func names() throws {
        try inFolder { program in
            try program.write("one/small.yaml", Self.good)
            try program.write("two/small.yaml", Self.good)
            let run = try program.run("run", "one", "two/small.yaml", "two/small.yaml", "--out", "out", "--json")
            let names = try outcomes(try object(run.output)).keys.sorted()
            #expect(names == ["one-small", "two-small", "two-small-2"])
        }
    }

    @Test(
        "What cannot be a suite is refused before any run, in one line",
        arguments: [
            (["--jobs", "0"], 2, "--jobs 0: expected 1 to 1024"), (["--seeds", "9-3"], 2, "--seeds 9-3: "),
            (["--shard", "4/3"], 2, "--shard 4/3: "), (["--seeds", "1-3", "--seed", "2"], 2, "exclude each other"),
            (["-j", "2", "--backend", "bluetooth=bluez"], 2, "would share one adapter"),
            (["-j", "2", "--profile", "ios99"], 2, "ios99"), (["-j", "2", "--follow"], 2, "--follow is for one run"),
            (["other.yaml"], 3, "other.yaml: no such file or folder"),
            (["--seeds", "0-999999", "--repeat", "2"], 2, "1000000"),
        ]
    )
    func refused(words: [String], code: Int32, said: String) throws {
        try inFolder { program in
            try program.write("small.yaml", Self.good)
            let run = try program.run(Program.path, ["run", "small.yaml", "--out", "out"] + words)
            expectRefusal(run, code: code, says: said)
            #expect(!program.exists("out"))
        }
    }

    /// Plays two long scenarios one after the other, and does something once the app of the first runs.
    private func whilePlaying(
        _ program: Program,
        _ words: [String],
        _ body: (_ suite: ChildProcess, _ app: pid_t) throws -> Void
    ) throws -> (code: Int32, suite: [String: Any]) {
        let pipe = program.folder.appending(path: "started").path
        let made = unsafe mkfifo(pipe, 0o600)
        #expect(made == 0)
        let reading = unsafe open(pipe, O_RDWR | O_NONBLOCK)
        defer { close(reading) }
        try program.makeBundle(script: "echo $$ > \(pipe); exec sleep 1000")
        try program.write("long.yaml", Self.long)
        let talk = program.folder.appending(path: "talk")
        try FileManager.default.createDirectory(at: talk, withIntermediateDirectories: true)
        let all = ["run", "long.yaml", "--out", "out", "--clock", "real", "--freezer", "sigstop"] + words
        let suite = try program.start(Program.path, all, talk: talk)
        var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        let ready = unsafe poll(&waiting, 1, 60_000)
        #expect(ready == 1)
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe read(reading, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let app = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        try body(suite, app)
        suite.waitUntilExit()
        #expect(kill(app, 0) == -1)
        return (suite.terminationStatus, try object(try program.read("out/suite.json")))
    }

    @Test("A suite that is interrupted ends with 130, and all reports tell what was played, interrupted and not begun")
    func interrupted() throws {
        try inFolder { program in
            let (code, suite) = try whilePlaying(program, ["--repeat", "2"]) { suite, _ in suite.send(SIGINT) }
            #expect(code == 130)
            #expect(suite["ok"] as? Bool == false && suite["interrupted"] as? Bool == true)
            #expect(try outcomes(suite) == ["long.1": "interrupted", "long.2": "not-run"])
            let junit = try program.read("out/junit.xml")
            #expect(junit.contains("<error type=\"interrupted\" message=\"interrupted at T+"))
            #expect(junit.contains("<skipped/>"))
            #expect(program.exists("out/long.1/report.html"))
            #expect(try program.read("out/index.html").contains("<td>not run</td>"))
        }
    }

    @Test("A run whose process is killed is an error, and the next one is played")
    func killed() throws {
        try inFolder { program in
            try program.write("small.yaml", Self.good)
            let (code, suite) = try whilePlaying(program, ["small.yaml"]) { suite, _ in
                let children = "/proc/\(suite.processIdentifier)/task/\(suite.processIdentifier)/children"
                let child = try String(contentsOfFile: children, encoding: .utf8).split(separator: " ").first
                #expect(kill(try #require(child.flatMap { pid_t($0) }), SIGKILL) == 0)
            }
            #expect(code == 1)
            #expect(try outcomes(suite) == ["long": "error", "small": "passed"])
            #expect(try program.read("out/junit.xml").contains("the process that played it was ended by signal 9"))
        }
    }

    @Test("A run that takes longer than --time-limit is interrupted, and its reports explain what was not met")
    func timeLimit() throws {
        try inFolder { program in
            let (code, suite) = try whilePlaying(program, ["--time-limit", "1"]) { _, _ in }
            #expect(code == 6)
            #expect(try outcomes(suite) == ["long": "error"])
            let page = try program.read("out/long/report.html")
            let head = "<span class=\"missed\">interrupted, 1 of 1 expectation not met</span>"
            #expect(page.contains(head) && page.contains("<p class=\"missed\">interrupted at T+"))
            let explained = "nothing was decided about com.acme.heart\nwakebench why com.acme.heart --run out/long"
            for text in [page, try program.read("out/junit.xml"), try program.read("out/long/junit.xml")] {
                #expect(text.contains(explained), "\(text)")
            }
            let told = explained.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
            #expect(try program.read("talk/output").contains(told))
        }
    }
}
