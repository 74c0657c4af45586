import CWakeShims
import Glibc
import WakeSystem

/// A TCP port of this machine that only this machine reaches: 127.0.0.1, and ::1 where there is one.
final class LoopbackListener {
    /// The port that the kernel chose, or was told.
    private(set) var port: UInt16 = 0
    private var sockets: [Int32] = []
    private var watches: [Watch] = []
    /// Looks again for clients that wait, when this process had no descriptor for them.
    private var again: Timer?
    private let accepted: (consuming Descriptor) -> Void
    /// The most connections that are taken in a row.
    private static let mostInTurn = 16
    /// How many ports of the kernel's choice are tried for one that is free at both addresses.
    private static let attempts = 16

    /// - Parameters:
    ///   - port: 0 for one of the kernel's choice.
    ///   - accepted: takes over the descriptor of a connection, which does not wait.
    /// - Throws: ``SystemError`` when the port is taken.
    init(port: UInt16, on loop: EventLoop, accepted: @escaping (consuming Descriptor) -> Void) throws(SystemError) {
        self.accepted = accepted
        again = try loop.timer(on: .monotonic) { [unowned self] in watches.forEach { $0.enable() } }
        for attempt in 1...Self.attempts {
            do throws(SystemError) {
                try open(port)
                break
            } catch {
                close()
                guard port == 0, error.code == EADDRINUSE, attempt < Self.attempts else { throw error }
            }
        }
        for number in sockets {
            watches.append(try loop.watch(number, for: .readable) { [unowned self] _ in accept(from: number) })
        }
    }

    deinit {
        close()
    }

    /// Listens no more.
    func close() {
        watches = []
        for number in sockets { _ = Glibc.close(number) }
        sockets = []
    }

    private func open(_ wanted: UInt16) throws(SystemError) {
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = wanted.bigEndian
        four.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        try listen(AF_INET, four, "127.0.0.1:\(wanted)")
        port = ownPort(sockets[0])
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        six.sin6_addr = in6addr_loopback
        do throws(SystemError) { try listen(AF_INET6, six, "[::1]:\(port)") } catch {
            // A machine without it.
            guard error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
        }
    }

    private func listen<Address>(_ family: Int32, _ address: Address, _ name: String) throws(SystemError) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(family, kind, 0)
        guard number >= 0 else { throw SystemError(last: "socket", subject: name) }
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, size)
        if family == AF_INET6 { _ = unsafe setsockopt(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
        let bound = unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(number, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard bound == 0, Glibc.listen(number, 128) == 0 else {
            let error = SystemError(last: "bind", subject: name)
            _ = Glibc.close(number)
            throw error
        }
        sockets.append(number)
    }

    private func ownPort(_ number: Int32) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(number, $0, &size) }
        }
        precondition(code == 0, "getsockname failed with \(errno)")
        return UInt16(bigEndian: address.sin_port)
    }

    private func accept(from listener: Int32) {
        for _ in 0..<Self.mostInTurn {
            // The handler of the last connection may have closed it.
            guard sockets.contains(listener) else { return }
            let number = repeatingInterrupted { wake_accept(listener) }
            guard number >= 0 else {
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                    watches.forEach { $0.disable() }
                    again?.arm(after: 1_000)
                }
                return
            }
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            _ = unsafe setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
            accepted(Descriptor(owning: number))
        }
    }
}
