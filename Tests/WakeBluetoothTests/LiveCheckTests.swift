import BlueZStandIn
import Testing
import WakeDevices

@testable import WakeBluetooth

private let address = "F0:11:22:33:44:55"

/// A stand-in bluetoothd with one device in reach.
private struct Stage {
    let bus: PrivateBus
    let bluez: StandInBlueZ
    let adapter: LiveAdapter

    init(_ device: StandInDevice) throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        bluez.devices[address] = device
        try bluez.appear(powered: true)
        adapter = try LiveAdapter(address: nil, bus: .address(bus.address), on: bus.loop, probes: false)
    }
}

@Suite("Live devices", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus"))
struct LiveCheckTests {
    /// Behind the stand-in's own 1801 and against guidelines in all that a stand-in can have.
    private static let lamp = StandInDevice(
        name: "Lamp; 2",
        advertised: ["180a"],
        services: [
            .init(
                handle: 0x0a,
                uuid: "c2a9a400-8a2d-4b6e-9b43-5b0d6a8d0e11",
                characteristics: [.init(handle: 0x0b, uuid: "2a05", flags: ["read", "indicate"])]
            ),
            .init(
                handle: 0x10,
                uuid: "180a",
                characteristics: [
                    .init(handle: 0x11, uuid: "2a24", flags: ["read"], value: [UInt8](repeating: 65, count: 27)),
                    .init(handle: 0x13, uuid: "2a26", flags: ["read"]),
                    .init(handle: 0x15, uuid: "2a28", flags: ["read"]),
                ]
            ),
            .init(handle: 0x20, uuid: "c2a9a401-8a2d-4b6e-9b43-5b0d6a8d0e11", characteristics: []),
        ]
    )

    @Test("A device's findings name the part, each stage is told, and the link is ended")
    func findings() throws {
        let stage = try Stage(Self.lamp)
        var told: [String] = []
        let check = try LiveCheck("Lamp; 2", adapter: stage.adapter, within: .seconds(20)) { told.append($0) }
        let found = check.findings.map { finding in
            guard case .part(let part) = finding.place else { return "\(finding.place)" }
            return "\(finding.guideline.rawValue) \(part)"
        }
        #expect(
            found == [
                "ADG-1 advertising", "ADG-2 advertising", "ADG-9 advertising", "ADG-10 service 180A",
                "ADG-11 handle 0x0011", "GATT-1 handle 0x0010", "GATT-1 handle 0x0020", "GATT-2 handle 0x000b",
            ]
        )
        #expect(check.address == address)
        #expect(check.unjudged.contains("advertising interval") && !check.unjudged.contains("Service Changed"))
        #expect(told == ["listening for Lamp; 2", "connecting to \(address)", "reading \(address)"])
        #expect(stage.bluez.count("Disconnect") == 1)
    }

    @Test("A device without Device Information is found so, and values are not missed")
    func withoutInformation() throws {
        let stage = try Stage(.belt)
        let check = try LiveCheck(address, adapter: stage.adapter, within: .seconds(20)) { _ in }
        #expect(check.findings.map(\.guideline) == [.advertisingData, .deviceInformation])
        #expect(check.unjudged.contains("Service Changed"))
    }

    @Test("A device that is not heard is told with those that were")
    func notHeard() throws {
        let stage = try Stage(.belt)
        let error = #expect(throws: LiveFailure.self) {
            try LiveCheck("Lamp", adapter: stage.adapter, within: .milliseconds(500)) { _ in }
        }
        #expect(error == .notHeard(["\(address) (HR Belt)"]))
    }

    @Test("Two devices of one name are both named")
    func several() throws {
        let stage = try Stage(.belt)
        let other = "F0:11:22:33:44:66"
        stage.bluez.devices[other] = .belt
        stage.bluez.inReach.append(other)
        let error = #expect(throws: LiveFailure.self) {
            try LiveCheck("HR Belt", adapter: stage.adapter, within: .seconds(20)) { _ in }
        }
        guard case .several(let addresses)? = error else { return #expect(error == .several([])) }
        #expect(addresses.sorted() == [address, other])
    }
}
