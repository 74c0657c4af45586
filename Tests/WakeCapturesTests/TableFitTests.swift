import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("Tables that are given")
struct TableFitTests {
    /// The session without what stands before its first notification, as a capture that began late.
    private static func late() throws -> [UInt8] {
        let bytes = try Captures.bytes("belt-central.btsnoop")
        let starts = BTSnoopRecords.starts(bytes)
        let first = try #require(
            starts.first { bytes[$0 + 24] == 2 && bytes[$0 + 31] == 4 && bytes[$0 + 33] == 0x1b }
        )
        let end = try #require(starts.first { bytes[$0 + 24] == 4 && bytes[$0 + 25] == 5 })
        return Array(bytes.prefix(16)) + bytes[first..<end]
    }

    private static func reading(
        _ bytes: [UInt8],
        _ tables: [CapturedDevice.Identity: AttributeTable] = [:]
    ) throws -> CaptureReading {
        let reading = CaptureReading(tables: tables)
        var source = CaptureBytes(bytes, file: "late")
        try reading.read(&source, .btsnoop)
        return reading
    }

    @Test("Without a table the handles are named, and nothing is invented")
    func without() throws {
        let reading = try Self.reading(try Self.late())
        let device = try #require(reading.devices.first)
        let lift = PeripheralLift(device, start: try #require(reading.first))
        #expect(lift.peripheral.services.isEmpty)
        #expect(lift.notes.contains { $0.hasPrefix("handle 0x0010 notified 5 values") })
    }

    @Test("A table of the device names the handles of a capture that begins after the discovery")
    func fits() throws {
        let bytes = try Self.late()
        let device = try #require(try Self.reading(bytes).devices.first)
        #expect(device.addressText == nil)
        let belt = try Captures.belt()
        let table = try TableFit.table(of: belt, on: device)
        let again = try Self.reading(bytes, [device.identity: table])
        let named = try #require(again.devices.first)
        let lift = PeripheralLift(named, start: try #require(again.first), known: belt)
        #expect(lift.peripheral.addressText == belt.addressText)
        #expect(lift.peripheral.services.map(\.uuid) == belt.services.map(\.uuid))
        let told = try Notified.told("belt-central.btsnoop").filter { !$0.isIndication }.prefix(5)
        #expect(lift.peripheral.characteristic("2A37")?.timetable.values == told.map(\.value))
        // The handles are those that the discovery showed.
        let shown = try #require(try Captures.reading("belt-central.btsnoop").devices.first).table
        for (handle, characteristic) in table.characteristics {
            #expect(shown.characteristics[handle] == characteristic)
        }
    }

    @Test("A table in which nothing notifies does not fit, and one that fits anywhere is told so")
    func unfit() throws {
        let device = try #require(try Self.reading(try Self.late()).devices.first)
        var silent = try Captures.belt()
        for service in silent.services.indices {
            for place in silent.services[service].characteristics.indices {
                silent.services[service].characteristics[place].properties = .read
                silent.services[service].characteristics[place].timetable = Timetable()
            }
        }
        #expect(throws: TableFit.Failure.none) { try TableFit.table(of: silent, on: device) }

        var many = BluetoothPeripheral(name: nil, address: [1, 2, 3, 4, 5, 6])
        var service = BluetoothPeripheral.Service("180D", primary: true)
        // Its values are 13 handles apart, as the two that notified are.
        var one = BluetoothPeripheral.Characteristic("2A37", .notify)
        one.descriptors = Array(repeating: BluetoothPeripheral.Descriptor("2901", []), count: 10)
        service.characteristics = Array(repeating: one, count: 30)
        many.services = [service]
        let error = #expect(throws: TableFit.Failure.self) { try TableFit.table(of: many, on: device) }
        guard case .several(let starts) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(starts.count > 1)
    }
}
