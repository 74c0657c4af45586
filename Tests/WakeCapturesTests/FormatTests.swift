import Foundation
import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("Formats of captures")
struct FormatTests {
    @Test(
        "Each format gives what tshark says was notified, to the microsecond",
        arguments: [
            "belt-old.pklg", "belt-new.pklg", "belt-monitor.btsnoop", "belt-monitor.pcap", "belt-central.pcap",
            "belt-nanoseconds.pcap", "belt.pcapng", "belt-sections.pcapng",
        ]
    )
    func notified(name: String) throws {
        let reading = try Captures.reading(name)
        let device = try #require(reading.devices.first)
        let told = try Notified.told(name)
        #expect(told.count == 14)
        #expect(Notified.read(device, since: try #require(reading.first)) == told)
        #expect(reading.skipped.isEmpty)
    }

    @Test(
        "The same session gives the same device in each format",
        arguments: [
            "belt-old.pklg", "belt-new.pklg", "belt-monitor.btsnoop", "belt-monitor.pcap", "belt-central.pcap",
            "belt-nanoseconds.pcap", "belt.pcapng", "belt-sections.pcapng",
        ]
    )
    func same(name: String) throws {
        let plain = try Captures.reading("belt-central.btsnoop")
        let reading = try Captures.reading(name)
        let devices = (try #require(plain.devices.first), try #require(reading.devices.first))
        #expect(devices.1.table == devices.0.table)
        #expect(devices.1.connections.map(\.reason) == devices.0.connections.map(\.reason))
        #expect(devices.1.advertising.reports == devices.0.advertising.reports)
        let lifts = [(plain, devices.0), (reading, devices.1)].map { PeripheralLift($1, start: $0.first!).peripheral }
        #expect(lifts[1].services.map(\.uuid) == lifts[0].services.map(\.uuid))
    }

    @Test("A sniffer's packets are put together, without those that came twice or damaged")
    func sniffer() throws {
        let reading = try Captures.reading("belt-sniffer.pcap")
        let device = try #require(reading.devices.first)
        let told = try Notified.told("belt-central.btsnoop")
        let read = Notified.read(device, since: 0)
        #expect(read.map(\.value) == told.map(\.value))
        #expect(read.map(\.handle) == told.map(\.handle))
        #expect(device.addressText == "F0:11:22:33:44:55")
        #expect(device.table == (try Captures.reading("belt-central.btsnoop")).devices.first?.table)
        #expect(device.connections.map(\.reason) == [0x13, 0x13])
        #expect(Array(reading.skipped.keys) == [.badChecksum])
    }

    @Test("BlueZ's monitor shows a controller's address, and its going ends what was up")
    func monitor() throws {
        var bytes = try Captures.bytes("belt-monitor.btsnoop")
        // The last record says that the controller is gone; without the last disconnection the link is up until then.
        let starts = BTSnoopRecords.starts(bytes)
        let last = try #require(starts.last { bytes[$0 + 11] == 3 && bytes[$0 + 24] == 5 })
        bytes.removeSubrange(last..<starts[starts.firstIndex(of: last)! + 1])
        let device = try #require(Captures.reading(bytes)?.reading.devices.first)
        #expect(device.connections.map(\.reason) == [0x13, nil])
        #expect(device.connections.allSatisfy { $0.closed != nil })
    }

    @Test("A cut anywhere in any format keeps what stands before it", arguments: Captures.names)
    func cut(name: String) throws {
        let bytes = try Captures.bytes(name)
        let whole = try #require(Captures.reading(bytes)).reading.recordCount
        var before = 0
        for length in stride(from: 64, to: bytes.count, by: 37) {
            let (reading, damage) = try #require(Captures.reading(Array(bytes.prefix(length))))
            #expect(reading.recordCount >= before && reading.recordCount < whole)
            if let damage { #expect(damage.offset <= length) }
            before = reading.recordCount
        }
    }

    @Test("Bytes changed by chance are read or refused, and never end the process", arguments: Captures.names)
    func garbled(name: String) throws {
        let bytes = try Captures.bytes(name)
        var state = Mixing.hash(name.utf8)
        for _ in 0..<60 {
            var garbled = bytes
            for _ in 0..<20 {
                let place = Int(Mixing.next(&state) % UInt64(bytes.count))
                garbled[place] = UInt8(truncatingIfNeeded: Mixing.next(&state))
            }
            guard let (reading, _) = Captures.reading(garbled), let start = reading.first else { continue }
            for device in reading.devices {
                let text = PeripheralLift(device, start: start).peripheral.text()
                #expect(throws: Never.self) { try BluetoothPeripheral.parse(Array(text.utf8), file: "garbled.yaml") }
            }
        }
    }

    @Test("A link type that nothing is read of is named, and where it stands")
    func linkType() throws {
        var bytes = try Captures.bytes("belt-central.pcap")
        bytes[20] = 147
        let damage = try #require(Captures.reading(bytes)).damage
        #expect(damage == CaptureDamage(offset: 20, found: "link type 147, of which nothing is read"))
    }

    @Test("What is no capture is not taken for one", arguments: ["belt.yaml", "make.py"])
    func others(name: String) throws {
        #expect(Captures.reading(try Captures.bytes(name)) == nil)
    }
}

/// Where the records of a btsnoop begin.
enum BTSnoopRecords {
    static func starts(_ bytes: [UInt8]) -> [Int] {
        var starts: [Int] = []
        var position = 16
        while position < bytes.count {
            starts.append(position)
            position += 24 + Int(bytes[position + 6]) << 8 + Int(bytes[position + 7])
        }
        return starts
    }
}
