import ChildProcess
import Foundation
import Testing
import TriedFreezers
import WakeSystem

@testable import WakeProcesses

@Suite("App processes", .serialized)
struct ProcessHostTests {
    @Test("A process's exit status is told once, with what it used", arguments: TriedFreezers.kinds)
    func exitStatus(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let pid = try stage.spawn("exit", "7")
        try stage.turn { !stage.exits.isEmpty }
        #expect(stage.exits.count == 1)
        #expect(stage.exits[0].pid == pid)
        #expect(stage.exits[0].cause == .exited(status: 7))
        #expect(stage.exits[0].peakMemory > 0)
        #expect(stage.host.running.isEmpty)
    }

    @Test("A crash is told with its signal", arguments: TriedFreezers.kinds)
    func crash(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        try stage.spawn("crash")
        try stage.turn { !stage.exits.isEmpty }
        guard case .signalled(number: SIGABRT, _) = stage.exits[0].cause else {
            Issue.record("\(stage.exits[0].cause)")
            return
        }
    }

    @Test(
        "A program that is missing is a typed error, and the app can be started afterwards",
        arguments: TriedFreezers.kinds
    )
    func missing(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let error = #expect(throws: ProcessError.self) {
            try stage.host.spawn(1, AppProgram(path: "/nowhere/App"), output: 1, error: 2)
        }
        #expect(error?.kind == .cannotExecute(code: ENOENT))
        #expect(
            error?.message
                == "/nowhere/App: cannot be executed: No such file or directory; build the app, or correct its path"
        )
        try stage.spawn("exit", "0")
        try stage.turn { stage.exits.map(\.cause) == [.exited(status: 0)] }
    }

    @Test("A missing working directory is a typed error", arguments: TriedFreezers.kinds)
    func missingDirectory(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let error = #expect(throws: ProcessError.self) {
            try stage.host.spawn(1, AppProgram(path: "/bin/true", directory: "/nowhere"), output: 1, error: 2)
        }
        #expect(error?.kind == .cannotEnterDirectory(code: ENOENT))
    }

    @Test(
        "An app sees its arguments, folder and environment, four descriptors and no blocked signal",
        arguments: TriedFreezers.kinds
    )
    func surroundings(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let path = FileManager.default.temporaryDirectory.appending(path: "wakebench-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let output = try Descriptor.open(path, O_WRONLY | O_CREAT)
        let program = AppProgram(
            path: try builtProgram("MisbehavingApp"),
            arguments: ["app", "environment", "x y"],
            environment: ["A=b"],
            directory: "/"
        )
        try stage.host.spawn(1, program, output: output.number, error: output.number)
        try stage.turn { !stage.exits.isEmpty }
        let lines = try readSmallFile(path).split(separator: "\n").map(String.init)
        let plain = lines.filter { !$0.hasPrefix("environment WAKEBENCH_PROCESS=") }
        #expect(
            plain.sorted()
                == [
                    "argument app", "argument environment", "argument x y", "descriptor 0", "descriptor 1",
                    "descriptor 2",
                    "descriptor 3", "directory /", "environment A=b", "environment WAKEBENCH_RUN=\(stage.host.runName)",
                    "environment WAKEBENCH_SOCKET=3", "session 1 group 1",
                ]
        )
    }

    @Test(
        "A frozen app counts no further, and goes on from where it was",
        arguments: TriedFreezers.kinds,
        ["count", "fork", "detach", "leaderless", "vfork"]
    )
    func freezes(freezer: FreezerKind, mode: String) throws {
        let stage = try Stage(freezer)
        let counter = Counter()
        defer { counter.remove() }
        try stage.spawn(mode, counter.path)
        try stage.turn { counter.value > 3 }
        for _ in 0..<3 {
            #expect(try stage.freeze() == .frozen)
            let frozen = counter.value
            // Work of our own, in which a running counter would move.
            for _ in 0..<20 { _ = try stage.loop.runOnce(timeout: 2_000_000) }
            #expect(counter.value == frozen)
            #expect(stage.host.thaw(1))
            try stage.turn { counter.value > frozen }
        }
    }

    @Test(
        "A kill reaches every descendant, also while frozen",
        arguments: TriedFreezers.kinds,
        ["count", "fork", "detach", "leaderless", "vfork"]
    )
    func kills(freezer: FreezerKind, mode: String) throws {
        for isFrozen in [true, false] {
            let stage = try Stage(freezer)
            let counter = Counter()
            defer { counter.remove() }
            try stage.spawn(mode, counter.path)
            try stage.turn { counter.process > 0 && counter.value > 0 }
            if isFrozen { #expect(try stage.freeze() == .frozen) }
            stage.host.kill(1)
            try stage.turn { !stage.exits.isEmpty && isDead(counter.process) }
            #expect(stage.exits.first?.cause == .signalled(number: SIGKILL, core: false))
        }
    }

    @Test("What an app leaves behind when it exits is killed", arguments: TriedFreezers.kinds)
    func leftBehind(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let counter = Counter()
        defer { counter.remove() }
        try stage.spawn("detach-exit", counter.path)
        try stage.turn { !stage.exits.isEmpty && counter.process > 0 && isDead(counter.process) }
        #expect(stage.exits.map(\.cause) == [.exited(status: 0)])
    }

    @Test("A kill comes through to an app that ignores SIGTERM", arguments: TriedFreezers.kinds)
    func ignoresTerm(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let pid = try stage.spawn("ignore-term")
        try stage.turn { stage.packets == [Array("ready".utf8)] }
        Glibc.kill(pid, SIGTERM)
        stage.host.kill(1)
        try stage.turn { !stage.exits.isEmpty }
        #expect(stage.exits[0].cause == .signalled(number: SIGKILL, core: false))
    }

    @Test("Freezing an app that has no process fails")
    func nothingToFreeze() throws {
        let stage = try Stage(.sigstop)
        #expect(try stage.freeze() == .failed("app 1: has no process"))
        #expect(!stage.host.thaw(1))
    }

    @Test("Packets come back in order, and their bytes are kept")
    func echo() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        try stage.spawn("echo")
        for number in UInt8(0)..<5 {
            #expect(stage.host.send([UInt8](repeating: number, count: 1 + Int(number) * 10_000), to: 1) == .sent)
        }
        try stage.turn { stage.packets.count == 5 }
        #expect(stage.packets.map { $0.count } == [1, 10_001, 20_001, 30_001, 40_001])
        #expect(stage.packets[4].allSatisfy { $0 == 4 })
    }

    @Test("A full socket says so, and says when it takes packets again")
    func fullSocket() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        try stage.spawn("echo")
        #expect(try stage.freeze() == .frozen)
        let packet = [UInt8](repeating: 1, count: 60_000)
        var sent = 0
        while stage.host.send(packet, to: 1) == .sent, sent < 1_000 { sent += 1 }
        #expect(stage.host.send(packet, to: 1) == .full)
        var writable = 0
        stage.host.onWritable = { _ in writable += 1 }
        stage.host.notifyWhenWritable(1)
        stage.host.thaw(1)
        try stage.turn { writable == 1 && stage.packets.count == sent }
        #expect(stage.host.send(packet, to: 1) == .sent)
    }

    @Test("A flood is read at most 32 packets a turn, and other things go on")
    func flood() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        var inTurn = 0
        var most = 0
        var turns = 0
        stage.host.onPacket = { _, _, _ in
            inTurn += 1
            most = max(most, inTurn)
        }
        let pid = try stage.spawn("flood")
        // The app sleeps once its socket is full.
        try waitAside { isAsleep(pid) }
        let end = MonotonicClock.now() + patience
        while turns < 50, MonotonicClock.now() < end {
            inTurn = 0
            if try stage.loop.runOnce(timeout: patience) { turns += 1 }
        }
        #expect(most == ProcessHost.packetsInTurn)
        stage.host.kill(1)
        try stage.turn { !stage.exits.isEmpty }
    }

    @Test("What an app said before it ended is heard, though it left something unread")
    func lastWords() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        let pid = try stage.spawn("last-words")
        #expect(stage.host.send([1], to: 1) == .sent)
        try waitAside { hasEnded(pid) }
        try stage.turn { !stage.exits.isEmpty }
        #expect(stage.packets == [Array("last words".utf8)])
    }

    /// Waits by another loop, so that the stage's reads nothing meanwhile.
    private func waitAside(until condition: () -> Bool) throws {
        let aside = try EventLoop()
        var timer: WakeSystem.Timer?
        timer = try aside.timer { timer?.arm(at: BootClock.now() + 1_000_000) }
        timer?.arm(at: 0)
        let end = MonotonicClock.now() + patience
        while !condition() && MonotonicClock.now() < end { try aside.runOnce(timeout: patience) }
        timer = nil
    }

    @Test("A packet that is too large is a fault, and the next one is read")
    func oversize() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        try stage.spawn("oversize")
        try stage.turn { stage.packets == [Array("after".utf8)] }
        #expect(stage.faults == [.truncated])
    }

    @Test("An app that closes its socket runs on until it is killed")
    func closes() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        try stage.spawn("close")
        try stage.turn { stage.faults == [.closed] }
        #expect(stage.exits.isEmpty)
        #expect(stage.host.send([1], to: 1) == .closed)
        stage.host.kill(1)
        try stage.turn { !stage.exits.isEmpty }
    }

    @Test("A packet without bytes is a packet, and not the end of the socket")
    func empty() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        try stage.spawn("empty")
        try stage.turn { stage.packets == [[], Array("after".utf8)] }
        #expect(stage.faults.isEmpty)
    }

    @Test(
        "A socket that closes because its process ends is told from one that is closed",
        arguments: TriedFreezers.kinds
    )
    func ending(freezer: FreezerKind) throws {
        for _ in 0..<20 {
            let stage = try Stage(freezer)
            try stage.spawn("crash")
            try stage.turn { !stage.exits.isEmpty }
            #expect(!stage.faults.contains(.closed))
        }
    }

    @Test("Descriptors that nobody takes are closed; those taken are the taker's")
    func descriptors() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        var taken: [Int32] = []
        stage.host.onPacket = { _, bytes, descriptors in
            #expect(bytes == Array("file".utf8))
            taken = descriptors.take()
        }
        try stage.spawn("descriptors")
        try stage.turn { !taken.isEmpty }
        let file = Descriptor(owning: taken[0])
        var buffer: [UInt8] = [0]
        #expect(try file.read(into: &buffer) == 0)
    }

    @Test("A packet with more descriptors than one may carry is a fault, and the next one is read")
    func manyDescriptors() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        try stage.spawn("many-descriptors")
        try stage.turn { stage.packets == [Array("after".utf8)] }
        #expect(stage.faults == [.truncated])
    }

    @Test("A foreign descriptor whose close waits in the kernel keeps the loop waiting for nothing")
    func lingering() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        var heard: [Int64] = []
        stage.host.onPacket = { _, _, _ in heard.append(MonotonicClock.now()) }
        let counter = Counter()
        defer { counter.remove() }
        try stage.spawn("linger", counter.path)
        // Nothing is read before the last descriptor of the socket lies in the packet.
        while counter.value == 0 { sched_yield() }
        try stage.turn { heard.count == 2 }
        // The close of the socket takes five seconds, and comes between the two packets.
        #expect(heard.last! - heard[0] < 2_500_000_000)
    }

    @Test("An app that kills its keeper leaves nothing, not even what hides its descent")
    func killedKeeper() throws {
        let stage = try Stage(.sigstop)
        let counter = Counter()
        defer { counter.remove() }
        // A child of the bench's own, in its session, is nobody's orphan.
        let bystander = ChildProcess("/bin/sleep", ["60"])
        try bystander.run()
        try stage.spawn("kill-keeper", counter.path)
        try stage.turn { !stage.exits.isEmpty }
        #expect(stage.exits.map(\.cause) == [.unknown])
        #expect(counter.process > 0)
        #expect(isDead(counter.process))
        #expect(bystander.isRunning)
    }

    @Test(
        "Empty control groups of runs that were killed are removed, those of live ones and what holds a process are not",
        arguments: TriedFreezers.usable.filter { $0 != .sigstop }
    )
    func emptyGroups(freezer: FreezerKind) throws {
        let roots = GroupRoots.ofThisProcess()
        let root = try #require(freezer == .cgroup2 ? roots.version2 : roots.version1)
        let files = FileManager.default
        // Numbers that no process can have.
        let gone = "4194307-\(GroupMaker.namespace)"
        let dead = "wakebench-run-4194305-\(UUID())"
        let probe = "wakebench-probe-4194306-\(UUID())"
        let bare = "wakebench-\(UUID())"
        let live = "wakebench-run-4194305-\(UUID())"
        let own = "\(live)/bench-\(GroupMaker.mark)/app-1-1"
        // Of a namespace in which the number may be that of a live process.
        let foreign = "wakebench-run-4194305-\(UUID())"
        let others = ["bench", "attempt"].map { "\(foreign)/\($0)-4194307-\(GroupMaker.namespace + 1)/app-1-1" }
        let left = ["\(dead)/bench-\(gone)/app-1-1", "\(probe)/attempt-\(gone)", bare, "\(live)/bench-\(gone)"]
        for group in left + [own] + others {
            // Benches that start meanwhile remove what is empty, between two folders that are made too.
            var attempts = 0
            repeat {
                attempts += 1
                try? files.createDirectory(atPath: "\(root)/\(group)", withIntermediateDirectories: true)
            } while !left.contains(group) && !files.fileExists(atPath: "\(root)/\(group)") && attempts < 100
        }
        let stage = try Stage(freezer)
        try stage.spawn("ignore-term")
        roots.removeEmptyGroups()
        #expect(!files.fileExists(atPath: "\(root)/\(bare)"))
        #expect(!files.fileExists(atPath: "\(root)/\(dead)"))
        #expect(!files.fileExists(atPath: "\(root)/\(probe)"))
        #expect(!files.fileExists(atPath: "\(root)/\(live)/bench-\(gone)"))
        for group in [own] + others {
            #expect(files.fileExists(atPath: "\(root)/\(group)"))
            #expect(unsafe rmdir("\(root)/\(group)") == 0)
            #expect(isRemoved("\(root)/\((group as NSString).deletingLastPathComponent)"))
        }
        for run in [live, foreign] { #expect(isRemoved("\(root)/\(run)")) }
        stage.host.kill(1)
        try stage.turn { stage.exits.count == 1 }
    }

    /// Removes an empty group; a bench that starts meanwhile may have done so.
    private func isRemoved(_ group: String) -> Bool { unsafe rmdir(group) == 0 || errno == ENOENT }

    @Test(
        "An app starts in a group of another number where one of its own is there already",
        arguments: TriedFreezers.groups
    )
    func takenGroup(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let roots = GroupRoots.ofThisProcess()
        let root = try #require(freezer == .cgroup2 ? roots.version2 : roots.version1)
        let run = "\(root)/wakebench-\(stage.host.runName)/bench-\(GroupMaker.mark)"
        for number in 1...2 { #expect(unsafe mkdir("\(run)/app-1-\(number)", 0o755) == 0) }
        try stage.spawn("exit", "7")
        try stage.turn { !stage.exits.isEmpty }
        #expect(stage.exits.map(\.cause) == [.exited(status: 7)])
    }

    @Test(
        "An app starts, within the bound of its tasks, where the groups above its own were taken away meanwhile",
        arguments: TriedFreezers.groups
    )
    func takenAwayGroups(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let roots = GroupRoots.ofThisProcess()
        let root = try #require(freezer == .cgroup2 ? roots.version2 : roots.version1)
        for hierarchy in Set([root, freezer == .cgroup1 ? roots.version1Tasks : nil].compactMap(\.self)) {
            let run = "\(hierarchy)/wakebench-\(stage.host.runName)"
            guard FileManager.default.fileExists(atPath: run) else { continue }
            #expect(unsafe rmdir("\(run)/bench-\(GroupMaker.mark)") == 0)
            #expect(isRemoved(run))
        }
        try stage.spawn("exit", "7")
        try stage.turn { !stage.exits.isEmpty }
        #expect(stage.exits.map(\.cause) == [.exited(status: 7)])
        guard let most = stage.host.mostTasks else { return }
        try stage.spawn("swarm")
        try stage.turn { !stage.packets.isEmpty }
        #expect(Int(String(decoding: stage.packets[0], as: UTF8.self)) == most - 1)
        stage.host.kill(1)
        try stage.turn { stage.exits.count == 2 }
    }

    @Test("An app has no more tasks than its bound, and the bench goes on", arguments: TriedFreezers.kinds)
    func swarm(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        guard let most = stage.host.mostTasks else { return }
        try stage.spawn("swarm")
        try stage.turn { !stage.packets.isEmpty }
        #expect(Int(String(decoding: stage.packets[0], as: UTF8.self)) == most - 1)
        stage.host.kill(1)
        try stage.turn { !stage.exits.isEmpty }
    }

    @Test(
        "A kill of thousands of processes reads of them a few times, not once for each",
        arguments: TriedFreezers.kinds
    )
    func manyProcesses(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let count = min(3_000, (stage.host.mostTasks ?? .max) - 1)
        try stage.spawn("swarm", "\(count)")
        try stage.turn { !stage.packets.isEmpty }
        #expect(String(decoding: stage.packets[0], as: UTF8.self) == "\(count)")
        stage.host.kill(1)
        try stage.turn { !stage.exits.isEmpty }
    }

    @Test("An app's log keeps the newest of what came, within its bound")
    func boundedLog() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        let path = FileManager.default.temporaryDirectory.appending(path: "wakebench-log-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let log = try AppLog(path, limit: 1 << 20)
        for mebibytes in ["0", "5"] {
            let input = try log.input()
            try stage.spawn("shout", mebibytes, output: input.number)
            try stage.turn { stage.exits.count == (mebibytes == "0" ? 1 : 2) }
        }
        log.finish()
        let text = try readSmallFile(path, limit: 8 << 20)
        #expect(text.utf8.count <= 1 << 20)
        #expect(text.utf8.count > 1 << 19)
        let lines = text.split(separator: "\n")
        #expect(lines.last == "the last line")
        let kept = lines.count - 2
        let bytes = 5 * 16_384 * 64 + 28
        #expect(lines.first == "[wakebench: \(bytes - 14 - kept * 64) bytes before this are not kept]")
        // Whole lines, the newest, none twice.
        #expect(lines.dropFirst().dropLast().map { Int($0) } == Array(5 * 16_384 - kept..<5 * 16_384))
    }

    @Test("A log that is gone on with counts on from what was not kept before")
    func boundedLogGoesOn() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "wakebench-log-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 63) + [UInt8(ascii: "\n")]
        let times = 5_000
        for _ in 0..<3 {
            let log = try AppLog(path, limit: 1 << 18)
            let input = try log.input()
            for _ in 0..<times { #expect(try input.write(piece) == piece.count) }
            log.finish()
        }
        let text = try readSmallFile(path, limit: 1 << 18)
        let kept = (text.split(separator: "\n").count - 1) * piece.count
        let bytes = 3 * times * piece.count
        #expect(text.hasPrefix("[wakebench: \(bytes - kept) bytes before this are not kept]\n"), "\(text.prefix(80))")
    }

    @Test("A first line that only looks like the log's own is one of the app's")
    func forgedHead() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "wakebench-log-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let forged = "[wakebench: \(Int.max) bytes before this are not kept]\n"
        try Data(forged.utf8).write(to: URL(filePath: path))
        let log = try AppLog(path, limit: 1 << 18)
        let input = try log.input()
        for _ in 0..<5_000 { _ = try input.write(Array("hello\n".utf8) + [UInt8](repeating: 0x2e, count: 58)) }
        log.finish()
        let text = try readSmallFile(path, limit: 1 << 18)
        #expect(!text.contains("\(Int.max)"))
        #expect(text.hasPrefix("[wakebench: "))
    }

    @Test("What an earlier process of an app printed stands before what a later one did, however soon that is launched")
    func processesInOrder() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "wakebench-log-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let log = try AppLog(path)
        for number in 0..<500 {
            let input = try log.input()
            _ = try input.write(Array("\(number)\n".utf8))
        }
        log.finish()
        #expect(try readSmallFile(path, limit: 8_192).split(separator: "\n").map { Int($0) } == Array(0..<500))
    }

    @Test("An app that is launched again and again leaves nothing of its earlier processes behind in the bench")
    func manyLaunches() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        let path = FileManager.default.temporaryDirectory.appending(path: "wakebench-log-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        func mappings() throws -> Int {
            try readSmallFile("/proc/self/maps", limit: 64 << 20).utf8.count { $0 == UInt8(ascii: "\n") }
        }
        let log = try AppLog(path)
        var before = 0
        for number in 1...160 {
            let input = try log.input()
            try stage.spawn("shout", "0", output: input.number)
            try stage.turn { stage.exits.count == number }
            // What every thread of the bench shares is there by now.
            if number == 32 { before = try mappings() }
        }
        // A thread that nobody joined leaves its stack and the guard before it.
        let after = try mappings()
        #expect(after < before + 64, "\(before) mappings, then \(after)")
        log.finish()
    }
}

@Suite("The end of a bench", .serialized)
struct BenchEndTests {
    /// Starts BenchLike as a child with its output in a pipe, and waits for its word.
    private func bench(_ freezer: FreezerKind, _ arguments: [String], word: String) throws -> ChildProcess {
        let bench = ChildProcess(try builtProgram("BenchLike"), arguments)
        let pipe = Pipe()
        bench.standardOutput = .pipe(pipe)
        try bench.run()
        let said = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        #expect(said == "\(word) \(freezer.rawValue)\n")
        return bench
    }

    private func waitForDeath(of pid: Int32) throws {
        let loop = try EventLoop()
        var timer: WakeSystem.Timer?
        let end = MonotonicClock.now() + patience
        timer = try loop.timer { timer?.arm(at: BootClock.now() + 1_000_000) }
        timer?.arm(at: 0)
        while !isDead(pid) && MonotonicClock.now() < end { try loop.runOnce(timeout: patience) }
        timer = nil
        #expect(isDead(pid))
    }

    @Test(
        "Nothing of an app outlives a bench that is killed with SIGKILL",
        arguments: TriedFreezers.kinds,
        [["count"], ["fork"], ["detach"], ["detach", "running"]]
    )
    func killed(freezer: FreezerKind, mode: [String]) throws {
        let counter = Counter()
        defer { counter.remove() }
        let run = "test-\(UUID())"
        let app = try builtProgram("MisbehavingApp")
        let arguments = [run, freezer.rawValue, app, mode[0], counter.path] + mode.dropFirst()
        let bench = try bench(freezer, arguments, word: mode.count > 1 ? "running" : "frozen")
        let pid = counter.process
        #expect(!isDead(pid))
        kill(bench.processIdentifier, SIGKILL)
        bench.waitUntilExit()
        try waitForDeath(of: pid)
    }

    @Test("A sweep kills what a run has left when its guardian was killed too", arguments: TriedFreezers.kinds)
    func sweeps(freezer: FreezerKind) throws {
        let counter = Counter()
        defer { counter.remove() }
        let run = "test-\(UUID())"
        let arguments = [run, freezer.rawValue, try builtProgram("MisbehavingApp"), "fork", counter.path]
        let bench = try bench(freezer, arguments, word: "frozen")
        defer { if bench.isRunning { kill(bench.processIdentifier, SIGKILL) } }
        // Frozen first, the bench and its guardian die together.
        let helper = try #require(try guardian(of: bench.processIdentifier))
        kill(bench.processIdentifier, SIGSTOP)
        waitpid(bench.processIdentifier, nil, WUNTRACED)
        kill(helper, SIGKILL)
        kill(bench.processIdentifier, SIGKILL)
        bench.waitUntilExit()
        let killed = try ProcessHost.sweep(runName: run)
        #expect(killed >= 1)
        #expect(try ProcessHost.sweep(runName: run) == 0)
    }

    /// The child of a bench that is not its app: the guardian or the keeper. It names itself after it was forked.
    private func guardian(of bench: Int32) throws -> Int32? {
        let loop = try EventLoop()
        var timer: WakeSystem.Timer?
        let end = MonotonicClock.now() + patience
        timer = try loop.timer { timer?.arm(at: BootClock.now() + 1_000_000) }
        timer?.arm(at: 0)
        defer { timer = nil }
        while MonotonicClock.now() < end {
            let children = try readSmallFile("/proc/\(bench)/task/\(bench)/children").split(separator: " ")
            let found = try children.compactMap { Int32($0) }.first { pid in
                try readSmallFile("/proc/\(pid)/comm").hasPrefix("wakebench-")
            }
            if let found { return found }
            try loop.runOnce(timeout: patience)
        }
        return nil
    }

    @Test(
        "An ordinary user's apps are stopped and killed with SIGSTOP",
        .enabled(if: getuid() == 0, "needs root to become an ordinary user")
    )
    func ordinaryUser() throws {
        let counter = Counter()
        defer { counter.remove() }
        // Made beforehand for everyone: a user without rights writes it.
        _ = FileManager.default.createFile(atPath: counter.path, contents: nil, attributes: [.posixPermissions: 0o666])
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["BenchLike", "MisbehavingApp"] {
            try link(try builtProgram(name), to: "\(folder)/\(name)")
        }
        let bench = ChildProcess("/usr/bin/setpriv")
        bench.arguments = [
            "--reuid=65534", "--regid=65534", "--clear-groups", "\(folder)/BenchLike", "test-\(UUID())", "automatic",
            "\(folder)/MisbehavingApp", "detach", counter.path,
        ]
        let pipe = Pipe()
        bench.standardOutput = .pipe(pipe)
        try bench.run()
        #expect(String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self) == "frozen sigstop\n")
        let pid = counter.process
        #expect(!isDead(pid))
        kill(bench.processIdentifier, SIGKILL)
        bench.waitUntilExit()
        try waitForDeath(of: pid)
    }

    @Test("A sweep of a run that left nothing kills nothing")
    func emptySweep() throws {
        #expect(try ProcessHost.sweep(runName: "test-\(UUID())") == 0)
    }

    @Test("A name that could leave the group's folder is refused", arguments: ["", "a/b", "../x y", "ä"])
    func names(name: String) throws {
        let message = "run name '\(name)': give 1 to 64 letters, digits, dots or dashes"
        #expect(throws: ProcessError(.malformed, message)) { try ProcessHost.sweep(runName: name) }
    }

    @Test("A freezer that was chosen and does not work is an error that names the missing right")
    func chosen() throws {
        let loop = try EventLoop()
        let error = #expect(throws: ProcessError.self) {
            _ = try ProcessHost(loop: loop, freezer: .cgroup2, roots: GroupRoots(version2: "/proc"), runName: "x")
        }
        #expect(error?.kind == .freezerUnavailable)
        #expect(error?.message.contains("/proc/wakebench-x") == true)
    }

    /// Where it is skipped, what other tests try under each freezer is not tried under all.
    @Test("Each freezer works on this machine", .enabled(if: TriedFreezers.missing.isEmpty, "\(TriedFreezers.missing)"))
    func all() throws {
        for kind in FreezerKind.allCases {
            let host = try ProcessHost(
                loop: try EventLoop(),
                freezer: try #require(FreezerChoice(rawValue: kind.rawValue)),
                runName: "test-\(UUID())"
            )
            #expect(host.freezer == kind)
            host.close()
        }
    }

    @Test("Without any control group the automatic choice is SIGSTOP, and the others say why not")
    func fallback() throws {
        let host = try ProcessHost(loop: try EventLoop(), roots: GroupRoots(), runName: "x")
        #expect(host.freezer == .sigstop)
        #expect(host.probes.map(\.usable) == [false, false, true])
        host.close()
    }
}
