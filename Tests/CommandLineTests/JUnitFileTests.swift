import Foundation
import Testing

@Suite("The file of --junit, and JUnit of a run that was stopped")
struct JUnitFileTests {
    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    @Test(
        "A --junit file that cannot be written is refused before the run, with a remedy of its own, and nothing is left behind",
        arguments: [
            ("none/x.xml", "none/x.xml: its folder is not there; make the folder"),
            ("link.xml", "link.xml: a symbolic link, which is not followed; remove the link"),
            ("folder", "folder: open: Is a directory"),
        ]
    )
    func refusedBefore(path: String, words: String) throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            try program.write("folder/precious", "keep me")
            let link = program.folder.appending(path: "link.xml").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "folder/precious")
            let before = program.contents
            expectRefusal(
                try program.run("run", "small.yaml", "--out", "out", "--junit", path),
                code: 12,
                says: words
            )
            #expect(program.contents == before)
            #expect(try program.read("folder/precious") == "keep me")
            // A run that is over stays, too.
            #expect(try program.run("run", "small.yaml", "--out", "out", "-q").code == 0)
            let decisions = try program.read("out/decisions.ndjson")
            let again = try program.run("run", "small.yaml", "--out", "out", "--force", "--junit", path)
            expectRefusal(again, code: 12, says: words)
            #expect(try program.read("out/decisions.ndjson") == decisions)
        }
    }

    @Test("What is wrong with the scenario is told before what is wrong with the --junit file")
    func scenarioFirst() throws {
        try inFolder { program in
            expectRefusal(
                try program.run("run", "nope.yaml", "--junit", "none/x.xml"),
                code: 11,
                says: "nope.yaml: "
            )
        }
    }

    @Test("The --junit file may lie in the run folder that is yet to be made")
    func inRunFolder() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            #expect(try program.run("run", "small.yaml", "--out", "out", "-q", "--junit", "out/here.xml").code == 0)
            #expect(try program.read("out/here.xml") == program.read("out/junit.xml"))
        }
    }

    @Test(
        "A --junit file that takes nothing costs neither the table nor the end of the run",
        .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/full"))
    )
    func fullFile() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            let run = try program.run("run", "small.yaml", "--out", "out", "--junit", "/dev/full")
            #expect(run.code == 12)
            #expect(run.complaints.count == 1 && run.errors.contains("/dev/full: no space left"), "\(run.errors)")
            #expect(run.output.contains("report: out/report.html"), "\(run.output)")
            // It is over: --force may replace it.
            #expect(try program.run("run", "small.yaml", "--out", "out", "-q", "--force").code == 0)
        }
    }

    @Test("JUnit of a run that was refused bears the scenario's name and a time, as it does when it plays")
    func refusedRun() throws {
        try inFolder { program in
            try program.write("file.yaml", Scenarios.small)
            #expect(try program.run("run", "file.yaml", "--out", "out", "-q").code == 0)
            #expect(try program.run("run", "file.yaml", "--out", "out", "-q", "--junit", "x.xml").code == 4)
            let text = try program.read("x.xml")
            #expect(text.contains("<testsuite name=\"small\"") && text.contains(" timestamp=\"20"), "\(text)")
        }
    }

    @Test("A run that fails midway has its name, its times and its error in JUnit, and the error in its later report")
    func midway() throws {
        try inFolder { program in
            try program.write("belt.yaml", StreamTests.belt)
            try program.write("long.yaml", StreamTests.busy(until: "10d"))
            // In blocks of 512 bytes.
            let line = "ulimit -f 1500; exec $W run long.yaml --no-journal --out out --junit x.xml"
            let run = try program.run("/bin/sh", ["-c", line], environment: ["W": Program.path])
            expectRefusal(run, code: 12, says: "out/outcomes.ndjson: no space left")
            let text = try program.read("x.xml")
            #expect(try program.read("out/junit.xml") == text)
            #expect(text.contains("<testsuite name=\"busy\"") && text.contains(" timestamp=\"20"), "\(text)")
            #expect(
                text.contains("<error type=\"environment\" message=\"out/outcomes.ndjson: no space left"),
                "\(text)"
            )
            #expect(text.contains("<property name=\"profile\""), "\(text)")
            #expect(!text.contains("value=\"T+00:00:00.000\"") && !text.contains("time=\"0.000\""), "\(text)")
            #expect(try program.run("report", "out").code == 0)
            #expect(try program.read("out/report.html").contains("no space left"))
            #expect(try program.read("out/junit.xml") == text)
        }
    }
}
