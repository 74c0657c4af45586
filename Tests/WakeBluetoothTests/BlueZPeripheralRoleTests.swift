import BlueZStandIn
import Testing
import WakeBus
import WakeModel
import WakePorts

@testable import WakeBlueZ
@testable import WakeBluetooth
@testable import WakeDevices

/// A stand-in bluetoothd, both roles on its adapter, and a central that plays a script.
private final class RoleStage {
    let bus: PrivateBus
    let bluez: StandInBlueZ
    let names = NameTable()
    let central: BlueZBluetooth
    let role: BlueZPeripheralRole

    init(_ device: ScenarioDevice, isNeeded: Bool = false) throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        bluez.inReach = []
        let place = BusAddress.address(bus.address)
        central = try BlueZBluetooth(devices: [device], names: names, loop: bus.loop, bus: place)
        role = try BlueZPeripheralRole(
            devices: [device],
            names: names,
            loop: bus.loop,
            beside: central,
            isNeeded: isNeeded
        )
        try bluez.appear(powered: true)
        // Without the question before the loop runs, which the stand-in on this very thread could not answer.
        try central.follow()
        try bus.wait(for: "the adapter") { central.adapter.isReady }
    }
}

@Suite(
    "The peripheral role of the machine's Bluetooth",
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus")
)
struct BlueZPeripheralRoleTests {
    @Test("BlueZ keeps the promises of the port", arguments: RolePromise.allCases)
    func contract(promise: RolePromise) throws {
        let device = try RoleRig.central(promise.script, mtu: promise.mtu)
        let stage = try RoleStage(device)
        let description = try #require(device.central)
        var say: (String) -> Void = { _ in }
        let player = StandInCentral(stage.bluez, description) { say($0) }
        let rig = RoleRig(
            port: stage.role,
            names: stage.names,
            now: { .zero },
            power: { on in
                if !on { player.loseLink() }
                stage.central.adapter.setPower(on)
            },
            pass: { condition in
                let all = {
                    player.advance()
                    return condition()
                }
                return (try? stage.bus.wait(for: "", until: all)) != nil
            }
        )
        say = { rig.transcript.append($0) }
        // The two hold each other, and the stage with its daemon.
        defer { say = { _ in } }
        try promise.check(rig)
        stage.role.stop()
    }

    @Test("After a restart of bluetoothd the service and the advertisement are there again, and nobody hears of it")
    func restart() throws {
        let device = try RoleRig.central(["connect: 180D"], mtu: 185)
        let stage = try RoleStage(device)
        let rig = RoleRig(
            port: stage.role,
            names: stage.names,
            now: { .zero },
            power: { _ in },
            pass: { condition in (try? stage.bus.wait(for: "", until: condition)) != nil }
        )
        try rig.offer()
        stage.bluez.vanish()
        try stage.bus.wait(for: "the end of bluetoothd") { !stage.central.adapter.isReady }
        try stage.bluez.appear(powered: true)
        try stage.bus.wait(for: "all again") {
            stage.bluez.registered.applications.count == 1 && stage.bluez.registered.advertisements.count == 1
        }
        #expect(rig.reports.count == 2)
    }

    @Test("A service that bluetoothd refuses is a failure for its app")
    func refused() throws {
        let stage = try RoleStage(try RoleRig.central([], mtu: 185))
        let rig = RoleRig(
            port: stage.role,
            names: stage.names,
            now: { .zero },
            power: { _ in },
            pass: { condition in (try? stage.bus.wait(for: "", until: condition)) != nil }
        )
        stage.bluez.registered.refusals = ["InvalidArguments"]
        rig.perform(.publish(rig.first, RoleRig.heartRate(), again: false))
        #expect(try rig.wait(for: .serviceAdded).event.failed)
    }

    /// What ``BlueZServer/probe()`` says of an adapter that serves centrals alone.
    private static let inability = BusError(
        name: BlueZServer.cannotBePeripheral,
        message: "/org/bluez/hci0 cannot be a peripheral"
    )

    @Test("An adapter that cannot be a peripheral starts; what apps publish or advertise fails, and a note says so")
    func centralAlone() throws {
        let stage = try RoleStage(try RoleRig.central([], mtu: 185))
        let rig = RoleRig(
            port: stage.role,
            names: stage.names,
            now: { .zero },
            power: { _ in },
            pass: { condition in (try? stage.bus.wait(for: "", until: condition)) != nil }
        )
        var notes: [String] = []
        stage.central.note = { notes.append($0) }
        try stage.role.begin(after: Self.inability)
        #expect(notes == [])
        rig.perform(.publish(rig.first, RoleRig.heartRate(), again: false))
        let added = try rig.wait(for: .serviceAdded)
        #expect(added.event.failed)
        let services = [rig.names.intern("180D")]
        rig.perform(.advertise(rig.first, localName: "A", services: services, overflow: [], again: false))
        #expect(try rig.wait(for: .advertisingStarted).event.failed)
        // What is offered again, as after a restart of bluetoothd, is not answered again.
        rig.perform(.publish(rig.first, RoleRig.heartRate(), again: true))
        rig.perform(.advertise(rig.first, localName: "A", services: services, overflow: [], again: true))
        rig.perform(.stopAdvertising(rig.first))
        rig.perform(.release(rig.first))
        let message = "bluetoothd: /org/bluez/hci0 cannot be a peripheral"
        #expect(added.payload == .failure(BluetoothFailure(domain: .core, code: 0, message: message)))
        #expect(notes == ["bluetooth=bluez: /org/bluez/hci0 cannot be a peripheral"])
        #expect(rig.reports.count == 2)
        #expect(stage.bluez.registered.applications.isEmpty && stage.bluez.registered.advertisements.isEmpty)
    }

    @Test("A run whose phone is known to be a peripheral starts on no adapter that cannot be one, none on a faulty one")
    func needed() throws {
        let needed = try RoleStage(try RoleRig.central([], mtu: 185), isNeeded: true)
        let failure = #expect(throws: SourceFailure.self) { try needed.role.begin(after: Self.inability) }
        #expect(failure?.message == "bluetooth=bluez: /org/bluez/hci0 cannot be a peripheral")
        let stage = try RoleStage(try RoleRig.central([], mtu: 185))
        let gone = BusError(name: "org.bluez.Error.DoesNotExist", message: "bluetoothd has no adapter")
        #expect(throws: SourceFailure.self) { try stage.role.begin(after: gone) }
    }

    @Test(
        "A scripted app that is a peripheral, and a central, need an adapter that can be one; nothing else does",
        arguments: [
            ("", "", false), ("scan: {services: [180D]}", "", false),
            ("peripheral: {services: [{service: 1809, characteristics: []}]}", "", true),
            ("", "devices: [{file: reader.yaml, name: reader}]\n", true),
        ]
    )
    func need(key: String, devices: String, isNeeded: Bool) throws {
        let app = "{scripted: com.example.a, name: a\(key.isEmpty ? "" : ", " + key)}"
        let text = "scenario: s\n\(devices)apps: [\(app)]\nsteps: [{at: 0, launch: a}]\n"
        var files = ScenarioFiles()
        files.isFile = { _ in true }
        let central = "device: bluetooth-central\naddress: \"\(RoleRig.address)\"\nscript: []\n"
        files.bytes = { (_, _) throws(FileError) in Array(central.utf8) }
        let scenario = try Scenario.parse(Array(text.utf8), file: "s.yaml", files: files)
        #expect(scenario.needsPeripheralRole == isNeeded)
    }

    @Test("BTP-2: What is in the overflow area is Apple's manufacturer data, without a name and without services")
    func overflow() throws {
        let stage = try RoleStage(try RoleRig.central([], mtu: 185))
        let rig = RoleRig(
            port: stage.role,
            names: stage.names,
            now: { .zero },
            power: { _ in },
            pass: { condition in (try? stage.bus.wait(for: "", until: condition)) != nil }
        )
        let services = [rig.names.intern("180D")]
        rig.perform(.advertise(rig.first, localName: nil, services: [], overflow: services, again: false))
        try rig.wait(for: .advertisingStarted)
        let properties = try #require(stage.bluez.registered.advertisements.first).properties
        #expect(properties["LocalName"] == nil)
        #expect(properties["ServiceUUIDs"] == nil)
        let company = properties["ManufacturerData"]?.entries?.first
        #expect(company?.key.integer == 0x004C)
        #expect(company?.value.bytes == [1] + OverflowArea(["180D"]).bytes)
    }
}
