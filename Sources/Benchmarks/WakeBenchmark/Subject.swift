import Glibc

/// A process that is measured: it takes a packet, and answers when it read it and when its app was reached.
final class Subject {
    let name: String
    private let socket: Int32
    private let process: pid_t
    /// The latencies so far, in nanoseconds.
    private(set) var samples: [Int64] = []

    /// Starts the program with its socket as descriptor 3.
    init(_ name: String, _ arguments: [String], environment: [String] = []) throws {
        self.name = name
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Failure(call: "socketpair")
        }
        socket = ends[0]
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 3)
        var pid: pid_t = 0
        let code = unsafe Self.withStrings(arguments) { arguments in
            unsafe Self.withStrings(Self.environment() + environment) { environment in
                unsafe posix_spawn(&pid, arguments[0]!, &actions, nil, arguments, environment)
            }
        }
        unsafe posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        process = pid
        guard code == 0 else { throw unsafe Failure("\(arguments[0]): \(String(cString: strerror(code)))") }
    }

    /// Waits until the app is ready for the first sample.
    func waitUntilReady() throws { _ = try answer() }

    /// Takes one sample, and keeps it unless it is for warming up.
    func sample(_ value: [UInt8], keep: Bool) throws {
        guard unsafe send(socket, value, value.count, Int32(MSG_NOSIGNAL)) == value.count else {
            throw Failure(call: "\(name): send")
        }
        let (read, reached) = try answer()
        guard reached > read else { throw Failure("\(name): the app was not reached") }
        if keep { samples.append(reached - read) }
    }

    private func answer() throws -> (Int64, Int64) {
        var times: [Int64] = [0, 0]
        switch unsafe recv(socket, &times, 16, 0) {
        case 16: break
        case 0...: throw Failure("\(name): ended before the measurement did")
        default: throw Failure(call: "\(name): no answer within 30 s")
        }
        return (times[0], times[1])
    }

    /// Lets the process end, and waits for it.
    func end() {
        close(socket)
        waitpid(process, nil, 0)
    }

    /// The sample below which this part of all lies, in nanoseconds.
    func percentile(_ part: Double) -> Int64 {
        let sorted = samples.sorted()
        return sorted.isEmpty ? 0 : sorted[min(Int(Double(sorted.count) * part), sorted.count - 1)]
    }

    private static func environment() -> [String] {
        var variables: [String] = []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            unsafe variables.append(String(cString: text))
            unsafe entry += 1
        }
        return variables
    }

    private static func withStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe body(copies)
    }
}
