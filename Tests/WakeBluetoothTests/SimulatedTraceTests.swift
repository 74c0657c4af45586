import Testing
import WakeCaptures
import WakeDevices
import WakeModel
import WakePorts

@testable import WakeBluetooth

/// A simulated radio and the centrals beside it, and what they write down.
private final class TracedAir {
    let names = NameTable()
    let radio: SimulatedBluetooth
    let role: SimulatedPeripheralRole
    var now = Instant.zero
    var packets: [HCIPacket] = []
    let client = BluetoothClient(app: AppID(0), slot: 0)
    let other = BluetoothClient(app: AppID(1), slot: 0)

    init(_ devices: [ScenarioDevice]) throws {
        radio = SimulatedBluetooth(devices: devices, names: names, seed: 1)
        role = SimulatedPeripheralRole(devices: devices, names: names, seed: 1, beside: radio)
        radio.trace(since: 0) { [unowned self] in packets.append($0) }
        for source in [radio, role] as [any SourcePort] { try source.start(at: .zero) }
    }

    func run(for span: Instant.Span) {
        let end = now.advanced(by: span)
        while let next = [radio.nextDeadline, role.nextDeadline].compactMap({ $0 }).min(), next <= end {
            now = max(now, next)
            radio.timeReached(now)
            role.timeReached(now)
        }
        now = end
    }

    /// The packets of the Attribute Protocol, each after whether the phone sent it, with their first byte alone.
    var attributes: [String] {
        packets.filter { $0.kind == .data && $0.bytes[6] == 4 }
            .map { ($0.fromHost ? "phone " : "other ") + String($0.bytes[8], radix: 16) }
    }

    /// The first bytes of the advertising reports, behind event, length, kind and count.
    var reports: [[UInt8]] {
        packets.filter { $0.kind == .event && $0.bytes[0] == 0x3E && $0.bytes[2] == 2 }.map(\.bytes)
    }
}

@Suite("What the simulated radio writes down")
struct SimulatedTraceTests {
    private static let belt = """
        device: bluetooth-peripheral
        name: Belt
        address: "F0:11:22:33:44:55"
        advertising: {interval: 100ms, services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - {uuid: 2A39, properties: [write, read], value: "0102"}
        """

    private static func peripheral(_ text: String) throws -> ScenarioDevice {
        let peripheral = try BluetoothPeripheral.parse(Array(text.utf8), file: "belt.yaml")
        return ScenarioDevice(name: "belt", group: "belt", line: 1, form: .peripheral(peripheral))
    }

    @Test(
        "What an app had asked before it let go of a shared link is answered, and what was still to be asked is not asked"
    )
    func letGo() throws {
        let air = try TracedAir([try Self.peripheral(Self.belt)])
        let name = air.names.intern("belt")
        for client in [air.client, air.other] { air.radio.perform(.connect(client, peripheral: name), at: air.now) }
        air.run(for: .seconds(1))
        let handle = try #require(air.radio.knownPeripheral(name)?.characteristics.first?.handle)
        air.packets = []
        air.radio.perform(.operate(air.client, peripheral: name, .read(handle)), at: air.now)
        air.radio.perform(.operate(air.client, peripheral: name, .write(handle, [9], withResponse: true)), at: air.now)
        air.radio.perform(.operate(air.other, peripheral: name, .read(handle)), at: air.now)
        air.radio.perform(.disconnect(air.client, peripheral: name), at: air.now)
        air.run(for: .seconds(1))
        #expect(air.attributes == ["phone a", "other b", "phone a", "other b"])
    }

    @Test("What was refused until the phone has paired is not asked again for an app that has let go meanwhile")
    func letGoWhilePairing() throws {
        let secured = Self.belt.replacing(
            "properties: [write, read],",
            with: "properties: [write, read], security: encrypted,"
        )
        let air = try TracedAir([try Self.peripheral(secured)])
        let name = air.names.intern("belt")
        for client in [air.client, air.other] { air.radio.perform(.connect(client, peripheral: name), at: air.now) }
        air.run(for: .seconds(1))
        let handle = try #require(air.radio.knownPeripheral(name)?.characteristics.first?.handle)
        air.packets = []
        air.radio.perform(.operate(air.client, peripheral: name, .read(handle)), at: air.now)
        air.run(for: .milliseconds(500))
        #expect(air.attributes == ["phone a", "other 1"])
        air.radio.perform(.disconnect(air.client, peripheral: name), at: air.now)
        air.run(for: .seconds(5))
        #expect(air.attributes == ["phone a", "other 1"])
    }

    @Test("A beacon that somebody listens to is reported with what it says, as strong as it was heard")
    func beacons() throws {
        let text = """
            device: ibeacon
            address: "C2:5B:00:00:01:00"
            uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
            major: 1
            minor: 12
            measured-power: -59
            interval: 100ms
            distance: [{metres: 2}]
            """
        let beacon = try Beacon.parse(Array(text.utf8), file: "beacon.yaml")
        let air = try TracedAir([ScenarioDevice(name: "desk", group: "desk", line: 1, form: .beacon(beacon))])
        var strengths: [Int16] = []
        air.radio.report = { if let beacon = $0.event.beacon { strengths.append(beacon.signalStrength) } }
        air.run(for: .seconds(3))
        #expect(air.reports.isEmpty)
        air.radio.watchBeacons([BeaconIdentity(uuid: air.names.intern(beacon.uuid))], at: air.now)
        air.run(for: .seconds(3))
        #expect(air.reports.count == strengths.count && strengths.count >= 2)
        #expect(air.reports.map { Int16(Int8(bitPattern: $0.last!)) } == strengths)
        let report = try #require(air.reports.first)
        let signal = try #require(BeaconSignal(manufacturerData: Array(report[18..<43])))
        #expect(signal.uuid == beacon.uuid && signal.major == 1 && signal.minor == 12 && signal.measuredPower == -59)
    }

    @Test("What a central is told to write comes in as what its script writes")
    func order() throws {
        let air = try TracedAir([try RoleRig.central([], mtu: 185)])
        air.role.perform(.publish(air.client, RoleRig.heartRate(), again: false), at: air.now)
        let service = air.names.intern("180D")
        air.role.perform(
            .advertise(air.client, localName: nil, services: [service], overflow: [], again: false),
            at: air.now
        )
        try air.role.simulate([("reader", .connect(service: "180D", within: nil))], at: air.now)
        try air.role.simulate([("reader", .write("2A3C", [1], .command))], at: air.now)
        air.run(for: .seconds(1))
        #expect(air.attributes == ["other 2", "phone 3", "other 52"])
    }

    @Test("What a central asks of the phone comes in, and the phone's answers and values go out")
    func peripheralRole() throws {
        let text = """
            device: bluetooth-central
            name: Reader
            address: "F0:AA:00:00:00:02"
            mtu: 23
            script:
              - connect: 180D
              - discover
              - read: 2A38
              - {write: 2A39, value: "01"}
              - {write: 2A39, value: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"}
              - subscribe: 2A37
              - {await: 2A37, within: 5s}
              - disconnect
            """
        let central = try BluetoothCentral.parse(Array(text.utf8), file: "reader.yaml")
        let air = try TracedAir([ScenarioDevice(name: "reader", group: "reader", line: 1, form: .central(central))])
        let characteristics = [
            LocalCharacteristic(number: 11, uuid: "2A37", properties: 0x10, permissions: 1),
            LocalCharacteristic(number: 12, uuid: "2A38", properties: 0x02, permissions: 1, value: [7]),
            LocalCharacteristic(number: 13, uuid: "2A39", properties: 0x08, permissions: 2),
        ]
        let service = LocalService(number: 10, uuid: "180D", characteristics: characteristics)
        air.role.report = { [unowned air] report in
            guard report.event.kind == .writeRequested else { return }
            let request = report.event.request
            let result: UInt8 =
                if case .writeRequests(let writes) = report.payload, writes[0].value.count > 1 { 0x0D } else { 0 }
            air.role.perform(.respond(air.client, request: request, result: result, value: nil), at: air.now)
        }
        air.role.perform(.publish(air.client, service, again: false), at: air.now)
        let service180D = air.names.intern("180D")
        air.role.perform(
            .advertise(air.client, localName: "Phone", services: [service180D], overflow: [], again: false),
            at: air.now
        )
        air.run(for: .seconds(2))
        air.role.perform(.update(air.client, characteristic: 11, value: [0, 72], centrals: []), at: air.now)
        air.run(for: .seconds(5))
        let told = air.attributes
        // The MTU; the table; a value that is known; a short value; a long one in two parts, refused; a subscription; a value.
        #expect(Array(told[..<2]) == ["other 2", "phone 3"])
        #expect(told.contains("other 10") && told.contains("phone 9") && told.contains("phone 5"))
        let read = try #require(told.firstIndex(of: "other a"))
        #expect(
            Array(told[read...]) == [
                "other a", "phone b", "other 12", "phone 13", "other 16", "phone 17", "other 16", "phone 17",
                "other 18",
                "phone 1", "other 12", "phone 13", "phone 1b",
            ]
        )
        // The central ended the link.
        #expect(air.packets.filter { $0.kind == .event && $0.bytes[0] == 5 }.map(\.bytes.last) == [0x13])
    }
}
