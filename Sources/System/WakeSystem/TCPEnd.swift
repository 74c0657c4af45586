import CWakeShims
import Glibc

/// An end of a TCP connection of this machine, and the user of its socket.
package struct TCPEnd: Hashable {
    /// 4 or 16 bytes in the order of the network; 4 also where an address of Internet Protocol 4 is written as one of 6
    /// (RFC 4291, section 2.5.5.2).
    let address: [UInt8]
    let port: UInt16

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
    /// The most bytes that are read of a table: a row has 150.
    private static let tableLimit = 16 << 20
    /// A table is read in parts, and a row may be missed while others come and go.
    private static let attempts = 3

    init(address: [UInt8], port: UInt16) {
        self.address = address.starts(with: Self.mapped) ? Array(address.dropFirst(Self.mapped.count)) : address
        self.port = port
    }

    // MARK: Users

    /// The user at the other end of a connection; nil where the kernel knows of no such socket, as when its process has closed
    /// it.
    package static func user(connectedTo descriptor: Int32) -> UInt32? {
        switch kernelAnswer(on: descriptor) {
        case .user(let user): user
        case .noProcess: nil
        case nil: tableUser(connectedTo: descriptor)
        }
    }

    /// What the kernel says of the other end of a connection.
    enum KernelAnswer: Hashable {
        case user(UInt32)
        /// No process has it open any more.
        case noProcess
    }

    /// Asks the kernel for the one socket at the other end, which takes the same short time however many there are; nil where it
    /// does not answer such questions, or a sandbox keeps them from it.
    static func kernelAnswer(on descriptor: Int32) -> KernelAnswer? {
        var user: UInt32 = 0
        let code = unsafe wake_tcp_peer_user(descriptor, &user)
        switch code {
        case 1: return .user(user)
        case 0: return .noProcess
        default: return nil
        }
    }

    /// The same as ``user(connectedTo:)``, by the tables of all sockets.
    static func tableUser(connectedTo descriptor: Int32) -> UInt32? {
        let own = unsafe read { unsafe getsockname(descriptor, $0, $1) }
        let peer = unsafe read { unsafe getpeername(descriptor, $0, $1) }
        guard let own, let peer else { return nil }
        for _ in 0..<attempts {
            for path in ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"] {
                let table = (try? readSmallFile(path, limit: tableLimit)) ?? ""
                if let user = peer.user(connectedTo: own, in: table) { return user }
            }
        }
        return nil
    }

    /// The user of the socket at this end, by the text of /proc/net/tcp or tcp6; nil without a row.
    ///
    /// A socket that its process has closed has no user: the kernel writes it down as root's, and without an inode.
    func user(connectedTo other: TCPEnd, in table: String) -> UInt32? {
        let pairs = Array(zip(fields, other.fields))
        for line in table.utf8.split(separator: UInt8(ascii: "\n")) {
            let head = line.split(separator: UInt8(ascii: " "), maxSplits: 3)
            guard head.count == 4,
                pairs.contains(where: { head[1].elementsEqual($0.utf8) && head[2].elementsEqual($1.utf8) })
            else { continue }
            let rest = head[3].split(separator: UInt8(ascii: " ")).map { Substring($0) }
            guard rest.count > 6, let user = UInt32(rest[4]), let inode = UInt64(rest[6]), inode != 0 else { continue }
            return user
        }
        return nil
    }

    /// How the tables write it, tcp and tcp6: `0100007F:0895` is 127.0.0.1:2197.
    private var fields: [String] {
        let forms = address.count == 4 ? [address, Self.mapped + address] : [address]
        return forms.map { bytes in
            let words = stride(from: 0, to: bytes.count, by: 4).map { Self.word(bytes[$0..<$0 + 4]) }
            return words.joined() + ":" + Self.hexadecimal(port)
        }
    }

    /// Four bytes as a number of the machine.
    private static func word(_ bytes: ArraySlice<UInt8>) -> String {
        let number: UInt32 = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        return hexadecimal(UInt32(littleEndian: number))
    }

    /// With as many digits as the type has.
    private static func hexadecimal(_ number: some FixedWidthInteger) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: type(of: number).bitWidth / 4 - digits.count) + digits
    }

    private static func read(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> TCPEnd? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0, &length) }
        }
        guard code == 0 else { return nil }
        let bytes = unsafe withUnsafeBytes(of: storage) { unsafe Array($0) }
        let port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        switch Int32(storage.ss_family) {
        case AF_INET: return TCPEnd(address: Array(bytes[4..<8]), port: port)
        case AF_INET6: return TCPEnd(address: Array(bytes[8..<24]), port: port)
        default: return nil
        }
    }
}
