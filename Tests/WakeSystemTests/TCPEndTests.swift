import Glibc
import Testing

@testable import WakeSystem

@Suite("Whose a connection is")
struct TCPEndTests {
    private static let head =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private let server = TCPEnd(address: [127, 0, 0, 1], port: 2_197)
    private let client = TCPEnd(address: [127, 0, 0, 1], port: 54_321)

    /// A row of the tables.
    private func row(_ local: String, _ remote: String, state: String = "01", user: Int, inode: Int = 4_711) -> String {
        "   0: \(local) \(remote) \(state) 00000000:00000000 02:000A7D8C 00000000 \(user)        0 \(inode) 2 00 20 4\n"
    }

    @Test("The row whose local address is the client's and whose remote address is the server's says the user")
    func fourth() {
        let table =
            Self.head + row("0100007F:0895", "00000000:0000", state: "0A", user: 0)
            + row("0100007F:0895", "0100007F:D431", user: 0) + row("0100007F:D430", "0100007F:0895", user: 1_001)
            + row("0100007F:D431", "0100007F:0895", user: 65_534)
        #expect(client.user(connectedTo: server, in: table) == 65_534)
        #expect(TCPEnd(address: [127, 0, 0, 1], port: 1).user(connectedTo: server, in: table) == nil)
    }

    @Test("A client of IPv6 is found in the table of IPv6")
    func sixth() {
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        let ends = (TCPEnd(address: loopback, port: 40_000), TCPEnd(address: loopback, port: 2_197))
        let own = "00000000000000000000000001000000"
        let (local, remote) = ("\(own):9C40", "\(own):0895")
        let table = Self.head + row(remote, local, user: 0) + row(local, remote, user: 1_002)
        #expect(ends.0.user(connectedTo: ends.1, in: table) == 1_002)
        #expect(client.user(connectedTo: server, in: table) == nil)
    }

    @Test("An address of IPv4 that is written as one of IPv6 is the same end")
    func mapped() {
        let prefix = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]
        #expect(TCPEnd(address: prefix + [127, 0, 0, 1], port: 54_321) == client)
        let (local, remote) = ("0000000000000000FFFF00000100007F:D431", "0000000000000000FFFF00000100007F:0895")
        #expect(client.user(connectedTo: server, in: Self.head + row(local, remote, user: 1_003)) == 1_003)
    }

    @Test("A socket that its process has closed is nobody's, though the kernel writes it down as root's")
    func orphan() {
        let table = Self.head + row("0100007F:D431", "0100007F:0895", state: "06", user: 0, inode: 0)
        #expect(client.user(connectedTo: server, in: table) == nil)
    }

    @Test(
        "What is no row is left out",
        arguments: ["", "\n\n", "0: 0100007F:D431 0100007F:0895", "0: 0100007F:D431 0100007F:0895 01 0 0 0 root 0 7"]
    )
    func noRow(text: String) {
        #expect(client.user(connectedTo: server, in: Self.head + text) == nil)
    }

    @Test("The kernel is asked for the one connection, and says whose it is", arguments: Way.allCases.filter(\.isThere))
    fileprivate func own(way: Way) throws {
        let pair = try #require(Pair(way))
        #expect(TCPEnd.kernelAnswer(on: pair.accepted) == .user(geteuid()))
        #expect(TCPEnd.user(connectedTo: pair.accepted) == geteuid())
    }

    @Test("Where the kernel does not answer, the tables of all sockets say the same")
    func tables() throws {
        let pair = try #require(Pair(.fourth))
        #expect(TCPEnd.tableUser(connectedTo: pair.accepted) == geteuid())
    }

    @Test("A client that has closed its end is nobody's, and is not looked for in the tables")
    func gone() throws {
        let pair = try #require(Pair(.fourth))
        pair.closeClient()
        #expect(TCPEnd.kernelAnswer(on: pair.accepted) == .noProcess)
        #expect(TCPEnd.user(connectedTo: pair.accepted) == nil)
    }

    @Test("A peer may use what listens where its user is the owner or root")
    func check() {
        let users: [Int32: UInt32] = [0: 0, 1: 1_000, 2: 1_001]
        var check = PeerCheck(owner: 1_000) { users[$0] }
        let found = (0...3).map { check.stranger(at: $0) }
        #expect(found == [nil, nil, .user(1_001), .unknown])
        let lines = [Stranger.user(1_001), .unknown, .unknown].map { check.line(refusing: "a push", of: $0) }
        #expect(lines[0] == "a push of user 1001 was refused, as this bench is user 1000's")
        #expect(lines[1] == "a push was refused, as whose it was cannot be found, and this bench is user 1000's")
        #expect(lines[2] == nil)
    }
}

/// How a client of this machine connects.
private enum Way: CaseIterable {
    case fourth
    case sixth
    /// By a socket of IPv6, to an address of IPv4.
    case mapped
    /// By a socket that is bound to the loopback interface.
    case bound

    /// Whether this machine can.
    var isThere: Bool { Pair(self) != nil }
}

/// A connection of this machine, both ends of which the test has.
private final class Pair {
    private(set) var client: Int32
    let accepted: Int32

    /// Nil where this machine has no such addresses.
    init?(_ way: Way) {
        let stream = Int32(SOCK_STREAM.rawValue)
        let listener = socket(way == .sixth ? AF_INET6 : AF_INET, stream, 0)
        defer { _ = close(listener) }
        let bound =
            way == .sixth
            ? unsafe Self.with(Self.sixth(0)) { unsafe bind(listener, $0, $1) }
            : unsafe Self.with(Self.fourth(0)) { unsafe bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 1) == 0 else { return nil }
        let port = Self.port(listener)
        let number = socket(way == .sixth || way == .mapped ? AF_INET6 : AF_INET, stream, 0)
        if way == .bound { _ = unsafe setsockopt(number, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2) }
        let connected =
            switch way {
            case .fourth, .bound: unsafe Self.with(Self.fourth(port)) { unsafe connect(number, $0, $1) }
            case .sixth: unsafe Self.with(Self.sixth(port)) { unsafe connect(number, $0, $1) }
            case .mapped: unsafe Self.with(Self.sixth(port, isMapped: true)) { unsafe connect(number, $0, $1) }
            }
        guard connected == 0 else {
            _ = close(number)
            return nil
        }
        client = number
        accepted = accept(listener, nil, nil)
    }

    deinit {
        closeClient()
        _ = close(accepted)
    }

    func closeClient() {
        if client >= 0 { _ = close(client) }
        client = -1
    }

    private static func fourth(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func sixth(_ port: UInt16, isMapped: Bool = false) -> sockaddr_in6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        if isMapped {
            let bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1]
            unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
        }
        return address
    }

    /// The port is at the same place in both.
    private static func port(_ number: Int32) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(number, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func with<Address>(
        _ address: Address,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
