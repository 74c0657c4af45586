import WakeModel
import WakeRouter

/// Watches a router from outside: knows the rulebook, sees inputs, actions and decisions, and never looks inside.
struct Observer {
    /// What the observer knows of one app.
    struct App {
        var state = AppState.notRunning
        var generation: UInt32 = 0
        var hasBluetoothMode = false
        var hasPeripheralMode = false
        var alive = false
        var launching = false
        /// didEnterBackground or willTerminate was called and has not returned.
        var leaving = false
        var ending = false
        /// The host was asked to freeze, and neither answered nor was told otherwise.
        var freezing = false
        /// It is suspended, and no thaw has come.
        var frozen = false
        var installed = false
        /// The user force-quit it, and nothing has lifted the bar (LAUNCH-2).
        var barred = false
        /// What the user has set up for it with AccessorySetupKit, as far as it declares that (BTC-8).
        var accessoriesSetUp: Set<NameID> = []
        var mayBeSetUp = false
        /// What the user lets it know of the position.
        var locationAuthorization = LocationAuthorization.notDetermined
        var tasks: Set<UInt64> = []
        var expired: Set<UInt64> = []
        /// The managers that the present process has made.
        var managers: Set<ManagerNumber> = []
        /// The source was told that it plays or records (AUD-1).
        var isSounding = false
        /// When it stopped its sound and kept its session.
        var stoppedAt: Instant?
        /// The process has used sound.
        var usesSound = false
        /// What the router found and is still to decide for it.
        var awaited: [EventKind] = []
        var hasLocationMode = false
        /// The managers whose updates go on in the background, as far as the app asked.
        var backgroundUpdates: Set<ManagerNumber> = []
        /// When the running window began; nil when none runs (LIFE-11).
        var windowBegan: Instant?
        /// Since when it has been in the background without a break.
        var backgroundSince = Instant.zero
        /// The sockets of its process that are marked for VoIP.
        var sockets: Set<SocketNumber> = []
        /// When it was woken for its calls.
        var calls: [Instant] = []
        /// Until when pushes, and what it owes for them, let it run.
        var pushedUntil = Instant.zero
        /// Until when the word that a session has something, and what it owes for it, let it run (XFER-10).
        var transferredUntil = Instant.zero
        /// The notifications of it that the user sees.
        var notices: Set<NameID> = []
        /// The sessions that its process has joined.
        var transferSessions: Set<ManagerNumber> = []
        /// Until when it owes completion handlers, and of which sessions (XFER-10).
        var owed: [(session: NameID, due: Instant)] = []
        /// The length of its window.
        var windowLength = Instant.Span.zero
        /// The transfers that the source has of it.
        var transfers: Set<TransferNumber> = []
        /// A debugger exempts it from limits of time (SYS-5).
        var isExempt = false
        /// The tasks that it has not answered for, by number, and since when (BGT-8).
        var owes: [UInt32: Instant] = [:]
        /// What is kept for it, and how often.
        var kept: [EventID: Int] = [:]
        var keptCount = 0
    }

    private struct Delivery: Hashable {
        var app: AppID
        var generation: UInt32
        var manager: ManagerNumber
        var event: EventID
    }

    private struct Record {
        var event: EventID
        var app: AppID
        var verdict: Verdict
        var via: Registration
        var superseded = false
        var delivered = false
    }

    let profile: Profile
    private(set) var apps: [App] = []
    private(set) var tally = Tally()
    /// The first thing that was wrong.
    private(set) var violation: String?
    /// Folds everything that came out, in order.
    private(set) var hasher = Hasher()

    private var records: [Record] = []
    private var deliveries: Set<Delivery> = []
    /// How many records each event has, by its number.
    private var recordCounts: [Int] = [0]
    /// The peripheral that each event is about, by its number.
    private var peripherals: [NameID] = [.none]
    /// The tasks that events hand over, by the numbers of the events.
    private var tasks: [EventID: UInt32] = [:]
    private var lastExit: UInt64 = 0
    private var passcode = true
    private var unlockedSinceBoot = true
    private var isOff = false
    private var now = Instant.zero
    private var centrals = CentralsObserver()
    private var accessories = AccessoriesObserver()
    private(set) var evidence: EvidenceObserver

    init(profile: Profile) {
        self.profile = profile
        evidence = EvidenceObserver(profile: profile)
    }

    /// The events that have no record yet.
    var unrecorded: [EventID] {
        recordCounts.indices.dropFirst().filter { recordCounts[$0] == 0 }.map { EventID(UInt64($0)) }
    }

    // MARK: Before the turn

    /// An input is about to be heard.
    mutating func willHear(_ input: Input, id: EventID, at now: Instant) {
        self.now = max(self.now, now)
        tally.steps += 1
        while UInt64(recordCounts.count) <= id.number { recordCounts.append(0) }
        while UInt64(peripherals.count) <= id.number { peripherals.append(.none) }
        switch input {
        case .event(let event), .overflowed(let event):
            peripherals[Int(id.number)] = event.peripheral
            // Of what the phone is not told there is nothing to decide (BTC-14).
            if event.isUntoldChange { recordCounts[Int(id.number)] = 1 }
            if BackgroundTaskKind.allCases.contains(where: { $0.event == event.kind }) { tasks[id] = event.task }
        default: recordCounts[Int(id.number)] = 1
        }
        centrals.willHear(input, at: self.now)
        accessories.willHear(input)
        count(input)
    }

    /// A phone that is off only starts (SYS-1).
    private mutating func isMissed(_ input: Input) -> Bool {
        switch input {
        case .phone(.boot):
            isOff = false
            return true
        case .phone, .clock, .user, .setUp, .uninstall, .update, .refuseUpdate: return isOff
        default: return false
        }
    }

    /// The input itself changes what the observer knows, once the deadlines before it were handled.
    private mutating func hear(_ input: Input) {
        if isMissed(input) { return }
        switch input {
        case .install(let app, let manifest), .update(let app, let manifest):
            while apps.count <= Int(app.number) { apps.append(App()) }
            if !apps[Int(app.number)].installed { apps[Int(app.number)].accessoriesSetUp = [] }
            apps[Int(app.number)].mayBeSetUp = manifest.accessorySetup
            apps[Int(app.number)].installed = true
            apps[Int(app.number)].hasBluetoothMode = manifest.modes.contains(.bluetoothCentral)
            apps[Int(app.number)].hasPeripheralMode = manifest.modes.contains(.bluetoothPeripheral)
            apps[Int(app.number)].hasLocationMode = manifest.modes.contains(.location)
        case .uninstall(let app):
            apps[Int(app.number)].installed = false
            apps[Int(app.number)].barred = false
            apps[Int(app.number)].isExempt = false
            apps[Int(app.number)].calls = []
            apps[Int(app.number)].locationAuthorization = .notDetermined
        case .phone(.unlock), .phone(.removePasscode):
            unlockedSinceBoot = true
            if case .phone(.removePasscode) = input { passcode = false }
        case .phone(.setPasscode): passcode = true
        case .phone(.reboot), .phone(.shutDown):
            isOff = input == .phone(.shutDown)
            unlockedSinceBoot = !passcode
            if profile.rebootLiftsForceQuit {
                for index in apps.indices { apps[index].barred = false }
            }
        case .setUp(let app, let peripheral):
            if apps[Int(app.number)].installed, apps[Int(app.number)].mayBeSetUp {
                apps[Int(app.number)].accessoriesSetUp.insert(peripheral)
            }
        case .user(let app, .attachDebugger), .user(let app, .attachExemptingDebugger), .user(let app, .detachDebugger):
            hear(debuggerOf: Int(app.number), exempts: input == .user(app, .attachExemptingDebugger))
        case .user(let app, .launch): apps[Int(app.number)].barred = false
        case .user(let app, .forceQuit): apps[Int(app.number)].barred = apps[Int(app.number)].installed
        case .request(let app, let request): hear(request, from: Int(app.number))
        case .process(let app, let report): hear(report, of: Int(app.number))
        case .event(let event):
            noteTap(event)
            if let app = event.app, let authorization = event.authorization, event.kind == .authorizationChanged,
                apps[Int(app.number)].installed
            {
                let held = updatesHold(Int(app.number))
                apps[Int(app.number)].locationAuthorization = authorization
                if held { apps[Int(app.number)].backgroundSince = now }
            }
        case .timeReached, .refuseUpdate, .phone, .clock, .user, .terminate, .overflowed, .redeliver,
            .benchRestarted:
            break
        }
    }

    private mutating func hear(debuggerOf index: Int, exempts: Bool) {
        guard apps[index].installed else { return }
        if apps[index].isExempt, !exempts {
            // Its time counts from here.
            if !apps[index].launching, !apps[index].leaving { apps[index].windowBegan = nil }
            apps[index].backgroundSince = now
        }
        apps[index].isExempt = exempts
    }

    private mutating func hear(_ request: AppRequest, from index: Int) {
        guard apps[index].alive, apps[index].state != .suspended else { return }
        switch request {
        case .beginTask(let token):
            // A token that is used again after its end stands for a new task.
            if apps[index].tasks.insert(token).inserted { apps[index].expired.remove(token) }
        case .endTask(let token): apps[index].tasks.remove(token)
        case .done: apps[index].windowBegan = nil
        case .createManager(let number, _): apps[index].managers.insert(number)
        case .releaseManager(let number): apps[index].managers.remove(number)
        case .peripheralManager(let number, .create): apps[index].managers.insert(number)
        case .peripheralManager(let number, .release):
            if RandomWorld.peripheralManagers.contains(number) { apps[index].managers.remove(number) }
        case .location(let number, .create): apps[index].managers.insert(number)
        case .accessory(let number, .register): apps[index].managers.insert(number)
        case .accessory(let number, .open(let session, _, _)):
            apps[index].managers.formUnion([number, session])
        case .location(let number, .release):
            if number >= RandomWorld.locationManagers[0] { apps[index].managers.remove(number) }
            endUpdates(of: number, index)
        case .location(let number, .startUpdating(_, let allowsBackground, _)):
            startUpdates(of: number, index, allowsBackground: allowsBackground)
        case .location(let number, .stopUpdating): endUpdates(of: number, index)
        case .scan, .stopScan, .connect, .cancelConnection, .operate, .watchConnections, .peripheralManager,
            .location, .accessory, .voip, .notification, .measured, .asked, .push:
            break
        case .transfer(let number, .join): apps[index].transferSessions.insert(number)
        case .transfer(_, .handledEvents(let session)): noteHandled(session, index)
        case .transfer: break
        case .backgroundTask(.complete(let number, _)), .backgroundTask(.fetched(let number, _, _)):
            answer(number, index)
        case .backgroundTask: break
        case .audio(let request):
            apps[index].usesSound = true
            switch request {
            case .stop where apps[index].isSounding: apps[index].stoppedAt = now
            case .deactivate: apps[index].stoppedAt = nil
            default: break
            }
        }
    }

    private mutating func hear(_ report: ProcessReport, of index: Int) {
        switch report {
        case .launched: apps[index].launching = false
        case .returned(.didEnterBackground): apps[index].leaving = false
        case .suspensionRefused:
            if apps[index].freezing {
                apps[index].freezing = false
                apps[index].windowBegan = now
                apps[index].windowLength = profile.areas.bluetooth.window
                apps[index].backgroundSince = now
            }
        case .returned, .suspended, .exited, .launchFailed, .took: break
        }
    }

    private mutating func count(_ input: Input) {
        guard let column = Tally.column(of: input) else { return }
        switch input {
        case .install(let app, _), .uninstall(let app), .update(let app, _), .refuseUpdate(let app, _),
            .user(let app, _), .setUp(let app, _), .terminate(let app, _, _),
            .request(let app, _), .process(let app, _), .redeliver(let app, _, _):
            tally.count(column, in: Int(app.number) < apps.count ? apps[Int(app.number)].state : .notRunning)
        case .timeReached, .phone, .clock, .benchRestarted:
            for app in apps { tally.count(column, in: app.state) }
        case .event, .overflowed: break
        }
    }

    // MARK: The turn

    /// The router heard the input and produced this.
    mutating func observe(_ input: Input, id: EventID, _ output: RouterOutput) {
        hear(input)
        if case .event(let event) = input, let app = event.app, Int(app.number) < apps.count,
            let place = apps[Int(app.number)].awaited.firstIndex(of: event.kind)
        {
            apps[Int(app.number)].awaited.remove(at: place)
        }
        for decision in output.decisions { observe(decision) }
        for action in output.actions { observe(action, after: input) }
        for decision in output.decisions where decision.verdict.delivers { checkCarriedOut(decision) }
        evidence.observe(input, id: id, at: now, output)
        if let wrong = evidence.violation { fail(wrong) }
        for index in apps.indices { checkAtRest(index) }
        centrals.checkAtRest(at: now)
        if let wrong = centrals.violation { fail(wrong) }
        if apps.count(where: { $0.state == .active }) > 1 { fail("LIFE-9: two apps are active") }
    }

    private mutating func fail(_ text: String) {
        if violation == nil { violation = text }
    }

    private mutating func observe(_ decision: Decision) {
        hasher.combine(decision)
        if decision.id.number != UInt64(records.count + 1) { fail("\(decision.id) does not follow \(records.count)") }
        records.append(
            Record(
                event: decision.event,
                app: decision.app,
                verdict: decision.verdict,
                via: decision.snapshot.via
            )
        )
        accessories.observe(decision, fail: &violation)
        tally.verdicts[Int(decision.verdict.rawValue)] += 1
        tally.reasons[Int(decision.reason.rawValue)] += 1
        let event = Int(decision.event.number)
        guard event > 0, event < recordCounts.count else { return fail("\(decision.id) is about an unknown event") }
        recordCounts[event] += 1
        checkReason(decision)
        if decision.supersedes != .none { checkSuperseding(decision) }
        guard decision.app != .none else { return }
        if decision.supersedes == .none {
            tally.events[Int(decision.kind.rawValue) * Tally.states + Int(decision.snapshot.state.rawValue)] += 1
        }
        checkVerdict(decision)
        noteWindow(decision)
    }

    /// The decisive check is the first that failed, in the order of the rulebook, and its rule is named.
    private mutating func checkReason(_ decision: Decision) {
        let first = Check.allCases.first { decision.checks[$0] == .fail }
        if first != decision.checks.decisive { fail("\(decision.id): decisive is not the first failing check") }
        // A mode that is missing may have a rule of its own for its source.
        let isMissingMode = decision.reason == .modeMissing && decision.rule == .voip2
        // What comes later does so by the rule that let it wait.
        if decision.reason.rule != decision.rule, !isMissingMode, decision.reason != .deliveredLater {
            fail("\(decision.id): \(decision.reason) is not a reason of \(decision.rule)")
        }
        if let first, decision.verdict.delivers { fail("\(decision.id): delivered although \(first) fails") }
        let leadsOn = decision.app == .none && decision.reason == .ledToEvents
        if first == nil, decision.supersedes == .none, !decision.verdict.delivers, !leadsOn {
            fail("\(decision.id): \(decision.verdict) although nothing fails")
        }
        if first == nil, !decision.checks.isEmpty, decision.wouldHave != decision.verdict {
            fail("\(decision.id): would have differs")
        }
    }

    /// A record is replaced at most once, by one on the same event for the same app.
    private mutating func checkSuperseding(_ decision: Decision) {
        let index = Int(decision.supersedes.number) - 1
        guard index >= 0, index < records.count else { return fail("\(decision.id) replaces an unknown record") }
        if records[index].superseded { fail("\(decision.supersedes) is replaced twice") }
        if records[index].event != decision.event { fail("\(decision.id) replaces a record of another event") }
        if records[index].app != decision.app && decision.app != .none {
            fail("\(decision.id) replaces a record of another app")
        }
        records[index].superseded = true
    }

    private mutating func checkVerdict(_ decision: Decision) {
        let state = decision.snapshot.state
        let right =
            switch decision.verdict {
            case .foregroundDeliver: state == .active || state == .inactive
            case .backgroundDeliver: state == .background
            case .resume: state == .suspended
            case .relaunch: state == .notRunning
            // What APNs or the phone keeps back is of an app in any state.
            case .defer: state == .suspended || decision.kind.source == .push
            case .coalesce, .drop, .deny: true
            }
        if !right { fail("\(decision.id): \(decision.verdict) of an app that is \(state)") }
        let known = apps[Int(decision.app.number)]
        let isSetUp =
            profile.areas.bluetooth.accessorySetupRelaunches
            && known.accessoriesSetUp.contains(peripherals[Int(decision.event.number)])
        if decision.snapshot.accessorySetUp, !isSetUp {
            fail("BTC-8: \(decision.id) shows an accessory that was not set up")
        }
        if isSetUp, decision.checks[.restoreIdentifier] != .notEvaluated, !decision.snapshot.accessorySetUp {
            fail("BTC-8: \(decision.id) does not show that the accessory was set up")
        }
        // Only what came while it ended is still decided, in the turn in which it ends, and what BTC-8 lets it keep, with
        // stray answers to the manager that keeps it.
        let mayKeep = profile.areas.bluetooth.accessorySetupRelaunches && !known.accessoriesSetUp.isEmpty
        let isStray = mayKeep && decision.snapshot.via == .operation
        if profile.forceQuitBars, known.barred, !known.alive, state == .notRunning, !isSetUp, !isStray,
            decision.snapshot.via != .none, decision.snapshot.via.source == .bluetooth
        {
            fail("LAUNCH-2: \(decision.id) is about what a force-quit app held")
        }
        guard decision.verdict == .relaunch else { return }
        let outlives: [Registration] = [.region, .beaconRegion, .significantChange, .visits]
        let lifts =
            profile.areas.location.liftsForceQuit && outlives.contains(decision.snapshot.via)
            || isSetUp && decision.snapshot.via.source == .bluetooth
            // PUSH-6.
            || decision.snapshot.via == .pushKit
            || profile.areas.backgroundTask.outlivesForceQuit && decision.snapshot.via == .processingTask
        if profile.forceQuitBars, apps[Int(decision.app.number)].barred, !lifts {
            fail("LAUNCH-2: \(decision.id) relaunches a force-quit app")
        }
        if profile.firstUnlockGates, passcode, !unlockedSinceBoot {
            fail("LAUNCH-5: \(decision.id) relaunches before the first unlock")
        }
        if decision.snapshot.via.source == .location, profile.areas.location.levels,
            ![.always, .provisionalAlways].contains(apps[Int(decision.app.number)].locationAuthorization)
        {
            fail("LOC-5: \(decision.id) relaunches an app that the user does not allow it")
        }
        if decision.snapshot.via.source == .voip, !hasCalls(decision.snapshot) {
            fail("VOIP-2: \(decision.id) relaunches an app without calls")
        }
        if decision.snapshot.exitsOnSuspend { fail("OPT-2: \(decision.id) relaunches an app that may not") }
    }

    /// Whether the phone looks after an app's calls (VOIP-1, VOIP-2).
    func hasCalls(_ app: AppSnapshot) -> Bool {
        guard app.modes.contains(.voip) else { return false }
        return profile.areas.voip.legacy == .on
            || profile.areas.voip.legacy == .bySDK && (1..<10).contains(app.sdk.major)
    }

    private mutating func noteWindow(_ decision: Decision) {
        let index = Int(decision.app.number)
        switch decision.verdict {
        case .resume, .relaunch:
            apps[index].windowBegan = isAnswered(decision) ? nil : now
            apps[index].windowLength = isAnswered(decision) ? .zero : window(of: decision)
            apps[index].backgroundSince = now
            countCall(decision, index)
        case .backgroundDeliver:
            endWindow(index)
            guard opensWindow(decision, of: apps[index]), !isAnswered(decision) else { break }
            if apps[index].windowBegan != nil, profile.wakeWindow == .first { break }
            apps[index].backgroundSince = now
            let length = window(of: decision)
            if let began = apps[index].windowBegan,
                now.advanced(by: length) <= began.advanced(by: apps[index].windowLength)
            {
                break
            }
            apps[index].windowBegan = now
            apps[index].windowLength = length
        case .foregroundDeliver, .defer, .coalesce, .drop, .deny: break
        }
        if decision.verdict.delivers { notePush(decision, index) }
        if decision.snapshot.via == .transferEvents, decision.verdict.delivers {
            apps[index].backgroundSince = now
            apps[index].transferredUntil = now.advanced(by: profile.areas.transfer.window)
            apps[index].owed.append((decision.subject, apps[index].transferredUntil))
        }
    }

    private func window(of decision: Decision) -> Instant.Span {
        decision.snapshot.via.source == .transfer ? profile.areas.transfer.window : profile.areas.bluetooth.window
    }

    /// Whether a wake ends with a completion handler: then the time is that of what is owed (LIFE-11).
    private func isAnswered(_ decision: Decision) -> Bool {
        switch decision.snapshot.via {
        case .transferEvents, .fetch, .refreshTask, .processingTask: true
        default: decision.snapshot.via.source == .push
        }
    }

    /// XFER-10: with the last completion handler the wake is over.
    private mutating func noteHandled(_ session: NameID, _ index: Int) {
        guard let place = apps[index].owed.firstIndex(where: { $0.session == session }) else { return }
        apps[index].owed.remove(at: place)
        apps[index].transferredUntil = apps[index].owed.map(\.due).max() ?? now
    }

    /// XFER-1, XFER-5: the source has a transfer once, and none of an app that is barred.
    private mutating func observe(_ command: TransferCommand) {
        switch command {
        case .begin(let app, let transfer, _, _, _, _, _):
            apps[Int(app.number)].transfers.insert(transfer)
            if profile.forceQuitBars, apps[Int(app.number)].barred, !apps[Int(app.number)].alive {
                fail("XFER-5: a transfer of a force-quit app is begun")
            }
            if isOff { fail("XFER-1: a transfer begins while the phone is off") }
        case .suspend(let transfer), .answer(let transfer, _, _), .cancelKeepingBytes(let transfer):
            if !apps.contains(where: { $0.transfers.contains(transfer) }) {
                fail("XFER-1: nobody has transfer \(transfer)")
            }
        case .cancel(let transfer), .release(let transfer):
            for index in apps.indices { apps[index].transfers.remove(transfer) }
        }
    }

    /// PUSH-1, PUSH-7: a push lets its app run until it has answered, or until the time for that is over.
    private mutating func notePush(_ decision: Decision, _ index: Int) {
        guard decision.kind.source == .push else { return }
        let figures = profile.areas.push
        apps[index].pushedUntil = now.advanced(by: max(figures.window, figures.reportLimit))
        if decision.verdict != .foregroundDeliver { apps[index].backgroundSince = now }
    }

    /// VOIP-6: no more wakes for calls than the limit within its window.
    private mutating func countCall(_ decision: Decision, _ index: Int) {
        guard [.voipData, .voipClosed, .voipAfterExit].contains(decision.kind), let limit = profile.areas.voip.wakeLimit
        else {
            return
        }
        let now = self.now
        apps[index].calls.removeAll { now.since($0) >= profile.areas.voip.wakeWindow }
        apps[index].calls.append(now)
        if apps[index].calls.count > Int(limit) { fail("VOIP-6: \(decision.id) is one wake too many") }
    }

    /// NOTE-6: who taps a notification asks for its app, whatever he did with it before.
    private mutating func noteTap(_ event: WakeEvent) {
        guard event.kind == .notificationTapped, !isOff, let app = event.app, apps[Int(app.number)].installed,
            apps[Int(app.number)].notices.contains(event.subject)
        else { return }
        apps[Int(app.number)].barred = false
    }

    /// NOTE-1, NOTE-4: what the user sees, and sees no more.
    private mutating func observe(_ command: NotificationCommand) {
        switch command {
        case .show(let app, let shown):
            apps[Int(app.number)].notices.insert(shown.identifier)
        case .withdraw(let app, let identifier):
            if apps[Int(app.number)].notices.remove(identifier) == nil {
                fail("NOTE-4: \(identifier) is withdrawn, and nobody sees it")
            }
        }
    }

    /// VOIP-1: the phone looks after sockets of suspended apps, and only of those.
    private mutating func observe(_ command: VoIPCommand) {
        switch command {
        case .open(let app, let socket, _):
            if !apps[Int(app.number)].sockets.insert(socket).inserted { fail("VOIP-1: a socket is opened twice") }
        case .close(let app, let socket): apps[Int(app.number)].sockets.remove(socket)
        case .closeAll(let app): apps[Int(app.number)].sockets = []
        case .watch(let app):
            if apps[Int(app.number)].state != .suspended { fail("VOIP-1: sockets of an app that runs are watched") }
        case .tearDown(let app):
            if apps[Int(app.number)].state != .suspended { fail("RESP-3: connections of an app that runs end") }
        case .rest(let app):
            if apps[Int(app.number)].state == .suspended { fail("VOIP-1: sockets of a suspended app rest") }
        case .network: break
        }
    }

    private mutating func checkCarriedOut(_ decision: Decision) {
        let record = records[Int(decision.id.number) - 1]
        if record.delivered || record.superseded { return }
        if apps[Int(decision.app.number)].kept[decision.event] == nil {
            fail(
                "\(decision.id), \(decision.kind) for app \(decision.app.number), says \(decision.verdict), "
                    + "and nothing is delivered or kept"
            )
        }
    }

    private mutating func observe(_ action: Action, after input: Input) {
        hasher.combine(action)
        switch action {
        case .launch(let app, let generation, let state, _, _, _): launch(Int(app.number), generation, state)
        case .thaw(let app):
            let known = apps[Int(app.number)]
            if !known.freezing && !known.frozen { fail("LIFE-3: a running app is thawed") }
            apps[Int(app.number)].freezing = false
            apps[Int(app.number)].frozen = false
            apps[Int(app.number)].backgroundSince = now
        case .freeze(let app):
            let known = apps[Int(app.number)]
            if known.isSounding { fail("AUD-1: an app that plays is frozen") }
            if known.freezing || known.state != .background { fail("LIFE-3: an app that is \(known.state) is frozen") }
            if !known.tasks.isEmpty { fail("TASK-2: an app with open tasks is frozen") }
            if known.locationAuthorization == .always, updatesHold(Int(app.number)) {
                fail("LOC-3: an app whose updates go on is frozen")
            }
            apps[Int(app.number)].freezing = true
            apps[Int(app.number)].windowBegan = nil
        case .kill(let app):
            if !apps[Int(app.number)].alive { fail("a dead app is killed") }
        case .closeListeners(let app):
            if !apps[Int(app.number)].alive { fail("RESP-2: an app without process listens") }
        case .callback(let app, let callback, let state): called(Int(app.number), callback, state)
        case .expireTasks(let app, let tokens): expire(Int(app.number), tokens, after: input)
        case .deliver(let app, let manager, let event, let decision, _):
            deliver(Delivery(app: app, generation: 0, manager: manager, event: event), by: decision)
        case .keep(let app, let event):
            apps[Int(app.number)].kept[event, default: 0] += 1
            apps[Int(app.number)].keptCount += 1
            if apps[Int(app.number)].keptCount > 2 * 1_024 + 1 + TransferRequest.tasksLimit {
                fail("what waits for one app is not bounded")
            }
        case .discard(let app, let event): discard(Int(app.number), event)
        case .tell(let app, .managerState(let number, _)), .tell(let app, .restore(let number, _)),
            .tell(let app, .restorePeripheral(let number, _)):
            if !runs(Int(app.number)) || !apps[Int(app.number)].managers.contains(number) {
                fail("a manager that is not there hears of its state")
            }
        case .command(.bluetooth), .alert, .did, .lost, .command(.location), .tell(_, .locationAuthorization): break
        case .tell(let app, .taskExpiration(let number, _)):
            if !runs(Int(app.number)) || apps[Int(app.number)].owes[number] == nil {
                fail("BGT-8: what expires does not run")
            }
        case .raise(let event, _):
            if let app = event.app { apps[Int(app.number)].awaited.append(event.kind) }
            if event.kind == .locationUpdatesPaused, let app = event.app {
                endUpdates(of: event.manager, Int(app.number))
            }
        case .command(.audio(let command)): observe(command)
        case .tell(let app, .audioAnswer), .tell(let app, .taskAnswer):
            if !apps[Int(app.number)].alive { fail("an app without process is answered") }
        case .command(.accessory(let command)): accessories.observe(command, fail: &violation)
        case .command(.voip(let command)): observe(command)
        case .command(.notification(let command)): observe(command)
        case .command(.transfer(let command)): observe(command)
        case .command(.push), .tell(_, .deviceToken): break
        case .command(.peripheralRole(let command)): centrals.observe(command)
        case .refused(_, let fault): tally.faults[Int(fault.rawValue)] += 1
        case .exited(let record): exited(record)
        case .moved(let app, let from, let to): moved(Int(app.number), from, to)
        }
    }

    private mutating func observe(_ command: AudioCommand) {
        switch command {
        case .play(let app, let stream):
            let index = Int(app.number)
            if stream.runs, !runs(index) { fail("AUD-1: app \(index) plays while it is \(apps[index].state)") }
            if apps[index].isSounding, !stream.runs { apps[index].backgroundSince = now }
            apps[index].isSounding = stream.runs
        case .stop(let app):
            let index = Int(app.number)
            if apps[index].isSounding { apps[index].backgroundSince = now }
            apps[index].isSounding = false
        }
    }

    private func runs(_ index: Int) -> Bool {
        apps[index].alive && apps[index].state != .suspended && apps[index].state != .notRunning
    }

    private mutating func moved(_ index: Int, _ from: AppState, _ to: AppState) {
        if apps[index].state != from { fail("LIFE-1: app \(index) moves from \(from) but is \(apps[index].state)") }
        if !LegalMoves.contains(from: from, to: to) { fail("LIFE-1: app \(index) moves from \(from) to \(to)") }
        tally.moves[Int(from.rawValue) * Tally.states + Int(to.rawValue)] += 1
        apps[index].state = to
        switch to {
        case .background:
            apps[index].backgroundSince = now
            apps[index].windowBegan = from == .suspended ? now : nil
        case .suspended:
            if !apps[index].freezing { fail("LIFE-3: app \(index) is suspended without being frozen") }
            apps[index].freezing = false
            apps[index].frozen = true
            apps[index].windowBegan = nil
        case .inactive, .active: apps[index].windowBegan = nil
        case .notRunning: break
        }
    }

    private mutating func launch(_ index: Int, _ generation: UInt32, _ state: AppState) {
        if apps[index].alive { fail("app \(index) is launched while it runs") }
        if apps[index].state != state { fail("app \(index) is launched as \(state) but is \(apps[index].state)") }
        if generation != apps[index].generation + 1 { fail("app \(index): generation \(generation) is not the next") }
        apps[index].alive = true
        apps[index].launching = true
        apps[index].generation = generation
        apps[index].backgroundSince = now
        apps[index].windowBegan = state == .background ? now : nil
    }

    private mutating func exited(_ record: ExitRecord) {
        let index = Int(record.app.number)
        lastExit += 1
        if record.number != lastExit { fail("LIFE-10: exit \(record.number) does not follow \(lastExit - 1)") }
        if !apps[index].alive { fail("LIFE-10: an app without process has an exit record") }
        if apps[index].state != .notRunning { fail("LIFE-10: app \(index) has ended and is \(apps[index].state)") }
        if record.generation != apps[index].generation { fail("LIFE-10: the exit of another process") }
        tally.exits[Int(record.cause.rawValue)] += 1
        apps[index].alive = false
        apps[index].launching = false
        apps[index].leaving = false
        apps[index].ending = false
        apps[index].freezing = false
        apps[index].frozen = false
        apps[index].tasks = []
        apps[index].expired = []
        apps[index].managers = []
        apps[index].backgroundUpdates = []
        apps[index].usesSound = false
        apps[index].windowBegan = nil
        apps[index].transferSessions = []
        apps[index].owed = []
        apps[index].owes = [:]
    }

    private mutating func called(_ index: Int, _ callback: LifecycleCallback, _ state: AppState) {
        if !runs(index) { fail("LIFE-5: an app that does not run is told \(callback)") }
        if apps[index].state != state { fail("app \(index) is told \(callback) in \(state)") }
        if callback == .didEnterBackground { apps[index].leaving = true }
        if callback == .willEnterForeground { apps[index].leaving = false }
        if callback == .willTerminate { apps[index].ending = true }
    }

    private mutating func expire(_ index: Int, _ tokens: [UInt64], after input: Input) {
        if tokens.isEmpty || apps[index].state != .background { fail("TASK-3: nothing can expire") }
        for token in tokens {
            if !apps[index].expired.insert(token).inserted { fail("TASK-3: a task expires twice") }
            // One that expires as it begins was never granted.
            if case .request(_, .beginTask(token)) = input { apps[index].tasks.remove(token) }
        }
    }

    private mutating func deliver(_ delivery: Delivery, by decision: DecisionID) {
        let index = Int(delivery.app.number)
        if !runs(index) { fail("LIFE-3: an app that is \(apps[index].state) gets \(delivery.event)") }
        let via = records[Int(decision.number) - 1].via
        if !isThere(delivery.manager, via, of: apps[index]) { fail("a manager that is not there gets an event") }
        var delivery = delivery
        delivery.generation = apps[index].generation
        if !deliveries.insert(delivery).inserted { fail("\(delivery.event) is delivered twice to one manager") }
        let record = records[Int(decision.number) - 1]
        if record.event != delivery.event || record.app != delivery.app || !record.verdict.delivers {
            fail("\(delivery.event) is delivered by a decision that does not say so")
        }
        records[Int(decision.number) - 1].delivered = true
        if let number = tasks[delivery.event] { apps[index].owes[number] = now }
        if record.superseded { fail("\(delivery.event) is delivered by a record that was replaced") }
    }

    private mutating func discard(_ index: Int, _ event: EventID) {
        guard let count = apps[index].kept[event] else { return fail("\(event) is discarded and was not kept") }
        apps[index].kept[event] = count == 1 ? nil : count - 1
        apps[index].keptCount -= 1
    }

    // MARK: Budgets

    /// BGT-8: the app answered for a task.
    private mutating func answer(_ number: UInt32, _ index: Int) {
        guard apps[index].owes.removeValue(forKey: number) != nil, apps[index].owes.isEmpty else { return }
        apps[index].backgroundSince = now
    }

    /// Whether an app in the background has a task; none has it for longer than it may (BGT-6, BGT-7).
    private mutating func owesTask(_ index: Int) -> Bool {
        let figures = profile.areas.backgroundTask
        for (number, since) in apps[index].owes where now.since(since) >= figures.refreshLimit {
            // Where it was not in the background at the end of its time, nobody waits for the answer any more.
            if now.since(since) >= figures.processingLimit { answer(number, index) }
        }
        return !apps[index].owes.isEmpty
    }

    /// Forgets a window whose time is over; one may end unseen, while the app launches.
    private mutating func endWindow(_ index: Int) {
        if let began = apps[index].windowBegan, now.since(began) >= apps[index].windowLength {
            apps[index].windowBegan = nil
        }
    }

    /// After the turn: nothing runs in the background without a reason to, or beyond its time.
    private mutating func checkAtRest(_ index: Int) {
        if !apps[index].installed, !apps[index].notices.isEmpty { fail("NOTE-1: the user sees an app that is gone") }
        guard apps[index].state == .background, !apps[index].freezing else { return }
        endWindow(index)
        guard !apps[index].launching, !apps[index].leaving, !apps[index].ending else { return }
        guard !owesTask(index) else { return }
        guard !apps[index].isSounding, apps[index].awaited.isEmpty, !updatesHold(index), !apps[index].isExempt else {
            return
        }
        let lingers =
            apps[index].stoppedAt.map { now.since($0) < .seconds(5) } ?? false
            || now < apps[index].transferredUntil || now < apps[index].pushedUntil
        if apps[index].tasks.isEmpty, apps[index].windowBegan == nil, !lingers {
            fail("LIFE-3: app \(index) runs on without a reason")
        }
        let longest =
            profile.launchBudget + profile.areas.bluetooth.window + profile.taskBudget + profile.areas.bluetooth.window
            + profile.transitionBudget + max(profile.areas.push.window, profile.areas.push.reportLimit)
        if now.since(apps[index].backgroundSince) > longest { fail("LIFE-11: app \(index) is never suspended") }
    }

    // MARK: Location updates

    /// Whether updates may keep an app from being suspended (LOC-3).
    private func updatesHold(_ index: Int) -> Bool {
        guard profile.areas.location.backgroundFlag, apps[index].hasLocationMode else { return false }
        switch apps[index].locationAuthorization {
        case .always, .provisionalAlways, .whenInUse, .allowOnce: return !apps[index].backgroundUpdates.isEmpty
        case .notDetermined, .restricted, .denied: return false
        }
    }

    private mutating func startUpdates(of number: ManagerNumber, _ index: Int, allowsBackground: Bool) {
        switch apps[index].locationAuthorization {
        case .restricted, .denied: return
        case .notDetermined, .whenInUse, .always, .provisionalAlways, .allowOnce: break
        }
        guard apps[index].managers.contains(number) else { return }
        endUpdates(of: number, index)
        if allowsBackground { apps[index].backgroundUpdates.insert(number) }
    }

    private mutating func endUpdates(of number: ManagerNumber, _ index: Int) {
        if apps[index].backgroundUpdates.remove(number) != nil { apps[index].backgroundSince = now }
    }

    /// All is over: whatever was deferred is still kept, or has its second record.
    mutating func checkAtEnd() {
        if let event = unrecorded.first { fail("SYS-4: \(event) has no record") }
        for record in records where record.verdict == .defer && !record.superseded {
            if apps[Int(record.app.number)].kept[record.event] == nil {
                fail("SYS-4: \(record.event) was deferred and never decided")
            }
        }
    }
}
