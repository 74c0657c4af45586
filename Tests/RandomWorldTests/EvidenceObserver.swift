import WakeModel
import WakeRouter

/// Watches that records say why: that the decisive check alone stands between the verdict and what would have been, and that
/// what a record shows is what was so. Knows the verdict of each check from the rulebook, and not from the router.
struct EvidenceObserver {
    /// What the observer knows of one app.
    private struct App {
        var manifest = AppManifest(bundle: .none, modes: [])
        var isInstalled = false
        var generation: UInt32 = 0
        var lastExit: (number: UInt64, cause: ExitCause, at: Instant) = (0, .exit, .zero)
        var forceQuit = false
        var forceQuitAt = Instant.zero
        var forceQuitBy = EventID.none
        /// The user has launched it since, and its old process is not gone yet.
        var isLaunchedAnew = false
        var rebootedSince = false
        var authorization = LocationAuthorization.notDetermined
        /// What its managers were created with.
        var restoreIdentifiers: Set<NameID> = [.none]
        /// When it was woken for its calls.
        var calls: [Instant] = []
        /// When it asked for anything, or was installed.
        var asked: Set<Instant> = []
        /// The distance filters of its standard updates, as chords; one fix that is asked for has none.
        var filters: Set<Double> = [0]
        /// Where it was given fixes.
        var given: Set<Direction> = []
        /// Its states within the turn, the first of them the one before it, and since when.
        var states: [(state: AppState, since: Instant)] = [(.notRunning, .zero)]
    }

    private let profile: Profile
    private var apps: [App] = []
    private var unlockedSinceBoot = true
    private var isOff = false
    private var unlockedAt = Instant.zero
    private var passcode = true
    private var bluetoothOn = true
    private var now = Instant.zero
    /// The fixes that were heard, by the numbers of their events.
    private var fixes: [EventID: Direction] = [:]
    /// The verdicts of the records, by their numbers.
    private var verdicts: [Verdict] = []
    private(set) var tally = EvidenceTally()
    private(set) var violation: String?

    init(profile: Profile) { self.profile = profile }

    private mutating func fail(_ decision: Decision, _ text: String) {
        guard violation == nil else { return }
        violation =
            "SYS-4: \(decision.id), \(decision.kind.word) for app \(decision.app.number), \(decision.verdict.word) "
            + "\(decision.reason.word): \(text)"
    }

    // MARK: What is so

    /// An input was heard at an instant, and this came out.
    mutating func observe(_ input: Input, id: EventID, at now: Instant, _ output: RouterOutput) {
        self.now = max(self.now, now)
        for index in apps.indices { apps[index].states.removeFirst(apps[index].states.count - 1) }
        let before = apps
        hear(input, id: id)
        for action in output.actions { observe(action) }
        for decision in output.decisions {
            check(decision, before)
            verdicts.append(decision.verdict)
            noteCall(decision)
            noteFix(decision)
        }
    }

    /// A phone that is off only starts (SYS-1).
    private mutating func isMissed(_ input: Input) -> Bool {
        switch input {
        case .phone(.boot):
            if isOff, unlockedSinceBoot { unlockedAt = now }
            isOff = false
            return true
        case .phone, .clock, .user, .setUp, .uninstall, .update, .refuseUpdate: return isOff
        default: return false
        }
    }

    private mutating func hear(_ input: Input, id: EventID) {
        if isMissed(input) { return }
        switch input {
        case .install(let app, let manifest), .update(let app, let manifest):
            while apps.count <= Int(app.number) { apps.append(App()) }
            apps[Int(app.number)].manifest = manifest
            if !apps[Int(app.number)].isInstalled {
                apps[Int(app.number)].states.append((.notRunning, now))
                apps[Int(app.number)].forceQuit = false
                apps[Int(app.number)].rebootedSince = false
                apps[Int(app.number)].authorization = .notDetermined
                apps[Int(app.number)].restoreIdentifiers = [.none]
                apps[Int(app.number)].calls = []
                apps[Int(app.number)].asked = [now]
            }
            apps[Int(app.number)].isInstalled = true
        case .uninstall(let app):
            // Only the counts of its processes and ends go on.
            apps[Int(app.number)].isInstalled = false
        case .phone(.unlock), .phone(.removePasscode):
            if !unlockedSinceBoot { unlockedAt = now }
            unlockedSinceBoot = true
            if case .phone(.removePasscode) = input { passcode = false }
        case .phone(.setPasscode): passcode = true
        case .phone(.reboot), .phone(.shutDown):
            isOff = input == .phone(.shutDown)
            unlockedSinceBoot = !passcode
            if unlockedSinceBoot { unlockedAt = now }
            for index in apps.indices {
                apps[index].rebootedSince = true
                if profile.rebootLiftsForceQuit { apps[index].forceQuit = false }
            }
        case .user(let app, .forceQuit):
            apps[Int(app.number)].forceQuit = true
            apps[Int(app.number)].forceQuitAt = now
            apps[Int(app.number)].forceQuitBy = id
            apps[Int(app.number)].isLaunchedAnew = false
        case .user(let app, .launch):
            if apps[Int(app.number)].forceQuit { apps[Int(app.number)].isLaunchedAnew = true }
            apps[Int(app.number)].forceQuit = false
        case .request(let app, let request): hear(request, from: Int(app.number))
        case .event(let event):
            noteTap(event)
            noteAuthorization(event)
            fixes[event.id] = event.fix?.direction
            if event.kind == .peripheralDisconnected, event.client == nil, profile.areas.bluetooth.reconnects {
                // BTC-11: for who asked for it, the system waits anew from the loss on.
                for index in apps.indices { apps[index].asked.insert(now) }
            }
            if event.kind == .bluetoothPoweredOn { bluetoothOn = true }
            if event.kind == .bluetoothPoweredOff { bluetoothOn = false }
        case .overflowed(let event):
            // A loss that nobody hears of is one all the same (BTC-11).
            guard event.kind == .peripheralDisconnected, profile.areas.bluetooth.reconnects else { break }
            for index in apps.indices { apps[index].asked.insert(now) }
        default: break
        }
    }

    private mutating func hear(_ request: AppRequest, from index: Int) {
        apps[index].asked.insert(now)
        switch request {
        case .createManager(_, let identifier), .peripheralManager(_, .create(let identifier)):
            apps[index].restoreIdentifiers.insert(identifier)
        case .location(_, .startUpdating(let chord, _, _)): apps[index].filters.insert(chord)
        default: break
        }
    }

    /// The filter measures from where an app was given a fix, at once or later (LOC-4).
    private mutating func noteFix(_ decision: Decision) {
        guard decision.kind == .positionFixed, decision.verdict.delivers || decision.verdict == .defer,
            let direction = fixes[decision.event]
        else { return }
        apps[Int(decision.app.number)].given.insert(direction)
    }

    /// Who taps a notification launches its app (NOTE-6).
    private mutating func noteTap(_ event: WakeEvent) {
        guard event.kind == .notificationTapped, !isOff, let app = event.app, apps[Int(app.number)].isInstalled else {
            return
        }
        if apps[Int(app.number)].forceQuit { apps[Int(app.number)].isLaunchedAnew = true }
        apps[Int(app.number)].forceQuit = false
    }

    private mutating func noteAuthorization(_ event: WakeEvent) {
        guard event.kind == .authorizationChanged, let app = event.app, let authorization = event.authorization,
            apps[Int(app.number)].isInstalled
        else { return }
        apps[Int(app.number)].authorization = authorization
    }

    private mutating func observe(_ action: Action) {
        switch action {
        case .moved(let app, _, let to): apps[Int(app.number)].states.append((to, now))
        case .launch(let app, let generation, _, _, _, _):
            apps[Int(app.number)].generation = generation
            apps[Int(app.number)].rebootedSince = false
            apps[Int(app.number)].isLaunchedAnew = false
        case .exited(let record):
            apps[Int(record.app.number)].lastExit = (record.number, record.cause, now)
        case .alert(let app, let kind, _, _) where kind.source == .location:
            // The user allows it; that he does not is an event.
            apps[Int(app.number)].authorization = .always
        case .raise(let event, _): noteAuthorization(event)
        default: break
        }
    }

    /// VOIP-6 counts what wakes an app for what its peer or it does.
    private mutating func noteCall(_ decision: Decision) {
        let counts = [.voipData, .voipClosed, .voipAfterExit].contains(decision.kind)
        guard counts, decision.verdict == .resume || decision.verdict == .relaunch, profile.areas.voip.wakeLimit != nil
        else {
            return
        }
        apps[Int(decision.app.number)].calls.append(now)
    }

    // MARK: A record

    private mutating func check(_ decision: Decision, _ before: [App]) {
        if decision.checks.isEmpty { return checkEnd(decision) }
        let failing = Check.allCases.filter { decision.checks[$0] == .fail }
        tally.count(decision, failing)
        let ofNobody: Set<Check> = [.anyoneRegistered, .crossesBoundary, .beaconIsNew, .extensionAnswered]
        let ofBoth: Set<Check> = [.dwellOver, .roomInQueues]
        for check in Check.allCases where decision.checks[check] != .notEvaluated && !ofBoth.contains(check) {
            if ofNobody.contains(check) != (decision.app == .none) {
                fail(decision, "\(check) is not asked of it")
            }
        }
        checkVerdict(decision, failing)
        checkFlips(decision, failing)
        checkPhone(decision)
        if decision.app != .none {
            let index = Int(decision.app.number)
            checkApp(decision, apps[index], index < before.count ? before[index] : App())
            checkInterest(decision, apps[index], index < before.count ? before[index] : App())
        }
        for check in Check.allCases {
            let result = decision.checks[check]
            guard result == .pass || result == .fail, let holds = Rulebook.holds(check, decision, profile) else {
                continue
            }
            if holds != (result == .pass) { fail(decision, "\(check) is \(result) against what the record shows") }
        }
    }

    /// A record without checks ends an earlier one of the same event, and says what ended the waiting.
    private mutating func checkEnd(_ decision: Decision) {
        tally.ends += 1
        let reasons: Set<Reason> = [
            .deliveredLater, .newerUpdateKept, .overflow, .registrationEnded, .appEnded, .benchRestarted,
            .managerNotCreated, .notAuthorized, .newerPushKept, .heldPushDropped, .newerPushStored,
        ]
        if !reasons.contains(decision.reason) { fail(decision, "nothing is asked, and nothing ended") }
        // What comes later does so by the rule that let it wait: BTC-2, BTP-1, LOC-2, AUD-6, LAUNCH-6.
        let later: [RuleID] =
            switch decision.snapshot.via.source {
            case .bluetooth: decision.kind == .readyToWrite ? [.btc12] : [.btc2, .btp1, .btc13]
            case .location: [decision.snapshot.via == .answer ? .launch6 : .loc2]
            case .audio: [.aud6, .launch6]
            default: [.launch6]
            }
        if decision.reason == .deliveredLater ? !later.contains(decision.rule) : decision.rule != decision.reason.rule {
            fail(decision, "\(decision.rule.text) is not its rule")
        }
        let earlier = Int(decision.supersedes.number) - 1
        guard verdicts.indices.contains(earlier) else {
            return fail(decision, "nothing is asked, and it ends no record")
        }
        if !verdicts[earlier].delivers, verdicts[earlier] != .defer {
            fail(decision, "it ends a record that was final")
        }
        if decision.wouldHave != (decision.verdict.delivers ? decision.verdict : nil) {
            fail(decision, "would have been \(decision.wouldHave?.word ?? "untold")")
        }
    }

    /// The first failing check gives verdict, reason and rule; without one the app gets the event.
    private mutating func checkVerdict(_ decision: Decision, _ failing: [Check]) {
        if decision.verdict != Rulebook.verdict(failing, decision) {
            fail(decision, "\(failing) give \(Rulebook.verdict(failing, decision).word)")
        }
        guard let decisive = failing.first else { return }
        if decision.rule != decisive.rule { fail(decision, "\(decisive) decides, and not \(decision.rule.text)") }
    }

    /// Each failing check is flipped alone. The decisive one changes the verdict to what would have been, and with it the
    /// reason; no other one does either.
    private mutating func checkFlips(_ decision: Decision, _ failing: [Check]) {
        guard let decisive = failing.first else {
            if decision.wouldHave != decision.verdict { fail(decision, "would have differs, and nothing fails") }
            if !decision.verdict.delivers, decision.reason != .ledToEvents {
                tally.withoutDecisive += 1
                fail(decision, "it is refused, and nothing fails")
            }
            return
        }
        if decision.verdict.delivers { fail(decision, "it delivers, and \(decisive) fails") }
        for check in failing {
            tally.flips += 1
            let others = failing.filter { $0 != check }
            let verdict = Rulebook.verdict(others, decision)
            if check == decisive {
                guard let wouldHave = decision.wouldHave else {
                    if Rulebook.tells(decision, decisive) { fail(decision, "would have is untold") }
                    continue
                }
                // What is for the user alone says what would stand in the way of one that is for its app.
                let isTold = check == .pushForApp && !wouldHave.delivers
                if verdict != wouldHave, !isTold {
                    fail(decision, "without \(check) it would be \(verdict.word), not \(wouldHave.word)")
                }
                if others.isEmpty, verdict == decision.verdict { fail(decision, "without \(check) nothing changes") }
            } else if others.first != decisive || verdict.delivers {
                tally.withTwoDecisive += 1
                fail(decision, "\(check) decides beside \(decisive)")
            }
        }
    }

    // MARK: What a record shows

    private mutating func checkPhone(_ decision: Decision) {
        let shown = decision.snapshot
        if shown.unlockedSinceBoot != unlockedSinceBoot, shown.unlockedSinceBoot || passcode {
            fail(decision, "unlocked since boot is shown as \(shown.unlockedSinceBoot)")
        }
        if shown.unlockedSinceBoot, unlockedSinceBoot, shown.unlockedAt != unlockedAt {
            fail(decision, "unlocked at \(shown.unlockedAt), not \(unlockedAt)")
        }
        if shown.passcode != passcode { fail(decision, "passcode is shown as \(shown.passcode)") }
        if shown.bluetoothOn != bluetoothOn { fail(decision, "Bluetooth is shown as \(shown.bluetoothOn)") }
    }

    /// Within a turn an app may go through several states: what a record shows is of one of them.
    private mutating func checkApp(_ decision: Decision, _ app: App, _ before: App) {
        let shown = decision.snapshot
        if !app.states.contains(where: { $0.state == shown.state && $0.since == shown.stateSince }) {
            fail(decision, "it is shown as \(shown.state) since \(shown.stateSince)")
        }
        if shown.generation != app.generation, shown.generation != before.generation {
            fail(decision, "generation is shown as \(shown.generation)")
        }
        if shown.modes != app.manifest.modes { fail(decision, "other modes are shown") }
        if shown.bundle != app.manifest.bundle { fail(decision, "another bundle is shown") }
        if shown.exitsOnSuspend != app.manifest.exitsOnSuspend { fail(decision, "exits on suspend is wrong") }
        if shown.bluetoothAllowed != (app.manifest.bluetoothAuthorization == .allowed) {
            fail(decision, "the use of Bluetooth is shown as \(shown.bluetoothAllowed)")
        }
        let ends = [app.lastExit, before.lastExit]
        if !ends.contains(where: { $0 == (shown.lastExit, shown.lastExitCause, shown.lastExitAt) }), shown.lastExit != 0
        {
            fail(decision, "the last exit is shown as x-\(shown.lastExit), \(shown.lastExitCause)")
        }
        if shown.rebootedSince != app.rebootedSince, shown.rebootedSince != before.rebootedSince {
            fail(decision, "restarted since is shown as \(shown.rebootedSince)")
        }
        if shown.forceQuit != app.forceQuit, shown.forceQuit != before.forceQuit, !before.isLaunchedAnew {
            fail(decision, "force quit is shown as \(shown.forceQuit)")
        }
        let quits = [(app.forceQuitAt, app.forceQuitBy), (before.forceQuitAt, before.forceQuitBy)]
        if shown.forceQuit, !quits.contains(where: { $0 == (shown.forceQuitAt, shown.forceQuitBy) }) {
            fail(decision, "force quit by \(shown.forceQuitBy) at \(shown.forceQuitAt)")
        }
    }
}

extension EvidenceObserver {
    private mutating func checkInterest(_ decision: Decision, _ app: App, _ before: App) {
        let shown = decision.snapshot
        if shown.locationAuthorization != app.authorization, shown.locationAuthorization != before.authorization {
            fail(decision, "what the app may know of the position is shown as \(shown.locationAuthorization)")
        }
        if !app.restoreIdentifiers.contains(shown.restoreIdentifier) {
            fail(decision, "\(shown.restoreIdentifier) is no restore identifier of its managers")
        }
        let calls = app.calls.count { now.since($0) < profile.areas.voip.wakeWindow }
        if [.pass, .fail].contains(decision.checks[.voipWakesLeft]), Int(shown.voipWakes) != calls {
            fail(decision, "\(shown.voipWakes) wakes are shown, and it was woken \(calls) times")
        }
        if shown.sdk != app.manifest.sdk { fail(decision, "another SDK is shown") }
        guard shown.via != .none else { return }
        if !app.asked.contains(shown.registeredAt) {
            fail(decision, "it asked for nothing at \(shown.registeredAt), by \(shown.via)")
        }
        if decision.checks[.beyondDistanceFilter] != .notApplicable, shown.via == .standardUpdates {
            checkDistance(decision, app)
        }
        switch shown.state {
        case .active, .inactive:
            if shown.budgetLimit != .zero { fail(decision, "a window is shown of an app in the foreground") }
        case .background:
            if shown.budgetUsed > shown.budgetLimit { fail(decision, "more of the window is used than there was") }
        case .suspended, .notRunning:
            if shown.budgetLimit != window(of: shown.via) || shown.budgetUsed != .zero {
                fail(decision, "a window of \(shown.budgetLimit) is shown")
            }
        }
    }

    /// What a distance filter was asked about: one of the app's filters, and how far it is from a fix that the app was given.
    private mutating func checkDistance(_ decision: Decision, _ app: App) {
        let shown = decision.snapshot
        if !app.filters.contains(shown.filterChord) {
            fail(decision, "the app never asked for a filter of \(shown.filterChord)")
        }
        guard shown.movedSquare.isFinite, let here = fixes[decision.event] else { return }
        if !app.given.contains(where: { here.chordSquared(to: $0) == shown.movedSquare }) {
            fail(decision, "no fix that the app was given is \(shown.movedSquare) from here")
        }
    }

    /// The window of a wake, by source: BTC-1, LOC-8, AUD-6, EA-2, VOIP-3, FETCH-2, BGT-6, BGT-7.
    private func window(of via: Registration) -> Instant.Span {
        switch via.source {
        // The user sees it, and the app gets no time (NOTE-1).
        case .notification: .zero
        case .location: profile.areas.location.window
        case .audio: profile.areas.audio.window
        case .accessory: profile.areas.accessory.window
        case .voip: profile.areas.voip.window
        case .transfer: profile.areas.transfer.window
        case .push: profile.areas.push.window
        case .task:
            via == .processingTask
                ? profile.areas.backgroundTask.processingLimit : profile.areas.backgroundTask.refreshLimit
        default: profile.areas.bluetooth.window
        }
    }
}

/// How often each check passed, failed and decided, and what was flipped.
struct EvidenceTally {
    private static let checks = Check.allCases.count

    var passed = [Int](repeating: 0, count: EvidenceTally.checks)
    var failed = [Int](repeating: 0, count: EvidenceTally.checks)
    var decided = [Int](repeating: 0, count: EvidenceTally.checks)
    var records = 0
    /// Records that only end an earlier one.
    var ends = 0
    var flips = 0
    var withoutDecisive = 0
    var withTwoDecisive = 0

    mutating func count(_ decision: Decision, _ failing: [Check]) {
        records += 1
        for check in Check.allCases where decision.checks[check] == .pass { passed[Int(check.rawValue)] += 1 }
        for check in failing { failed[Int(check.rawValue)] += 1 }
        if let decisive = failing.first { decided[Int(decisive.rawValue)] += 1 }
    }

    mutating func add(_ other: EvidenceTally) {
        records += other.records
        ends += other.ends
        flips += other.flips
        withoutDecisive += other.withoutDecisive
        withTwoDecisive += other.withTwoDecisive
        for index in passed.indices {
            passed[index] += other.passed[index]
            failed[index] += other.failed[index]
            decided[index] += other.decided[index]
        }
    }

    /// A check that cannot pass, or cannot fail, or never decides is none.
    var missing: [String] {
        // These two are asked only of what is lost.
        let ofLoss: Set<Check> = [.roomInQueues, .lastsUntilDecided, .phoneIsOn]
        return Check.allCases.flatMap { check in
            let index = Int(check.rawValue)
            return (passed[index] == 0 && !ofLoss.contains(check) ? ["check \(check) passes"] : [])
                + (failed[index] == 0 ? ["check \(check) fails"] : [])
                + (decided[index] == 0 ? ["check \(check) decides"] : [])
        }
    }

    var text: String {
        func cell(_ value: Int) -> String { String(repeating: " ", count: max(0, 11 - "\(value)".count)) + "\(value)" }
        var lines = ["check".padding(30) + "       pass       fail    decides"]
        for check in Check.allCases {
            let index = Int(check.rawValue)
            lines.append("\(check)".padding(30) + cell(passed[index]) + cell(failed[index]) + cell(decided[index]))
        }
        lines.append(
            "\(records) records with checks, \(ends) that end an earlier one, \(flips) failing checks flipped; "
                + "refused without a decisive check: \(withoutDecisive); with two: \(withTwoDecisive)"
        )
        return lines.joined(separator: "\n")
    }
}

extension String {
    fileprivate func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
