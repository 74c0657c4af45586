import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

/// A sniffer's capture in the making, in pcap.
private struct Sniffed {
    /// What a packet is wrapped in.
    enum Form: CaseIterable {
        /// Link type 251: nothing.
        case plain
        /// Link type 256, with and without the direction.
        case told
        case untold
        /// Link type 272.
        case nordic
    }

    /// A packet of the air, from its access address to its checksum.
    struct Frame {
        /// Microseconds since 1970.
        var time: Int64
        var isSent: Bool
        var packet: [UInt8]

        var isAdvertisement: Bool { packet.starts(with: [0xd6, 0xbe, 0x89, 0x8e]) }
        /// What it notifies, without the handle; nil for anything else.
        var notified: [UInt8]? { packet.count > 16 && packet[10] == 0x1b ? Array(packet[13..<packet.count - 3]) : nil }
    }

    var frames: [Frame] = []

    /// The frames of a capture of link type 251, which begins with advertisements; the central speaks first, and the ends take turns.
    init(_ name: String) throws {
        let bytes = try Captures.bytes(name)
        var (place, isSent) = (24, true)
        while place < bytes.count {
            let head = bytes[place..<place + 16].map(Int.init)
            let seconds = head[0] | head[1] << 8 | head[2] << 16 | head[3] << 24
            let length = head[8] | head[9] << 8
            let time = Int64(seconds) * 1_000_000 + Int64(head[4] | head[5] << 8 | head[6] << 16)
            let packet = Array(bytes[place + 16..<place + 16 + length])
            frames.append(Frame(time: time, isSent: isSent, packet: packet))
            isSent = frames[frames.count - 1].isAdvertisement || !isSent
            place += 16 + length
        }
    }

    /// A link of which nothing was heard yet.
    init() {}

    /// A packet of the link: its LLID, the number that its sender expects next, its own, and what it carries.
    mutating func add(
        _ isSent: Bool,
        after microseconds: Int64,
        _ kind: UInt8,
        expects: UInt8,
        _ number: UInt8,
        _ body: [UInt8] = []
    ) {
        let packet = [0x3c, 0x4a, 0x65, 0x50, kind | expects << 2 | number << 3, UInt8(body.count)] + body + [0, 0, 0]
        let time = (frames.last?.time ?? 1_700_000_000_000_000) + microseconds
        frames.append(Frame(time: time, isSent: isSent, packet: packet))
    }

    static func notification(_ value: UInt8) -> [UInt8] { [5, 0, 4, 0, 0x1b, 3, 0, 0, value] }

    func bytes(_ form: Form) -> [UInt8] {
        let linkType: UInt32 = form == .plain ? 251 : form == .nordic ? 272 : 256
        var bytes: [UInt8] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0]
        bytes += Self.little(linkType)
        for frame in frames {
            let body = Self.head(frame, form) + frame.packet
            bytes += Self.little(UInt32(frame.time / 1_000_000)) + Self.little(UInt32(frame.time % 1_000_000))
            bytes += Self.little(UInt32(body.count)) + Self.little(UInt32(body.count)) + body
        }
        return bytes
    }

    private static func head(_ frame: Frame, _ form: Form) -> [UInt8] {
        switch form {
        case .plain: return []
        case .told, .untold:
            // Dewhitened, with a checksum that is right, and the kind of packet in three bits.
            let kind: UInt16 = form == .untold || frame.isAdvertisement ? 0 : frame.isSent ? 2 : 3
            let flags = 0x0c01 | kind << 7
            return [10, 0xc4, 0x80, 0, 0xd6, 0xbe, 0x89, 0x8e, UInt8(flags & 0xff), UInt8(flags >> 8)]
        case .nordic:
            let size = UInt8(10 + frame.packet.count)
            let flags: UInt8 = frame.isSent && !frame.isAdvertisement ? 3 : 1
            return [1, size, 0, 3, 1, 0, frame.isAdvertisement ? 2 : 6, 10, flags, 37, 50, 1, 0, 150, 0, 0, 0]
        }
    }

    private static func little(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }

    func reading(_ form: Form) throws -> CaptureReading {
        let (reading, damage) = try #require(Captures.reading(bytes(form)))
        #expect(damage == nil)
        return reading
    }

    /// What was notified, by the one device that notified.
    func notified(_ form: Form) throws -> [UInt8] {
        let devices = try reading(form).devices.filter { $0.operations > 0 }
        try #require(devices.count == 1, "\(form): \(devices.map(\.operations)) packets of ATT")
        return Notified.read(devices[0], since: 0).compactMap(\.value.last)
    }

    /// The capture that ``missed-251.pcap`` would be if nothing were missed: the notification of 0044 behind frame 31.
    static func whole() throws -> Self {
        var sniffed = try Sniffed("missed-251.pcap")
        var missed = Sniffed()
        missed.frames = [sniffed.frames[30]]
        missed.add(false, after: 500, 2, expects: 0, 1, notification(0x44))
        sniffed.frames.insert(missed.frames[1], at: 31)
        for place in 32..<sniffed.frames.count { sniffed.frames[place].isSent.toggle() }
        return sniffed
    }
}

@Suite("Links that a sniffer hears in part")
struct SniffedLinkTests {
    @Test("What follows a packet that was missed is new, and of the same device", arguments: [251, 272])
    func missed(linkType: Int) throws {
        let reading = try Captures.reading("missed-\(linkType).pcap")
        let device = try #require(reading.devices.first)
        #expect(device.addressText == "F0:11:22:33:44:55")
        #expect(reading.devices.filter { $0.operations > 0 }.count == 1)
        let values = Notified.read(device, since: 0).map(\.value)
        #expect(values == [0x41, 0x42, 0x43, 0x45, 0x46, 0x47, 0x48].map { [0, $0] })
        #expect(reading.skipped.isEmpty)
        let lifted = PeripheralLift(device, start: try #require(reading.first)).peripheral
        #expect(lifted.characteristic("2A37")?.timetable.values == values)
    }

    @Test("Whichever packets are missed, the others are told as what they are", arguments: Sniffed.Form.allCases)
    fileprivate func anyMissed(form: Sniffed.Form) throws {
        let whole = try Sniffed.whole()
        #expect(try whole.notified(form) == Array(0x41...0x48))
        for first in 3..<whole.frames.count {
            for second in [first, (first + 1) % whole.frames.count, (first + 7) % whole.frames.count] where second > 2 {
                var heard = whole
                heard.frames = whole.frames.enumerated().filter { ![first, second].contains($0.offset) }.map(\.element)
                let wanted = heard.frames.compactMap { $0.notified?.last }
                #expect(try heard.notified(form) == wanted, "without \(first + 1) and \(second + 1)")
            }
        }
    }

    /// A link that was there before: an event, and the first notification.
    private static func begun() -> Sniffed {
        var sniffed = Sniffed()
        sniffed.add(true, after: 0, 1, expects: 0, 0)
        sniffed.add(false, after: 230, 2, expects: 1, 0, Sniffed.notification(0x41))
        return sniffed
    }

    @Test("A packet that is sent again, since it was not acknowledged, is one", arguments: Sniffed.Form.allCases)
    fileprivate func notAcknowledged(form: Sniffed.Form) throws {
        var sniffed = Self.begun()
        // The central says again that it expects number 0.
        sniffed.add(true, after: 30_000, 1, expects: 0, 0)
        sniffed.add(false, after: 230, 2, expects: 1, 0, Sniffed.notification(0x41))
        sniffed.add(true, after: 30_000, 1, expects: 1, 1)
        sniffed.add(false, after: 230, 2, expects: 0, 1, Sniffed.notification(0x42))
        let reading = try sniffed.reading(form)
        #expect(try sniffed.notified(form) == [0x41, 0x42])
        #expect(reading.skipped == [.again: 1])
    }

    @Test("A packet that is sent again, since the acknowledgement was lost, is one", arguments: Sniffed.Form.allCases)
    fileprivate func lostAcknowledgement(form: Sniffed.Form) throws {
        var sniffed = Self.begun()
        sniffed.add(true, after: 30_000, 1, expects: 1, 1)
        // It did not hear that.
        sniffed.add(false, after: 230, 2, expects: 1, 0, Sniffed.notification(0x41))
        sniffed.add(true, after: 30_000, 1, expects: 1, 1)
        sniffed.add(false, after: 230, 2, expects: 0, 1, Sniffed.notification(0x42))
        #expect(try sniffed.notified(form) == [0x41, 0x42])
        #expect(try sniffed.reading(form).skipped == [.again: 1])
    }

    @Test("The same value notified anew behind a missed one is another", arguments: Sniffed.Form.allCases)
    fileprivate func sameValue(form: Sniffed.Form) throws {
        var sniffed = Self.begun()
        // It acknowledges number 0, then number 1, which was missed.
        sniffed.add(true, after: 30_000, 1, expects: 1, 1)
        sniffed.add(true, after: 30_000, 1, expects: 0, 0)
        sniffed.add(false, after: 230, 2, expects: 1, 0, Sniffed.notification(0x41))
        #expect(try sniffed.notified(form) == [0x41, 0x41])
        #expect(try sniffed.reading(form).skipped.isEmpty)
    }

    @Test("Without a packet of the other end between them, two of one number are told by their bytes")
    func oneSide() throws {
        var sniffed = Self.begun()
        sniffed.add(false, after: 30_000, 2, expects: 1, 0, Sniffed.notification(0x41))
        sniffed.add(false, after: 30_000, 2, expects: 1, 0, Sniffed.notification(0x43))
        #expect(try sniffed.notified(.nordic) == [0x41, 0x43])
        #expect(try sniffed.reading(.nordic).skipped == [.again: 1])
    }

    @Test("An empty packet that came again is no loss, and not counted")
    func empty() throws {
        var sniffed = Self.begun()
        sniffed.add(true, after: 30_000, 1, expects: 0, 0)
        #expect(try sniffed.reading(.nordic).skipped.isEmpty)
    }

    @Test("A peripheral that asks the phone is still the peripheral", arguments: [Sniffed.Form.plain, .untold])
    fileprivate func bothAsk(form: Sniffed.Form) throws {
        var sniffed = try Sniffed("missed-251.pcap")
        // The central's number and the peripheral's go on from frame 38 and 39: 1 and 1, so 0 and 0.
        for round in 0..<3 {
            let number = UInt8(round % 2)
            sniffed.add(true, after: 30_000, 1, expects: number, number)
            // Find Information, of the phone's server.
            sniffed.add(false, after: 230, 2, expects: 1 - number, number, [5, 0, 4, 0, 4, 1, 0, 9, 0])
        }
        let reading = try sniffed.reading(form)
        let peripheral = try #require(reading.devices.first { $0.addressText == "F0:11:22:33:44:55" })
        let phone = try #require(reading.devices.first { $0.addressText == nil && $0.operations > 0 })
        #expect(peripheral.notifications == 7)
        #expect(phone.operations == 3)
    }

    @Test("Of links beyond the first 20000 no device is made, and they are counted as skipped")
    func tooMany() throws {
        var sniffed = Sniffed()
        for number in 0..<20_003 {
            let access = [UInt8(number & 0xff), UInt8(number >> 8), 0, 0x10]
            // Read Request.
            let packet = access + [2, 7, 3, 0, 4, 0, 0x0a, 3, 0, 0, 0, 0]
            let time = 1_700_000_000_000_000 + Int64(number)
            sniffed.frames.append(Sniffed.Frame(time: time, isSent: true, packet: packet))
        }
        let reading = try sniffed.reading(.plain)
        #expect(reading.devices.count == 20_000)
        #expect(reading.skipped == [.tooManyLinks: 3])
    }

    @Test(
        "A link that the central ends is not the device's fault, and one that the device ends is",
        arguments: [true, false]
    )
    func ended(isSent: Bool) throws {
        var sniffed = try Sniffed("missed-251.pcap")
        // LL_TERMINATE_IND.
        if isSent {
            sniffed.add(true, after: 30_000, 3, expects: 0, 0, [2, 0x13])
        } else {
            sniffed.add(true, after: 30_000, 1, expects: 0, 0)
            sniffed.add(false, after: 230, 3, expects: 1, 0, [2, 0x13])
        }
        let reading = try sniffed.reading(.plain)
        let device = try #require(reading.devices.first)
        #expect(device.connections.map(\.reason) == [0x13])
        #expect(device.connections.map(\.isEndedHere) == [isSent])
        let faults = PeripheralLift(device, start: try #require(reading.first)).peripheral.faults
        #expect(faults == (isSent ? [] : [DeviceFault("link-1-remote", .disconnectAfter(7))]))
    }
}
