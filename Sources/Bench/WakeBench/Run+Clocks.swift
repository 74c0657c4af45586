import WakeModel
import WakePorts
import WakeReports
import WakeRouter
import WakeSystem

/// The clocks of a run: virtual time leaps to what is next, real time waits for it.
extension Run {
    /// - Parameters:
    ///   - horizon: where it ends at the latest; what is due there is done.
    ///   - pause: when it leaves off before that, on the monotonic clock in nanoseconds.
    func runInVirtualTime(until horizon: Instant = .distantFuture, pause: Int64 = .max) throws {
        var now = max(bench.now, reached)
        var looked: Instant?
        stoodSince = MonotonicClock.now()
        while !isInterrupted() {
            reached = now
            if pause != .max, MonotonicClock.now() >= pause { return }
            tellProgress()
            look(at: now)
            let didSomething = try bench.run(at: now)
            if let failure = recorder.failure { throw failure }
            if driver.hasWork || driver.isHeld {
                carryOutSteps(at: now)
                continue
            }
            if hasFailed { return }
            var creep: Instant?
            var isTalkedThrough = false
            if let processes, processes.host.time != nil {
                switch try waitForRest(processes) {
                case .unchanged:
                    if didSomething { continue }
                    // One that asks for an instant that is there already, again and again, does not hold up time.
                    if hasStoodTooLong { creep = now.advanced(by: .milliseconds(1)) }
                    if creep == nil, processes.host.fireDue(at: now) { continue }
                // What was said until all rested is looked at once more before time goes on.
                case .all, .disturbed:
                    isTalkedThrough = self.isTalkedThrough(processes.host)
                    if !isTalkedThrough { continue }
                case .spins(let step): creep = now.advanced(by: step)
                }
            } else if let processes, !processes.host.isQuiet || areas.owed != nil {
                try waitForApps(processes)
                continue
            }
            try keepSnapshot()
            sourceOwedSince = nil
            // An app that went to sleep may have read something before that lets bytes come on: they come first.
            if didSomething, creep == nil, !isTalkedThrough, processes != nil { continue }
            if let processes, processes.host.time == nil, looked != now {
                looked = now
                if try hearApps(processes) { continue }
            }
            let end = min(driver.end ?? .distantFuture, horizon)
            let appDeadline = processes?.host.nextAppDeadline(after: now) ?? .distantFuture
            let next = min(deadline, end, appDeadline, creep ?? .distantFuture)
            if next == .distantFuture { return }
            if next > now || creep != nil { stoodSince = MonotonicClock.now() }
            now = max(now, next)
            if now >= end { return try endInVirtualTime(at: end) }
            processes?.host.setClocks(now)
            step(to: now)
        }
    }

    /// Lets virtual time go on to an instant, and does all that is due there.
    ///
    /// - Parameter pause: when it leaves off before that, on the monotonic clock in nanoseconds.
    func runInVirtualTime(through end: Instant, pause: Int64) throws {
        repeat {
            try runInVirtualTime(until: end, pause: pause)
            guard reached >= end else { return }
            step(to: end)
        } while (deadline <= end || bench.hasWork(at: end)) && MonotonicClock.now() < pause
    }

    /// What is due at the last instant is done, and what comes of it in apps is heard: one that is frozen then is suspended
    /// when the run ends, however long the machine takes for it.
    private func endInVirtualTime(at end: Instant) throws {
        reached = end
        while !isInterrupted() {
            let didSomething = try bench.run(at: end)
            if let failure = recorder.failure { throw failure }
            guard let processes else { return }
            if processes.host.time != nil {
                switch try waitForRest(processes) {
                case .unchanged: if !didSomething { return }
                case .all, .disturbed: if isTalkedThrough(processes.host) { return }
                case .spins: return
                }
            } else if processes.host.isQuiet, areas.owed == nil {
                return
            } else {
                try waitForApps(processes)
            }
        }
    }

    /// What an app that nobody waits for has said, and whether it has ended, is heard before time goes on; once at each
    /// instant, since one that never stops talking does not hold up time.
    ///
    /// - Returns: whether there is something to do or to wait for.
    private func hearApps(_ processes: RealApps) throws -> Bool {
        for _ in 0..<64 where try !loop.runOnce(timeout: 0) { break }
        return bench.hasWork(at: bench.now) || !processes.host.isQuiet
    }

    /// Virtual time stands still while an app owes something, as long as the patience with it lasts: counted from when it
    /// began to owe, however often it makes itself heard meanwhile.
    private func waitForApps(_ processes: RealApps) throws {
        try bench.commit()
        if recorder.hasNews { recorder.committed() }
        let patience = Int64(options.patience * 1_000_000_000)
        while !processes.host.isQuiet || areas.owed != nil, !bench.hasWork(at: bench.now), !isInterrupted() {
            let now = MonotonicClock.now()
            if endPatience(processes.host, patience, now) { continue }
            let since = min(processes.host.waitedForSince ?? now, sourceOwedSince ?? now)
            try loop.runOnce(timeout: since + patience - now)
        }
    }

    func runInRealTime() throws {
        bench.ledger.gathersAcknowledgements = true
        var armed = Instant.distantFuture
        let timer = try loop.timer(on: .monotonic) { armed = .distantFuture }
        while !interrupted {
            let next: Instant
            switch try turnInRealTime() {
            case .goesOn: continue
            case .failed: return
            case .over: return try hearLastAnswers()
            case .waits(let until): next = until
            }
            // One that goes off before there is something to do costs less than one that is set again in each turn.
            if next < armed {
                armed = next
                timer.arm(at: startedAt + next.nanoseconds)
            }
            // Who watches the clock sees it tick, whether anything happens or not.
            try loop.runOnce(timeout: progress == nil ? nil : max(0, nextProgress - MonotonicClock.now()))
        }
        // The clock went on in the last wait, too.
        reached = max(reached, machineTime)
    }

    /// How far the machine's clock has taken a run in real time.
    var machineTime: Instant { Instant(nanoseconds: MonotonicClock.now() - startedAt) }

    /// When something is found that no turn of the run has brought, such as a refused connection: in real time the machine's clock
    /// has gone on since the last turn.
    var present: Instant { max(reached, realTime && startedAt != 0 ? machineTime : bench.now) }

    /// Whether a condition of the scenario did not come true, which ends a run that plays a file.
    private var hasFailed: Bool { driver.failure != nil && live == nil }

    /// What is left after a turn in real time.
    enum RealTurn {
        case goesOn
        /// A condition of the scenario did not come true.
        case failed
        case over
        /// Nothing, until then, but what the loop tells.
        case waits(Instant)
    }

    /// Does what is due now.
    func turnInRealTime() throws -> RealTurn {
        let now = goesOnAt ?? machineTime
        goesOnAt = nil
        reached = now
        step(to: now)
        tellProgress()
        look(at: now)
        try bench.run(at: now)
        if let failure = recorder.failure { throw failure }
        // A held step waits for what came before it, and not for what later turns bring.
        if driver.isHeld { carryOutSteps(at: now) }
        if hasFailed { return .failed }
        if driver.hasWork || driver.isHeld || bench.hasWork(at: now) { return .goesOn }
        let end = driver.end ?? .distantFuture
        if now >= end { return .over }
        try bench.settle(at: now)
        try clock?.keep(now)
        try keepSnapshot()
        try tellReaders()
        return .waits(min(deadline, end, bench.commitDue ?? .distantFuture, recorder.writingDue ?? .distantFuture))
    }

    /// What was given to an app before the end of a run in real time still reaches it, as long as the patience lasts: on a
    /// machine that is busy it may not have run since.
    private func hearLastAnswers() throws {
        guard let processes else { return }
        try bench.commit()
        let patience = Int64(options.patience * 1_000_000_000)
        while !processes.host.isQuiet, !interrupted {
            let now = MonotonicClock.now()
            _ = processes.host.endPatience(with: now - patience)
            let since = processes.host.waitedForSince ?? now
            try loop.runOnce(timeout: since + patience - now)
        }
    }

    /// Lets those who read the logs meanwhile see what was noted in this turn, and what each app waits for after it.
    func tellReaders() throws {
        if recorder.hasNews {
            try bench.commit()
            // Where no input was accepted there was nothing to commit.
            if recorder.hasNews { recorder.committed() }
            if let failure = recorder.failure { throw failure }
        }
        if !recorder.restless.isEmpty {
            recorder.register(at: reached) { bench.router.registrations(of: $0) }
            try recorder.flush()
        } else if let due = recorder.writingDue, due <= reached {
            try recorder.flush()
        }
    }

    private func tellProgress() {
        guard let progress else { return }
        let now = MonotonicClock.now()
        guard now >= nextProgress else { return }
        // A run that is over at once says nothing.
        if nextProgress != 0 { progress(reached, verdicts.reduce(0, +)) }
        nextProgress = now + (nextProgress == 0 ? 1_000_000_000 : 500_000_000)
    }

    /// The earliest instant at which anything has something to do of its own.
    var deadline: Instant {
        var next = min(bench.routerDeadline, areas.nextDeadline)
        if let other = scripted.nextDeadline { next = min(next, other) }
        if let other = driver.nextDeadline { next = min(next, other) }
        return next
    }

    /// Lets everything do what is due.
    func step(to now: Instant, waiting: Bool = true) {
        reached = max(reached, now)
        areas.timeReached(now)
        scripted.timeReached(now)
        carryOutSteps(at: now, waiting: waiting)
    }

    func look(at now: Instant) {
        for area in areas.all { area.look(at: now) }
    }
}
