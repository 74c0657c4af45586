import Foundation
import Testing
import WakeBench
import WakeModel
import WakeReports

/// Steps that reach nobody or change nothing, what a script waits for in vain, and what a run leaves out: each is told, once,
/// with why.
@Suite("Steps that come to nothing")
struct StepNoteTests {
    private static let lid = "A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B"
    private static let control = "A1B20003-5C3D-4E6F-8A9B-0C1D2E3F4A5B"
    private static let log = "A1B21002-5C3D-4E6F-8A9B-0C1D2E3F4A5B"
    private static let request = "A1B21003-5C3D-4E6F-8A9B-0C1D2E3F4A5B"

    private static let pillbox = """
        device: bluetooth-peripheral
        name: Pillbox 7
        address: "F0:9A:00:00:00:07"
        advertising: {interval: 152.5ms, services: [A1B20001-5C3D-4E6F-8A9B-0C1D2E3F4A5B], tx-power: 0, rssi: -62}
        mtu: 185
        connection: {interval: 30ms, latency: 4, supervision-timeout: 6s}
        pairing: passkey 123456
        states: [closed, open]
        variables: {pills: 7}
        records:
          intakes:
            number: {at: 0, width: 2, order: big}
            values: ["0001 08", "0002 0c", "0003 14"]
        gatt:
          - service: A1B20001-5C3D-4E6F-8A9B-0C1D2E3F4A5B
            characteristics:
              - {uuid: \(lid), properties: [read, notify], security: encrypted, value: "00"}
              - uuid: \(control)
                properties: [write, indicate]
                security: authenticated
                answers:
                  - write: "01"
                    if: {state: closed, pills: {from: 1, to: 100}}
                    do:
                      - state: open
                      - {variable: pills, add: -1}
                      - {indicate: ["80 01 01", {variable: pills, width: 1}]}
                      - {notify: "01", on: \(lid), after: 500ms}
                      - {state: closed, after: 5s}
                      - {notify: "00", on: \(lid)}
          - service: A1B21001-5C3D-4E6F-8A9B-0C1D2E3F4A5B
            characteristics:
              - {uuid: \(log), properties: [notify], security: encrypted}
              - uuid: \(request)
                properties: [write, indicate]
                security: encrypted
                answers:
                  - write: "10"
                    if: {subscribed: \(log)}
                    do:
                      - {report: intakes, on: \(log), every: 40ms, with: notify}
                      - {indicate: "80 10 01"}

        """

    /// A day of an app with a pillbox, with one thing in it that is not as it is meant.
    private static func day(
        first: String = "launch",
        entries: Int = 3,
        notified: String = "13h",
        until: String = "24h"
    ) -> String {
        """
        scenario: pill-day
        profile: ios17
        devices:
          - {file: belt.yaml, name: pillbox}
        apps:
          - scripted: com.pills.reminder
            name: pills
            modes: [bluetooth-central]
            restore-identifier: central
            uses:
              - device: pillbox
                characteristic: [\(lid), \(control), \(log), \(request)]
                script:
                  - {write: \(control), value: "01"}
                  - {await: \(control), count: 1, within: 10s}
                  - {await: \(lid), count: 2, within: 30s}
                  - {write: \(request), value: "10"}
                  - {await: \(log), count: \(entries), within: 10s}
        steps:
          - {at: 0, \(first): pills}
          - {at: 30s, home: pills}
          - {at: 3h, phone: lock}
          - {at: 7h, terminate: pills, cause: memory}
          - {at: 8h30m, notify: pillbox, characteristic: \(lid), value: "01"}
          - {at: 9h, out-of-range: pillbox}
          - {at: 12h, in-range: pillbox}
          - {at: \(notified), notify: pillbox, characteristic: \(lid), value: "01"}
          - {at: 18h, force-quit: pills}
          - {at: 20h, notify: pillbox, characteristic: \(lid), value: "01"}
        until: \(until)

        """
    }

    /// The logs of a whole run.
    private func run(_ scenario: String, _ device: String = Self.pillbox, isReal: Bool = false) throws -> RunLog {
        var log: RunLog?
        try ScenarioFolder.with(scenario, belt: device) { options in
            var options = options
            if isReal { options.clock = .real }
            try Run(options).execute()
            let file = URL(filePath: options.out + "/outcomes.ndjson")
            let written = try String(contentsOf: file, encoding: .utf8)
            // Read back, as after a kill before its reports, it says the same.
            try Run(options).execute()
            #expect(try String(contentsOf: file, encoding: .utf8) == written)
            log = try RunLog(folder: options.out)
        }
        return try #require(log)
    }

    private func notes(_ scenario: String, _ device: String = Self.pillbox) throws -> [String] {
        try run(scenario, device).notes.map(\.text)
    }

    private func notes(of steps: [String], app: String = "", _ device: String, named name: String) throws -> [String] {
        try run(of: steps, app: app, device, named: name).notes.map(\.text)
    }

    /// A run of one app that the scenario plays and one device, with these steps.
    private func run(of steps: [String], app: String = "", _ device: String, named name: String) throws -> RunLog {
        let lines = steps.map { "  - {\($0)}" }.joined(separator: "\n")
        return try run(
            """
            scenario: steps
            devices: [{file: belt.yaml, name: \(name)}]
            apps:
              - {scripted: com.acme.heart, name: heart, modes: [bluetooth-central, audio]\(app)}
            steps:
            \(lines)
            until: 1m

            """,
            device
        )
    }

    // MARK: Devices

    @Test("A device that notifies while it is out of range reaches nobody, which is said")
    func outOfRange() throws {
        let notes = try notes(Self.day(notified: "10h"))
        #expect(notes.contains("notify pillbox \(Self.lid) 01: pillbox is out of range"), "\(notes)")
    }

    @Test(
        "LAUNCH-2: a device that notifies after the app was force-quit reaches nobody, and what took the link is said"
    )
    func afterForceQuit() throws {
        let scenario = Self.day()
        let notes = try notes(scenario)
        let line =
            "notify pillbox \(Self.lid) 01: nobody is subscribed (pills lost its connection to pillbox, at T+18:00:00: "
            + "gone with the force quit, LAUNCH-2)"
        #expect(notes.filter { $0.hasPrefix("notify ") } == [line])
        #expect(try self.notes(scenario) == notes)
    }

    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics: [{uuid: 2A37, properties: [notify]}]

        """

    @Test("A device that is there already, away already or has no link is said to be")
    func already() throws {
        let steps = [
            "at: 1s, in-range: belt", "at: 2s, disconnect: belt", "at: 3s, out-of-range: belt",
            "at: 4s, out-of-range: belt", "at: 5s, in-range: belt",
        ]
        let notes = try notes(of: steps, Self.belt, named: "belt")
        #expect(
            notes.filter { $0.contains(" belt: ") } == [
                "in-range belt: it is in range already", "disconnect belt: it has no link",
                "out-of-range belt: it is out of range already",
            ]
        )
    }

    @Test("A value of a service that a fault has taken away reaches nobody, which is said")
    func goneService() throws {
        let belt = Self.belt + "faults: [{name: gone, change-services: {remove: [180D]}}]\n"
        let steps = [
            "at: 0, launch: heart", "at: 10s, arm: belt, fault: gone",
            "at: 20s, notify: belt, characteristic: 2A37, value: \"00\"", "at: 30s, note: later",
        ]
        let uses = ", uses: [{device: belt, characteristic: 2A37}]"
        let notes = try notes(of: steps, app: uses, belt, named: "belt")
        #expect(notes.contains("notify belt 2A37 00: belt does not offer that characteristic now"), "\(notes)")
        #expect(notes.last == "later")
    }

    @Test(
        "BTC-6: a link that went with the process is said where a value reaches nobody, and one that is waited for, too"
    )
    func linkOfApp() throws {
        let uses = Self.uses
        let ended = ["at: 0, launch: heart", "at: 10s, terminate: heart, cause: crash"]
        let notify = "at: 30s, notify: belt, characteristic: 2A37, value: \"00\""
        let line = "notify belt 2A37 00: nobody is subscribed"
        #expect(
            try notes(of: ended + [notify], app: uses, Self.belt, named: "belt").contains(
                "\(line) (\(Self.lost): gone with the app's process, as its manager has no restore identifier, BTC-6)"
            )
        )
        #expect(
            try notes(of: ["at: 0, launch: heart", notify], Self.belt, named: "belt").contains(line)
        )
        let unlaunched = try notes(of: [notify], app: uses, Self.belt, named: "belt")
        #expect(unlaunched.contains("\(line) (heart has not run yet)"), "\(unlaunched)")
        let off = ["at: 0, launch: heart", "at: 10s, bluetooth: off", notify]
        #expect(
            try notes(of: off, app: uses, Self.belt, named: "belt").contains("notify belt 2A37 00: Bluetooth is off")
        )
    }

    private static let uses = ", uses: [{device: belt, characteristic: 2A37}]"
    private static let lost = "heart lost its connection to belt, at T+00:00:10"

    @Test(
        "BTC-8, BTC-10, SYS-2: what took a link is said where a value reaches nobody, and not what came later",
        arguments: [
            (["phone: reboot"], "gone when the phone went off, BTC-8"),
            (["phone: shut-down"], "gone when the phone went off, BTC-8"),
            (["uninstall: heart"], "gone with the app, which was uninstalled, SYS-2"),
            (
                ["terminate: heart, cause: memory", "bluetooth: off", "bluetooth: on"],
                "gone when Bluetooth went off after the app had ended, BTC-8"
            ),
            (["terminate: heart, cause: memory", "force-quit: heart"], "gone with the force quit, LAUNCH-2"),
        ]
    )
    func whatTookTheLink(befalls: [String], words: String) throws {
        let steps =
            ["at: 0, launch: heart"] + befalls.map { "at: 10s, \($0)" }
            + ["at: 30s, notify: belt, characteristic: 2A37, value: \"00\""]
        let notes = try notes(of: steps, app: Self.uses + ", restore-identifier: central", Self.belt, named: "belt")
        let line = "notify belt 2A37 00: nobody is subscribed (\(Self.lost): \(words))"
        #expect(notes.contains(line), "\(notes)")
    }

    @Test("EA-6, LIFE-10: what took the session or the socket of an app is said where nobody has one any more")
    func whatTookOthers() throws {
        let steps = [
            "at: 0, launch: heart", "at: 10s, terminate: heart, cause: crash", "at: 30s, send: dock, hex: \"01\"",
        ]
        let sessions = "sessions: [{protocol: com.example.dock.log, text: \"LOG\"}]"
        let app = ", accessory: {protocols: [com.example.dock.log], \(sessions)}"
        let notes = try notes(of: steps, app: app, Self.dock, named: "dock")
        let session = "heart lost its session with dock, at T+00:00:10: gone with the app's process, EA-6"
        #expect(notes.contains("send dock 01: no app has a session with it (\(session))"), "\(notes)")
        let server = """
            device: call-server
            messages: lines
            plan:
              - await: HELLO

            """
        let called = try self.notes(
            """
            scenario: calls
            devices: [{file: belt.yaml, name: sip}]
            apps:
              - {scripted: com.acme.heart, name: heart, sdk: 9.3, modes: [voip], voip: {servers: sip}}
            steps:
              - {at: 0, launch: heart}
              - {at: 10s, uninstall: heart}
              - {at: 30s, voip: sip, say: hi}
            until: 1m

            """,
            server
        )
        let socket = "heart lost its socket to sip, at T+00:00:10: gone with the app, which was uninstalled, SYS-2"
        #expect(called.contains("voip sip: nobody is connected to it (\(socket))"), "\(called)")
    }

    @Test("VOIP-1: What a server says to a suspended app that has not read what came before is no event, which is said")
    func saidAgain() throws {
        let log = try run(
            """
            scenario: calls
            profile: ios17
            devices: [{file: belt.yaml, name: sip}]
            apps:
              - {scripted: com.acme.heart, name: heart, sdk: 12.0, modes: [voip], voip: {servers: sip}}
            steps:
              - {at: 0, launch: heart}
              - {at: 5s, home: heart}
              - {at: 1m, voip: sip, say: one}
              - {at: 2m, voip: sip, say: two}
              - {at: 3m, arm: sip, fault: restart}
              - {at: 4m, voip: sip, say: three}
            until: 5m

            """,
            Self.server
        )
        #expect(log.decisions.map(\.reason) == [.legacySocketsOff])
        #expect(Array(log.values.values) == ["6f6e65"])
        let untold = "no event tells of it where the app is suspended and has not read what came before (heart)"
        #expect(
            log.notes.map(\.text) == [
                "voip sip: \(untold)", "arm sip restart: \(untold)", "voip sip: nobody is connected to it",
            ]
        )
    }

    @Test("A pairing that a device rejects is said with what fails for it")
    func pairing() throws {
        let belt = Self.belt.replacing("properties: [notify]", with: "properties: [notify], security: encrypted")
            .replacing("gatt:", with: "pairing: reject\ngatt:")
        let notes = try notes(of: ["at: 0, launch: heart"], app: Self.uses, belt, named: "belt")
        #expect(notes.contains { $0.hasPrefix("belt rejects pairing: subscribe 2A37 fails: ") }, "\(notes)")
        #expect(notes.contains { $0.hasPrefix("script of heart: subscribe belt/2A37 failed: ") }, "\(notes)")
    }

    @Test("What a script writes in vain is said, with what the device answered")
    func failedWrite() throws {
        let fails = "properties: [notify, write], answers: [{write: any, do: [{error: \"0x81\"}]}]"
        let belt = Self.belt.replacing("properties: [notify]", with: fails)
        let app = Self.uses.replacing("2A37}", with: "2A37, script: [{write: 2A37, value: \"01\"}]}")
        let notes = try notes(of: ["at: 0, launch: heart"], app: app, belt, named: "belt")
        #expect(notes == ["script of heart: write 2A37 01 of belt failed: Unknown ATT error."], "\(notes)")
    }

    @Test("A sound device that is plugged in, or is not, stays so, which is said")
    func soundDevice() throws {
        let headset = """
            device: audio-device
            name: Headset
            output: headphones
            input: headset-microphone

            """
        let steps = ["at: 1s, unplug: headset", "at: 2s, plug: headset", "at: 3s, plug: headset"]
        let notes = try notes(of: steps, headset, named: "headset")
        #expect(
            notes.filter { $0.contains("plug headset") } == [
                "unplug headset: it is not plugged in", "plug headset: it is plugged in already",
            ]
        )
    }

    private static let dock = """
        device: external-accessory
        name: Serial Dock
        manufacturer: Wakebench
        model: WB-D1
        serial-number: "D1-0001"
        firmware: "1.2.0"
        hardware: "A"
        usb: {vendor: "1d6b", product: "0104", serial-number: "D1-0001"}
        protocols:
          - {protocol: com.example.dock.log, tty: {interface: 0}}

        """

    @Test("An accessory that is attached already, and one that speaks to nobody, are said to be")
    func accessory() throws {
        let steps = [
            "at: 1s, attach: dock", "at: 2s, send: dock, hex: \"01\"", "at: 3s, detach: dock", "at: 4s, detach: dock",
            "at: 5s, send: dock, hex: \"01\"",
        ]
        let notes = try notes(of: steps, Self.dock, named: "dock")
        #expect(
            notes.filter { $0.contains(" dock") } == [
                "attach dock: it is attached already", "send dock 01: no app has a session with it",
                "detach dock: it is not attached", "send dock 01: it is not attached",
            ]
        )
    }

    @Test("An accessory that is attached while Bluetooth is off is said to connect when that is on")
    func accessoryWithoutRadio() throws {
        let printer = """
            device: external-accessory
            name: Printer
            manufacturer: Wakebench
            model: P1
            serial-number: "1"
            firmware: "1"
            hardware: "A"
            bluetooth: {address: "F0:11:22:33:90:00"}
            protocols:
              - {protocol: com.example.print, rfcomm: {service: 1101, channel: 3}}

            """
        let steps = [
            "at: 1s, detach: printer", "at: 2s, bluetooth: off", "at: 3s, attach: printer", "at: 4s, attach: printer",
            "at: 5s, bluetooth: on", "at: 6s, detach: printer", "at: 7s, attach: printer",
        ]
        #expect(
            try notes(of: steps, printer, named: "printer") == [
                "attach printer: Bluetooth is off; it connects when that is on",
                "attach printer: it is attached already",
            ]
        )
    }

    @Test("What a central looks for in vain is said, with for how long")
    func centralInVain() throws {
        let reader = """
            device: bluetooth-central
            address: "F0:AA:00:00:00:01"
            script: [{connect: 180D, within: 5s}]

            """
        let notes = try notes(of: ["at: 0, launch: heart"], reader, named: "reader")
        #expect(notes.contains("script of reader: waited 5 s for 180D, which nobody advertised"), "\(notes)")
        let longer = try self.notes(
            of: ["at: 0, launch: heart"],
            reader.replacing("5s", with: "10m"),
            named: "reader"
        )
        #expect(longer == ["script of reader: still looks for 180D at the end, which nobody advertises"])
    }

    // MARK: Apps

    @Test("LIFE-1: what is done to an app that does not run changes nothing, and its row in the table says so")
    func homeOfNobody() throws {
        let log = try run(Self.day(first: "home"))
        let rows = Timeline.text(log).split(separator: "\n").map(String.init)
        let nothing = "nothing changed, as the app does not run (LIFE-1)"
        #expect(rows.filter { $0.contains("  home: \(nothing)") }.count == 2, "\(rows)")
        #expect(rows.filter { $0.contains("  terminate (memory): \(nothing)") }.count == 1, "\(rows)")
        let barred =
            "no process was there to end, and from now on the system does not launch the app until the user does"
        #expect(rows.filter { $0.contains("  force quit: \(barred) (LAUNCH-2)") }.count == 1, "\(rows)")
        let unheard = "notify pillbox \(Self.lid) 01: nobody is subscribed (pills has not run yet)"
        #expect(log.notes.filter { $0.text == unheard }.count == 3, "\(log.notes)")
    }

    @Test("What a script of an app waits for in vain is said, with how much of it came")
    func awaitInVain() throws {
        let notes = try notes(Self.day(entries: 30))
        #expect(notes.contains("script of pills: waited 10 s for 30 of \(Self.log), 3 came"), "\(notes)")
        #expect(try !self.notes(Self.day(until: "1m")).contains { $0.hasPrefix("script of pills: waited ") })
        let line = "script of pills: still awaits 30 of \(Self.log) at the end, 3 came"
        for bound in ["", ", within: 3h"] {
            let longer = Self.day(entries: 30).replacing("count: 30, within: 10s", with: "count: 30\(bound)")
            #expect(try self.notes(longer.replacing("until: 24h", with: "until: 1h")).contains(line), "\(bound)")
        }
    }

    @Test(
        "What a script awaits is said, with how much of it came, when its connection or its process ends",
        arguments: [("terminate: pills, cause: memory", "process"), ("out-of-range: pillbox", "connection")]
    )
    func awaitCutOff(step: String, what: String) throws {
        let longer = Self.day(entries: 30, until: "8h").replacing("count: 30, within: 10s", with: "count: 30")
        let notes = try notes(longer.replacing("terminate: pills, cause: memory", with: step))
        let line = "script of pills: still awaits 30 of \(Self.log) when its \(what) ends, 3 came"
        #expect(notes.filter { $0.hasPrefix("script of pills: ") } == [line], "\(notes)")
    }

    @Test("A step that only an app that runs can do is said to be about one that does not")
    func notRunning() throws {
        let steps = ["at: 1s, sound: heart, do: play", "at: 2s, measure: heart, footprint: 90MB"]
        let app = ", audio: {category: playback}"
        let notes = try notes(of: steps, app: app, Self.belt, named: "belt")
        #expect(
            notes.filter { $0.contains(" heart: ") } == [
                "sound heart: it does not run", "measure heart: it does not run",
            ]
        )
    }

    @Test("A step about an app, or the clock, looks at what the steps before it at the same instant have come to")
    func oneInstant() throws {
        let launch = ["at: 0, launch: heart", "at: 0, measure: heart, footprint: 90MB"]
        let answers = Array(repeating: "at: 1s, authorize: heart, microphone: denied", count: 2)
        let clock = [
            "at: 2s, date: 2026-03-01T00:00:00Z", "at: 2s, time-zone: \"+02:00\"", "at: 3s, date: 2026-03-01T00:00:01Z",
        ]
        let quit = ["at: 4s, force-quit: heart", "at: 4s, measure: heart, footprint: 90MB"]
        let again = ["at: 5s, launch: heart", "at: 5s, cancel: heart, notice: tea"]
        let app = ", notifications: {schedule: []}"
        #expect(
            try notes(of: launch + answers + clock + quit + again, app: app, Self.belt, named: "belt") == [
                "authorize heart: nothing changed, as its microphone is denied already",
                "date: nothing changed, as the phone's clock is set so already",
                "measure heart: it does not run",
                "cancel heart tea: it is neither scheduled nor shown",
            ]
        )
    }

    @Test("In real time, too, a step waits for a launch at its instant, also when it is read back")
    func oneInstantInRealTime() throws {
        let scenario = """
            scenario: steps
            devices: [{file: belt.yaml, name: belt}]
            apps: [{scripted: com.acme.heart, name: heart, modes: [bluetooth-central]}]
            steps: [{at: 20ms, launch: heart}, {at: 20ms, measure: heart, footprint: 90MB}]
            until: 100ms

            """
        let log = try run(scenario, Self.belt, isReal: true)
        #expect(log.notes.map(\.text) == [])
        #expect(log.moves.contains { $0.to == .active })
    }

    @Test("NOTE-6: a tap on what is not on the screen is a line with what is, and the steps after it are carried out")
    func tapOfNothing() throws {
        let steps = ["at: 1s, tap: {app: heart, notification: tea}", "at: 2s, note: later"]
        let notes = try notes(of: steps, Self.belt, named: "belt")
        #expect(notes == ["tap: the user sees no notification 'tea' of heart; the screen shows of it: none", "later"])
        let due = [
            "at: 0, launch: heart", "at: 1s, home: heart", "at: 4s, tap: {app: heart, notification: tea}",
        ]
        let app = ", notifications: {schedule: [{id: tea, body: Tea, after: 4s}]}"
        #expect(try self.notes(of: due, app: app, Self.belt, named: "belt") == [])
    }

    @Test("What a scripted app is to do and cannot, as there is nothing to do it to, is said with why")
    func nothingThere() throws {
        let app =
            ", audio: {category: playback, starts: false}, transfers: {sessions: [{id: ep}]}, "
            + "notifications: {schedule: []}, tasks: {permitted: [com.example.r], submits: []}"
        let other = "com.example.other"
        let steps = [
            "at: 0, launch: heart", "at: 10s, sound: heart, do: stop", "at: 11s, cancel: heart, notice: nosuch",
            "at: 12s, cancel: heart", "at: 13s, transfer: heart, session: ep, cancel-task: 9",
            "at: 14s, submit: heart, request: {id: \(other), kind: refresh}",
            "at: 15s, register: heart, task: \(other)",
        ]
        #expect(
            try notes(of: steps, app: app, Self.belt, named: "belt") == [
                "sound heart: its audio session is not active",
                "cancel heart nosuch: it is neither scheduled nor shown",
                "cancel heart: nothing is scheduled or shown",
                "transfer heart ep: the session has no task 9",
                "submit heart \(other): refused, as its identifier is not permitted, or the mode is missing (BGT-1)",
                "register heart \(other): refused, as its identifier is not permitted (BGT-1)",
            ]
        )
    }

    @Test("AUD-4: A sound that is so already, and one of a session that is not active, change nothing, which is said")
    func soundAgain() throws {
        let acts = ["silence", "silence", "tone", "tone", "stop", "tone", "silence"]
        let steps = acts.enumerated().map { "at: \($0 + 1)s, sound: heart, do: \($1)" }
        let app = ", audio: {category: playback}"
        #expect(
            try notes(of: ["at: 0, launch: heart"] + steps, app: app, Self.belt, named: "belt") == [
                "sound heart: nothing changed, as what it plays is silent already",
                "sound heart: nothing changed, as what it plays can be heard already",
                "sound heart: its audio session is not active", "sound heart: its audio session is not active",
            ]
        )
    }

    private static let headset = """
        device: audio-device
        name: Headset
        output: headphones
        faults: [{name: pulled-out, removed: true}, {name: xrun, underruns: 5}]

        """
    private static let server = """
        device: call-server
        messages: lines
        plan: [{await: HELLO}]
        faults: [{name: restart, reset: true}]

        """
    private static let files = """
        device: transfer-server
        host: podcasts.example.com
        files: [{path: /1.mp3, size: 60MB}]
        faults: [{name: tunnel, cut: true}]

        """
    private static let faultyDock = """
        device: external-accessory
        name: Dock
        manufacturer: W
        model: D
        serial-number: "1"
        firmware: "1"
        hardware: "A"
        usb: {vendor: "1d6b", product: "0104", serial-number: "D1"}
        protocols: [{protocol: com.example.dock.log, tty: {interface: 0}}]
        faults: [{name: pulled, unplug-after-received: 2000}, {name: jam, stall: 45s}]

        """
    private static let track = """
        device: location-track
        route:
          - {latitude: 59.3310, longitude: 18.0590, speed: 30km/h, wait: 2000s}
          - {latitude: 59.3348, longitude: 18.0630}
        faults: [{name: tunnel, lost-fix: 90s}]

        """

    private static let beacon = """
        device: ibeacon
        address: "C2:00:00:00:00:01"
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        major: 1
        minor: 7
        distance: [{metres: 2}]
        faults: [{name: mute, silent: 1m}, {name: shelf, weaken: 20}]

        """

    @Test("A place and a track that no app asks for are said to be, and a fault of a beacon that is out of range")
    func placesOfNobody() throws {
        let steps = ["at: 2s, position: {latitude: 1, longitude: 2.5}", "at: 3s, play: walk"]
        let unasked = "no app asks for the position now"
        let lines = [
            "position 1.0,2.5: \(unasked); the phone is there all the same",
            "play walk: \(unasked); the phone moves on it all the same",
        ]
        let launched = ["at: 0, launch: heart"] + steps
        #expect(try notes(of: launched, Self.track, named: "walk") == lines)
        let asks = ", location: {authorization: always, updates: true}"
        #expect(try notes(of: launched, app: asks, Self.track, named: "walk") == [])
        let away = ["at: 1s, out-of-range: shop", "at: 2s, arm: shop, fault: mute"]
        let unheard = "out-of-range shop: no app asks for beacons like it now; it is out of range all the same"
        #expect(try notes(of: away, Self.beacon, named: "shop") == [unheard, "arm shop mute: it is out of range"])
        let beacons = "beacons: [{identifier: shop, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0}]"
        let monitors = ", location: {authorization: always, \(beacons)}"
        let muted = ["at: 0, launch: heart", "at: 5s, arm: shop, fault: mute", "at: 9s, out-of-range: shop"]
        #expect(try notes(of: muted, app: monitors, Self.beacon, named: "shop") == [])
    }

    @Test(
        "A fault that finds nothing to happen to is said to, and one that waits is not",
        arguments: [
            (Self.headset, "pulled-out", "it is not plugged in"), (Self.headset, "xrun", "no app plays or records"),
            (Self.server, "restart", "nobody is connected to it"),
            (Self.files, "tunnel", "no transfer is connected to it"),
            (Self.faultyDock, "jam", "no app has a session with it"), (Self.faultyDock, "pulled", nil),
            (Self.track, "tunnel", "no app asks for the position now"),
            (Self.beacon, "mute", "no app asks for beacons like it now"), (Self.beacon, "shelf", nil),
        ] as [(String, String, String?)]
    )
    func faultInVain(device: String, fault: String, why: String?) throws {
        let notes = try notes(of: ["at: 2s, arm: thing, fault: \(fault)"], device, named: "thing")
        #expect(notes == (why.map { ["arm thing \(fault): \($0)"] } ?? []))
    }

    @Test("A fault that lasts, and is armed again, is said to change nothing")
    func faultAgain() throws {
        let faults = "faults: [{name: gone, change-services: {remove: [180D]}}, {name: renamed, change-name: Belt 2}]\n"
        let steps = ["gone", "gone", "renamed", "renamed"].enumerated()
            .map { "at: \($0 + 1)s, arm: belt, fault: \($1)" }
        #expect(
            try notes(of: steps, Self.belt + faults, named: "belt") == [
                "arm belt gone: nothing changed, as it has these services already",
                "arm belt renamed: nothing changed, as it has that name already",
            ]
        )
        let weaker = (1...2).map { "at: \($0)s, arm: shop, fault: shelf" }
        let line = "arm shop shelf: nothing changed, as it is so already"
        #expect(try notes(of: weaker, Self.beacon, named: "shop") == [line])
    }

    @Test("A clock that is set as it is says that nothing changed, and one that is set otherwise does not")
    func clockAgain() throws {
        let steps = ["at: 1s, time-zone: \"+00:00\"", "at: 2s, time-zone: \"+02:00\"", "at: 3s, time-zone: \"+02:00\""]
        let notes = try notes(of: steps, Self.belt, named: "belt")
        let line = "time-zone: nothing changed, as the phone's clock is set so already"
        #expect(notes == [line, line])
    }

    @Test("SYS-1: nobody uninstalls an app, sets the clock or answers for an app on a phone that is off")
    func phoneOff() throws {
        let steps = [
            "at: 1s, phone: shut-down", "at: 2s, uninstall: heart", "at: 3s, date: 2026-03-01T00:00:00Z",
            "at: 4s, time-zone: \"+02:00\"", "at: 5s, authorize: heart, location: always",
            "at: 6s, authorize: heart, microphone: denied", "at: 7s, phone: boot", "at: 8s, time-zone: \"+02:00\"",
            "at: 9s, authorize: heart, microphone: denied",
        ]
        let log = try run(of: steps, app: ", audio: {category: record}", Self.belt, named: "belt")
        let line = "authorize heart: nothing changed, as the phone is off (SYS-1)"
        #expect(log.notes.map(\.text) == [line, line])
        let found = log.deeds.filter { $0.deed == .foundPhoneOff }
        #expect(found.map(\.at.nanoseconds) == [2_000_000_000, 3_000_000_000, 4_000_000_000])
    }

    @Test("An answer that the user gives an app again changes nothing, which is said, and the app is not told of it")
    func answeredAgain() throws {
        let app = ", location: {authorization: always, significant: true}, audio: {category: record}"
        let answers = ["location: denied", "microphone: denied", "background-location: when-in-use"]
        let steps = answers.enumerated().flatMap { place, answer in
            (0...1).map { "at: \(10 * place + 5 * $0 + 5)s, authorize: heart, \(answer)" }
        }
        let log = try run(of: ["at: 0, launch: heart"] + steps, app: app, Self.belt, named: "belt")
        #expect(
            log.notes.map(\.text) == [
                "authorize heart: nothing changed, as its location authorization is so already",
                "authorize heart: nothing changed, as its microphone is denied already",
            ]
        )
        #expect(log.deeds.filter { $0.deed == .foundItSo }.map(\.at.nanoseconds) == [30_000_000_000])
        for kind in [EventKind.authorizationChanged, .microphoneAnswered] {
            let decided = log.decisions.filter { $0.kind == kind.word && $0.at.nanoseconds >= 5_000_000_000 }
            #expect(decided.count == 1, "\(kind)")
        }
    }

    @Test("XFER-3: A step about a session that was invalidated, or that the app has, is said to change nothing")
    func sessionsOfNobody() throws {
        let app = ", transfers: {sessions: [{id: ep}]}"
        let steps = ["invalidated", "invalidated", "made-again", "made-again"].enumerated()
            .map { "at: \($0 + 5)s, transfer: heart, session: ep, session-is: \($1)" }
        let gone = "transfer heart ep: the app has no such session; it was invalidated, or is not made yet"
        #expect(
            try notes(of: ["at: 0, launch: heart"] + steps, app: app, Self.belt, named: "belt") == [
                gone, "transfer heart ep: the app has this session already",
            ]
        )
    }

    // MARK: The run

    @Test("EA-2: What an accessory sends to a suspended app is the value of the event, in the log and in the table")
    func valueOfAccessory() throws {
        let log = try run(
            """
            scenario: talk
            devices: [{file: belt.yaml, name: dock}]
            apps:
              - scripted: com.acme.log
                name: log
                modes: [external-accessory]
                accessory: {protocols: [com.example.dock.log], sessions: [{protocol: com.example.dock.log}]}
            steps:
              - {at: 0, launch: log}
              - {at: 5s, home: log}
              - {at: 30s, send: dock, hex: "deadbeef"}
            until: 1m

            """,
            Self.dock
        )
        #expect(Array(log.values.values) == ["deadbeef"])
        let rows = Timeline.text(log).split(separator: "\n").filter { $0.contains("accessory-data") }
        #expect(rows.count == 1 && rows.allSatisfy { $0.hasSuffix("  deadbeef") }, "\(rows)")
    }

    @Test("Steps that come after the end of the run are one note: how many, and the line of the first")
    func untilTooEarly() throws {
        let scenario = Self.day(until: "1h")
        let lines = scenario.split(separator: "\n", omittingEmptySubsequences: false)
        let line = try #require(lines.firstIndex { $0.contains("phone: lock") }) + 1
        #expect(try notes(scenario).contains("until: 1h leaves out 8 steps, the first is line \(line)"))
        #expect(try !notes(Self.day()).contains { $0.hasPrefix("until: ") })
    }

    @Test("Rounds of a step that come after the end of the run are left out of it, too")
    func roundsLeftOut() throws {
        let steps = ["at: 10s, every: 30s, times: 5, notify: belt, characteristic: 2A37, value: \"00\""]
        let notes = try notes(of: steps, Self.belt, named: "belt")
        #expect(
            notes.filter { $0.hasPrefix("until: ") } == ["until: 1m leaves out 3 rounds of 1 step, the first is line 6"]
        )
        #expect(notes.filter { $0.hasPrefix("notify ") }.count == 2)
    }
}
