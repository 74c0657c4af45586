import CWakeShims
import Glibc

/// Sockets of bytes with a name in the file system, non-blocking and close-on-exec.
package enum UnixSocket {
    /// The longest path of one, in bytes (unix(7)).
    package static let longestPath = 107

    /// Waits for connections, which its owner alone may make.
    package static func listen(at path: String) throws(SystemError) -> Descriptor {
        let number = unsafe wake_stream_listen(path)
        guard number >= 0 else { throw SystemError(last: "bind", subject: path) }
        return Descriptor(owning: number)
    }

    /// The whole paths to which processes of this network namespace have bound sockets, whether they listen or not.
    package static func boundPaths() -> [String] {
        boundPaths(in: (try? readSmallFile("/proc/thread-self/net/unix", limit: 64 << 20)) ?? "")
    }

    /// - Parameter table: rows such as `0000000000000000: 00000002 00000000 00010000 0001 01 24001 /run/a.sock`. The sixth
    ///   column is 01 (SS_UNCONNECTED of linux/net.h) of what was bound, and another of connections that were made to it.
    static func boundPaths(in table: String) -> [String] {
        table.split(separator: "\n").compactMap { row in
            let columns = row.split(separator: " ", maxSplits: 7)
            return columns.count == 8 && columns[5] == "01" && columns[7].hasPrefix("/") ? String(columns[7]) : nil
        }
    }

    package static func connect(to path: String) throws(SystemError) -> Descriptor {
        let number = unsafe wake_stream_connect(path)
        guard number >= 0 else { throw SystemError(last: "connect", subject: path) }
        return Descriptor(owning: number)
    }

    /// The next connection; nil when none waits.
    package static func accept(on listener: Int32) throws(SystemError) -> Int32? {
        let number = repeatingInterrupted { wake_accept(listener) }
        if number >= 0 { return number }
        if errno == EAGAIN || errno == ECONNABORTED { return nil }
        throw SystemError(last: "accept4")
    }

    /// The user at the other end of a connection; nil when the kernel does not say.
    package static func user(of connection: Int32) -> UInt32? {
        let user = wake_peer_user(connection)
        return user < 0 ? nil : UInt32(user)
    }

    /// The process at the other end, which for one that was connected to is the process that listens there; nil when the kernel
    /// does not say.
    package static func process(of connection: Int32) -> Int32? {
        let process = wake_peer_process(connection)
        return process > 0 ? process : nil
    }
}
