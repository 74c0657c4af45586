import WakeModel
import WakePorts
import WakeProcesses
import WakeReports
import WakeSystem

/// What was last said to the router of one process. Nothing is said twice.
struct ToldMeasures {
    var locks: UInt16 = 0
    var listeners: UInt16 = 0
    /// In megabytes; nil before the first.
    var footprint: UInt32?
    /// In per cent of a processor; nil before the first.
    var share: UInt32?
    /// Processor time that is written down, in nanoseconds.
    var written: Int64 = 0
    /// Its processes that have left its control groups.
    var strays: Set<Int32> = []
}

/// What real apps hold when they are suspended, and what they use.
extension ProcessAppHost {
    // MARK: At suspension

    /// Looks at a process that has just been frozen: at its locks on what is not its own (RESP-4), at what it listens on (RESP-2),
    /// at what has left its control groups, and at what it has used.
    func measureSuspended(_ process: AppProcess, _ app: AppID) {
        // What an app keeps in its own container nobody waits for: on a phone such files are in its allowed directories.
        let locks = host.locks(of: process.key, outside: bundles[app]?.home ?? "/")
        for lock in locks { surroundings?.note(.held(Note.frozenWith + lock.text), of: app) }
        tell(UInt16(clamping: locks.count), of: process, app, \.locks, ProcessMeasure.locks)
        let listeners = host.listeners(of: process.key)
        tell(UInt16(clamping: listeners.count), of: process, app, \.listeners, ProcessMeasure.listeners)
        noteStrays(of: process, app)
        noteUse(of: process, app)
    }

    /// Says once of each process of the app that it has left the app's control groups.
    func noteStrays(of process: AppProcess, _ app: AppID) {
        for pid in host.strays(of: process.key) where process.told.strays.insert(pid).inserted {
            let what = "its process \(pid) has left its control groups, and is not suspended with it"
            surroundings?.note(.beside(what), of: app)
        }
    }

    /// One that goes on may let go of what it held.
    func forgetLocks(of process: AppProcess, _ app: AppID) {
        tell(0, of: process, app, \.locks, ProcessMeasure.locks)
    }

    private func tell(
        _ count: UInt16,
        of process: AppProcess,
        _ app: AppID,
        _ told: WritableKeyPath<ToldMeasures, UInt16>,
        _ measure: (UInt16) -> ProcessMeasure
    ) {
        guard process.told[keyPath: told] != count else { return }
        process.told[keyPath: told] = count
        say(app, .request(.measured(measure(count))))
    }

    func closeListeners(of app: AppID, at now: Instant) {
        guard let process = processes[app] else { return }
        process.told.listeners = 0
        for (socket, failure) in host.closeListeners(of: process.key) {
            let what =
                failure.map { "listens on \(socket.name) while it is suspended, as it cannot be closed: \($0.reason)" }
                ?? "listens on \(socket.name) no more"
            surroundings?.note(.held(what), of: app)
        }
    }

    // MARK: Use

    /// Writes down what a process has used since that was done last, and says how much memory it has.
    func noteUse(of process: AppProcess, _ app: AppID) {
        guard let usage = host.usage(of: process.key), let pid = host.process(of: process.key) else { return }
        noteUse(usage.processorTime, usage.footprint, of: process, pid, app)
        if processes[app] === process { tell(footprint: usage.footprint, of: process, app) }
    }

    func noteUse(_ processorTime: Int64, _ footprint: Int64?, of process: AppProcess, _ pid: Int32, _ app: AppID) {
        let used = processorTime - process.told.written
        // A suspended app that ends has used nothing since.
        guard used > 0 else { return }
        process.told.written = processorTime
        surroundings?.note(.used(pid: pid, processor: Instant.Span(nanoseconds: used), footprint: footprint), of: app)
    }

    private func tell(footprint: Int64, of process: AppProcess, _ app: AppID) {
        let megabytes = UInt32(clamping: footprint / 1_000_000)
        guard tellsUse, process.told.footprint != megabytes else { return }
        process.told.footprint = megabytes
        say(app, .request(.measured(.footprint(megabytes))))
    }

    /// Tells the router how much memory a running app has (MEM-3).
    ///
    /// - Returns: the processor time that it has used so far, in nanoseconds, and which of the app's processes it is; nil when
    ///   it does not run.
    func measureRunning(_ app: AppID) -> (process: UInt32, processorTime: Int64)? {
        guard let process = processes[app], !process.frozen, let usage = host.usage(of: process.key) else { return nil }
        tell(footprint: usage.footprint, of: process, app)
        return (process.key, usage.processorTime)
    }

    /// Tells the router how much of a processor an app uses, in per cent (CPU-1).
    func tell(share: UInt32, of app: AppID) {
        guard let process = processes[app], process.told.share != share else { return }
        process.told.share = share
        say(app, .request(.measured(.processor(share))))
    }
}
