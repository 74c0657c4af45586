import ChildProcess
import Glibc
import Testing
import WakeSystem

/// The longest a test waits for something that must happen.
private let patience: Int64 = 20_000_000_000

@Suite("The event loop")
struct EventLoopTests {
    /// Turns the loop until the condition holds.
    private func turn(_ loop: EventLoop, until condition: () -> Bool) throws {
        let end = MonotonicClock.now() + patience
        while !condition() && MonotonicClock.now() < end {
            try loop.runOnce(timeout: patience)
        }
        #expect(condition())
    }

    private func pipe() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        let code = unsafe ends.withUnsafeMutableBufferPointer { unsafe Glibc.pipe($0.baseAddress) }
        try #require(code == 0)
        return (ends[0], ends[1])
    }

    @Test("A readable descriptor calls its watch, and a disabled or cancelled one does not")
    func watches() throws {
        let loop = try EventLoop()
        let ends = try pipe()
        let writer = Descriptor(owning: ends.writer)
        let reader = Descriptor(owning: ends.reader)
        var calls = 0
        let watch = try loop.watch(reader.number, for: .readable) { readiness in
            #expect(readiness.contains(.readable))
            calls += 1
        }
        #expect(try writer.write([1]) == 1)
        try turn(loop) { calls == 1 }
        watch.disable()
        #expect(try !loop.runOnce(timeout: 0))
        watch.enable()
        try turn(loop) { calls == 2 }
        watch.cancel()
        #expect(try !loop.runOnce(timeout: 0))
        #expect(calls == 2)
    }

    @Test(
        "A socket watched for changes of its room calls when the other end has read, and not for as long as there is room"
    )
    func edges() throws {
        let loop = try EventLoop()
        var ends: [Int32] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let near = Descriptor(owning: ends[0])
        let far = Descriptor(owning: ends[1])
        var calls = 0
        let watch = try loop.watch(near.number, for: [.writable, .edge]) { _ in calls += 1 }
        try turn(loop) { calls == 1 }
        #expect(try near.write([1]) == 1)
        #expect(try !loop.runOnce(timeout: 0))
        var byte: UInt8 = 0
        #expect(unsafe Glibc.read(far.number, &byte, 1) == 1)
        try turn(loop) { calls == 2 }
        #expect(try !loop.runOnce(timeout: 0))
        watch.cancel()
    }

    @Test("The end of a pipe is a hangup")
    func hangup() throws {
        let loop = try EventLoop()
        let ends = try pipe()
        let reader = Descriptor(owning: ends.reader)
        var seen = Readiness()
        let watch = try loop.watch(reader.number, for: .readable) { seen.formUnion($0) }
        close(ends.writer)
        try turn(loop) { seen.contains(.hangup) }
        watch.cancel()
    }

    @Test("A timer goes off once, never early, and can be armed again", arguments: [Timer.Clock.boot, .monotonic])
    func timers(clock: Timer.Clock) throws {
        func now() -> Int64 {
            switch clock {
            case .boot: BootClock.now()
            case .monotonic: MonotonicClock.now()
            }
        }
        let loop = try EventLoop()
        var fired: [Int64] = []
        let timer = try loop.timer(on: clock) { fired.append(now()) }
        let first = now() + 3_000_500
        timer.arm(at: first)
        try turn(loop) { fired.count == 1 }
        #expect(fired[0] >= first)
        #expect(try !loop.runOnce(timeout: 0))
        timer.arm(at: 0)
        try turn(loop) { fired.count == 2 }
        timer.arm(at: now())
        timer.disarm()
        #expect(try !loop.runOnce(timeout: 0))
        #expect(fired.count == 2)
    }

    @Test("A turn ends once, after everything that was ready")
    func turnEnds() throws {
        let loop = try EventLoop()
        var story: [String] = []
        try loop.atTurnEnd { story.append("end") }
        let ends = try pipe()
        let reader = Descriptor(owning: ends.reader)
        let writer = Descriptor(owning: ends.writer)
        let second = try reader.duplicate()
        #expect(try writer.write([1, 2]) == 2)
        var buffer: [UInt8] = [0]
        let one = try loop.watch(reader.number, for: .readable) { _ in
            _ = try? reader.read(into: &buffer)
            story.append("one")
        }
        let two = try loop.watch(second.number, for: .readable, priority: .late) { _ in story.append("two") }
        two.disable()
        try turn(loop) { story.contains("end") }
        #expect(story == ["one", "one", "end"])
        #expect(try !loop.runOnce(timeout: 0))
        one.cancel()
        two.cancel()
    }

    @Test("A turn ends even while there is always more to do")
    func longTurn() throws {
        let loop = try EventLoop()
        var calls = 0
        var atEnd: Int?
        try loop.atTurnEnd { if atEnd == nil { atEnd = calls } }
        let ends = try pipe()
        let reader = Descriptor(owning: ends.reader)
        let writer = Descriptor(owning: ends.writer)
        #expect(try writer.write([1]) == 1)
        let watch = try loop.watch(reader.number, for: .readable) { _ in calls += 1 }
        try turn(loop) { atEnd != nil }
        #expect(atEnd == EventLoop.longestTurn)
        watch.cancel()
    }

    @Test("The most urgent of the ready sources goes first")
    func priorities() throws {
        let loop = try EventLoop()
        var story: [EventLoop.Priority] = []
        let timers = try [EventLoop.Priority.late, .normal, .urgent].map { priority in
            try loop.timer(priority: priority) { story.append(priority) }
        }
        for timer in timers { timer.arm(at: 0) }
        try turn(loop) { story.count == 3 }
        #expect(story == [.urgent, .normal, .late])
    }

    @Test("run() returns the code given to exit")
    func exits() throws {
        let loop = try EventLoop()
        let timer = try loop.timer { loop.exit(7) }
        timer.arm(at: 0)
        #expect(try loop.run() == 7)
    }

    @Test("A handler may release its own watch")
    func releasedInside() throws {
        let loop = try EventLoop()
        var timer: WakeSystem.Timer?
        var calls = 0
        timer = try loop.timer {
            calls += 1
            timer = nil
        }
        timer?.arm(at: 0)
        try turn(loop) { calls == 1 }
        #expect(timer == nil)
    }

    @Test("A descriptor that cannot be watched is named in the error")
    func badDescriptor() throws {
        let loop = try EventLoop()
        #expect(throws: SystemError("sd_event_add_io", code: EBADF, subject: "descriptor 900")) {
            _ = try loop.watch(900, for: .readable) { _ in }
        }
    }

    @Test("A signal calls its handler instead of killing")
    func signals() async throws {
        reapAdopted()
        await #expect(processExitsWith: .exitCode(3)) {
            let loop = try EventLoop()
            let watch = try loop.signal(SIGTERM) { loop.exit(3) }
            pthread_kill(pthread_self(), SIGTERM)
            let code = try loop.run()
            watch.cancel()
            exit(code)
        }
    }
}

@Suite("Descriptors and errors")
struct DescriptorTests {
    @Test("An error is one line with the subject, the call and the reason")
    func errorText() {
        let error = SystemError("open", code: ENOENT, subject: "/nowhere")
        #expect(error.description == "/nowhere: open: No such file or directory")
        #expect(SystemError("x", code: 9_999).description == "x: error 9999")
    }

    @Test("A missing file says so")
    func missing() {
        #expect(throws: SystemError("open", code: ENOENT, subject: "/nowhere/at/all")) {
            _ = try Descriptor.open("/nowhere/at/all", O_RDONLY).release()
        }
    }

    @Test("A descriptor is closed exactly once, when its owner goes")
    func closes() throws {
        let number: Int32
        do {
            let descriptor = try Descriptor.open("/dev/null", O_RDONLY)
            // Out of the way of numbers that other tests open and close.
            number = dup2(descriptor.number, 500)
            _ = Descriptor(owning: number)
        }
        #expect(lseek(number, 0, SEEK_CUR) == -1 && errno == EBADF)
    }

    @Test("An empty non-blocking pipe reads nil, a closed one 0")
    func nonBlocking() throws {
        var ends: [Int32] = [-1, -1]
        let code = unsafe ends.withUnsafeMutableBufferPointer { unsafe Glibc.pipe($0.baseAddress) }
        try #require(code == 0)
        let reader = Descriptor(owning: ends[0])
        try reader.makeNonBlocking()
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(try reader.read(into: &buffer) == nil)
        close(ends[1])
        #expect(try reader.read(into: &buffer) == 0)
    }
}
