import BlueZStandIn
import Testing
import WakeBus
import WakeModel
import WakePorts
import WakeSystem

@testable import WakeBlueZ
@testable import WakeBluetooth
@testable import WakeDevices

private let app = BluetoothClient(app: AppID(0), slot: 0)

/// A crowd around the machine's radio, on which both roles are.
private final class Crowd {
    static let belt = "F0:11:22:33:44:55"
    let bus: PrivateBus
    let bluez: StandInBlueZ
    let names = NameTable()
    let radio: BlueZBluetooth
    let role: BlueZPeripheralRole
    private(set) var notes: [String] = []
    private(set) var reports: [SourceReport] = []

    init(mostNames: Int) throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        let text = """
            device: bluetooth-peripheral
            name: HR Belt
            address: "\(Self.belt)"
            gatt: [{service: 180D, characteristics: [{uuid: 2A37, properties: [notify]}]}]
            """
        let peripheral = try BluetoothPeripheral.parse(Array(text.utf8), file: "belt.yaml")
        let device = ScenarioDevice(name: "belt", group: "belt", line: 1, form: .peripheral(peripheral))
        radio = try BlueZBluetooth(
            devices: [device],
            names: names,
            loop: bus.loop,
            bus: .address(bus.address),
            mostNames: mostNames
        )
        role = try BlueZPeripheralRole(devices: [device], names: names, loop: bus.loop, beside: radio)
        radio.note = { [unowned self] in notes.append($0) }
        radio.report = { [unowned self] in reports.append($0) }
        bluez.inReach = []
        try bluez.appear(powered: true)
        // Without the question before the loop runs, which the stand-in on this very thread could not answer.
        try radio.follow()
        try bus.wait(for: "the adapter") { radio.adapter.isReady }
    }

    deinit {
        role.stop()
        radio.stop()
    }

    /// A device is heard that the scenario does not know.
    func stranger(_ number: Int, services: [String] = [], data: [UInt8]? = nil) {
        let address = "C0:00:00:00:00:0\(number)"
        var device = StandInDevice(name: nil, advertised: services)
        if let data { device.manufacturerData = (0x004c, data) }
        bluez.devices[address] = device
        bluez.advertise(address)
    }

    func words(_ kind: EventKind) -> [String] {
        reports.filter { $0.event.kind == kind }.map { names.text($0.event.subject) }
    }

    func wait(for kind: EventKind, count: Int = 1) throws {
        try bus.wait(for: "\(count) \(kind.word)") { words(kind).count >= count }
    }
}

@Suite(
    "Names that come from the air",
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus")
)
struct AirNamesTests {
    @Test("Devices beyond the bound are not heard, which is said once and counted; the scenario's own always are")
    func devices() throws {
        let crowd = try Crowd(mostNames: 2)
        crowd.radio.perform(.scan(app, services: [], allowDuplicates: true), at: .zero)
        try crowd.bus.wait(for: "looking for devices") { crowd.bluez.isDiscovering }
        for number in 1...5 { crowd.stranger(number) }
        crowd.bluez.advertise(Crowd.belt)
        try crowd.wait(for: .peripheralDiscovered, count: 3)
        #expect(crowd.words(.peripheralDiscovered) == ["C0:00:00:00:00:01", "C0:00:00:00:00:02", "belt"])
        #expect(crowd.notes.count == 1)
        #expect(crowd.notes.first?.hasPrefix("Bluetooth: more than 2 different names came from the air") == true)
        #expect(crowd.radio.unnamed == 3)
        let count = crowd.names.count
        crowd.bluez.advertise("C0:00:00:00:00:01")
        try crowd.wait(for: .peripheralDiscovered, count: 4)
        #expect(crowd.names.count == count)
    }

    @Test("A service without a name is no less in what the app reads of the advertisement")
    func services() throws {
        let crowd = try Crowd(mostNames: 1)
        crowd.radio.perform(.scan(app, services: [], allowDuplicates: false), at: .zero)
        try crowd.bus.wait(for: "looking for devices") { crowd.bluez.isDiscovering }
        let own = "0F1E2D3C-0000-4000-8000-000000000001"
        crowd.stranger(1, services: ["180d", own.lowercased()])
        try crowd.wait(for: .peripheralDiscovered)
        let found = try #require(crowd.reports.first)
        #expect(found.event.services.map(crowd.names.text) == ["180D"])
        guard case .advertisement(let said) = found.payload else { throw GaveUp(waitingFor: "an advertisement") }
        #expect(said.services == ["180D", own])
        #expect(crowd.radio.unnamed == 1)
    }

    @Test("BCN-1: Beacons beyond the bound are not heard")
    func beacons() throws {
        let crowd = try Crowd(mostNames: 1)
        let uuid = crowd.names.intern("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
        crowd.radio.watchBeacons([BeaconIdentity(uuid: uuid)], at: .zero)
        try crowd.bus.wait(for: "looking for beacons") { crowd.bluez.isDiscovering }
        let bytes: [UInt8] = [
            0xe2, 0xc5, 0x6d, 0xb5, 0xdf, 0xfb, 0x48, 0xd2, 0xb0, 0x60, 0xd0, 0xf5, 0xa7, 0x10, 0x96, 0xe0,
        ]
        for minor in UInt8(1)...3 {
            crowd.stranger(Int(minor), data: [0x02, 0x15] + bytes + [0, 7, 0, minor, 0xc5])
        }
        try crowd.bus.wait(for: "all three") { crowd.radio.unnamed == 2 }
        #expect(crowd.words(.beaconSighted) == ["E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/7/1"])
        #expect(crowd.notes.count == 1)
    }

    @Test("BCN-2: What is heard of a beacon in the second after its report is told when that is over, with when it was")
    func beaconWithinSecond() throws {
        let crowd = try Crowd(mostNames: 8)
        let uuid = crowd.names.intern("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
        crowd.radio.watchBeacons([BeaconIdentity(uuid: uuid)], at: .zero)
        try crowd.bus.wait(for: "looking for beacons") { crowd.bluez.isDiscovering }
        let bytes: [UInt8] = [
            0xe2, 0xc5, 0x6d, 0xb5, 0xdf, 0xfb, 0x48, 0xd2, 0xb0, 0x60, 0xd0, 0xf5, 0xa7, 0x10, 0x96, 0xe0,
        ]
        crowd.stranger(1, data: [0x02, 0x15] + bytes + [0, 7, 0, 1, 0xc5])
        try crowd.wait(for: .beaconSighted)
        let heard = MonotonicClock.now()
        crowd.bluez.advertise("C0:00:00:00:00:01")
        try crowd.wait(for: .beaconSighted, count: 2)
        let ages = crowd.reports.compactMap(\.event.beacon?.age.nanoseconds)
        #expect(ages.first == 0)
        // On a machine that is busy it may be told later than a second after the report before.
        #expect((0...MonotonicClock.now() - heard).contains(try #require(ages.last)))
    }

    @Test(
        "Attributes go by the names of the scenario's device, and by the device alone when the air has brought too many"
    )
    func attributes() throws {
        let crowd = try Crowd(mostNames: 0)
        crowd.radio.perform(.connect(app, peripheral: crowd.names.intern("belt")), at: .zero)
        crowd.bluez.advertise(Crowd.belt)
        try crowd.wait(for: .peripheralConnected)
        let belt = crowd.names.intern("belt")
        // Of the two characteristics of the stand-in's belt, the file has one.
        crowd.radio.perform(.operate(app, peripheral: belt, .setNotify(0x0b, true)), at: .zero)
        crowd.radio.perform(.operate(app, peripheral: belt, .read(0x0e)), at: .zero)
        try crowd.wait(for: .notificationStateChanged)
        try crowd.wait(for: .valueRead)
        #expect(crowd.words(.notificationStateChanged) == ["belt/2A37"])
        #expect(crowd.words(.valueRead) == ["belt"])
        #expect(crowd.reports.allSatisfy { !$0.event.failed })
    }

    @Test("A central beyond the bound is refused what it asks, and its subscription is not told")
    func centrals() throws {
        let crowd = try Crowd(mostNames: 0)
        let rig = RoleRig(
            port: crowd.role,
            names: crowd.names,
            now: { .zero },
            power: { _ in },
            pass: { condition in (try? crowd.bus.wait(for: "", until: condition)) != nil }
        )
        try rig.offer()
        let address = "C0:00:00:00:00:01"
        crowd.bluez.centralConnects(address)
        crowd.bluez.centralSubscribes(address, BluetoothUUID.long("2A37").lowercased())
        crowd.bluez.centralReads(address, BluetoothUUID.long("2A38").lowercased())
        try rig.wait(for: "an answer") { !crowd.bluez.registered.answers.isEmpty }
        guard case .failure(let error) = crowd.bluez.registered.answers[0] else {
            Issue.record("it was answered")
            return
        }
        #expect(error.message.contains("0x11"), "\(error)")
        #expect(rig.all(.centralSubscribed).isEmpty && rig.all(.readRequested).isEmpty)
        #expect(crowd.notes.count == 1)
        #expect(crowd.radio.unnamed > 0)
    }
}
