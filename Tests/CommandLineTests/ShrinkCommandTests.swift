import Foundation
import Testing

@Suite("shrink and the forms of report, at the command line")
struct ShrinkCommandTests {
    @Test("shrink writes a scenario that runs by itself and fails as the first did")
    func shrink() throws {
        let program = try Program()
        defer { program.clean() }
        try program.writeForceQuit()
        let outcome = try program.run("shrink", "swiped.yaml", "--keep", "heart:deny:ForceQuit", "-o", "few.yaml")
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("few.yaml: "))
        #expect(outcome.output.contains(" of 1 app, 1 of 1 device, after "), "\(outcome.output)")
        #expect(outcome.errors.contains(" events, 1 app, 1 device after 1 run, "), "\(outcome.errors)")
        #expect(outcome.output.contains("kept: heart deny ForceQuit"))
        #expect(try program.read("few.yaml").hasPrefix("# Reduced by wakebench shrink from swiped.yaml: "))
        let run = try program.run("run", "few.yaml", "--out", "few", "-q")
        #expect(run.code == 0, "\(run.output)\(run.errors)")
        #expect(!outcome.errors.contains("\u{1b}"))
    }

    /// Shrinks a scenario, and checks that a run of the result fails by what its header says.
    ///
    /// - Returns: that line.
    private func expectTruth(_ program: Program, _ words: [String]) throws -> String {
        let shrunk = try program.run(Program.path, ["shrink"] + words + ["-o", "few.yaml", "-q"])
        #expect(shrunk.code == 0, "\(shrunk.errors)")
        let header = try program.read("few.yaml").split(separator: "\n")[1]
        let kept = try #require(
            header.hasPrefix("# Kept: ") && header.hasSuffix(".") ? header.dropFirst(8).dropLast() : nil
        )
        let parts = try #require(kept.wholeMatch(of: /(.*), found (\d+) \(instead: (\S+) (\S+) (\S+)\)/))
        #expect(shrunk.output.hasSuffix("kept: \(kept)\n"))
        let run = try program.run("run", "few.yaml", "--out", "few", "-q", "--force")
        #expect(run.code == 7, "\(run.errors)")
        #expect(run.output.hasPrefix("NOT MET  \(parts.1); found \(parts.2)  ["), "\(header)\n\(run.output)")
        let log = try program.run("log", "few").output.split(separator: "\n")
        let instead = log.contains { line in
            line.contains("\"verdict\":\"\(parts.3)\",\"reason\":\"\(parts.4)\"")
                && line.contains("\"kind\":\"\(parts.5)\"")
        }
        #expect(instead, "\(header)")
        return String(header)
    }

    @Test(
        "As many decisions as before are found in what shrink leaves, and what was decided instead: the second relaunch"
    )
    func drift() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("my-belt.yaml", Cases.capturedBelt)
        try program.write("belt-twice.yaml", Cases.beltTwice)
        let header = try expectTruth(program, ["belt-twice.yaml"])
        #expect(
            header == "# Kept: pulse relaunch: 2, found 1 (instead: resume Resumed characteristic-notified)."
        )
        let log = try program.run("log", "few").output.split(separator: "\n")
        #expect(log.count { $0.contains("\"verdict\":\"relaunch\"") } == 1)
        #expect(try program.read("few.yaml").contains("terminate: pulse"))
    }

    @Test("What stands at the top of a result is true wherever shrink was stopped: a day of a pillbox")
    func pillbox() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("pillbox.yaml", Cases.pillbox)
        try program.write("fails.yaml", Cases.pillFails)
        let header = try expectTruth(program, ["fails.yaml", "--max-runs", "40"])
        #expect(header.hasPrefix("# Kept: pills relaunch: 2, found 1 (instead: "))
    }

    @Test("shrink replaces no file unless it is told to")
    func force() throws {
        let program = try Program()
        defer { program.clean() }
        try program.writeForceQuit()
        try program.write("few.yaml", "mine")
        let words = ["shrink", "swiped.yaml", "--keep", "heart:deny:ForceQuit", "-o", "few.yaml"]
        expectRefusal(try program.run(Program.path, words), code: 4, says: "few.yaml: it is there already", "--force")
        #expect(try program.read("few.yaml") == "mine")
        #expect(try program.run(Program.path, words + ["--force", "-q"]).code == 0)
        #expect(try program.read("few.yaml").hasPrefix("# Reduced by wakebench shrink"))
    }

    @Test("What shrink cannot do is refused in one line")
    func refused() throws {
        let program = try Program()
        defer { program.clean() }
        try program.writeForceQuit()
        expectRefusal(try program.run("shrink", "swiped.yaml"), code: 2, says: "-o FILE is missing")
        expectRefusal(
            try program.run("shrink", "swiped.yaml", "-o", "./swiped.yaml"),
            code: 2,
            says: "the scenario itself"
        )
        expectRefusal(try program.run("shrink", "swiped.yaml", "-o", "x.yaml"), code: 4, says: "nothing fails in it")
        expectRefusal(
            try program.run("shrink", "swiped.yaml", "-o", "x.yaml", "--keep", "heart:dney"),
            code: 2,
            says: "did you mean deny?"
        )
        expectRefusal(try program.run("shrink", "none.yaml", "-o", "x.yaml"), code: 11, says: "none.yaml: ")
        #expect(!program.exists("x.yaml"))
    }

    @Test("report writes the forms that are asked for, and one of them to any place")
    func forms() throws {
        let program = try Program()
        defer { program.clean() }
        try program.writeForceQuit()
        #expect(try program.run("run", "swiped.yaml", "--out", "out", "-q").code == 0)
        let all = try program.run("report", "out", "--format", "svg,csv,md,trace,junit,html")
        #expect(all.code == 0, "\(all.errors)")
        #expect(all.output.hasPrefix("svg: out/timeline.svg\ncsv: out/timeline.csv\nmd: out/summary.md\n"))
        let summary = try program.run("report", "out", "-f", "md", "-O", "-")
        #expect(summary.output == (try program.read("out/summary.md")))
        #expect(try program.run("report", "out", "-f", "svg", "-O", "x.svg").code == 0)
        #expect(try program.read("x.svg") == program.read("out/timeline.svg"))
        expectRefusal(try program.run("report", "out", "-f", "gif"), code: 2, says: "expected one of html, trace")
        expectRefusal(try program.run("report", "out", "-f", "svg,md", "-O", "x"), code: 2, says: "one form")
        expectRefusal(try program.run("report", "out", "-O", "x"), code: 2, says: "--format")
    }
}
