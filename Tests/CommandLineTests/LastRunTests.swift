import Foundation
import Testing

@Suite("The last run, which is asked about without a name")
struct LastRunTests {
    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    @Test("latest leads to the last run wherever that lies, and a note says which it is")
    func elsewhere() throws {
        try inFolder { program in
            try program.write("pillbox.yaml", Cases.pillbox)
            try program.write("waits.yaml", Cases.pillWaits)
            try program.write("good.yaml", Cases.pillFails)
            let waited = try program.run("run", "waits.yaml", "-q")
            #expect(waited.code == 6)
            #expect(
                waited.output.contains("wakebench why com.pills.reminder --run wakebench-runs/"),
                "\(waited.output)"
            )
            #expect(try program.run("why", "pills").errors == "")
            #expect(try program.run("run", "good.yaml", "--out", "out/g", "-q").code == 7)
            let why = try program.run("why", "pills")
            #expect(why.code == 0)
            #expect(why.errors == "wakebench: note: the last run is out/g, of the scenario pill-fails\n")
            #expect(try program.run("why", "pills", "--run", "out/g").output == why.output)
            #expect(try program.run("why", "pills", "--run", "out/g").errors == "")
        }
    }

    @Test(
        "Where no run was played, each verb about one says what to do",
        arguments: [
            ["why", "heart"], ["log"], ["blame"], ["report"], ["task", "list"], ["task", "history"],
            ["can-wake", "heart", "region-entered"], ["app", "exits"], ["rules", "--coverage"],
        ]
    )
    func none(words: [String]) throws {
        try inFolder { program in
            expectRefusal(
                try program.run(Program.path, words),
                code: 3,
                says: "no run was played in this folder; play one with 'wakebench run SCENARIO.yaml'"
            )
            #expect(program.contents == [])
        }
    }

    @Test("A last run that was removed is told of")
    func removed() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            #expect(try program.run("run", "small.yaml", "--out", "out", "-q").code == 0)
            try FileManager.default.removeItem(at: program.folder.appending(path: "out"))
            expectRefusal(try program.run("why", "heart"), code: 3, says: "out: the last run is not there any more")
        }
    }

    @Test("Of a suite the last run is its folder, and whoever asks is told to name one of its runs")
    func suite() throws {
        try inFolder { program in
            let missing = Scenarios.small + "expect: [{app: heart, verdict: deny, count: 1}]\n"
            for (name, text) in [("a", Scenarios.small), ("b", missing)] { try program.write("all/\(name).yaml", text) }
            #expect(try program.run("run", "all", "--out", "out", "-q").code == 7)
            let words = "out: the folder of a suite of 2 runs; name one of them, such as out/b"
            #expect(try program.run("why", "heart").errors.hasSuffix("wakebench: \(words)\n"))
            for verb in [["why", "heart", "--run", "out"], ["log", "out"], ["report", "out"], ["blame", "out"]] {
                expectRefusal(try program.run(Program.path, verb), code: 3, says: words)
            }
            #expect(try program.run("why", "heart", "--run", "out/b").code == 0)
        }
    }

    @Test("A run that another program plays leaves the link as it is, and a run is named where there can be none")
    func others() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            let line = "\"$W\" run small.yaml --out out -q --parent $$; exit $?"
            #expect(try program.run("/bin/sh", ["-c", line], environment: ["W": Program.path]).code == 0)
            #expect(program.exists("out/report.html") && !program.exists("wakebench-runs"))
            try program.write("wakebench-runs", "a file")
            let run = try program.run("run", "small.yaml", "--out", "other")
            #expect(run.code == 0)
            #expect(
                run.errors
                    == "wakebench: note: wakebench-runs/latest cannot be made here; name this run by --run other\n"
            )
        }
    }
}
