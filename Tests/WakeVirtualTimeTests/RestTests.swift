import ChildProcess
import Foundation
import Testing
import WakeVirtualTime

@Suite("Whether an app rests")
struct RestTests {
    /// A program whose standard input nobody writes to.
    private final class Program {
        let child: ChildProcess
        let clock: AppClock
        private let input = Pipe()

        init(_ words: String...) throws {
            child = ChildProcess(words[0], Array(words.dropFirst()))
            child.standardInput = .pipe(input)
            child.standardOutput = .null
            child.standardError = .null
            try child.run()
            clock = try AppClock(monotonicBase: 0, realBase: 0, now: 0)
            clock.watch(list: nil, process: child.processIdentifier)
        }

        deinit {
            kill(child.processIdentifier, SIGKILL)
            child.waitUntilExit()
        }

        /// Both looks.
        func look() -> Unrest? { clock.firstLook() ?? clock.secondLook() }

        /// Looks until it is as wanted.
        func until(_ wanted: (Unrest?) -> Bool) {
            while !wanted(look()) { sched_yield() }
        }
    }

    @Test("One that waits for its input rests, and has not run between two looks")
    func waiting() throws {
        let program = try Program("/bin/cat")
        program.until { $0 == nil }
        #expect(program.clock.threadCount == 1)
        let changes = program.clock.changes
        #expect(program.look() == nil)
        #expect(program.clock.changes == changes)
    }

    @Test("One that computes never rests, and is told with its thread")
    func computing() throws {
        let program = try Program("/bin/sh", "-c", "while :; do :; done")
        program.until { $0?.kind == .runs }
        let process = program.child.processIdentifier
        for _ in 0..<2_000 {
            let unrest = program.look()
            #expect(unrest?.kind == .runs)
            #expect(unrest?.thread == process)
        }
    }

    @Test("One that waits on wall time is waited for, since no clock of the run ends it")
    func outside() throws {
        let program = try Program("/bin/sleep", "1000")
        program.until { $0?.kind == .waitsOutside }
        #expect(program.look()?.description.contains("waits on wall time in system call") == true)
    }

    @Test("What an app has started is looked at with it")
    func children() throws {
        let program = try Program("/bin/sh", "-c", "sleep 30; :")
        // The shell may be found waiting in its own start, too.
        program.until { $0?.kind == .waitsOutside && $0?.thread != program.child.processIdentifier }
        #expect(program.clock.threadCount == 2)
    }

    @Test("Two processes that hand on a token without end are never found at rest together")
    func token() throws {
        let program = try Program("/usr/bin/python3", "-c", Self.pingPong)
        // Two processes, once it is under way.
        program.until { $0 != nil && program.clock.threadCount == 2 }
        var found = 0
        for _ in 0..<20_000 where program.look() == nil { found += 1 }
        #expect(found == 0)
    }

    @Test("One whose log is not taken as fast as it writes does not rest; who writes elsewhere does")
    func writing() throws {
        for isLog in [true, false] {
            let log = Pipe()
            let child = ChildProcess("/usr/bin/yes")
            let clock = try AppClock(monotonicBase: 0, realBase: 0, now: 0)
            let output = log.fileHandleForWriting.fileDescriptor
            let other = Pipe()
            child.standardOutput = .handle(log.fileHandleForWriting)
            try child.run()
            clock.watch(
                list: nil,
                process: child.processIdentifier,
                output: isLog ? output : other.fileHandleForWriting.fileDescriptor
            )
            func look() -> Unrest? { clock.firstLook() ?? clock.secondLook() }
            while (isLog ? look()?.kind != .writes : look() != nil) { sched_yield() }
        }
    }

    private static let pingPong = """
        import os
        a, b = os.pipe(), os.pipe()
        child = os.fork() == 0
        take, give = (a[0], b[1]) if child else (b[0], a[1])
        if not child: os.write(give, b"x")
        while os.write(give, os.read(take, 1)): pass
        """
}
