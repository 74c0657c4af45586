import Testing
import WakeModel
import WakeWire

@Suite("The messages of accessories")
struct AccessoryMessageTests {
    private static let dock = Accessory(
        connection: 3,
        name: "Dock",
        manufacturer: "Acme",
        model: "D1",
        serialNumber: "7",
        firmwareRevision: "1.0",
        hardwareRevision: "A",
        protocols: ["com.example.log", "com.example.keys"]
    )

    @Test(
        "Every request survives being written and read",
        arguments: [
            WireAccessoryRequest.register, .unregister, .list(id: 9),
            .open(session: 5, accessory: 3, protocolName: "com.example.log"), .close(session: 5),
        ]
    )
    func requests(request: WireAccessoryRequest) throws {
        let message = AppMessage.accessory(manager: 4, request)
        #expect(try AppMessage(decoding: message.encode()) == message)
    }

    @Test(
        "Every event survives being written and read",
        arguments: [
            WireAccessoryEvent.connected(dock), .disconnected(3), .sessionOpened(failure: nil), .data,
            .sessionOpened(failure: WireFailure(domain: "NSPOSIXErrorDomain", code: 16, message: "taken")),
            .sessionEnded(failure: WireFailure(domain: "NSPOSIXErrorDomain", code: 105, message: "lost")),
        ]
    )
    func events(event: WireAccessoryEvent) throws {
        let message = BenchMessage.deliver(WireDelivery(delivery: 1, manager: 4, body: .accessory(event)))
        #expect(try BenchMessage(decoding: message.encode()) == message)
        #expect(WireDeliveryBody.accessory(event).source == "accessory")
    }

    @Test("A list of accessories survives being written and read")
    func list() throws {
        let message = BenchMessage.reply(id: 9, WireReply(accessories: [Self.dock]))
        #expect(try BenchMessage(decoding: message.encode()) == message)
    }

    @Test(
        "What is out of range is refused",
        arguments: [
            (
                #"{"type":"accessory.open","manager":4,"session":5,"accessory":1}"#,
                WireError.missing(key: "protocol")
            ),
            (
                #"{"type":"accessory.open","manager":4,"session":-1,"accessory":1,"protocol":"a.b"}"#,
                .badValue(key: "session", expected: "a whole number from 0 to 4294967295")
            ),
            (#"{"type":"accessory.close","manager":4}"#, .missing(key: "session")),
            (#"{"type":"accessory.list","manager":4}"#, .missing(key: "id")),
            (#"{"type":"accessory.fold","manager":4}"#, .unknownType("accessory.fold")),
        ]
    )
    func refused(packet: String, error: WireError) {
        #expect(throws: error) { try AppMessage(decoding: Array(packet.utf8)) }
    }

    @Test("A protocol's name has a longest length")
    func longName() {
        let longest = String(repeating: "a", count: WireLimits.protocolBytes)
        let packet = AppMessage.accessory(manager: 1, .open(session: 2, accessory: 3, protocolName: longest + "b"))
        #expect(throws: WireError.badValue(key: "protocol", expected: "at most 155 bytes of text")) {
            try AppMessage(decoding: packet.encode())
        }
    }
}
