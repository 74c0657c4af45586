import Testing
import WakeModel

@testable import WakeReports

@Suite("Why an app woke, or not")
struct WhyTests {
    let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    private func why(_ batches: [[Decision]], outcomes: [Outcome] = []) throws -> Why {
        Why(try fixture.run(batches, outcomes: outcomes, app: "com.acme.heart"), app: "com.acme.heart")
    }

    @Test("A denied wake is explained with its rule, its cause and its remedy (LAUNCH-2)")
    func forceQuit() throws {
        let decision = fixture.forceQuit(412, at: Instant(nanoseconds: 8_047_250_000_000), event: 398, always: true)
        #expect(
            try why([[decision]]).explanation() == """
                com.acme.heart  NOT woken at T+02:14:07 by location region-entered home (e-000398)
                  because  ForceQuit   user swiped the app away at T+01:58:00 (e-000371); only a user launch or a \
                reboot clears this   [LAUNCH-2, documented]
                  passed   LAUNCH-5 LAUNCH-6 LOC-5 REG-4 OPT-2                 without it: relaunch
                  try      Launch the app once by hand, then end it with `terminate`, cause memory, to test a relaunch
                  others   1 app saw this event: 1 ForceQuit
                """
        )
    }

    @Test(
        "REG-2: why says of a crossing that it rests on a poor fix, of that region and fix alone",
        arguments: [(397, "home", true), (396, "home", false), (397, "shop", false)] as [(UInt64, String, Bool)]
    )
    func poorFix(fix: UInt64, region: String, isTold: Bool) throws {
        var decision = fixture.forceQuit(412, at: second(8_047), event: 398)
        decision.parent = EventID(397)
        var log = try fixture.run([[decision]], outcomes: [], app: "com.acme.heart")
        for app in ["com.acme.heart", "com.acme.run"] {
            log.deeds.append(
                DeedEntry(deed: .crossedByPoorFix, at: second(8_047), app: app, subject: region, event: EventID(fix))
            )
        }
        let why = Why(log, app: "com.acme.heart")
        let sentence = Deed.crossedByPoorFix.row.sentence
        let line = "\n  but      \(sentence)   \(Why.ruleText(.reg2))\n"
        #expect(why.explanation().contains(line) == isTold)
        #expect(why.page().explained?.doubt == (isTold ? sentence : nil))
    }

    @Test("A wake is explained with what the process did (LIFE-4)")
    func resumed() throws {
        let decision = fixture.resume(12, at: second(12))
        let outcome = fixture.outcome(12, value: "0648")
        #expect(
            try why([[decision]], outcomes: [outcome]).explanation() == """
                com.acme.heart  woken at T+00:00:12 by bluetooth characteristic-notified heart-rate-belt/2A37 \
                (e-000012)
                  because  Resumed   the app was suspended since T+00:00:09; the wake has 10 s   [LIFE-4, documented]
                  passed   LAUNCH-2 LAUNCH-5 MODE-2 BTC-6 BTC-10 BTP-5 BT-1 OPT-2
                  outcome  pid 4711, launched in 38 ms, 612 ms of 10 s, then suspended, didUpdateValueFor; value 0648
                  others   1 app saw this event: 1 woke
                """
        )
    }

    @Test("What the run sets of the rules at hand is said")
    func settings() throws {
        var log = try fixture.run([[fixture.resume(1, at: second(12))]], outcomes: [], app: "com.acme.heart")
        log.header.settings["firstUnlockGates"] = "on"
        log.header.settings["silenceLimit"] = "10s"
        #expect(Why(log, app: "com.acme.heart").explanation().contains("\n  set      firstUnlockGates on\n"))
    }

    @Test("A rule with two checks is among the passed once, and not at all when one of them failed")
    func passedOnce() throws {
        var decision = fixture.resume(1, at: second(12))
        decision.checks[.anyoneRegistered] = .pass
        decision.checks[.asksToBeWoken] = .pass
        #expect(
            try why([[decision]]).explanation()
                .contains("\n  passed   LAUNCH-2 LAUNCH-5 LAUNCH-6 MODE-2 BTC-6 BTC-10 BTP-5 BT-1 OPT-2\n")
        )
        decision.checks[.asksToBeWoken] = .fail
        decision.verdict = .drop
        decision.reason = .answerWaits
        decision.rule = .launch6
        #expect(try why([[decision]]).explanation().contains("\n  passed   LAUNCH-2 LAUNCH-5 MODE-2 BTC-6 "))
    }

    @Test("The other apps that saw the event are counted by reason")
    func others() throws {
        var other = fixture.forceQuit(2, at: second(20), event: 1)
        other.app = AppID(1)
        other.snapshot.bundle = fixture.names.intern("com.acme.other")
        let text = try why([[fixture.resume(1, at: second(20)), other]]).explanation()
        #expect(text.hasSuffix("  others   2 apps saw this event: 1 woke, 1 ForceQuit"))
    }

    @Test("The other failing checks are named, so that fixing one does not reveal the next by surprise")
    func alsoFailing() throws {
        let text = try why([[fixture.forceQuit(1, at: second(8000))]]).explanation()
        #expect(text.contains("\n  also     LOC-5 would fail next\n"))
    }

    @Test("A deferred event names the decision that came later (SYS-4)")
    func deferred() throws {
        var waiting = fixture.resume(1, at: second(10))
        waiting.verdict = .defer
        waiting.reason = .modeMissing
        waiting.rule = .mode2
        waiting.checks[.modePresent] = .fail
        var later = fixture.resume(2, at: second(30), event: 1)
        later.verdict = .backgroundDeliver
        later.reason = .deliveredLater
        later.rule = .btc2
        later.supersedes = DecisionID(1)
        let log = try fixture.run([[waiting], [later]])
        let why = Why(log, app: "com.acme.heart")
        #expect(why.explanation().contains("\n  replaces d-000001\n"))
        let first = Why(try fixture.run([[waiting]]), app: "com.acme.heart")
        #expect(first.explanation().hasPrefix("com.acme.heart  NOT woken, made to wait at T+00:00:10"))
        var unrelated = waiting
        unrelated.id = DecisionID(3)
        unrelated.event = EventID(3)
        unrelated.at = second(31)
        let both = Why(try fixture.run([[unrelated], [waiting], [later]]), app: "com.acme.heart")
        #expect(try #require(both.explanation(event: EventID(3))).contains("later") == false)
    }

    @Test("The decision from which on the app fares as it does comes first, or the one about an event")
    func whichDecision() throws {
        let why = try why([[fixture.resume(1, at: second(10))], [fixture.resume(2, at: second(20))]])
        #expect(why.explanation().hasPrefix("com.acme.heart  woken at T+00:00:10"))
        let last = "by bluetooth characteristic-notified heart-rate-belt/2A37 (e-000002)"
        #expect(why.explanation().contains("\n  again    once since, at T+00:00:20 \(last)\n"), "\(why.explanation())")
        #expect(try #require(why.explanation(event: EventID(2))).contains("(e-000002)"))
        #expect(why.explanation(event: EventID(7)) == nil)
    }

    @Test("LAUNCH-6, AUD-3: what refused the app comes before an answer that waits since")
    func answerWaits() throws {
        var waiting = fixture.resume(2, at: second(8_100))
        (waiting.verdict, waiting.reason, waiting.rule) = (.defer, .answerWaits, .launch6)
        let text = try why([[fixture.forceQuit(1, at: second(8_000))], [waiting]]).explanation()
        #expect(text.hasPrefix("com.acme.heart  NOT woken at T+02:13:20 by location region-entered home"), "\(text)")
        #expect(text.contains("\n  try      Launch the app once by hand"), "\(text)")
        #expect(try why([[waiting]]).explanation().hasPrefix("com.acme.heart  NOT woken, made to wait"))
    }

    @Test("The others are a list, the newest first, repeats folded")
    func otherDecisions() throws {
        let early = [fixture.resume(1, at: second(10)), fixture.resume(2, at: second(20))]
        let refused = [3, 4, 5].map { fixture.forceQuit($0, at: second(7_080 + 30 * Int64($0))) }
        let text = try why((early + refused).map { [$0] }).explanation()
        #expect(text.hasPrefix("com.acme.heart  NOT woken at T+01:59:30"))
        let last = "T+02:00:30 by location region-entered home (e-000005)"
        #expect(text.contains("\n  again    2 times since, the last at \(last)\n"), "\(text)")
        #expect(
            text.hasSuffix(
                """
                  decided  4 more decisions about it, the newest first:
                  T+02:00:00  deny    ForceQuit  LAUNCH-2  region-entered home (x2 over 30s)
                  T+00:00:10  resume  Resumed    LIFE-4    characteristic-notified heart-rate-belt/2A37 (x2 over 10s)
                """
            ),
            "\(text)"
        )
    }

    @Test("A reason and a rule choose the decisions that have them")
    func chosen() throws {
        let why = try why([[fixture.resume(1, at: second(10))], [fixture.forceQuit(2, at: second(8_000))]])
        for question in [Why.Question.reason(.resumed), .rule(.life4)] {
            let text = try #require(why.explanation(question))
            #expect(text.hasPrefix("com.acme.heart  woken at T+00:00:10"))
            #expect(!text.contains("decided"))
        }
        #expect(try #require(why.explanation(.rule(.launch2))).hasPrefix("com.acme.heart  NOT woken"))
        #expect(why.explanation(.reason(.bluetoothOff)) == nil)
    }

    @Test("With nothing to show it says that nothing happened")
    func nothing() throws {
        #expect(
            try why([]).explanation() == "com.acme.heart  no event of that kind was injected since T+00:00:00"
        )
        #expect(
            try why([[fixture.nobody(1, at: second(5))]]).explanation() == """
                com.acme.heart  no event that it registered for was injected since T+00:00:00
                  nearest  bluetooth characteristic-notified heart-rate-belt/2A37 (e-000001) at T+00:00:05: \
                no app had registered   [LAUNCH-6, documented]
                """
        )
    }

    @Test("LIFE-11 A wake that lasted past its window tells the events that came in it")
    func pastWindow() throws {
        var phone = RoutedPhone(fixture.names, app: 0, bundle: "com.acme.heart")
        phone.subscribe(at: second(2))
        phone.suspend(at: second(9))
        let decisions = [second(100), second(105), second(112)].map { phone.notify(at: $0) }
        #expect(decisions.map(\.verdict) == [.resume, .backgroundDeliver, .backgroundDeliver])
        var outcome = fixture.outcome(decisions[0].id.number)
        outcome.used = .milliseconds(22_004)
        let why = try why(decisions.map { [$0] }, outcomes: [outcome])
        let told = "pid 4711, launched in 38 ms, 22004 ms with 2 more events, past its window of 10 s, then suspended"
        #expect(why.table().contains(told), "\(why.table())")
    }

    @Test("The table folds repeats and shows the newest first")
    func table() throws {
        var batches = [[fixture.resume(1, at: second(100))]]
        for number in 0..<6 as Range<UInt64> {
            batches.append([fixture.forceQuit(10 + number, at: second(8000 + 180 * Int64(number)))])
        }
        batches.append([fixture.nobody(30, at: second(9860))])
        let table = try why(batches, outcomes: [fixture.outcome(1)]).table()
        #expect(
            table == """
                TYPE    REASON     AGE                FROM       MESSAGE
                Denied  ForceQuit  16m (x6 over 15m)  location   region-entered home
                Woke    Resumed    2h42m              bluetooth  characteristic-notified heart-rate-belt/2A37: \
                pid 4711, launched in 38 ms, 612 ms of 10 s, then suspended, didUpdateValueFor
                """
        )
    }

    /// An app that runs from 10 s, is suspended from 60 s, wakes at 600 s for 10 s, and is force-quit at 2000 s; a wake is
    /// denied at 1200 s and at 3000 s.
    private func idleLog() throws -> RunLog {
        var denied = fixture.forceQuit(2, at: second(1_200))
        denied.reason = .modeMissing
        var log = try fixture.run([
            [fixture.resume(1, at: second(600))], [denied], [fixture.forceQuit(3, at: second(3_000))],
            [fixture.nobody(4, at: second(3_600))],
        ])
        let states: [(Int64, AppState)] = [
            (10, .active), (60, .suspended), (600, .background), (610, .suspended), (2_000, .notRunning),
        ]
        var from = AppState.notRunning
        for (at, to) in states {
            log.moves.append(StateMove(app: "com.acme.heart", at: second(at), from: from, to: to, pid: 4711))
            from = to
        }
        log.exits = [
            ExitEntry(
                number: 1,
                app: "com.acme.heart",
                at: second(2_000),
                generation: 1,
                cause: .userForceQuit,
                code: -9,
                stateBefore: .suspended
            )
        ]
        return log
    }

    @Test("The table ends with the time the app did not run, by the reason that held, the longest first")
    func timeNotRunning() throws {
        let table = Why(try idleLog(), app: "com.acme.heart").table()
        #expect(
            table.split(separator: "\n").last
                == "Time not running, by reason: ForceQuit 26m40s, NoEvent 19m, ModeMissing 13m20s"
        )
    }

    @Test("An app that was force-quit without a process does not run for that from then on")
    func forceQuitWithoutProcess() throws {
        var denied = fixture.forceQuit(1, at: second(9_000))
        denied.snapshot.forceQuitAt = second(8_000)
        var log = try fixture.run([[denied]])
        log.moves = [
            StateMove(app: "com.acme.heart", at: second(0), from: .notRunning, to: .active),
            StateMove(app: "com.acme.heart", at: second(7_080), from: .active, to: .notRunning),
        ]
        #expect(
            Why(log, app: "com.acme.heart").table().split(separator: "\n").last
                == "Time not running, by reason: ForceQuit 16m40s, NoEvent 15m20s"
        )
    }

    @Test("Only the time that the table shows counts, for the reason that held when it began")
    func timeNotRunningSince() throws {
        let why = Why(try idleLog(), app: "com.acme.heart")
        #expect(
            why.table(since: .seconds(2_100)).split(separator: "\n").last
                == "Time not running, by reason: ForceQuit 26m40s, ModeMissing 8m20s"
        )
    }

    @Test("The table goes back as far as asked")
    func since() throws {
        let why = try why([[fixture.resume(1, at: second(100))], [fixture.resume(2, at: second(4000))]])
        #expect(why.table(since: .seconds(3600)).split(separator: "\n").count == 2)
        #expect(
            try self.why([[fixture.nobody(1, at: second(4000))]]).table(since: .seconds(1000))
                .hasPrefix(
                    "com.acme.heart  no event that it registered for was injected since T+00:00:00\n  nearest  bluetooth "
                )
        )
    }
}
