import Testing

@testable import WakeBlueZ
@testable import WakeBus

@Suite("What bluetoothd's signals mean")
struct BlueZSignalTests {
    static let adapter = "/org/bluez/hci0"
    static let belt = adapter + "/dev_F0_11_22_33_44_55"
    static let id = BlueZDeviceID(address: "F0:11:22:33:44:55", isRandom: true)

    /// The objects before each signal: an adapter that is on, and a connected belt.
    static func objects() -> BlueZObjects {
        var objects = BlueZObjects()
        _ = objects.take(added(adapter, BlueZName.adapter, [("Address", .string("00:01")), ("Powered", .bool(true))]))
        _ = objects.take(added(belt, BlueZName.device, device + [("Connected", .bool(true))]))
        _ = objects.take(added(belt + "/service000a/char000b", BlueZName.characteristic, []))
        return objects
    }

    static let device: [(String, BusValue)] = [
        ("Address", .string("f0:11:22:33:44:55")), ("AddressType", .string("random")),
    ]

    static func facts(connected: Bool = true, resolved: Bool = false, measured: Bool = false) -> BlueZDeviceFacts {
        BlueZDeviceFacts(path: belt, id: id, isConnected: connected, isResolved: resolved, isMeasured: measured)
    }

    static func signal(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]) -> BusSignal {
        BusSignal(sender: ":1.1", path: path, interface: interface, member: member, arguments: arguments)
    }

    static func added(_ path: String, _ interface: String, _ properties: [(String, BusValue)]) -> BusSignal {
        let entry = BusEntry(.string(interface), .properties(properties))
        let interfaces = BusValue.dictionary([entry], key: "s", value: "a{sv}")
        return signal("/", BlueZName.objectManager, "InterfacesAdded", [.objectPath(path), interfaces])
    }

    static func removed(_ path: String, _ interfaces: [String]) -> BusSignal {
        let arguments: [BusValue] = [.objectPath(path), .strings(interfaces)]
        return signal("/", BlueZName.objectManager, "InterfacesRemoved", arguments)
    }

    static func changed(_ path: String, _ interface: String, _ changes: [(String, BusValue)]) -> BusSignal {
        let arguments: [BusValue] = [.string(interface), .properties(changes), .strings([])]
        return signal(path, BlueZName.properties, "PropertiesChanged", arguments)
    }

    static let table: [(BusSignal, BlueZSignal?)] = [
        (
            added("/org/bluez/hci1", BlueZName.adapter, [("Address", .string("00:02"))]),
            .adapterAppeared(BlueZAdapterFacts(path: "/org/bluez/hci1", address: "00:02", isOn: false))
        ),
        (
            added(belt, BlueZName.device, device + [("RSSI", .int16(-60)), ("Trusted", .bool(true))]),
            .deviceAppeared(BlueZDeviceFacts(path: belt, id: id, isPairedOrTrusted: true, isMeasured: true))
        ),
        (
            added(belt + "/service000a", BlueZName.service, []),
            .attributeAppeared(path: belt + "/service000a")
        ),
        (added(adapter + "/dev_nobody", BlueZName.device, []), nil),
        (
            changed(adapter, BlueZName.adapter, [("Powered", .bool(false))]),
            .adapterChanged(BlueZAdapterFacts(path: adapter, address: "00:01", isOn: false))
        ),
        (
            changed(belt, BlueZName.device, [("Connected", .bool(false))]),
            .deviceChanged(facts(connected: false), .disconnected)
        ),
        (changed(belt, BlueZName.device, [("Connected", .bool(true))]), .deviceChanged(facts(), .connected)),
        (
            changed(belt, BlueZName.device, [("ServicesResolved", .bool(true))]),
            .deviceChanged(facts(resolved: true), .resolved)
        ),
        (changed(belt, BlueZName.device, [("ServicesResolved", .bool(false))]), .deviceChanged(facts(), [])),
        (
            changed(belt, BlueZName.device, [("RSSI", .int16(-50))]),
            .deviceChanged(facts(measured: true), [.heard, .measured])
        ),
        (changed(belt, BlueZName.device, [("Name", .string("Belt"))]), .deviceChanged(facts(), [.heard, .renamed])),
        (changed(adapter + "/dev_nobody", BlueZName.device, [("Connected", .bool(true))]), nil),
        (
            changed(belt + "/service000a/char000b", BlueZName.characteristic, [("Value", .bytes([7]))]),
            .value(path: belt + "/service000a/char000b", [7])
        ),
        (changed(belt + "/service000a/char000b", BlueZName.characteristic, [("Notifying", .bool(true))]), nil),
        (removed(belt, [BlueZName.device]), .vanished([belt, belt + "/service000a/char000b"])),
        (
            removed(adapter, [BlueZName.adapter]),
            .vanished([adapter, belt, belt + "/service000a/char000b"])
        ),
        (removed("/elsewhere", [BlueZName.service]), .vanished([])),
        (
            signal(belt, BlueZName.device, "Disconnected", [.string("org.bluez.Reason.Timeout"), .string("")]),
            .reason(path: belt, "org.bluez.Reason.Timeout")
        ),
        (signal("/elsewhere", BlueZName.device, "Disconnected", [.string("org.bluez.Reason.Timeout")]), nil),
        (signal(belt, BlueZName.device, "Disconnected", []), nil),
        (signal("/", BlueZName.objectManager, "InterfacesAdded", [.int32(1)]), nil),
        (signal(belt, BlueZName.properties, "PropertiesChanged", [.string(BlueZName.device)]), nil),
    ]

    @Test("A signal means one thing, or nothing", arguments: table.indices)
    func meaning(row: Int) {
        var objects = Self.objects()
        let (signal, meaning) = Self.table[row]
        #expect(objects.take(signal) == meaning, "\(signal)")
    }

    @Test("The end of a link that was not up is no end")
    func noEnd() {
        var objects = Self.objects()
        let end = Self.changed(Self.belt, BlueZName.device, [("Connected", .bool(false))])
        _ = objects.take(end)
        #expect(objects.take(end) == .deviceChanged(Self.facts(connected: false), []))
    }

    @Test("What is a device no more is gone, whatever else it is")
    func partlyRemoved() {
        var objects = Self.objects()
        _ = objects.take(Self.added(Self.belt, "org.bluez.Battery1", []))
        #expect(objects.take(Self.removed(Self.belt, [BlueZName.device])) == .vanished([Self.belt]))
    }
}
