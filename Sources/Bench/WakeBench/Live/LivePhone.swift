import WakeBundles
import WakeDevices
import WakeJSON
import WakeModel
import WakePorts
import WakeReports
import WakeRouter
import WakeSystem

/// An emulated phone that is switched on: its run, which goes on in a loop beside others and hears commands.
final class LivePhone: BenchObserver {
    /// What whoever follows a phone hears.
    enum News {
        /// A record of `wake.decision/1` with what came with its event, and the number of its decision.
        case decision(DecisionID, [UInt8])
        /// What is no decision: what the user, the phone or a process did, and notes.
        case row(Timeline.Row)
        /// An app went from a state to another.
        case move(Move)
    }

    struct Move {
        /// Its bundle identifier.
        var app: String
        var at: Instant
        var from: AppState
        var to: AppState
        var pid: Int32
        /// Why its process ended, where it has none any more.
        var cause: ExitCause?
    }

    /// What somebody waits for, and what came meanwhile.
    private struct Waiter {
        var token: UInt64
        /// The last decision before.
        var since: DecisionID
        var until: (LivePhone) -> Bool
        /// On the monotonic clock in nanoseconds.
        var deadline: Int64
        var meanwhile = Meanwhile()
        /// Told what came meanwhile, and whether it came about in time.
        var done: (_ meanwhile: Meanwhile, _ cameAbout: Bool) -> Void
    }

    let name: String
    let folder: PhoneFolder
    let run: Run
    private let live: LiveScenario
    private let outer: EventLoop
    private var watch: Watch?
    private let timer: Timer
    /// The timer of the loop around, for what is due at once.
    private let soon: Timer
    private var waiters: [Waiter] = []
    private var lastToken: UInt64 = 0
    /// Where the clock of a virtual phone is on its way to.
    private var target = Instant.zero
    private let writer: DecisionRecords
    /// What was decided and is not committed yet, with what came with its event; kept where somebody listens.
    private var uncommitted: [(decision: Decision, value: String?)] = []
    /// What came with events that are to be decided again, by their decisions; kept where somebody listens.
    private var deferred: [DecisionID: String] = [:]
    /// How apps have moved meanwhile; kept where somebody follows.
    private var moves: [Move] = []
    /// The commands with an identifier that the journal remembers, and what came of them.
    private let given: GivenCommands
    /// The records of the latest decisions, as far as somebody listened.
    private var recent = RecentRecords()
    /// The last event of each kind, subject and app.
    private var lastEvents: [EventShape: WakeEvent] = [:]
    /// The last decision about each app.
    private(set) var lastDecisions: [AppID: Decision] = [:]
    var lastDecision: DecisionID { DecisionID(run.bench.router.lastDecision) }
    private var isTurning = false
    /// Whether something was committed in this turn.
    private var hasCommitted = false
    /// Told once when the phone cannot go on. It is to be stopped then.
    var failed: ((CommandFailure) -> Void)?
    /// Hears what happens for good; nil when nobody follows.
    var news: ((News) -> Void)? {
        didSet { tune() }
    }

    /// Has the run tell what happens beside decisions as long as somebody listens.
    private func tune() {
        guard (run.follow != nil) != isListenedTo else { return }
        run.follow = isListenedTo ? { [unowned self] in hear($0) } : nil
    }

    /// What tells one question about a wake from another.
    private struct EventShape: Hashable {
        var kind: EventKind
        var subject: NameID
        var app: AppID?
    }

    /// The most events that are remembered to be asked about.
    private static let mostEvents = 10_000

    /// Switches a phone on: a run that begins, or goes on where it was stopped or broke off.
    ///
    /// - Parameter air: what it shares with the others.
    init(
        _ name: String,
        _ folder: PhoneFolder,
        _ options: RunOptions,
        beside loop: EventLoop,
        on air: PhonesAir
    ) throws(CommandFailure) {
        (self.name, self.folder, outer) = (name, folder, loop)
        let joined = try folder.readJoined()
        let played = PlayedFiles(options, isLive: true)
        do throws(FileError) {
            live = try LiveScenario(file: played.scenario, files: played.files, joined: joined)
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
        run = try Run(options, playing: played, live: live)
        writer = DecisionRecords(header: run.header, profile: run.profile, names: run.names.text)
        do throws(SystemError) {
            timer = try run.loop.timer(on: .monotonic)
            soon = try loop.timer(on: .monotonic)
        } catch {
            throw CommandFailure(.internal, error.description)
        }
        given = try GivenCommands(run.journal.recovery?.commands ?? [], in: run.folder)
        run.bench.add(self)
        try run.beginLive()
        target = max(run.reached, run.commandedTo)
        do throws(SystemError) {
            watch = try loop.watch(run.loop.descriptor, for: .readable) { [unowned self] _ in turn() }
        } catch {
            throw CommandFailure(.internal, error.description)
        }
        soon.handler = { [unowned self] in turn() }
        run.join(air) { [unowned self] in soon.arm(at: MonotonicClock.now()) }
        tune()
        turn()
    }

    /// Switches it off: it goes on from here when it is switched on again.
    ///
    /// - Parameter suddenly: because it cannot go on: others find out by its silence.
    func stop(suddenly: Bool = false) throws(CommandFailure) {
        run.leaveAir(suddenly: suddenly)
        watch?.cancel()
        soon.disarm()
        failed = nil
        var failure: CommandFailure?
        if !suddenly {
            do throws(CommandFailure) { try closeCommands(isEnd: true) } catch { failure = error }
        }
        for waiter in waiters { waiter.done(waiter.meanwhile, false) }
        waiters.removeAll()
        try run.stopLive()
        if let failure { throw failure }
    }

    // MARK: Turns

    /// Does what is due and hears what has come, then waits for more.
    func turn() {
        guard !isTurning else { return }
        isTurning = true
        defer { isTurning = false }
        do {
            repeat {
                try run.loop.runReady()
                if run.realTime { try turnInRealTime() } else { try turnInVirtualTime() }
                // What an answer tells is committed first: a repeated command gets the same answer, after a restart too.
                if !waiters.isEmpty || given.hasOpen {
                    try run.bench.commit()
                    // Notes belong to no turn.
                    try run.tellReaders()
                }
                if hasCommitted {
                    hasCommitted = false
                    try run.requireInPlace()
                }
                try closeCommands()
                serveWaiters()
            } while try run.loop.prepare()
        } catch {
            failed?(CommandFailure(error))
        }
    }

    private func turnInRealTime() throws {
        for _ in 0..<Self.turnsInRow {
            guard case .waits(let next) = try run.turnInRealTime() else {
                try run.loop.runReady()
                continue
            }
            arm(at: run.startedAt.addingReportingOverflow(next.nanoseconds).partialValue, for: next)
            return
        }
        // The others are not kept waiting.
        soon.arm(at: MonotonicClock.now())
    }

    /// So many turns are taken at once before other phones have theirs.
    private static let turnsInRow = 64
    /// So long a virtual phone works before others have their turn, in nanoseconds.
    private static let slice: Int64 = 20_000_000

    private func turnInVirtualTime() throws {
        target = max(target, run.reached)
        try run.runInVirtualTime(through: target, pause: MonotonicClock.now() + Self.slice)
        try run.bench.commit()
        try run.clock?.keep(run.reached)
        try run.tellReaders()
        if !isQuiet {
            soon.arm(at: MonotonicClock.now())
        } else {
            arm(at: .max, for: .distantFuture)
        }
    }

    private func arm(at due: Int64, for next: Instant) {
        let wanted = min(waiters.map(\.deadline).min() ?? .max, given.deadline)
        let deadline = min(next == .distantFuture ? .max : due, wanted)
        if deadline == .max { timer.disarm() } else { timer.arm(at: deadline) }
    }

    /// Whether nothing is on its way: what has been said has been decided and answered.
    var isQuiet: Bool {
        guard !run.bench.hasWork(at: run.reached), run.deadline > run.reached, target <= run.reached else {
            return false
        }
        // Virtual time has waited for apps; what one still owes waits for time to go on.
        guard run.realTime else { return true }
        return run.processes?.host.isQuiet != false && run.areas.owed == nil && !run.areas.isCarryingOut
    }

    // MARK: Listening

    private var isListenedTo: Bool { news != nil || !waiters.isEmpty || given.hasOpen }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        if let event = item.input.reported {
            let shape = EventShape(kind: event.kind, subject: event.subject, app: event.app)
            if lastEvents[shape] != nil || lastEvents.count < Self.mostEvents { lastEvents[shape] = event }
        }
        for decision in output.decisions where decision.app != .none { lastDecisions[decision.app] = decision }
        // What a journal is read back to was told before.
        if isListenedTo, !run.bench.replaying {
            for decision in output.decisions { uncommitted.append((decision, value(of: decision, item))) }
        } else {
            deferred.removeAll()
            if let last = output.decisions.last { recent.forget(through: last.id) }
        }
        if news != nil { gatherMoves(output, at: now) }
    }

    /// What came with the event of a decision, also where that is decided again, as the logs tell it.
    private func value(of decision: Decision, _ item: InboxItem) -> String? {
        let value = item.value(for: decision) ?? deferred.removeValue(forKey: decision.supersedes)
        if decision.verdict == .defer, let value { deferred[decision.id] = value }
        return value
    }

    private func gatherMoves(_ output: RouterOutput, at now: Instant) {
        var causes: [AppID: ExitCause] = [:]
        for action in output.actions {
            if case .exited(let record) = action { causes[record.app] = record.cause }
        }
        for action in output.actions {
            guard case .moved(let app, let from, let to) = action else { continue }
            let number = Int(app.number)
            let move = Move(
                app: run.bundle(ofApp: number),
                at: now,
                from: from,
                to: to,
                pid: to == .notRunning ? 0 : run.recorder.pid(of: number),
                cause: to == .notRunning ? causes[app] : nil
            )
            moves.append(move)
        }
    }

    func committed() {
        hasCommitted = true
        defer {
            for move in moves { news?(.move(move)) }
            moves.removeAll(keepingCapacity: true)
        }
        guard !uncommitted.isEmpty else { return }
        let decisions = uncommitted
        uncommitted.removeAll(keepingCapacity: true)
        let records = zip(decisions, writer.records(of: decisions.map { $0.decision })).map { each, record in
            RecordValue.adding(each.value, to: record)
        }
        for (each, record) in zip(decisions, records) {
            recent.add(each.decision.id, record)
            for place in waiters.indices where each.decision.id > waiters[place].since {
                waiters[place].meanwhile.add(record: record)
            }
        }
        guard let news else { return }
        for (each, record) in zip(decisions, records) { news(.decision(each.decision.id, record)) }
    }

    private func hear(_ row: Timeline.Row) {
        guard !row.isDecision else { return }
        news?(.row(row))
        guard !waiters.isEmpty || given.hasOpen else { return }
        for place in waiters.indices { waiters[place].meanwhile.add(row) }
        given.add(row)
    }

    private func serveWaiters() {
        guard !waiters.isEmpty else { return }
        let now = MonotonicClock.now()
        // Whoever is told may wait for something else.
        let before = waiters
        waiters = []
        for waiter in before {
            let cameAbout = waiter.until(self)
            if cameAbout || waiter.deadline <= now {
                waiter.done(waiter.meanwhile, cameAbout)
            } else {
                waiters.append(waiter)
            }
        }
        tune()
    }

    /// Keeps what is decided from now on, until ``finish(_:until:within:_:)`` or ``forget(_:)``.
    func listen() -> UInt64 {
        lastToken += 1
        waiters.append(
            Waiter(
                token: lastToken,
                since: lastDecision,
                until: { _ in false },
                deadline: .max,
                done: { _, _ in }
            )
        )
        tune()
        return lastToken
    }

    func forget(_ token: UInt64) {
        waiters.removeAll { $0.token == token }
        tune()
    }

    /// Waits until something is so, for so many nanoseconds at most, and tells what came since ``listen()``.
    func finish(
        _ token: UInt64,
        until isSo: @escaping (LivePhone) -> Bool,
        within limit: Int64,
        _ done: @escaping (Meanwhile, Bool) -> Void
    ) {
        guard let place = waiters.firstIndex(where: { $0.token == token }) else { return }
        waiters[place].until = isSo
        waiters[place].deadline = Self.deadline(after: limit)
        waiters[place].done = done
        turn()
    }

    /// On the monotonic clock in nanoseconds.
    private static func deadline(after limit: Int64) -> Int64 {
        let deadline = MonotonicClock.now().addingReportingOverflow(limit)
        return deadline.overflow ? .max : deadline.partialValue
    }

    // MARK: Commands

    /// What becomes of a command.
    enum Acceptance {
        case accepted(UInt64)
        /// One with this identifier was accepted before; nothing is done again.
        case repeated(UInt64)
    }

    /// Accepts a command: once this returns, it survives the bench.
    ///
    /// - Parameters:
    ///   - command: `{"step": {...}}`, `{"install": {...}}` or `{"advance": NANOSECONDS}`.
    ///   - id: what whoever gives it calls it; empty for none.
    ///   - limit: for how many nanoseconds what is decided is taken to come of it, unless all is quiet before.
    /// - Throws: ``CommandFailure``; the phone is as before, or cannot go on, where its journal or its logs cannot be written.
    func accept(_ command: JSONValue, id: String, within limit: Int64) throws(CommandFailure) -> Acceptance {
        if let number = given.number(of: id) { return .repeated(number) }
        let deed = try deed(of: command)
        let before = lastDecision
        let line = JSONValue.object(command.members + [GivenCommands.mark(before)])
        given.begin(id, after: before, until: Self.deadline(after: limit))
        tune()
        var number: UInt64?
        defer { given.end(id, as: number) }
        do {
            // It happens now, and what was there before it is decided before it.
            if run.realTime { _ = try run.turnInRealTime() }
            try run.bench.run(at: run.reached)
            try run.carryOut(deed, line: String(decoding: line.encoded, as: UTF8.self), id: id)
            try run.bench.run(at: run.reached)
            try run.bench.commit()
        } catch let refusal as SourceFailure {
            throw CommandFailure(refusal)
        } catch {
            // The router may have gone further than its journal: only what the journal has goes on.
            let failure = Daemon.failure(CommandFailure(error), of: name)
            failed?(failure)
            throw failure
        }
        if case .advance(let instant) = deed { target = max(target, instant) }
        number = run.lastCommand
        return .accepted(run.lastCommand)
    }

    /// Ends the answers of commands that nothing more comes of, and writes them down.
    ///
    /// - Parameter isEnd: whether nothing more comes of any.
    private func closeCommands(isEnd: Bool = false) throws(CommandFailure) {
        guard given.hasOpen else { return }
        let isQuiet = isQuiet
        guard isQuiet || isEnd || given.deadline <= MonotonicClock.now() else { return }
        do { try run.bench.commit() } catch { throw CommandFailure(error) }
        let bound = isQuiet || isEnd ? Int64.max : MonotonicClock.now()
        defer { tune() }
        try given.close(before: bound, at: tellTime(), last: lastDecision, isSettled: isQuiet)
    }

    /// What came of a command that was accepted under an identifier: so far, where more may come.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 where the logs have it no more.
    func answer(to id: String) throws(CommandFailure) -> GivenAnswer {
        var answer = try given.answer(to: id, at: tellTime(), last: lastDecision)
        if let records = recent.records(after: answer.after, through: answer.through) {
            answer.records = records
        } else {
            let records = try loggedRecords(after: answer.after, through: answer.through)
            guard let records else { throw given.forgotten(id) }
            answer.records = records
        }
        return answer
    }

    /// Whether nothing more comes of a command that was accepted under an identifier.
    func isAnswered(_ id: String) -> Bool { given.isAnswered(id) }

    /// Where the clock stood when nothing more came of such a command; nil before, and for no identifier.
    func endOfAnswer(to id: String) -> String? { given.end(of: id) }

    /// Reads the records of decisions from the logs; nil where the logs have them no more.
    private func loggedRecords(
        after: DecisionID,
        through: DecisionID
    ) throws(CommandFailure) -> [[UInt8]]? {
        guard through > after else { return [] }
        do throws(ReportError) {
            try run.recorder.flush()
            let found = try run.folder.records(after: after, through: through, atMost: Meanwhile.mostRecords)
            if let found, through == lastDecision { recent.take(found, after: after, through: through) }
            return found
        } catch {
            throw CommandFailure(.environment, error)
        }
    }

    private func deed(of command: JSONValue) throws(CommandFailure) -> Run.LiveDeed {
        if let step = command["step"] {
            do throws(FileError) { return .step(try live.verb(step)) } catch { throw CommandFailure(live: error) }
        }
        if let entry = command["install"] { return try install(entry) }
        guard let advance = command["advance"]?.integer, !run.realTime else {
            throw CommandFailure(
                .wrongState,
                "\(name): its clock is the machine's, and cannot be set forward",
                hint: "make a phone with --clock virtual"
            )
        }
        guard (0...Self.latest).contains(advance) else {
            throw CommandFailure(.usage, "the clock cannot go on to \(advance) ns", hint: "at most 100 years")
        }
        return .advance(Instant(nanoseconds: advance))
    }

    /// A hundred years, in nanoseconds.
    static let latest: Int64 = 3_155_760_000_000_000_000

    // MARK: Apps that join

    /// An entry of `apps`: a new app, another version of one that is there, or one that had been uninstalled.
    private func install(_ entry: JSONValue) throws(CommandFailure) -> Run.LiveDeed {
        guard let path = entry["bundle"]?.string else { return .install(try join(entry)) }
        let bundle: AppBundle
        do throws(BundleError) { bundle = try AppBundle.read(path) } catch {
            throw CommandFailure(.invalidFile, error)
        }
        let known = run.scenario.apps.indices.first { run.bundle(ofApp: $0) == bundle.identifier }
        guard let known else { return .install(try join(entry)) }
        if run.bench.router.isInstalled(AppID(UInt32(known))) {
            return .step(.install(app: known, bundle: bundle.path))
        }
        do throws(BundleError) { try run.processes?.replace(bundle, at: known) } catch {
            throw CommandFailure(.invalidFile, error)
        }
        return .install(known..<known + 1)
    }

    private func join(_ entry: JSONValue) throws(CommandFailure) -> Range<Int> {
        let range: Range<Int>
        do throws(FileError) { range = try live.join(entry) } catch { throw CommandFailure(live: error) }
        let before = try folder.readJoined()
        do throws(CommandFailure) {
            let bundles = try RealApps.read(live.scenario).filter { range.contains($0.position) }
            try folder.writeJoined(before + [entry])
            try run.takeOn(range, bundles)
        } catch {
            live.leave(range)
            try folder.writeJoined(before)
            throw error
        }
        return range
    }

    // MARK: Questions

    /// The positions of the apps that a name or a bundle identifier means.
    func apps(_ word: String) throws(CommandFailure) -> [Int] {
        do throws(FileError) { return try live.apps(word) } catch {
            throw CommandFailure(.notFound, "\(name): \(error.found)", hint: "expected \(error.expected)")
        }
    }

    /// What would become of the latest events of a choice for the apps at these positions, if they came again now.
    ///
    /// - Parameter words: which events; none for the kinds that there were, as an error.
    func canWake(_ apps: [Int], _ words: [String]) throws(CommandFailure) -> WakeQuestion.Answer {
        do { try run.bench.commit() } catch { throw CommandFailure(error) }
        let log: RunLog
        do throws(ReportError) {
            try run.recorder.flush()
            log = try RunLog(folder: run.folder.path)
        } catch {
            throw CommandFailure(.environment, error)
        }
        let events = lastEvents.values.sorted { $0.id < $1.id }
        return try WakeQuestion(run, about: events).answer(words, for: apps.map(run.bundle(ofApp:)), in: log, name)
    }
}

extension Timeline.Row {
    /// Whether it shows a decision.
    fileprivate var isDecision: Bool { verdict != "-" }
}

extension CommandFailure {
    /// What was said to a live phone and is none of what can be.
    fileprivate init(live error: FileError) {
        self.init(.usage, error.found, hint: "expected \(error.expected)")
    }
}
