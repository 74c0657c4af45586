import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("What an app has lost, and how why and can-wake tell it")
struct LossTests {
    private let fixture: ReportFixture
    private let app = "com.acme.heart"
    private let belt = "heart-rate-belt"

    init() throws { fixture = try ReportFixture() }

    /// A run in which the app was suspended and ended at 5 s, whose logs hold these lines beside.
    private func why(
        _ decisions: [Decision] = [],
        ended cause: ExitCause = .memory,
        kept: [RegistrationEntry.Kept]? = nil,
        lost: DeedEntry...
    ) throws -> Why {
        _ = try fixture.run(decisions.map { [$0] })
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(AppEntry(app: app, name: "heart"))
        var from = AppState.notRunning
        for (number, state) in [AppState.active, .suspended, .notRunning].enumerated() {
            let at = state == .notRunning ? second(5) : second(Int64(number))
            try outcomes.append(StateMove(app: app, at: at, from: from, to: state, pid: 7))
            from = state
        }
        try outcomes.append(
            ExitEntry(
                number: 1,
                app: app,
                at: second(5),
                generation: 1,
                cause: cause,
                code: 0,
                stateBefore: .suspended,
                pid: 7
            )
        )
        for entry in lost { try outcomes.append(entry) }
        if let kept { try outcomes.append(RegistrationEntry(app: app, at: second(6), kept: kept)) }
        try outcomes.append(EndEntry(at: second(3_600)))
        try outcomes.flush()
        return Why(try RunLog(folder: fixture.folder.path), app: app)
    }

    private func lost(
        _ via: Registration,
        _ subject: String,
        to deed: Deed = .lostWithoutRestoreIdentifier,
        at: Instant = second(5)
    ) -> DeedEntry {
        DeedEntry(deed: deed, at: at, app: app, subject: subject, via: via.word)
    }

    private static let remedy =
        "Give the central manager CBCentralManagerOptionRestoreIdentifierKey, and the same on every launch"

    @Test("BTC-6: what went with the process is named, with when, by which rule and what would have kept it")
    func noRestoreIdentifier() throws {
        let text = try why(lost: lost(.connection, belt)).explanation()
        #expect(
            text == """
                \(app)  was ended to free memory, at T+00:00:05 (x-1); no event for it came by T+01:00:00
                  lost     its connection to \(belt), at T+00:00:05, when it was ended to free memory (x-1): gone with \
                the app's process, as its manager has no restore identifier   [BTC-6, documented]
                  try      \(Self.remedy)
                """
        )
    }

    @Test("BTC-6: a connection is told with the subscriptions that went with it, and a page says the same")
    func subscriptions() throws {
        let own = lost(.subscription, "\(belt)/2A37")
        let why = try why(lost: lost(.connection, belt), own, lost(.scan, "180D"))
        let things = ["its connection to \(belt) with its subscription to \(belt)/2A37", "its scan for 180D"]
        #expect(why.explanation().contains("\n  lost     \(things.joined(separator: ", ")), at T+00:00:05, when "))
        let page = why.page().lost
        #expect(page.map(\.what) == [things])
        #expect(page.map(\.via) == ["connection"])
        #expect(page.map(\.by) == ["lost-without-restore-identifier"])
        #expect(page.map(\.rule) == ["BTC-6"])
        #expect(page.map(\.exitId) == ["x-1"])
        #expect(page.map(\.advice) == [Self.remedy])
        let other = lost(.subscription, "\(belt)/2A19")
        let text = try self.why(lost: lost(.connection, belt), own, other).explanation()
        let both = "its connection to \(belt) with its subscriptions to \(belt)/2A37, \(belt)/2A19"
        #expect(text.contains("\n  lost     \(both), at T+00:00:05, when "), "\(text)")
    }

    @Test("LOC-3, AUD-12: what one end took is told apart where other rules and remedies are for it")
    func apart() throws {
        let vias: [Registration] = [.standardUpdates, .audioSession]
        let entries = vias.map { lost($0, "", to: .lostWithProcess) }
        let page = try why(lost: entries[0], entries[1]).page().lost
        #expect(page.map(\.what) == [["its location updates"], ["its audio session"]])
        #expect(page.map(\.rule) == ["LOC-3", "AUD-12"])
        #expect(Set(page.map(\.advice)).count == 2)
    }

    @Test("BTC-6: what was lost is told beside a later decision of another kind")
    func laterDecision() throws {
        let text = try why([fixture.forceQuit(1, at: second(100), quitAt: second(50))], lost: lost(.connection, belt))
            .explanation()
        #expect(text.hasPrefix("\(app)  NOT woken at T+00:01:40 by location region-entered home"), "\(text)")
        #expect(
            text.contains("\n  lost     its connection to \(belt), at T+00:00:05, when it was ended to free memory")
        )
        #expect(text.contains("\n  try      \(Self.remedy)"), "\(text)")
    }

    @Test("BT-1: what an app has asked for again is not lost any more, and the rest is")
    func regained() throws {
        let kept = RegistrationEntry.Kept(via: "pending-connect", subject: belt, since: second(6))
        let text = try why(kept: [kept], lost: lost(.connection, belt), lost(.scan, "180D")).explanation()
        #expect(!text.contains("its connection to \(belt)"), "\(text)")
        #expect(text.contains("\n  lost     its scan for 180D, at T+00:00:05"), "\(text)")
    }

    @Test("BT-1: what an app gave up itself is told where nothing else could wake it, and the last of it")
    func unregistered() throws {
        let entries = [
            lost(.scan, "180D", to: .unregistered, at: second(2)), lost(.connection, belt, to: .unregistered),
        ]
        let text = try why(kept: [], lost: entries[0], entries[1]).explanation()
        let words = "its connection to \(belt), at T+00:00:05: given up by the app itself   [BT-1, documented]"
        #expect(text.contains("\n  lost     \(words)\n"), "\(text)")
        #expect(!text.contains("its scan"), "\(text)")
        let own = lost(.subscription, "\(belt)/2A37", to: .unregistered)
        #expect(try why(kept: [], lost: entries[1], own).explanation().contains("\n  lost     \(words)\n"))
        let other = RegistrationEntry.Kept(via: "scan", subject: "180F", since: second(6))
        #expect(try !why(kept: [other], lost: entries[0], entries[1]).explanation().contains("  lost "))
    }

    @Test("BT-1: a scan that the app stopped before it lost its link is no loss, and one that it stopped later is")
    func stoppedScan() throws {
        let (scan, link) = (lost(.scan, "180D", to: .unregistered, at: second(2)), lost(.connection, belt))
        let text = try why(kept: [], lost: scan, link).explanation()
        #expect(text.contains("\n  lost     its connection to \(belt), at T+00:00:05, when "), "\(text)")
        #expect(!text.contains("180D"), "\(text)")
        let page = try why(kept: [], lost: scan, link).page().lost
        #expect(page.map(\.via) == ["connection"])
        let later = lost(.scan, "180D", to: .unregistered, at: second(6))
        let told = try why(kept: [], lost: link, later).explanation()
        #expect(told.contains("\n  lost     its scan for 180D, at T+00:00:06"), "\(told)")
    }

    @Test("BT-1: a subscription that an app ended is told by its characteristic while the link is up")
    func unsubscribed() throws {
        let kept = RegistrationEntry.Kept(via: "connection", subject: belt, since: second(2))
        let entry = lost(.subscription, "\(belt)/2A37", to: .unregistered, at: second(3))
        let text = try why(kept: [kept], lost: entry).explanation()
        #expect(text.contains("\n  lost     a subscription to \(belt)/2A37, at T+00:00:03: given up by the app itself"))
        let again = RegistrationEntry.Kept(via: "subscription", subject: "\(belt)/2A37", since: second(4))
        #expect(try !why(kept: [kept, again], lost: entry).explanation().contains("  lost "))
    }

    @Test("Whatever took a registration, why has words for it and something to do about it")
    func everyLoss() throws {
        let takers: [Deed] = [
            .lostWithoutRestoreIdentifier, .lostUnpreserved, .lostToForceQuit, .lostToReboot, .lostToRadio,
            .lostToUninstall, .lostWithProcess, .lostWithLink, .lostWithService, .lostWithDetachment, .lostInBackground,
            .unregistered, .lostToRadioAfterEnd, .lostToPeer, .lostToTearDown,
        ]
        for taker in takers {
            let text = try why(lost: lost(.connection, belt, to: taker)).explanation()
            #expect(text.contains("\n  lost     its connection to \(belt), at "), "\(taker)")
            #expect(text.contains(": \(taker.row.sentence)   ["), "\(taker)")
            #expect(text.contains("\n  try      "), "\(taker)")
        }
        let told = Set(Registration.allCases.map(\.word)).subtracting(Why.nouns.keys)
        let never: [Registration] = [
            .none, .manager, .operation, .answer, .voipMode, .transferEvents, .newsstandMode,
        ]
        #expect(told == Set(never.map(\.word)))
    }

    @Test("LOC-3: what is not brought back by its kind says so, and what to use instead")
    func updates() throws {
        let text = try why(lost: lost(.standardUpdates, "", to: .lostWithProcess)).explanation()
        #expect(text.contains("\n  lost     its location updates, at T+00:00:05, when "), "\(text)")
        #expect(text.contains("   [LOC-3, "), "\(text)")
        #expect(text.contains("\n  try      Monitor a region or significant changes: "), "\(text)")
    }

    @Test("SYS-2: an app that was uninstalled was so, and not ended by the system")
    func uninstalled() throws {
        let why = try why(ended: .system, lost: lost(.connection, belt, to: .lostToUninstall))
        var log = why.log
        log.acts = [Act(event: EventID(9), at: second(5), word: "uninstall", app: app)]
        let text = Why(log, app: app).explanation()
        let headline = "\(app)  was uninstalled, at T+00:00:05; no event for it came by T+01:00:00\n"
        #expect(text.hasPrefix(headline), "\(text)")
        let gone = "at T+00:00:05: gone with the app, which was uninstalled   [SYS-2, "
        #expect(text.contains("\n  lost     its connection to \(belt), \(gone)"), "\(text)")
        log.acts[0].app = "com.acme.other"
        #expect(Why(log, app: app).explanation().hasPrefix("\(app)  was ended by the system, at T+00:00:05 (x-1); "))
    }

    @Test("SYS-2: of an app that was uninstalled can-wake says that, whatever took what it was registered for")
    func askedOfUninstalled() throws {
        let swiped = lost(.connection, belt, to: .lostToForceQuit)
        var log = try why(ended: .userForceQuit, lost: swiped).log
        log.acts = [Act(event: EventID(9), at: second(6), word: "uninstall", app: app)]
        let why = Why(log, app: app)
        let because = "the user uninstalled the app at T+00:00:06, and the system keeps nothing of it"
        let remedy = "Install the app again, and launch it once"
        let text = why.answer([try nobody()])
        #expect(text.contains("\n  because  NoRegistration   \(because)   [SYS-2, design]\n"), "\(text)")
        #expect(text.hasSuffix("gone with the force quit   [LAUNCH-2, documented]\n  try      \(remedy)"), "\(text)")
        let page = why.page(asked: try nobody())
        #expect(page.decision?.because == because)
        #expect(page.decision?.advice == [remedy])
        #expect(page.lost.map(\.advice) == [remedy])
        #expect(why.words(try nobody()) == "NoRegistration [SYS-2]")
        log.acts.append(Act(event: EventID(10), at: second(6), word: "install", app: app))
        #expect(Why(log, app: app).uninstalled == nil)
    }

    @Test("A loss is read back from the log as it was written")
    func log() throws {
        let entry = lost(.pendingConnect, belt, to: .lostToRadio)
        #expect(try why(lost: entry).log.deeds == [entry])
        #expect(entry.text == "\(Deed.lostToRadio.row.sentence) (BTC-10): pending-connect \(belt)")
    }

    // MARK: What would become of an event

    private func records(_ decisions: [Decision]) throws -> [DecisionRecord] {
        DecisionRecord.all(in: try fixture.contents(decisions.map { [$0] }))
    }

    @Test("LAUNCH-6: events that fare alike are one paragraph, and one that fares otherwise is another")
    func paragraphs() throws {
        var others: [Decision] = []
        for (number, subject) in ["\(belt)/2A37", "\(belt)/2A38", "\(belt)/2A39"].enumerated() {
            var decision = fixture.nobody(UInt64(number + 1), at: second(10))
            decision.subject = fixture.names.intern(subject)
            others.append(decision)
        }
        let why = try why(lost: lost(.connection, belt))
        let text = why.answer(try records(others))
        #expect(
            text.hasPrefix(
                """
                no: characteristic-notified \(belt)/2A37, \(belt)/2A38, \(belt)/2A39: drop, NoRestoreIdentifier
                \(app)  would not be woken by bluetooth characteristic-notified \(belt)/2A37, \(belt)/2A38, \(belt)/2A39
                  because  NoRestoreIdentifier   the app is registered for it no more: gone with the app's process, as its \
                manager has no restore identifier, at T+00:00:05   [BTC-6, documented]
                  lost     its connection to \(belt), at T+00:00:05
                """
            ),
            "\(text)"
        )
        #expect(text.components(separatedBy: "\n  because ").count == 2, "\(text)")
        #expect(text.components(separatedBy: "\n  lost ").count == 2, "\(text)")
        #expect(text.hasSuffix("\n  try      \(Self.remedy)"), "\(text)")
        let woken = try records([others[0], fixture.resume(4, at: second(10))])
        #expect(why.answer(woken).components(separatedBy: "\n  because ").count == 3)
        #expect(why.answer(woken).contains("\nyes: characteristic-notified \(belt)/2A37: resume, Resumed\n"))
    }

    /// What the router makes of a value of the belt that nobody is registered for.
    private func nobody() throws -> DecisionRecord { try records([fixture.nobody(1, at: second(10))])[0] }

    @Test("BTC-8: why an event reaches nobody is what took the app's registration for it, whichever that was")
    func cause() throws {
        let why = try why(lost: lost(.connection, belt, to: .lostToReboot))
        let text = why.answer([try nobody()])
        #expect(text.hasPrefix("no: characteristic-notified \(belt)/2A37: drop, NoRegistration\n"), "\(text)")
        let because = "the app is registered for it no more: gone when the phone went off, at T+00:00:05"
        #expect(text.contains("\n  because  NoRegistration   \(because)   [BTC-8, documented]\n"), "\(text)")
        #expect(!text.contains("LAUNCH-6"), "\(text)")
        let decision = try #require(why.page(asked: try nobody()).decision)
        #expect([decision.reason, decision.rule, decision.because] == ["NoRegistration", "BTC-8", because])
        #expect(decision.advice == why.losses.compactMap(\.advice))
        #expect(decision.advice.count == 1)
        // What it lost of another device is told, and is not why.
        let other = try self.why(lost: lost(.connection, "other", to: .lostToReboot)).answer([try nobody()])
        #expect(other.contains("\n  because  NoRegistration   no app had registered   [LAUNCH-6, "), "\(other)")
        #expect(other.contains("\n  lost     its connection to other, at "), "\(other)")
    }

    @Test("BTC-8: what Bluetooth took from an app without a process only a launch by hand brings back")
    func radioAfterEnd() throws {
        let why = try why(lost: lost(.connection, belt, to: .lostToRadioAfterEnd, at: second(7)))
        let gone = "gone when Bluetooth went off after the app had ended"
        let text = why.explanation()
        #expect(text.contains("\n  lost     its connection to \(belt), at T+00:00:07: \(gone)   [BTC-8, "), "\(text)")
        #expect(text.contains("\n  try      Launch the app once by hand: "), "\(text)")
        #expect(!text.contains("centralManagerDidUpdateState"), "\(text)")
        #expect(why.words(try nobody()) == "NotRelaunchedAfterExit [BTC-8]")
        #expect(why.isKnown(.reason(.notRelaunchedAfterExit)))
    }

    @Test("BTC-8: where Control Centre kept the request for the link, a subscription is for the app to make again")
    func radioKeptRequest() throws {
        let kept = RegistrationEntry.Kept(via: "pending-connect", subject: belt, since: second(6))
        let entry = lost(.subscription, "\(belt)/2A37", to: .lostToRadioAfterEnd, at: second(7))
        let text = try why(kept: [kept], lost: entry).explanation()
        #expect(text.contains("\n  try      Subscribe again each time the peripheral is connected\n"), "\(text)")
        #expect(!text.contains("by hand"), "\(text)")
    }

    @Test("BTC-8: what an app published it is to publish again, and not to connect")
    func published() throws {
        let text = try why(lost: lost(.publishedService, "", to: .lostToReboot)).explanation()
        #expect(text.contains("\n  try      Publish the services and advertise again "), "\(text)")
        #expect(!text.contains("Connect"), "\(text)")
    }

    @Test("BTC-11: of a device that the app waits for, can-wake says so, with since when it is out of range")
    func waits() throws {
        let waits = RegistrationEntry.Kept(via: "pending-connect", subject: belt, since: second(6))
        var why = try why(kept: [waits], lost: lost(.subscription, "\(belt)/2A37", to: .lostWithLink))
        let line = "  waits    for \(belt) (pending-connect since T+00:00:06)"
        #expect(why.answer([try nobody()]).hasSuffix("\n" + line))
        #expect(why.page(asked: try nobody()).waits.map(\.subject) == [belt])
        var log = why.log
        log.ranges = [RangeEntry(device: belt, at: second(5), inRange: false)]
        why = Why(log, app: app)
        let text = why.answer([try nobody()])
        let because = "the app is registered for it no more: gone with the link, at T+00:00:05   [BTC-11, "
        #expect(text.contains(because), "\(text)")
        #expect(text.contains("\n  try      Subscribe again each time the peripheral is connected\n"), "\(text)")
        #expect(text.hasSuffix("\n\(line), out of range since T+00:00:05"), "\(text)")
        let other = RegistrationEntry.Kept(via: "pending-connect", subject: "other", since: second(6))
        let nothing = try self.why(kept: [other]).answer([try nobody()])
        let remedy = "\n  try      Let an app scan, connect or subscribe before the event happens"
        #expect(nothing.hasSuffix(remedy), "\(nothing)")
    }

    @Test("LAUNCH-6: of a push that nobody registered for why tells its app, and can-wake says what to do")
    func push() throws {
        var pushed = fixture.nobody(1, at: second(3))
        (pushed.kind, pushed.subject) = (.pushReceived, fixture.names.intern(app))
        let calls = RegistrationEntry.Kept(via: "push-kit", subject: app, since: second(1))
        let why = try why([pushed], kept: [calls])
        let remedy = "\n  try      Let the app be installed, and register for remote notifications, before the push is "
        let told = try #require(why.explanation(.events(EventChoice(kinds: ["push-received"]))))
        #expect(told.hasPrefix("\(app)  NOT given it at T+00:00:03 by push push-received \(app) (e-"), "\(told)")
        #expect(told.contains(remedy), "\(told)")
        let text = why.answer(try records([pushed]))
        #expect(text.hasSuffix("\(remedy)sent\n  waits    for \(app) (push-kit since T+00:00:01)"), "\(text)")
        #expect(Why(why.log, app: "com.acme.other").explanation(.reason(.noRegistration)) == nil)
    }

    @Test("BTC-6: a manager that has a restore identifier is not to be given one where nothing is restored")
    func restoresNone() throws {
        var record = try nobody()
        (record.app, record.verdict, record.reason, record.rule) = (app, .deny, .noRestoreIdentifier, .btc6)
        let why = try why(lost: lost(.connection, belt, to: .lostWithProcess))
        #expect(why.answer([record]).contains("   the central manager has no restore identifier, and "))
        record.restoreIdentifier = "central"
        let text = why.answer([record])
        #expect(text.contains("   this version of iOS restores no managers, and "), "\(text)")
        #expect(!text.contains("CBCentralManagerOptionRestoreIdentifierKey"), "\(text)")
        let remedy = "\n  try      Ask for it again whenever the app is launched"
        #expect(text.components(separatedBy: remedy).count == 2, "\(text)")
    }

    @Test("LAUNCH-6: what an app would have to do to be registered is of the source of the event")
    func advice() {
        for kind in EventKind.allCases where kind.mode != .bluetoothCentral {
            let text = ReasonText.advice(.noRegistration, of: kind.mode)
            #expect(text?.contains("scan") == false, "\(kind)")
        }
    }

    @Test("What was lost of another kind of event is not told of one")
    func otherSource() throws {
        let why = try why(lost: lost(.region, "home", to: .lostWithProcess))
        // Nor where both went at one instant.
        let region = lost(.region, "home", to: .lostToUninstall)
        let both = try self.why(lost: region, lost(.scan, "180D", to: .lostToUninstall))
        let nobody = try records([fixture.nobody(1, at: second(10))])
        #expect(both.answer(nobody).contains("\n  lost     its scan for 180D, at "), "\(both.answer(nobody))")
        #expect(!both.answer(nobody).contains("home"))
        #expect(!why.answer(nobody).contains("  lost "))
        #expect(why.page(asked: try records([fixture.nobody(1, at: second(10))])[0]).lost.isEmpty)
    }

    @Test(
        "A question names events by their kinds, by what they happened to, by its device or its last part, or by both",
        arguments: [
            (EventChoice(), true), (EventChoice(kinds: ["characteristic-notified"]), true),
            (EventChoice(kinds: ["region-entered"]), false), (EventChoice(subject: "belt/2A37"), true),
            (EventChoice(subject: "belt"), true), (EventChoice(subject: "2a37"), true),
            (EventChoice(subject: "bel"), false), (EventChoice(subject: "A37"), false),
            (EventChoice(kinds: ["characteristic-notified"], subject: "belt/2A38"), false),
            (EventChoice(kinds: ["region-entered", "characteristic-notified"], subject: "BELT"), true),
        ]
    )
    func choice(_ choice: EventChoice, isAbout: Bool) {
        #expect(choice.matches(kind: "characteristic-notified", subject: "belt/2A37") == isAbout)
    }

    @Test("why about events explains the newest of them, with what was lost since")
    func chosenEvent() throws {
        let why = try why([fixture.resume(1, at: second(3))], lost: lost(.connection, belt))
        for choice in [EventChoice(kinds: ["characteristic-notified"]), EventChoice(subject: "\(belt)/2A37")] {
            let text = try #require(why.explanation(.events(choice)))
            #expect(text.hasPrefix("\(app)  woken at T+00:00:03 by bluetooth characteristic-notified"), "\(text)")
            #expect(text.contains("\n  lost     its connection to \(belt)"), "\(text)")
        }
        #expect(why.explanation(.events(EventChoice(subject: "home"))) == nil)
    }
}
