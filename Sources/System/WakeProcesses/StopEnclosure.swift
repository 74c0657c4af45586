import CWakeShims
import Glibc
import WakeSystem

/// The processes that keep apps under SIGSTOP: the only ones of the bench's children that are not an app's.
final class Keepers {
    var pids: Set<Int32> = []
}

/// An app under SIGSTOP. Its keeper, a process between the bench and the app, keeps every descendant below itself.
final class StopEnclosure: Enclosure {
    private let keeper: wake_keeper
    private let pid: Int32
    /// When the keeper was started, in clock ticks; nothing of the app is older.
    private let started: Int64
    /// The keepers of all live apps.
    private let keepers: Keepers
    private var recheck: Recheck?
    private var stopped: [Int32] = []
    /// Those that were sent SIGSTOP in this freeze.
    private var told: Set<Int32> = []
    private var freezing: ((FreezeOutcome) -> Void)?

    /// More processes than this an app cannot have stopped.
    private static let mostProcesses = 4_096

    private init(loop: EventLoop, keeper: wake_keeper, pid: Int32, keepers: Keepers) throws(SystemError) {
        self.keeper = keeper
        self.pid = pid
        self.keepers = keepers
        started = wake_start_time(keeper.pid)
        recheck = try Recheck(loop: loop) { [unowned self] in stopAll() }
    }

    deinit {
        keepers.pids.remove(keeper.pid)
        close(keeper.channel)
        close(keeper.pidfd)
    }

    static func start(
        _ request: inout wake_spawn,
        keepers: Keepers,
        loop: EventLoop
    ) throws(SpawnFailure) -> StartedProcess {
        var keeper = wake_keeper()
        var spawned = wake_spawned()
        unsafe request.group = -1
        unsafe request.group_processes = -1
        guard unsafe wake_spawn_kept(&request, &keeper, &spawned) == 0 else {
            throw SpawnFailure(stage: spawned.stage, code: spawned.code)
        }
        do {
            let enclosure = try StopEnclosure(loop: loop, keeper: keeper, pid: spawned.pid, keepers: keepers)
            keepers.pids.insert(keeper.pid)
            return StartedProcess(pid: spawned.pid, exitDescriptor: keeper.pidfd, enclosure: enclosure)
        } catch {
            // The keeper kills the app when its channel closes.
            close(keeper.channel)
            var exit = wake_exit()
            var ready = pollfd(fd: keeper.pidfd, events: Int16(POLLIN), revents: 0)
            _ = repeatingInterrupted { unsafe poll(&ready, 1, -1) }
            _ = unsafe wake_wait(keeper.pidfd, &exit)
            close(keeper.pidfd)
            throw SpawnFailure(stage: Int32(WAKE_STAGE_GUARD.rawValue), code: error.code)
        }
    }

    func freeze(_ completion: @escaping (FreezeOutcome) -> Void) {
        freezing = completion
        told = []
        recheck?.start()
        stopAll()
    }

    func thaw() -> Bool {
        stopWaiting()
        var taken = true
        for pid in stopped where Glibc.kill(pid, SIGCONT) != 0 && errno != ESRCH { taken = false }
        stopped.removeAll(keepingCapacity: true)
        return taken
    }

    func kill() {
        stopWaiting()
        stopped.removeAll(keepingCapacity: true)
        _ = unsafe wake_send(keeper.channel, "k", 1, nil, 0)
        // The app may have stopped it.
        _ = wake_pidfd_kill(keeper.pidfd, SIGCONT)
    }

    func end(_ gone: @escaping () -> Void) {
        stopWaiting()
        gone()
    }

    /// What the app has left without a parent is its keeper's.
    var threads: AppThreads { .below(keeper.pid) }

    /// While they are stopped none comes and none goes by itself.
    var members: [Int32] {
        if freezing == nil, !stopped.isEmpty { return stopped }
        var pids = [Int32](repeating: 0, count: Self.mostProcesses)
        let count = unsafe wake_descendants(keeper.pid, &pids, nil, Int32(Self.mostProcesses))
        return Array(pids.prefix(Int(max(count, 0))))
    }

    /// Its keeper keeps every descendant below itself.
    func holds(_ pid: Int32) -> Bool { true }

    var processorTime: Int64? { nil }

    func reap() -> ProcessExit {
        var exit = wake_exit()
        let known = unsafe wake_kept_exit(keeper.channel, &exit) == 1
        var ended = wake_exit()
        _ = unsafe wake_wait(keeper.pidfd, &ended)
        keepers.pids.remove(keeper.pid)
        // Without its keeper the app has been killed too; what it started has become the bench's.
        if !known { _ = unsafe wake_kill_orphans(started, Array(keepers.pids), Int32(keepers.pids.count)) }
        var result = ProcessExit(exit, known: known)
        result.pid = pid
        return result
    }

    /// Stops what runs, until nothing does: one that is being stopped may have started another.
    private func stopAll() {
        guard freezing != nil else { return }
        for _ in 0..<8 {
            if !stopOnce() {
                let completion = freezing
                stopWaiting()
                completion?(.frozen)
                return
            }
        }
        guard recheck?.again() != true else { return }
        let completion = freezing
        _ = thaw()
        completion?(.failed("process \(pid): still not stopped after \(freezePatience / 1_000_000_000) s"))
    }

    /// Stops each process that may still run. Whether there was one.
    private func stopOnce() -> Bool {
        var pids = [Int32](repeating: 0, count: Self.mostProcesses)
        var states = [CChar](repeating: 0, count: Self.mostProcesses)
        let count = unsafe wake_descendants(keeper.pid, &pids, &states, Int32(Self.mostProcesses))
        guard count >= 0 else { return true }
        var ran = count == Self.mostProcesses
        stopped.removeAll(keepingCapacity: true)
        for index in 0..<Int(count) {
            let state = UInt8(bitPattern: states[index])
            if state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") { continue }
            stopped.append(pids[index])
            if state == UInt8(ascii: "T") { continue }
            // One that waits in the kernel, such as for its vfork child, stops before it runs on.
            if state == UInt8(ascii: "D"), told.contains(pids[index]) { continue }
            if Glibc.kill(pids[index], SIGSTOP) == 0 {
                told.insert(pids[index])
                ran = true
            }
        }
        return ran
    }

    private func stopWaiting() {
        freezing = nil
        recheck?.stop()
    }
}
