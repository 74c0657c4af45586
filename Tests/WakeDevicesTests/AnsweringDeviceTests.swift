import Testing
import WakeDevices
import WakeModel

/// A shipped device, and a client that is subscribed to all but what a test names.
private struct Session {
    private var machine: BluetoothAnswerMachine
    private let uuids: [String]
    private var now = Instant.zero
    private var values: [String: [UInt8]] = [:]
    var unsubscribed: [String] = []

    init(_ name: String) throws {
        let device = try BluetoothPeripheral.load(file: packageFolder + "/Devices/Bluetooth/\(name).yaml")
        machine = BluetoothAnswerMachine(device.answers, mtu: device.mtu)
        uuids = device.services.flatMap(\.characteristics).map(\.uuid)
    }

    /// What comes of a write: the error, or what is sent, by the first eight characters of the characteristic and in hexadecimal.
    mutating func write(_ uuid: String, _ value: String) throws -> [String] {
        try begin(uuid, .write(Self.bytes(value)), patience: .max)
    }

    /// The value that a read gives.
    mutating func read(_ uuid: String) throws -> String {
        _ = try begin(uuid, .read, patience: .max)
        return (values[uuid] ?? []).hexadecimal
    }

    /// The same without waiting for more than so many things that are sent later.
    mutating func write(_ uuid: String, _ value: String, patience: Int) throws -> [String] {
        try begin(uuid, .write(Self.bytes(value)), patience: patience)
    }

    mutating func reconnect() { machine.linkGone() }

    private mutating func begin(
        _ uuid: String,
        _ request: BluetoothAnswerMachine.Request,
        patience: Int
    ) throws -> [String] {
        let place = try #require(uuids.firstIndex { $0.hasPrefix(uuid) })
        let (names, unheard) = (uuids, unsubscribed)
        let subscribed = { (place: Int) in !unheard.contains { names[place].hasPrefix($0) } }
        let reply = machine.answer(request, of: place, at: now, subscribed: subscribed)
        for case .set(let place, let value) in reply.effects { values[uuids[place]] = value }
        for case .set(place, let value) in reply.effects { values[uuid] = value }
        if let error = reply.error { return ["error \(String(error, radix: 16))"] }
        var sent: [String] = []
        while let due = machine.nextDue, sent.count < patience {
            now = due
            for effect in machine.advance(to: due, subscribed: subscribed) {
                switch effect {
                case .send(let place, let value, _, _): sent.append("\(uuids[place].prefix(8)) \(value.hexadecimal)")
                case .disconnect: sent.append("disconnect")
                case .set: break
                }
            }
        }
        return sent
    }

    private static func bytes(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.utf8.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
    }
}

@Suite("The shipped devices that answer")
struct AnsweringDeviceTests {
    @Test(
        "The glucose meter reports, counts and deletes what the operator and the operand choose",
        arguments: [
            ("0101", ["1", "2", "3", "4", "5", "6"], "06000101"), ("0102010300", ["1", "2", "3"], "06000101"),
            ("0103010500", ["5", "6"], "06000101"), ("01040102000300", ["2", "3"], "06000101"),
            ("0105", ["1"], "06000101"), ("0106", ["6"], "06000101"), ("0103010700", [], "06000106"),
            ("01040103000200", [], "06000105"), ("0100", [], "06000103"), ("0107", [], "06000104"),
            ("010202ea0703", [], "06000109"), ("01020105", [], "06000105"), ("0401", [], "05000600"),
            ("0403010300", [], "05000400"), ("0406", [], "05000100"), ("0201", [], "06000201"),
            ("0202010000", [], "06000206"), ("0901", [], "06000902"), ("0300", [], "06000301"),
        ]
    )
    func glucose(request: String, records: [String], response: String) throws {
        var session = try Session("glucose-meter")
        let sent = try session.write("2A52", request)
        #expect(sent.last == "2A52 \(response)")
        #expect(sent.dropLast().map { String($0.dropFirst(8).first ?? "?") } == records)
        #expect(sent.dropLast().allSatisfy { $0.hasPrefix("2A18 03") })
    }

    @Test("The glucose meter takes one request at a time, and is asked only by who listens")
    func glucoseInProgress() throws {
        var session = try Session("glucose-meter")
        #expect(try session.write("2A52", "0101", patience: 2).count == 2)
        #expect(try session.write("2A52", "0401", patience: 0) == ["error fe"])
        #expect(try session.write("2A52", "0300") == ["2A52 06000301"])
        #expect(try session.write("2A52", "0206") == ["2A52 06000201"])
        #expect(try session.write("2A52", "0401") == ["2A52 05000500"])
        session.unsubscribed = ["2A18"]
        #expect(try session.write("2A52", "0101") == ["error fd"])
        session.unsubscribed = ["2A52"]
        #expect(try session.write("2A52", "0401") == ["error fd"])
    }

    @Test("The indoor bike obeys whom it gave control, and says what changed")
    func bike() throws {
        var session = try Session("fitness-machine")
        #expect(try session.write("2AD9", "05c800") == ["2AD9 800505"])
        #expect(try session.write("2AD9", "00") == ["2AD9 800001"])
        #expect(try session.write("2AD9", "05c800") == ["2AD9 800501", "2ADA 08c800"])
        #expect(try session.write("2AD9", "059101") == ["2AD9 800503"])
        #expect(try session.write("2AD9", "07") == ["2AD9 800701", "2ADA 04"])
        #expect(try session.write("2AD9", "0801") == ["2AD9 800801", "2ADA 0201"])
        #expect(try session.write("2AD9", "1234") == ["2AD9 801202"])
        session.reconnect()
        #expect(try session.write("2AD9", "07") == ["2AD9 800705"])
    }

    @Test("The bootloader takes a firmware in objects, each checked by the CRC-32 of all before")
    func update() throws {
        var session = try Session("secure-dfu")
        let (control, packet) = ("8EC90001", "8EC90002")
        #expect(try session.write(control, "0601") == ["8EC90001 60060100020000" + String(repeating: "0", count: 16)])
        #expect(try session.write(control, "010109000000") == ["8EC90001 600101"])
        #expect(try session.write(control, "04") == ["8EC90001 600408"], "not there yet")
        #expect(try session.write(packet, "31323334").isEmpty)
        #expect(try session.write(packet, "3536373839").isEmpty)
        #expect(try session.write(control, "03") == ["8EC90001 600301090000002639f4cb"])
        #expect(try session.write(control, "04") == ["8EC90001 600401"])
        #expect(try session.write(control, "020200") == ["8EC90001 600201"])
        #expect(try session.write(control, "010200100000") == ["8EC90001 600101"])
        #expect(try session.write(packet, "31323334").isEmpty)
        #expect(try session.write(packet, "3536373839") == ["8EC90001 600301090000002639f4cb"], "after two packets")
        #expect(try session.write(control, "04") == ["8EC90001 600401"])
        #expect(try session.write(control, "010204000000") == ["8EC90001 600101"])
        session.reconnect()
        #expect(try session.write(control, "0602") == ["8EC90001 60060100100000090000002639f4cb"], "it goes on there")
        #expect(try session.write(packet, "61").isEmpty)
        #expect(try session.write(control, "04") == ["8EC90001 600401", "disconnect"])
        #expect(try session.write(control, "0103") == ["8EC90001 600103"])
        #expect(try session.write(control, "0c") == ["8EC90001 600c02"])
    }

    @Test("The gate opens for who answers its challenge, locks itself, and hangs up on the third wrong answer")
    func gate() throws {
        var session = try Session("challenge-lock")
        let (challenge, order) = ("C2A9A501-8A2D-4B6E-9B43-5B0D6A8D0E11", "C2A9A502")
        #expect(try session.write(order, "0000000000") == ["error fc"], "nobody asked for a challenge")
        let first = try session.read(challenge)
        #expect(try session.write(order, "00" + Self.proof(first, "00")) == ["C2A9A503 00", "C2A9A503 01"])
        let second = try session.read(challenge)
        #expect(second != first)
        #expect(try session.write(order, "00" + Self.proof(first, "00")) == ["error 80"], "that was the one before")
        #expect(try session.write(order, "01" + Self.proof(try session.read(challenge), "00")) == ["error 80"])
        _ = try session.read(challenge)
        #expect(try session.write(order, "0000000000") == ["disconnect"])
    }

    private static func proof(_ challenge: String, _ order: String) -> String {
        let hex = challenge + "6f70656e20736573616d65" + order
        let bytes = stride(from: 0, to: hex.utf8.count, by: 2).compactMap {
            UInt8(hex.dropFirst($0).prefix(2), radix: 16)
        }
        let sum = Checksum.crc32.value(of: bytes)
        return (0..<4).map { [UInt8(truncatingIfNeeded: sum >> ($0 * 8))].hexadecimal }.joined()
    }

    @Test("The clock takes a time, and ignores what is none")
    func clock() throws {
        var session = try Session("current-time")
        #expect(try session.write("2A2B", "ea070401080000030000") == ["2A2B ea070401080000030001"])
        for wrong in ["ea070d01080000030000", "ea070420180000030000", "ea0704011800000300ff"] {
            #expect(try session.write("2A2B", wrong) == ["error 80"], "\(wrong)")
        }
        #expect(try session.write("2A2B", "ea07") == ["error d"])
    }
}
