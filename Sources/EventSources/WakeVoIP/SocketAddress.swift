import Glibc

/// The two ends of a connection, as the kernel names them.
struct SocketAddress: Hashable {
    /// The bytes of the `sockaddr`, without what is behind the address.
    let bytes: [UInt8]

    /// The end of a connection that is the descriptor's own; nil when it has none.
    static func own(_ descriptor: Int32) -> SocketAddress? {
        unsafe read { unsafe getsockname(descriptor, $0, $1) }
    }

    /// The other end; nil when there is none.
    static func peer(_ descriptor: Int32) -> SocketAddress? {
        unsafe read { unsafe getpeername(descriptor, $0, $1) }
    }

    private static func read(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0, &length) }
        }
        guard code == 0 else { return nil }
        let bytes = unsafe withUnsafeBytes(of: storage) { unsafe Array($0.prefix(Int(length))) }
        return SocketAddress(bytes: normal(bytes))
    }

    /// An address of Internet Protocol 4, where it is written as one of 6 (RFC 4291, section 2.5.5.2).
    private static func normal(_ bytes: [UInt8]) -> [UInt8] {
        let family = UInt16(bytes.count > 1 ? UInt16(bytes[0]) | UInt16(bytes[1]) << 8 : 0)
        guard family == UInt16(AF_INET6), bytes.count >= 24 else {
            return family == UInt16(AF_INET) ? Array(bytes.prefix(8)) : bytes
        }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        guard Array(bytes[8..<20]) == mapped else { return Array(bytes.prefix(24)) }
        return [UInt8(AF_INET), 0, bytes[2], bytes[3]] + bytes[20..<24]
    }

    private var isInternet: Bool { bytes.count == 8 || bytes.count == 24 }

    /// The port of an Internet address; nil for another.
    var port: UInt16? { isInternet ? UInt16(bytes[2]) << 8 | UInt16(bytes[3]) : nil }

    /// `127.0.0.1:5060`, `[::1]:5060`, or `local` for a socket of this machine alone.
    var text: String {
        guard let port else { return "local" }
        if bytes.count == 8 { return bytes[4..<8].map { "\($0)" }.joined(separator: ".") + ":\(port)" }
        let words = stride(from: 8, to: 24, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        return "[" + words.map { String($0, radix: 16) }.joined(separator: ":") + "]:\(port)"
    }
}
