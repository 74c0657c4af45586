import Foundation
import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("Captures in btsnoop")
struct BTSnoopTests {
    @Test(
        "What was notified is what tshark says, to the microsecond",
        arguments: ["belt-central.btsnoop", "belt-peripheral.btsnoop"]
    )
    func notified(name: String) throws {
        let reading = try Captures.reading(name)
        let told = try Notified.told(name)
        #expect(told.count == 14)
        let device = try #require(reading.devices.first)
        #expect(Notified.read(device, since: try #require(reading.first)) == told)
    }

    @Test(
        "Either end's capture gives the table that the peripheral played, with the values read",
        arguments: ["belt-central.btsnoop", "belt-peripheral.btsnoop"]
    )
    func table(name: String) throws {
        let reading = try Captures.reading(name)
        let lift = PeripheralLift(try #require(reading.devices.first), start: try #require(reading.first))
        let (lifted, belt) = (lift.peripheral, try Captures.belt())
        #expect(lifted.addressText == belt.addressText)
        #expect(lifted.name == belt.name)
        #expect(lifted.advertising.services == belt.advertising.services)
        #expect(lifted.advertising.manufacturerData == belt.advertising.manufacturerData)
        #expect(lifted.advertising.connectable)
        // BlueZ has Service Changed of its own.
        #expect(lifted.services.map(\.uuid) == belt.services.map(\.uuid) + ["1801"])
        for (service, played) in zip(lifted.services, belt.services) {
            #expect(service.characteristics.map(\.uuid) == played.characteristics.map(\.uuid))
            #expect(service.characteristics.map(\.properties) == played.characteristics.map(\.properties))
            #expect(
                service.characteristics.map { $0.descriptors.map(\.uuid) }
                    == played.characteristics.map { $0.descriptors.map(\.uuid) }
            )
        }
        for uuid in ["2A38", "2A24"] {
            #expect(lifted.characteristic(uuid)?.value == belt.characteristic(uuid)?.value, "\(uuid)")
        }
    }

    @Test("The host's own advertising interval is taken where the host was captured, else it is measured")
    func interval() throws {
        let own = try Captures.reading("belt-peripheral.btsnoop")
        let ownDevice = try #require(own.devices.first)
        #expect(PeripheralLift(ownDevice, start: 0).peripheral.advertising.interval == .milliseconds(100))
        let heard = try Captures.reading("belt-central.btsnoop")
        let heardDevice = try #require(heard.devices.first)
        let measured = PeripheralLift(heardDevice, start: 0).peripheral.advertising.interval
        #expect((.milliseconds(90)...(.milliseconds(110))).contains(measured))
    }

    @Test("A stream has the values that the peripheral's file says, in its order, over two links")
    func stream() throws {
        let reading = try Captures.reading("belt-central.btsnoop")
        let lifted = PeripheralLift(try #require(reading.devices.first), start: try #require(reading.first)).peripheral
        for uuid in ["2A37", "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"] {
            let played = try #require(try Captures.belt().characteristic(uuid)).timetable
            #expect(lifted.characteristic(uuid)?.timetable.values == played.values, "\(uuid)")
        }
        // The file's pauses, and what a busy machine adds; between the links the timetable stood still.
        let pauses = try #require(lifted.characteristic("2A37")).timetable.pauses
        #expect((.milliseconds(300)...(.milliseconds(400))).contains(pauses[4]))
    }

    @Test("Links are told with their parameters, and with who ended them and why")
    func links() throws {
        let central = try #require(try Captures.reading("belt-central.btsnoop").devices.first)
        #expect(central.connections.map(\.reason) == [0x13, 0x13])
        #expect(central.connections.map(\.isEndedHere) == [true, true])
        #expect(central.connections.map(\.mtu) == [64, 23])
        #expect(central.connections.map(\.notifications) == [7, 7])
        let peripheral = try Captures.reading("belt-peripheral.btsnoop")
        #expect(peripheral.skipped.isEmpty)
    }

    @Test("A capture that is cut short gives what stands before the cut, and names the record that is not whole")
    func cut() throws {
        let bytes = try Captures.bytes("belt-central.btsnoop")
        var ends: [Int] = []
        var position = 16
        while position < bytes.count {
            ends.append(position)
            position += 24 + Int(bytes[position + 6]) << 8 + Int(bytes[position + 7])
        }
        for length in stride(from: 16, to: bytes.count, by: 7) {
            let (reading, damage) = try #require(Captures.reading(Array(bytes.prefix(length))))
            let whole = ends.filter { $0 <= length }
            if whole.last == length {
                #expect(damage == nil && reading.recordCount == whole.count - 1)
            } else {
                #expect(damage == CaptureDamage(offset: whole.last!, found: "a record cut short"))
                #expect(reading.recordCount == whole.count - 1)
            }
        }
    }

    @Test("A record that is longer than any can be is damage, and its offset is told")
    func garbled() throws {
        var bytes = try Captures.bytes("belt-central.btsnoop")
        bytes[16 + 4] = 0xff
        let (reading, damage) = try #require(Captures.reading(bytes))
        #expect(reading.recordCount == 0)
        #expect(damage?.offset == 16)
        #expect(damage?.found.hasPrefix("a record of 4278190") == true)
    }

    @Test("A file that is longer than the window reads like one in memory")
    func window() throws {
        let bytes = try Captures.bytes("belt-central.btsnoop")
        let copies = CaptureBytes.windowSize / (bytes.count - 16) * 2
        let long = bytes.prefix(16) + (0..<copies).flatMap { _ in bytes.dropFirst(16) }
        let file = FileManager.default.temporaryDirectory.appending(path: "long-\(UUID().uuidString).btsnoop")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(long).write(to: file)
        let reading = CaptureReading()
        var source = try CaptureBytes(file: file.path)
        let format = CaptureFormat.detect(&source)
        #expect(format == .btsnoop)
        try reading.read(&source, .btsnoop)
        let inMemory = try #require(Captures.reading(Array(long))).reading
        #expect(reading.recordCount == 289 * copies)
        #expect(reading.records == inMemory.records)
        let devices = (try #require(reading.devices.first), try #require(inMemory.devices.first))
        #expect(devices.0.notifications == 14 * copies)
        #expect(Notified.read(devices.0, since: 0) == Notified.read(devices.1, since: 0))
    }

    @Test("A pipe, a folder and a file that is not there are refused, and nothing waits")
    func refused() throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID().uuidString)").path
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        defer { unsafe unlink(pipe) }
        for (path, found) in [(pipe, "a pipe"), (Captures.folder, "a folder"), (pipe + "-not", "no such file")] {
            let error = #expect(throws: FileError.self) { _ = try CaptureBytes(file: path) }
            #expect(error?.found == found)
        }
    }
}
