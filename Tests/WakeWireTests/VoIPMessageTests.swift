import Testing

@testable import WakeWire

@Suite("The messages of calls")
struct VoIPMessageTests {
    private static let requests: [WireVoIPRequest] = [
        .watch(id: 7, socket: 1), .unwatch(socket: .max), .setKeepAlive(id: 8, period: 600.5), .clearKeepAlive,
    ]
    private static let events: [WireVoIPEvent] = [.data(socket: 1), .closed(socket: .max), .keepAlive, .started]

    @Test("A request is read as it was written, and cut anywhere it is refused", arguments: requests)
    func request(request: WireVoIPRequest) throws {
        let packet = AppMessage.voip(request).encode()
        #expect(try AppMessage(decoding: packet) == .voip(request))
        for length in packet.indices {
            #expect(throws: WireError.self) { try AppMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("An event is read as it was written, and cut anywhere it is refused", arguments: events)
    func event(event: WireVoIPEvent) throws {
        let message = BenchMessage.deliver(WireDelivery(delivery: 3, cause: "voip", manager: 0, body: .voip(event)))
        let packet = message.encode()
        #expect(try BenchMessage(decoding: packet) == message)
        for length in packet.indices {
            #expect(throws: WireError.self) { try BenchMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test(
        "A request with a value that means nothing is refused",
        arguments: [
            #"{"type":"voip.watch","id":1}"#, #"{"type":"voip.watch","id":1,"socket":0}"#,
            #"{"type":"voip.watch","id":1,"socket":4294967296}"#, #"{"type":"voip.watch","socket":1}"#,
            #"{"type":"voip.setKeepAlive","id":1}"#, #"{"type":"voip.setKeepAlive","id":1,"period":-1}"#,
            #"{"type":"voip.setKeepAlive","id":1,"period":1e300}"#,
        ]
    )
    func refused(packet: String) {
        #expect(throws: WireError.self) { try AppMessage(decoding: Array(packet.utf8)) }
    }

    @Test("A reply says whether it was granted, or nothing of it")
    func granted() throws {
        for granted in [true, false, nil] {
            let reply = BenchMessage.reply(id: 1, WireReply(granted: granted))
            #expect(try BenchMessage(decoding: reply.encode()) == reply)
        }
    }
}
