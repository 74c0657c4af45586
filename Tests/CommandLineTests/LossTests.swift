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
    private func run(_ scenario: String, _ body: (Program, Program.Outcome) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("belt.yaml", ServedBench.belt)
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

    @Test("can-wake without an event says which kinds the run had, and of an event that never came, too")
    func noEvent() throws {
        try run(Self.day(restores: true, then: Self.swiped)) { program, _ in
            let none = try program.run("can-wake", "pulse", "--run", "out")
            expectRefusal(none, code: 2, says: "EVENT is missing", "the run has ", "characteristic-notified")
            let absent = try program.run("can-wake", "pulse", "region-entered", "--run", "out")
            expectRefusal(absent, code: 3, says: "no region-entered for \(Self.bundle) came in out", "the run has ")
            let unknown = try program.run("can-wake", "pulse", "belt/2A38", "--run", "out")
            expectRefusal(unknown, code: 2, says: "no kind of event belt/2A38", "characteristic-notified")
            let reason = try program.run("why", "pulse", "belt/2A38", "--run", "out")
            expectRefusal(reason, code: 3, says: "no reason, rule or event belt/2A38")
        }
    }

    @Test("can-wake about a run without events says that it has none")
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
            steps:
              - {at: 0, launch: pills}
              - {when: {app: pills, verdict: resume}, within: 20s, note: never}

            """
        )
        let run = try program.run("run", "waits.yaml", "--out", "out", "-q")
        #expect(run.code != 0)
        for words in [["characteristic-notified"], []] {
            let answer = try program.run(Program.path, ["can-wake", "pills"] + words + ["--run", "out"])
            expectRefusal(answer, code: words.isEmpty ? 2 : 3, says: "the run has no event at all")
        }
    }
}
