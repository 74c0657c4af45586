import Glibc
import Testing
import WakeSystem

@testable import WakeAPNs

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

    @Test("The kernel says whose a connection to this process is")
    func own() throws {
        let loop = try EventLoop()
        var found: [UInt32?] = []
        let listener = try LoopbackListener(port: 0, on: loop) { found.append(TCPEnd.user(connectedTo: $0.number)) }
        let client = Plain(listener.port)
        let deadline = MonotonicClock.now() + 20_000_000_000
        while found.isEmpty, MonotonicClock.now() < deadline {
            try loop.runOnce(timeout: deadline - MonotonicClock.now())
        }
        #expect(found == [geteuid()])
        #expect(client.isConnected)
    }
}
