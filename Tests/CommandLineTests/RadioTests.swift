import BlueZStandIn
import ChildProcess
import Foundation
import Testing

@Suite("The programs of Scripts/radio")
struct RadioTests {
    /// A program in a folder of a name and a text, in place of those of Scripts/radio; its folder is named to wakebench.
    private func withProgram(
        _ name: String,
        _ text: String,
        _ body: (Program, [String: String]) throws -> Void
    ) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("small.yaml", Scenarios.small)
        try program.write("radio/\(name)", "#!/bin/bash\n\(text)\n", executable: true)
        try body(program, ["WAKEBENCH_RADIO": program.folder.path + "/radio"])
    }

    @Test("What keeps org.bluez of a run's own from its adapters is said with 12, and nothing is left")
    func failure() throws {
        try withProgram("bridge", "echo 'radio: usb:0: cannot be opened; plug it in' >&2; exit 12") { program, place in
            let before = program.contents
            let words = ["run", "small.yaml", "--backend", "bluetooth=hci", "--hci", "usb:0"]
            let outcome = try program.run(Program.path, words, environment: place)
            expectRefusal(outcome, code: 12, says: "bluetooth=hci: usb:0: cannot be opened; plug it in")
            #expect(program.contents == before)
        }
    }

    @Test("It is given each transport, a place for pairings, and descriptors that end with the run")
    func words() throws {
        try withProgram("bridge", "echo \"radio: $*\" >&2; exec 3>&-; exit 12") { program, place in
            let transports = ["--hci", "usb:0", "--hci", "tcp-client:h:1"]
            let words = ["run", "small.yaml", "--backend", "hci", "--out", "o"] + transports
            let outcome = try program.run(Program.path, words, environment: place)
            #expect(outcome.code == 12)
            let said = try #require(outcome.errors.split(separator: "\n").last)
            #expect(said.contains(" --ready 3 --parent 4 --keys o/radio --hci usb:0 --hci tcp-client:h:1"))
        }
    }

    @Test("Without them a run with bluetooth=hci, a live check and air are refused with 12 and the remedy")
    func missing() throws {
        try withProgram("none", "") { program, place in
            let lines = [
                ["run", "small.yaml", "--backend", "hci", "--hci", "usb:0"],
                ["device", "check", "--live", "Belt", "--hci", "usb:0"],
                ["device", "fuzz", "Belt", "--hci", "usb:0"],
                ["record", "ble", "Belt", "-o", "belt.yaml", "--hci", "usb:0"],
                ["air", "small.yaml", "--hci", "usb:0"],
            ]
            for words in lines {
                let outcome = try program.run(Program.path, words, environment: place)
                expectRefusal(outcome, code: 12, says: "Scripts/radio", "WAKEBENCH_RADIO")
            }
            let doctor = try program.run("doctor", environment: place)
            #expect(doctor.output.contains("no   Bluetooth by HCI: Scripts/radio"))
        }
    }

    @Test("air becomes its program: the words are handed over as they are, and its exit code is air's")
    func air() throws {
        try withProgram("air", "printf '%s|' \"$@\"; exit 7") { program, place in
            let words = ["air", "belt.yaml=the belt", "--hci=usb:0", "--hci", "pty:", "--fault", "a b"]
            let outcome = try program.run(Program.path, words, environment: place)
            #expect(outcome.code == 7)
            #expect(outcome.output == "belt.yaml=the belt|--hci=usb:0|--hci|pty:|--fault|a b|")
        }
    }

    /// Plays a scenario of one app, a ThermometerPeripheral, beside an org.bluez that stands in for that of Scripts/radio.
    ///
    /// - Parameter bridge: a script; `$bus` is the socket of the bus.
    private func play(
        _ bluez: StandInBlueZ,
        on bus: PrivateBus,
        seconds: Int,
        by bridge: String,
        _ body: (Program) throws -> Void
    ) throws {
        try bluez.appear(powered: true)
        let socket = try #require(bus.address.wholeMatch(of: /unix:path=([^,]+).*/)).output.1
        try withProgram("bridge", "bus=\(socket)\n\(bridge)") { program, place in
            let app = Program.repository.appending(path: ".build/debug/ThermometerPeripheral").path
            try program.makeBundle(modes: ["bluetooth-peripheral"], script: "exec \(app)")
            let text = "apps: [{bundle: Heart.app, name: a}]\nsteps: [{at: 0, launch: a}]\nuntil: \(seconds)s\n"
            try program.write("one.yaml", "scenario: one\n" + text)
            let ended = Pipe()
            let run = ChildProcess(
                Program.path,
                ["run", "one.yaml", "--backend", "hci", "--hci", "usb:0", "--out", "o"]
            )
            run.folder = program.folder
            run.environment.merge(place) { $1 }
            run.standardOutput = .pipe(ended)
            run.standardError = .pipe(ended)
            try run.run()
            try bus.wait(forEndOf: ended.fileHandleForReading.fileDescriptor)
            run.waitUntilExit()
            #expect(run.terminationStatus == 0)
            try body(program)
        }
    }

    @Test(
        "An app that would be a peripheral is told .unsupported on an adapter that cannot be one, and a note says why",
        .enabled(if: PrivateBus.isInstalled, "needs dbus-daemon")
    )
    func centralAlone() throws {
        let bus = try PrivateBus()
        let bluez = StandInBlueZ(bus: bus)
        bluez.offersPeripheralRole = false
        let bridge = "ln -s $bus \"$2/bus\"; echo >&3; exec 3>&-; exec cat <&4"
        try play(bluez, on: bus, seconds: 2, by: bridge) { program in
            let log = try program.read("o/apps/com.acme.heart.log")
            #expect(log.contains("didUpdateState unsupported"))
            let outcomes = try program.read("o/outcomes.ndjson")
            let note = "its peripheral manager is unsupported: /org/bluez/hci0 cannot be a peripheral:"
            #expect(outcomes.contains("\(note) the radio's program offers no "))
        }
    }

    @Test(
        "A radio's program that ends again and again is noted once, with its first return and its last words",
        .enabled(if: PrivateBus.isInstalled, "needs dbus-daemon")
    )
    func endsAgain() throws {
        let bus = try PrivateBus()
        // The folder of the bus is the run's, so that it outlives the program.
        let bridge = """
            ln -sfn $bus "$2/bus"
            echo began >>"$WAKEBENCH_RADIO/../began"
            echo >&3
            echo "radio: usb:0: unplugged"
            exit 12
            """
        try play(StandInBlueZ(bus: bus), on: bus, seconds: 3, by: bridge) { program in
            let began = try program.read("began").split(separator: "\n").count
            #expect(began >= 3)
            let lines = try program.read("o/outcomes.ndjson").split(separator: "\n")
            var notes = lines.filter { $0.contains("bluetooth=hci:") }
            // The last line may come before the end, and stands by itself then.
            var last = ": usb:0: unplugged"
            if notes.first?.contains("bluetooth=hci: usb:0: unplugged") == true {
                notes.removeFirst()
                last = ""
            }
            try #require(notes.count == 2)
            let end = "bluetooth=hci: the radio's program ended with 12\(last); it is started again each time"
            #expect(notes[0].contains(end))
            #expect(notes[1].contains("bluetooth=hci: the radio's program is there again"))
        }
    }

    @Test("A signal ends the wait for the radio's program, with 130")
    func interrupted() throws {
        try withProgram("bridge", "kill -INT $PPID; exec sleep 600") { program, place in
            let words = ["device", "fuzz", "Belt", "--hci", "usb:0"]
            let outcome = try program.run(Program.path, words, environment: place)
            expectRefusal(outcome, code: 130, says: "wakebench: interrupted before Belt was reached")
        }
    }
}
