import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

/// Collects the packets of a trace.
private final class Log {
    var packets: [HCIPacket] = []

    func trace() -> HCITrace { HCITrace { self.packets.append($0) } }

    /// The opcodes of commands, and the codes of events with their first byte, in order.
    var commands: [UInt16] {
        packets.filter { $0.kind == .command }.map { UInt16($0.bytes[0]) | UInt16($0.bytes[1]) << 8 }
    }

    func bytes(_ format: TraceFormat) -> [UInt8] {
        var bytes = format.head
        for packet in packets { format.append(packet, start: 1_764_000_000_000_000_000, to: &bytes) }
        return bytes
    }
}

private let belt: [UInt8] = [0xF0, 0x11, 0x22, 0x33, 0x44, 0x55]
private let timing = HCITrace.Parameters(interval: 24, latency: 0, supervisionTimeout: 72)

private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

@Suite("HCI that a run writes")
struct TracingTests {
    @Test("What is discovered page by page is read back as the same table", arguments: [23, 64, 185])
    func discovery(mtu: Int) throws {
        let log = Log()
        let trace = log.trace()
        trace.connected(to: belt, timing, at: at(0))
        let exchange = AttributeExchange(mtu: mtu)
        let services: [AttributeExchange.Entry] = [
            .init(handle: 10, end: 20, uuid: "180D"), .init(handle: 21, end: 25, uuid: "180F"),
            .init(handle: 26, end: 40, uuid: "C2A9A400-8A2D-4B6E-9B43-5B0D6A8D0E11"),
        ]
        let characteristics: [AttributeExchange.Entry] = [
            .init(handle: 11, properties: 16, uuid: "2A37"), .init(handle: 14, properties: 2, uuid: "2A38"),
            .init(handle: 16, properties: 2, uuid: "C2A9A401-8A2D-4B6E-9B43-5B0D6A8D0E11"),
        ]
        let value = (0..<400).map { UInt8(truncatingIfNeeded: $0) }
        let rounds =
            [AttributeExchange.agreeing(client: mtu, server: mtu)] + exchange.discovering(services: services)
            + exchange.discovering(characteristics: characteristics, from: 10, to: 20)
            + exchange.discovering(descriptors: [.init(handle: 13, uuid: "2902")], from: 13, to: 13)
            + exchange.reading(15, value: value) + exchange.reading(15, value: Array(value.prefix(mtu - 1)))
            + exchange.writing(13, value: [1, 0])
        for round in rounds {
            trace.attribute(round.request, with: belt, fromPhone: true, at: at(1))
            if let response = round.response { trace.attribute(response, with: belt, fromPhone: false, at: at(1)) }
        }
        trace.attribute(exchange.notifying(12, value: [0, 72]).request, with: belt, fromPhone: false, at: at(2))
        for format in TraceFormat.allCases {
            let read = try #require(Captures.reading(log.bytes(format)))
            #expect(read.damage == nil)
            #expect(read.reading.skipped.isEmpty, "\(read.reading.skipped)")
            let device = try #require(read.reading.devices.first)
            let lift = PeripheralLift(device, start: try #require(read.reading.first)).peripheral
            #expect(lift.services.map(\.uuid) == services.map(\.uuid))
            #expect(lift.services[0].characteristics.map(\.uuid) == characteristics.map(\.uuid))
            #expect(lift.services[0].characteristics.map { UInt8($0.properties.rawValue) } == [16, 2, 2])
            #expect(lift.services[0].characteristics[0].timetable.entries.count == 1)
        }
    }

    @Test("A controller waits for one link at a time, for all the devices that are wanted")
    func waiting() {
        let log = Log()
        let trace = log.trace()
        let other: [UInt8] = [0xF0, 0x11, 0x22, 0x33, 0x44, 0x66]
        trace.connecting(to: belt, timing, at: at(0))
        trace.connecting(to: other, timing, at: at(1))
        trace.connected(to: belt, timing, at: at(2))
        trace.cancelling(other, at: at(3))
        trace.cancelling(other, at: at(4))
        // Added and waited for; not waited for, added, waited for both; taken out, waited for the other; given up and taken out.
        #expect(
            log.commands == [0x2011, 0x200D, 0x200E, 0x2011, 0x200D, 0x2012, 0x200D, 0x200E, 0x2012]
        )
    }

    @Test("A link that the phone ends is asked for, and one that is lost is not")
    func ends() {
        let log = Log()
        let trace = log.trace()
        for reason in [0x16, 0x08] as [UInt8] {
            trace.connected(to: belt, timing, at: at(0))
            trace.disconnected(belt, reason: reason, at: at(1))
        }
        trace.disconnected(belt, reason: 0x13, at: at(2))
        #expect(log.commands == [0x0406])
        #expect(log.packets.filter { $0.kind == .event && $0.bytes[0] == 0x05 }.map(\.bytes.last) == [0x16, 0x08])
    }

    @Test("An advertisement has what finds room, its scan response the rest, and an extended one all that is longer")
    func advertising() {
        let short = AdvertisingData(Advertisement(localName: "Belt", services: ["180D"], txPower: 4))
        #expect(
            short.advertised == [2, 1, 6, 3, 3, 0x0d, 0x18, 2, 0x0a, 4, 5, 9] + Array("Belt".utf8)
        )
        #expect(short.scanResponse.isEmpty)
        let name = String(repeating: "n", count: 26)
        let longer = AdvertisingData(Advertisement(localName: name, services: ["180D"]))
        #expect(longer.scanResponse == [27, 9] + Array(name.utf8))
        let longest = AdvertisingData(
            Advertisement(localName: name, manufacturerData: [UInt8](repeating: 1, count: 60))
        )
        #expect(longest.isExtended && longest.scanResponse.isEmpty)
        #expect(longest.advertised.count == 3 + 62 + 28)
    }
}
