import Foundation
import Glibc
import WakeBus
import WakeSystem

/// A dbus-daemon of the test's own, ended with it.
package final class PrivateBus {
    package static let program = "/usr/bin/dbus-daemon"
    package static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    package let address: String
    package let loop: EventLoop
    private let daemon: pid_t
    private let folder: String

    package init() throws {
        loop = try EventLoop()
        folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var ends: [Int32] = [0, 0]
        let made = unsafe pipe(&ends)
        guard made == 0 else { throw GaveUp(waitingFor: "a pipe") }
        let arguments = [
            Self.program, "--session", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1",
            "--address=unix:path=\(folder)/socket",
        ]
        daemon = try Self.spawn(arguments, output: ends[1])
        close(ends[1])
        defer { close(ends[0]) }
        // The daemon prints its address once it listens.
        var said = [UInt8](repeating: 0, count: 512)
        let count = unsafe read(ends[0], &said, said.count)
        address = String(decoding: said.prefix(max(0, count)), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard address.hasPrefix("unix:") else { throw GaveUp(waitingFor: "dbus-daemon") }
    }

    private static func spawn(_ arguments: [String], output: Int32) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        // It complains of the descriptor limits of an ordinary user.
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var child: pid_t = 0
        let code = unsafe posix_spawn(&child, program, &actions, nil, &words, environ)
        guard code == 0 else { throw GaveUp(waitingFor: program) }
        return child
    }

    package func connect() throws -> Bus {
        try Bus(.address(address), on: loop)
    }

    /// Turns the loop until the condition holds. The deadline only limits how long a failure takes.
    package func wait(for what: String, seconds: Int64 = 20, until condition: () -> Bool) throws {
        let deadline = MonotonicClock.now() + seconds * 1_000_000_000
        while !condition() {
            let left = deadline - MonotonicClock.now()
            guard left > 0 else { throw GaveUp(waitingFor: what) }
            try loop.runOnce(timeout: left)
        }
    }

    /// Turns the loop until nothing more comes from a pipe: the program at its other end has ended.
    package func wait(forEndOf pipe: Int32) throws {
        var hasEnded = false
        let watch = try loop.watch(pipe, for: .readable) { _ in
            var byte: UInt8 = 0
            hasEnded = unsafe read(pipe, &byte, 1) <= 0
        }
        defer { watch.cancel() }
        try wait(for: "the end of a program", seconds: 60) { hasEnded }
    }

    deinit {
        kill(daemon, SIGKILL)
        waitpid(daemon, nil, 0)
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// Something that a test waited for did not happen.
package struct GaveUp: Error, CustomStringConvertible {
    package var waitingFor: String

    package init(waitingFor: String) { self.waitingFor = waitingFor }

    package var description: String { "gave up waiting for \(waitingFor)" }
}
