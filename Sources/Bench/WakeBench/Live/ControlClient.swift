import Glibc
import WakeJSON
import WakeSystem

/// The other end of a daemon's control socket: asks, and waits for what is answered.
package final class ControlClient {
    private let socket: String
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// - Throws: ``CommandFailure`` with exit code 9 when no daemon of this version answers there.
    package init(socket: String) throws(CommandFailure) {
        self.socket = socket
        do throws(SystemError) {
            descriptor = try UnixSocket.connect(to: socket).release()
        } catch {
            throw CommandFailure(noDaemonAt: socket, error)
        }
        let hello = try ask([.init(key: "op", value: .string("hello"))])
        if let failure = CommandFailure(stranger: hello, at: socket) { throw failure }
    }

    deinit { close(descriptor) }

    /// Asks for something.
    ///
    /// - Returns: the whole answer.
    /// - Throws: what the daemon answers instead, or ``CommandFailure`` with exit code 9 when it is gone.
    package func ask(_ members: [JSONValue.Member]) throws(CommandFailure) -> JSONValue {
        try send(.object(members))
        guard let line = try nextLine(), let answer = JSONValue(parsing: line) else { throw gone }
        guard answer["ok"]?.bool == true else { throw CommandFailure(answer["error"]) }
        return answer
    }

    /// The next line of a stream; nil when the daemon ends it.
    package func nextLine() throws(CommandFailure) -> [UInt8]? {
        var searched = 0
        while true {
            if let end = received[searched...].firstIndex(of: 0x0a) {
                let line = Array(received[..<end])
                received.removeFirst(end + 1)
                return line
            }
            searched = received.count
            guard try receive() else { return nil }
        }
    }

    private func receive() throws(CommandFailure) -> Bool {
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
            try waitFor(Int16(POLLIN))
        }
    }

    private func send(_ request: JSONValue) throws(CommandFailure) {
        let line = request.encoded + [0x0a]
        var sent = 0
        while sent < line.count {
            let count = unsafe line.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress! + sent, line.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                try waitFor(Int16(POLLOUT))
            } else if errno == EPIPE || errno == ECONNRESET {
                // Whoever says no before it has heard all has said why.
                return
            } else if errno != EINTR {
                throw gone
            }
        }
    }

    private func waitFor(_ events: Int16) throws(CommandFailure) {
        var waiting = pollfd(fd: descriptor, events: events, revents: 0)
        let code = unsafe poll(&waiting, 1, -1)
        guard code >= 0 || errno == EINTR else { throw gone }
    }

    private var gone: CommandFailure {
        CommandFailure(.daemonUnreachable, "the daemon at \(socket) is gone", hint: "see its log, and start it again")
    }
}

extension CommandFailure {
    init(noDaemonAt socket: String, _ error: SystemError) {
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
    init(_ error: JSONValue?) {
        self.init(
            error?["code"]?.integer.flatMap { ExitCode(rawValue: Int32(truncatingIfNeeded: $0)) } ?? .internal,
            error?["message"]?.string ?? "the daemon's answer is none",
            hint: error?["hint"]?.string
        )
    }
}
