import WakeModel
import WakePorts
import WakeSystem
import WakeVoIP

/// The clocks of a run: virtual time leaps to what is next, real time waits for it.
extension Run {
    func runInVirtualTime() throws {
        var now = bench.now
        while !interrupted {
            tellProgress()
            lookAtChannels(at: now)
            let didSomething = try bench.run(at: now)
            if let failure = recorder.failure { throw failure }
            if driver.hasWork {
                try carryOutSteps(at: now)
                continue
            }
            if driver.failure != nil { return }
            if let processes, !processes.host.isQuiet || !audio.isQuiet {
                try waitForApps(processes)
                continue
            }
            // An app that went to sleep may have read something before that lets bytes come on: they come first.
            if didSomething, processes != nil { continue }
            let end = driver.end ?? .distantFuture
            let next = min(deadline, end)
            if next == .distantFuture { return }
            now = max(now, next)
            if now >= end {
                try bench.run(at: end)
                return
            }
            try step(to: now)
        }
    }

    /// Virtual time stands still while an app owes an answer, as long as the patience lasts.
    private func waitForApps(_ processes: RealApps) throws {
        try bench.commit()
        let given = Int64(options.patience * 1_000_000_000)
        let limit = MonotonicClock.now() + given
        while !processes.host.isQuiet || !audio.isQuiet, !bench.hasWork(at: bench.now), !interrupted {
            let left = limit - MonotonicClock.now()
            guard left > 0 else {
                let busy = processes.host.busyApps
                let names = busy.isEmpty ? "a buffer of sound" : busy.joined(separator: ", ")
                recorder.note("no answer within the patience of \(options.patience) s: \(names)")
                processes.host.endPatience()
                audio.giveUpWaiting(at: bench.now)
                return
            }
            try loop.runOnce(timeout: left)
        }
    }

    func runInRealTime() throws {
        var armed = Instant.distantFuture
        let timer = try loop.timer(on: .monotonic) { armed = .distantFuture }
        while !interrupted {
            tellProgress()
            let now = Instant(nanoseconds: MonotonicClock.now() - startedAt)
            try step(to: now)
            lookAtChannels(at: now)
            try bench.run(at: now)
            if let failure = recorder.failure { throw failure }
            if driver.failure != nil { return }
            if driver.hasWork || bench.hasWork(at: now) { continue }
            let end = driver.end ?? .distantFuture
            if now >= end { return }
            try bench.settle(at: now)
            let next = min(deadline, end, bench.commitDue ?? .distantFuture)
            if next != armed {
                armed = next
                if next == .distantFuture { timer.disarm() } else { timer.arm(at: startedAt + next.nanoseconds) }
            }
            try loop.runOnce(timeout: nil)
        }
    }

    private func tellProgress() {
        guard let progress else { return }
        let now = MonotonicClock.now()
        guard now >= nextProgress else { return }
        // A run that is over at once says nothing.
        if nextProgress != 0 { progress(bench.now, verdicts.reduce(0, +)) }
        nextProgress = now + (nextProgress == 0 ? 1_000_000_000 : 500_000_000)
    }

    /// The earliest instant at which anything has something to do of its own.
    private var deadline: Instant {
        var next = min(bench.routerDeadline, sources.nextDeadline)
        if let other = scripted.nextDeadline { next = min(next, other) }
        if let other = driver.nextDeadline { next = min(next, other) }
        return next
    }

    /// Lets everything do what is due.
    private func step(to now: Instant) throws {
        sources.timeReached(now)
        scripted.timeReached(now)
        try carryOutSteps(at: now)
    }

    private func lookAtChannels(at now: Instant) {
        bluetooth.lookAtChannels(at: now)
        peripheralRole.lookAtChannels(at: now)
        bench.keeper?.look()
        accessory.lookAtSessions(at: now)
        bench.sessionKeeper?.look()
        (voip as? SimulatedVoIP)?.look(at: now)
    }
}
