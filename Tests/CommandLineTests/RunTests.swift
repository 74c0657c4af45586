import Foundation
import Glibc
import Testing

@Suite("Runs and what is asked of them")
struct RunTests {
    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    @Test("A force-quit app is denied its event, and why says so with rule, cause and remedy (LAUNCH-2)")
    func why() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let run = try program.run("run", "swiped.yaml", "--out", "out", "--seed", "7")
            #expect(run.code == 0, "\(run.errors)\(run.output)")
            #expect(run.errors == "")
            let why = try program.run("why", "com.acme.heart", "--run", "out")
            #expect(why.code == 0)
            try expectAnswer(why.output, "why-force-quit")
            let table = try program.run("why", "com.acme.heart", "--run", "out", "--since", "1h")
            try expectAnswer(table.output, "why-since")
            let event = try program.run("why", "com.acme.heart", "--run", "out", "--event", "e-000001")
            #expect(event.code == 0)
            #expect(event.output.contains("e-000001"))
        }
    }

    @Test("After a force quit a beacon relaunches its app (LAUNCH-3); of its belt an app hears no more (LAUNCH-2)")
    func whyBeacon() throws {
        try inFolder { program in
            let scenario = Program.repository.appending(path: "Devices/Scenarios/beacon-after-force-quit.yaml").path
            let run = try program.run("run", scenario, "--out", "out", "--seed", "7")
            #expect(run.code == 0, "\(run.errors)\(run.output)")
            let entry = try program.event(of: "region-entered", in: "out")
            let woken = try program.run("why", "com.example.desk", "--run", "out", "--event", entry)
            try expectAnswer(woken.output, "why-beacon")
            let log = try program.run("log", "out").output.split(separator: "\n")
            let belt = log.filter { $0.contains(#""kind":"characteristic-notified""#) }
            #expect(!belt.isEmpty)
            #expect(belt.allSatisfy { !$0.contains(#""state_before":"terminated""#) })
        }
    }

    @Test("Asking for an app or a run that is not there ends with 3, a wrong event or time with 2")
    func whyRefused() throws {
        try inFolder { program in
            try program.writeForceQuit()
            #expect(try program.run("run", "swiped.yaml", "--out", "out").code == 0)
            expectRefusal(try program.run("why", "com.acme.hart", "--run", "out"), code: 3, says: "com.acme.heart")
            expectRefusal(try program.run("why", "com.acme.heart", "--run", "away"), code: 3, says: "away")
            expectRefusal(
                try program.run("why", "com.acme.heart", "--run", "out", "--event", "9"),
                code: 2,
                says: "e-000398"
            )
            expectRefusal(
                try program.run("why", "com.acme.heart", "--run", "out", "--since", "soon"),
                code: 2,
                says: "30s"
            )
        }
    }

    @Test(
        "log prints the first line and each record in full, of all apps or of one; a run that is not there ends with 3"
    )
    func log() throws {
        try inFolder { program in
            try program.writeForceQuit()
            #expect(try program.run("run", "swiped.yaml", "--out", "out").code == 0)
            let log = try program.run("log", "out")
            #expect(log.code == 0 && log.errors == "")
            let lines = log.output.split(separator: "\n")
            #expect(lines.first?.hasPrefix("{\"schema\":\"wake.log/2\",") == true)
            for (position, line) in lines.dropFirst().enumerated() {
                let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                #expect(record?["seq"] as? Int == position + 1)
                #expect((record?["checks"] as? [Any])?.isEmpty == false)
            }
            #expect(
                lines.contains { $0.contains("\"verdict\":\"deny\",\"reason\":\"ForceQuit\",\"rule\":\"LAUNCH-2\"") }
            )
            let one = try program.run("log", "out", "--app", "com.acme.heart").output.split(separator: "\n")
            #expect(one.count == lines.count { $0.contains("\"bundle\":\"com.acme.heart\"") } + 1)
            expectRefusal(try program.run("log", "out", "--app", "com.acme.other"), code: 3, says: "com.acme.other")
            expectRefusal(try program.run("log", "away"), code: 3, says: "away")
        }
    }

    @Test("A run that is over has closed its journal")
    func closedJournal() throws {
        try inFolder { program in
            try program.writeForceQuit()
            #expect(try program.run("run", "swiped.yaml", "--out", "out").code == 0)
            #expect(program.exists("out/journal.sqlite"))
            #expect(!program.exists("out/journal.sqlite-wal"))
        }
    }

    @Test("Without --out a run goes to wakebench-runs, and latest leads to it")
    func latest() throws {
        try inFolder { program in
            try program.writeForceQuit()
            #expect(try program.run("run", "swiped.yaml").code == 0)
            let why = try program.run("why", "com.acme.heart")
            #expect(why.code == 0 && why.errors == "")
            #expect(try program.run("report").code == 0)
            #expect(program.exists("wakebench-runs/latest/report.html"))
            #expect(program.exists("wakebench-runs/latest/trace.json"))
            #expect(program.exists("wakebench-runs/latest/junit.xml"))
        }
    }

    @Test("Runs without --out that begin together have folders of their own, and one that is refused leaves none")
    func together() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let line = """
                for n in 1 2 3 4; do $W run swiped.yaml -q & own="$own $!"; done
                for n in $own; do wait $n || exit; done
                """
            let outcome = try program.run("/bin/sh", ["-c", line], environment: ["W": Program.path])
            #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
            let runs = program.folder.appending(path: "wakebench-runs").path
            let found = try FileManager.default.contentsOfDirectory(atPath: runs)
            #expect(found.count == 5 && found.contains("latest"), "\(found)")
            expectRefusal(try program.run("run", "none.yaml"), code: 11, says: "none.yaml")
            #expect(try FileManager.default.contentsOfDirectory(atPath: runs).count == 5)
        }
    }

    @Test("Two runs with one seed have equal decisions, byte for byte; a run without the wakes differs, with 10")
    func compare() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let other = Scenarios.forceQuit.replacing("force-quit: heart", with: "terminate: heart")
                .replacing("verdict: deny, reason: ForceQuit", with: "verdict: relaunch")
                .replacing(", rule: LAUNCH-2", with: "")
            try program.write("other.yaml", other)
            for (file, out) in [("swiped.yaml", "a"), ("swiped.yaml", "b"), ("other.yaml", "c")] {
                let run = try program.run("run", file, "--out", out, "--seed", "7")
                #expect(run.code == 0, "\(run.output)\(run.errors)")
            }
            #expect(try program.read("a/decisions.ndjson") == program.read("b/decisions.ndjson"))
            let equal = try program.run("compare", "a", "b")
            #expect(equal.code == 0)
            #expect(equal.output == "equal verdicts: a and b\n")
            let different = try program.run("compare", "a", "c")
            #expect(different.code == 10)
            #expect(different.output.contains("  cause  LAUNCH-2 (app not force-quit by the user): a fail"))
            #expect(different.output.contains("a has 'force quit' at T+"))
            #expect(different.output.contains("1 of 2 apps differs: "))
            let json = try program.run("compare", "a", "c", "--json")
            #expect(json.code == 10)
            #expect(json.output.hasPrefix("{\"schema\":\"wake.compare/1\",\"ok\":false,\"equal\":false,"))
        }
    }

    @Test("A good scenario is said to be good, and run as well as scenario run plays it")
    func check() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let check = try program.run("scenario", "check", "swiped.yaml")
            #expect(check.code == 0)
            #expect(check.output == "swiped.yaml: good: 1 app, 1 device, 5 steps, 1 expectation\n")
            #expect(try program.run("scenario", "run", "swiped.yaml", "--out", "out").code == 0)
        }
    }

    @Test("A good bundle is said to be good, with its modes")
    func verify() throws {
        try inFolder { program in
            try program.makeBundle(modes: ["audio"], script: "echo audio.start")
            let verified = try program.run("app", "verify", "Heart.app")
            #expect(verified.code == 0)
            #expect(verified.errors == "")
            #expect(verified.output == "Heart.app: good: com.acme.heart, background modes: audio\n")
        }
    }

    @Test("app verify has no note on modes that have all of their effect")
    func wholeModes() throws {
        try inFolder { program in
            try program.makeBundle(modes: ["bluetooth-central", "fetch", "processing"])
            let verified = try program.run("app", "verify", "Heart.app")
            #expect(verified.code == 0)
            #expect(verified.errors == "")
        }
    }

    @Test("--set wins over the scenario's settings, and the log names what was set")
    func set() throws {
        try inFolder { program in
            let text = Scenarios.small + "settings: {wakeWindow: first, taskBudget: 1m}\n"
            try program.write("set.yaml", text)
            #expect(try program.run("run", "set.yaml", "--out", "a", "--set", "taskBudget=2m", "-q").code == 0)
            let head = try program.read("a/decisions.ndjson").split(separator: "\n")[0]
            #expect(head.contains(#""taskBudget":"2m""#))
            #expect(head.contains(#""wakeWindow":"first""#))
            #expect(try program.read("a/report.html").contains("taskBudget 2m"))
        }
    }

    @Test("AUD-4: an app that silence alone keeps running is told of, in the run's last words and in its report")
    func silence() throws {
        try inFolder { program in
            try program.write(
                "silence.yaml",
                """
                scenario: silence
                apps: [{scripted: com.acme.radio, name: radio, modes: [audio], audio: {category: playback, audible: false}}]
                steps: [{at: 0, launch: radio}, {at: 1s, home: radio}]
                expect: [{app: radio, state: background}]
                until: 61s

                """
            )
            let run = try program.run("run", "silence.yaml", "--out", "a")
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            #expect(run.output.contains("kept running by silence alone (AUD-4): radio"))
            #expect(try program.read("a/outcomes.ndjson").contains("silence alone kept it running for"))
            let punished = try program.run("run", "silence.yaml", "--out", "b", "--set", "silenceLimit=10s")
            #expect(punished.code == 7)
            #expect(punished.output.contains("SilentTooLong"))
            #expect(!punished.output.contains("kept running by silence alone"))
        }
    }

    @Test("run --json prints one object and nothing else")
    func json() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let run = try program.run("run", "swiped.yaml", "--out", "out", "--json")
            #expect(run.code == 0)
            #expect(run.errors == "")
            #expect(run.output.split(separator: "\n").count == 1)
            let object = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
            #expect(object["schema"] as? String == "wake.run/1")
            #expect(object["ok"] as? Bool == true)
            #expect(object["folder"] as? String == "out")
            let expectations = try #require(object["expectations"] as? [[String: Any]])
            #expect(expectations.map { $0["file"] as? String } == ["swiped.yaml"])
            #expect(expectations.map { [$0["line"] as? Int, $0["column"] as? Int] } == [[17, 5]])
        }
    }

    @Test("run -q prints the last lines only")
    func quiet() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let run = try program.run("run", "swiped.yaml", "--out", "out", "-q")
            #expect(run.code == 0)
            let lines = run.output.split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines.first?.contains(" decisions: ") == true)
            #expect(lines.last == "report: out/report.html")
        }
    }

    @Test("An expectation that is not met ends with 7 and its place, in JSON too")
    func notMet() throws {
        try inFolder { program in
            try program.write(
                "small.yaml",
                Scenarios.small + "expect: [{app: heart, verdict: relaunch, count: 1}]\n"
            )
            let run = try program.run("run", "small.yaml", "--out", "out", "-q")
            #expect(run.code == 7)
            let said = run.output.split(separator: "\n").prefix(4)
            #expect(
                said == [
                    "NOT MET  heart relaunch: 1; found 0  [small.yaml:5]", "         by T+00:00:01.000",
                    "         nothing was decided about com.acme.heart",
                    "         wakebench why com.acme.heart --run out",
                ]
            )
            #expect(try program.read("out/junit.xml").contains("<failure"))
            let json = try program.run("run", "small.yaml", "--out", "json", "--json")
            #expect(json.code == 7)
            #expect(json.output.contains("\"ok\":false"))
            #expect(json.output.split(separator: "\n").count == 1)
        }
    }

    @Test("Of exits or a state that are not met the console and JUnit tell how the app's processes ended")
    func endsInstead() throws {
        try inFolder { program in
            let steps = Scenarios.small.replacing("heart}]\n", with: "heart}, {at: 500ms, force-quit: heart}]\n")
            let expected = "expect: [{app: heart, exits: 1, cause: memory}, {app: heart, state: suspended}]\n"
            try program.write("small.yaml", steps + expected)
            let run = try program.run("run", "small.yaml", "--out", "out", "-q")
            #expect(run.code == 7, "\(run.errors)")
            let told = """
                NOT MET  heart exits with cause memory: 1; found 0  [small.yaml:5]
                         by T+00:00:01.000
                         ends of com.acme.heart:
                           T+00:00:00.500  user-force-quit  was swiped away by the user  (x-
                """
            #expect(run.output.hasPrefix(told), "\(run.output)")
            let junit = try program.read("out/junit.xml")
            let end = "ends of com.acme.heart:\n  T+00:00:00.500  user-force-quit  was swiped away by the user  (x-"
            #expect(junit.components(separatedBy: end).count == 3, "\(junit)")
        }
    }

    @Test("A `when` that does not come true in its time ends with 6 and its place, in JSON too")
    func timedOut() throws {
        try inFolder { program in
            let waits = Scenarios.small.replacing("until: 1s\n", with: "").replacing(
                "steps: [",
                with: "steps: [{when: {app: heart, state: suspended}, within: 5s, note: never}, "
            )
            try program.write("waits.yaml", waits)
            let run = try program.run("run", "waits.yaml", "--out", "out", "-q")
            #expect(run.code == 6)
            #expect(run.complaints.count == 1)
            #expect(run.errors.hasPrefix("wakebench: waits.yaml:3: waited 5.0 s for the state suspended"))
            let said = run.output.split(separator: "\n")
            #expect(said[0].hasPrefix("NOT MET  waited 5.0 s for the state suspended; heart is "), "\(run.output)")
            #expect(said[0].hasSuffix("  [waits.yaml:3]"))
            #expect(said.contains("         wakebench why com.acme.heart --run out"), "\(run.output)")
            let json = try program.run("run", "waits.yaml", "--out", "json", "--json")
            #expect(json.code == 6)
            #expect(json.output.split(separator: "\n").count == 1)
            let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            #expect(object?["schema"] as? String == "wake.run/1" && object?["ok"] as? Bool == false)
            let error = try #require(object?["error"] as? [String: Any])
            #expect(error["code"] as? Int == 6 && error["kind"] as? String == "timeout")
            #expect(error["file"] as? String == "waits.yaml")
            #expect([error["line"] as? Int, error["column"] as? Int] == [3, 9])
        }
    }

    @Test("A step that cannot be carried out ends the run with its place, and its logs and pages are written")
    func stopped() throws {
        try inFolder { program in
            let step = "{at: 0, launch: heart}, {at: 100ms, date: 2026-03-02T09:30:00Z}"
            try program.write("date.yaml", Scenarios.small.replacing("{at: 0, launch: heart}", with: step))
            let run = try program.run("run", "date.yaml", "--clock", "real", "--out", "out")
            #expect(run.code == 2)
            let complaint = "date.yaml:3: the phone's date can be set with scripted apps in virtual time alone"
            #expect(run.complaints == ["wakebench: \(complaint)"])
            #expect(run.output.contains("  launch"), "\(run.output)")
            #expect(program.exists("out/report.html"))
            #expect(try program.run("why", "heart", "--run", "out").code == 0)
            let junit = try program.read("out/junit.xml")
            #expect(junit.contains("name=\"plays to its end\" file=\"date.yaml\" line=\"3\""), "\(junit)")
            let json = try program.run("run", "date.yaml", "--clock", "real", "--out", "json", "--json")
            let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            let error = try #require(object?["error"] as? [String: Any])
            #expect(error["code"] as? Int == 2 && error["file"] as? String == "date.yaml")
            #expect([error["line"] as? Int, error["column"] as? Int] == [3, 33])
        }
    }

    @Test("report rewrites what the run wrote, byte for byte: title, expectations and what was missed too")
    func sameReport() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let missed = Scenarios.forceQuit + "  - {app: heart, verdict: relaunch, count: 3}\n"
            try program.write("missed.yaml", missed)
            #expect(try program.run("run", "missed.yaml", "--out", "out", "-q").code == 7)
            let names = ["out/report.html", "out/trace.json", "out/junit.xml"]
            let written = try names.map(program.read)
            #expect(written[0].contains("<title>swiped</title>") && written[0].contains("heart relaunch: 3"))
            for name in names { try program.write(name, "") }
            #expect(try program.run("report", "out").code == 0)
            #expect(try names.map(program.read) == written)
        }
    }

    @Test(
        "A missed expectation in JUnit names the moment, the nearest decisions with their rules, and the command for why"
    )
    func missedInJUnit() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let missed =
                Scenarios.forceQuit + "  - {app: heart, verdict: relaunch, rule: LAUNCH-2, count: 3}\n"
            try program.write("missed.yaml", missed)
            #expect(try program.run("run", "missed.yaml", "--out", "out", "-q").code == 7)
            let junit = try program.read("out/junit.xml")
            #expect(junit.contains("failures=\"1\" errors=\"0\""))
            #expect(junit.contains("name=\"heart relaunch LAUNCH-2: 3\""))
            #expect(junit.contains("found 0  [missed.yaml:"))
            #expect(junit.contains("by T+00:0"))
            #expect(junit.contains("deny, ForceQuit [LAUNCH-2]"))
            #expect(junit.contains("wakebench why com.acme.heart --run out</failure>"))
            // The same with every line moved: only places differ.
            try program.write("missed.yaml", "# moved\n" + missed)
            #expect(try program.run("run", "missed.yaml", "--out", "moved", "-q").code == 7)
            let names = { (text: String) in
                text.matches(of: /<testcase classname="[^"]*" name="[^"]*"/).map { String($0.output) }
            }
            #expect(names(try program.read("moved/junit.xml")) == names(junit))
        }
    }

    @Test("A `when` that did not come true, and a scenario that cannot be read, are errors in JUnit")
    func errorsInJUnit() throws {
        try inFolder { program in
            let waits = Scenarios.small.replacing("until: 1s\n", with: "").replacing(
                "steps: [",
                with: "steps: [{when: {app: heart, state: suspended}, within: 5s, note: never}, "
            )
            try program.write("waits.yaml", waits)
            #expect(try program.run("run", "waits.yaml", "--out", "out", "-q").code == 6)
            let late = try program.read("out/junit.xml")
            #expect(
                late.contains("errors=\"1\"") && late.contains("<error type=\"timeout\" message=\"waits.yaml:3: waited")
            )
            #expect(late.contains("wakebench why com.acme.heart --run out</error>"))
            try program.write("broken.yaml", "scenario: [\n")
            #expect(try program.run("run", "broken.yaml", "--junit", "junit.xml").code == 11)
            let broken = try program.read("junit.xml")
            #expect(
                broken.contains("errors=\"1\"") && broken.contains("<error type=\"") && broken.contains("broken.yaml")
            )
            // What could not begin is no run.
            let runs = program.folder.appending(path: "wakebench-runs").path
            #expect(try FileManager.default.contentsOfDirectory(atPath: runs) == ["latest"])
        }
    }

    @Test("A run that is interrupted ends with 130, its app's process is gone, and its folder can be read")
    func interrupted() throws {
        try inFolder { program in
            let pipe = program.folder.appending(path: "started").path
            let made = unsafe mkfifo(pipe, 0o600)
            #expect(made == 0)
            let reading = unsafe open(pipe, O_RDWR | O_NONBLOCK)
            defer { close(reading) }
            try program.makeBundle(script: "echo $$ > \(pipe); exec sleep 1000")
            try program.write(
                "long.yaml",
                """
                scenario: long
                apps: [{bundle: Heart.app, name: heart}]
                steps: [{at: 0, launch: heart}]
                until: 1m
                """
            )
            let talk = program.folder.appending(path: "talk")
            try FileManager.default.createDirectory(at: talk, withIntermediateDirectories: true)
            let words = ["run", "long.yaml", "--out", "out", "--clock", "real", "--freezer", "sigstop"]
            let process = try program.start(Program.path, words, talk: talk)
            var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&waiting, 1, 60_000)
            #expect(ready == 1)
            var bytes = [UInt8](repeating: 0, count: 32)
            let count = unsafe read(reading, &bytes, bytes.count)
            let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            let app = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            process.send(SIGINT)
            process.waitUntilExit()
            #expect(process.terminationStatus == 130)
            #expect(kill(app, 0) == -1)
            let errors = try String(contentsOf: talk.appending(path: "errors"), encoding: .utf8)
            #expect(errors.split(separator: "\n").count == 1)
            #expect(errors.hasPrefix("wakebench: interrupted at T+"))
            #expect(
                try program.read("out/junit.xml").contains("<error type=\"interrupted\" message=\"interrupted at T+")
            )
            #expect(try program.run("report", "out").code == 0)
            #expect(program.exists("out/decisions.ndjson"))
        }
    }

    @Test("What apps and devices are called never begins a line of its own, nor moves the terminal")
    func foreignText() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write(
            "forged.yaml",
            #"""
            scenario: forged
            apps:
              - scripted: com.acme.fences
                name: fences
                location:
                  regions:
                    - identifier: "home\nmet      com.acme.other forged\e]0;owned\a\e[2J"
                      latitude: 48.1
                      longitude: 11.5
                      radius: 150m
            steps:
              - {at: 0, launch: fences}
              - {at: 1s, note: "one\rtwo\e[31m"}
            expect: [{app: fences, verdict: foreground-deliver, at-least: 1}]
            until: 5s

            """#
        )
        let run = try program.run("run", "forged.yaml", "--out", "out")
        #expect(run.code == 0, "\(run.errors)")
        let why = try program.run("why", "com.acme.fences", "--run", "out")
        let table = try program.run("why", "com.acme.fences", "--run", "out", "--since", "1h")
        for text in [run.output, why.output, table.output, run.errors] {
            #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
            #expect(!text.split(separator: "\n").contains { $0.hasPrefix("met") && $0.contains("com.acme.other") })
        }
        #expect(run.output.contains(#"home\nmet      com.acme.other forged\u{1B}]0;owned\u{7}\u{1B}[2J"#))
        #expect(run.output.contains(#"one\rtwo\u{1B}[31m"#))
        #expect(why.output.contains(#"home\nmet"#))
    }
}
