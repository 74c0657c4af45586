import WakeDevices
import WakeModel
import WakeReports
import WakeSystem

/// An emulated phone that is switched on: its run, which goes on in a loop beside others and hears commands.
final class LivePhone: BenchObserver {
    let name: String
    let folder: PhoneFolder
    let run: Run
    let live: LiveScenario
    private let outer: EventLoop
    private var watch: Watch?
    private let timer: Timer
    /// The timer of the loop around, for what is due at once.
    private let soon: Timer
    var waiters: [Waiter] = []
    var lastToken: UInt64 = 0
    /// Where the clock of a virtual phone is on its way to.
    var target = Instant.zero
    let writer: DecisionRecords
    /// What was decided and is not committed yet, with what came with its event; kept where somebody listens.
    var uncommitted: [(decision: Decision, value: String?)] = []
    /// What came with events that are to be decided again, by their decisions; kept where somebody listens.
    var deferred: [DecisionID: String] = [:]
    /// How apps have moved meanwhile; kept where somebody follows.
    var moves: [Move] = []
    /// The commands with an identifier that the journal remembers, and what came of them.
    let given: GivenCommands
    /// The records of the latest decisions, as far as somebody listened.
    var recent = RecentRecords()
    /// The last event of each kind, subject and app.
    var lastEvents: [EventShape: WakeEvent] = [:]
    /// Whether those from before it was switched on are among them.
    var knowsEarlierEvents = false
    /// The last decision about each app.
    var lastDecisions: [AppID: Decision] = [:]
    var lastDecision: DecisionID { DecisionID(run.bench.router.lastDecision) }
    private var isTurning = false
    /// Whether something was committed in this turn.
    var hasCommitted = false
    /// Told once when the phone cannot go on. It is to be stopped then.
    var failed: ((CommandFailure) -> Void)?
    /// Hears what happens for good; nil when nobody follows.
    var news: ((News) -> Void)? {
        didSet { tune() }
    }

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
        let played = PlayedFiles(options, isLive: true)
        live = try folder.readScenario(played)
        try RunFolder(of: options.out).requireFolders()
        run = try Run(options, playing: played, live: live, bridges: air.bridges)
        writer = DecisionRecords(header: run.header, profile: run.profile, names: run.names.text)
        do throws(SystemError) {
            timer = try run.loop.timer(on: .monotonic)
            soon = try loop.timer(on: .monotonic)
        } catch {
            throw CommandFailure(.internal, error.description)
        }
        do throws(CommandFailure) {
            try folder.requireJoined(by: try run.appCount(), in: live.scenario)
            given = try GivenCommands(run.journal.recovery?.commands ?? [], in: run.folder)
            run.bench.add(self)
            try run.beginLive()
        } catch {
            // Once it is mended it can be switched on.
            run.letGo()
            throw error
        }
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
}
