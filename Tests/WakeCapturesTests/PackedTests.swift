import Foundation
import Testing

@testable import WakeCaptures

@Suite("Captures that gzip packed")
struct PackedTests {
    private static let name = "belt-parts.pcap.gz"

    /// A file of these bytes, while a body reads it.
    private func file<Value>(_ bytes: [UInt8], _ body: (String) throws -> Value) throws -> Value {
        let file = FileManager.default.temporaryDirectory.appending(path: "packed-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        return try body(file.path)
    }

    /// What a file shows, and where it is damaged.
    private func reading(
        _ bytes: [UInt8],
        limit: Int = Unpacking.limit
    ) throws -> (reading: CaptureReading, damage: CaptureDamage?) {
        try file(bytes) { path in
            let reading = CaptureReading()
            var source = try CaptureBytes(file: path, unpackLimit: limit)
            let detected = CaptureFormat.detect(&source)
            let format = try #require(detected)
            do throws(CaptureDamage) { try reading.read(&source, format) } catch { return (reading, error) }
            return (reading, nil)
        }
    }

    @Test("It reads like the file that was packed, also in several parts")
    func parts() throws {
        let plain = try Captures.reading("belt-central.pcap")
        let packed = try Captures.reading(Self.name)
        let devices = (try #require(plain.devices.first), try #require(packed.devices.first))
        #expect(packed.records == plain.records)
        #expect(Notified.read(devices.1, since: 0) == Notified.read(devices.0, since: 0))
        #expect(devices.1.table == devices.0.table)
    }

    @Test("What stands behind the end of what is packed is no part of it")
    func behind() throws {
        let (reading, damage) = try self.reading(try Captures.bytes(Self.name) + [0, 0, 0, 7])
        #expect(damage == nil)
        #expect(reading.recordCount == 289)
    }

    @Test("Of one that is cut short what stands before the cut is kept, wherever that is")
    func cut() throws {
        let bytes = try Captures.bytes(Self.name)
        var before = 0
        for length in stride(from: 600, to: bytes.count, by: 61) {
            let (reading, damage) = try self.reading(Array(bytes.prefix(length)))
            #expect(damage != nil && reading.recordCount >= before)
            before = reading.recordCount
        }
        #expect(before > 200)
    }

    @Test("One that ends between two records is told to be cut, or damaged")
    func failures() throws {
        let bytes = try Captures.bytes(Self.name)
        // The last eight bytes are its checksum and length.
        let cut = try reading(Array(bytes.dropLast(3)))
        #expect(cut.reading.recordCount == 289)
        #expect(cut.damage == CaptureDamage(offset: 11_423, found: "what cannot be unpacked: it is cut short"))
        var wrong = bytes
        wrong[bytes.count - 8] ^= 1
        let damaged = try reading(wrong)
        #expect(damaged.reading.recordCount == 289)
        #expect(damaged.damage?.found == "what cannot be unpacked: it is damaged")
    }

    @Test("No more is unpacked than the limit, however much it says that it is")
    func limit() throws {
        let bytes = try Captures.bytes(Self.name)
        #expect(try reading(bytes, limit: 11_423).damage == nil)
        #expect(try reading(bytes, limit: 11_422).damage?.found == "more than 4 GiB when it is unpacked")
    }

    @Test("Its first bytes are told as they are: they are of no format that is not packed")
    func beginning() throws {
        #expect(try CaptureBytes.beginning(of: Captures.folder + Self.name).starts(with: [0x1f, 0x8b, 8]))
    }
}
