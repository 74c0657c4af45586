import BlueZStandIn
import Glibc
import Testing
import WakeBlueZ
import WakeSystem

@testable import WakeBluetooth
@testable import WakeCaptures

private let address = "F0:11:22:33:44:55"
private let start: Int64 = 1_700_000_000_000_000_000

/// A monitor whose messages a test sends, and what is recorded of them.
private final class Ends {
    static let own: [UInt8] = [0x01, 0, 0, 0x3D, 0xAA, 0]
    static let other: [UInt8] = [0x02, 0, 0, 0x3D, 0xAA, 0]

    let loop: EventLoop
    let monitor: HCIMonitor
    private let end: Descriptor
    private(set) var written: [HCIPacket] = []

    init(on loop: EventLoop) throws {
        self.loop = loop
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0)
        end = Descriptor(owning: ends[1])
        monitor = try HCIMonitor(Descriptor(owning: ends[0]), on: loop)
    }

    func send(_ opcode: UInt16, _ index: UInt16, _ bytes: [UInt8]) throws {
        let head = [opcode, index, UInt16(bytes.count)].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        #expect(try end.write(head + bytes) == head.count + bytes.count)
    }

    /// A controller is there.
    func appear(_ index: UInt16, _ address: [UInt8]) throws { try send(0, index, [0, 1] + address) }

    func listen(to controller: String? = nil) throws -> AirRecording {
        try AirRecording(controller: controller, by: monitor, since: start, waiting: LiveWait(loop)) { [unowned self] in
            written.append($0)
        }
    }
}

@Suite("Recording what a controller hears")
struct AirRecordingTests {
    /// A notification of 0x48 from handle 0x0010, and a response.
    private static let notification: [UInt8] = [0x40, 0x20, 9, 0, 5, 0, 4, 0, 0x1b, 0x10, 0, 0, 0x48]
    private static let response: [UInt8] = [0x40, 0x20, 6, 0, 2, 0, 4, 0, 0x0b, 0x48]
    private static let encrypt: [UInt8] = [0x19, 0x20, 28, 0x40, 0] + [UInt8](repeating: 7, count: 26)

    @Test("The packets of the one controller are written, without keys, and values are counted")
    func packets() throws {
        let ends = try Ends(on: EventLoop())
        try ends.appear(1, Ends.own)
        let air = try ends.listen()
        try ends.send(2, 1, Self.encrypt)
        try ends.send(5, 1, Self.notification)
        try ends.send(5, 1, Self.response)
        try ends.send(5, 0, Self.notification)
        #expect(air.finish() == [])
        #expect(ends.written.map(\.kind) == [.command, .data, .data])
        #expect(ends.written[0].bytes.suffix(16) == [UInt8](repeating: 0, count: 16))
        #expect(ends.written[1].bytes == Self.notification)
        #expect(air.count == 3 && air.values == 1)
    }

    @Test("Of two controllers one must be named, and only its packets are written")
    func several() throws {
        let ends = try Ends(on: EventLoop())
        try ends.appear(0, Ends.other)
        try ends.appear(1, Ends.own)
        let error = #expect(throws: LiveFailure.self) { try ends.listen() }
        #expect(error == .severalAdapters(["00:AA:3D:00:00:02 (hci0)", "00:AA:3D:00:00:01 (hci1)"]))
        try ends.appear(0, Ends.other)
        try ends.appear(1, Ends.own)
        let air = try ends.listen(to: "00:aa:3d:00:00:01")
        try ends.send(5, 0, Self.notification)
        try ends.send(5, 1, Self.response)
        #expect(air.finish() == [])
        #expect(ends.written.map(\.bytes) == [Self.response])
    }

    @Test("A controller that is not there is told with those that are")
    func absent() throws {
        let ends = try Ends(on: EventLoop())
        try ends.appear(1, Ends.own)
        let error = #expect(throws: LiveFailure.self) { try ends.listen(to: "00:AA:3D:00:00:09") }
        let there = "there are 00:AA:3D:00:00:01 (hci1)"
        #expect(error == .missing("no Bluetooth controller 00:AA:3D:00:00:09 is there; \(there)"))
    }
}

@Suite(
    "Visits to live devices",
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus")
)
struct LiveVisitTests {
    private let bus: PrivateBus
    private let bluez: StandInBlueZ
    private let stop = StopFlag()

    init() throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        bluez.devices[address] = .belt
        try bluez.appear(powered: true)
    }

    private func adapter() throws -> LiveAdapter {
        try LiveAdapter(address: nil, bus: .address(bus.address), on: bus.loop, probes: false, stop: stop)
    }

    private func visit(_ adapter: LiveAdapter) throws -> LiveVisit {
        try LiveVisit("HR Belt", adapter: adapter, within: .seconds(20)) { _ in }
    }

    private func turn(_ visit: LiveVisit, until holds: () -> Bool) throws {
        let deadline = MonotonicClock.now() + 20_000_000_000
        while !holds() {
            try #require(MonotonicClock.now() < deadline)
            _ = try bus.loop.runOnce(timeout: 100_000_000)
            visit.turn()
        }
    }

    @Test("A device is subscribed to wherever it notifies, read, and its table is known")
    func asked() throws {
        let visit = try visit(adapter())
        try turn(visit) { visit.subscriptions == 2 && bluez.count("ReadValue") > 0 }
        #expect(visit.address == address && visit.links == 1 && visit.isLinked)
        #expect(visit.refusals == [])
        let table = visit.table
        #expect(table.services[0x0a]?.uuid == .short(0x180d))
        #expect(table.characteristics[0x0b] == .init(properties: 0x10, value: 0x0c, uuid: .short(0x2a37)))
        #expect(table.characteristics[0x0e] == .init(properties: 0x1a, value: 0x0f, uuid: .short(0x2a38)))
        #expect(table.characteristic(configuredBy: 0x0d) == 0x0c)
        try visit.leave()
        #expect(bluez.count("Disconnect") == 1)
    }

    @Test("A device that drops its link is connected to and subscribed to again")
    func again() throws {
        let visit = try visit(adapter())
        try turn(visit) { visit.subscriptions == 2 }
        let subscribed = bluez.count("StartNotify")
        try bluez.dropLink(address)
        try turn(visit) { visit.links == 2 && visit.subscriptions == 2 }
        #expect(bluez.count("StartNotify") > subscribed)
    }

    @Test("Who interrupts need not wait until a device is heard")
    func interrupted() throws {
        let adapter = try adapter()
        stop.isAsked = true
        let error = #expect(throws: LiveFailure.self) {
            try LiveVisit("Lamp", adapter: adapter, within: .seconds(600)) { _ in }
        }
        #expect(error == .interrupted)
    }
}
