import WakeDevices
import WakeModel
import WakePorts
import WakeReports
import WakeRouter
import WakeSystem

/// Writes a run down for its readers: decisions as the router gave them, and what became of them in the world.
final class RunRecorder: BenchObserver {
    /// The files.
    let logs: LogWriter
    /// What is told to whoever follows the run.
    let followed: FollowedRows
    let names: NameTable
    /// The bundle identifier of each app, by number.
    private var bundles: [String] = []
    /// What each is called in the scenario.
    private var appNames: [String] = []
    /// Which apps are processes; scripted ones have no outcome in the world.
    private var real: [Bool] = []
    private var pids: [Int32] = []
    private var states: [AppState] = []
    private var open = OpenOutcomes()
    private(set) var now = Instant.zero
    /// How many decisions were written, by the raw value of the verdict.
    private(set) var counts = [Int](repeating: 0, count: Verdict.allCases.count)
    /// While a journal is read back: what the files hold already is not written again.
    var isReplaying = false {
        didSet { followed.isReplaying = isReplaying }
    }
    private var replayedMoves = 0
    private var replayedActs = 0
    private var replayedDeeds = 0
    /// Whether the present process of each app has not launched yet.
    private var launching: [Bool] = []
    /// What each app was registered for when it was last written down; nil before.
    var registered: [RegistrationEntry?] = []
    /// What each app has lost, by number.
    var losses: [[LostThing]] = []
    /// Apps whose registrations may have changed since.
    var restless: Set<Int> = []
    /// Whether the logs begin anew when they have grown long, so that they need no other bound.
    var isRolled = false
    /// How much each app can have written, by number.
    var bounds: [AppBounds] = []
    static let mostDeeds = 65_536
    static let mostNotes = 4_096
    /// Processes that ended by themselves before they had launched, the first of each app.
    private(set) var diedAtLaunch: [ExitEntry] = []
    /// Whether the router has the phone locked, after the input that is observed.
    var isLocked: () -> Bool = { false }
    /// Whether something was noted that belongs to no turn, so that no commit may follow it for long.
    var hasNews = false

    init(
        decisions: DecisionLog,
        outcomes: OutcomeLog,
        names: NameTable,
        part: UInt64 = 0,
        resumeAfter: DecisionID = .none
    ) {
        logs = LogWriter(decisions: decisions, outcomes: outcomes, part: part, resumeAfter: resumeAfter)
        followed = FollowedRows(names: names)
        self.names = names
    }

    /// Takes on an app of the scenario, in its order.
    ///
    /// - Parameter log: where what it prints goes, from the run folder; nil for a scripted app.
    func add(bundle: String, name: String, log: String?) {
        let isReal = log != nil
        if bundles.count >= outcomes.held.apps { logs.keep(AppEntry(app: bundle, name: name, log: log)) }
        launching.append(false)
        registered.append(nil)
        losses.append([])
        bounds.append(AppBounds(held: outcomes.held.signposts[bundle] ?? HeldSignposts()))
        bundles.append(bundle)
        appNames.append(name)
        real.append(isReal)
        pids.append(0)
        states.append(.notRunning)
        open.addApp()
    }

    // MARK: The logs

    var outcomes: OutcomeLog { logs.outcomes }

    /// Set by the first line that could not be written; the run ends with it.
    var failure: ReportError? { logs.failure }

    /// Decisions that go before this one are in the file already, after a restart.
    var resumeAfter: DecisionID { logs.resumeAfter }

    /// When somebody reads the logs.
    var reading: LogWriter.Reading {
        get { logs.reading }
        set { logs.reading = newValue }
    }

    /// When what was committed must have reached the files; nil when all has, or nobody reads them before the end.
    var writingDue: Instant? { logs.writingDue }

    /// Told of what happened, once it has happened for good; nil when nobody follows.
    var follow: ((Timeline.Row) -> Void)? {
        get { followed.follow }
        set { followed.follow = newValue }
    }

    func committed() {
        guard failure == nil else { return }
        hasNews = false
        defer { followed.tell() }
        logs.settle(at: now)
    }

    /// Writes out what is buffered.
    func flush() throws(ReportError) { try logs.flush(at: now) }

    /// - Throws: ``ReportError`` where a log was removed or renamed, or another file has its name.
    func requireInPlace() throws(ReportError) { try logs.requireInPlace() }

    // MARK: Snapshots

    /// How far the logs have come; all that was noted is in them.
    func places() throws(ReportError) -> LogPlaces {
        committed()
        try flush()
        return logs.places
    }

    /// Begins the logs anew when they have grown long; a snapshot has just been kept, so that nobody reads back into them. The
    /// two parts before are kept beside.
    func beginPart(in folder: RunFolder, _ header: LogHeader, _ profile: Profile) throws(ReportError) {
        guard try logs.beginPart(in: folder, header, profile, names: names) else { return }
        for app in bundles.indices {
            let log = real[app] ? RunFolder.log(of: bundles[app]) : nil
            try outcomes.append(AppEntry(app: bundles[app], name: appNames[app], log: log))
            registered[app] = nil
        }
        disturbAll()
        hasNews = true
    }

    /// What a snapshot holds of the recorder, beside the places of its logs. Processes end with the bench.
    func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&now)
        try coder.code(&counts)
        try coder.code(&states)
        try coder.code(&launching)
        try coder.code(&open)
        try coder.code(&diedAtLaunch)
        try coder.code(&losses)
        guard counts.count == Verdict.allCases.count, states.count <= bundles.count,
            launching.count == states.count, open.apps == states.count, losses.count == states.count
        else { throw coder.fault }
        for app in states.indices { try bounds[app].code(with: &coder) }
        // Apps may have joined since.
        while states.count < bundles.count {
            states.append(.notRunning)
            launching.append(false)
            losses.append([])
            open.addApp()
        }
    }

    // MARK: The desk

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        self.now = now
        logs.keep { () throws(ReportError) in try record(item, output) }
    }

    private func record(_ item: InboxItem, _ output: RouterOutput) throws(ReportError) {
        try heard(item)
        try keepValue(of: item)
        if !output.decisions.isEmpty { try logs.write(output.decisions) }
        for decision in output.decisions {
            let hasProcess = isReal(decision.app) && decision.verdict != .relaunch
            followed.add(decision, item, pid: hasProcess ? pids[Int(decision.app.number)] : 0)
            counts[Int(decision.verdict.rawValue)] += 1
            if decision.verdict.delivers, isReal(decision.app) { begin(decision) }
            if decision.app != .none, decision.kind.changesRegistrations { restless.insert(Int(decision.app.number)) }
        }
        for action in output.actions {
            switch action {
            case .moved(let app, let from, let to): try moved(app, from, to)
            case .exited(let record): try exited(record)
            case .alert(let app, let kind, let subject, _): try alerted(app, kind, subject)
            case .did(let app, let deed, let subject, let event): try did(deed, app, subject, event)
            case .lost(let app, let via, let subject, let deed, let event):
                restless.insert(Int(app.number))
                try did(deed, app, subject, event, via: via)
            default: break
            }
        }
    }

    /// The bundle identifier of an app of the scenario.
    func bundle(_ number: Int) -> String { bundles[number] }

    /// The present process of an app; 0 for none.
    func pid(of number: Int) -> Int32 { pids[number] }

    /// Where what an app prints goes, from the run folder; nil for a scripted app.
    func log(of bundle: String) -> String? {
        guard let number = bundles.firstIndex(of: bundle), real[number] else { return nil }
        return RunFolder.log(of: bundle)
    }

    /// What an input says beside what the router made of it.
    private func heard(_ item: InboxItem) throws(ReportError) {
        switch item.input {
        case .process(let app, .launched): launching[Int(app.number)] = false
        // A session goes with the last result that is taken.
        case .process(let app, .took): restless.insert(Int(app.number))
        case .request(let app, let request) where request.mayRegister: restless.insert(Int(app.number))
        case .event(let event) where event.kind.changesRegistrations:
            if let app = event.app { restless.insert(Int(app.number)) }
        case .install where names.text(item.origin) != Run.reinstallation: break
        case .phone, .clock, .user, .setUp, .terminate, .install, .uninstall, .update, .refuseUpdate:
            guard let (word, app) = Act.word(item.input) else { return }
            followed.lastAct = word
            if let app { restless.insert(Int(app.number)) } else { disturbAll() }
            if isReplaying { replayedActs += 1 }
            guard !isReplaying || replayedActs > outcomes.held.acts else { return }
            let bundle = app.map { bundles[Int($0.number)] }
            followed.add(Timeline.Row(at: now, app: bundle, what: word))
            let locked = app == nil ? isLocked() : nil
            let origin = names.text(item.origin)
            try outcomes.append(
                Act(event: item.id, at: now, word: word, app: bundle, origin: origin, locked: locked)
            )
        case .timeReached, .event, .overflowed, .redeliver, .benchRestarted, .process, .request: break
        }
    }

    /// Writes down the bytes that came with an event, once, whichever app reads them.
    private func keepValue(of item: InboxItem) throws(ReportError) {
        guard let event = item.input.reported, let value = item.payload.valueText,
            !isReplaying || !outcomes.held.values.contains(event.id)
        else { return }
        try outcomes.append(ValueEntry(event: event.id, value: value))
    }

    private func isReal(_ app: AppID) -> Bool {
        app != .none && Int(app.number) < real.count && real[Int(app.number)]
    }

    private func begin(_ decision: Decision) {
        let app = Int(decision.app.number)
        let outcome = Outcome(
            decision: decision.id,
            event: decision.event,
            app: bundles[app],
            at: now,
            wall: WallClock.now(),
            pid: decision.verdict == .relaunch ? 0 : pids[app]
        )
        open.begin(outcome, of: app)
    }

    private func moved(_ app: AppID, _ from: AppState, _ to: AppState) throws(ReportError) {
        let number = Int(app.number)
        states[number] = to
        if from == .notRunning { launching[number] = true }
        if to == .notRunning { restless.insert(number) }
        if isReplaying { replayedMoves += 1 }
        if !isReplaying || replayedMoves > outcomes.held.moves {
            try outcomes.append(StateMove(app: bundles[number], at: now, from: from, to: to, pid: pids[number]))
        }
        if to == .suspended { try close(number, .suspended, exit: 0) }
    }

    private func alerted(_ app: AppID, _ kind: EventKind, _ subject: NameID) throws(ReportError) {
        let rule = Areas.rows.first { $0.source == kind.source }?.alertRule
        let what = "alert shown (\(rule?.text ?? "")): \(names.text(subject)) \(kind.word)"
        let bundle = bundles[Int(app.number)]
        followed.add(Timeline.Row(at: now, app: bundle, what: what))
        if outcomes.claim(.note(what, app: bundle)) { return }
        try outcomes.append(Note(text: what, app: bundle, at: now))
    }

    private func did(
        _ deed: Deed,
        _ app: AppID,
        _ subject: NameID,
        _ event: EventID,
        via: Registration? = nil
    ) throws(ReportError) {
        let bundle = app == .none ? nil : bundles[Int(app.number)]
        let entry = DeedEntry(
            deed: deed,
            at: now,
            app: bundle,
            subject: names.text(subject),
            event: event,
            via: via?.word
        )
        if let via { keepLoss(entry, via, subject, of: Int(app.number)) }
        // Whoever waits for what comes of a command is answered, whether the log keeps it or not.
        if deed.tellsOfAct { followed.add(entry, of: app == .none ? nil : appNames[Int(app.number)]) }
        // The same when a journal is read back, so that what the file holds is known by its number.
        if app != .none, !isRolled, !bounds[Int(app.number)].deeds.admits() {
            let bound = bounds[Int(app.number)].deeds
            if bound.lost == 1 { tellBound(bound, "deeds", of: app) }
            return
        }
        if !deed.row.isEveryday, !deed.tellsOfAct {
            followed.add(Timeline.Row(at: now, app: bundle, what: entry.text))
        }
        if isReplaying { replayedDeeds += 1 }
        if !isReplaying || replayedDeeds > outcomes.held.deeds { try outcomes.append(entry) }
    }

    private func exited(_ record: ExitRecord) throws(ReportError) {
        let number = Int(record.app.number)
        let entry = ExitEntry(record, app: bundles[number], pid: pids[number], atLaunch: launching[number])
        if !isReplaying || record.number > outcomes.held.lastExit { try outcomes.append(entry) }
        followed.add(
            Timeline.Row(
                at: entry.at,
                app: entry.app,
                what: "process ended",
                reason: entry.cause.word,
                pid: entry.pid
            )
        )
        if entry.atLaunch, entry.cause == .exit || entry.cause == .crash,
            !diedAtLaunch.contains(where: { $0.app == entry.app })
        {
            diedAtLaunch.append(entry)
        }
        launching[number] = false
        let killed = record.cause != .exit && record.cause != .crash
        try close(number, killed ? .killed : .exited, exit: record.number)
        pids[number] = 0
    }

    /// The app's wake is over: what is known of its decisions is final.
    private func close(_ app: Int, _ ending: Outcome.Ending, exit: UInt64) throws(ReportError) {
        // The log may have it from before the bench died, with what became of it then.
        for var outcome in open.takeAll(of: app) where !outcomes.held.outcomes.contains(outcome.decision) {
            outcome.used = now.since(outcome.at)
            outcome.ended = ending
            outcome.exit = exit
            try outcomes.append(outcome)
        }
    }

    /// What processes acknowledged before the bench died is no input: the journal has it beside them.
    func takeAcknowledged(from journal: RunJournal) throws(JournalError) {
        guard let oldest = open.oldest else { return }
        open.acknowledged(try journal.acknowledged(from: oldest))
    }

    // MARK: The world

    func note(_ fact: ProcessFact, of app: AppID) {
        let number = Int(app.number)
        switch fact {
        case .started(let pid):
            pids[number] = pid
            open.started(pid: pid, of: number)
        case .greeted(let spawn): open.greeted(after: spawn, of: number)
        case .sent(let callback, let value, let decision): sent(callback, value, decision, number)
        case .answered(let decision): answered(decision, number)
        case .fault(let what), .held(let what), .beside(let what):
            guard isRolled || bounds[number].notes.admits() else {
                let bound = bounds[number].notes
                if bound.lost == 1 { tellBound(bound, "notes", of: app) }
                return
            }
            note(what, of: app)
        case .used(let pid, let processor, let footprint):
            let entry = UsageEntry(
                app: bundles[number],
                at: now,
                pid: pid,
                processor: processor,
                footprint: footprint
            )
            logs.keep(entry)
        }
    }

    private func sent(_ callback: String, _ value: [UInt8]?, _ decision: DecisionID, _ app: Int) {
        let entry = Outcome.Callback(name: callback, at: now, value: value?.hexadecimal)
        if !open.sent(entry, for: decision, to: app, inForeground: isInForeground(app)) {
            bounds[app].lostCallbacks += 1
        }
    }

    private func answered(_ decision: DecisionID, _ app: Int) {
        guard var outcome = open.answered(decision, by: app, inForeground: isInForeground(app)) else { return }
        outcome.used = now.since(outcome.at)
        logs.keep(outcome)
    }

    private func isInForeground(_ app: Int) -> Bool { states[app] == .active || states[app] == .inactive }

    /// Writes down how long an app kept the receiver on.
    func note(receiver time: Instant.Span, of app: AppID) throws(ReportError) {
        let entry = ReceiverEntry(app: bundles[Int(app.number)], at: now, milliseconds: time.milliseconds)
        if failure == nil { try outcomes.append(entry) }
    }

    /// The run is over at an instant of its clock: the wakes that go on are closed as they stand.
    func finish(at end: Instant) throws(ReportError) {
        if let failure { throw failure }
        noteLost()
        followed.tell()
        // Whoever finds the end finds every decision before it.
        try flush()
        if !outcomes.held.ended { try outcomes.append(EndEntry(at: end)) }
        for app in bundles.indices {
            // A run whose reports alone were missing has them already.
            for var outcome in open.takeAll(of: app) where !outcomes.held.outcomes.contains(outcome.decision) {
                outcome.used = now.since(outcome.at)
                try outcomes.append(outcome)
            }
        }
        try flush()
    }
}
