import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("Why nothing was decided about an app")
struct SilenceTests {
    private let fixture: ReportFixture
    private let app = "com.acme.heart"

    init() throws { fixture = try ReportFixture() }

    /// The explanation of a run whose logs hold these lines beside the app itself.
    private func explanation(
        _ batches: [[Decision]] = [],
        log: String? = nil,
        _ write: (OutcomeLog) throws -> Void = { _ in }
    ) throws -> String {
        try Why(runLog(batches, log: log, write), app: app).explanation()
    }

    private func runLog(
        _ batches: [[Decision]] = [],
        log: String? = nil,
        _ write: (OutcomeLog) throws -> Void
    ) throws -> RunLog {
        _ = try fixture.run(batches)
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(AppEntry(app: app, name: "heart", log: log))
        try write(outcomes)
        try outcomes.append(EndEntry(at: second(3_600)))
        try outcomes.flush()
        return try RunLog(folder: fixture.folder.path)
    }

    private func happened(_ number: UInt64, _ word: String, of app: String? = nil, at: Instant) -> Act {
        Act(event: EventID(number), at: at, word: word, app: app)
    }

    private func run(_ log: OutcomeLog, to states: AppState...) throws {
        var from = AppState.notRunning
        for (number, state) in states.enumerated() {
            try log.append(StateMove(app: app, at: second(Int64(number)), from: from, to: state, pid: 7))
            from = state
        }
    }

    private func exit(_ cause: ExitCause, code: Int64, atLaunch: Bool = false, at: Instant = second(5)) -> ExitEntry {
        ExitEntry(
            number: 1,
            app: app,
            at: at,
            generation: 1,
            cause: cause,
            code: code,
            stateBefore: .inactive,
            pid: 7,
            atLaunch: atLaunch
        )
    }

    @Test("An app that was never launched is said to be, with the end of the run")
    func neverLaunched() throws {
        #expect(
            try explanation() == "\(app)  never launched: no step launched it, and no event woke it by T+01:00:00"
        )
    }

    @Test("Of an app that died at its launch it shows how, and the end of what it printed")
    func diedAtLaunch() throws {
        let file = fixture.folder.appending(path: "heart.log")
        try Data((1...9).map { "line \($0)\n" }.joined().utf8).write(to: file)
        let text = try explanation(log: "heart.log") { log in
            try run(log, to: .inactive, .notRunning)
            try log.append(exit(.exit, code: 3, atLaunch: true))
        }
        #expect(
            text == """
                \(app)  ended at its launch, exit code 3, at T+00:00:05 (x-1); no event for it came by T+01:00:00
                  log      \(fixture.folder.path)/heart.log ends with:
                           line 5
                           line 6
                           line 7
                           line 8
                           line 9
                """
        )
    }

    @Test(
        "The words of an end name its signal, its error or its watchdog",
        arguments: [
            (ExitCause.crash, -6, "crashed at its launch, signal 6 (SIGABRT)"),
            (.crash, 0, "was ended at its launch as if it had crashed (terminate, cause crash), at"),
            (.watchdog, 0, "was ended at its launch as by a watchdog (terminate, cause watchdog), at"),
            (.crash, .min, "crashed at its launch, signal 9223372036854775808"),
            (.crash, 8, "could not be started: Exec format error"),
            (
                .watchdog, 0x8bad_f00d,
                "was killed by a watchdog at its launch (0x8badf00d): it did not finish launching"
            ),
        ] as [(ExitCause, Int64, String)]
    )
    func words(cause: ExitCause, code: Int64, words: String) throws {
        let text = try explanation { log in
            try run(log, to: .inactive, .notRunning)
            try log.append(exit(cause, code: code, atLaunch: true))
        }
        #expect(text.hasPrefix("\(app)  \(words)"), "\(text)")
    }

    @Test("TASK-4: an app that was killed for a task it did not end is said to be")
    func overdueTask() throws {
        let text = try explanation { log in
            try run(log, to: .background, .notRunning)
            try log.append(exit(.watchdog, code: TerminationCode.backgroundTask))
        }
        #expect(text.contains("(0x2182bad2): it did not end a background task in its time [TASK-4], at T+00:00:05"))
    }

    @Test("An app that runs and asked for nothing is registered for nothing")
    func registeredForNothing() throws {
        let text = try explanation { log in
            try run(log, to: .active, .suspended)
            try log.append(RegistrationEntry(app: app, at: second(1), kept: []))
        }
        #expect(
            text
                == "\(app)  registered for nothing: it is suspended since T+00:00:01, and no event by T+01:00:00 was for it"
        )
    }

    @Test("BGT-1, PWR-3: a request that was refused is told, the last of each, with what to do about it")
    func refusedRequests() throws {
        var log = try runLog { log in
            try run(log, to: .active, .suspended)
            for at in [second(0), second(1)] {
                try log.append(DeedEntry(deed: .refusedTaskRequest, at: at, app: app, subject: "clean"))
            }
            try log.append(DeedEntry(deed: .refusedWithoutRefresh, at: second(1), app: app, subject: "feed"))
            try log.append(DeedEntry(deed: .refusedWithoutRefresh, at: second(1), app: app, subject: "again"))
            let kept = RegistrationEntry.Kept(via: "refresh-task", subject: "again", since: second(2))
            try log.append(RegistrationEntry(app: app, at: second(2), kept: [kept]))
        }
        let why = Why(log, app: app)
        let texts = ["clean", "feed"].map { "\($0) at T+00:00:01: the request was refused" }
        let first = "\(texts[0]): its identifier is not permitted, or the mode is missing"
        let other = "\(texts[1]), as Background App Refresh is off"
        let text = why.explanation()
        let lines = [
            "\n  refused  \(first)   \(Why.ruleText(.bgt1))\n  try      Name the identifier in ",
            "\n  refused  \(other)   \(Why.ruleText(.pwr3))\n  try      Turn it on: ",
        ]
        for line in lines { #expect(text.contains(line), "\(text)") }
        #expect(why.page().refused == [first, other])
        #expect(why.isKnown(.rule(.bgt1)))
        // A request that came later was taken, and brought the app something.
        var taken = fixture.resume(1, at: second(9))
        taken.subject = fixture.names.intern("clean")
        log.decisions = DecisionRecord.all(in: try fixture.contents([[taken]]))
        #expect(Why(log, app: app).page().refused == [other])
        #expect(!Why(log, app: app).isKnown(.rule(.bgt1)))
        log.acts.append(happened(2, "uninstall", of: app, at: second(20)))
        #expect(Why(log, app: app).page().refused == [] && !Why(log, app: app).isKnown(.rule(.pwr3)))
    }

    @Test("BTC-14: an old table that the phone goes by is told of a link that is still there, with what to do about it")
    func oldTable() throws {
        let kept = ["tag": 2, "lamp": 5].sorted { $0.key < $1.key }.map { device, since in
            RegistrationEntry.Kept(via: "connection", subject: device, since: second(Int64(since)))
        }
        let log = try runLog { log in
            try run(log, to: .active, .suspended)
            for (at, device) in [(3, "tag"), (4, "tag"), (4, "lamp")] {
                let deed = DeedEntry(deed: .keptAttributes, at: second(Int64(at)), app: app, subject: device)
                try log.append(deed)
            }
            try log.append(RegistrationEntry(app: app, at: second(6), kept: kept))
        }
        let why = Why(log, app: app)
        let told = "tag at T+00:00:04: the peripheral's attributes changed without a Service Changed (2A05): the phone "
        let text = why.explanation()
        let advice = "\n  try      Give the device Service Changed (2A05)"
        #expect(text.contains("\n  table    \(told)keeps its old table   \(Why.ruleText(.btc14))\(advice)"), "\(text)")
        #expect(text.components(separatedBy: "  table    ").count == 2)
        #expect(why.page().oldTables == [told + "keeps its old table"])
        #expect(why.isKnown(.rule(.btc14)) && !why.isKnown(.rule(.bgt1)))
    }

    @Test(
        "PWR-3: a task that waits while Background App Refresh is off says so, and since when",
        arguments: ["Background App Refresh", "refuse"],
        [true, false]
    )
    func waitsForRefresh(word: String, isOnAgain: Bool) throws {
        let isPhones = word != "refuse"
        let off = isPhones ? "\(word) off" : "refuse Background App Refresh"
        let on = isPhones ? "\(word) on" : "allow Background App Refresh"
        let log = try runLog { log in
            try run(log, to: .active, .suspended)
            try log.append(happened(2, off, of: isPhones ? nil : app, at: second(20)))
            if isOnAgain { try log.append(happened(3, on, of: isPhones ? nil : app, at: second(30))) }
            let kept = RegistrationEntry.Kept(via: "refresh-task", subject: "feed", since: second(2))
            try log.append(RegistrationEntry(app: app, at: second(40), kept: [kept]))
        }
        let why = Why(log, app: app)
        let since = ", Background App Refresh is off since T+00:00:20   \(Why.ruleText(.pwr3))"
        let text = why.explanation()
        #expect(text.hasSuffix("for feed (refresh-task since T+00:00:02)\(isOnAgain ? "" : since)"), "\(text)")
        #expect(why.isKnown(.reason(.refreshOff)) != isOnAgain)
    }

    @Test("BTP-5: an app that may not use Bluetooth is registered for nothing for that, as can-wake says, too")
    func refusedRadio() throws {
        var log = try runLog { log in
            try log.append(DeedEntry(deed: .refusedRadio, at: second(0), app: app))
            try run(log, to: .active, .suspended)
            try log.append(RegistrationEntry(app: app, at: second(1), kept: []))
        }
        let why = Why(log, app: app)
        let asked = "the app asked for Bluetooth, which the user does not let it use, at T+00:00:00"
        let remedy = "Let the app use Bluetooth: `authorizations: {bluetooth: allowed}`"
        let because = "  because  BluetoothNotAuthorized   \(asked)   [BTP-5, documented]"
        #expect(
            why.explanation() == """
                \(app)  registered for nothing: it is suspended since T+00:00:01, and no event by T+01:00:00 was for it
                \(because)
                  try      \(remedy)
                """
        )
        #expect(why.page().obstacle?.advice == remedy)
        #expect(why.isKnown(.rule(.btp5)) && why.isKnown(.reason(.bluetoothNotAuthorized)))
        let nobody = DecisionRecord.all(in: try fixture.contents([[fixture.nobody(1, at: second(9))]]))
        #expect(why.answer(nobody).hasSuffix("\n\(because)\n  try      \(remedy)"), "\(why.answer(nobody))")
        #expect(why.nothingComes(of: ["characteristic-notified"]) == "\(asked) (BTP-5); \(remedy)")
        #expect(why.nothingComes(of: ["region-entered"]) == nil)
        for (decision, isOfBluetooth) in [
            (fixture.resume(1, at: second(9)), true), (fixture.forceQuit(1, at: second(9)), false),
        ] {
            log.decisions = DecisionRecord.all(in: try fixture.contents([[decision]]))
            #expect(Why(log, app: app).explanation().contains(because) == isOfBluetooth)
        }
        // A process that came later was not refused.
        log.moves.append(StateMove(app: app, at: second(7), from: .notRunning, to: .background))
        #expect(Why(log, app: app).obstacle == nil)
    }

    @Test("What an app waits for is named, and since when it is out of range")
    func waits() throws {
        let text = try explanation { log in
            try run(log, to: .active, .suspended)
            let kept = RegistrationEntry.Kept(via: "pending-connect", subject: "meter", since: second(2))
            try log.append(RegistrationEntry(app: app, at: second(2), kept: [kept]))
            try log.append(RangeEntry(device: "meter", at: second(30), inRange: false))
        }
        #expect(
            text == """
                \(app)  waits: it is suspended since T+00:00:01, and no event for it came by T+01:00:00
                  waits    for meter (pending-connect since T+00:00:02), out of range since T+00:00:30
                """
        )
    }

    @Test("A device that came back is not out of range")
    func cameBack() throws {
        let text = try explanation { log in
            try run(log, to: .active)
            let kept = RegistrationEntry.Kept(via: "pending-connect", subject: "meter", since: second(2))
            try log.append(RegistrationEntry(app: app, at: second(2), kept: [kept]))
            try log.append(RangeEntry(device: "meter", at: second(30), inRange: false))
            try log.append(RangeEntry(device: "meter", at: second(40), inRange: true))
        }
        #expect(text.hasSuffix("  waits    for meter (pending-connect since T+00:00:02)"))
    }

    @Test("An app that ended after its last decision is told by its end, with the decisions as a list")
    func endedSince() throws {
        let text = try explanation([[fixture.resume(1, at: second(3))]]) { log in
            try run(log, to: .active, .suspended, .background, .notRunning)
            try log.append(exit(.userForceQuit, code: 0))
        }
        #expect(
            text == """
                \(app)  was swiped away by the user, at T+00:00:05 (x-1); no event for it came since
                  because  ForceQuit   only a user launch or a reboot clears this   [LAUNCH-2, documented]
                  decided  1 more decision about it, the newest first:
                  T+00:00:03  resume  Resumed  LIFE-4  characteristic-notified heart-rate-belt/2A37
                """
        )
    }

    @Test("An app that died at its relaunch is told by its end, not by what the end took from it")
    func diedAtRelaunch() throws {
        let woken = fixture.resume(1, at: second(3))
        var lost = fixture.resume(2, at: second(5))
        lost.event = woken.event
        lost.verdict = .drop
        lost.reason = .appEnded
        lost.rule = Reason.appEnded.rule
        lost.checks = CheckResults()
        lost.wouldHave = nil
        lost.supersedes = woken.id
        lost.snapshot.state = .notRunning
        lost.snapshot.lastExit = 1
        let text = try explanation([[woken, lost]]) { log in
            try run(log, to: .active, .suspended, .background, .notRunning)
            try log.append(exit(.exit, code: 4, atLaunch: true))
        }
        #expect(
            text.hasPrefix("\(app)  ended at its launch, exit code 4, at T+00:00:05 (x-1); no event for it came since")
        )
        #expect(text.contains("AppEnded"))
    }

    /// An app that the user force-quit at 5 s, and what else happened.
    private func forceQuit(_ write: (OutcomeLog) throws -> Void = { _ in }) throws -> RunLog {
        try runLog { log in
            try run(log, to: .active, .notRunning)
            try log.append(happened(1, "force quit", of: app, at: second(5)))
            try log.append(exit(.userForceQuit, code: 0))
            try write(log)
        }
    }

    @Test(
        "LAUNCH-3, PUSH-6, BTC-8: of an app that was force-quit, what wakes it all the same says so, with the rule",
        arguments: [
            (Registration.region, "home", "ios17", Reason.relaunchedAfterForceQuit),
            (.beaconRegion, "desk", "ios17", .relaunchedAfterForceQuit),
            (.significantChange, "", "ios8", .relaunchedAfterForceQuit),
            (.visits, "", "ios17", .relaunchedAfterForceQuit),
            (.pushKit, "com.acme.heart", "ios26", .calledByPush),
            (.pendingConnect, "belt", "ios26", .relaunchedForAccessory),
        ] as [(Registration, String, String, Reason)]
    )
    func lifted(via: Registration, subject: String, profile: String, reason: Reason) throws {
        let kept = RegistrationEntry.Kept(via: via.word, subject: subject, since: second(1))
        var log = try forceQuit { try $0.append(RegistrationEntry(app: app, at: second(6), kept: [kept])) }
        log.header.profile = profile
        let why = Why(log, app: app)
        let text = why.explanation()
        let clears = "only a user launch or a reboot clears this, but for what lifts it below   [LAUNCH-2, documented]"
        #expect(text.contains("\n  because  ForceQuit   \(clears)\n"), "\(text)")
        let rule = Why.ruleText(reason.rule)
        let waits = "(\(via.word) since T+00:00:01), which lifts the bar of the force quit   \(rule)"
        #expect(text.contains("\n  waits    for ") && text.hasSuffix(waits), "\(text)")
        #expect(why.page().waits.map(\.liftedBy) == [reason.rule.text])
        #expect(why.isKnown(.reason(reason)))
        #expect(why.isKnown(.rule(reason.rule)))
    }

    @Test(
        "LAUNCH-2: of an app that was force-quit, what does not wake it lifts nothing",
        arguments: [(.pendingConnect, "ios17"), (.remoteNotifications, "ios17")]
            as [(Registration, String)]
    )
    func notLifted(via: Registration, profile: String) throws {
        let kept = RegistrationEntry.Kept(via: via.word, subject: "home", since: second(1))
        var log = try forceQuit { try $0.append(RegistrationEntry(app: app, at: second(6), kept: [kept])) }
        log.header.profile = profile
        let why = Why(log, app: app)
        let text = why.explanation()
        #expect(
            text.contains("  because  ForceQuit   only a user launch or a reboot clears this   [LAUNCH-2, "),
            "\(text)"
        )
        #expect(text.hasSuffix("\n  waits    for home (\(via.word) since T+00:00:01)"), "\(text)")
        #expect(why.page().waits.map(\.liftedBy) == [nil])
    }

    @Test("LAUNCH-4: a reboot after a force quit has lifted its bar, and only that is said")
    func rebootLifts() throws {
        let log = try forceQuit { try $0.append(happened(2, "reboot", at: second(20))) }
        #expect(
            Why(log, app: app).explanation() == """
                \(app)  was swiped away by the user, at T+00:00:05 (x-1); no event for it came by T+01:00:00
                  later    the reboot at T+00:00:20 lifted the bar of the force quit at T+00:00:05   [LAUNCH-4, documented]
                """
        )
    }

    @Test("LOC-5: what the user does not allow does not come, which stands beside what the app waits for")
    func notAllowed() throws {
        let kept = ["home", "work"].map {
            RegistrationEntry.Kept(via: "region", subject: $0, since: second(1), lacks: "NotAuthorized")
        }
        let log = try runLog { log in
            try run(log, to: .active, .suspended)
            try log.append(RegistrationEntry(app: app, at: second(2), kept: kept))
        }
        let why = Why(log, app: app)
        let lacks = "the user does not allow it in this state; only Always wakes an app   \(Why.ruleText(.loc5))"
        let waits = ["home", "work"].map { "  waits    for \($0) (region since T+00:00:01), \(lacks)" }
        let text = why.explanation()
        #expect(text.hasSuffix(([""] + waits + ["  try      "]).joined(separator: "\n") + Self.allowing), "\(text)")
        #expect(why.isKnown(.reason(.notAuthorized)) && why.isKnown(.rule(.loc5)))
        #expect(why.page().waits.map(\.lacks) == ["NotAuthorized", "NotAuthorized"])
    }

    private static let allowing =
        "Ask with requestAlwaysAuthorization; where the user has denied it, Settings alone allow it: "
        + "`authorize: APP, location: always`"

    @Test("LAUNCH-4: a shutdown has lifted the bar, too")
    func shutdownLifts() throws {
        let log = try forceQuit { try $0.append(happened(2, "shut down", at: second(20))) }
        let lifted =
            "the shutdown at T+00:00:20 lifted the bar of the force quit at T+00:00:05   [LAUNCH-4, documented]"
        let text = Why(log, app: app).explanation()
        #expect(text.hasSuffix("\n  later    \(lifted)"), "\(text)")
    }

    @Test("SYS-2: of an app that was uninstalled that is why nothing wakes it, and no force quit bars it any more")
    func uninstalledLater() throws {
        let log = try forceQuit { try $0.append(happened(2, "uninstall", of: app, at: second(20))) }
        let why = Why(log, app: app)
        let because = "the user uninstalled the app at T+00:00:20, and the system keeps nothing of it"
        let remedy = "Install the app again, and launch it once"
        #expect(
            why.explanation() == """
                \(app)  was uninstalled, at T+00:00:20; no event for it came by T+01:00:00
                  because  NoRegistration   \(because)   [SYS-2, design]
                  try      \(remedy)
                """
        )
        var back = log
        back.acts.append(happened(3, "install", of: app, at: second(30)))
        #expect(Why(back, app: app).uninstalled == nil)
        let page = why.page()
        #expect([page.obstacle?.rule, page.obstacle?.because, page.obstacle?.advice] == ["SYS-2", because, remedy])
        #expect(page.forceQuit == nil)
        #expect(why.isKnown(.rule(.sys2)) && !why.isKnown(.reason(.forceQuit)))
        var refused = fixture.resume(1, at: second(9))
        (refused.verdict, refused.reason, refused.rule) = (.deny, .shownBySystem, .note1)
        var both = log
        both.decisions = DecisionRecord.all(in: try fixture.contents([[refused]]))
        let text = Why(both, app: app).explanation()
        #expect(text.hasPrefix("\(app)  was uninstalled, at T+00:00:20; no event for it came since\n"), "\(text)")
        let told = try #require(Why(both, app: app).explanation(.reason(.shownBySystem)))
        #expect(told.contains("\n  try      \(remedy)\n"), "\(told)")
    }

    @Test(
        "SYS-1, SYS-2, LAUNCH-4: what changed nothing is no force quit, no launch, no reboot and no shutdown",
        arguments: ["force quit", "launch", "reboot", "shut down"],
        [Deed.foundPhoneOff, .foundNotInstalled, .foundItSo]
    )
    func vainActs(word: String, deed: Deed) throws {
        let isPhones = ["reboot", "shut down"].contains(word)
        let log = try forceQuit {
            try $0.append(happened(2, word, of: isPhones ? nil : app, at: second(20)))
            try $0.append(DeedEntry(deed: deed, at: second(20), event: EventID(2)))
        }
        let text = Why(log, app: app).explanation()
        let because = "only a user launch or a reboot clears this   [LAUNCH-2, documented]"
        #expect(
            text == """
                \(app)  was swiped away by the user, at T+00:00:05 (x-1); no event for it came by T+01:00:00
                  because  ForceQuit   \(because)
                """
        )
        #expect(PageTracks.ofApps(log).map(\.at) == PageTracks.ofApps(try forceQuit()).map(\.at))
    }

    @Test("LAUNCH-2: a force quit of an app without a process, which is told beside it, bars it all the same")
    func barredWithoutProcess() throws {
        let text = try explanation { log in
            try run(log, to: .active, .notRunning)
            try log.append(exit(.memory, code: 0))
            try log.append(happened(4, "force quit", of: app, at: second(7)))
            try log.append(DeedEntry(deed: .barredWithoutProcess, at: second(7), event: EventID(4)))
        }
        #expect(text.contains("  because  ForceQuit   the user swiped it away at T+00:00:07; "), "\(text)")
    }

    /// An app that waits for a region and was ended with the phone at 5 s, and what else the phone did.
    private func ended(_ acts: (word: String, locked: Bool)..., refused: Int? = nil, via: Registration = .region) throws
        -> Why
    {
        let log = try runLog { log in
            try run(log, to: .active, .suspended, .notRunning)
            try log.append(exit(.system, code: 0))
            for (number, act) in acts.enumerated() {
                let event = EventID(UInt64(number + 1))
                let at = second(Int64(number + 5))
                try log.append(Act(event: event, at: at, word: act.word, locked: act.locked))
                if number == refused { try log.append(DeedEntry(deed: .foundItSo, at: at, event: event)) }
            }
            let kept = RegistrationEntry.Kept(via: via.word, subject: "home", since: second(1))
            try log.append(RegistrationEntry(app: app, at: second(3_600), kept: [kept]))
        }
        return Why(log, app: app)
    }

    @Test("SYS-1: what waits while the phone is off says so, with what to do")
    func phoneIsOff() throws {
        let why = try ended(("shut down", true))
        let off = "since T+00:00:05: the phone is shut down   [SYS-1, design]"
        let lines = [
            "  because  PhoneIsOff   \(off)", "  try      Start it again: `phone: boot`",
            "  waits    for home (region since T+00:00:01)",
        ]
        #expect(why.explanation().hasSuffix("\n" + lines.joined(separator: "\n")), "\(why.explanation())")
        #expect(why.page().unready?.reason == "PhoneIsOff")
        #expect(why.page().unready?.t == "T+00:00:05.000")
        #expect(why.isKnown(.reason(.phoneIsOff)))
        #expect(why.isKnown(.rule(.sys1)))
    }

    @Test("LAUNCH-5: what waits for the first unlock says so", arguments: ["reboot", "boot"])
    func beforeFirstUnlock(start: String) throws {
        let why = try ended((start, true), ("Wi-Fi joined", true))
        let locked = "since T+00:00:05: the phone has a passcode and was not unlocked since its restart"
        let because = "\n  because  BeforeFirstUnlock   \(locked)   [LAUNCH-5, documented]\n"
        #expect(why.explanation().contains(because), "\(why.explanation())")
        #expect(why.page().unready?.rule == "LAUNCH-5")
        #expect(why.isKnown(.reason(.beforeFirstUnlock)))
    }

    @Test("LAUNCH-5: a phone that was unlocked, or has no passcode, or never started, keeps nothing waiting")
    func ready() throws {
        let runs = [
            try ended(("reboot", true), ("unlock", false), ("lock", true)),
            try ended(("reboot", false), ("lock", true)),
            try ended(("lock", true)), try ended(("reboot", false), ("boot", true), refused: 1),
            try ended(("shut down", true), via: .notification),
        ]
        for why in runs {
            #expect(why.page().unready == nil)
            #expect(!why.explanation().contains("  because  "), "\(why.explanation())")
        }
        let gates = try ended(("reboot", true))
        var log = gates.log
        log.header.settings["firstUnlockGates"] = "off"
        #expect(Why(log, app: app).page().unready == nil)
    }

    @Test("LAUNCH-4: where a reboot lifts no bar, only a user launch does, and a reboot changes nothing")
    func rebootDoesNotLift() throws {
        var log = try forceQuit { try $0.append(happened(2, "reboot", at: second(20))) }
        log.header.settings["rebootLiftsForceQuit"] = "off"
        #expect(
            Why(log, app: app).explanation()
                .hasSuffix("\n  because  ForceQuit   only a user launch clears this   [LAUNCH-2, documented]")
        )
    }

    @Test("LAUNCH-2: where a force quit bars nothing, nothing is said of a bar")
    func barsNothing() throws {
        var log = try forceQuit()
        log.header.settings["forceQuitBars"] = "off"
        #expect(!Why(log, app: app).explanation().contains("ForceQuit"))
        log.header.settings = [:]
        log.header.profile = "ios6"
        #expect(!Why(log, app: app).explanation().contains("ForceQuit"))
    }

    @Test("LAUNCH-2: an app that is force-quit after its process ended is told by both")
    func forceQuitLater() throws {
        let text = try explanation { log in
            try run(log, to: .active, .notRunning)
            try log.append(exit(.memory, code: 0))
            try log.append(happened(4, "force quit", of: app, at: second(7)))
        }
        #expect(
            text == """
                \(app)  was ended to free memory, at T+00:00:05 (x-1); no event for it came by T+01:00:00
                  because  ForceQuit   the user swiped it away at T+00:00:07; only a user launch or a reboot clears this   \
                [LAUNCH-2, documented]
                """
        )
    }

    @Test(
        "LAUNCH-2: beside a later decision the bar is told where that decision did not look at it",
        arguments: [true, false]
    )
    func barBesideDecision(isWeighed: Bool) throws {
        var later = fixture.resume(1, at: second(9))
        if !isWeighed { later.checks = CheckResults() }
        let text = try explanation([[later]]) { log in
            try run(log, to: .active, .notRunning)
            try log.append(happened(2, "force quit", of: app, at: second(5)))
        }
        #expect(text.contains("  because  ForceQuit   the user swiped it away at T+00:00:05; ") != isWeighed, "\(text)")
    }

    @Test("LAUNCH-2: can-wake tells the bar beside an answer that did not look at it", arguments: [true, false])
    func barBesideAnswer(isWeighed: Bool) throws {
        let why = Why(try forceQuit(), app: app)
        var refused = fixture.resume(1, at: second(9))
        (refused.verdict, refused.reason, refused.rule) = (.deny, .pushForUser, .push9)
        if !isWeighed { refused.checks = CheckResults() }
        let records = DecisionRecord.all(in: try fixture.contents([[refused], [fixture.resume(2, at: second(9))]]))
        let bar = "the user swiped it away at T+00:00:05; only a user launch or a reboot clears this   [LAUNCH-2, "
        #expect(why.answer([records[0]]).contains("\n  because  ForceQuit   \(bar)") != isWeighed)
        #expect(why.page(asked: records[0]).forceQuit?.bars == true)
        #expect(!why.answer([records[1]]).contains("ForceQuit"))
        #expect(why.page(asked: records[1]).forceQuit == nil)
    }

    @Test("LAUNCH-2: a user who has come to the app by a notification has cleared a force quit")
    func tappedAgain() throws {
        let text = try explanation { log in
            try log.append(happened(1, "force quit", of: app, at: .zero))
            try run(log, to: .notRunning, .active, .notRunning)
            try log.append(exit(.memory, code: 0))
        }
        #expect(!text.contains("ForceQuit"), "\(text)")
    }

    @Test("LAUNCH-2: a user launch has cleared a force quit for good")
    func launchedAgain() throws {
        let text = try explanation { log in
            try log.append(happened(1, "force quit", of: app, at: second(1)))
            try log.append(happened(2, "launch", of: app, at: second(2)))
            try run(log, to: .active, .notRunning)
            try log.append(exit(.memory, code: 0))
        }
        #expect(!text.contains("ForceQuit"))
    }

    @Test("LAUNCH-4: of a wake that a force quit denied it is said that a later reboot has lifted the bar")
    func deniedThenRebooted() throws {
        let denied = fixture.forceQuit(1, at: second(100), quitAt: second(50))
        let text = try explanation([[denied]]) { log in
            try run(log, to: .active, .notRunning)
            try log.append(happened(371, "force quit", of: app, at: second(50)))
            try log.append(happened(372, "reboot", at: second(200)))
        }
        #expect(text.hasPrefix("\(app)  NOT woken at T+00:01:40"), "\(text)")
        #expect(
            text.hasSuffix(
                "\n  later    the reboot at T+00:03:20 lifted the bar of the force quit at T+00:00:50   [LAUNCH-4, documented]"
            ),
            "\(text)"
        )
    }

    /// A run in which the app was woken at 90 s, sleeps again and waits for its belt, which is gone since 2 minutes.
    private func waiting() throws -> RunLog {
        try runLog([[fixture.resume(1, at: second(90))]]) { log in
            try run(log, to: .active, .suspended)
            let kept = RegistrationEntry.Kept(via: "pending-connect", subject: "meter", since: second(120))
            try log.append(RegistrationEntry(app: app, at: second(120), kept: [kept]))
            try log.append(RangeEntry(device: "meter", at: second(120), inRange: false))
        }
    }

    private static let wait = "  waits    for meter (pending-connect since T+00:02:00), out of range since T+00:02:00"

    @Test("Of an app that was woken earlier and sleeps, what it waits for follows what was decided")
    func waitsAfterDecision() throws {
        let text = try Why(waiting(), app: app).explanation()
        #expect(text.hasPrefix("\(app)  woken at T+00:01:30"), "\(text)")
        #expect(text.hasSuffix("\n" + Self.wait), "\(text)")
    }

    @Test("A table of a time without decisions says what the app waits for")
    func quietTable() throws {
        #expect(
            try Why(waiting(), app: app).table(since: .seconds(1_800))
                == "\(app)  no event for it came since T+00:30:00\n" + Self.wait
        )
    }

    @Test("A table of an app that crashed at its launch tells of the crash")
    func crashedTable() throws {
        let log = try runLog { log in
            try run(log, to: .inactive, .notRunning)
            try log.append(exit(.crash, code: -6, atLaunch: true))
        }
        #expect(
            Why(log, app: app).table(since: .seconds(3_600))
                == "\(app)  crashed at its launch, signal 6 (SIGABRT), at T+00:00:05 (x-1); "
                + "no event for it came by T+01:00:00"
        )
    }

    @Test("An event that only the user or the phone made is named by what it was, and that it changed nothing")
    func act() throws {
        _ = try fixture.run([[fixture.resume(1, at: second(3))]])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(AppEntry(app: app, name: "heart"))
        try outcomes.append(Act(event: EventID(9), at: second(4), word: "lock", origin: "night.yaml:7"))
        try outcomes.append(Act(event: EventID(10), at: second(5), word: "lock", origin: "night.yaml:8"))
        try outcomes.append(DeedEntry(deed: .foundItSo, at: second(5), event: EventID(10)))
        try outcomes.flush()
        let log = try RunLog(folder: fixture.folder.path)
        #expect(log.app("heart") == app)
        #expect(
            Why(log, app: app).explanation(event: EventID(9))
                == "\(app)  no decision about it came of e-000009, the lock at T+00:00:04 [night.yaml:7]"
        )
        #expect(
            Why(log, app: app).explanation(event: EventID(10))
                == "\(app)  no decision about it came of e-000010, the lock at T+00:00:05 [night.yaml:8]; "
                + "nothing changed, as it was so already (SYS-1)"
        )
    }
}

@Suite("Tables and lines on a terminal")
struct TextTableTests {
    private let rows = [
        ["TIME", "EVENT", "VALUE"],
        ["T+00:00:01.000", "characteristic-notified belt/2A37 (x6 over 15m)", "0048"],
    ]

    @Test("Without a width a row is as long as it is; with one no line is longer, and no word is lost")
    func width() {
        #expect(TextTable.lines(rows)[1] == "T+00:00:01.000  characteristic-notified belt/2A37 (x6 over 15m)  0048")
        for width in 30...70 {
            let lines = TextTable.lines(rows, width: width)
            #expect(lines.allSatisfy { $0.count <= width }, "\(width): \(lines)")
            let cells = rows.map { $0.joined() }.joined().filter { $0 != " " }
            #expect(lines.joined().filter { $0 != " " }.sorted() == cells.sorted())
        }
    }

    @Test("A line with a label is folded under its text")
    func prose() {
        let text = "com.acme.heart  woken\n  because  the app was suspended and is not any more"
        #expect(
            TextTable.prose(text, width: 30) == """
                com.acme.heart  woken
                  because  the app was
                           suspended and is
                           not any more
                """
        )
        #expect(TextTable.prose(text, width: nil) == text)
    }

    @Test(
        "A length of time below a millisecond is in microseconds",
        arguments: [(0, "0s"), (340_000, "340µs"), (1_500_000, "1ms"), (61_000_000_000, "1m1s")] as [(Int64, String)]
    )
    func short(nanoseconds: Int64, text: String) {
        #expect(LogTime.text(Instant.Span(nanoseconds: nanoseconds)) == text)
    }

    @Test("An outcome shorter than a millisecond keeps its microseconds")
    func shortOutcome() throws {
        let fixture = try ReportFixture()
        var outcome = fixture.outcome(1)
        outcome.spawn = Instant.Span(nanoseconds: 340_000)
        outcome.used = Instant.Span(nanoseconds: 5_000)
        let log = try fixture.run([[fixture.resume(1, at: second(1))]], outcomes: [outcome])
        #expect(log.outcomes[1]?.spawn == outcome.spawn)
        #expect(log.outcomes[1]?.used == outcome.used)
        #expect(Why(log, app: "com.acme.heart").explanation().contains("launched in 340 µs, 5 µs of 10 s"))
    }

    @Test("A line of a run that is followed fits its terminal, and is coloured only when asked")
    func followed() {
        let row = Timeline.Row(
            at: second(1),
            app: "com.acme.heart",
            event: "characteristic-notified heart-rate-belt/2A37",
            verdict: "resume",
            reason: "Resumed",
            pid: 4711,
            value: "0648"
        )
        let lines = Timeline.line(row, width: 80).split(separator: "\n")
        #expect(
            lines == [
                "T+00:00:01.000  com.acme.heart  resume  Resumed",
                "                characteristic-notified heart-rate-belt/2A37  pid 4711  0648",
            ]
        )
        #expect(!Timeline.line(row).contains("\u{1b}"))
        #expect(Timeline.line(row, isColoured: true).contains("\u{1b}[32mresume\u{1b}[0m"))
        #expect(Timeline.line(row, width: 80, isColoured: true).contains("\u{1b}[32mresume\u{1b}[0m"))
    }
}
