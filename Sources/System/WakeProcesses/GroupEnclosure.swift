import CWakeShims
import Glibc
import WakeSystem

/// A control group of one app, of either version.
final class GroupEnclosure: Enclosure {
    private let loop: EventLoop
    private let kind: FreezerKind
    private let folder: String
    /// cgroup.freeze or freezer.state, kept open because thawing is the quickest thing asked of us.
    private let control: Descriptor
    /// cgroup.events (version 2), which tells of changes; freezer.state once more in version 1.
    private let state: Descriptor
    private let processes: Descriptor
    private let threadList: Descriptor
    /// Where its tasks are counted, when that is not the group itself.
    private let bound: BoundGroup?
    private var process: Int32 = -1
    private var changes: Watch?
    private var recheck: Recheck?
    private var remains: [Watch] = []
    private var freezing: ((FreezeOutcome) -> Void)?
    private var gone: (() -> Void)?

    /// Makes the group; the folder must not exist.
    init(loop: EventLoop, kind: FreezerKind, folder: String, limit: TaskLimit?) throws(SystemError) {
        self.loop = loop
        self.kind = kind
        self.folder = folder
        try makeAppGroup(folder, mayExist: false)
        do {
            control = try Descriptor.open("\(folder)/\(kind == .cgroup2 ? "cgroup.freeze" : "freezer.state")", O_RDWR)
            state = try Descriptor.open("\(folder)/\(kind == .cgroup2 ? "cgroup.events" : "freezer.state")", O_RDONLY)
            processes = try Descriptor.open("\(folder)/cgroup.procs", O_RDWR)
            threadList = try Descriptor.open("\(folder)/\(kind == .cgroup2 ? "cgroup.threads" : "tasks")", O_RDONLY)
            bound = try limit?.bound(folder)
        } catch {
            unsafe rmdir(folder)
            throw error
        }
    }

    deinit {
        for watch in remains { watch.cancel() }
        changes?.cancel()
        if process >= 0 { close(process) }
    }

    /// Starts the app in the group.
    func start(_ request: inout wake_spawn) throws(SpawnFailure) -> StartedProcess {
        var spawned = wake_spawned()
        let directory = unsafe kind == .cgroup2 ? wake_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) : -1
        unsafe request.group = directory
        unsafe request.group_processes = processes.number
        unsafe request.limit_processes = bound?.processes.number ?? -1
        let code = unsafe wake_spawn(&request, &spawned)
        if directory >= 0 { close(directory) }
        guard code == 0 else {
            unsafe rmdir(folder)
            bound?.remove()
            throw SpawnFailure(stage: spawned.stage, code: spawned.code)
        }
        process = spawned.pidfd
        return StartedProcess(pid: spawned.pid, exitDescriptor: process, enclosure: self)
    }

    func freeze(_ completion: @escaping (FreezeOutcome) -> Void) {
        freezing = completion
        guard write(kind == .cgroup2 ? "1" : "FROZEN") else {
            return failed(SystemError(last: "write", subject: "\(folder): freezing").description)
        }
        do {
            try waitForChange()
        } catch {
            return failed(error.description)
        }
        look()
    }

    func thaw() -> Bool {
        stopWaiting()
        return write(kind == .cgroup2 ? "0" : "THAWED")
    }

    func kill() {
        stopWaiting()
        killMembers()
    }

    func end(_ gone: @escaping () -> Void) {
        stopWaiting()
        self.gone = gone
        removeWhenEmpty()
    }

    var threads: AppThreads { .list(threadList.number) }

    /// Version 2 counts it in every group, with or without its controller of the processor.
    var processorTime: Int64? {
        guard kind == .cgroup2, let text = try? readSmallFile("\(folder)/cpu.stat") else { return nil }
        return KernelText.groupTime(text)
    }

    func reap() -> ProcessExit {
        var exit = wake_exit()
        let code = unsafe wake_wait(process, &exit)
        return ProcessExit(exit, known: code == 1)
    }

    // MARK: Freezing

    private func write(_ word: StaticString) -> Bool {
        unsafe pwrite(control.number, word.utf8Start, word.utf8CodeUnitCount, 0) == word.utf8CodeUnitCount
    }

    private func read(_ descriptor: Int32) -> ArraySlice<UInt8> {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        return buffer.prefix(max(count, 0))
    }

    private var isFrozen: Bool {
        let word = kind == .cgroup2 ? "frozen 1" : "FROZEN"
        return read(state.number).split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual(word.utf8) }
    }

    /// Version 2 says when something changed; for version 1, and for a limit, there is the clock.
    private func waitForChange() throws(SystemError) {
        if kind == .cgroup2, changes == nil {
            changes = try loop.watch(state.number, for: .changed) { [unowned self] _ in changed() }
        }
        changes?.enable()
        if recheck == nil {
            recheck = try Recheck(loop: loop) { [unowned self] in look(timeout: true) }
        }
        recheck?.start(once: kind == .cgroup2)
    }

    private func changed() {
        if gone != nil { removeWhenEmpty() } else { look() }
    }

    private func look(timeout: Bool = false) {
        guard freezing != nil else {
            // Reading is what makes the descriptor quiet.
            _ = read(state.number)
            return
        }
        if isFrozen {
            let completion = freezing
            stopWaiting()
            completion?(.frozen)
        } else if timeout, recheck?.again() != true {
            failed("\(folder): still not frozen after \(freezePatience / 1_000_000_000) s")
        }
    }

    private func failed(_ reason: String) {
        let completion = freezing
        _ = thaw()
        completion?(.failed(reason))
    }

    private func stopWaiting() {
        freezing = nil
        recheck?.stop()
        changes?.disable()
    }

    // MARK: Killing

    var members: [Int32] {
        guard let text = try? readSmallFile("\(folder)/cgroup.procs", limit: 1 << 20) else { return [] }
        return text.split(separator: "\n").compactMap { Int32($0) }
    }

    func holds(_ pid: Int32) -> Bool {
        guard let text = try? readSmallFile("/proc/\(pid)/cgroup") else { return true }
        // The run's folder, the bench's and the app's: what is above them is the machine's.
        let own = "/" + folder.split(separator: "/").suffix(3).joined(separator: "/") + "/"
        return text.split(separator: "\n").contains { line in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return false }
            let isOurs = kind == .cgroup2 ? fields[0] == "0" : fields[1].split(separator: ",").contains("freezer")
            return isOurs && "\(fields[2])/".contains(own)
        }
    }

    private func killMembers() {
        if kind == .cgroup2 {
            let file = unsafe wake_open("\(folder)/cgroup.kill", O_WRONLY | O_CLOEXEC, 0)
            if file >= 0 {
                _ = unsafe Glibc.write(file, "1", 1)
                close(file)
            }
            // It passes over a process whose leader has ended, though other threads of it run.
            killEachMember()
            return
        }
        killEachMember()
        // A killed process of a frozen group stays until the group is thawed.
        _ = write("THAWED")
    }

    private func killEachMember() {
        for pid in members {
            let descriptor = wake_pidfd_open(pid)
            guard descriptor >= 0 else { continue }
            _ = wake_pidfd_kill(descriptor, SIGKILL)
            close(descriptor)
        }
    }

    private func removeWhenEmpty() {
        _ = read(state.number)
        if unsafe rmdir(folder) == 0 || errno == ENOENT { return finish() }
        killMembers()
        do {
            try waitForEmpty()
        } catch {
            // The next sweep of this run removes it.
            finish()
        }
    }

    private func waitForEmpty() throws(SystemError) {
        for watch in remains { watch.cancel() }
        remains = []
        if kind == .cgroup2 {
            if changes == nil {
                changes = try loop.watch(state.number, for: .changed) { [unowned self] _ in changed() }
            }
            changes?.enable()
            // Whatever changed before the watch was there.
            if unsafe rmdir(folder) == 0 { finish() }
            return
        }
        try watchOneMember()
    }

    /// Version 1 tells nobody that a group is empty, but each process tells of its own end.
    private func watchOneMember() throws(SystemError) {
        for pid in members {
            let descriptor = wake_pidfd_open(pid)
            guard descriptor >= 0 else { continue }
            let watch: Watch
            do {
                watch = try loop.watch(descriptor, for: .readable) { [unowned self] _ in
                    for watch in remains { watch.cancel() }
                    close(descriptor)
                    removeWhenEmpty()
                }
            } catch {
                close(descriptor)
                throw error
            }
            remains = [watch]
            return
        }
        if unsafe rmdir(folder) == 0 || errno == ENOENT { return finish() }
        throw SystemError(last: "rmdir", subject: folder)
    }

    private func finish() {
        changes?.cancel()
        changes = nil
        bound?.remove()
        let gone = gone
        self.gone = nil
        gone?()
    }
}

extension ProcessExit {
    init(_ exit: wake_exit, known: Bool) {
        let cause: Cause =
            if !known {
                .unknown
            } else if exit.signalled == 1 {
                .signalled(number: exit.status, core: exit.core == 1)
            } else {
                .exited(status: exit.status)
            }
        self.init(
            pid: exit.pid,
            cause: cause,
            userTime: exit.user_nanoseconds,
            systemTime: exit.system_nanoseconds,
            peakMemory: exit.peak_bytes
        )
    }
}
