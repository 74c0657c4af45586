import Foundation
import Testing

@Suite("Apps of which no decision tells")
struct SilentAppTests {
    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    private static let launched = """
        scenario: launched
        apps: [{bundle: Heart.app, name: heart}]
        steps:
          - {at: 0, launch: heart}
          - {when: {app: heart, state: suspended}, within: 5s, note: never}

        """

    @Test("An app that dies at its launch ends the run with 8, though a step waits, and why shows its last words")
    func diesAtLaunch() throws {
        try inFolder { program in
            try program.makeBundle(script: "echo no library >&2\nexit 3")
            try program.write("one.yaml", Self.launched)
            let run = try program.run("run", "one.yaml", "--out", "out", "-q", "--freezer", "sigstop")
            #expect(run.code == 8, "\(run.errors)")
            let words = "com.acme.heart ended at its launch, exit code 3"
            #expect(
                run.complaints.filter { $0.contains(words) && $0.contains("out/apps/com.acme.heart.log") }.count == 1
            )
            #expect(run.complaints.contains { $0.hasPrefix("wakebench: one.yaml:4: \(words)") }, "\(run.errors)")
            let junit = try program.read("out/junit.xml")
            #expect(junit.contains("name=\"plays to its end\" file=\"one.yaml\" line=\"4\""), "\(junit)")
            let json = try program.run("run", "one.yaml", "--out", "json", "--json", "--freezer", "sigstop")
            let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            let error = try #require(object?["error"] as? [String: Any])
            #expect(error["file"] as? String == "one.yaml")
            #expect([error["line"] as? Int, error["column"] as? Int] == [4, 5])
            let why = try program.run("why", "heart", "--run", "out")
            #expect(why.code == 0)
            #expect(why.output.hasPrefix("com.acme.heart  ended at its launch, exit code 3, at T+00:00:00"))
            #expect(why.output.contains("out/apps/com.acme.heart.log ends with:\n           no library\n"))
        }
    }

    @Test("An app that a signal ends at its launch, and one that is no program, are told apart")
    func crashesAtLaunch() throws {
        try inFolder { program in
            try program.write("one.yaml", Self.launched)
            try program.makeBundle(script: "kill -SEGV $$")
            #expect(try program.run("run", "one.yaml", "--out", "a", "-q", "--freezer", "sigstop").code == 8)
            #expect(try program.run("why", "heart", "--run", "a").output.contains("signal 11 (SIGSEGV)"))
            try program.write("Heart.app/heart", "no program at all\n", executable: true)
            #expect(try program.run("run", "one.yaml", "--out", "b", "-q", "--freezer", "sigstop").code == 8)
            #expect(
                try program.run("why", "heart", "--run", "b").output.contains("could not be started: Exec format error")
            )
        }
    }

    @Test("A death at launch that the scenario expects is no fault")
    func expectedDeath() throws {
        try inFolder { program in
            try program.makeBundle(script: "exit 3")
            let text = """
                scenario: expected
                apps: [{bundle: Heart.app, name: heart}]
                steps: [{at: 0, launch: heart}]
                until: 1s
                expect: [{app: heart, exits: 1, cause: exit}]

                """
            try program.write("one.yaml", text)
            let run = try program.run("run", "one.yaml", "--out", "out", "-q", "--freezer", "sigstop")
            #expect(run.code == 0, "\(run.errors)\(run.output)")
        }
    }

    @Test("A value that a real app does not hear is told with why: it has not run yet, or how it died at its launch")
    func unheard() throws {
        try inFolder { program in
            try program.makeBundle(script: "exit 3")
            try program.write("belt.yaml", Scenarios.belt)
            let text = """
                scenario: unheard
                devices: [{file: belt.yaml, name: belt}]
                apps: [{bundle: Heart.app, name: heart}]
                steps:
                  - {at: 0, notify: belt, characteristic: 2A37, value: "01"}
                  - {at: 1s, launch: heart}
                  - {at: 5s, notify: belt, characteristic: 2A37, value: "02"}
                expect: [{app: heart, exits: 1, cause: exit}]

                """
            try program.write("one.yaml", text)
            let run = try program.run("run", "one.yaml", "--out", "out", "--freezer", "sigstop")
            #expect(run.code == 0, "\(run.errors)")
            for (value, why) in [("01", "has not run yet)"), ("02", "ended at its launch, exit code 3, at T+00:00:0")] {
                let line = "notify belt 2A37 \(value): nobody is subscribed (heart \(why)"
                #expect(run.output.contains(line), "\(run.output)")
            }
        }
    }

    @Test("An app that nobody launched was never launched")
    func neverLaunched() throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("one.yaml", Scenarios.oneBundle)
            #expect(try program.run("run", "one.yaml", "--out", "out", "-q", "--freezer", "sigstop").code == 0)
            let why = try program.run("why", "com.acme.heart", "--run", "out")
            #expect(
                why.output
                    == "com.acme.heart  never launched: no step launched it, and no event woke it by T+00:00:01\n"
            )
        }
    }

    @Test("An app waits for its device, out of range since the step that took it away; one without wishes for nothing")
    func waits() throws {
        try inFolder { program in
            try program.write("belt.yaml", Scenarios.belt)
            try program.write(
                "away.yaml",
                """
                scenario: away
                devices: [{file: belt.yaml, name: meter}]
                apps:
                  - scripted: com.acme.heart
                    name: heart
                    modes: [bluetooth-central]
                    restore-identifier: central
                    uses: [{device: meter, characteristic: 2A37}]
                  - {scripted: com.acme.idle, name: idle, modes: [bluetooth-central]}
                steps:
                  - {at: 0, out-of-range: meter}
                  - {at: 10s, launch: heart}
                  - {at: 20s, launch: idle}
                until: 1h

                """
            )
            let run = try program.run("run", "away.yaml", "--out", "out", "-q")
            #expect(run.code == 0, "\(run.errors)")
            let heart = try program.run("why", "heart", "--run", "out").output
            #expect(heart.hasPrefix("com.acme.heart  waits: it is suspended since T+00:00:"), "\(heart)")
            #expect(heart.contains("for meter (pending-connect since T+00:00:10), out of range since T+00:00:00"))
            let idle = try program.run("why", "idle", "--run", "out").output
            #expect(idle.hasPrefix("com.acme.idle  registered for nothing: it is active since T+00:00:20"), "\(idle)")
        }
    }

    @Test("An app that does not finish launching in its time was killed by a watchdog (LIFE-7)")
    func watchdog() throws {
        try inFolder { program in
            try program.makeBundle(script: "exec sleep 1000")
            let text = Scenarios.oneBundle.replacing("note: hello", with: "launch: heart").replacing("1s", with: "1m")
            try program.write("one.yaml", text)
            let run = try program.run(
                "run",
                "one.yaml",
                "--out",
                "out",
                "-q",
                "--patience",
                "0.1",
                "--freezer",
                "sigstop"
            )
            #expect(run.code == 0, "\(run.errors)")
            let why = try program.run("why", "heart", "--run", "out").output
            #expect(why.hasPrefix("com.acme.heart  was killed by a watchdog at its launch (0x8badf00d)"), "\(why)")
            #expect(why.contains("[LIFE-7], at T+00:00:20"))
        }
    }

    @Test("why takes the scenario's name of an app, and a reason or a rule; what the run has not ends with 3")
    func questions() throws {
        try inFolder { program in
            try program.writeForceQuit()
            #expect(try program.run("run", "swiped.yaml", "--out", "out", "-q").code == 0)
            func why(_ words: String...) throws -> Program.Outcome {
                try program.run(Program.path, ["why"] + words + ["--run", "out"])
            }
            for word in ["Resumed", "resumed", "LIFE-4"] {
                #expect(try why("heart", word).output.hasPrefix("com.acme.heart  woken at "), "\(word)")
            }
            expectRefusal(try why("heart", "Rezumed"), code: 3, says: "Rezumed", "did you mean Resumed?")
            expectRefusal(try why("heart", "BluetoothOff"), code: 3, says: "their reasons are", "Resumed")
            expectRefusal(try why("heart", "--event", "e-999999"), code: 3, says: "e-999999", "its last event is e-0")
            expectRefusal(try why("hart"), code: 3, says: "did you mean heart?")
        }
    }
}
