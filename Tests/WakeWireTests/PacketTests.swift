import Testing

@testable import WakeWire

@Suite("Packets")
struct PacketTests {
    private static let belt = "5A1B4E6C-0D3F-4F7A-9C52-1E8A7B9D2C31"

    private static func value(_ number: UInt64) -> BenchMessage {
        .deliver(
            WireDelivery(
                delivery: number,
                event: "e-000398",
                decision: "d-000412",
                cause: "bluetooth",
                manager: 1,
                body: .peripheral(belt, .value(attribute: 18, value: [0, UInt8(number & 255)], failure: nil))
            )
        )
    }

    private static func packet(_ messages: [BenchMessage]) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for (index, message) in messages.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            message.append(to: &bytes)
        }
        return bytes + [UInt8(ascii: "]")]
    }

    @Test("Messages in an array are read in their order, and one reader reads packet after packet")
    func order() throws {
        var reader = BenchPacketReader()
        let many = (1...UInt64(WireLimits.messages)).map(Self.value)
        #expect(Self.packet(many).count <= WireLimits.packetBytes)
        #expect(try reader.messages(in: Self.packet(many)) == many)
        let few: [BenchMessage] = [
            .reply(id: 3, WireReply(taken: true)), Self.value(7),
            .callback(delivery: 8, .didBecomeActive, state: .active),
        ]
        #expect(try reader.messages(in: Self.packet(few)) == few)
        #expect(try reader.messages(in: Self.value(9).encode()) == [Self.value(9)])
    }

    @Test("Only the bytes at the front that belong to the packet are read")
    func front() throws {
        var reader = BenchPacketReader()
        let first = Self.packet([Self.value(1), Self.value(2)])
        let buffer = first + Self.packet([Self.value(3)])
        #expect(try reader.messages(in: buffer, count: first.count) == [Self.value(1), Self.value(2)])
        #expect(throws: WireError.notJSON(offset: first.count - 1)) {
            try reader.messages(in: buffer, count: first.count - 1)
        }
        #expect(throws: WireError.notJSON(offset: first.count)) {
            try reader.messages(in: buffer, count: first.count + 1)
        }
    }

    @Test(
        "An array with something in it that is no message is malformed as a whole",
        arguments: [
            ("[]", WireError.badBatch(messages: 0)),
            (#"[{"type":"reply","id":1},[{"type":"reply","id":2}]]"#, .notAnObject),
            (#"[[{"type":"reply","id":2}]]"#, .notAnObject),
            (#"[{"type":"reply","id":1},7]"#, .notAnObject),
            (#"[{"type":"reply","id":1},null]"#, .notAnObject),
            (#"[{"type":"reply","id":1},{"type":"reply"}]"#, .missing(key: "id")),
            (#"[{"type":"reply","id":1},{"type":"what"}]"#, .unknownType("what")),
            (#"[{"type":"reply","id":1},]"#, .notJSON(offset: 25)),
            (#"[{"type":"reply","id":1}"#, .notJSON(offset: 24)),
            (#"[{"type":"reply","id":1}]]"#, .notJSON(offset: 25)),
            (#"[{"type":"reply","id":1} {"type":"reply","id":2}]"#, .notJSON(offset: 25)),
        ]
    )
    func malformed(text: String, error: WireError) {
        var reader = BenchPacketReader()
        #expect(throws: error) { try reader.messages(in: Array(text.utf8)) }
    }

    @Test("An array of more than 256 messages, and a packet over 64 KiB, are malformed")
    func bounds() {
        var reader = BenchPacketReader()
        let reply = BenchMessage.reply(id: 1, WireReply())
        let many = [BenchMessage](repeating: reply, count: WireLimits.messages + 1)
        #expect(throws: WireError.badBatch(messages: 257)) { try reader.messages(in: Self.packet(many)) }
        let long = Self.value(1).encode() + [UInt8](repeating: 32, count: WireLimits.packetBytes)
        #expect(throws: WireError.tooLarge(bytes: long.count)) { try reader.messages(in: long) }
    }

    @Test("An array is no packet where one message is asked for, nor one of an app's")
    func notFromApps() {
        #expect(throws: WireError.notAnObject) { try BenchMessage(decoding: Self.packet([Self.value(1)])) }
        let packet = Array(#"[{"type":"launched"}]"#.utf8)
        #expect(throws: WireError.notAnObject) { try AppMessage(decoding: packet) }
    }

    @Test("An acknowledgement may go through to a later number, never to an earlier one")
    func through() throws {
        let range = AppMessage.acknowledge(delivery: 12, through: 19)
        #expect(String(decoding: range.encode(), as: UTF8.self) == #"{"type":"ack","delivery":12,"through":19}"#)
        for (text, through) in [
            (#"{"type":"ack","delivery":12,"through":19}"#, 19), (#"{"through":12,"delivery":12,"type":"ack"}"#, 12),
            (#"{"type":"ack","delivery":12,"through":null}"#, nil), (#"{"type":"ack","delivery":12}"#, nil),
            (#" { "type" : "ack" , "delivery" : 12 , "more" : [ ] } "#, nil),
        ] as [(String, UInt64?)] {
            let message = try AppMessage(decoding: Array(text.utf8))
            #expect(message == .acknowledge(delivery: 12, through: through), "\(text)")
        }
        let number = "a whole number from 0 to 9007199254740991"
        for (text, error) in [
            (
                #"{"type":"ack","delivery":12,"through":11}"#,
                .badValue(key: "through", expected: "at least 'delivery'")
            ),
            (#"{"type":"ack","delivery":-1}"#, .badValue(key: "delivery", expected: number)),
            (#"{"type":"ack","delivery":012}"#, .notJSON(offset: 26)),
            (#"{"type":"ack","delivery":9007199254740992}"#, .badValue(key: "delivery", expected: number)),
            (
                #"{"type":"ack","delivery":12,"through":99999999999999999999}"#,
                .wrongType(key: "through", expected: number)
            ),
            (#"{"type":"ack","delivery":12"#, .notJSON(offset: 27)),
            (#"{"type":"ack","delivery":12}}"#, .notJSON(offset: 28)),
            (#"{"type":"ack","delivery":}"#, .notJSON(offset: 25)),
            (#"{"type":"ack","delivery":"12"}"#, .wrongType(key: "delivery", expected: number)),
            (#"{"type":"ack","delivery":12,"through":"13"}"#, .wrongType(key: "through", expected: number)),
            (#"{"type":"ack"}"#, .missing(key: "delivery")),
        ] as [(String, WireError)] {
            #expect(throws: error, "\(text)") { try AppMessage(decoding: Array(text.utf8)) }
        }
    }

    @Test("A hello says that it takes batches, or nothing about it")
    func hello() throws {
        let plain = AppMessage.hello(version: 1, client: "python", pid: 7)
        #expect(
            String(decoding: plain.encode(), as: UTF8.self)
                == #"{"type":"hello","version":1,"client":"python","pid":7}"#
        )
        #expect(try AppMessage(decoding: plain.encode()) == plain)
        let batching = AppMessage.hello(version: 1, client: "swift", pid: 7, batches: true)
        #expect(try AppMessage(decoding: batching.encode()) == batching)
    }
}
