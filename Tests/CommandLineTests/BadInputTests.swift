import BlueZStandIn
import ChildProcess
import Foundation
import Testing

@Suite("Bad input is one clear line, and leaves nothing behind")
struct BadInputTests {
    /// The command, its exit code, and what the line says.
    private static let words: [([String], Int32, [String])] = [
        (["run", "small.yaml", "--backend", "blues"], 2, ["'blues'", "bluez"]),
        (["run", "small.yaml", "--backend", "bluetooth=gpsd"], 2, ["'gpsd'", "bluez"]),
        (["run", "small.yaml", "--backend", "hci"], 2, ["--hci TRANSPORT", "usb:0"]),
        (["run", "small.yaml", "--hci", "usb:0"], 2, ["--hci", "--backend bluetooth=hci"]),
        (["run", "small.yaml", "--backend", "hci", "--hci", "usb"], 2, ["--hci usb", "usb:0"]),
        (["record", "ble", "--hci", "usb:0", "-o", "a.yaml"], 2, ["--hci", "name the device"]),
        (["air"], 2, ["DEVICE.yaml is missing"]), (["air", "a.yaml", "--hcj", "usb:0"], 2, ["--hcj", "--hci"]),
        (["run", "small.yaml", "--profile", "ios99"], 2, ["'ios99'", "ios17"]),
        (["run", "small.yaml", "--freezer", "ice"], 2, ["'ice'", "sigstop"]),
        (["run", "small.yaml", "--memory-pressure", "much"], 2, ["'much'", "psi"]),
        (["run", "small.yaml", "--phone", "other"], 2, ["'other'", "machine"]),
        (["run", "small.yaml", "--phone", "machine"], 2, ["virtual time", "--clock real"]),
        (["run", "small.yaml", "--memory-pressure", "psi"], 2, ["virtual time", "--clock real"]),
        (["run", "small.yaml", "--clock", "sun"], 2, ["'sun'", "virtual"]),
        (["run", "small.yaml", "--frezer", "sigstop"], 2, ["--frezer", "--freezer"]),
        (["run", "small.yaml", "--seed", "seven"], 2, ["--seed seven", "whole number"]),
        (["run", "small.yaml", "--parent", "me"], 2, ["--parent me", "number of a process"]),
        (["run", "small.yaml", "--parent", "1"], 4, ["--parent 1", "did not start this program"]),
        (["run", "small.yaml", "--patience", "0"], 2, ["--patience 0", "3600"]),
        (["run", "small.yaml", "--set", "taskBuget=1m"], 2, ["'taskBuget'", "taskBudget"]),
        (["run", "small.yaml", "--set", "taskBudget=soon"], 2, ["taskBudget 'soon'", "1ms to 3660d"]),
        (["run", "small.yaml", "--set", "wakeWindow=last"], 2, ["'last'", "each, first"]),
        (["run", "small.yaml", "--set", "regionLimit=-1"], 2, ["'-1'", "0 to 10000 regions"]),
        (["run", "small.yaml", "--set", "wakeWindow"], 2, ["'wakeWindow'", "NAME=VALUE"]),
        (["rules", "--settings", "--profile", "ios99"], 2, ["'ios99'", "ios17"]),
        (["run", "small.yaml", "--gpsd", "pi:gps"], 2, ["--gpsd pi:gps", "localhost:2947"]),
        (["run", "small.yaml", "--seed"], 2, ["--seed", "needs a value"]),
        (["run"], 2, ["SCENARIO.yaml is missing"]),
        (["runn", "small.yaml"], 2, ["'runn'", "'run'"]),
        (["rules", "LAUNCH-22"], 3, ["LAUNCH-22", "LAUNCH-2"]),
        (["run", "small.yaml", "--backend", "bluez", "--clock", "virtual"], 2, ["--clock virtual", "bluez"]),
    ]

    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    @Test("An app whose Info.plist names no executable is refused with 11 (MODE-3)")
    func noExecutable() throws {
        try inFolder { program in
            try program.makeBundle(executable: false)
            try program.write("one.yaml", Scenarios.oneBundle)
            let before = program.contents
            expectRefusal(try program.run("run", "one.yaml"), code: 11, says: "Heart.app", "CFBundleExecutable")
            expectRefusal(try program.run("app", "verify", "Heart.app"), code: 11, says: "CFBundleExecutable")
            #expect(program.contents == before)
        }
    }

    @Test("A truncated YAML is refused with 11 and its place")
    func truncated() throws {
        try inFolder { program in
            try program.write("cut.yaml", "scenario: cut\napps:\n  - {scripted: com.acme.heart, na")
            expectRefusal(try program.run("run", "cut.yaml"), code: 11, says: "cut.yaml:4", "expected well-formed YAML")
            #expect(program.contents == ["cut.yaml"])
        }
    }

    @Test("An unknown key of a scenario is refused with 11, its place and the nearest key")
    func unknownKey() throws {
        try inFolder { program in
            let text = Scenarios.small.replacing("launch:", with: "lanch:")
            try program.write("key.yaml", text)
            expectRefusal(try program.run("run", "key.yaml"), code: 11, says: "key.yaml:3", "'lanch'", "launch")
            expectRefusal(try program.run("scenario", "check", "key.yaml"), code: 11, says: "key.yaml:3")
            #expect(program.contents == ["key.yaml"])
        }
    }

    @Test("A scenario that does not exist is refused with 11")
    func noScenario() throws {
        try inFolder { program in
            expectRefusal(try program.run("run", "none.yaml"), code: 11, says: "none.yaml")
            #expect(program.contents == [])
        }
    }

    @Test("A pipe, a folder without a scenario or a device in place of a file is refused, without waiting")
    func noPlainFile() throws {
        try inFolder { program in
            let pipe = program.folder.appending(path: "pipe.yaml").path
            try #require(makePipe(pipe))
            expectRefusal(try program.run("run", "pipe.yaml"), code: 11, says: "pipe.yaml: a pipe; expected")
            expectRefusal(try program.run("scenario", "check", "pipe.yaml"), code: 11, says: "a pipe")
            expectRefusal(try program.run("run", "."), code: 3, says: ".: no scenario in it")
            expectRefusal(
                try program.run("scenario", "check", "."),
                code: 11,
                says: ".: a folder; expected a readable file"
            )
            expectRefusal(try program.run("run", "/dev/zero"), code: 11, says: "/dev/zero: a device")
            try program.makeBundle()
            try FileManager.default.removeItem(at: program.folder.appending(path: "Heart.app/Info.plist"))
            try #require(makePipe(program.folder.appending(path: "Heart.app/Info.plist").path))
            expectRefusal(try program.run("app", "verify", "Heart.app"), code: 11, says: "Info.plist: a pipe")
            try #require(makePipe(program.folder.appending(path: "decisions.ndjson").path))
            expectRefusal(try program.run("why", "heart", "--run", "."), code: 11, says: "decisions.ndjson: a pipe")
        }
    }

    @Test(
        "A word that is not known is refused with 2, or 3 for a rule, and the nearest or the known ones",
        arguments: words
    )
    func unknownWord(words: [String], code: Int32, says: [String]) throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            let outcome = try program.run(Program.path, words)
            expectRefusal(outcome, code: code)
            for word in says { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
            #expect(program.contents == ["small.yaml"])
        }
    }

    @Test("Without a system bus --backend bluez is refused with 12 and what to start")
    func noBluetoothDaemon() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            let nowhere = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(program.folder.path)/no-bus"]
            let outcome = try program.run("run", "small.yaml", "--backend", "bluez", environment: nowhere)
            expectRefusal(outcome, code: 12, says: "bluetoothd", "D-Bus")
            #expect(program.contents == ["small.yaml"])
        }
    }

    @Test(
        "With a bus and no bluetoothd --backend bluez is refused with 12, and doctor says which of the two is missing",
        .enabled(if: PrivateBus.isInstalled, "needs dbus-daemon")
    )
    func busWithoutDaemon() throws {
        try inFolder { program in
            let bus = try PrivateBus()
            let place = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
            try program.write("small.yaml", Scenarios.small)
            let outcome = try program.run("run", "small.yaml", "--backend", "bluez", environment: place)
            expectRefusal(outcome, code: 12, says: "bluetoothd")
            #expect(program.contents == ["small.yaml"])
            let doctor = try program.run("doctor", environment: place).output
            #expect(doctor.contains("yes  system D-Bus: answers\n"))
            #expect(doctor.contains("no   bluetoothd: it does not run; "))
            withExtendedLifetime(bus) {}
        }
    }

    @Test(
        "--freezer cgroup2 without the right is refused with 12 and the remedy",
        .enabled(if: Program.isRoot, "needs root, to run the program as another user"),
        .enabled(if: FileManager.default.isExecutableFile(atPath: Program.setpriv), "needs setpriv"),
        .enabled(if: othersReach(Program.path), "needs a checkout that other users can reach")
    )
    func noRightToFreeze() throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("one.yaml", Scenarios.oneBundle)
            let before = program.contents
            let outcome = try program.runAsNobody("run", "one.yaml", "--freezer", "cgroup2")
            expectRefusal(outcome, code: 12, says: "--freezer cgroup2")
            #expect(program.contents == before)
            let note = try program.runAsNobody("run", "one.yaml", "--quiet", "--out", "out")
            #expect(note.code == 0)
            #expect(note.complaints.count == 1)
            #expect(note.errors.contains("note: apps are frozen with sigstop"))
        }
    }

    @Test("An unknown UIBackgroundModes value installs, with exactly one warning (MODE-1)")
    func unknownMode() throws {
        try inFolder { program in
            try program.makeBundle(modes: ["bluetooth-central", "bluetooth-centrall"])
            try program.write("one.yaml", Scenarios.oneBundle)
            let outcome = try program.run("run", "one.yaml", "--freezer", "sigstop")
            #expect(outcome.code == 0)
            #expect(outcome.complaints.count == 1)
            #expect(outcome.errors.contains("'bluetooth-centrall'"))
            let verified = try program.run("app", "verify", "Heart.app")
            #expect(verified.code == 0)
            #expect(verified.complaints.count == 1)
        }
    }

    @Test("--out on a run that is over is refused with 4, and the run stays as it is")
    func finishedRun() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            #expect(try program.run("run", "small.yaml", "--out", "out").code == 0)
            let before = try program.read("out/decisions.ndjson")
            expectRefusal(try program.run("run", "small.yaml", "--out", "out"), code: 4, says: "--out")
            #expect(try program.read("out/decisions.ndjson") == before)
        }
    }

    @Test(
        "A link in place of a file of the run is not followed, and what it points to stays as it is",
        arguments: [
            "decisions.ndjson", "outcomes.ndjson", "report.html", "trace.json", "junit.xml", "journal.sqlite.lock",
        ]
    )
    func links(name: String) throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            try program.write("precious", "keep me")
            let out = program.folder.appending(path: "out")
            try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
            let link = out.appending(path: name).path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../precious")
            let outcome = try program.run("run", "small.yaml", "--out", "out", "-q")
            #expect(outcome.code == 12, "\(outcome.errors)")
            #expect(outcome.errors.contains("out/\(name)") || outcome.errors.contains("out/journal.sqlite"))
            #expect(try program.read("precious") == "keep me")
        }
    }

    @Test(
        "A run folder that belongs to another user is refused with 12",
        .enabled(if: Program.isRoot, "needs root, to have a folder of another user's")
    )
    func othersFolder() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            let out = program.folder.appending(path: "out").path
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            let given = unsafe chown(out, 65_534, 65_534)
            #expect(given == 0)
            expectRefusal(
                try program.run("run", "small.yaml", "--out", "out"),
                code: 12,
                says: "out: belongs to user 65534"
            )
            #expect(try FileManager.default.contentsOfDirectory(atPath: out).isEmpty)
        }
    }

    @Test(
        "BTC-8: a step that sets up an accessory for a bundle that does not declare it is refused with 11 and its place"
    )
    func setUp() throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("belt.yaml", Scenarios.belt)
            try program.write(
                "set-up.yaml",
                """
                scenario: set-up
                devices: [{file: belt.yaml, name: belt}]
                apps: [{bundle: Heart.app, name: heart}]
                steps:
                  - {at: 0, launch: heart}
                  - {at: 1s, set-up: heart, device: belt}
                until: 2s

                """
            )
            expectRefusal(
                try program.run("run", "set-up.yaml"),
                code: 11,
                says: "set-up.yaml:6: no accessory can be set up for heart",
                "NSAccessorySetupKitSupports"
            )
        }
    }

    @Test("With --json an error is one object on stdout")
    func errorsAsJSON() throws {
        try inFolder { program in
            let outcome = try program.run("run", "none.yaml", "--json")
            #expect(outcome.code == 11)
            #expect(outcome.errors == "")
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
            )
            #expect(object["ok"] as? Bool == false)
            let error = try #require(object["error"] as? [String: Any])
            #expect(error["code"] as? Int == 11)
            #expect(error["kind"] as? String == "invalid-file")
            #expect((error["message"] as? String)?.contains("none.yaml") == true)
            #expect(error["hint"] as? String == "expected a readable file")
        }
    }

    @Test("With --json an error about a device, an app or a file of a scenario has its place", arguments: Placed.all)
    func places(_ wrong: Placed) throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("belt.yaml", Scenarios.belt)
            try program.write("bad.apns", "{\n \"aps\": {\"alert\": \"x\",}\n}\n")
            try program.write("wrong.yaml", "scenario: wrong\n" + wrong.text)
            let outcome = try program.run("run", "wrong.yaml", "--json")
            #expect(outcome.code == wrong.code)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
            )
            let error = try #require(object["error"] as? [String: Any])
            #expect(error["file"] as? String == wrong.file)
            #expect([error["line"] as? Int, error["column"] as? Int] == [wrong.line, wrong.column])
            let message = try #require(error["message"] as? String)
            #expect(message.hasPrefix("\(wrong.file):\(wrong.line): "), "\(message)")
        }
    }

    /// What is wrong, and where.
    struct Placed: Sendable, CustomTestStringConvertible {
        var text: String
        var code: Int32
        var file = "wrong.yaml"
        var line: Int
        var column: Int

        var testDescription: String { text }

        static let all = [
            Placed(
                text: "devices: [{phone: evening, name: t}]\napps: [{scripted: com.acme.heart}]\n",
                code: 2,
                line: 2,
                column: 11
            ),
            Placed(
                text: "apps:\n  - {bundle: Heart.app, name: m}\n  - {bundle: Heart.app, name: n}\n",
                code: 11,
                line: 4,
                column: 5
            ),
            Placed(
                text: """
                    devices: [{file: belt.yaml, name: belt}]
                    apps: [{bundle: Heart.app, name: heart}]
                    steps:
                      - {at: 1s, set-up: heart, device: belt}

                    """,
                code: 11,
                line: 5,
                column: 5
            ),
            Placed(
                text: """
                    apps: [{scripted: com.acme.heart, name: heart, push: {}}]
                    steps: [{at: 1s, push: {app: heart, file: bad.apns}}]

                    """,
                code: 11,
                file: "bad.apns",
                line: 2,
                column: 23
            ),
        ]
    }
}

/// Makes a pipe that nobody writes to; whether that could be done.
private func makePipe(_ path: String) -> Bool { unsafe mkfifo(path, 0o600) == 0 }
