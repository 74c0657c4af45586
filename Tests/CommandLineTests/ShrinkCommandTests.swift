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
        #expect(outcome.output.contains("kept: heart deny ForceQuit"))
        #expect(try program.read("few.yaml").hasPrefix("# Reduced by wakebench shrink from swiped.yaml: "))
        let run = try program.run("run", "few.yaml", "--out", "few", "-q")
        #expect(run.code == 0, "\(run.output)\(run.errors)")
        #expect(!outcome.errors.contains("\u{1b}"))
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
