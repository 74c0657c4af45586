import Testing
import WakeModel

@testable import WakeCaptures

/// What a host's log has of one link to a device, in btsnoop.
struct HCISession {
    typealias Entry = AttributeExchange.Entry

    private var packets: [HCIPacket] = []
    /// Milliseconds since the capture began.
    private(set) var now: Int64 = 0
    /// Whether the captured side is the device, and its peer the phone.
    private let isDevice: Bool

    private static let address: [UInt8] = [0x55, 0x44, 0x33, 0x22, 0x11, 0xf0]

    init(isDevice: Bool = false) { self.isDevice = isDevice }

    // MARK: The link

    mutating func wait(_ milliseconds: Int64) { now += milliseconds }

    private mutating func emit(_ kind: HCIPacket.Kind, _ fromHost: Bool, _ bytes: [UInt8]) {
        let time = Instant(nanoseconds: now * 1_000_000)
        packets.append(HCIPacket(kind: kind, fromHost: fromHost, bytes: bytes, at: time))
    }

    mutating func connect() {
        let role: UInt8 = isDevice ? 1 : 0
        emit(.event, false, [0x3e, 19, 1, 0, 0x40, 0, role, 1] + Self.address + [24, 0, 0, 0, 72, 0, 0])
    }

    /// HCI_Disconnect: this side hangs up.
    mutating func hangUp() { emit(.command, true, [0x06, 0x04, 3, 0x40, 0, 0x13]) }

    mutating func disconnect(_ reason: UInt8) { emit(.event, false, [5, 4, 0, 0x40, 0, reason]) }

    /// A packet of L2CAP, by the phone or by the device.
    mutating func send(_ channel: UInt16, _ body: [UInt8], byPhone: Bool) {
        let frame = AttributeExchange.word(UInt16(body.count)) + AttributeExchange.word(channel) + body
        let fromHost = byPhone != isDevice
        let head = [0x40, fromHost ? 0x00 : 0x20] + AttributeExchange.word(UInt16(frame.count))
        emit(.data, fromHost, head + frame)
    }

    // MARK: Another phone

    /// Another phone connects to the device, whose log this is.
    mutating func connectAgain() {
        let address: [UInt8] = [1, 0, 0, 0xbb, 0x22, 0xc0]
        emit(.event, false, [0x3e, 19, 1, 0, 0x41, 0, 1, 1] + address + [24, 0, 0, 0, 72, 0, 0])
    }

    /// The device notifies the other phone.
    mutating func notifyAgain(_ place: Int, _ value: [UInt8]) {
        let body = [0x1b] + AttributeExchange.word(Self.value(place)) + value
        let frame = AttributeExchange.word(UInt16(body.count)) + [4, 0] + body
        emit(.data, true, [0x41, 0] + AttributeExchange.word(UInt16(frame.count)) + frame)
    }

    // MARK: Attributes

    /// Requests of the phone, and the device's answers.
    mutating func play(_ rounds: [AttributeExchange.Round]) {
        for round in rounds {
            send(4, round.request, byPhone: true)
            if let response = round.response { send(4, response, byPhone: false) }
        }
    }

    /// The phone finds a service with these characteristics, each of three handles from 11 on.
    mutating func discover(_ service: String, _ characteristics: [(uuid: String, properties: UInt8)]) {
        let exchange = AttributeExchange(mtu: 247)
        let end = UInt16(10 + 3 * characteristics.count)
        let entries = characteristics.enumerated().map { place, one in
            Entry(handle: UInt16(11 + 3 * place), properties: one.properties, uuid: one.uuid)
        }
        play(exchange.discovering(services: [Entry(handle: 10, end: end, uuid: service)]))
        play(exchange.discovering(characteristics: entries, from: 10, to: end))
    }

    /// The handle of a characteristic's value, by its place.
    static func value(_ place: Int) -> UInt16 { UInt16(12 + 3 * place) }

    mutating func subscribe(_ place: Int, indications: Bool = false) {
        write(handle: Self.value(place) + 1, [indications ? 2 : 1, 0])
    }

    mutating func write(_ place: Int, _ value: [UInt8], refusedWith error: UInt8? = nil) {
        write(handle: Self.value(place), value, refusedWith: error)
    }

    private mutating func write(handle: UInt16, _ value: [UInt8], refusedWith error: UInt8? = nil) {
        let handle = AttributeExchange.word(handle)
        play([.init(request: [0x12] + handle + value, response: error.map { [1, 0x12] + handle + [$0] } ?? [0x13])])
    }

    /// Write Command: it is not answered.
    mutating func command(_ place: Int, _ value: [UInt8]) {
        send(4, [0x52] + AttributeExchange.word(Self.value(place)) + value, byPhone: true)
    }

    mutating func notify(_ place: Int, _ value: [UInt8], indicates: Bool = false) {
        send(4, [indicates ? 0x1d : 0x1b] + AttributeExchange.word(Self.value(place)) + value, byPhone: false)
    }

    // MARK: What it shows

    func reading() throws -> CaptureReading {
        var bytes = TraceFormat.btsnoop.head
        for packet in packets { TraceFormat.btsnoop.append(packet, start: 1_764_000_000_000_000_000, to: &bytes) }
        let (reading, damage) = try #require(Captures.reading(bytes))
        #expect(damage == nil)
        return reading
    }

    func lift(_ pace: Pace = Pace()) throws -> PeripheralLift {
        let reading = try reading()
        return PeripheralLift(try #require(reading.devices.first), start: try #require(reading.first), pace: pace)
    }
}
