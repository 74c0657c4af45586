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
            #expect(throws: WireError.cut(packet, at: length)) { try AppMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("An event is read as it was written, and cut anywhere it is refused", arguments: events)
    func event(event: WireVoIPEvent) throws {
        let message = BenchMessage.deliver(WireDelivery(delivery: 3, cause: "voip", manager: 0, body: .voip(event)))
        let packet = message.encode()
        #expect(try BenchMessage(decoding: packet) == message)
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try BenchMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test(
        "A request with a value that means nothing is refused",
        arguments: [
            (#"{"type":"voip.watch","id":1}"#, WireError.missing(key: "socket")),
            (
                #"{"type":"voip.watch","id":1,"socket":0}"#,
                .badValue(key: "socket", expected: "a whole number from 1 to 4294967295")
            ),
            (
                #"{"type":"voip.watch","id":1,"socket":4294967296}"#,
                .badValue(key: "socket", expected: "a whole number from 1 to 4294967295")
            ),
            (#"{"type":"voip.watch","socket":1}"#, .missing(key: "id")),
            (#"{"type":"voip.setKeepAlive","id":1}"#, .missing(key: "period")),
            (
                #"{"type":"voip.setKeepAlive","id":1,"period":-1}"#,
                .badValue(key: "period", expected: "a number from 0.0 to 1000000000.0")
            ),
            (
                #"{"type":"voip.setKeepAlive","id":1,"period":1e300}"#,
                .badValue(key: "period", expected: "a number from 0.0 to 1000000000.0")
            ),
        ]
    )
    func refused(packet: String, error: WireError) {
        #expect(throws: error) { try AppMessage(decoding: Array(packet.utf8)) }
    }

    @Test("A reply says whether it was granted, or nothing of it")
    func granted() throws {
        for granted in [true, false, nil] {
            let reply = BenchMessage.reply(id: 1, WireReply(granted: granted))
            #expect(try BenchMessage(decoding: reply.encode()) == reply)
        }
    }
}
