import Foundation

/// A connection in the making that two streams share: both open, or fail, when it is decided.
package final class StreamConnection: @unchecked Sendable {
    private let lock = NSLock()
    /// The errno of the connection, 0 for one that is there; nil while it is not decided.
    private var outcome: Int32?
    private var waiting: [(Int32) -> Void] = []
    private var source: (any DispatchSourceProtocol)?

    /// Begins to connect to a host, by name or number.
    ///
    /// - Returns: the descriptor beside it; -1 when there is none.
    static func begin(host: String, port: Int) -> (connection: StreamConnection, descriptor: Int32) {
        let connection = StreamConnection()
        guard (1...65_535).contains(port) else {
            connection.decide(EINVAL)
            return (connection, -1)
        }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0, let first = unsafe list else {
            connection.decide(EHOSTUNREACH)
            return (connection, -1)
        }
        defer { unsafe freeaddrinfo(list) }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = unsafe socket(first.pointee.ai_family, kind, 0)
        guard descriptor >= 0 else {
            connection.decide(errno)
            return (connection, -1)
        }
        let code = unsafe connect(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen)
        if code == 0 {
            connection.decide(0)
        } else if errno == EINPROGRESS {
            connection.wait(on: descriptor)
        } else {
            connection.decide(errno)
        }
        return (connection, descriptor)
    }

    /// Calls the handler with the errno once it is known, at once when it is.
    func whenDecided(_ handler: @escaping (Int32) -> Void) {
        let known = lock.withLock { () -> Int32? in
            if outcome == nil {
                waiting.append(handler)
            }
            return outcome
        }
        if let known {
            handler(known)
        }
    }

    private func wait(on descriptor: Int32) {
        // On this machine a connection is there before the call returns.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if unsafe poll(&entry, 1, 0) > 0 {
            return decide(Self.failure(of: descriptor))
        }
        let watched = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard watched >= 0 else {
            return decide(errno)
        }
        let source = DispatchSource.makeWriteSource(fileDescriptor: watched, queue: .global())
        source.setEventHandler { [self] in
            source.cancel()
            decide(Self.failure(of: watched))
        }
        source.setCancelHandler {
            _ = Glibc.close(watched)
        }
        lock.withLock { self.source = source }
        source.resume()
    }

    private static func failure(of descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
    }

    private func decide(_ code: Int32) {
        let handlers = lock.withLock {
            outcome = code
            source = nil
            return exchange(&waiting, with: [])
        }
        for handler in handlers {
            handler(code)
        }
    }
}
