import ChildProcess
import Foundation
import Testing
import WakeVirtualTime

/// Support/TimedProgram waits in every way there is and says what its own clock showed: to the nanosecond what it asked for.
@Suite("Programs under a virtual clock", .timeLimit(.minutes(10)))
struct TimedProgramTests {
    /// A program that runs until its end, by a clock that leaps from deadline to deadline.
    struct Run {
        private(set) var now: Int64 = 0
        /// How often its time has moved.
        private(set) var leaps = 0
        let clock: AppClock
        private let child: ChildProcess
        private let output = Pipe()

        init(_ program: String, _ arguments: String...) throws {
            // A machine that was never off: some take a clock at zero for none.
            clock = try AppClock(monotonicBase: 1_000_000_000_000, realBase: 1_800_000_000_000_000_000, now: 0)
            child = ChildProcess(program, arguments)
            let library = try built(TimeLibrary.name)
            for entry in clock.environment(library: library) {
                let parts = entry.split(separator: "=", maxSplits: 1)
                child.environment[String(parts[0])] = String(parts[1])
            }
            child.standardOutput = .pipe(output)
        }

        /// - Returns: what it printed, and its exit code.
        mutating func end() throws -> (lines: [String], status: Int32) {
            try child.run()
            clock.watch(list: nil, process: child.processIdentifier)
            while child.isRunning {
                guard clock.firstLook() == nil, clock.secondLook() == nil else {
                    sched_yield()
                    continue
                }
                let (due, next) = clock.pending(at: now)
                if let first = due.first {
                    clock.fire(first, at: now)
                } else if let next {
                    now = next
                    leaps += 1
                    clock.set(now)
                }
            }
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            return (text.split(separator: "\n").map(String.init), child.terminationStatus)
        }
    }

    /// What it asked for, in nanoseconds since its beginning.
    private func expect(_ part: String, _ wanted: String) throws {
        var run = try Run(try built("TimedProgram"), part)
        let (lines, status) = try run.end()
        #expect(lines == wanted.split(separator: "\n").map(String.init))
        #expect(status == 0)
        #expect(run.clock.fallback == nil)
    }

    @Test("In virtual time: sleep in all its forms")
    func sleeps() throws {
        try expect(
            "sleeps",
            """
            nanosleep 1500000000 0
            clock_nanosleep 1750000000 0
            clock_nanosleep-date 2000000000 0
            clock_nanosleep-past 2000000000 0
            usleep 2000001000 0
            sleep 3602000001000 0
            nanosleep-invalid 3602000001000 -22
            nanosleep-interrupted 3604000001000 -4
            nanosleep-rest 3604000001000 3000000000
            """
        )
    }

    @Test("In virtual time: poll, select and epoll")
    func descriptors() throws {
        try expect(
            "descriptors",
            """
            poll 1000000000 0
            ppoll 1500000000 0
            poll-woken 2200000000 1
            read 2200000000 1
            poll-nothing 2201000000 0
            select 3701000000 0
            select-set 3701000000 0
            pselect-woken 4401000000 1
            read 4401000000 1
            epoll_wait 4651000000 0
            epoll_pwait2 4651000001 0
            epoll_wait-woken 5351000001 1
            """
        )
    }

    @Test("In virtual time: conditions, locks, semaphores and futexes")
    func locks() throws {
        try expect(
            "locks",
            """
            pthread_cond_timedwait 700000000000 110
            pthread_cond_clockwait 701000000000 110
            pthread_mutex_timedlock 702000000000 110
            sem_timedwait 703000000000 -110
            sem_timedwait-woken 703300000000 0
            futex 704300000000 -110
            futex-changed 704300000000 -11
            futex_waitv 705300000000 -110
            pthread_timedjoin_np 706300000000 110
            pthread_join-cancelled 706300000000 0
            """
        )
    }

    @Test("In virtual time: waits for signals, and signals that are the bench's")
    func signals() throws {
        try expect(
            "signals",
            """
            sigtimedwait 10000000000 -11
            sigtimedwait-pending 10000000000 10
            sigtimedwait-look 10000000000 -11
            sleep-blocked 11000000000 0
            sigaction 11000000000 0
            sigaction-kept 11000000000 1
            sleep-handled 12000000000 0
            slept-in-handler 13000000000 0
            """
        )
    }

    @Test("In virtual time: timerfd")
    func timerDescriptors() throws {
        try expect(
            "timer-descriptors",
            """
            timerfd_settime 0 0
            timerfd-left 0 1000000001
            timerfd-first 1000000001 1
            timerfd-second 251000000001 1
            timerfd-missed 1251000000001 4
            timerfd-copy 1251000000001 0
            timerfd-old 1251000000001 250
            timerfd-once 1253000000001 1
            timerfd-date 1283000000001 1
            timerfd-past 1283000000001 1
            timerfd-by-child 1285000000001 1
            """
        )
    }

    @Test("In virtual time: timer_create")
    func timers() throws {
        try expect(
            "timers",
            """
            timer_create 0 0
            timer-value 2000000000 42
            timer-value 2500000000 42
            timer-value 3000000000 42
            timer-left 3000000000 500000000
            timer_getoverrun 3000000000 0
            timer_delete 3000000000 0
            timer-deleted 5000000000 3
            timer-thread 15000000000 7
            timer-thread 16000000000 7
            timer-silent 19000000000 2000000000
            timer-silent-again 22000000000 3000000000
            timer-of-processor 22000000000 0
            """
        )
    }

    @Test("In virtual time: alarm, ualarm and setitimer")
    func alarms() throws {
        try expect(
            "alarms",
            """
            alarm-set 0 0
            alarm-again 0 10
            alarm 7000000000 1
            setitimer-first 7250000000 2
            setitimer-second 7750000000 3
            getitimer 7750000000 500000
            setitimer-old 7750000000 500000
            sleep 12750000000 0
            ualarm 12751500000 4
            alarm-of-child 12751500000 0
            alarm-after-exec 14751500000 14
            alarm-of-parent 15751500000 5
            """
        )
    }

    @Test("In virtual time: the timeouts of sockets")
    func sockets() throws {
        try expect(
            "sockets",
            """
            recvmmsg 700000000 1
            recvmmsg-left 700000000 0
            recvmmsg-two 1400000000 1
            recvmmsg-left 1400000000 9300000000
            setsockopt 1400000000 0
            recv 7400000000 -11
            read 13400000000 -11
            recvmsg 19400000000 -11
            recv-woken 20100000000 2
            recv-all 21500000000 4
            getsockopt 21500000000 6
            setsockopt 21500000000 0
            read-untimed 22200000000 2
            setsockopt 22200000000 0
            send-part 24200000000 1
            write-full 26200000000 -11
            nodelay 26200000000 1
            setsockopt 26200000000 0
            accept 27700000000 -11
            setsockopt 27700000000 0
            connect 27700000000 0
            accept-waiting 27700000000 1
            """
        )
    }

    @Test("In virtual time: message queues and semaphores of System V")
    func queues() throws {
        try expect(
            "queues",
            """
            mq_timedreceive 4000000000 -110
            mq_timedsend 4000000000 0
            mq_timedsend-full 5000000000 -110
            mq_timedreceive-there 5000000000 8
            semtimedop 7000000000 -11
            semtimedop-woken 7300000000 0
            """
        )
    }

    @Test("In virtual time: children, also with an empty environment")
    func children() throws {
        try expect(
            "children",
            """
            fork 7000000000 0
            bare-execve 12000000000 0
            posix_spawn 12000000000 0
            bare-posix_spawn 17000000000 0
            bare-shell 22000000000 0
            bare-system 23000000000 0
            """
        )
    }

    @Test("A program finds a phone's six processors, whatever the machine has")
    func processors() throws {
        try expect(
            "processors",
            """
            sysconf 0 6
            configured 0 6
            get_nprocs 0 6
            of-the-process 0 6
            of-the-thread 0 6
            """
        )
    }

    @Test("In virtual time: every clock")
    func clocks() throws {
        try expect(
            "clocks",
            """
            clock-0 5000000000 1
            clock-1 5000000000 1
            clock-4 5000000000 1
            clock-5 5000000000 1
            clock-6 5000000000 1
            clock-7 5000000000 1
            clock-11 5000000000 1
            gettimeofday 5000000000 1
            timespec_get 5000000000 1
            time 5000000000 1
            date 5000000000 1800000005
            processor-time 5000000000 0
            processor-seconds 5000000000 0
            """
        )
    }

    @Test("One that spins on its clock is told by how often it has read it")
    func spin() throws {
        let program = try built("TimedProgram")
        let clock = try AppClock(monotonicBase: 0, realBase: 0, now: 0)
        let library = try built(TimeLibrary.name)
        let child = ChildProcess(program, ["spin"])
        for entry in clock.environment(library: library) {
            let parts = entry.split(separator: "=", maxSplits: 1)
            child.environment[String(parts[0])] = String(parts[1])
        }
        child.standardOutput = .null
        try child.run()
        while clock.reads < 100_000 { sched_yield() }
        clock.set(1_000_000_000)
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
    }

    @Test("Swift's timers")
    func swift() throws {
        var run = try Run(try built("TimedSwiftProgram"), "timers")
        let (lines, status) = try run.end()
        let fired = [
            "Timer", "asyncAfter main", "asyncAfter global", "Task.sleep", "Thread.sleep", "DispatchSourceTimer",
            "NSCondition", "DispatchSemaphore", "DispatchSourceTimer",
        ]
        #expect(lines == fired.enumerated().map { "\($1) \($0 + 1)000000000" })
        #expect(status == 0)
    }

    @Test("Work behind a blocked pool gets a thread when it does on wall time: one more each second")
    func blockedPool() throws {
        var run = try Run(try built("TimedSwiftProgram"), "blocked")
        let lines = try run.end().lines
        // The monitor ticks from the pool's beginning, at the first second; the two too many come before the work.
        #expect(lines == ["beside 1000000000", "behind 4000000000"])
    }

    @Test("A timer a minute moves time once a minute, though libdispatch's monitor would tick each second")
    func minutes() throws {
        var run = try Run(try built("TimedSwiftProgram"), "minutes")
        #expect(try run.end().status == 0)
        #expect(run.now == 3_600_000_000_000)
        // A pool's first threads ask for a tick.
        #expect(run.leaps < 60 + 4)
    }

    @Test("Python's timers")
    func python() throws {
        var run = try Run("/usr/bin/python3", "-c", Self.python)
        let (lines, status) = try run.end()
        #expect(
            lines == [
                "select 2.0", "queue 10.0", "subprocess 5.0", "asyncio 1.0", "asyncio 2.5", "asyncio 3.0", "Timer 4.0",
                "sleep 86400.0",
            ]
        )
        #expect(status == 0)
    }

    private static let python = """
        import asyncio, queue, select, subprocess, sys, threading, time
        began = time.monotonic()
        def say(what):
            global began
            print(what, round(time.monotonic() - began, 9), flush=True)
        def next(what):
            global began
            say(what); began = time.monotonic()
        select.select([], [], [], 2); next("select")
        try: queue.Queue().get(timeout=10)
        except queue.Empty: next("queue")
        subprocess.run([sys.executable, "-c", "import time; time.sleep(5)"], env={}); next("subprocess")
        async def one(seconds): await asyncio.sleep(seconds); say("asyncio")
        async def all(): await asyncio.gather(one(3), one(1), one(2.5))
        asyncio.run(all()); began = time.monotonic()
        timer = threading.Timer(4, lambda: say("Timer")); timer.start(); timer.join(); began = time.monotonic()
        time.sleep(86400); say("sleep")
        """

    @Test("Where the kernel refuses what it needs, a program keeps the wall's clock, and the page says why")
    func refused() throws {
        let (waits, filters, lacking, forbidden): (Int, Int, Int32, Int32) = (449, seccomp, ENOSYS, EPERM)
        for (call, code) in [(waits, lacking), (filters, lacking), (filters, forbidden)] {
            let clock = try AppClock(monotonicBase: 1_000_000_000_000, realBase: 0, now: 0)
            let output = Pipe()
            let library = try built(TimeLibrary.name)
            let program = try built("TimedProgram")
            let preloaded = ["/usr/bin/env", "LD_PRELOAD=\(library)", program, "date"]
            let child = ChildProcess(program, ["refused", "\(call)", "\(code)"] + preloaded)
            let page = clock.environment(library: library)[0].split(separator: "=").map(String.init)
            child.environment[page[0]] = page[1]
            child.standardOutput = .pipe(output)
            let before = Date().timeIntervalSince1970
            try child.run()
            child.waitUntilExit()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            #expect(Double(text.dropLast().split(separator: " ").last.map(String.init) ?? "") ?? 0 >= before - 1)
            #expect(clock.fallback == code)
            #expect(clock.processes == 0)
        }
    }

    #if arch(x86_64)
        private let seccomp = 317
    #else
        private let seccomp = 277
    #endif

    @Test("A page of another version, or none, and the library does nothing")
    func strangers() throws {
        let library = try built(TimeLibrary.name)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(repeating: 0, count: 1 << 20).write(to: file)
        for page in [file.path, "/proc/self/fd/1000", ""] {
            let output = Pipe()
            let child = ChildProcess(try built("TimedProgram"), ["date"])
            child.environment["LD_PRELOAD"] = library
            child.environment["WAKEBENCH_TIME_PAGE"] = page
            child.standardOutput = .pipe(output)
            let before = Date().timeIntervalSince1970
            try child.run()
            child.waitUntilExit()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let date = text.split(separator: "\n").first { $0.hasPrefix("date ") }?.split(separator: " ").last
            #expect(Double(date.map(String.init) ?? "") ?? 0 >= before - 1)
            #expect(child.terminationStatus == 0)
        }
    }
}

/// A program or library of this build.
func built(_ name: String) throws -> String {
    for path in [Bundle.main.executablePath ?? ""] + CommandLine.arguments {
        let folder = URL(filePath: path).deletingLastPathComponent()
        for place in [folder, folder.appending(path: "../../..").standardized] {
            let file = place.appending(path: name).path
            if FileManager.default.fileExists(atPath: file) { return file }
        }
    }
    throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
}
