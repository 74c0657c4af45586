import Glibc
import Testing
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

@testable import WakeVoIP

@Suite("Scripted call servers")
struct SimulatedVoIPTests {
    private let app = AppID(0)

    private func serving(
        _ plan: String,
        _ listener: Listener,
        messages: String = "lines",
        listens: Bool = true
    ) throws -> SimulatedVoIP {
        let text = "device: call-server\nmessages: \(messages)\n" + plan
        let server = try CallServer.parse(Array(text.utf8), file: "s.yaml")
        let port = SimulatedVoIP(
            servers: [("sip", server)],
            names: listener.names,
            seed: 1,
            loop: listener.loop,
            listens: listens
        )
        try listener.listen(to: port)
        return port
    }

    private func connect(_ port: SimulatedVoIP) throws -> Connection {
        let address = try #require(port.environment.last)
        let connection = Connection(port: UInt16(address.split(separator: ":").last ?? ""))
        port.look(at: .zero)
        return connection
    }

    private func second(_ second: Int64) -> Instant { Instant.zero.advanced(by: .seconds(second)) }

    @Test("What a server says at an instant is seen within the instant's turn, and left for the app")
    func inTime() throws {
        let listener = try Listener()
        let port = try serving("plan:\n  - pause: 60s\n  - send: \"INVITE\\n\"\n", listener)
        let connection = try connect(port)
        #expect(port.peer(of: connection.app) == "sip")
        #expect(port.adopt(connection.duplicate, 1, of: app, peer: listener.names.intern("sip")))
        port.perform(.open(app, 1, peer: listener.names.intern("sip")), at: .zero)
        port.perform(.watch(app), at: .zero)
        #expect(port.nextDeadline == second(60))
        port.timeReached(second(59))
        #expect(listener.events.isEmpty)
        port.timeReached(second(60))
        #expect(listener.kinds == [.voipData])
        #expect(listener.payloads == [.value(Array("INVITE\r\n".utf8))])
        #expect(connection.read() == "INVITE\r\n")
    }

    @Test("A server waits for what it awaits, and answers what its plan does not")
    func answers() throws {
        let listener = try Listener()
        let port = try serving(
            """
            plan:
              - await: HELLO
              - send: "WELCOME\\n"
              - pause: 5s
              - send: "LATER\\n"
            answers: [{to: PING, send: "PONG\\n"}]
            """,
            listener
        )
        let connection = try connect(port)
        _ = port.adopt(connection.duplicate, 1, of: app, peer: listener.names.intern("sip"))
        var told: [SocketNumber] = []
        port.tellRunning = { _, socket in told.append(socket) }
        connection.answer("PING\nHELLO you\nPING\n")
        port.look(at: .zero)
        #expect(connection.read() == "PONG\r\nWELCOME\r\nPONG\r\n")
        #expect(!told.isEmpty)
        #expect(listener.events.isEmpty)
        port.timeReached(second(5))
        #expect(connection.read() == "LATER\r\n")
    }

    @Test("A server of SIP answers each ping with an empty line, whatever its plan waits for")
    func pings() throws {
        let listener = try Listener()
        let port = try serving("plan: [{await: INVITE}, {pause: 1h}]\n", listener, messages: "sip")
        let connection = try connect(port)
        _ = port.adopt(connection.duplicate, 1, of: app, peer: listener.names.intern("sip"))
        connection.answer("\r\n\r\n")
        port.look(at: .zero)
        #expect(connection.read() == "\r\n")
        connection.answer("\r\n\r\n\r\n\r\nINVITE sip:a SIP/2.0\r\n\r\n\r\n\r\n")
        port.look(at: .zero)
        #expect(connection.read() == "\r\n\r\n\r\n")
        // A suspended app hears of the answer as of anything that is said.
        connection.answer("\r\n\r\n")
        port.perform(.watch(app), at: .zero)
        port.look(at: .zero)
        #expect(listener.kinds == [.voipData])
        #expect(listener.payloads == [.value(Array("\r\n".utf8))])
    }

    @Test("A server whose messages are lines answers no empty ones")
    func emptyLines() throws {
        let listener = try Listener()
        let port = try serving("answers: [{to: PING, send: \"PONG\\n\"}]\n", listener)
        let connection = try connect(port)
        connection.answer("\r\n\r\nPING\r\n")
        port.look(at: .zero)
        #expect(connection.read() == "PONG\r\n")
    }

    @Test("A server that has ended its side answers nothing, and its connection counts as no reset")
    func afterHalfClose() throws {
        let ends = Connection()
        let server = try CallServer.parse(Array("device: call-server\nplan: []\n".utf8), file: "s.yaml")
        let connection = CallConnection(1, server: 0, server, descriptor: dup(ends.peer), seed: 1)
        _ = connection.carryOut(.halfClose, at: .zero)
        ends.answer("\r\n\r\n")
        #expect(connection.read(at: .zero))
        _ = connection.answer(at: .zero)
        #expect(!connection.isReset)
    }

    @Test("VOIP-7: faults and verbs end connections in their ways")
    func faults() throws {
        for (fault, failed) in [("restart", true), ("goodbye", false), ("half", false)] {
            let listener = try Listener()
            let port = try serving(
                """
                faults:
                  - {name: restart, reset: true}
                  - {name: goodbye, close: true}
                  - {name: half, half-close: true}
                """,
                listener
            )
            let connection = try connect(port)
            _ = port.adopt(connection.duplicate, 1, of: app, peer: listener.names.intern("sip"))
            port.perform(.watch(app), at: .zero)
            #expect(try port.arm(fault: fault, device: "sip", at: second(1)) == [], "\(fault)")
            #expect(listener.kinds == [.voipClosed], "\(fault)")
            #expect(listener.events.first?.failed == failed, "\(fault)")
        }
        let listener = try Listener()
        let port = try serving("answers: []\n", listener)
        #expect(throws: SourceFailure(.unknown, "sip: has no fault 'none'")) {
            try port.arm(fault: "none", device: "sip", at: .zero)
        }
        #expect(throws: SourceFailure(.unknown, "other: is no call server")) {
            try port.simulate(.close, device: "other", at: .zero)
        }
    }

    @Test("What a server pours comes whole and in order, as the app takes it, and garbage is the same each time")
    func pours() throws {
        let listener = try Listener()
        let port = try serving("plan: [{pour: 9MB}, {close: true}]\n", listener)
        let connection = try connect(port)
        var expected = PouredBytes(seed: 1)
        var count = 0
        var same = true
        var buffer = [UInt8](repeating: 0, count: 70_000)
        while true {
            port.look(at: .zero)
            let read = unsafe recv(connection.app, &buffer, buffer.count, 0)
            if read <= 0 { break }
            same = same && expected.next(read) == Array(buffer[..<read])
            count += read
        }
        #expect(count == 9_000_000)
        #expect(same)
    }

    @Test("What an app writes without end comes as fast as the network carries it, and is answered after it")
    func pace() throws {
        let listener = try Listener()
        let port = try serving("answers: [{to: PING, send: \"PONG\\n\"}]\n", listener)
        let connection = try connect(port)
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 65_535) + [UInt8(ascii: "\n")]
        var written = 0
        while port.nextDeadline == nil {
            written += max(0, unsafe send(connection.app, line, line.count, Int32(truncatingIfNeeded: MSG_DONTWAIT)))
            port.look(at: .zero)
            try #require(written < 100_000_000)
        }
        #expect(written >= 1_048_576)
        let quarter = try #require(port.nextDeadline)
        #expect(quarter.nanoseconds == 262_144 * 80)
        for _ in 0..<10_000 where port.nextDeadline != nil {
            let next = try #require(port.nextDeadline)
            port.timeReached(next)
            port.look(at: next)
        }
        #expect(port.nextDeadline == nil)
        connection.answer("\nPING\n")
        port.look(at: second(10))
        #expect(connection.read() == "PONG\r\n")
    }

    @Test("Another user's connection is refused with a note, and those of apps are as if it had not been")
    func anotherUser() throws {
        let listener = try Listener()
        let port = try serving("plan: [{pour: 100}]\n", listener)
        var (user, notes): (UInt32?, [String]) = (1_001, [])
        port.peers = PeerCheck(owner: 1_000) { _ in user }
        port.note = { notes.append($0) }
        for stranger in [1_001, 1_001, nil] as [UInt32?] {
            user = stranger
            let said = try connect(port).read()
            #expect(said == "end" || said == "error \(ECONNRESET)")
        }
        let known = [
            "sip: a connection of user 1001 was refused, as this bench is user 1000's",
            "sip: a connection was refused, as whose it was cannot be found, and this bench is user 1000's",
        ]
        #expect(notes == known)
        for (owner, number) in [(1_000, 1), (0, 2)] as [(UInt32, UInt64)] {
            user = owner
            var expected = PouredBytes(seed: number)
            let bytes = expected.next(100)
            #expect(try connect(port).bytes() == bytes)
        }
        #expect(notes == known)
    }

    @Test("Connections that are closed at once, whoever they are of, take no place, no bytes and no note")
    func strangersGoneAtOnce() throws {
        let listener = try Listener()
        let port = try serving("plan: [{await: HELLO}, {garbage: 20}, {pause: 1h}]\n", listener)
        var notes: [String] = []
        port.note = { notes.append($0) }
        let address = try #require(port.environment.last)
        for _ in 0..<100 {
            let gone = Connection(port: UInt16(address.split(separator: ":").last ?? ""))
            gone.answer("HELLO\n")
            gone.closeApp()
        }
        for _ in 0..<20 { port.look(at: .zero) }
        #expect(try port.simulate(.close, device: "sip", at: .zero) == nil)
        #expect(port.nextDeadline == nil)
        let connection = try connect(port)
        connection.answer("HELLO\n")
        port.look(at: .zero)
        var expected = PouredBytes(seed: ~1)
        let bytes = expected.next(20)
        #expect(connection.bytes() == bytes)
        #expect(notes == [])
    }

    @Test("An app's connection that it closes before it has read does not count, whether or not it was found open")
    func goneAtOnce() throws {
        for (wasFound, plan) in [
            (false, "[{pour: 100}]"), (true, "[{pour: 100}]"), (false, "[{await: HELLO}, {pour: 100}]"),
            (true, "[{await: HELLO}, {pour: 100}]"),
        ] {
            let listener = try Listener()
            let port = try serving("plan: \(plan)\n", listener)
            var notes: [String] = []
            port.note = { notes.append($0) }
            let address = try #require(port.environment.last)
            let gone = Connection(port: UInt16(address.split(separator: ":").last ?? ""))
            if wasFound { port.look(at: .zero) }
            gone.closeApp()
            let next = try connect(port)
            next.answer("HELLO\n")
            port.look(at: .zero)
            var expected = PouredBytes(seed: 1)
            let bytes = expected.next(100)
            #expect(next.bytes() == bytes, "\(wasFound) \(plan)")
            let third = try connect(port)
            third.answer("HELLO\n")
            port.look(at: .zero)
            var others = PouredBytes(seed: 2)
            let otherBytes = others.next(100)
            #expect(third.bytes() == otherBytes, "\(wasFound) \(plan)")
            #expect(notes == [])
        }
    }

    @Test("A server that waits for what an app that has ended its side cannot say any more closes the connection")
    func awaitsInVain() throws {
        let listener = try Listener()
        let port = try serving("plan: [{await: HELLO}, {send: \"WELCOME\\n\"}, {await: BYE}, {pause: 1h}]\n", listener)
        let connection = try connect(port)
        connection.answer("HELLO\n")
        #expect(shutdown(connection.app, Int32(SHUT_WR)) == 0)
        port.look(at: .zero)
        #expect(connection.read() == "WELCOME\r\n")
        #expect(connection.read() == "end")
        #expect(try port.simulate(.close, device: "sip", at: .zero) == nil)
    }

    private func cut(_ port: SimulatedVoIP, at now: Instant) {
        port.perform(.network(isThere: false, timeout: nil), at: now)
    }

    private func rejoin(_ port: SimulatedVoIP, timeout: Instant.Span? = .seconds(120), at now: Instant) {
        port.perform(.network(isThere: true, timeout: timeout), at: now)
    }

    private static let lines = "plan:\n  - pause: 60s\n  - send: \"a\\n\"\n  - pause: 1s\n  - send: \"b\\n\"\n"

    @Test(
        "VOIP-7: what a server says without a network waits for one, and fails where it waited for too long",
        arguments: [(179, 120, false), (180, 120, true), (3_600, nil, false)] as [(Int64, Int64?, Bool)]
    )
    func waitsForNetwork(back: Int64, timeout: Int64?, fails: Bool) throws {
        let listener = try Listener()
        let port = try serving(Self.lines, listener, listens: false)
        port.perform(.open(app, 1, peer: listener.names.intern("sip")), at: .zero)
        port.perform(.watch(app), at: .zero)
        cut(port, at: second(30))
        port.timeReached(second(100))
        #expect(listener.events.isEmpty)
        #expect(port.nextDeadline == nil)
        rejoin(port, timeout: timeout.map { Instant.Span.seconds($0) }, at: second(back))
        #expect(listener.kinds == [fails ? .voipClosed : .voipData])
        #expect(listener.events.first?.failed == fails)
        #expect(listener.payloads == [fails ? EventPayload.none : .value(Array("a\r\nb\r\n".utf8))])
        port.perform(.rest(app), at: second(back))
        port.perform(.watch(app), at: second(back))
        #expect(try port.simulate(.send("c\n"), device: "sip", at: second(back)) == (fails ? nil : []))
        #expect(listener.events.count == (fails ? 1 : 2))
    }

    @Test("VOIP-7: a connection on which nothing waits outlives the network")
    func idleWithoutNetwork() throws {
        let listener = try Listener()
        let port = try serving("answers: []\n", listener, listens: false)
        port.perform(.open(app, 1, peer: listener.names.intern("sip")), at: .zero)
        port.perform(.watch(app), at: .zero)
        cut(port, at: second(1))
        rejoin(port, at: second(86_400))
        #expect(listener.events.isEmpty)
        _ = try port.simulate(.send("c\n"), device: "sip", at: second(86_401))
        #expect(listener.kinds == [.voipData])
    }

    @Test("VOIP-7: the end of a connection waits for the network as its bytes do", arguments: [true, false])
    func endWaitsForNetwork(failed: Bool) throws {
        let listener = try Listener()
        let port = try serving("answers: []\n", listener, listens: false)
        cut(port, at: .zero)
        port.perform(.open(app, 1, peer: listener.names.intern("sip")), at: .zero)
        port.perform(.watch(app), at: .zero)
        #expect(try port.simulate(failed ? .reset : .close, device: "sip", at: second(1)) == [])
        #expect(listener.events.isEmpty)
        rejoin(port, at: second(2))
        #expect(listener.kinds == [.voipClosed])
        #expect(listener.events.first?.failed == failed)
        #expect(try port.simulate(.close, device: "sip", at: second(3)) == nil)
    }

    @Test("VOIP-7: without a network nothing comes over a socket, either way, and all of it in order afterwards")
    func socketWithoutNetwork() throws {
        let listener = try Listener()
        let port = try serving("answers: [{to: PING, send: \"PONG\\n\"}]\n", listener)
        let connection = try connect(port)
        #expect(port.adopt(connection.duplicate, 1, of: app, peer: listener.names.intern("sip")))
        port.perform(.watch(app), at: .zero)
        cut(port, at: second(1))
        for text in ["INVITE\n", "INVITE again\n"] {
            #expect(try port.simulate(.send(text), device: "sip", at: second(2)) == [])
        }
        connection.answer("PING\n")
        port.look(at: second(3))
        port.timeReached(second(10))
        var entry = pollfd(fd: connection.app, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&entry, 1, 0) == 0)
        #expect(listener.events.isEmpty)
        rejoin(port, at: second(11))
        #expect(listener.kinds == [.voipData])
        #expect(connection.read() == "INVITE\r\nINVITE again\r\nPONG\r\n")
    }

    @Test("VOIP-7: a socket on which something waited too long is reset")
    func socketFails() throws {
        let listener = try Listener()
        let port = try serving("answers: []\n", listener)
        let connection = try connect(port)
        #expect(port.adopt(connection.duplicate, 1, of: app, peer: listener.names.intern("sip")))
        port.perform(.watch(app), at: .zero)
        cut(port, at: second(1))
        _ = try port.simulate(.send("INVITE\n"), device: "sip", at: second(2))
        rejoin(port, timeout: .seconds(10), at: second(12))
        #expect(listener.kinds == [.voipClosed])
        #expect(listener.events.first?.failed == true)
        #expect(connection.read() == "error \(ECONNRESET)")
    }

    @Test("A server of a phone that starts without a network waits for one")
    func startsWithoutNetwork() throws {
        let listener = try Listener()
        let server = try CallServer.parse(Array("device: call-server\nplan: [{send: a}]\n".utf8), file: "s.yaml")
        let port = SimulatedVoIP(
            servers: [("sip", server)],
            names: listener.names,
            seed: 1,
            loop: listener.loop,
            listens: false,
            hasNetwork: false
        )
        try listener.listen(to: port)
        port.perform(.open(app, 1, peer: listener.names.intern("sip")), at: .zero)
        port.perform(.watch(app), at: .zero)
        #expect(listener.events.isEmpty)
        rejoin(port, at: second(1))
        #expect(listener.kinds == [.voipData])
    }

    @Test("A stalled server reads nothing, and goes on afterwards")
    func stalls() throws {
        let listener = try Listener()
        let port = try serving("plan: [{stall: 10s}]\nanswers: [{to: PING, send: \"PONG\\n\"}]\n", listener)
        let connection = try connect(port)
        connection.answer("PING\n")
        port.look(at: .zero)
        var entry = pollfd(fd: connection.app, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&entry, 1, 0) == 0)
        port.timeReached(second(10))
        port.look(at: second(10))
        #expect(connection.read() == "PONG\r\n")
    }

    @Test("VOIP-7: of an end that came while it ran a scripted app hears when it is suspended next, once")
    func scriptedEnd() throws {
        for isAwake in [true, false] {
            let listener = try Listener()
            let plan = "plan: [{await: HELLO}, {pause: 1s}, {send: a}, {pause: 1s}, {close: true}]\n"
            let port = try serving(plan, listener, listens: false)
            port.perform(.open(app, 1, peer: listener.names.intern("sip")), at: .zero)
            if !isAwake { port.perform(.watch(app), at: .zero) }
            port.timeReached(second(2))
            let before: [EventKind] = isAwake ? [] : [.voipData]
            #expect(listener.kinds == before)
            if !isAwake { port.perform(.rest(app), at: second(2)) }
            port.perform(.watch(app), at: second(3))
            #expect(listener.kinds == before + [.voipClosed])
            port.perform(.rest(app), at: second(4))
            port.perform(.watch(app), at: second(4))
            #expect(listener.kinds == before + [.voipClosed])
        }
    }

    @Test("A scripted app hears of its server while it is suspended, without a socket")
    func scripted() throws {
        let listener = try Listener()
        let port = try serving(
            "plan: [{await: HELLO}, {pause: 1s}, {send: a}, {pause: 1s}, {send: b}, {pause: 1s}, {reset: true}]\n",
            listener,
            listens: false
        )
        #expect(port.environment.isEmpty)
        port.perform(.open(app, 1, peer: listener.names.intern("sip")), at: .zero)
        port.perform(.watch(app), at: .zero)
        port.timeReached(second(2))
        #expect(listener.kinds == [.voipData])
        port.perform(.rest(app), at: second(2))
        port.perform(.watch(app), at: second(2))
        port.timeReached(second(3))
        #expect(listener.kinds == [.voipData, .voipClosed])
        #expect(listener.events.last?.failed == true)
        #expect(port.nextDeadline == nil)
    }
}
