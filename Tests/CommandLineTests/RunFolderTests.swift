import Foundation
import Testing

@Suite("The folder of a run, and its clock")
struct RunFolderTests {
    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    @Test("--force replaces a run that is over, and leaves what no run made")
    func force() throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("one.yaml", Scenarios.oneBundle)
            try program.write("small.yaml", Scenarios.small)
            let first = try program.run("run", "one.yaml", "--out", "out", "-q", "--freezer", "sigstop")
            #expect(first.code == 0)
            try program.write("out/mine.txt", "mine")
            try program.write("kept/mine.txt", "mine")
            let link = program.folder.appending(path: "out/apps/link").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../../kept")
            expectRefusal(try program.run("run", "small.yaml", "--out", "out"), code: 4, says: "--force")
            let again = try program.run("run", "small.yaml", "--out", "out", "-q", "--force")
            #expect(again.code == 0, "\(again.errors)")
            #expect(try program.run("why", "heart", "--run", "out").code == 0)
            #expect(!program.exists("out/apps"))
            #expect(program.exists("out/mine.txt"))
            #expect(program.exists("kept/mine.txt"))
        }
    }

    @Test("A scenario that is refused with --force leaves the old run alone")
    func refusedForce() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            #expect(try program.run("run", "small.yaml", "--out", "out", "-q").code == 0)
            let before = try program.read("out/decisions.ndjson")
            expectRefusal(try program.run("run", "none.yaml", "--out", "out", "--force"), code: 11)
            #expect(try program.read("out/decisions.ndjson") == before)
        }
    }

    @Test(
        "--force takes nothing out of a folder that belongs to another user",
        .enabled(if: Program.isRoot, "needs root, to have a folder of another user's")
    )
    func forceOnOthers() throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("one.yaml", Scenarios.oneBundle)
            #expect(try program.run("run", "one.yaml", "--out", "out", "-q", "--freezer", "sigstop").code == 0)
            try program.write("out/apps/com.acme.heart/data/kept", "kept")
            let files = { FileManager.default.enumerator(atPath: program.folder.appending(path: "out").path) }
            let before = files()?.compactMap { $0 as? String }.sorted()
            #expect(try program.run("/usr/bin/env", ["chown", "-R", "65534:65534", "out"]).code == 0)
            let refused = try program.run("run", "one.yaml", "--out", "out", "--force")
            expectRefusal(refused, code: 12, says: "out: belongs to user 65534")
            #expect(files()?.compactMap { $0 as? String }.sorted() == before)
        }
    }

    @Test("What apps got is its user's alone, also in a folder that others may look into")
    func modes() throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("one.yaml", Scenarios.oneBundle)
            let out = program.folder.appending(path: "out")
            try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: out.path)
            let run = try program.run(
                "run",
                "one.yaml",
                "--out",
                "out",
                "-q",
                "--freezer",
                "sigstop",
                "--capture",
                "btsnoop"
            )
            #expect(run.code == 0, "\(run.errors)")
            #expect(try program.run("report", "out", "--format", "svg,csv,md").code == 0)
            let files = FileManager.default.enumerator(atPath: out.path)?.compactMap { $0 as? String } ?? []
            let open = try files.filter { name in
                let facts = try FileManager.default.attributesOfItem(atPath: out.appending(path: name).path)
                let mode = try #require(facts[.posixPermissions] as? Int)
                return facts[.type] as? FileAttributeType == .typeRegular && mode & 0o077 != 0
            }
            // What build servers read, and a file with the number of a process.
            #expect(Set(open).isSubset(of: ["junit.xml", "journal.sqlite.lock"]), "\(open)")
            for name in ["decisions.ndjson", "outcomes.ndjson", "journal.sqlite", "hci.btsnoop", "report.html"] {
                #expect(files.contains(name), "\(files)")
            }
        }
    }

    @Test("--force removes folders of an app at any depth that a path can name")
    func forceOnDeep() throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("one.yaml", Scenarios.oneBundle)
            let words = ["run", "one.yaml", "--out", "out", "-q", "--freezer", "sigstop"]
            #expect(try program.run(Program.path, words).code == 0)
            let deep = "out/apps/com.acme.heart/" + String(repeating: "d/", count: 1_500)
            #expect(try program.run("/usr/bin/env", ["mkdir", "-p", deep]).code == 0)
            #expect(try program.run(Program.path, words + ["--force"]).code == 0)
            let home = program.folder.appending(path: "out/apps/com.acme.heart").path
            let found = try FileManager.default.contentsOfDirectory(atPath: home).sorted()
            #expect(found == [".cache", "Documents", "Library", "tmp"])
            let library = try FileManager.default.contentsOfDirectory(atPath: home + "/Library").sorted()
            #expect(library == ["Caches", "Preferences"])
        }
    }

    @Test(
        "A link in place of the folder of the apps, or of one app, is refused with 12, and nothing is made behind it",
        arguments: ["apps", "apps/com.acme.heart"]
    )
    func linkedApps(place: String) throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("one.yaml", Scenarios.oneBundle)
            for name in ["elsewhere", "out" + (place == "apps" ? "" : "/apps")] {
                let folder = program.folder.appending(path: name)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            let link = program.folder.appending(path: "out/\(place)").path
            let elsewhere = program.folder.appending(path: "elsewhere").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: elsewhere)
            let words = ["run", "one.yaml", "--out", "out", "-q", "--freezer", "sigstop"]
            expectRefusal(
                try program.run(Program.path, words),
                code: 12,
                says: "out/\(place): a link or a file",
                "--out"
            )
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
            // Without it the same run plays.
            try FileManager.default.removeItem(atPath: link)
            #expect(try program.run(Program.path, words).code == 0)
        }
    }

    @Test("A note at an hour stands at an hour, and the run ends after it")
    func clock() throws {
        try inFolder { program in
            let notes = "steps: [{at: 0, launch: heart}, {at: 30s, home: heart}, {at: 1h, note: late}]\n"
            let text = Scenarios.small.replacing("steps: [{at: 0, launch: heart}]\n", with: notes).replacing(
                "until: 1s\n",
                with: ""
            )
            try program.write("late.yaml", text)
            let run = try program.run("run", "late.yaml", "--out", "out")
            #expect(run.code == 0, "\(run.errors)")
            let note = run.output.split(separator: "\n").first { $0.contains(" late ") || $0.contains(" late") }
            #expect(note?.hasPrefix("T+01:00:00.000") == true, "\(run.output)")
            #expect(try program.read("out/outcomes.ndjson").contains(#"{"schema":"wake.end/1","t":"T+01:00:10.000"}"#))
        }
    }

    /// Makes a library that sets the wall clock of a program ahead: by AHEAD seconds, and by LEAP more with each look at it.
    private func otherClock(_ program: Program) throws -> String {
        let code = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdlib.h>
            #include <time.h>
            static long setting(const char *name) { return getenv(name) ? atol(getenv(name)) : 0; }
            int clock_gettime(clockid_t clock, struct timespec *time) {
                static long looks;
                typedef int look(clockid_t, struct timespec *);
                look *own = (look *)dlsym(RTLD_NEXT, "clock_gettime");
                int code = own(clock, time);
                if (clock == CLOCK_REALTIME && code == 0) time->tv_sec += setting("AHEAD") + setting("LEAP") * looks++;
                return code;
            }

            """
        try program.write("clock.c", code)
        #expect(try program.run("/usr/bin/cc", ["-shared", "-fPIC", "-o", "clock.so", "clock.c", "-ldl"]).code == 0)
        return program.folder.appending(path: "clock.so").path
    }

    private static let hasCompiler = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")

    @Test(
        "A run under a wall clock of a year that nanoseconds cannot say ends as any, and its times stand in 2262",
        .enabled(if: Self.hasCompiler, "needs a C compiler"),
        arguments: ["virtual", "real"]
    )
    func farYear(clock: String) throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            let run = try program.run(
                "run",
                "small.yaml",
                "--out",
                "out",
                "--clock",
                clock,
                environment: ["LD_PRELOAD": try otherClock(program), "AHEAD": "7600000000"]
            )
            #expect(run.code == 0, "\(run.errors)")
            #expect(try program.read("out/junit.xml").contains(#" timestamp="2262-04-11T23:47:16""#))
            #expect(try program.run("report", "out", "--format", "html,trace,svg,csv,md,junit").code == 0)
        }
    }

    @Test(
        "However the wall clock jumps in a run, JUnit says how long it took",
        .enabled(if: Self.hasCompiler, "needs a C compiler")
    )
    func jumpingClock() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            let ahead = ["LD_PRELOAD": try otherClock(program), "LEAP": "86400"]
            #expect(try program.run("run", "small.yaml", "--out", "out", environment: ahead).code == 0)
            let times = try program.read("out/junit.xml").matches(of: #/ time="(\d+)\./#).map { Int($0.output.1) ?? -1 }
            #expect(!times.isEmpty && times.allSatisfy { (0..<3_600).contains($0) }, "\(times)")
        }
    }

    @Test("Lock, unlock, reboot, launch and force quit stand in the table of a run")
    func acts() throws {
        try inFolder { program in
            let steps = """
                steps:
                  - {at: 0, launch: heart}
                  - {at: 1s, phone: lock}
                  - {at: 2s, phone: unlock}
                  - {at: 3s, force-quit: heart}
                  - {at: 4s, phone: reboot}

                """
            try program.write(
                "acts.yaml",
                Scenarios.small.replacing("steps: [{at: 0, launch: heart}]\n", with: steps)
                    .replacing("until: 1s", with: "until: 5s")
            )
            let run = try program.run("run", "acts.yaml", "--out", "out")
            #expect(run.code == 0, "\(run.errors)")
            let cells = run.output.split(separator: "\n").map { line in
                line.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
                    !$0.isEmpty
                }
            }
            for row in [
                ["T+00:00:00.000", "com.acme.heart", "launch"], ["T+00:00:01.000", "-", "lock"],
                ["T+00:00:02.000", "-", "unlock"], ["T+00:00:03.000", "com.acme.heart", "force quit"],
                ["T+00:00:04.000", "-", "reboot"],
            ] {
                #expect(cells.contains { $0.starts(with: row) }, "\(row) in \(run.output)")
            }
        }
    }

    @Test("A step that waits for several apps names the one that missed")
    func whoMissed() throws {
        try inFolder { program in
            let text = """
                scenario: two
                apps:
                  - {scripted: com.acme.a, name: one, modes: [bluetooth-central]}
                  - {scripted: com.acme.b, name: two, modes: [bluetooth-central]}
                steps:
                  - {at: 0, launch: one}
                  - {when: {app: [one, two], state: active}, within: 5s, note: never}

                """
            try program.write("two.yaml", text)
            let run = try program.run("run", "two.yaml", "--out", "out", "-q")
            #expect(run.code == 6)
            #expect(run.errors.contains("two is not-running"))
            #expect(!run.errors.contains("one is"))
        }
    }
}

@Suite("Help for every noun and verb")
struct HelpTests {
    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    @Test("A noun shows its verbs", arguments: ["scenario", "app"])
    func noun(_ noun: String) throws {
        try inFolder { program in
            let help = try program.run(noun, "--help")
            #expect(help.code == 0)
            try expectAnswer(help.output, "help-\(noun)")
            for words in [[noun, "-h"], ["help", noun], ["--help", noun]] {
                #expect(try program.run(Program.path, words).output == help.output, "\(words)")
            }
        }
    }

    @Test("A noun without a verb names its verbs, and one with an unknown verb the nearest")
    func verbs() throws {
        try inFolder { program in
            expectRefusal(try program.run("scenario"), code: 2, says: "scenario needs a verb", "run, check")
            expectRefusal(try program.run("scenario", "chekc"), code: 2, says: "did you mean 'scenario check'?")
            expectRefusal(try program.run("device", "qqqqq", "--help"), code: 2, says: "'qqqqq'", "check")
            expectRefusal(try program.run("help", "runn"), code: 2, says: "'runn'", "'run'")
        }
    }

    @Test(
        "A verb that takes its run as a word says so where that is given as --run",
        arguments: ["log", "report", "blame"]
    )
    func runOption(verb: String) throws {
        try inFolder { program in
            for words in [["--run", "out"], ["--run=out"]] {
                expectRefusal(
                    try program.run(Program.path, [verb] + words),
                    code: 2,
                    says: "unknown option --run; give the folder as RUN: wakebench \(verb) [RUN"
                )
            }
        }
    }

    @Test("With --json what to do is the hint, whatever signs the message has")
    func hint() throws {
        try inFolder { program in
            let outcome = try program.run("run", "a; b.yaml", "--json")
            let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
            let error = try #require(object?["error"] as? [String: Any])
            #expect((error["message"] as? String)?.hasPrefix("a; b.yaml: ") == true)
            #expect(error["hint"] as? String == "expected a readable file")
        }
    }
}
