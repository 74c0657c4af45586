import Glibc
import WakeJSON
import WakeSystem

/// The other end of a daemon's control socket: asks, and waits for what is answered.
///
/// An answer that is due may take as long as what was asked for, such as a night of virtual time, and is waited for as long as
/// the daemon shows that it lives: one that has been silent for a while is asked for a sign of life beside.
package final class ControlClient {
    private let socket: String
    private let descriptor: Int32
    /// The daemon's process; 0 while it is not known.
    private var process: Int32
    private let patience: Patience
    private var isGreeted = false
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// How long a daemon may say nothing while something is due, in milliseconds.
    struct Patience {
        /// Before it has said hello.
        var hello: Int64 = 30_000
        /// Later: it answers nobody while it copies a phone.
        var work: Int64 = 300_000
        /// Before a sign of life is asked for.
        var quiet: Int64 = 10_000
        /// Before it is looked, again and again, whether it is stopped: one that is so twice is not waited for.
        var look: Int32 = 2_000
    }

    private static let question = Array("{\"op\":\"hello\",\"request\":-1}\n".utf8)
    /// How the answer to it begins.
    private static let signOfLife = Array("{\"request\":-1,".utf8)

    /// - Throws: ``CommandFailure`` with exit code 9 when no daemon of this version answers there, and with 12 when the process that
    ///   listens there is of a user who is neither this one nor root.
    package convenience init(socket: String) throws(CommandFailure) { try self.init(socket: socket, Patience()) }

    init(socket: String, _ patience: Patience) throws(CommandFailure) {
        (self.socket, self.patience) = (socket, patience)
        do throws(SystemError) {
            descriptor = try UnixSocket.connect(to: socket).release()
        } catch {
            throw CommandFailure(noDaemonAt: socket, error)
        }
        // In a folder like /tmp any user may make a socket: another user's process would get the commands, and answer them.
        if let user = UnixSocket.user(of: descriptor), user != geteuid(), user != 0 {
            throw CommandFailure(
                .environment,
                in: socket,
                "a process of user \(user) serves there, and not of user \(geteuid())",
                hint: "give another with --socket"
            )
        }
        process = UnixSocket.process(of: descriptor) ?? 0
        let hello = try ask([.init(key: "op", value: .string("hello"))])
        if let failure = CommandFailure(stranger: hello, at: socket) { throw failure }
        process = Int32(truncatingIfNeeded: hello["pid"]?.integer ?? 0)
        isGreeted = true
    }

    deinit { close(descriptor) }

    /// Asks for something.
    ///
    /// - Returns: the whole answer.
    /// - Throws: what the daemon answers instead, or ``CommandFailure`` with exit code 9 when it is gone or is silent.
    package func ask(_ members: [JSONValue.Member]) throws(CommandFailure) -> JSONValue {
        try send(.object(members))
        guard let line = try nextLine(isDue: true), let answer = JSONValue(parsing: line) else { throw gone }
        guard answer["ok"]?.bool == true else { throw CommandFailure(answer["error"]) }
        return answer
    }

    /// The next line of a stream; nil when the daemon ends it.
    ///
    /// - Parameter isDue: whether the daemon is to say something or to end. News come when they come.
    package func nextLine(isDue: Bool = false) throws(CommandFailure) -> [UInt8]? {
        var searched = 0
        while true {
            if let end = received[searched...].firstIndex(of: 0x0a) {
                let line = Array(received[..<end])
                received.removeFirst(end + 1)
                searched = 0
                if !line.starts(with: Self.signOfLife) { return line }
                continue
            }
            searched = received.count
            guard try receive(isDue: isDue) else { return nil }
        }
    }

    private func receive(isDue: Bool) throws(CommandFailure) -> Bool {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                repeatingInterrupted { unsafe read(descriptor, bytes.baseAddress, bytes.count) }
            }
            if count > 0 {
                received += buffer[..<count]
                return true
            }
            if count == 0 { return false }
            guard errno == EAGAIN else { throw gone }
            try waitFor(Int16(POLLIN), isDue: isDue)
        }
    }

    private func send(_ request: JSONValue) throws(CommandFailure) {
        let line = request.encoded + [0x0a]
        var sent = 0
        while sent < line.count {
            let count = push(line[sent...])
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                try waitFor(Int16(POLLOUT), isDue: true)
            } else if errno == EPIPE || errno == ECONNRESET {
                // Whoever says no before it has heard all has said why.
                return
            } else {
                throw gone
            }
        }
    }

    private func push(_ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            repeatingInterrupted {
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    private func waitFor(_ events: Int16, isDue: Bool) throws(CommandFailure) {
        let began = MonotonicClock.now()
        let longest = isGreeted ? patience.work : patience.hello
        var (wasStopped, hasAsked) = (false, false)
        while true {
            var waiting = pollfd(fd: descriptor, events: events, revents: 0)
            let code = unsafe poll(&waiting, 1, isDue ? patience.look : -1)
            if code > 0 { return }
            guard code == 0 || errno == EINTR else { throw gone }
            if code < 0 { continue }
            let (silence, isStopped) = ((MonotonicClock.now() - began) / 1_000_000, self.isStopped)
            if isStopped, wasStopped { throw stopped }
            if silence >= longest { throw silent(for: silence) }
            // A request that is only half sent is not broken up.
            if silence >= patience.quiet, !hasAsked, events == Int16(POLLIN) {
                hasAsked = true
                _ = push(Self.question[...])
            }
            wasStopped = isStopped
        }
    }

    // MARK: What is wrong with the daemon

    /// Whether a signal has stopped the daemon, as far as the kernel says so of a process of its name.
    private var isStopped: Bool { afterName?.hasPrefix(" T") == true }

    /// What /proc says of the daemon's process after its name; nil where there is no such process.
    private var afterName: Substring? {
        guard process > 0, let text = try? readSmallFile("/proc/\(process)/stat", limit: 1_024) else { return nil }
        let name = "(wakebench)"
        guard let place = text.firstRange(of: name) else { return nil }
        return text[place.upperBound...]
    }

    private var gone: CommandFailure {
        CommandFailure(.daemonUnreachable, "the daemon at \(socket) is gone", hint: "see its log, and start it again")
    }

    private var stopped: CommandFailure {
        CommandFailure(
            .daemonUnreachable,
            "the daemon at \(socket) is stopped: process \(process)",
            hint: "let it go on with 'kill -CONT \(process)'"
        )
    }

    private func silent(for milliseconds: Int64) -> CommandFailure {
        let which = afterName == nil ? "" : ", process \(process),"
        return CommandFailure(
            .daemonUnreachable,
            "the daemon at \(socket)\(which) has said nothing for \(milliseconds / 1_000) s",
            hint: "see its log; where it hangs, end its process and start it again"
        )
    }
}

extension CommandFailure {
    init(noDaemonAt socket: String, _ error: SystemError) {
        if error.code == EAGAIN {
            self.init(
                .daemonUnreachable,
                "the daemon at \(socket) lets nobody in: too many clients wait for that",
                hint: "try again later; one that is stopped goes on with 'kill -CONT' and its process"
            )
            return
        }
        self.init(
            .daemonUnreachable,
            "no daemon at \(socket): \(error.reason)",
            hint: "start one with 'wakebench serve', or name its socket with --socket or WAKEBENCH_SOCKET"
        )
    }

    /// Nil where the daemon that says hello is of this version.
    package init?(stranger hello: JSONValue, at socket: String) {
        guard hello["version"]?.string != wakebenchVersion else { return nil }
        self.init(
            .daemonUnreachable,
            "the daemon at \(socket) is wakebench \(hello["version"]?.string ?? "of no version"), and this \(wakebenchVersion)",
            hint: "start it again with this version"
        )
    }

    /// What a daemon answered in place of what was asked for.
    package init(_ error: JSONValue?) {
        self.init(
            error?["code"]?.integer.flatMap { ExitCode(rawValue: Int32(truncatingIfNeeded: $0)) } ?? .internal,
            error?["message"]?.string ?? "the daemon's answer is none",
            hint: error?["hint"]?.string,
            place: error?["file"]?.string.map { (file) -> Place in
                func number(_ key: String) -> Int { error?[key]?.integer.map { Int($0) } ?? 0 }
                return Place(file: file, line: number("line"), column: number("column"))
            }
        )
    }
}
