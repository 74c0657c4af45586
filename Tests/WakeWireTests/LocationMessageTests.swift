import Testing

import WakeModel
@testable import WakeWire

@Suite("The messages of location")
struct LocationMessageTests {
    private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let requests: [WireLocationRequest] = [
        .create(id: 7), .release, .startUpdating(WireLocationOptions(distanceFilter: 0.5, allowsBackground: true)),
        .stopUpdating, .allowBackground(id: 9), .startSignificant, .stopSignificant, .startVisits, .stopVisits,
        .monitor(
            WireRegion(
                identifier: "a \"b\"\n",
                shape: .circle(latitude: -90, longitude: 180, radius: 1e9),
                notifyOnExit: false
            )
        ),
        .monitor(WireRegion(identifier: "", shape: .beacons(uuid: uuid, major: 65_535, minor: 0))),
        .range(WireRegion(identifier: "r", shape: .beacons(uuid: uuid, major: nil, minor: nil))),
        .stopMonitoring(region: "a"), .requestState(region: "a"), .requestLocation,
        .requestAuthorization(always: false), .stopRanging(region: "r"), .deferUpdates(distance: nil, timeout: 1),
        .disallowDeferred, .beginSession, .endSession,
    ]

    @Test("A request is read as it was written, and cut anywhere it is refused", arguments: requests)
    func roundTrip(request: WireLocationRequest) throws {
        let message = AppMessage.location(manager: 3, request)
        let packet = message.encode()
        #expect(try AppMessage(decoding: packet) == message)
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try AppMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test(
        "A request with a value that means nothing is refused",
        arguments: [
            (#"{"type":"location.monitor","manager":1}"#, WireError.missing(key: "region")),
            (#"{"type":"location.monitor","manager":1,"region":{"identifier":"a"}}"#, .missing(key: "beacons")),
            (
                #"{"type":"location.monitor","manager":1,"region":{"identifier":"a","circle":{"latitude":90.5,"longitude":0,"radius":1}}}"#,
                .badValue(key: "latitude", expected: "a number from -90.0 to 90.0")
            ),
            (
                #"{"type":"location.monitor","manager":1,"region":{"identifier":"a","circle":{"latitude":0,"longitude":-180.5,"radius":1}}}"#,
                .badValue(key: "longitude", expected: "a number from -180.0 to 180.0")
            ),
            (
                #"{"type":"location.monitor","manager":1,"region":{"identifier":"a","circle":{"latitude":0,"longitude":0,"radius":-1}}}"#,
                .badValue(key: "radius", expected: "a number from 0.0 to 1000000000.0")
            ),
            (
                #"{"type":"location.monitor","manager":1,"region":{"identifier":"a","circle":{"latitude":0,"longitude":0,"radius":1e300}}}"#,
                .badValue(key: "radius", expected: "a number from 0.0 to 1000000000.0")
            ),
            (
                #"{"type":"location.monitor","manager":1,"region":{"identifier":"a","beacons":{"uuid":"180D"}}}"#,
                .badValue(key: "uuid", expected: "a UUID of 36 characters")
            ),
            (
                #"{"type":"location.range","manager":1,"region":{"identifier":"a","beacons":{"uuid":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0","minor":1}}}"#,
                .missing(key: "major")
            ),
            (
                #"{"type":"location.range","manager":1,"region":{"identifier":"a","beacons":{"uuid":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0","major":65536}}}"#,
                .badValue(key: "major", expected: "a whole number from 0 to 65535")
            ),
            (
                #"{"type":"location.startUpdating","manager":1,"distanceFilter":-1}"#,
                .badValue(key: "distanceFilter", expected: "a number from 0.0 to 1000000000.0")
            ),
            (
                #"{"type":"location.deferUpdates","manager":1,"timeout":"long"}"#,
                .wrongType(key: "timeout", expected: "a number of seconds")
            ),
            (
                #"{"type":"location.requestState","manager":1,"region":7}"#,
                .wrongType(key: "region", expected: "a string")
            ),
        ]
    )
    func refused(packet: String, error: WireError) {
        #expect(throws: error) { try AppMessage(decoding: Array(packet.utf8)) }
    }

    @Test("A region's name may be as long as the document says, and no longer")
    func longName() throws {
        let longest = String(repeating: "é", count: WireLimits.regionIdentifierBytes / 2)
        let message = AppMessage.location(manager: 1, .requestState(region: longest))
        #expect(try AppMessage(decoding: message.encode()) == message)
        let longer = AppMessage.location(manager: 1, .requestState(region: longest + "e"))
        #expect(throws: WireError.badValue(key: "region", expected: "at most 1024 bytes of text")) {
            try AppMessage(decoding: longer.encode())
        }
    }

    @Test("As many positions fit as the document says, and no more are read")
    func manyPositions() throws {
        func packet(_ count: Int) -> [UInt8] {
            let position = Position(
                latitude: -89.123_456_789_012_34,
                longitude: -179.123_456_789_012_3,
                altitude: 8_848.861_234_567_89,
                horizontalAccuracy: 3.141_592_653_589_793,
                verticalAccuracy: 2.718_281_828_459_045,
                course: 359.999_999_999_999_9,
                speed: 29.123_456_789_012_34,
                timestamp: 1_767_225_600.123_456
            )
            let body = WireDeliveryBody.location(.updated(Array(repeating: position, count: count)))
            return BenchMessage.deliver(WireDelivery(delivery: 1, manager: 1, body: body)).encode()
        }
        let most = packet(WireLimits.listed)
        #expect(most.count <= WireLimits.packetBytes)
        guard case .deliver(let delivery) = try BenchMessage(decoding: most),
            case .location(.updated(let positions)) = delivery.body
        else {
            Issue.record("no positions")
            return
        }
        #expect(positions.count == WireLimits.listed)
        #expect(throws: WireError.badValue(key: "locations", expected: "at most 256 of them")) {
            try BenchMessage(decoding: packet(WireLimits.listed + 1))
        }
    }

    @Test("A launch for location says so, and another does not")
    func welcome() throws {
        for isForLocation in [true, false] {
            let welcome = BenchMessage.welcome(
                Welcome(state: .background, options: LaunchOptions(isForLocation: isForLocation))
            )
            #expect(try BenchMessage(decoding: welcome.encode()) == welcome)
        }
    }
}
