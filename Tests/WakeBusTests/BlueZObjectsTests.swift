import Testing
import WakeBlueZ
import WakeBus

@Suite("The copy of bluetoothd's objects")
struct BlueZObjectsTests {
    static let adapter = "/org/bluez/hci0"
    static let belt = adapter + "/dev_F0_11_22_33_44_55"

    static func interfaces(_ names: [String], _ properties: [(String, BusValue)] = []) -> BusValue {
        .dictionary(names.map { BusEntry(.string($0), .properties(properties)) }, key: "s", value: "a{sv}")
    }

    static func filled() -> BlueZObjects {
        var objects = BlueZObjects()
        objects.add(adapter, interfaces([BlueZName.adapter, BlueZName.properties]))
        objects.add(belt, interfaces([BlueZName.device], [("RSSI", .int16(-60)), ("Name", .string("HR Belt"))]))
        objects.add(belt + "/service000a", interfaces([BlueZName.service]))
        objects.add("/org/bluez/hci01", interfaces([BlueZName.adapter]))
        return objects
    }

    @Test("What goes takes with it all below it, and not what only begins alike")
    func cascade() {
        var objects = Self.filled()
        let gone = objects.remove(Self.adapter, [BlueZName.adapter])
        #expect(gone == [Self.adapter, Self.belt, Self.belt + "/service000a"])
        #expect(objects.paths(with: BlueZName.adapter) == ["/org/bluez/hci01"])
        #expect(objects.remove(Self.adapter, [BlueZName.adapter]) == [])
    }

    @Test("An object that keeps an interface stays")
    func partly() {
        var objects = Self.filled()
        objects.add(Self.belt, Self.interfaces(["org.bluez.Battery1"]))
        #expect(objects.remove(Self.belt, ["org.bluez.Battery1"]) == [])
        #expect(objects.properties(Self.belt, BlueZName.device)?["Name"]?.text == "HR Belt")
    }

    @Test("Changed properties are kept, invalidated ones go, and those of unknown objects are not made up")
    func change() {
        var objects = Self.filled()
        objects.change(Self.belt, BlueZName.device, .properties([("Connected", .bool(true))]), without: ["RSSI"])
        let device = objects.properties(Self.belt, BlueZName.device)
        #expect(device?["Connected"] == .bool(true))
        #expect(device?["RSSI"] == nil)
        objects.change("/elsewhere", BlueZName.device, .properties([("Connected", .bool(true))]), without: [])
        #expect(objects.properties("/elsewhere", BlueZName.device) == nil)
    }

    @Test("A new list replaces all there was, and one that cannot be read leaves nothing")
    func replace() {
        var objects = Self.filled()
        let entry = BusEntry(.objectPath("/org/bluez/hci1"), Self.interfaces([BlueZName.adapter]))
        objects.replace(with: .dictionary([entry], key: "o", value: "a{sa{sv}}"))
        #expect(objects.paths(with: BlueZName.adapter) == ["/org/bluez/hci1"])
        objects.replace(with: .string("nonsense"))
        #expect(objects.paths(with: BlueZName.adapter) == [])
    }

    @Test("There is a bound to how many objects are kept")
    func bound() {
        var objects = BlueZObjects()
        for number in 0..<BlueZObjects.limit + 10 {
            objects.add("/org/bluez/hci0/dev_\(number)", Self.interfaces([BlueZName.device]))
        }
        #expect(objects.paths(with: BlueZName.device).count == BlueZObjects.limit)
    }
}
