import Foundation
import Testing

@Suite("What an app has lost, as the program tells it")
struct LossTests {
    private static func day(restores: Bool, then steps: String = "") -> String {
        """
        scenario: my-phone
        devices:
          - {file: belt.yaml, name: belt}
        apps:
          - scripted: com.example.pulse
            name: pulse
            modes: [bluetooth-central]\(restores ? "\n    restore-identifier: central" : "")
            uses: [{device: belt, characteristic: 2A37}]
        steps:
          - {at: 0, launch: pulse}
          - {at: 2s, home: pulse}
          - {at: 1m, notify: belt, characteristic: 2A37, value: "0051"}
          - {at: 2m, terminate: pulse, cause: memory}
          - {at: 3m, notify: belt, characteristic: 2A37, value: "0052"}
        \(steps)expect:
          - {app: pulse, verdict: resume, count: 1}
          - {app: pulse, verdict: relaunch, count: 1}

        """
    }

    private static let swiped = """
          - {at: 4m, force-quit: pulse}
          - {at: 5m, notify: belt, characteristic: 2A37, value: "0053"}

        """

    /// A run in the folder `out`, and what it printed.
    private func run(
        _ scenario: String,
        device: String = ServedBench.belt,
        _ body: (Program, Program.Outcome) throws -> Void
    ) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("belt.yaml", device)
        try program.write("phone.yaml", scenario)
        try body(program, try program.run("run", "phone.yaml", "--out", "out"))
    }

    private static let bundle = "com.example.pulse"

    @Test("BTC-6: why of an app without a restore identifier says that its link went with its process, and what to do")
    func noRestoreIdentifier() throws {
        try run(Self.day(restores: false)) { program, run in
            #expect(run.code == 7, "\(run.errors)")
            let unheard =
                "notify belt 2A37 0052: nobody is subscribed "
                + "(pulse lost its connection to belt, at T+00:02:00: gone with the app's process, as its manager has no "
                + "restore identifier, BTC-6)"
            #expect(run.output.contains(unheard), "\(run.output)")
            let why = try program.run("why", "pulse", "--run", "out")
            #expect(why.code == 0)
            let remedy =
                "Give the central manager CBCentralManagerOptionRestoreIdentifierKey, and the same on every launch"
            #expect(
                why.output.hasPrefix(
                    """
                    \(Self.bundle)  was ended to free memory, at T+00:02:00 (x-1); no event for it came since
                      lost     its connection to belt with its subscription to belt/2A37, at T+00:02:00, when it was ended \
                    to free memory (x-1): gone with the app's process, as its manager has no restore identifier   \
                    [BTC-6, documented]
                      try      \(remedy)

                    """
                ),
                "\(why.output)"
            )
            let answer = try program.run("can-wake", "pulse", "characteristic-notified", "--run", "out")
            #expect(answer.code == 7)
            #expect(
                answer.output.hasPrefix("no: characteristic-notified belt/2A37: deny, NoRestoreIdentifier\n"),
                "\(answer.output)"
            )
            #expect(answer.output.components(separatedBy: remedy).count == 2, "\(answer.output)")
        }
    }

    private static let sensor = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:66"
        gatt:
          - service: 180D
            characteristics: [{uuid: 2A37, properties: [notify]}, {uuid: 2A3F, properties: [notify]}]
          - service: 180F
            characteristics: [{uuid: 2A19, properties: [notify]}]
          - service: 1801
            characteristics: [{uuid: 2A05, properties: [indicate]}]
        faults:
          - {name: gone, change-services: {remove: [180D]}}

        """

    /// A run of an app, or several, that subscribe to all that the sensor has.
    private static func sensing(_ app: String, _ steps: String...) -> String { sensing(app, steps) }

    private static func sensing(_ app: String, _ steps: [String]) -> String {
        """
        scenario: sensing
        devices: [{file: belt.yaml, name: belt}]
        apps:
          - scripted: \(bundle)
            name: pulse
            modes: [bluetooth-central]
            uses: [{device: belt, characteristic: [2A37, 2A3F, 2A19]}]\(app)
        steps:
          - {at: 0, launch: pulse}
          - {at: 3s, home: pulse}
        \(steps.map { "  - {\($0)}\n" }.joined())until: 1h

        """
    }

    @Test("BTC-6: every subscription is named with its link, of each app of a group, whether a value came or not")
    func everySubscription() throws {
        let scenario = Self.sensing("\n    count: 2", "at: 1m, terminate: pulse, cause: memory")
        try run(scenario, device: Self.sensor) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let lost = "its connection to belt with its subscriptions to belt/2A37, belt/2A3F, belt/2A19, at T+00:01"
            for app in ["pulse.1", "pulse.2"] {
                let why = try program.run("why", app, "--run", "out").output
                #expect(why.contains("\n  lost     \(lost)"), "\(why)")
            }
        }
    }

    @Test("BTC-6, LIFE-5: what an app lost to its update is said with it, by why and by can-wake")
    func update() throws {
        let notify = { (minute: Int) in "at: \(minute)m, notify: belt, characteristic: 2A37, value: \"01\"" }
        let scenario = Self.sensing("", notify(1), "at: 2m, terminate: pulse, cause: update", notify(3))
        try run(scenario, device: Self.sensor) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let why = try program.run("why", "pulse", "--run", "out").output
            let end = "\(Self.bundle)  was ended for an update, at T+00:02:00 (x-1); no event for it came since\n"
            #expect(why.hasPrefix(end), "\(why)")
            let answer = try program.run("can-wake", "pulse", "characteristic-notified", "--run", "out")
            #expect(answer.code == 7)
            #expect(answer.output.hasPrefix("no: characteristic-notified belt/2A37: deny, NoRestoreIdentifier\n"))
            let gone = "at T+00:02:00, when it was ended for an update (x-1): gone with the app's process"
            for text in [why, answer.output] { #expect(text.contains(gone), "\(text)") }
        }
    }

    @Test("BT-1: subscriptions go with their service, and can-wake says so of what they were to")
    func goneService() throws {
        let value = "at: 1m, notify: belt, characteristic: 2A37, value: \"01\""
        let scenario = Self.sensing("\n    restore-identifier: central", value, "at: 2m, arm: belt, fault: gone")
        try run(scenario, device: Self.sensor) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let gone = "gone with its service, which the peripheral took back"
            let lost = "a subscription to belt/2A37, a subscription to belt/2A3F, at T+00:02:00: \(gone)"
            let why = try program.run("why", "pulse", "--run", "out").output
            #expect(why.contains("\n  lost     \(lost)   [BT-1, documented]\n"), "\(why)")
            let answer = try program.run("can-wake", "pulse", "notify", "--run", "out")
            #expect(answer.code == 7)
            let because = "the app is registered for it no more: \(gone), at T+00:02:00   [BT-1, documented]"
            #expect(answer.output.contains("\n  because  NoRegistration   \(because)\n"), "\(answer.output)")
            #expect(!answer.output.contains("Let an app scan"), "\(answer.output)")
        }
    }

    @Test("BTC-11: can-wake of a device that is out of range says that the app waits for it")
    func outOfRange() throws {
        let value = "at: 1m, notify: belt, characteristic: 2A37, value: \"01\""
        let scenario = Self.sensing("\n    restore-identifier: central", value, "at: 2m, out-of-range: belt")
        try run(scenario, device: Self.sensor) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let answer = try program.run("can-wake", "pulse", "notify", "--run", "out")
            #expect(answer.code == 7)
            for line in [
                "  because  NoRegistration   the app is registered for it no more: gone with the link, at T+00:02:00   ",
                "  waits    for belt (pending-connect since T+00:02:00), out of range since T+00:02:00",
            ] { #expect(answer.output.contains("\n\(line)"), "\(answer.output)") }
            #expect(!answer.output.contains("Let an app scan"), "\(answer.output)")
        }
    }

    @Test("LOC-5: why of an app that was denied its location after it asked for a region agrees with can-wake")
    func denied() throws {
        let scenario = """
            scenario: denied
            apps:
              - scripted: com.example.fence
                name: fence
                location: {regions: [{identifier: home, latitude: 48.1, longitude: 11.5, radius: 150m}]}
            steps:
              - {at: 0, position: {latitude: 48.2, longitude: 11.5}}
              - {at: 1s, launch: fence}
              - {at: 5s, home: fence}
              - {at: 1m, enter: home}
              - {at: 3m, authorize: fence, location: denied}
              - {at: 5m, terminate: fence, cause: memory}
            until: 8m

            """
        try run(scenario) { program, _ in
            let why = try program.run("why", "fence", "--run", "out").output
            let waits = "  waits    for home (region since T+00:00:01), the user does not allow it in this state; "
            let advice = "`authorize: APP, location: always`"
            #expect(why.contains(waits) && why.contains(advice), "\(why)")
            let answer = try program.run("can-wake", "fence", "region-entered", "--run", "out")
            #expect(answer.code == 7 && answer.output.contains(": deny, NotAuthorized\n"), "\(answer.output)")
            #expect(answer.output.contains(advice), "\(answer.output)")
        }
    }

    @Test("LAUNCH-2: can-wake of an app that was swiped away says what why says, whatever words name the event")
    func forceQuit() throws {
        try run(Self.day(restores: true, then: Self.swiped)) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let unheard =
                "notify belt 2A37 0053: nobody is subscribed (pulse lost its connection to belt, at T+00:04:00: gone with "
                + "the force quit, LAUNCH-2)"
            #expect(run.output.contains(unheard), "\(run.output)")
            let why = try program.run("why", "pulse", "--run", "out").output
            let reason = "  because  ForceQuit   only a user launch or a reboot clears this   [LAUNCH-2, documented]\n"
            let lost =
                "  lost     its connection to belt with its subscription to belt/2A37, at T+00:04:00, when it was swiped "
                + "away by the user (x-2): gone with the force quit   [LAUNCH-2, documented]\n"
            #expect(why.contains(reason), "\(why)")
            #expect(why.contains(lost), "\(why)")
            let ways = [
                ["characteristic-notified"], ["characteristic-notified", "belt/2A37"],
                ["characteristic-notified belt/2A37"], ["belt/2A37"], ["belt"], ["2a37"], ["notified"], ["notify"],
                ["didUpdateValueFor"],
            ]
            for words in ways {
                for app in ["pulse", Self.bundle] {
                    let answer = try program.run(Program.path, ["can-wake", app] + words + ["--run", "out"])
                    #expect(answer.code == 7, "\(words): \(answer.errors)")
                    let first = "no: characteristic-notified belt/2A37: deny, ForceQuit\n"
                    #expect(answer.output.contains(first), "\(words): \(answer.output)")
                    #expect(answer.output.contains("[LAUNCH-2, documented]"), "\(words): \(answer.output)")
                    #expect(answer.output.contains(lost.dropLast()), "\(words): \(answer.output)")
                    #expect(!answer.output.contains("scan"), "\(words): \(answer.output)")
                }
                let same = try program.run(Program.path, ["why", "pulse"] + words + ["--run", "out"])
                #expect(same.code == 0, "\(words): \(same.errors)")
                #expect(same.output.contains(lost.dropLast()), "\(words): \(same.output)")
            }
        }
    }

    @Test("LAUNCH-3, BTC-8: why and can-wake agree on what lifts a force quit's bar", arguments: ["ios17", "ios26"])
    func lifted(profile: String) throws {
        let region = "{identifier: home, latitude: 48.1, longitude: 11.5, radius: 150m}"
        let scenario = """
            scenario: swiped
            profile: \(profile)
            devices: [{file: belt.yaml, name: belt}]
            apps:
              - scripted: com.example.place
                name: place
                modes: [location]
                location: {regions: [\(region)]}
              - scripted: com.example.pulse
                name: pulse
                modes: [bluetooth-central]
                restore-identifier: central
                accessory-setup: true
                uses: [{device: belt, characteristic: 2A37}]
            steps:
              - {at: 0, set-up: pulse, device: belt}
              - {at: 1s, launch: [place, pulse]}
              - {at: 2s, home: pulse}
              - {at: 10s, enter: home}
              - {at: 20s, exit: home}
              - {at: 1m, disconnect: belt}
              - {at: 2m, out-of-range: belt}
              - {at: 3m, force-quit: [place, pulse]}
            until: 5m

            """
        let isNew = profile == "ios26"
        try run(scenario, device: Self.sensor) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            for (app, kind, rule, lifts) in [
                ("place", "region-entered", "LAUNCH-3", true), ("pulse", "peripheral-connected", "BTC-8", isNew),
            ] {
                let why = try program.run("why", app, "--run", "out").output
                let but = lifts ? ", but for what lifts it below" : ""
                let clears = "only a user launch or a reboot clears this\(but)   [LAUNCH-2, "
                #expect(why.contains("\n  because  ForceQuit   \(clears)"), "\(why)")
                #expect(why.contains(", which lifts the bar of the force quit   [\(rule), ") == lifts, "\(why)")
                let answer = try program.run("can-wake", app, kind, "--run", "out")
                #expect(answer.code == (lifts ? 0 : 7), "\(answer.output)")
                #expect(answer.output.hasPrefix(lifts ? "yes: \(kind) " : "no: \(kind) "), "\(answer.output)")
                #expect(try program.run("why", app, rule, "--run", "out").code == (lifts ? 0 : 3))
            }
        }
    }

    @Test(
        "SYS-1, LAUNCH-5: why says what can-wake says of a phone that is off, or was not unlocked since its restart",
        arguments: [("shut-down", "PhoneIsOff", "SYS-1"), ("reboot", "BeforeFirstUnlock", "LAUNCH-5")]
    )
    func unready(change: String, reason: String, rule: String) throws {
        let scenario = """
            scenario: unready
            apps:
              - scripted: com.example.place
                name: place
                modes: [location]
                location: {regions: [{identifier: home, latitude: 48.1, longitude: 11.5, radius: 150m}]}
            steps:
              - {at: 0, launch: place}
              - {at: 2s, home: place}
              - {at: 10s, enter: home}
              - {at: 20s, exit: home}
              - {at: 2m, phone: \(change)}
            until: 5m

            """
        try run(scenario) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let why = try program.run("why", "place", "--run", "out").output
            #expect(why.contains("\n  because  \(reason)   since T+00:02:00: the phone "), "\(why)")
            #expect(why.contains("   [\(rule), "), "\(why)")
            #expect(why.contains("\n  waits    for home (region since T+00:00:00)\n"), "\(why)")
            let answer = try program.run("can-wake", "place", "region-entered", "--run", "out").output
            #expect(answer.hasPrefix("no: region-entered home: deny, \(reason)\n"), "\(answer)")
            for word in [reason, rule] {
                #expect(try program.run("why", "place", word, "--run", "out").output == why, "\(word)")
            }
        }
    }

    @Test("BTC-10: what waits while Bluetooth is off says so, as can-wake does", arguments: [true, false])
    func waitsForBluetooth(isOnAgain: Bool) throws {
        let on = isOnAgain ? ["at: 5m, bluetooth: on"] : []
        let steps = ["at: 1m, out-of-range: belt", "at: 2m, terminate: pulse, cause: memory"]
        let off = ["at: 4m, bluetooth: off-in-control-centre"]
        let scenario = Self.sensing("\n    restore-identifier: central", steps + off + on)
        try run(scenario, device: Self.sensor) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let why = try program.run("why", "pulse", "--run", "out").output
            #expect(why.contains("\n  waits    for belt (pending-connect since "), "\(why)")
            #expect(why.contains(", Bluetooth is off since T+00:04:00   [BTC-10, ") == !isOnAgain, "\(why)")
            let answer = try program.run("can-wake", "pulse", "peripheral-connected", "--run", "out")
            #expect(answer.code == (isOnAgain ? 0 : 7), "\(answer.output)")
            #expect(answer.output.contains(", BluetoothOff\n") == !isOnAgain, "\(answer.output)")
            #expect(try program.run("why", "pulse", "BluetoothOff", "--run", "out").code == (isOnAgain ? 3 : 0))
        }
    }

    @Test("NOTE-4: why of an app that took its notification back says so", arguments: ["", ", notice: tea"])
    func cancelledNotification(which: String) throws {
        let scenario = """
            scenario: reminders
            apps:
              - scripted: com.example.n
                name: n
                notifications: {schedule: [{id: tea, title: T, body: b, after: 4h}]}
            steps:
              - {at: 0, launch: n}
              - {at: 1m, cancel: n\(which)}
              - {at: 2m, home: n}
            until: 5m

            """
        try run(scenario) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let why = try program.run("why", "n", "--run", "out").output
            let lost = "its notification tea, at T+00:01:00: given up by the app itself   [BT-1, documented]"
            #expect(why.contains("\n  lost     \(lost)\n"), "\(why)")
        }
    }

    @Test("VOIP-7: a socket that its server closed is lost, and no word comes on it", arguments: ["5s", "150s"])
    func closedSocket(left: String) throws {
        let server = """
            device: call-server
            messages: lines
            plan:
              - await: HELLO
            faults:
              - {name: restart, reset: true}

            """
        let scenario = """
            scenario: vclosed
            profile: ios8
            devices: [{file: belt.yaml, name: sip}]
            apps:
              - scripted: com.example.v
                name: v
                sdk: 9.3
                modes: [voip]
                voip: {servers: sip}
            steps:
              - {at: 0, launch: v}
              - {at: \(left), home: v}
              - {at: 1m, voip: sip, say: hello}
              - {at: 2m, voip: sip, act: close}
              - {at: 3m, voip: sip, say: hello}
              - {at: 4m, arm: sip, fault: restart}
            until: 5m

            """
        // An app that runs finds the end itself, and is told of it when it is suspended.
        let at = left == "5s" ? "T+00:02:00" : "T+00:02:30"
        try run(scenario, device: server) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let gone = "gone when the other end closed it, or its connection failed"
            let nobody = "nobody is connected to it (v lost its socket to sip, at \(at): \(gone), VOIP-7)"
            #expect(run.output.contains("voip sip: \(nobody)"), "\(run.output)")
            #expect(run.output.contains("arm sip restart: \(nobody)"), "\(run.output)")
            let why = try program.run("why", "v", "--run", "out").output
            #expect(why.contains("\n  lost     its socket to sip, at \(at): \(gone)   [VOIP-7, "), "\(why)")
            #expect(why.contains("\n  try      Connect again when the stream says that it ended\n"), "\(why)")
            #expect(!why.contains("  waits "), "\(why)")
            let answer = try program.run("can-wake", "v", "voip-closed", "--run", "out")
            #expect(answer.code == 7, "\(answer.output)")
            let because = "NoRegistration   the app is registered for it no more: \(gone), at \(at)   [VOIP-7, "
            #expect(answer.output.contains("\n  because  \(because)"), "\(answer.output)")
        }
    }

    @Test("BTC-8: what Bluetooth took after the process had ended only a launch by hand brings back")
    func radioAfterEnd() throws {
        let steps = """
              - {at: 210s, terminate: pulse, cause: memory}
              - {at: 4m, bluetooth: off}
              - {at: 6m, bluetooth: on}
              - {at: 1h, notify: belt, characteristic: 2A37, value: "0053"}

            """
        try run(Self.day(restores: true, then: steps)) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let gone = "gone when Bluetooth went off after the app had ended"
            let unheard = "nobody is subscribed (pulse lost its connection to belt, at T+00:04:00: \(gone), BTC-8)"
            #expect(run.output.contains("notify belt 2A37 0053: \(unheard)"), "\(run.output)")
            let why = try program.run("why", "pulse", "--run", "out").output
            let lost = "its connection to belt with its subscription to belt/2A37, at T+00:04:00: \(gone)   [BTC-8, "
            #expect(why.contains("\n  lost     \(lost)"), "\(why)")
            #expect(why.contains("\n  try      Launch the app once by hand: "), "\(why)")
            #expect(!why.contains("centralManagerDidUpdateState"), "\(why)")
            let answer = try program.run("can-wake", "pulse", "characteristic-notified", "--run", "out")
            #expect(answer.code == 7)
            let first = "no: characteristic-notified belt/2A37: drop, NotRelaunchedAfterExit\n"
            #expect(answer.output.contains(first), "\(answer.output)")
        }
    }

    @Test(
        "XFER-2, XFER-5: can-wake of a session is about its next transfer, which a force quit takes",
        arguments: [true, false]
    )
    func transfers(isSwiped: Bool) throws {
        let podcasts = """
            device: transfer-server
            host: podcasts.example.com
            files:
              - {path: /1.mp3, size: 60MB}

            """
        let url = "https://podcasts.example.com/1.mp3"
        let scenario = """
            scenario: podcasts
            devices: [{file: belt.yaml, name: podcasts}]
            apps:
              - scripted: com.example.pod
                name: pod
                transfers: {sessions: [{id: ep, tasks: [{download: "\(url)"}, {download: "\(url)", begins-after: 30m}]}]}
            steps:
              - {at: 0, launch: pod}
              - {at: 2s, home: pod}
              - {at: 6m, \(isSwiped ? "force-quit: pod" : "terminate: pod, cause: memory")}
            until: 20m

            """
        try run(scenario, device: podcasts) { program, run in
            #expect(run.code == 0, "\(run.errors)")
            let why = try program.run("why", "pod", "--run", "out").output
            let answer = try program.run("can-wake", "pod", "transfer-ended", "--run", "out")
            guard isSwiped else {
                #expect(answer.code == 0, "\(answer.errors)")
                #expect(answer.output.hasPrefix("yes: transfer-ended ep: relaunch, SessionDone\n"), "\(answer.output)")
                #expect(why.contains("\n  waits    for ep (transfer-session since T+00:00:00)"), "\(why)")
                return
            }
            #expect(answer.code == 7, "\(answer.errors)")
            #expect(answer.output.hasPrefix("no: transfer-ended ep: deny, ForceQuit\n"), "\(answer.output)")
            let when = "at T+00:06:00, when it was swiped away by the user (x-1): gone with the force quit"
            let lost = "\n  lost     its session ep, \(when)"
            #expect(why.contains(lost) && answer.output.contains(lost), "\(why)\n\(answer.output)")
            #expect(why.contains("\n  waits    for nothing"), "\(why)")
        }
    }

    @Test("why of an app whose device rejects the pairing says what it refused, once")
    func rejectedPairing() throws {
        let secured = "properties: [notify], security: encrypted"
        let device = ServedBench.belt.replacing("properties: [notify]", with: secured)
            .replacing("gatt:", with: "pairing: reject\ngatt:")
        try run(Self.day(restores: true), device: device) { program, _ in
            let why = try program.run("why", "pulse", "--run", "out").output
            let waits = "\n  waits    for belt (connection since T+00:00:00)\n  refused  at T+00:00:0"
            #expect(why.contains(waits), "\(why)")
            #expect(why.contains(": belt rejects pairing: subscribe 2A37 fails: Encryption is insufficient.\n"))
            #expect(why.components(separatedBy: "\n  refused ").count == 2, "\(why)")
        }
    }

    @Test("why and can-wake take the words of each other's answers and of the run's lists", arguments: [true, false])
    func words(restores: Bool) throws {
        try run(Self.day(restores: restores, then: restores ? Self.swiped : "")) { program, _ in
            let (reason, rule) = restores ? ("ForceQuit", "LAUNCH-2") : ("NoRestoreIdentifier", "BTC-6")
            for word in [reason, reason.lowercased(), rule, rule.lowercased()] {
                let answer = try program.run("can-wake", "pulse", word, "--run", "out")
                #expect(answer.code == 7, "\(word): \(answer.errors)")
                let first = "no: characteristic-notified belt/2A37: deny, \(reason)\n"
                #expect(answer.output.contains(first), "\(word): \(answer.output)")
                let why = try program.run("why", "pulse", word, "--run", "out")
                #expect(why.code == 0, "\(word): \(why.errors)")
                let whole = try program.run("why", "pulse", "--run", "out")
                #expect(why.output == whole.output, "\(word)")
                #expect(try program.run("why", "pulse", word, "--run", "out", "--json").code == 0)
            }
            let event = try program.event(of: "characteristic-notified", in: "out")
            let lists = [
                ["notify", "belt", "2A37"], ["notify", "belt", "2A37", "0052:"], ["belt", "2A37"], ["belt/2A37: 0052"],
                ["characteristic-notified belt/2A37 (x2 over 1m): 0051 0052"], [event],
            ]
            for words in lists {
                let answer = try program.run(Program.path, ["can-wake", "pulse"] + words + ["--run", "out"])
                #expect(answer.code == 7, "\(words): \(answer.errors)")
                let output = answer.output
                #expect(output.contains("no: characteristic-notified belt/2A37: "), "\(words): \(output)")
                let why = try program.run(Program.path, ["why", "pulse"] + words + ["--run", "out"])
                #expect(why.code == 0, "\(words): \(why.errors)")
                #expect(why.output.contains(" by bluetooth characteristic-notified belt/2A37 ("), "\(why.output)")
            }
            let other = try program.run("can-wake", "pulse", "BluetoothOff", "--run", "out")
            let says = "no event for \(Self.bundle) in out would be answered with BluetoothOff"
            expectRefusal(other, code: 3, says: says, "there would be ", "\(reason) [\(rule)]")
            let undecided = try program.run("why", "pulse", "BluetoothOff", "--run", "out")
            expectRefusal(undecided, code: 3, says: "no decision about \(Self.bundle) for BluetoothOff")
            let absent = try program.run("can-wake", "pulse", "e-000999", "--run", "out")
            expectRefusal(absent, code: 3, says: "nothing was decided about e-000999")
        }
    }

    @Test("can-wake without an event says which kinds the run had, and of an event that never came, too")
    func noEvent() throws {
        try run(Self.day(restores: true, then: Self.swiped)) { program, _ in
            let none = try program.run("can-wake", "pulse", "--run", "out")
            #expect(none.code == 0, "\(none.errors)")
            #expect(none.output.hasPrefix("the run has ") && none.output.contains("characteristic-notified"))
            let json = try program.run("can-wake", "pulse", "--run", "out", "--json").output
            let page = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            #expect((page["kinds"] as? [String])?.contains("characteristic-notified") == true)
            #expect(page["ok"] as? Bool == true)
            let absent = try program.run("can-wake", "pulse", "region-entered", "--run", "out")
            expectRefusal(absent, code: 3, says: "no region-entered for \(Self.bundle) came in out", "the run has ")
            let unknown = try program.run("can-wake", "pulse", "belt/2A38", "--run", "out")
            expectRefusal(unknown, code: 2, says: "no kind of event belt/2A38", "characteristic-notified")
            let reason = try program.run("why", "pulse", "belt/2A38", "--run", "out")
            expectRefusal(reason, code: 3, says: "no reason, rule or event belt/2A38")
        }
    }

    @Test("BTP-5: can-wake about a run without events says that it has none, and what keeps an app from any")
    func waits() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("pillbox.yaml", ServedBench.belt)
        try program.write(
            "waits.yaml",
            """
            scenario: pill-waits
            devices:
              - {file: pillbox.yaml, name: pillbox}
            apps:
              - scripted: com.pills.reminder
                name: pills
              - scripted: com.pills.denied
                name: denied
                modes: [bluetooth-central]
                authorizations: {bluetooth: denied}
                uses: [{device: pillbox, characteristic: 2A37}]
            steps:
              - {at: 0, launch: [denied, pills]}
              - {when: {app: pills, verdict: resume}, within: 20s, note: never}

            """
        )
        let run = try program.run("run", "waits.yaml", "--out", "out", "-q")
        #expect(run.code != 0)
        for words in [["characteristic-notified"], []] {
            let answer = try program.run(Program.path, ["can-wake", "pills"] + words + ["--run", "out"])
            if words.isEmpty {
                #expect(answer.code == 0 && answer.output == "the run has no event at all\n", "\(answer.errors)")
            } else {
                expectRefusal(answer, code: 3, says: "the run has no event at all")
            }
        }
        let denied = try program.run("can-wake", "denied", "characteristic-notified", "--run", "out")
        let none = "no characteristic-notified for com.pills.denied came in out"
        expectRefusal(denied, code: 3, says: none, "(BTP-5); Let the app use Bluetooth: `authorizations: ")
        let kinds = try program.run("can-wake", "denied", "--run", "out").output
        #expect(kinds.contains("\ncom.pills.denied  the app asked for Bluetooth, which the user does not let it use, "))
    }
}
