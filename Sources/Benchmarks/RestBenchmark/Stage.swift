import Glibc
import WakeProcesses
import WakeSystem
import WakeVirtualTime

/// Where programs run as apps do, under one of the freezers: it decides how an app's threads are listed.
final class Stage {
    let name: String
    let host: ProcessHost
    let loop: EventLoop
    /// What the programs and the library lie beside.
    let program: String
    let library: String
    private var lastNumber: UInt32 = 0

    init(_ choice: FreezerChoice) throws {
        guard let folder = TimeLibrary.ownFolder, let library = TimeLibrary.path() else {
            throw Failure("\(TimeLibrary.name) is not beside the program")
        }
        self.library = library
        program = "\(folder)/RestBenchmarkProgram"
        loop = try EventLoop()
        host = try ProcessHost(loop: loop, freezer: choice, runName: "rest-\(getpid())")
        name = host.freezer.rawValue
    }

    deinit { host.close() }

    /// Nil where this machine does not offer the freezer.
    static func usable(_ choice: FreezerChoice) throws -> Stage? {
        do {
            return try Stage(choice)
        } catch let error as ProcessError where error.kind == .freezerUnavailable {
            return nil
        }
    }

    /// Starts a program, and waits until it has come so far as it says.
    func start(_ words: [String]) throws -> Subject {
        lastNumber += 1
        return try Subject(words, number: lastNumber, on: self)
    }

    /// Waits until a program is gone.
    func end(_ number: UInt32) {
        host.kill(number)
        while host.process(of: number) != nil { _ = try? loop.runOnce() }
    }
}

/// A program that runs as an app does.
@safe final class Subject {
    let clock: AppClock
    private let stage: Stage
    private let number: UInt32

    /// Its process; nil when it is gone.
    var process: Int32? { stage.host.process(of: number) }

    fileprivate init(_ words: [String], number: UInt32, on stage: Stage) throws {
        self.stage = stage
        self.number = number
        clock = try AppClock(monotonicBase: 1_000_000_000_000, realBase: 1_800_000_000_000_000_000, now: 0)
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError(last: "pipe") }
        let output = Descriptor(owning: ends[0])
        let theirs = Descriptor(owning: ends[1])
        let program = AppProgram(
            path: stage.program,
            arguments: [stage.program] + words,
            environment: ["PATH=/usr/bin:/bin"] + clock.environment(library: stage.library)
        )
        let pid = try stage.host.spawn(number, program, output: theirs.number, error: 2)
        switch stage.host.threads(of: number) {
        case .list(let descriptor): clock.watch(list: descriptor, process: pid, output: theirs.number)
        case .below(let root): clock.watch(list: nil, process: root, output: theirs.number)
        case nil: break
        }
        var ready = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        let seconds: Int32 = 20
        guard unsafe poll(&ready, 1, seconds * 1_000) == 1, unsafe read(output.number, &byte, 1) == 1 else {
            throw Failure("\(words.joined(separator: " ")) does not come up")
        }
    }

    deinit { stage.end(number) }
}

/// What a check of several programs has brought, in the order of the bench.
enum Verdict {
    /// The first half found one that does not rest.
    case restless
    /// The second half did.
    case restlessAtLast
    case rest

    init(of clocks: [AppClock]) {
        for clock in clocks where clock.firstLook() != nil {
            self = .restless
            return
        }
        for clock in clocks where clock.secondLook() != nil {
            self = .restlessAtLast
            return
        }
        self = .rest
    }
}
