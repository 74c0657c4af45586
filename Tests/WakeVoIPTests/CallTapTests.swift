import Glibc
import Testing
import WakeSystem

@testable import WakeVoIP

@Suite("The tap of a recording", .serialized)
struct CallTapTests {
    @Test("Beyond the most connections the next wait, which is told once, and go on when others have ended")
    func crowd() throws {
        try raiseDescriptorLimit()
        let loop = try EventLoop()
        func settle() throws { while try loop.runOnce(timeout: 0) {} }
        // Its connections are never accepted, which the kernel does not mind.
        let server = try listenOnLoopback(port: 0, backlog: 1_024)
        let port = SocketAddress.own(server.number)?.port ?? 0
        let tap = try CallTap(of: "127.0.0.1", port: port, listeningOn: 0, on: loop)
        var told = 0
        tap.crowded = { told += 1 }
        var clients: [Connection] = []
        for _ in 0..<CallTap.mostConnections {
            clients.append(Connection(port: tap.port))
            try settle()
        }
        #expect(told == 0 && tap.accepted == CallTap.mostConnections)
        for _ in 0..<3 { clients.append(Connection(port: tap.port)) }
        try settle()
        #expect(told == 1 && tap.accepted == CallTap.mostConnections)
        for client in clients.prefix(2) { client.resetApp() }
        let deadline = MonotonicClock.now() + 10_000_000_000
        while tap.accepted < CallTap.mostConnections + 2, MonotonicClock.now() < deadline {
            try loop.runOnce(timeout: 1_000_000_000)
        }
        try settle()
        #expect(told == 1 && tap.accepted == CallTap.mostConnections + 2)
        _ = server.number
    }

    @Test(
        "Another user's connection is refused with a note, and nothing of it is heard",
        arguments: [1_001, nil] as [UInt32?]
    )
    func anotherUser(user: UInt32?) throws {
        let loop = try EventLoop()
        let server = try listenOnLoopback(port: 0, backlog: 8)
        let tap = try CallTap(
            of: "127.0.0.1",
            port: SocketAddress.own(server.number)?.port ?? 0,
            listeningOn: 0,
            on: loop
        )
        tap.peers = PeerCheck(owner: 1_000) { _ in user }
        var (heard, notes): (Int, [String]) = (0, [])
        tap.heard = { _, _, _ in heard += 1 }
        tap.note = { notes.append($0) }
        let strangers = (0..<40).map { _ in Connection(port: tap.port) }
        for stranger in strangers { stranger.answer("REGISTER sip:bench\r\n") }
        while try loop.runOnce(timeout: 0) {}
        #expect(strangers.allSatisfy { ["end", "error \(ECONNRESET)"].contains($0.read()) })
        #expect(tap.accepted == 0 && heard == 0)
        let whose = user.map { "a connection of user \($0) was refused, as this bench" }
        let unknown = "a connection was refused, as whose it was cannot be found, and this bench"
        #expect(notes == ["\(whose ?? unknown) is user 1000's"])
        tap.peers = PeerCheck()
        let app = Connection(port: tap.port)
        while try loop.runOnce(timeout: 0) {}
        #expect(tap.accepted == 1 && heard > 0)
        _ = (server.number, app)
    }
}
