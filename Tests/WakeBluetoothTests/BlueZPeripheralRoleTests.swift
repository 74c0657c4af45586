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

    init(_ device: ScenarioDevice) throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        bluez.inReach = []
        let place = BusAddress.address(bus.address)
        central = try BlueZBluetooth(devices: [device], names: names, loop: bus.loop, bus: place)
        role = try BlueZPeripheralRole(devices: [device], names: names, loop: bus.loop, beside: central)
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
