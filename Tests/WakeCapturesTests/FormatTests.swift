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
        // Each that is repeated comes once more whole, and once more damaged.
        #expect(Set(reading.skipped.keys) == [.again, .badChecksum])
        #expect(reading.skipped[.again] == reading.skipped[.badChecksum])
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

    @Test("A kind of capture that is not read is named as that, and not as damage", arguments: [147, 192, 228])
    func linkType(number: Int) throws {
        var bytes = try Captures.bytes("belt-central.pcap")
        bytes[20] = UInt8(number)
        let damage = try #require(Captures.reading(bytes)).damage
        #expect(damage == CaptureDamage(offset: 20, found: "link type \(number)", isUnread: true))
    }

    @Test("A btsnoop of another version or datalink is not read, and not damaged")
    func otherBTSnoop() throws {
        let bytes = try Captures.bytes("belt-central.btsnoop")
        var other = bytes
        other[11] = 2
        let version = try #require(Captures.reading(other)).damage
        #expect(version == CaptureDamage(offset: 8, found: "version 2 of btsnoop", isUnread: true))
        other = bytes
        other[15] += 1
        let datalink = try #require(Captures.reading(other)).damage
        #expect(datalink == CaptureDamage(offset: 12, found: "datalink 1003", isUnread: true))
    }

    @Test("Of a pcapng the packets of a link type that is not read are counted by it, and the others are read")
    func oneOfTwoLinkTypes() throws {
        // The second section's interface, of link type 201.
        let bytes = try Captures.bytes("belt-sections.pcapng")
        let interfaces = bytes.indices.dropLast(16).filter {
            bytes[$0..<$0 + 4].elementsEqual([1, 0, 0, 0]) && bytes[$0 + 8] == 201
        }
        try #require(interfaces.count == 2)
        var other = bytes
        other[interfaces[1] + 8] = 192
        let (reading, damage) = try #require(Captures.reading(other))
        let whole = try Captures.reading("belt-sections.pcapng")
        #expect(damage == nil)
        #expect(reading.recordCount == whole.recordCount)
        #expect(reading.unread == [192: whole.recordCount - 200])
        #expect(reading.records[.unread] == whole.recordCount - 200)
        #expect(reading.skipped.isEmpty)
    }

    @Test(
        "A clock that is set before the year 0, or far beyond, gives the same pauses",
        arguments: [-1_000, -200_000_000_000, 9_000_000_000]
    )
    func clock(seconds: Int64) throws {
        var bytes = try Captures.bytes("belt-central.btsnoop")
        let starts = BTSnoopRecords.starts(bytes)
        func stamp(_ start: Int) -> Int64 {
            Int64(bitPattern: bytes[start + 16..<start + 24].reduce(0) { $0 << 8 | UInt64($1) })
        }
        let first = stamp(starts[0])
        for start in starts {
            let time = UInt64(bitPattern: stamp(start) - first + seconds * 1_000_000)
            for place in 0..<8 {
                bytes[start + 16 + place] = UInt8(truncatingIfNeeded: time >> (56 - 8 * UInt64(place)))
            }
        }
        let (reading, damage) = try #require(Captures.reading(bytes))
        #expect(damage == nil)
        let start = try #require(reading.first)
        #expect(
            Notified.read(try #require(reading.devices.first), since: start)
                == (try Notified.told("belt-central.btsnoop"))
        )
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
