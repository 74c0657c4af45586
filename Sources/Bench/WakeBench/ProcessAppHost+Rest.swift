import WakeModel
import WakeProcesses
import WakeSystem
import WakeVirtualTime

/// Virtual time inside real apps: whether they rest, and what they wait for.
extension ProcessAppHost {
    /// What the clocks of all apps begin with.
    struct TimeSettings {
        /// The path of the library that keeps a process to its clock.
        var library: String
        /// CLOCK_MONOTONIC when the run began, in nanoseconds.
        var monotonicBase: Int64
        /// CLOCK_REALTIME when the run began, in nanoseconds since 1970.
        var realBase: Int64
        /// The one that all apps run on; nil for any.
        var processor: AppProcessor?
    }

    /// What a look at all apps showed.
    enum Rest {
        /// All that can run rests. `unchanged`: and nothing has run since the look before that showed the same.
        case all(unchanged: Bool)
        /// A process that is waited for does not.
        case restless(AppProcess, Unrest)
    }

    /// The processes that can run and live in virtual time, those of apps before those of extensions. One that the kernel keeps
    /// on wall time has waits of its own there: it is waited for as long as it owes something.
    private var live: [(process: AppProcess, clock: AppClock)] { clocked.filter { !$0.clock.isRefused } }

    /// The processes that can run and were given a clock, in the same order.
    private var clocked: [(process: AppProcess, clock: AppClock)] {
        hosted.compactMap { process in
            guard !process.frozen, let clock = process.clock else { return nil }
            return (process, clock)
        }
    }

    /// Looks whether everything that can run rests, at `now` of the run. What the patience has run out with is not waited for
    /// until it rests once more, later.
    func lookForRest(at now: Instant) -> Rest {
        let live = live
        var restless: (AppProcess, Unrest)?
        for (process, clock) in live {
            let unrest = clock.firstLook()
            process.looked(atRest: unrest == nil, reads: clock.reads, now: now)
            if let unrest, unrest.kind == .waitsOutside { process.waitsOutside = unrest }
            if unrest == nil { letRun(process, clock, untilItWaits: true) }
            if let unrest, !process.neverRests, restless == nil { restless = (process, unrest) }
            if restless != nil { break }
        }
        for (process, clock) in live where restless == nil && !process.neverRests {
            if let unrest = clock.secondLook() { restless = (process, unrest) }
        }
        if let restless { return .restless(restless.0, restless.1) }
        let mark = live.filter { !$0.process.neverRests }.map {
            RestMark(process: $0.process.key, changes: $0.clock.changes)
        }
        defer { lastRest = mark }
        return .all(unchanged: mark == lastRest)
    }

    /// How far the clock moves on for an app that reads it on and on; nil for one that does not.
    func spinStep(of process: AppProcess, at now: Int64) -> Instant.Span? {
        guard let clock = process.clock else { return nil }
        return process.spin.step(reads: clock.reads, at: now).map(Instant.Span.init(nanoseconds:))
    }

    /// Has an app that runs on and on share its processor with others, until it rests. `now` is on the monotonic clock.
    func holdBack(_ process: AppProcess, at now: Int64) {
        guard let clock = process.clock, let since = process.spin.since else { return }
        if now - since >= Self.longestRun { letRun(process, clock, untilItWaits: false) }
    }

    private func letRun(_ process: AppProcess, _ clock: AppClock, untilItWaits isFirst: Bool) {
        guard time?.processor?.isFirstInFirstOut == true, process.runsUntilItWaits != isFirst else { return }
        process.runsUntilItWaits = isFirst
        clock.schedule(firstInFirstOut: isFirst)
    }

    /// How long an app may have its processor to itself, in nanoseconds of wall time.
    private static let longestRun: Int64 = 200_000_000

    /// The one that has said most since time moved last, and how often; nil when none has said anything.
    var talker: (process: AppProcess, said: Int)? {
        var most: (process: AppProcess, said: Int)?
        for process in hosted where process.saidAtInstant > most?.said ?? 0 { most = (process, process.saidAtInstant) }
        return most
    }

    /// Ends the first of what is due in the apps.
    ///
    /// - Returns: whether there was something.
    func fireDue(at now: Instant) -> Bool {
        for (_, clock) in live {
            for pending in clock.pending(at: now.nanoseconds).due where clock.fire(pending, at: now.nanoseconds) {
                return true
            }
        }
        return false
    }

    /// The earliest instant after `now` that an app waits for; nil for none.
    func nextAppDeadline(after now: Instant) -> Instant? {
        live.compactMap { $0.clock.pending(at: now.nanoseconds).next }.min().map(Instant.init(nanoseconds:))
    }

    /// Whether an app that owes something sleeps until a time of its own.
    func owesUntilDeadline(at now: Instant) -> Bool {
        live.contains { entry in
            guard entry.process.waitedForSince != nil else { return false }
            let (due, next) = entry.clock.pending(at: now.nanoseconds)
            return !due.isEmpty || next != nil
        }
    }

    /// Whether an app is on its way to be frozen.
    var isFreezing: Bool { processes.values.contains { $0.freezing } }

    /// Sets the clocks of all apps.
    func setClocks(_ now: Instant) {
        for process in hosted {
            process.clock?.set(now.nanoseconds)
            process.saidAtInstant = 0
        }
    }

    /// What is worth a note of processes that virtual time does not reach into, once for each.
    func notesOfTime() -> [String] {
        let ofEnded = notesOfEnded
        notesOfEnded = []
        return ofEnded + clocked.flatMap { notesOfTime(of: $0.process) }
    }

    /// Keeps what is worth a note of a process that ends before all rest.
    func keepNotesOfTime(of process: AppProcess) { notesOfEnded += notesOfTime(of: process) }

    private func notesOfTime(of process: AppProcess) -> [String] {
        guard let clock = process.clock, process.greeted || clock.processes > 0 else { return [] }
        var notes: [String] = []
        if !process.isTimeKnown {
            process.isTimeKnown = true
            if let code = clock.fallback {
                let reason = SystemError("seccomp", code: code).reason
                notes.append("\(process.name) runs on wall time: this kernel cannot hold its waits: \(reason)")
            } else if clock.processes == 0 {
                notes.append("\(process.name) runs on wall time: its program loads no libraries")
            }
        }
        if let call = clock.unheldCall, !process.isUnheldKnown {
            process.isUnheldKnown = true
            notes.append(
                "\(process.name) waits on wall time in system call \(call), which virtual time does not hold"
            )
        }
        if let unrest = process.waitsOutside, !process.isOutsideKnown {
            process.isOutsideKnown = true
            guard clock.processes > 0 else { return notes }
            let what = "has started a program that loads no libraries, and is waited for"
            notes.append("\(process.name) \(what): \(unrest)")
        }
        return notes
    }

    /// A clock for a process that is about to be launched; nil when apps live on wall time.
    func makeClock(at now: Instant) throws(SystemError) -> AppClock? {
        guard let time else { return nil }
        return try AppClock(monotonicBase: time.monotonicBase, realBase: time.realBase, now: now.nanoseconds)
    }
}

/// How far a process had run when everything rested.
struct RestMark: Hashable {
    var process: UInt32
    var changes: UInt64
}

/// An app that does not rest: since when, and whether it does nothing but look at its clock.
struct Spin {
    /// Since when it has not rested, on the monotonic clock in nanoseconds; nil while it does.
    private(set) var since: Int64?
    private var reads: UInt64 = 0
    private var lookedAt: Int64 = 0
    private var moved: Int64 = 0

    /// Wall time between two steps, in nanoseconds; the first comes after four.
    private static let pace: Int64 = 5_000_000
    /// So many readings of the clock in that time are no work that happens to look at it now and then.
    private static let manyReads: UInt64 = 2_000
    /// The first and the largest step, in nanoseconds of the run.
    private static let steps = (first: Int64(1_000_000), largest: Int64(100_000_000))

    mutating func rests() { self = Spin() }

    mutating func began(reads: UInt64, at now: Int64) {
        guard since == nil else { return }
        since = now
        self.reads = reads
        lookedAt = now + 3 * Self.pace
    }

    /// How far the clock moves now; nil for not yet.
    mutating func step(reads now: UInt64, at instant: Int64) -> Int64? {
        guard since != nil, instant >= lookedAt + Self.pace else { return nil }
        let count = now &- reads
        reads = now
        lookedAt = instant
        guard count >= Self.manyReads else { return nil }
        moved = moved == 0 ? Self.steps.first : min(moved * 2, Self.steps.largest)
        return moved
    }
}
