import CWakeShims
import Glibc
import WakeSystem

/// Runs apps as processes: starts, freezes, thaws, kills and measures them, and carries packets to and from them.
///
/// Everything happens on the loop's thread, which must live as long as the apps: they die with the thread that started
/// them. Nothing of an app outlives the bench, however the bench ends.
@safe package final class ProcessHost {
    /// The largest packet in bytes, either way.
    package static let largestPacket = 65_536
    /// At most so many packets of one app are read in a turn.
    package static let packetsInTurn = 32

    /// The most descriptors of a packet, either way.
    package static let mostDescriptors = Int(WAKE_MOST_DESCRIPTORS)
    /// So many foreign descriptors may wait to be closed.
    private static let mostClosings = 256

    /// The freezer in use.
    package let freezer: FreezerKind
    /// What was tried, in order, up to the one in use.
    package let probes: [FreezerProbe]
    package let runName: String

    /// A packet came from an app.
    package var onPacket: ((UInt32, [UInt8], inout ReceivedDescriptors) -> Void)?
    /// Something is wrong with an app's socket; its process may run on.
    package var onFault: ((UInt32, SocketFault) -> Void)?
    /// An app's socket takes packets again; said once after ``notifyWhenWritable(_:)``.
    package var onWritable: ((UInt32) -> Void)?
    /// An app's process has ended and has been reaped; its socket has been read to the end before.
    package var onExit: ((UInt32, ProcessExit) -> Void)?

    private let loop: EventLoop
    private let runFolder: String?
    /// Where this host's own groups are.
    private let groups: String?
    private var guardian = wake_guardian(channel: -1, pid: -1)
    private let keepers = Keepers()
    private let limit: TaskLimit?
    private(set) var apps: [UInt32: RunningApp] = [:]
    /// Enclosures whose app has ended and that are not empty yet.
    private var ending: [ObjectIdentifier: any Enclosure] = [:]
    private var serial: UInt64 = 0
    private let mail: Mail

    /// Finds a freezer and is ready to start apps.
    ///
    /// - Parameter runName: unique among live runs: letters, digits, dots, dashes and underscores, 1 to 64 of them.
    /// - Throws: ``ProcessError/Kind/freezerUnavailable`` with the missing right when a freezer was chosen that does not
    ///   work here.
    package init(
        loop: EventLoop,
        freezer choice: FreezerChoice = .automatic,
        roots: GroupRoots = .ofThisProcess(),
        runName: String
    ) throws(ProcessError) {
        try Self.check(runName)
        let wanted = FreezerKind.allCases.filter { choice == .automatic || $0.rawValue == choice.rawValue }
        var probes: [FreezerProbe] = []
        var found: FreezerKind?
        for kind in wanted where found == nil {
            let probe = FreezerProbe.attempt(kind, roots: roots, run: runName)
            probes.append(probe)
            if probe.usable { found = kind }
        }
        guard let found else {
            let reasons = probes.map { "\($0.kind.rawValue): \($0.reason)" }.joined(separator: "; ")
            throw ProcessError(.freezerUnavailable, "freezer \(choice.rawValue) does not work here: \(reasons)")
        }
        mail = Mail(largest: Self.largestPacket)
        self.loop = loop
        self.probes = probes
        self.freezer = found
        self.runName = runName
        runFolder = roots.folder(of: runName, found)
        // A folder of its own each time: the guardian of a bench that died may still be at work when the next one starts.
        groups = runFolder.map { "\($0)/bench-\(GroupMaker.mark)" }
        if let runFolder, let groups {
            do { try makeGroup(groups, in: runFolder) } catch { throw ProcessError(error) }
        }
        limit = TaskLimit(roots, found, run: runFolder, groups: groups)
        // What an app leaves that has killed its keeper must come to somebody who kills it.
        if found == .sigstop, wake_adopt_orphans() != 0 {
            throw ProcessError(SystemError(last: "prctl(PR_SET_CHILD_SUBREAPER)"))
        }
        if let groups, unsafe wake_guard_groups(groups, found.version, &guardian) != 0 {
            throw ProcessError(SystemError(last: "fork", subject: "the guardian of control groups"))
        }
    }

    deinit {
        close()
    }

    /// Kills and removes what an earlier run of this name has left behind, under any freezer.
    ///
    /// To be called before the run's own ``ProcessHost`` is made.
    /// - Returns: the number of processes killed.
    @discardableResult
    package static func sweep(
        runName: String,
        roots: GroupRoots = .ofThisProcess()
    ) throws(ProcessError) -> Int {
        try check(runName)
        var killed: Int32 = 0
        for kind in [FreezerKind.cgroup2, .cgroup1] {
            guard let folder = roots.folder(of: runName, kind) else { continue }
            guard unsafe wake_clear_groups(folder, kind.version, &killed) == 0 else {
                throw ProcessError(SystemError(last: "rmdir", subject: folder))
            }
        }
        if let tasks = roots.version1Tasks {
            _ = unsafe wake_clear_groups("\(tasks)/wakebench-\(runName)", FreezerKind.cgroup1.version, &killed)
        }
        return Int(killed) + Int(max(unsafe wake_kill_marked("WAKEBENCH_RUN=\(runName)"), 0))
    }

    private static func check(_ runName: String) throws(ProcessError) {
        let plain = runName.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard plain, (1...64).contains(runName.utf8.count) else {
            throw ProcessError(.malformed, "run name '\(runName)': give 1 to 64 letters, digits, dots or dashes")
        }
    }

    /// The most tasks, which are processes and their threads, that one app may have; nil when nothing here can bound them.
    package var mostTasks: Int? { limit == nil ? nil : TaskLimit.most }

    /// The apps that have a process.
    package var running: [UInt32] { apps.keys.sorted() }

    /// The number of the app's process; nil when it has none.
    package func process(of app: UInt32) -> Int32? { apps[app]?.pid }

    /// Starts a process for the app. It is in its group before it runs, and its socket is descriptor 3.
    ///
    /// - Parameter output: where it writes; the descriptor stays the caller's.
    /// - Returns: the process's number.
    @discardableResult
    package func spawn(
        _ app: UInt32,
        _ program: AppProgram,
        output: Int32,
        error: Int32
    ) throws(ProcessError) -> Int32 {
        guard apps[app] == nil else { throw ProcessError(.running, "app \(app): has a process already") }
        serial += 1
        let mark = "WAKEBENCH_PROCESS=\(runName)-\(getpid())-\(serial)"
        var environment = program.environment
        environment += ["WAKEBENCH_SOCKET=3", "WAKEBENCH_RUN=\(runName)", mark]
        let arguments = program.arguments.isEmpty ? [program.path] : program.arguments
        var ends: [Int32] = [-1, -1]
        guard unsafe wake_packet_pair(&ends) == 0 else { throw ProcessError(SystemError(last: "socketpair")) }
        let socket = Descriptor(owning: ends[0])
        let theirs = Descriptor(owning: ends[1])
        let peer = Self.inode(of: theirs)

        let started: StartedProcess
        do {
            let strings = try CStrings(
                path: program.path,
                arguments,
                environment,
                directory: program.directory,
                processor: program.processor
            )
            var request = unsafe strings.request(socket: theirs.number, output: output, error: error)
            started = try unsafe start(app, &request)
        } catch {
            throw error.error(for: program)
        }
        do {
            apps[app] = try RunningApp(
                app,
                started,
                socket: socket,
                peer: peer,
                mark: mark,
                host: self,
                loop: loop
            )
        } catch {
            started.enclosure.kill()
            throw ProcessError(error)
        }
        return started.pid
    }

    private static func inode(of socket: borrowing Descriptor) -> UInt64 {
        var status = stat()
        return unsafe fstat(socket.number, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    private func start(_ app: UInt32, _ request: inout wake_spawn) throws(SpawnFailure) -> StartedProcess {
        guard let groups else { return try unsafe StopEnclosure.start(&request, keepers: keepers, loop: loop) }
        let group: GroupEnclosure
        do {
            var folder = "\(groups)/app-\(app)-\(serial)"
            // One that is there, whoever made it, is no reason for the app not to start.
            while unsafe access(folder, F_OK) == 0 {
                serial += 1
                folder = "\(groups)/app-\(app)-\(serial)"
            }
            group = try GroupEnclosure(loop: loop, kind: freezer, folder: folder, limit: limit)
        } catch {
            throw SpawnFailure(call: error.description, code: error.code)
        }
        return try unsafe group.start(&request)
    }

    /// Freezes everything the app has started, then calls back, from the loop or at once.
    ///
    /// The completion is not called when a thaw, a kill or the app's end comes first. An app without a process fails.
    package func freeze(_ app: UInt32, completion: @escaping (FreezeOutcome) -> Void) {
        guard let running = apps[app] else { return completion(.failed("app \(app): has no process")) }
        running.enclosure.freeze(completion)
    }

    /// Lets the app go on. Harmless when it is not frozen.
    ///
    /// - Returns: whether it has a process and the kernel took it.
    @discardableResult
    package func thaw(_ app: UInt32) -> Bool {
        apps[app]?.enclosure.thaw() ?? false
    }

    /// Kills the app and everything it has started, frozen or not. Its end is told by ``onExit``.
    package func kill(_ app: UInt32) {
        killStrays(of: app)
        apps[app]?.enclosure.kill()
    }

    /// Where the app's threads are listed, as long as it has a process; nil when it has none.
    package func threads(of app: UInt32) -> AppThreads? { apps[app]?.enclosure.threads }

    /// Kills all apps, reaps them, and removes the groups. Nothing is heard of them. To be called at the end; harmless
    /// again.
    package func close() {
        let all = running.compactMap { apps[$0] }
        for app in running { kill(app) }
        for app in all { app.reapAtLast() }
        apps = [:]
        ending = [:]
        var killed: Int32 = 0
        if let groups { _ = unsafe wake_clear_groups(groups, freezer.version, &killed) }
        if let runFolder { unsafe rmdir(runFolder) }
        if let folder = limit?.folder {
            _ = unsafe wake_clear_groups(folder, FreezerKind.cgroup1.version, &killed)
            unsafe rmdir(outerGroup(of: folder))
        }
        // What has left its group, and whose parent has ended.
        if guardian.channel >= 0 { _ = unsafe wake_kill_marked("WAKEBENCH_RUN=\(runName)") }
        unsafe wake_guardian_dismiss(&guardian)
    }

    // MARK: Packets

    /// Sends a packet without waiting, with duplicates of at most 16 descriptors.
    package func send(_ bytes: [UInt8], descriptors: [Int32] = [], to app: UInt32) -> SendOutcome {
        guard let running = apps[app], running.isOpen else { return .closed }
        guard bytes.count <= Self.largestPacket else { return .refused(code: EMSGSIZE) }
        let code = unsafe wake_send(
            running.socket,
            bytes,
            bytes.count,
            descriptors,
            Int32(descriptors.count)
        )
        if code == 1 { return .sent }
        if code == 0 { return .full }
        return errno == EPIPE || errno == ECONNRESET ? .closed : .refused(code: errno)
    }

    /// Asks for one ``onWritable`` when the app's socket takes packets again.
    package func notifyWhenWritable(_ app: UInt32) {
        apps[app]?.setWantsWritable(true)
    }

    /// Reads what the app has sent, at most ``packetsInTurn`` packets, through ``onPacket``. The loop does it by itself;
    /// this is for the last look after a freeze.
    ///
    /// - Returns: whether nothing more was there.
    @discardableResult
    package func receive(from app: UInt32) -> Bool {
        for _ in 0..<Self.packetsInTurn / Mail.mostPackets {
            guard let running = apps[app], running.isOpen else { return true }
            guard receiveSome(from: running) else { return true }
        }
        return false
    }

    /// Reads as many packets as one call brings. Says whether there may be more.
    private func receiveSome(from running: RunningApp) -> Bool {
        let packets = mail.receive(from: running.socket)
        if packets.isEmpty {
            // It went without reading all; the kernel says so before it gives what it had said (unix(7)).
            if errno == ECONNRESET { return true }
            if errno != EAGAIN { hasClosed(running) }
        }
        for packet in packets { take(packet, from: running) }
        return packets.count == Mail.mostPackets
    }

    private func take(_ packet: ReceivedPacket, from running: RunningApp) {
        var descriptors = packet.descriptors
        defer { letGo(descriptors.take(), of: running) }
        guard running.isOpen else { return }
        if packet.isTruncated || descriptors.count > Self.mostDescriptors {
            onFault?(running.app, .truncated)
        } else if packet.bytes.isEmpty, wake_is_hung_up(running.socket) != 0 {
            // No bytes mean the end, or a packet without any.
            hasClosed(running)
        } else {
            onPacket?(running.app, packet.bytes, &descriptors)
        }
    }

    private func hasClosed(_ running: RunningApp) {
        running.closeSocket()
        onFault?(running.app, Self.isEnding(running.pid) ? .ending : .closed)
    }

    /// Closes what nobody took, where a close that waits keeps nobody else waiting. One that sends more of it than can be
    /// closed is heard no more.
    private func letGo(_ numbers: [Int32], of running: RunningApp) {
        var waiting = 0
        for number in numbers { waiting = closeLater(number) }
        guard waiting > Self.mostClosings, running.isOpen else { return }
        running.closeSocket()
        onFault?(running.app, .flooded)
    }

    /// Whether the process is past the point of no return: a process closes its descriptors before it is seen to end.
    ///
    /// Source: proc_pid_stat(5); the flags are the ninth field, and PF_EXITING is 4 in the kernel's sched.h.
    static func isEnding(_ pid: Int32) -> Bool {
        guard let text = try? readSmallFile("/proc/\(pid)/stat", limit: 1_024),
            let name = text.lastIndex(of: ")")
        else { return true }
        let fields = text[name...].split(separator: " ")
        guard fields.count > 7, let flags = UInt64(fields[7]) else { return false }
        return flags & 4 != 0
    }

    // MARK: What the loop tells

    func ready(_ app: UInt32, _ readiness: Readiness) {
        if readiness.contains(.writable) {
            apps[app]?.setWantsWritable(false)
            onWritable?(app)
        }
        if !readiness.isDisjoint(with: [.readable, .hangup, .failed]) { receive(from: app) }
    }

    func ended(_ running: RunningApp) {
        let app = running.app
        guard apps[app] === running else { return }
        // What it said before it ended comes first; a child of it that floods the socket does not keep us here.
        for _ in 0..<32 where receive(from: app) { break }
        running.cancel()
        var exit = running.enclosure.reap()
        let counted = running.enclosure.processorTime ?? exit.userTime + exit.systemTime
        exit.processorTime = running.processorTime.atEnd(counted)
        apps[app] = nil
        let enclosure = running.enclosure
        let key = ObjectIdentifier(enclosure)
        ending[key] = enclosure
        // What it had outside of its group loses the parent that tells whose it is.
        let mark = running.hadStrays ? running.mark : nil
        enclosure.end { [weak self] in
            self?.ending[key] = nil
            if let mark { _ = unsafe wake_kill_marked(mark) }
        }
        onExit?(app, exit)
    }
}
