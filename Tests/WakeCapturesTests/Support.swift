import Foundation
import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

/// The captures that are kept beside these tests.
enum Captures {
    static let folder = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Captures/"

    static let names = [
        "belt-central.btsnoop", "belt-old.pklg", "belt-new.pklg", "belt-monitor.btsnoop", "belt-monitor.pcap",
        "belt-central.pcap", "belt-nanoseconds.pcap", "belt.pcapng", "belt-sections.pcapng", "belt-sniffer.pcap",
    ]

    static func bytes(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: folder + name)))
    }

    /// What a capture shows; the test fails when it is damaged.
    static func reading(_ name: String) throws -> CaptureReading {
        let reading = CaptureReading()
        var source = try CaptureBytes(file: folder + name)
        let detected = CaptureFormat.detect(&source)
        let format = try #require(detected)
        try reading.read(&source, format)
        return reading
    }

    /// What bytes show, and where they are damaged; nil when they are no capture.
    static func reading(_ bytes: [UInt8]) -> (reading: CaptureReading, damage: CaptureDamage?)? {
        let reading = CaptureReading()
        var source = CaptureBytes(bytes, file: "bytes")
        guard let format = CaptureFormat.detect(&source) else { return nil }
        do { try reading.read(&source, format) } catch { return (reading, error) }
        return (reading, nil)
    }

    /// The device that the captured session played.
    static func belt() throws -> BluetoothPeripheral { try BluetoothPeripheral.load(file: folder + "belt.yaml") }
}

/// What tshark says was notified.
struct Notified: Hashable {
    var microseconds: Int64
    var isIndication: Bool
    var handle: UInt16
    var value: [UInt8]

    /// As it was kept of a capture.
    static func told(_ name: String) throws -> [Notified] {
        let text = try String(contentsOfFile: Captures.folder + name + ".notified.tsv", encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            let words = line.split(separator: "\t", omittingEmptySubsequences: false)
            let time = try #require(words[0].split(separator: ".").count == 2 ? words[0] : nil)
            let parts = time.split(separator: ".")
            let seconds = try #require(Int64(parts[0])), nanoseconds = try #require(Int64(parts[1]))
            return Notified(
                microseconds: seconds * 1_000_000 + nanoseconds / 1000,
                isIndication: words[1] == "0x1d",
                handle: try #require(UInt16(words[2].dropFirst(2), radix: 16)),
                value: bytes(words[3])
            )
        }
    }

    private static func bytes(_ text: Substring) -> [UInt8] {
        let digits = text.compactMap { $0.hexDigitValue.map(UInt8.init) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// As a reading has it, in the order of time.
    static func read(_ device: CapturedDevice, since start: Int64) -> [Notified] {
        device.streams.flatMap { handle, stream in
            (0..<stream.kept).map { index in
                Notified(
                    microseconds: (stream.times[index] - start) / 1000,
                    isIndication: stream.indications > 0,
                    handle: handle,
                    value: stream.value(index)
                )
            }
        }.sorted { $0.microseconds < $1.microseconds }
    }
}

extension BluetoothPeripheral {
    func characteristic(_ uuid: String) -> Characteristic? {
        services.flatMap(\.characteristics).first { $0.uuid == uuid }
    }
}

extension Timetable {
    /// Its values in order, up to its end.
    var values: [[UInt8]] {
        var copy = self
        copy.repeats = false
        var position = Position()
        var values: [[UInt8]] = []
        while let value = copy.take(&position) { values.append(value) }
        return values
    }

    var pauses: [Instant.Span] { entries.map(\.after) }
}
