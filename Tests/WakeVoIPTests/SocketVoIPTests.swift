import Glibc
import Testing
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

@testable import WakeVoIP

@Suite("Watched sockets")
struct SocketVoIPTests {
    private let app = AppID(0)
    private let peer = NameID(1)

    private func watching(_ listener: Listener) throws -> SocketVoIP {
        let port = SocketVoIP(servers: [], names: listener.names, loop: listener.loop)
        try listener.listen(to: port)
        return port
    }

    @Test("VOIP-1: bytes are told once while the app is suspended, and all of them are left for the app")
    func data() throws {
        let listener = try Listener()
        let port = try watching(listener)
        let connection = Connection()
        #expect(port.adopt(connection.duplicate, 1, of: app, peer: peer))
        connection.say("before")
        try listener.settle()
        #expect(listener.events.isEmpty)
        #expect(connection.read() == "before")
        port.perform(.watch(app), at: .zero)
        try listener.settle()
        #expect(listener.events.isEmpty)
        connection.say("INVITE")
        try listener.wait(for: 1)
        connection.say(" again")
        try listener.settle()
        #expect(listener.kinds == [.voipData])
        #expect(listener.events[0].local == 1)
        #expect(listener.events[0].app == app)
        port.perform(.rest(app), at: .zero)
        #expect(connection.read() == "INVITE again")
        port.perform(.watch(app), at: .zero)
        connection.say("more")
        try listener.wait(for: 2)
        #expect(listener.kinds == [.voipData, .voipData])
        #expect(listener.payloads == ["INVITE", "more"].map { EventPayload.value(Array($0.utf8)) })
    }

    @Test("Of much that waits for an app the first 512 bytes are told, and of the end none")
    func firstBytes() throws {
        let listener = try Listener()
        let port = try watching(listener)
        let connection = Connection()
        _ = port.adopt(connection.duplicate, 1, of: app, peer: peer)
        connection.say(String(repeating: "a", count: 600))
        var entry = pollfd(fd: connection.app, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&entry, 1, 10_000) == 1)
        port.perform(.watch(app), at: .zero)
        #expect(connection.read().count == 600)
        port.perform(.rest(app), at: .zero)
        port.perform(.watch(app), at: .zero)
        connection.closePeer()
        try listener.wait(for: 2)
        #expect(listener.payloads == [.value([UInt8](repeating: UInt8(ascii: "a"), count: 512)), .none])
    }

    @Test("VOIP-1: what was there when the app was suspended is told at once")
    func already() throws {
        let listener = try Listener()
        let port = try watching(listener)
        let connection = Connection()
        _ = port.adopt(connection.duplicate, 1, of: app, peer: peer)
        connection.say("unread")
        var entry = pollfd(fd: connection.app, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&entry, 1, 10_000) == 1)
        port.perform(.watch(app), at: .zero)
        #expect(listener.kinds == [.voipData])
    }

    @Test(
        "VOIP-7: the peer's close is told as an end, and its reset as a failure that the app still gets",
        arguments: [false, true]
    )
    func ends(reset: Bool) throws {
        let listener = try Listener()
        let port = try watching(listener)
        let connection = Connection()
        _ = port.adopt(connection.duplicate, 1, of: app, peer: peer)
        port.perform(.watch(app), at: .zero)
        if reset { connection.resetPeer() } else { connection.closePeer() }
        try listener.wait(for: 1)
        #expect(listener.kinds == [.voipClosed])
        #expect(listener.events.first?.failed == reset)
        #expect(connection.read() == (reset ? "error \(ECONNRESET)" : "end"))
    }

    @Test("Duplicates go with the mark, with the process and with the bench")
    func descriptors() throws {
        let listener = try Listener()
        let port = try watching(listener)
        let connections = (0..<3).map { _ in Connection() }
        let files = Set(connections.compactMap { OpenFile($0.app) })
        for (place, connection) in connections.enumerated() {
            _ = port.adopt(connection.duplicate, SocketNumber(place + 1), of: place == 2 ? AppID(1) : app, peer: peer)
        }
        #expect(port.watchedSockets == 3)
        // The apps' own, and a duplicate of each.
        #expect(openDescriptors(of: files) == 6)
        port.perform(.watch(app), at: .zero)
        port.perform(.close(app, 1), at: .zero)
        #expect(openDescriptors(of: files, reaching: 5) == 5)
        port.perform(.closeAll(app), at: .zero)
        #expect(openDescriptors(of: files, reaching: 4) == 4)
        port.stop()
        #expect(openDescriptors(of: files, reaching: 3) == 3)
    }

    @Test("A descriptor that is no stream socket, a number in use and one socket too many are refused and closed")
    func refused() throws {
        let listener = try Listener()
        let port = try watching(listener)
        let connection = Connection()
        var ends: [Int32] = [-1, -1]
        #expect(unsafe pipe(&ends) == 0)
        defer { close(ends[1]) }
        let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        let others = Set([ends[0], datagrams].compactMap { OpenFile($0) })
        #expect(!port.adopt(ends[0], 1, of: app, peer: peer))
        #expect(!port.adopt(datagrams, 1, of: app, peer: peer))
        // The pipe's other end.
        #expect(openDescriptors(of: others, reaching: 1) == 1)
        #expect(port.adopt(connection.duplicate, 1, of: app, peer: peer))
        #expect(!port.adopt(connection.duplicate, 1, of: app, peer: peer))
        let own = Set([connection.app].compactMap { OpenFile($0) })
        #expect(openDescriptors(of: own, reaching: 2) == 2)
    }

    @Test("RESP-3: a connection that is torn down ends for the app and for its peer, and nothing is told of it")
    func tornDown() throws {
        let listener = try Listener()
        let port = try watching(listener)
        let connection = Connection()
        _ = port.adopt(connection.duplicate, 1, of: app, peer: peer)
        port.perform(.watch(app), at: .zero)
        port.perform(.tearDown(app), at: .zero)
        try listener.settle()
        #expect(listener.events.isEmpty)
        #expect(connection.read() == "end")
    }

    @Test("VOIP-7: that real peers know nothing of a phone without a network is said once, where there is one")
    func withoutNetwork() throws {
        let listener = try Listener()
        let port = try watching(listener)
        var notes: [String] = []
        port.note = { notes.append($0) }
        port.perform(.network(isThere: false, timeout: nil), at: .zero)
        #expect(notes.isEmpty)
        let connection = Connection()
        #expect(port.adopt(connection.duplicate, 1, of: app, peer: peer))
        #expect(notes == ["voip=socket: the phone has no network, and what real peers say comes all the same"])
        for isThere in [true, false] { port.perform(.network(isThere: isThere, timeout: nil), at: .zero) }
        #expect(notes.count == 1)
    }

    @Test("Records call the other end by the server that it stands for, or by its address")
    func names() throws {
        let connection = Connection()
        let port = try #require(SocketAddress.peer(connection.app)?.port)
        #expect(PeerNames([]).name(of: connection.app) == "127.0.0.1:\(port)")
        #expect(PeerNames([("sip", 0)]).name(of: connection.app) == "sip")
        #expect(PeerNames([("sip", 0), ("chat", port)]).name(of: connection.app) == "chat")
        #expect(PeerNames([("sip", 1), ("chat", 2)]).name(of: connection.app) == "127.0.0.1:\(port)")
    }
}
