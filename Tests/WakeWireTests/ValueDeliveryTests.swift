import Testing

@testable import WakeWire

@Suite("The delivery of a value")
struct ValueDeliveryTests {
    private static let belt = "5A1B4E6C-0D3F-4F7A-9C52-1E8A7B9D2C31"
    private static let start = #"{"type":"deliver","delivery":"#
    private static let end =
        #","manager":1,"kind":"peripheral.value","peripheral":"5A1B4E6C-0D3F-4F7A-9C52-1E8A7B9D2C31","attribute":18,"value":"AEg="}"#

    private static func delivery(
        _ number: UInt64,
        event: String? = nil,
        decision: String? = nil,
        cause: String? = nil,
        manager: UInt32 = 1,
        attribute: UInt16 = 18,
        value: [UInt8]
    ) -> BenchMessage {
        let event = WireDelivery(
            delivery: number,
            event: event,
            decision: decision,
            cause: cause,
            manager: manager,
            body: .peripheral(belt, .value(attribute: attribute, value: value, failure: nil))
        )
        return .deliver(event)
    }

    private static let messages: [BenchMessage] = [
        delivery(0, manager: 0, attribute: 0, value: []),
        delivery(1, event: "e-000398", decision: "d-000412", cause: "bluetooth", value: [0, 72]),
        delivery(2, cause: "a \"belt\" of 1\n", value: [255]), delivery(3, event: "übung", value: [1, 2, 3]),
        delivery(4, event: "", decision: "a text that is longer than fifteen bytes", value: [0xFB, 0xFF, 0xBF, 0]),
        delivery(
            WireLimits.largestInteger,
            manager: .max,
            attribute: .max,
            value: (0..<512).map { UInt8(truncatingIfNeeded: $0) }
        ),
    ]

    @Test("It is read from the bench's own spelling as from any other", arguments: messages)
    func same(message: BenchMessage) throws {
        var reader = BenchPacketReader()
        let packet = message.encode()
        #expect(try reader.messages(in: packet) == [message])
        #expect(try reader.messages(in: packet) == [message])
        #expect(try BenchMessage(decoding: packet) == message)
        let spaced = Array(" ".utf8) + packet
        #expect(try reader.messages(in: spaced) == [message])
    }

    @Test("It is written in one go as it is key by key, after what is there", arguments: messages)
    func written(message: BenchMessage) {
        var bytes = Array("[".utf8)
        var others = bytes
        message.append(to: &bytes)
        FieldCoder.append(message, to: &others)
        #expect(bytes == others)
    }

    @Test("Whatever is cut off or changed in a packet, it is read as another reader reads it")
    func changed() throws {
        let packet = Self.messages[1].encode()
        for count in 0..<packet.count {
            var reader = BenchPacketReader()
            #expect(throws: WireError.notJSON(offset: count)) { try reader.messages(in: packet, count: count) }
        }
        for place in packet.indices {
            for byte in [0, 0x20, 0x22, 0x2D, 0x30, 0x39, 0x3D, 0x41, 0x5C, 0x61, 0x7B, 0x7D, 0x80, 0xFF] as [UInt8] {
                var other = packet
                other[place] = byte
                var reader = BenchPacketReader()
                let read = try? reader.messages(in: other)
                let expected = try? BenchMessage(decoding: other)
                #expect(read == expected.map { [$0] }, "\(String(decoding: other, as: UTF8.self))")
            }
        }
    }

    /// The delivery 1, with something else in the place of a part of it.
    private static func altered(_ part: String, _ other: String) -> String {
        start + "1" + end.replacing(part, with: other)
    }

    private static let outOfBounds: [(String, WireError)] = [
        (start + "9007199254740992" + end, .badValue(key: "delivery", expected: wholeNumber)),
        (start + "01" + end, .notJSON(offset: start.utf8.count + 1)),
        (start + "99999999999999999999999" + end, .wrongType(key: "delivery", expected: wholeNumber)),
        (start + "-1" + end, .badValue(key: "delivery", expected: wholeNumber)),
        (start + "" + end, .notJSON(offset: start.utf8.count)),
        (altered("18", "65536"), .badValue(key: "attribute", expected: "a whole number from 0 to 65535")),
        (
            altered("\"manager\":1", "\"manager\":4294967296"),
            .badValue(key: "manager", expected: "a whole number from 0 to 4294967295")
        ),
        (altered("AEg=", "AEg"), .badValue(key: "value", expected: "base64 with padding")),
        (altered("AEg=", "A==="), .badValue(key: "value", expected: "base64 with padding")),
        (altered("AEg=", "AE=g"), .badValue(key: "value", expected: "base64 with padding")),
        (altered("AEg=", "===="), .badValue(key: "value", expected: "base64 with padding")),
        (
            altered("AEg=", String(repeating: "AAAA", count: 171)),
            .badValue(key: "value", expected: "at most 512 bytes")
        ),
        (altered("5A1B", "5G1B"), .badValue(key: "peripheral", expected: "a UUID of 36 characters")),
        (altered("5A1B4E6C-", "5A1B4E6CA"), .badValue(key: "peripheral", expected: "a UUID of 36 characters")),
        (start + "1" + end + "}", .notJSON(offset: start.utf8.count + 1 + end.utf8.count)),
        (start + "1" + end + ",", .notJSON(offset: start.utf8.count + 1 + end.utf8.count)),
    ]
    private static let wholeNumber = "a whole number from 0 to 9007199254740991"

    @Test("A number, an identifier or a value out of its bounds is refused", arguments: outOfBounds)
    func bounds(text: String, error: WireError) {
        var reader = BenchPacketReader()
        #expect(throws: error) { try reader.messages(in: Array(text.utf8)) }
    }

    @Test("An identifier in small letters is read in capitals, after one in capitals too")
    func smallLetters() throws {
        var reader = BenchPacketReader()
        let capitals = Self.start + "1" + Self.end
        let message = Self.delivery(1, value: [0, 72])
        #expect(try reader.messages(in: Array(capitals.utf8)) == [message])
        let small = capitals.replacing(Self.belt, with: Self.belt.lowercased())
        #expect(try reader.messages(in: Array(small.utf8)) == [message])
        let other = capitals.replacing("2C31", with: "2C32")
        #expect(try reader.messages(in: Array(other.utf8)) != [message])
        #expect(try reader.messages(in: Array(capitals.utf8)) == [message])
    }
}
