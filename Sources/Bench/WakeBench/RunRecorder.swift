import WakeModel
import WakeReports
import WakeRouter
import WakeSystem

/// Writes a run down for its readers: decisions as the router gave them, and what became of them in the world.
final class RunRecorder: BenchObserver {
    private let decisions: DecisionLog
    private let outcomes: OutcomeLog
    private let names: NameTable
    /// The bundle identifier of each app, by number.
    private var bundles: [String]
    /// Which apps are processes; scripted ones have no outcome in the world.
    private var real: [Bool]
    private var pids: [Int32]
    private var states: [AppState] = []
    /// The outcomes of each app's wake that is not over, oldest first.
    private var open: [[Outcome]]
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
    /// The most outcomes of one wake that wait for its end; beyond it they are written when they are answered.
    private static let openLimit = 256

    init(decisions: DecisionLog, outcomes: OutcomeLog, names: NameTable, resumeAfter: DecisionID = .none) {
        self.decisions = decisions
        self.outcomes = outcomes
        self.names = names
        // A turn that was never committed has never happened.
        decisions.hold()
        outcomes.hold()
        self.resumeAfter = resumeAfter
        bundles = []
        real = []
        pids = []
        open = []
    }

    func add(bundle: String, real isReal: Bool) {
        bundles.append(bundle)
        real.append(isReal)
        pids.append(0)
        states.append(.notRunning)
        open.append([])
    }

    // MARK: The desk

    func observe(
        _ input: Input,
        id: EventID,
        origin: NameID,
        payload: EventPayload,
        output: RouterOutput,
        at: Instant
    ) {
        now = at
        guard failure == nil else { return }
        do throws(ReportError) {
            if !output.decisions.isEmpty { try write(output.decisions) }
            for decision in output.decisions {
                counts[Int(decision.verdict.rawValue)] += 1
                if decision.verdict.delivers, isReal(decision.app) { begin(decision) }
            }
            for action in output.actions {
                switch action {
                case .moved(let app, let from, let to): try moved(app, from, to)
                case .exited(let record): try exited(record)
                case .alert(let app, let kind, let subject, _): try alerted(app, kind, subject)
                default: break
                }
            }
        } catch {
            failure = error
        }
    }

    func committed() {
        guard failure == nil else { return }
        do throws(ReportError) {
            try decisions.settle()
            try outcomes.settle()
        } catch {
            failure = error
        }
    }

    private func write(_ batch: [Decision]) throws(ReportError) {
        if resumeAfter == .none || batch[0].id > resumeAfter {
            try decisions.append(batch: batch)
        } else {
            let rest = batch.filter { $0.id > resumeAfter }
            if !rest.isEmpty { try decisions.append(batch: rest) }
        }
    }

    private func isReal(_ app: AppID) -> Bool {
        app != .none && Int(app.number) < real.count && real[Int(app.number)]
    }

    private func begin(_ decision: Decision) {
        let app = Int(decision.app.number)
        open[app].append(
            Outcome(
                decision: decision.id,
                event: decision.event,
                app: bundles[app],
                at: now,
                wall: WallClock.now(),
                pid: decision.verdict == .relaunch ? 0 : pids[app]
            )
        )
    }

    private func moved(_ app: AppID, _ from: AppState, _ to: AppState) throws(ReportError) {
        let number = Int(app.number)
        states[number] = to
        if isReplaying { replayedMoves += 1 }
        if !isReplaying || replayedMoves > outcomes.held.moves {
            try outcomes.append(StateMove(app: bundles[number], at: now, from: from, to: to, pid: pids[number]))
        }
        if to == .suspended { try close(number, .suspended, exit: 0) }
    }

    private func alerted(_ app: AppID, _ kind: EventKind, _ subject: NameID) throws(ReportError) {
        if isReplaying { return }
        let rule = kind.source == .location ? RuleID.loc10 : .btc9
        let what = "alert shown (\(rule.text)): \(names.text(subject)) \(kind.word)"
        try outcomes.append(note: what, app: bundles[Int(app.number)], at: now)
    }

    private func exited(_ record: ExitRecord) throws(ReportError) {
        let number = Int(record.app.number)
        if !isReplaying || record.number > outcomes.held.lastExit {
            try outcomes.append(ExitEntry(record, app: bundles[number], pid: pids[number]))
        }
        let killed = record.cause != .exit && record.cause != .crash
        try close(number, killed ? .killed : .exited, exit: record.number)
        pids[number] = 0
    }

    /// The app's wake is over: what is known of its decisions is final.
    private func close(_ app: Int, _ ending: Outcome.Ending, exit: UInt64) throws(ReportError) {
        for var outcome in open[app] where !isReplaying || !outcomes.held.outcomes.contains(outcome.decision) {
            outcome.used = now.since(outcome.at)
            outcome.ended = ending
            outcome.exit = exit
            try outcomes.append(outcome)
        }
        open[app].removeAll()
    }

    // MARK: The world

    func note(_ fact: ProcessFact, of app: AppID) {
        let number = Int(app.number)
        switch fact {
        case .started(let pid):
            pids[number] = pid
            if let last = open[number].indices.last { open[number][last].pid = pid }
        case .greeted(let spawn):
            if let last = open[number].indices.last { open[number][last].spawn = spawn }
        case .sent(let callback, let value, let decision): sent(callback, value, decision, number)
        case .answered(let decision): answered(decision, number)
        case .fault(let what): note(what, of: app)
        }
    }

    func note(_ text: String, of app: AppID) {
        guard failure == nil else { return }
        do throws(ReportError) { try outcomes.append(note: text, app: bundles[Int(app.number)], at: now) } catch {
            failure = error
        }
    }

    private func sent(_ callback: String, _ value: [UInt8]?, _ decision: DecisionID, _ app: Int) {
        let entry = Outcome.Callback(name: callback, at: now, value: value.map(Self.hexadecimal))
        // What no decision is behind belongs to the wake that is going on, if there is one.
        let place = decision == .none ? open[app].indices.last : place(of: decision, app)
        if let place { open[app][place].delivered.append(entry) }
    }

    private func answered(_ decision: DecisionID, _ app: Int) {
        guard let place = place(of: decision, app) else { return }
        open[app][place].acknowledged = true
        // In the foreground there is no wake whose end would have to be waited for.
        let inForeground = states[app] == .active || states[app] == .inactive
        guard inForeground || open[app].count > Self.openLimit, failure == nil else { return }
        var outcome = open[app].remove(at: place)
        outcome.used = now.since(outcome.at)
        do throws(ReportError) { try outcomes.append(outcome) } catch { failure = error }
    }

    /// Where the open outcome of a decision is; answers come in the order of the decisions, so it is near the front.
    private func place(of decision: DecisionID, _ app: Int) -> Int? {
        let all = open[app]
        var low = 0
        var high = all.count
        while low < high {
            let middle = (low + high) / 2
            if all[middle].decision < decision { low = middle + 1 } else { high = middle }
        }
        return low < all.count && all[low].decision == decision ? low : nil
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    func note(_ text: String) {
        guard failure == nil else { return }
        do throws(ReportError) { try outcomes.append(note: text, at: now) } catch { failure = error }
    }

    /// Writes out what is buffered.
    func flush() throws(ReportError) {
        if let failure { throw failure }
        try decisions.settle()
        try outcomes.settle()
        try decisions.flush()
        try outcomes.flush()
    }

    /// Writes down how long an app kept the receiver on.
    func note(receiver time: Instant.Span, of app: AppID) throws(ReportError) {
        if failure == nil { try outcomes.append(receiver: time, app: bundles[Int(app.number)], at: now) }
    }

    /// The run is over: the wakes that go on are closed as they stand.
    func finish() throws(ReportError) {
        if let failure { throw failure }
        for app in open.indices {
            // A run whose reports alone were missing has them already.
            for var outcome in open[app] where !outcomes.held.outcomes.contains(outcome.decision) {
                outcome.used = now.since(outcome.at)
                try outcomes.append(outcome)
            }
            open[app].removeAll()
        }
        try flush()
    }
}
