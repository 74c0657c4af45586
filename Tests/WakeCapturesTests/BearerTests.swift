import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("Links of hosts' logs")
struct BearerTests {
    private static let belt: [(uuid: String, properties: UInt8)] = [("2A37", 0x10), ("2A39", 0x08)]

    // MARK: Enhanced ATT

    @Test("What goes over the channels of Enhanced ATT is read as what goes over ATT's own")
    func enhanced() throws {
        let reading = try Captures.reading("eatt.btsnoop")
        let device = try #require(reading.devices.first)
        #expect(device.notifications == 7)
        #expect(device.connections.map(\.notifications) == [7])
        #expect(device.reads == 1)
        // The opening of the channels, which is signalled.
        #expect(reading.skipped == [.otherChannel: 2])
        let values = Notified.read(device, since: 0).map(\.value)
        #expect(values == [0x50, 0x51, 0x52, 0x53, 0x60, 0x61, 0x70].map { [0, $0] })
    }

    /// A session in which either end opened a channel for Enhanced ATT: the phone receives on 0041, the device on 0051.
    private static func opened(byPhone: Bool, mtu: UInt8 = 247) -> HCISession {
        var session = HCISession()
        session.connect()
        session.discover("180D", belt)
        session.subscribe(0)
        let numbers: [UInt8] = byPhone ? [0x41, 0x51] : [0x51, 0x41]
        // SPSM 0027, MTU and MPS, 8 credits; the second number that was asked for is refused.
        let asked: [UInt8] = [0x27, 0, mtu, 0, 247, 0, 8, 0, numbers[0], 0, numbers[0] + 1, 0]
        session.send(5, [0x17, 7, 12, 0] + asked, byPhone: byPhone)
        session.send(5, [0x18, 7, 12, 0, 200, 0, 247, 0, 8, 0, 4, 0, numbers[1], 0, 0, 0], byPhone: !byPhone)
        return session
    }

    @Test("Either end may open them, and the less of their MTUs counts", arguments: [true, false])
    func eitherEnd(byPhone: Bool) throws {
        var session = Self.opened(byPhone: byPhone)
        session.send(0x41, [5, 0, 0x1b, 12, 0, 0, 0x50], byPhone: false)
        session.send(0x51, [3, 0, 0x0a, 12, 0], byPhone: true)
        session.send(0x41, [3, 0, 0x0b, 0, 0x51], byPhone: false)
        let device = try #require(try session.reading().devices.first)
        #expect(device.notifications == 1)
        #expect(device.table.values[12] == [0, 0x51])
        #expect(device.connections.map(\.mtu) == [200])
    }

    @Test("A packet in several frames is put together, and each end's apart")
    func frames() throws {
        var session = Self.opened(byPhone: true)
        session.send(0x41, [9, 0, 0x1b, 12, 0], byPhone: false)
        session.send(0x51, [6, 0, 0x12, 15], byPhone: true)
        session.send(0x41, [1, 2, 3], byPhone: false)
        session.send(0x51, [0, 7, 8, 9], byPhone: true)
        session.send(0x41, [4, 5, 6], byPhone: false)
        session.send(0x41, [1, 0, 0x13], byPhone: false)
        let reading = try session.reading()
        let device = try #require(reading.devices.first)
        #expect(Notified.read(device, since: 0).map(\.value) == [[1, 2, 3, 4, 5, 6]])
        #expect(device.writes == [15: 1])
        #expect(reading.skipped == [.otherChannel: 2])
    }

    @Test("A frame that is longer than its packet is left out, and the next packet is read")
    func longFrame() throws {
        var session = Self.opened(byPhone: true)
        session.send(0x41, [4, 0, 0x1b, 12, 0, 1, 2], byPhone: false)
        session.send(0x41, [4, 0, 0x1b, 12, 0, 3], byPhone: false)
        let reading = try session.reading()
        #expect(Notified.read(try #require(reading.devices.first), since: 0).map(\.value) == [[3]])
        #expect(reading.skipped == [.otherChannel: 2, .badPacket: 1])
    }

    @Test("Channels of others, and those that are closed, are no channels of ATT")
    func otherChannels() throws {
        var session = Self.opened(byPhone: true)
        // The device answers the phone: its number, then the phone's.
        session.send(5, [0x06, 8, 4, 0, 0x51, 0, 0x41, 0], byPhone: true)
        session.send(5, [0x07, 8, 4, 0, 0x51, 0, 0x41, 0], byPhone: false)
        session.send(0x41, [5, 0, 0x1b, 12, 0, 0, 0x50], byPhone: false)
        session.send(5, [0x17, 9, 10, 0, 0x80, 0, 247, 0, 247, 0, 8, 0, 0x43, 0], byPhone: true)
        session.send(5, [0x18, 9, 10, 0, 247, 0, 247, 0, 8, 0, 0, 0, 0x53, 0], byPhone: false)
        session.send(0x43, [5, 0, 0x1b, 12, 0, 0, 0x50], byPhone: false)
        let reading = try session.reading()
        #expect(reading.devices.first?.notifications == 0)
        #expect(reading.skipped == [.otherChannel: 8])
    }

    // MARK: The MTU

    @Test("An MTU that the peripheral asks for holds as one that the phone asks for")
    func askedByPeripheral() throws {
        let reading = try Captures.reading("mtu-asked-by-peripheral.btsnoop")
        let device = try #require(reading.devices.first)
        let start = try #require(reading.first)
        #expect(device.connections.map(\.mtu) == [247])
        #expect(PeripheralLift(device, start: start).peripheral.mtu == 247)
        let check = CaptureCheck(device, start: start, files: ["capture"])
        #expect(!check.unjudged.contains("exchange of the MTU"))
    }

    @Test("ATT-1: too small an MTU is found where the peripheral asks for it, and the phone's is none of the device's")
    func smallMTU() throws {
        for (client, isFound) in [(UInt8(22), true), (247, false)] {
            var session = HCISession()
            session.connect()
            session.send(4, [0x02, client, 0], byPhone: false)
            session.send(4, [0x03, 20, 0], byPhone: true)
            session.discover("180D", Self.belt)
            let reading = try session.reading()
            let device = try #require(reading.devices.first { $0.addressText == "F0:11:22:33:44:55" })
            let found = CaptureCheck(device, start: 0, files: ["capture"]).findings.map(\.guideline)
            #expect(found.contains(.exchangedMTU) == isFound)
            #expect(device.connections.map(\.mtu) == [23])
        }
    }

    // MARK: The end

    @Test("In the device's own log a phone that hangs up is no fault of the device's")
    func phoneHangsUp() throws {
        let reading = try Captures.reading("accessory-side-central-hangs-up.btsnoop")
        let device = try #require(reading.devices.first)
        let start = try #require(reading.first)
        let lift = PeripheralLift(device, start: start)
        #expect(lift.peripheral.faults.isEmpty)
        #expect(device.notifications == 1)
        // The link is one from its beginning: LE Connection Complete is in the log.
        #expect(lift.comments.contains { $0.hasPrefix("link 1: from 1s221ms to 1s382ms, interval ") })
    }

    /// The device's own log of a link that ended so.
    private static func ended(_ reason: UInt8, hangsUp: Bool = false, isDevice: Bool) throws -> PeripheralLift {
        var session = HCISession(isDevice: isDevice)
        session.wait(100)
        session.connect()
        session.discover("180D", belt)
        session.subscribe(0)
        session.notify(0, [0, 1])
        if hangsUp { session.hangUp() }
        session.wait(50)
        session.disconnect(reason)
        return try session.lift()
    }

    @Test("In the device's own log what the device or the air ended is a fault, and what the phone ended is none")
    func deviceLog() throws {
        for (reason, word) in [(0x16, "host"), (0x08, "timeout"), (0x3d, "integrity")] as [(UInt8, String)] {
            let faults = try Self.ended(reason, isDevice: true).peripheral.faults
            #expect(faults == [DeviceFault("link-1-\(word)", .disconnectAfter(1))])
        }
        for reason: UInt8 in [0x05, 0x13, 0x14, 0x15, 0x1a, 0x29, 0x3b] {
            #expect(try Self.ended(reason, isDevice: true).peripheral.faults.isEmpty, "\(reason)")
        }
        // It hung up, whatever the controller says of it.
        #expect(try Self.ended(0x13, hangsUp: true, isDevice: true).peripheral.faults.count == 1)
    }

    @Test("In the phone's log what the device or the air ended is a fault, and what the phone ended is none")
    func phoneLog() throws {
        for reason: UInt8 in [0x08, 0x13, 0x3b, 0x3d] {
            #expect(try Self.ended(reason, isDevice: false).peripheral.faults.count == 1, "\(reason)")
        }
        #expect(try Self.ended(0x16, isDevice: false).peripheral.faults.isEmpty)
        #expect(try Self.ended(0x13, hangsUp: true, isDevice: false).peripheral.faults.isEmpty)
    }

    @Test("Two phones on one device are one session of it, from the first's beginning")
    func twoPhones() throws {
        var session = HCISession(isDevice: true)
        session.connect()
        session.discover("180D", Self.belt)
        session.subscribe(0)
        session.notify(0, [0, 1])
        session.wait(1_000)
        session.connectAgain()
        session.notifyAgain(0, [0, 2])
        session.notify(0, [0, 3])
        let device = try #require(try session.reading().devices.first)
        #expect(device.connectionCount == 1)
        #expect(device.notifications == 3)
    }
}
