import CWakeShims
import Glibc
import WakeSystem

/// A program that is no app: it reads nothing, writes to one descriptor, and is in a process group of its own, so that a signal
/// from the terminal comes to whoever started it alone.
@safe package final class ChildProgram {
    /// How it ended.
    package enum End: Hashable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    package let pid: Int32
    private let descriptor: Descriptor
    private var watch: Watch?

    /// Starts the program with this process's environment and folder, and no signal blocked or ignored.
    ///
    /// - Parameters:
    ///   - output: where it writes, both what it says and what it complains of; stays the caller's.
    ///   - descriptors: what it finds as 3, 4 and so on; they stay the caller's.
    ///   - ended: hears how it ended, once, on the loop's thread.
    /// - Throws: ``SystemError`` when it cannot be started.
    package init(
        _ program: String,
        _ arguments: [String],
        output: Int32,
        descriptors: [Int32] = [],
        on loop: EventLoop,
        ended: @escaping (End) -> Void
    ) throws(SystemError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
        // Copies above all that they become, so that none takes the place of the next.
        let copies = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, Int32(3 + descriptors.count)) }
        defer { for copy in copies where copy >= 0 { close(copy) } }
        guard copies.allSatisfy({ $0 >= 0 }) else { throw SystemError(last: "fcntl(F_DUPFD_CLOEXEC)") }
        for (place, copy) in copies.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, copy, Int32(3 + place))
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let code = unsafe posix_spawn(&pid, program, &actions, &attributes, words, environ)
        guard code == 0 else { throw SystemError("posix_spawn", code: code, subject: program) }
        self.pid = pid
        let number = wake_pidfd_open(pid)
        guard number >= 0 else {
            let error = SystemError(last: "pidfd_open")
            kill(pid, SIGKILL)
            throw error
        }
        descriptor = Descriptor(owning: number)
        watch = try loop.watch(number, for: .readable) { [weak self] _ in
            var exit = wake_exit()
            guard let self, watch != nil, unsafe wake_wait(number, &exit) != 0 else { return }
            watch?.cancel()
            watch = nil
            ended(exit.signalled == 1 ? .killed(signal: exit.status) : .exited(exit.status))
        }
    }

    /// Asks the program to end and waits for that; what takes longer is killed, with what it has in its group. Nothing is told
    /// of how it ended.
    package func end(within milliseconds: Int32) {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        kill(-pid, SIGTERM)
        var end = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        if repeatingInterrupted({ unsafe poll(&end, 1, milliseconds) }) == 0 {
            kill(-pid, SIGKILL)
            _ = repeatingInterrupted { unsafe poll(&end, 1, -1) }
        }
        var exit = wake_exit()
        _ = unsafe wake_wait(descriptor.number, &exit)
    }

    /// Sends a signal to the program and to what it has in its group; nothing when it has ended.
    package func signal(_ number: Int32) {
        if watch != nil { kill(-pid, number) }
    }
}
