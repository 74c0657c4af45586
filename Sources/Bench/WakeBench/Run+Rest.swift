import WakeDevices
import WakeModel
import WakeProcesses
import WakeReports
import WakeSystem
import WakeVirtualTime

/// Virtual time with real apps: it moves when all of them rest, and nothing is on its way to or from them.
extension Run {
    /// What a wait for rest has brought.
    enum RestOutcome: Equatable {
        /// Something came from an app, or is to be done.
        case disturbed
        /// All that is waited for rests.
        case all
        /// The same, and nothing of the apps has run since they rested before.
        case unchanged
        /// An app reads its clock on and on, and waits for it to move.
        case spins(Instant.Span)
    }

    /// What the clocks of apps begin with; nil when apps cannot live in virtual time here, and then why.
    static func timeSettings(date: RunDate) -> (settings: ProcessAppHost.TimeSettings?, missing: String?) {
        switch TimeSupport.examine() {
        case .missing(let what): return (nil, what)
        case .library(let path):
            let settings = ProcessAppHost.TimeSettings(
                library: path,
                monotonicBase: Self.monotonicBase,
                realBase: date.nanoseconds,
                processor: .available()
            )
            return (settings, nil)
        }
    }

    /// A phone that was started a while ago.
    private static let monotonicBase: Int64 = 1_000_000_000_000

    /// Waits until all apps rest, or something comes from one. No descriptor tells of rest: it is looked for, at first at
    /// once and then less and less often.
    func waitForRest(_ processes: RealApps) throws -> RestOutcome {
        let host = processes.host
        let patience = Int64(options.patience * 1_000_000_000)
        var pause = Self.shortestPause
        var isCommitted = false
        while !isInterrupted() {
            // Its end is told by the loop.
            let rest: ProcessAppHost.Rest? = host.isFreezing ? nil : host.lookForRest(at: bench.now)
            if case .all(let isUnchanged) = rest {
                for _ in 0..<64 where try !loop.runOnce(timeout: 0) { break }
                for note in host.notesOfTime() { recorder.note(note, at: bench.now) }
                if bench.hasWork(at: bench.now) { return .disturbed }
                if !owes(host), !host.freezeRested() { return isUnchanged ? .unchanged : .all }
            }
            if !isCommitted {
                isCommitted = true
                try bench.commit()
                if recorder.hasNews { recorder.committed() }
            }
            let now = MonotonicClock.now()
            if case .restless(let process, let unrest) = rest {
                if let step = host.spinStep(of: process, at: now), !host.freezeRested() { return .spins(step) }
                host.holdBack(process, at: now)
                endWaiting(for: process, "\(unrest)")
            }
            endPatience(host, patience, now)
            // What was heard may have moved a device: the turn begins anew.
            if try loop.runOnce(timeout: pause) { return .disturbed }
            pause = min(pause * 2, Self.longestPause)
        }
        return .disturbed
    }

    /// Whether time goes on though an app goes on talking: it has done so for as long as the patience lasts.
    func isTalkedThrough(_ host: ProcessAppHost) -> Bool {
        guard let (process, said) = host.talker else { return false }
        return endWaiting(for: process, "heard \(said) times meanwhile")
    }

    /// Stops waiting for a process once time has stood still for as long as the patience with it lasts, and says so the first time.
    ///
    /// - Returns: whether it has.
    @discardableResult
    private func endWaiting(for process: AppProcess, _ what: String) -> Bool {
        // One that kept the others waiting before is waited for less.
        let isKnown = process.gaveUpAt != nil
        let patience = Int64(options.patience * 1_000_000_000)
        let limit = isKnown ? min(patience, Self.shortPatience) : patience
        guard MonotonicClock.now() - stoodSince >= limit else { return false }
        process.giveUp(at: bench.now)
        let line = "not at rest within the patience of \(options.patience) s: \(process.name): \(what)"
        if !isKnown { recorder.note(line, at: bench.now) }
        return true
    }

    /// Whether virtual time has stood still for longer than the patience.
    var hasStoodTooLong: Bool {
        MonotonicClock.now() - stoodSince >= Int64(options.patience * 1_000_000_000)
    }

    /// Between two looks for rest, in nanoseconds.
    private static let shortestPause: Int64 = 15_000
    private static let longestPause: Int64 = 1_000_000
    /// The patience with an app that has used it up before, in nanoseconds.
    private static let shortPatience: Int64 = 100_000_000

    /// Whether something is owed by one that rests, and has no time of its own to wait for: only what comes from outside of
    /// the run can bring it on.
    private func owes(_ host: ProcessAppHost) -> Bool {
        if areas.owed != nil { return true }
        sourceOwedSince = nil
        return !host.isQuiet && !host.owesUntilDeadline(at: bench.now)
    }

    /// Counts those as overrun whose answer is owed for longer than the patience.
    ///
    /// - Returns: whether there was an app among them.
    @discardableResult
    func endPatience(_ host: ProcessAppHost, _ patience: Int64, _ now: Int64) -> Bool {
        let owed = areas.owed
        sourceOwedSince = owed == nil ? nil : sourceOwedSince ?? now
        if let owed, let since = sourceOwedSince, since + patience <= now {
            recorder.note("no answer within the patience of \(options.patience) s: \(owed)", at: bench.now)
            areas.giveUpWaiting(at: bench.now)
            sourceOwedSince = nil
        }
        let late = host.endPatience(with: now - patience)
        guard !late.isEmpty else { return false }
        let names = late.joined(separator: ", ")
        recorder.note("no answer within the patience of \(options.patience) s: \(names)", at: bench.now)
        return true
    }
}
