import Foundation
import Testing

@Suite("Reading what a run has left")
struct ReadingTests {
    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    /// From which nanosecond on the phone was locked or open by the page of a run with these steps.
    private func locked(_ program: Program, phone: String, _ steps: String) throws -> [String] {
        try program.write(
            "phone.yaml",
            """
            scenario: phone
            phone: \(phone)
            apps: [{scripted: com.acme.heart, name: heart}]
            steps: \(steps)
            until: 1m

            """
        )
        let run = try program.run("run", "phone.yaml", "--out", "out", "--force", "-q")
        #expect(run.code == 0, "\(run.errors)")
        let lock = try program.read("out/report.html").firstMatch(of: #/{"name":"lock","bands":\[(.*?)\]}/#)
        return lock.map { $0.1.matches(of: #/\[([0-9]+),"([a-z]*)"\]/#).map { "\($0.1) \($0.2)" } } ?? []
    }

    @Test("AUD-9: the page shows the phone locked while the router has it locked")
    func lockedPhone() throws {
        try inFolder { program in
            let reboot = "[{at: 20s, phone: reboot}]"
            let removal = "[{at: 1s, phone: lock}, {at: 2s, phone: remove-passcode}]"
            let without = try locked(program, phone: "{passcode: false}", reboot)
            #expect(without == [])
            let restarted = try locked(program, phone: "{passcode: true}", reboot)
            #expect(restarted == ["20000000000 locked"])
            let removed = try locked(program, phone: "{passcode: true}", removal)
            #expect(removed == ["1000000000 locked", "2000000000 "])
        }
    }

    @Test("The page of a run that failed says so in its head, whenever it is made; that of one that passed does not")
    func failedPage() throws {
        try inFolder { program in
            let expectations = "expect: [{app: heart, verdict: resume, count: 1}, {app: heart, exits: 0}]\n"
            try program.write("failing.yaml", Scenarios.small + expectations)
            let head = "<h1><span class=\"missed\">1 of 2 expectations not met</span> small</h1>"
            #expect(try program.run("run", "failing.yaml", "--out", "out", "-q").code == 7)
            #expect(try program.read("out/report.html").contains(head))
            try FileManager.default.removeItem(at: program.folder.appending(path: "out/report.html"))
            #expect(try program.run("report", "out").code == 0)
            #expect(try program.read("out/report.html").contains(head))
            try program.write("small.yaml", Scenarios.small)
            #expect(try program.run("run", "small.yaml", "--out", "passed", "-q").code == 0)
            let passed = try program.read("passed/report.html")
            #expect(passed.contains("<h1>small</h1>"))
            #expect(passed.contains("\"failures\":[]"))
        }
    }

    @Test("A file of a run in place of its folder is refused with 3, and the folder is named, whoever reads it")
    func fileOfRun() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            #expect(try program.run("run", "small.yaml", "--out", "out", "-q").code == 0)
            let page = "out/report.html"
            let what = "a file, and not the folder of a run"
            for words in [
                ["why", "heart", "--run", page], ["can-wake", "heart", "--run", page], ["app", "exits", "--run", page],
                ["log", page], ["report", page], ["compare", page, "out"], ["run", "--from", page],
            ] {
                let outcome = try program.run(Program.path, words)
                expectRefusal(outcome, code: 3, says: "\(page): \(what); give its folder, out")
            }
            let other = try program.run("why", "heart", "--run", "small.yaml")
            expectRefusal(other, code: 3, says: "small.yaml: \(what); give the folder of a run")
        }
    }

    @Test("A log that wakebench did not write is refused with 11, whatever is to be made of it")
    func foreignLog() throws {
        try inFolder { program in
            try program.write("run/decisions.ndjson", "{\"a\":1}\n")
            for words in [
                ["report", "run"], ["why", "heart", "--run", "run"], ["log", "run"], ["compare", "run", "run"],
            ] {
                expectRefusal(try program.run(Program.path, words), code: 11, says: "not a log of wakebench")
            }
        }
    }

    @Test("log takes the scenario's name of an app, and refuses with 3 one that the run has not")
    func logOfApp() throws {
        try inFolder { program in
            try program.writeForceQuit()
            #expect(try program.run("run", "swiped.yaml", "--out", "out", "-q").code == 0)
            let named = try program.run("log", "out", "--app", "heart")
            #expect(named.code == 0)
            #expect(named.output.split(separator: "\n").count > 1)
            #expect(try program.run("log", "out", "--app", "com.acme.heart").output == named.output)
            expectRefusal(try program.run("log", "out", "--app", "heartt"), code: 3, says: "did you mean heart?")
        }
    }
}
