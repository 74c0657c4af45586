import CWakeShims
import Glibc

/// A TCP connection that never waits.
package final class StreamSocket {
    /// Where something listens.
    package struct Address: Hashable, Sendable {
        fileprivate var family: Int32
        /// The bytes of the `sockaddr`.
        fileprivate var bytes: [UInt8]
    }

    private let descriptor: Descriptor

    package var number: Int32 { descriptor.number }

    /// The addresses of a host, in the order in which they are to be tried; this asks the resolver and waits for it.
    ///
    /// - Throws: ``SystemError`` naming the host.
    package static func resolve(host: String, port: UInt16) throws(SystemError) -> [Address] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = wake_tcp_type()
        unsafe hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &list)
        // The resolver has error numbers of its own.
        guard code == 0 else {
            throw SystemError("getaddrinfo", code: code == EAI_SYSTEM ? errno : ENOENT, subject: host)
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [Address] = []
        var entry = unsafe list
        while let current = unsafe entry?.pointee {
            if let address = unsafe current.ai_addr {
                let bytes = unsafe UnsafeRawBufferPointer(start: address, count: Int(current.ai_addrlen))
                addresses.append(Address(family: unsafe current.ai_family, bytes: unsafe Array(bytes)))
            }
            unsafe entry = current.ai_next
        }
        return addresses
    }

    /// Begins to connect.
    ///
    /// - Throws: ``SystemError`` when it is refused at once.
    package init(connectingTo address: Address) throws(SystemError) {
        let number = wake_tcp_socket(address.family)
        guard number >= 0 else { throw SystemError(last: "socket") }
        descriptor = Descriptor(owning: number)
        var on: Int32 = 1
        // Without an answer for so long the other machine is gone, though nobody said so.
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &on, socklen_t(MemoryLayout<Int32>.size))
        let code = unsafe address.bytes.withUnsafeBytes { bytes in
            unsafe bytes.withMemoryRebound(to: sockaddr.self) { address in
                unsafe Glibc.connect(number, address.baseAddress, socklen_t(bytes.count))
            }
        }
        guard code == 0 || errno == EINPROGRESS else { throw SystemError(last: "connect") }
    }

    /// Takes over a connection that was accepted, which never waits.
    package init(owning number: Int32) { descriptor = Descriptor(owning: number) }

    /// Why connecting failed; nil when it succeeded. To be asked when the descriptor is writable.
    package func failure() -> SystemError? {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else {
            return SystemError(last: "getsockopt")
        }
        return code == 0 ? nil : SystemError("connect", code: code)
    }

    /// Reads what is there; see ``Descriptor/read(into:)``.
    package func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? { try descriptor.read(into: &buffer) }

    /// Writes as much as goes in; see ``Descriptor/write(_:)``. A peer that has gone sends the process no signal.
    package func write(_ bytes: [UInt8]) throws(SystemError) -> Int? {
        let number = number
        let count = unsafe bytes.withUnsafeBytes { bytes in
            repeatingInterrupted { unsafe send(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
        }
        if count >= 0 { return count }
        if errno == EAGAIN { return nil }
        throw SystemError(last: "send")
    }

    /// Says the other end that nothing more comes from here.
    package func endWriting() { shutdown(number, Int32(SHUT_WR)) }

    /// The connection will be reset once it is closed.
    package func resetWhenClosed() {
        var how = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_LINGER, &how, socklen_t(MemoryLayout<linger>.size))
    }

    /// Writes a short text, which a connection that is well takes whole.
    ///
    /// - Returns: whether it did.
    package func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return (try? write(bytes)) == bytes.count
    }

    /// Waits for the descriptor, at most until a time of ``MonotonicClock``.
    ///
    /// - Returns: whether it is ready, or has failed.
    package func wait(forReading: Bool, until deadline: Int64) -> Bool {
        while true {
            let left = max(0, deadline - MonotonicClock.now()) / 1_000_000
            var entry = pollfd(fd: number, events: Int16(forReading ? POLLIN : POLLOUT), revents: 0)
            let count = unsafe poll(&entry, 1, Int32(clamping: left + 1))
            if count > 0 { return true }
            if count < 0, errno == EINTR { continue }
            if MonotonicClock.now() >= deadline { return false }
        }
    }
}
