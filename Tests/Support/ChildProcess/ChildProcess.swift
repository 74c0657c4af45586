import Foundation
import Glibc

/// A program that a test runs. It is spawned and awaited without a run loop and without threads of its own, with no signal
/// blocked, whatever the test's thread blocks.
package final class ChildProcess {
    /// Where an output goes, or an input comes from.
    package enum Stream {
        case inherited
        case null
        case handle(FileHandle)
        case pipe(Pipe)
    }

    /// Why a program could not be started.
    package struct SpawnError: Error, CustomStringConvertible {
        package let program: String
        package let code: Int32
        package var description: String { unsafe "\(program): \(String(cString: strerror(code)))" }
    }

    package let program: String
    package var arguments: [String]
    /// The test's own when left alone.
    package var environment = ProcessInfo.processInfo.environment
    /// The test's own when nil.
    package var folder: URL?
    package var standardInput = Stream.null
    package var standardOutput = Stream.inherited
    package var standardError = Stream.inherited
    /// 0 before the start.
    package private(set) var processIdentifier: pid_t = 0
    private var status: Int32?

    /// - Parameter program: a path.
    package init(_ program: String, _ arguments: [String] = []) {
        self.program = program
        self.arguments = arguments
    }

    /// Starts the program.
    /// - Throws: ``SpawnError``.
    package func run() throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        var given: [FileHandle] = []
        let streams = [(0, standardInput, O_RDONLY), (1, standardOutput, O_WRONLY), (2, standardError, O_WRONLY)]
        for (number, stream, way) in streams {
            switch stream {
            case .inherited: break
            case .null: unsafe posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", way, 0)
            case .handle(let handle):
                unsafe posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, Int32(number))
            case .pipe(let pipe):
                let (own, theirs) =
                    number == 0
                    ? (pipe.fileHandleForWriting, pipe.fileHandleForReading)
                    : (pipe.fileHandleForReading, pipe.fileHandleForWriting)
                for handle in [own, theirs] { _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC) }
                unsafe posix_spawn_file_actions_adddup2(&actions, theirs.fileDescriptor, Int32(number))
                given.append(theirs)
            }
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        // The environment's program changes to the folder, then becomes the program itself.
        let call = folder.map { ["/usr/bin/env", "-C", $0.path, program] } ?? [program]
        let words = unsafe CStrings(call + arguments)
        let variables = unsafe CStrings(environment.map { "\($0)=\($1)" })
        var child: pid_t = 0
        let code = unsafe posix_spawn(&child, call[0], &actions, &attributes, words.pointers, variables.pointers)
        guard code == 0 else { throw SpawnError(program: program, code: code) }
        processIdentifier = child
        for handle in given { try? handle.close() }
    }

    /// Whether it was started and has not ended.
    package var isRunning: Bool {
        if processIdentifier != 0, status == nil { collect(WNOHANG) }
        return processIdentifier != 0 && status == nil
    }

    /// Waits for the end of the program.
    package func waitUntilExit() {
        if processIdentifier != 0, status == nil { collect(0) }
    }

    /// The exit code of a program that ended by itself, otherwise the number of the signal that ended it.
    package var terminationStatus: Int32 {
        guard let status else { return -1 }
        return status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f
    }

    /// Whether a signal ended it.
    package var endedBySignal: Bool { status.map { $0 & 0x7f != 0 } ?? false }

    /// Asks it to end, with SIGTERM.
    package func terminate() { send(SIGTERM) }

    /// Sends a signal while it runs.
    package func send(_ signal: Int32) {
        if isRunning { kill(processIdentifier, signal) }
    }

    /// Nothing of it is left: a dead child that nobody asks for would keep Swift Testing's exit tests waiting for theirs.
    deinit {
        send(SIGKILL)
        waitUntilExit()
    }

    private func collect(_ options: Int32) {
        var found: Int32 = 0
        var answer: pid_t
        repeat {
            answer = unsafe waitpid(processIdentifier, &found, options)
        } while answer < 0 && errno == EINTR
        if answer == processIdentifier { status = found }
    }
}

/// Strings as a C function takes them.
@unsafe private final class CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) {
        unsafe pointers = strings.map { unsafe strdup($0) } + [nil]
    }

    deinit {
        unsafe pointers.forEach { unsafe free($0) }
    }
}
