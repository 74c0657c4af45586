import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("What keeps calls' connections open")
struct KeepAliveTests {
    private static let register =
        "REGISTER sip:s SIP/2.0\nVia: SIP/2.0/TCP p;branch=z9hG4bK1\nFrom: <sip:a@s>;tag=1\nTo: <sip:a@s>\nCall-ID: r@p\n"
        + "CSeq: 1 REGISTER\nContent-Length: 0\n\n"
    private static let agreed =
        "SIP/2.0 200 OK\nVia: SIP/2.0/TCP p;branch=z9hG4bK1\nFrom: <sip:a@s>;tag=1\nTo: <sip:a@s>;tag=9\nCall-ID: r@p\n"
        + "CSeq: 1 REGISTER\nContent-Length: 0\n\n"

    /// A phone that registered, by UDP.
    private static func registered() -> NetworkCapture {
        var capture = NetworkCapture()
        capture.datagram(.phone, register)
        capture.datagram(.server, agreed)
        return capture
    }

    /// What a server does when the phone is registered.
    private static func later(_ capture: NetworkCapture) throws -> [CallServer.Step] {
        let reading = capture.reading
        let lift = CallServerLift(try #require(reading.calls.first), start: try #require(reading.first))
        return Array(lift.server.plan.dropFirst(2))
    }

    @Test("Pings and their answers are counted, and the server answers them of itself")
    func capture() throws {
        let reading = CallReading()
        var source = try CaptureBytes(file: Captures.folder + "sip-keep-alives.pcap")
        try reading.read(&source, .pcap)
        let call = try #require(reading.calls.first)
        #expect(call.messages.count == 4)
        #expect(call.keepAliveCount == 6)
        #expect(call.keepAlives.map(\.lines) == [2, 1, 2, 1, 2, 1])
        #expect(reading.leftOut.entries.isEmpty)
        let lift = CallServerLift(call, start: try #require(reading.first))
        #expect(lift.server.plan.count == 2)
        #expect(lift.server.plan.first == .await("REGISTER"))
        #expect(lift.notes == ["3 keep-alives of the phone are not awaited: the server answers them at any time"])
    }

    @Test(
        "What a server sends to keep a connection open is in its plan, with the pause before it",
        arguments: ["\n\n", "\n"]
    )
    func serversOwn(text: String) throws {
        var capture = Self.registered()
        capture.datagram(.server, text, after: 30_000)
        capture.datagram(.server, text, after: 30_000)
        let step: [CallServer.Step] = [.pause(.seconds(30)), .send(text)]
        #expect(try Self.later(capture) == step + step)
    }

    @Test("What answers a ping of the phone's is not in the plan, and what is more is")
    func answers() throws {
        var capture = Self.registered()
        capture.datagram(.phone, "\n\n", after: 10_000)
        capture.datagram(.phone, "\n\n")
        capture.datagram(.server, "\n\n", after: 20)
        #expect(try Self.later(capture).isEmpty)
        capture.datagram(.server, "\n", after: 5_000)
        #expect(try Self.later(capture).last == .send("\n"))
    }

    @Test("An empty line before a message, in one packet with it, is no keep-alive of the server's")
    func before() throws {
        var capture = NetworkCapture()
        capture.segment(.phone, [], flags: 2)
        capture.segment(.server, [], flags: 18)
        capture.message(.phone, Self.register)
        capture.message(.server, "\n" + Self.agreed)
        #expect(try Self.later(capture).isEmpty)
        #expect(capture.reading.calls[0].messages.count == 2)
    }

    @Test("Over UDP zeros are one as well, and what says nothing between others is no SIP")
    func zeros() throws {
        var capture = NetworkCapture()
        capture.datagram(.phone, "\0\0\0\0")
        capture.datagram(.phone, Self.register)
        capture.datagram(.phone, "\0\0\0\0")
        capture.datagram(.phone, "jaK")
        let reading = capture.reading
        #expect(reading.calls.map(\.keepAliveCount) == [1])
        #expect(reading.leftOut.entries.map(\.why) == [CallReading.Skip.otherTraffic.rawValue])
        #expect(reading.leftOut.entries.map(\.count) == [2])
    }

    @Test("Of all calls together 262144 keep-alives are kept; what is more is counted")
    func room() {
        let room = CapturedCall.Room()
        let server = NetworkEndpoint(address: [192, 0, 2, 2], port: 5_060)
        // A call keeps 16384 of its own.
        let calls = (UInt8(1)...17).map { host in
            let phone = NetworkEndpoint(address: [192, 0, 2, 100 + host], port: 40_000)
            return CapturedCall(phone, server, isTCP: false, opener: nil, room: room)
        }
        for call in calls { for number in 0..<16_385 { call.keepOpen(.one, 2, at: Int64(number), number) } }
        #expect(calls.map(\.keepAliveCount) == Array(repeating: 16_385, count: 17))
        #expect(calls.map(\.keepAlives.count) == Array(repeating: 16_384, count: 16) + [0])
    }

    @Test("A ping is one also where the capture does not show the connection's beginning")
    func begun() throws {
        var capture = NetworkCapture()
        capture.message(.server, Self.agreed)
        capture.message(.phone, "\n\n")
        capture.message(.phone, Self.register)
        let reading = capture.reading
        #expect(reading.leftOut.entries.isEmpty)
        #expect(reading.calls.map(\.keepAliveCount) == [1])
        #expect(reading.calls[0].messages.count == 2)
    }
}
