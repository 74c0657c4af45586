import WakeDevices
import WakeModel
import WakeReports
import WakeRouter
import WakeSystem
import WakeWire

/// Writes a run down for its readers: decisions as the router gave them, and what became of them in the world.
final class RunRecorder: BenchObserver {
    private var decisions: DecisionLog
    private var outcomes: OutcomeLog
    /// Which part of the logs these are.
    private var part: UInt64
    private let names: NameTable
    /// The bundle identifier of each app, by number.
    private var bundles: [String]
    /// What each is called in the scenario.
    private var appNames: [String] = []
    /// Which apps are processes; scripted ones have no outcome in the world.
    private var real: [Bool]
    private var pids: [Int32]
    private var states: [AppState] = []
    private var open = OpenOutcomes()
    private var now = Instant.zero
    /// How many decisions were written, by the raw value of the verdict.
    private(set) var counts = [Int](repeating: 0, count: Verdict.allCases.count)
    /// Set by the first line that could not be written; the run ends with it.
    private(set) var failure: ReportError?
    /// Decisions that go before this one are in the file already, after a restart.
    let resumeAfter: DecisionID
    /// While a journal is read back: what the files hold already is not written again.
    var isReplaying = false
    private var replayedMoves = 0
    private var replayedActs = 0
    private var replayedDeeds = 0
    /// Whether the present process of each app has not launched yet.
    private var launching: [Bool] = []
    /// What each app was registered for when it was last written down; nil before.
    private var registered: [RegistrationEntry?] = []
    /// Apps whose registrations may have changed since.
    private(set) var restless: Set<Int> = []
    /// How many signposts of each app are kept.
    private var signposts: [SignpostBound] = []
    /// Whether the logs begin anew when they have grown long, so that they need no other bound.
    var isRolled = false
    /// How many deeds of each app are kept: it may ask for something without end.
    private var deeds: [LineBound] = []
    static let mostDeeds = 65_536
    /// How many notes of each app are kept of what it does wrong or holds.
    private var appNotes: [LineBound] = []
    static let mostNotes = 4_096
    /// How many changes of what each app is registered for are written as they come; later ones once in a while.
    private var registrations: [LineBound] = []
    static let mostRegistrations = 1_024
    private static let registrationPause = Instant.Span.seconds(1)
    /// How many callbacks of each app no wake had room for.
    private var lostCallbacks: [Int] = []
    /// Processes that ended by themselves before they had launched, the first of each app.
    private(set) var diedAtLaunch: [ExitEntry] = []
    /// When somebody reads the logs.
    enum Reading {
        case atEnd
        /// While the run goes on: each turn reaches the files as soon as it is committed.
        case atOnce
        /// While the run goes on, in real time: what comes in quick succession reaches the files together.
        case soon
    }

    var reading = Reading.atEnd {
        didSet { outcomes.isPutOff = reading == .soon }
    }
    /// When what was committed must have reached the files; nil when all has, or nobody reads them before the end.
    private(set) var writingDue: Instant?
    /// When they were written last.
    private var written = Instant(nanoseconds: -gatheringTime.nanoseconds)
    /// For how long lines come together before they are written to files that are read meanwhile.
    private static let gatheringTime = Instant.Span.milliseconds(100)
    /// What was decided since, where it is written together; what a turn decided ends where the next begins.
    private var unwritten: [Decision] = []
    private var turns: [Int] = []
    /// The most of it.
    private static let mostUnwritten = 1_024
    /// Whether the router has the phone locked, after the input that is observed.
    var isLocked: () -> Bool = { false }
    /// What the user, the phone or the system did last, as records call it.
    private var lastAct = ""
    /// Told of what happened, once it has happened for good; nil when nobody follows.
    var follow: ((Timeline.Row) -> Void)? {
        didSet {
            guard follow == nil else { return }
            rows.removeAll()
            deferred.removeAll()
        }
    }
    /// What happened in turns that are not committed yet.
    private var rows: [Timeline.Row] = []
    /// What came with events that are to be decided again, by their decisions; kept while somebody follows.
    private var deferred: [DecisionID: String] = [:]
    /// Whether something was noted that belongs to no turn, so that no commit may follow it for long.
    private(set) var hasNews = false

    init(
        decisions: DecisionLog,
        outcomes: OutcomeLog,
        names: NameTable,
        part: UInt64 = 0,
        resumeAfter: DecisionID = .none
    ) {
        self.decisions = decisions
        self.outcomes = outcomes
        self.names = names
        self.part = part
        // A turn that was never committed has never happened.
        decisions.hold()
        outcomes.hold()
        self.resumeAfter = resumeAfter
        bundles = []
        real = []
        pids = []
    }

    /// Takes on an app of the scenario, in its order.
    ///
    /// - Parameter log: where what it prints goes, from the run folder; nil for a scripted app.
    func add(bundle: String, name: String, log: String?) {
        let isReal = log != nil
        if bundles.count >= outcomes.held.apps {
            keep { () throws(ReportError) in try outcomes.append(AppEntry(app: bundle, name: name, log: log)) }
        }
        launching.append(false)
        registered.append(nil)
        signposts.append(SignpostBound(held: outcomes.held.signposts[bundle] ?? HeldSignposts()))
        deeds.append(LineBound(most: Self.mostDeeds))
        appNotes.append(LineBound(most: Self.mostNotes))
        registrations.append(LineBound(most: Self.mostRegistrations))
        lostCallbacks.append(0)
        bundles.append(bundle)
        appNames.append(name)
        real.append(isReal)
        pids.append(0)
        states.append(.notRunning)
        open.addApp()
    }

    /// - Throws: ``ReportError`` where a log was removed or renamed, or another file has its name.
    func requireInPlace() throws(ReportError) {
        try decisions.requireInPlace()
        try outcomes.requireInPlace()
    }

    // MARK: Snapshots

    /// How far the logs have come; all that was noted is in them.
    func places() throws(ReportError) -> LogPlaces {
        committed()
        try flush()
        return LogPlaces(part: part, decisions: decisions.place, outcomes: outcomes.length)
    }

    /// Begins the logs anew when they have grown long; a snapshot has just been kept, so that nobody reads back into them. The
    /// two parts before are kept beside.
    func beginPart(in folder: RunFolder, _ header: LogHeader, _ profile: Profile) throws(ReportError) {
        guard decisions.place.length + outcomes.length > Self.longestPart else { return }
        try folder.endPart(part)
        part += 1
        let isPutOff = outcomes.isPutOff
        decisions = try DecisionLog(creating: folder.decisions, header: header, profile: profile, names: names.text)
        outcomes = try OutcomeLog(creating: folder.outcomes)
        decisions.hold()
        outcomes.hold()
        outcomes.isPutOff = isPutOff
        for app in bundles.indices {
            let log = real[app] ? RunFolder.log(of: bundles[app]) : nil
            try outcomes.append(AppEntry(app: bundles[app], name: appNames[app], log: log))
            registered[app] = nil
        }
        disturbAll()
        hasNews = true
    }

    /// The bytes of both logs beyond which a live run begins them anew.
    private static let longestPart = 8 << 20

    /// What a snapshot holds of the recorder, beside the places of its logs. Processes end with the bench.
    func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&now)
        try coder.code(&counts)
        try coder.code(&states)
        try coder.code(&launching)
        try coder.code(&open)
        try coder.code(&diedAtLaunch)
        guard counts.count == Verdict.allCases.count, states.count <= bundles.count,
            launching.count == states.count, open.apps == states.count
        else { throw coder.fault }
        for app in states.indices {
            try signposts[app].code(with: &coder)
            try deeds[app].code(with: &coder)
        }
        // Apps may have joined since.
        while states.count < bundles.count {
            states.append(.notRunning)
            launching.append(false)
            open.addApp()
        }
    }

    // MARK: The desk

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        self.now = now
        guard failure == nil else { return }
        do throws(ReportError) {
            try heard(item)
            try keepValue(of: item)
            if !output.decisions.isEmpty { try write(output.decisions) }
            for decision in output.decisions {
                tell(decision, item)
                counts[Int(decision.verdict.rawValue)] += 1
                if decision.verdict.delivers, isReal(decision.app) { begin(decision) }
                if decision.app != .none, decision.kind.changesLinks { restless.insert(Int(decision.app.number)) }
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
        } catch {
            failure = error
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
        case .phone, .clock, .user, .setUp, .terminate, .uninstall, .update, .refuseUpdate:
            guard let (word, app) = Act.word(item.input) else { return }
            lastAct = word
            if let app { restless.insert(Int(app.number)) } else { disturbAll() }
            if isReplaying { replayedActs += 1 }
            guard !isReplaying || replayedActs > outcomes.held.acts else { return }
            let bundle = app.map { bundles[Int($0.number)] }
            tell(Timeline.Row(at: now, app: bundle, what: word))
            let locked = app == nil ? isLocked() : nil
            let origin = names.text(item.origin)
            try outcomes.append(
                Act(event: item.id, at: now, word: word, app: bundle, origin: origin, locked: locked)
            )
        case .timeReached, .install, .event, .overflowed, .redeliver, .benchRestarted, .process, .request: break
        }
    }

    /// Writes down the bytes that came with an event, once, whichever app reads them.
    private func keepValue(of item: InboxItem) throws(ReportError) {
        guard let event = item.input.reported, let value = item.payload.valueText,
            !isReplaying || !outcomes.held.values.contains(event.id)
        else { return }
        try outcomes.append(ValueEntry(event: event.id, value: value))
    }

    // MARK: Who follows the run

    private func tell(_ row: @autoclosure () -> Timeline.Row) {
        if follow != nil, !isReplaying { rows.append(row()) }
    }

    private func tell(_ decision: Decision, _ item: InboxItem) {
        guard follow != nil, !isReplaying else { return }
        let pid = isReal(decision.app) && decision.verdict != .relaunch ? pids[Int(decision.app.number)] : 0
        let value = item.value(for: decision) ?? deferred.removeValue(forKey: decision.supersedes)
        if decision.verdict == .defer, let value { deferred[decision.id] = value }
        tell(Timeline.Row(decision, pid: pid, value: value ?? "", names: names.text))
    }

    /// Has the row of the last act say what became of it, as the run's table does.
    private func tell(_ finding: DeedEntry, of app: AppID) {
        guard follow != nil, !isReplaying else { return }
        let whose = app == .none ? "" : " \(appNames[Int(app.number)])"
        let row = Timeline.Row(
            at: now,
            app: finding.app,
            what: "\(lastAct): \(finding.text)",
            note: "\(lastAct)\(whose): \(finding.text)"
        )
        let place = rows.lastIndex { $0.event == lastAct && $0.app == row.app && $0.at == row.at }
        if let place { rows[place] = row } else { rows.append(row) }
    }

    private func tellFollower() {
        guard let follow, !rows.isEmpty else { return }
        for row in rows { follow(row) }
        rows.removeAll(keepingCapacity: true)
    }

    /// The registrations of every app may have changed.
    func disturbAll() { restless.formUnion(bundles.indices) }

    /// Carries out a writing; the first that fails ends the run.
    private func keep(_ write: () throws(ReportError) -> Void) {
        guard failure == nil else { return }
        do throws(ReportError) { try write() } catch { failure = error }
    }

    func committed() {
        guard failure == nil else { return }
        hasNews = false
        defer { tellFollower() }
        do throws(ReportError) {
            try outcomes.settle()
            // Whoever reads a decision looks up there what came with its event.
            if decisions.isLong { try outcomes.flush() }
            try decisions.settle()
            switch reading {
            case .atEnd: break
            case .atOnce: try flush()
            case .soon: writingDue = writingDue ?? max(now, written.advanced(by: Self.gatheringTime))
            }
        } catch {
            failure = error
        }
    }

    /// Nobody waits for what comes together before it is written, while an app may wait for the turn that decided it.
    private func write(_ batch: [Decision]) throws(ReportError) {
        guard reading == .soon else { return try append(batch[...]) }
        unwritten += batch
        turns.append(unwritten.count)
        if unwritten.count >= Self.mostUnwritten { try writeTurns() }
    }

    private func writeTurns() throws(ReportError) {
        var start = 0
        for end in turns {
            try append(unwritten[start..<end])
            start = end
        }
        unwritten.removeAll(keepingCapacity: true)
        turns.removeAll(keepingCapacity: true)
    }

    private func append(_ batch: ArraySlice<Decision>) throws(ReportError) {
        let isNew = resumeAfter == .none || batch[batch.startIndex].id > resumeAfter
        let rest = isNew ? batch : batch.filter { $0.id > resumeAfter }[...]
        if !rest.isEmpty { try decisions.append(batch: rest) }
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
        tell(Timeline.Row(at: now, app: bundle, what: what))
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
        // Whoever waits for what comes of a command is answered, whether the log keeps it or not.
        if deed.tellsOfAct { tell(entry, of: app) }
        // The same when a journal is read back, so that what the file holds is known by its number.
        if app != .none, !isRolled, !deeds[Int(app.number)].admits() {
            if deeds[Int(app.number)].lost == 1 { tellBound(deeds[Int(app.number)], "deeds", of: app) }
            return
        }
        if !deed.row.isEveryday, !deed.tellsOfAct { tell(Timeline.Row(at: now, app: bundle, what: entry.text)) }
        if isReplaying { replayedDeeds += 1 }
        if !isReplaying || replayedDeeds > outcomes.held.deeds { try outcomes.append(entry) }
    }

    private func exited(_ record: ExitRecord) throws(ReportError) {
        let number = Int(record.app.number)
        let entry = ExitEntry(record, app: bundles[number], pid: pids[number], atLaunch: launching[number])
        if !isReplaying || record.number > outcomes.held.lastExit { try outcomes.append(entry) }
        tell(
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
            guard isRolled || appNotes[number].admits() else {
                if appNotes[number].lost == 1 { tellBound(appNotes[number], "notes", of: app) }
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
            keep { () throws(ReportError) in try outcomes.append(entry) }
        }
    }

    func note(_ text: String, of app: AppID) {
        let bundle = bundles[Int(app.number)]
        keep { () throws(ReportError) in try outcomes.append(Note(text: text, app: bundle, at: now)) }
        tell(Timeline.Row(at: now, app: bundle, what: text))
        hasNews = true
    }

    /// Writes down what an app marked, as far as the bound allows. It waits for the next commit, as it is for later.
    func note(_ signpost: WireSignpost, of app: AppID, at instant: Instant) {
        let number = Int(app.number)
        guard signposts[number].admits() else {
            if signposts[number].lost == 1 {
                note("has made \(signposts[number].kept.count) signposts; later ones are not kept", of: app)
            }
            return
        }
        let entry = SignpostEntry(signpost, app: bundles[number], pid: pids[number], at: instant)
        keep { () throws(ReportError) in signposts[number].keeps(bytes: try outcomes.appendMeasured(entry)) }
    }

    /// Says that an app has made all the lines of a kind that the run keeps.
    private func tellBound(_ bound: LineBound, _ what: String, of app: AppID) {
        noteOnce("has \(bound.kept) \(what); later ones are not kept", of: app)
    }

    private func tellHaste(of app: AppID) {
        let what = "has changed what it is registered for \(Self.mostRegistrations) times in quick succession"
        noteOnce("\(what); from here on that is written once a second at most", of: app)
    }

    /// Says at the end how much of what apps did is not in the logs.
    private func noteLost() {
        for number in bundles.indices {
            let marks = signposts[number]
            let lost = [
                (marks.lost, "signposts after the first \(marks.kept.count)"),
                (deeds[number].lost, "deeds after the first \(Self.mostDeeds)"),
                (appNotes[number].lost, "notes after the first \(Self.mostNotes)"),
                (lostCallbacks[number], "callbacks after the first \(OpenOutcomes.mostCallbacks) of a wake"),
            ]
            for (count, what) in lost where count > 0 {
                noteOnce("\(count) \(what) were not kept", of: AppID(UInt32(number)))
            }
        }
    }

    /// Writes down a line about an app, unless the file has it from before the bench died.
    private func noteOnce(_ text: String, of app: AppID) {
        if !outcomes.claim(.note(text, app: bundles[Int(app.number)])) { note(text, of: app) }
    }

    private func sent(_ callback: String, _ value: [UInt8]?, _ decision: DecisionID, _ app: Int) {
        let entry = Outcome.Callback(name: callback, at: now, value: value?.hexadecimal)
        if !open.sent(entry, for: decision, to: app, inForeground: isInForeground(app)) { lostCallbacks[app] += 1 }
    }

    private func answered(_ decision: DecisionID, _ app: Int) {
        guard var outcome = open.answered(decision, by: app, inForeground: isInForeground(app)) else { return }
        outcome.used = now.since(outcome.at)
        keep { () throws(ReportError) in try outcomes.append(outcome) }
    }

    private func isInForeground(_ app: Int) -> Bool { states[app] == .active || states[app] == .inactive }

    /// Writes down a line for people, at the instant of the run's clock that it is about.
    func note(_ text: String, at instant: Instant) {
        keep { () throws(ReportError) in try outcomes.append(Note(text: text, at: instant)) }
        tell(Timeline.Row(at: instant, app: nil, what: text))
        hasNews = true
    }

    /// Writes down the note of a step, unless the file has it from before the bench died.
    func note(step text: String, at instant: Instant) {
        let isHeld = outcomes.claim(.note(text, app: nil))
        write(Note(text: text, at: instant), isHeld: isHeld)
    }

    private func write(_ note: Note, isHeld: Bool, isMiss: Bool = false) {
        if !isHeld { keep { () throws(ReportError) in try outcomes.append(note) } }
        tell(Timeline.Row(at: note.at, app: note.app, what: note.text, note: isMiss ? note.text : nil))
        hasNews = true
    }

    /// Writes down that something reached nobody, or came to nothing, and why, unless the file has it from before the bench died:
    /// what was done since the last input is done again then.
    ///
    /// - Parameters:
    ///   - what: came to nothing, such as a step; or the whole line.
    ///   - why: may be another when it is done again, as processes end with the bench.
    ///   - app: the one that it is about; nil for the whole run.
    ///   - instant: of the run's clock, when it was found.
    ///   - isReplayed: whether it is found again while a journal is read back; what is not, and seems so then, is nothing.
    func miss(
        _ what: String,
        _ why: String? = nil,
        of app: AppID? = nil,
        at instant: Instant,
        isReplayed: Bool = true
    ) {
        if isReplaying, !isReplayed { return }
        let text = why.map { "\(what): \($0)" } ?? what
        let note = Note(text: text, app: app.map { bundles[Int($0.number)] }, at: instant)
        var isHeld = isReplayed && outcomes.claim(.note(text, app: note.app))
        if !isHeld, !isReplaying { isHeld = outcomes.claim(note, about: why == nil ? nil : what) }
        write(note, isHeld: isHeld, isMiss: true)
    }

    /// Writes down what went over the network for an app, unless the file has it from before the bench died.
    func note(sent: UInt64, received: UInt64, by number: UInt32, of app: AppID, at instant: Instant) {
        guard !outcomes.claim(.traffic(number)) else { return }
        let bundle = bundles[Int(app.number)]
        let entry = TrafficEntry(app: bundle, at: instant, number: number, sent: sent, received: received)
        keep { () throws(ReportError) in try outcomes.append(entry) }
    }

    /// Writes down that devices left the phone's reach, or came back, unless the file has it from before the bench died.
    func range(_ devices: [String], inRange: Bool, at instant: Instant) {
        hasNews = true
        for device in devices where !outcomes.claim(.range(device, inRange: inRange)) {
            let entry = RangeEntry(device: device, at: instant, inRange: inRange)
            keep { () throws(ReportError) in try outcomes.append(entry) }
        }
    }

    /// Writes down what apps are registered for, where that has changed.
    ///
    /// - Parameter isLast: whether the run is over, so that what changed lately is not put off.
    func register(at instant: Instant, isLast: Bool = false, _ kept: (AppID) -> [KeptRegistration]) {
        var putOff: Set<Int> = []
        for number in restless.sorted() {
            let entries = kept(AppID(UInt32(number))).map {
                RegistrationEntry.Kept(via: $0.via.word, subject: names.text($0.subject), since: $0.since)
            }
            guard registered[number]?.kept != entries else { continue }
            let latest = registered[number]?.at ?? instant
            let isPutOff = !isLast && !isRolled && instant < latest.advanced(by: Self.registrationPause)
            guard !isPutOff || registrations[number].admits() else {
                putOff.insert(number)
                if registrations[number].lost == 1 { tellHaste(of: AppID(UInt32(number))) }
                continue
            }
            let entry = RegistrationEntry(app: bundles[number], at: instant, kept: entries)
            registered[number] = entry
            keep { () throws(ReportError) in try outcomes.append(entry) }
        }
        restless = putOff
    }

    /// Writes out what is buffered.
    func flush() throws(ReportError) {
        if let failure { throw failure }
        try writeTurns()
        try outcomes.settle()
        try outcomes.flush()
        try decisions.settle()
        try decisions.flush()
        (writingDue, written) = (nil, now)
    }

    /// Writes down how long an app kept the receiver on.
    func note(receiver time: Instant.Span, of app: AppID) throws(ReportError) {
        let entry = ReceiverEntry(app: bundles[Int(app.number)], at: now, milliseconds: time.milliseconds)
        if failure == nil { try outcomes.append(entry) }
    }

    /// The run is over at an instant of its clock: the wakes that go on are closed as they stand.
    func finish(at end: Instant) throws(ReportError) {
        if let failure { throw failure }
        noteLost()
        tellFollower()
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

extension InboxItem {
    /// What came with the event that a decision is about, in hexadecimal; nil for nothing, and for a decision about another event.
    func value(for decision: Decision) -> String? {
        input.event?.id == decision.event ? payload.valueText : nil
    }
}

extension EventPayload {
    /// The bytes that there are to read, in hexadecimal; nil for none. Those of several writes have spaces between them.
    fileprivate var valueText: String? {
        switch self {
        case .value(let bytes): return bytes.isEmpty ? nil : bytes.hexadecimal
        case .writeRequests(let writes):
            let texts = writes.map(\.value.hexadecimal).filter { !$0.isEmpty }
            return texts.isEmpty ? nil : texts.joined(separator: " ")
        default: return nil
        }
    }
}

extension AppRequest {
    /// Whether it may change what the app is registered for.
    fileprivate var mayRegister: Bool {
        switch self {
        case .beginTask, .endTask, .done, .operate, .measured, .asked: false
        default: true
        }
    }
}

extension EventKind {
    /// Whether a pending connection may have become a link by it, or a link have gone.
    fileprivate var changesLinks: Bool {
        self == .peripheralConnected || self == .peripheralDisconnected || self == .peripheralConnectionFailed
    }
}

extension SignpostEntry {
    fileprivate init(_ signpost: WireSignpost, app: String, pid: Int32, at instant: Instant) {
        let mark: Mark =
            switch signpost.mark {
            case .event: .event
            case .begin: .begin
            case .end: .end
            }
        self.init(
            app: app,
            at: instant,
            pid: pid,
            mark: mark,
            name: signpost.name,
            span: signpost.span,
            subsystem: signpost.subsystem,
            category: signpost.category,
            message: signpost.message
        )
    }
}
