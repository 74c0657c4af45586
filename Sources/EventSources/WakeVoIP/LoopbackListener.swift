import CWakeShims
import Glibc
import WakeSystem

/// A TCP socket that listens on this machine's loopback interface alone, and does not wait.
///
/// - Parameters:
///   - port: 0 for any that is free.
///   - backlog: how many connections wait to be accepted at most.
func listenOnLoopback(port: UInt16, backlog: Int32) throws(SystemError) -> Descriptor {
    let number = wake_tcp_socket(AF_INET)
    guard number >= 0 else { throw SystemError(last: "socket") }
    let listener = Descriptor(owning: number)
    var on: Int32 = 1
    _ = unsafe setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = unsafe withUnsafePointer(to: &address) { address in
        unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, size) }
    }
    guard bound == 0 else { throw SystemError(last: "bind") }
    guard listen(number, backlog) == 0 else { throw SystemError(last: "listen") }
    return listener
}
