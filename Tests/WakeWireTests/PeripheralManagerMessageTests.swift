import Testing

import WakeModel
@testable import WakeWire

@Suite("The wire of the peripheral role")
struct PeripheralManagerMessageTests {
    private static let central = WireCentral(
        identifier: "0B7C1C1E-5A67-4C0C-9A1D-6B2F8C6A7D10",
        maximumUpdateLength: 182
    )
    private static let service = LocalService(
        number: 2,
        uuid: "1809",
        characteristics: [
            LocalCharacteristic(
                number: 3,
                uuid: "2A1C",
                properties: 0x22,
                permissions: 0x9,
                descriptors: [LocalDescriptor(uuid: "2901", value: [111])]
            ),
            LocalCharacteristic(number: 4, uuid: "2A1D", properties: 2, permissions: 1, value: [2]),
        ],
        includes: [1]
    )
    private static let failure = WireFailure(domain: "CBErrorDomain", code: 8, message: "not allowed")

    @Test(
        "A request survives the wire",
        arguments: [
            .create(id: 1, restoreIdentifier: nil, showPowerAlert: true), .addService(service), .removeService(2),
            .removeAllServices, .startAdvertising(localName: nil, services: []), .stopAdvertising,
            .updateValue(id: 2, characteristic: 3, value: [], centrals: nil),
            .updateValue(id: 2, characteristic: 3, value: [1], centrals: [central.identifier]),
            .respond(request: 9, result: 0x80, value: nil), .publishChannel(encrypted: true),
            .unpublishChannel(psm: 0xFF), .release,
        ] as [WirePeripheralManagerRequest]
    )
    func requests(request: WirePeripheralManagerRequest) throws {
        let message = AppMessage.peripheralManager(manager: 7, request)
        #expect(try AppMessage(decoding: message.encode()) == message)
    }

    @Test(
        "An event survives the wire",
        arguments: [
            .state(.unauthorized), .willRestore(WirePeripheralRestoration(services: [])),
            .willRestore(
                WirePeripheralRestoration(
                    services: [service],
                    subscriptions: [.init(characteristic: 3, central: central)],
                    advertisement: .init(localName: nil, services: ["1809"])
                )
            ),
            .serviceAdded(service: 2, failure: failure), .advertisingStarted(failure: nil),
            .subscribed(central, characteristic: 3), .unsubscribed(central, characteristic: 3),
            .readRequest(central, request: 1, characteristic: 3, offset: 22),
            .writeRequests(
                central,
                request: 2,
                [.init(characteristic: 3, offset: 0, value: []), .init(characteristic: 3, offset: 18, value: [5])]
            ),
            .readyToUpdate, .channelPublished(psm: 0, failure: failure), .channelUnpublished(psm: 192, failure: nil),
            .channelOpened(central, psm: 192, failure: nil),
        ] as [WirePeripheralManagerEvent]
    )
    func events(event: WirePeripheralManagerEvent) throws {
        let message = BenchMessage.deliver(WireDelivery(delivery: 1, manager: 7, body: .peripheralManager(event)))
        #expect(try BenchMessage(decoding: message.encode()) == message)
    }

    @Test(
        "A packet with a wrong value is refused with a line that names it",
        arguments: [
            (
                #"{"type":"peripheralManager.addService","manager":1,"service":{"number":1,"uuid":"18"}}"#,
                WireError.badValue(key: "uuid", expected: "a Bluetooth UUID of 4, 8 or 36 characters")
            ),
            (
                #"{"type":"peripheralManager.respond","manager":1,"request":1,"result":256}"#,
                WireError.badValue(key: "result", expected: "a whole number from 0 to 255")
            ),
            (#"{"type":"peripheralManager.removeService","manager":1}"#, WireError.missing(key: "service")),
            (
                #"{"type":"peripheralManager.addService","manager":1,"service":{"number":1,"uuid":"1809","#
                    + #""characteristics":[{"number":2,"uuid":"2A1C","permissions":["all"]}]}}"#,
                WireError.badValue(key: "permissions", expected: "words such as readable, writeable")
            ),
        ]
    )
    func refused(packet: String, error: WireError) {
        #expect(throws: error) { try AppMessage(decoding: Array(packet.utf8)) }
    }

    @Test("A packet cut at any byte is refused, and nothing worse happens")
    func cut() {
        let packet = AppMessage.peripheralManager(manager: 7, .addService(Self.service)).encode()
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try AppMessage(decoding: Array(packet[..<length])) }
        }
    }
}
