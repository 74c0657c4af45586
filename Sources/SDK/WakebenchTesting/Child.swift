import Foundation
import Glibc
import Synchronization

/// The processes that a run needs, one after the other: each is awaited by the thread that starts it.
final class Child: Sendable {
    private struct State {
        /// 0 when none runs.
        var running: pid_t = 0
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Whether ``cancel()`` was called.
    var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Asks the process that runs to end, and lets no other start.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if state.running != 0 { kill(state.running, SIGTERM) }
        }
    }

    /// Runs a program to its end, its stdout and stderr into files.
    ///
    /// - Returns: its exit code; 128 and the signal's number when a signal ended it.
    func run(
        _ program: String,
        _ arguments: [String],
        output: String,
        errors: String
    ) throws(Wakebench.Failure) -> Int32 {
        let started = state.withLock { state -> Result<pid_t, Wakebench.Failure> in
            guard !state.isCancelled else { return .failure(.unusable("\(program): the task was cancelled")) }
            let started = Self.start(program, arguments, output: output, errors: errors)
            if case .success(let child) = started { state.running = child }
            return started
        }
        let child = try started.get()
        // Its number stays its own until it is asked for, so that no signal goes astray.
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        state.withLock { $0.running = 0 }
        var status: Int32 = 0
        var answer: pid_t
        repeat { answer = unsafe waitpid(child, &status, 0) } while answer < 0 && errno == EINTR
        guard answer == child else { throw .unusable("\(program): its end is not known (SIGCHLD is ignored)") }
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
    }

    /// Starts a program with the test's environment and folder, no input, and no signal blocked or ignored.
    private static func start(
        _ program: String,
        _ arguments: [String],
        output: String,
        errors: String
    ) -> Result<pid_t, Wakebench.Failure> {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let new = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, new, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, new, 0o600)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        let variables = unsafe ProcessInfo.processInfo.environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe variables.forEach { unsafe free($0) } }
        var child: pid_t = 0
        let code = unsafe posix_spawn(&child, program, &actions, &attributes, words, variables)
        guard code == 0 else { return .failure(.unusable("\(program): \(unsafe String(cString: strerror(code)))")) }
        return .success(child)
    }
}
