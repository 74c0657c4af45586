import Foundation
import Testing
import WakeCaptures
import WakeDevices
import WakeModel
import WakeReports

@testable import WakeBench

/// A run of two apps that share a belt, with its radio written down.
private struct CapturedRun {
    let folder: String
    let log: RunLog

    static let scenarios =
        #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Devices/Scenarios"

    /// - Parameter device: another belt, as a file.
    init(in parent: URL, _ name: String, device: String? = nil, backend: String = "simulated") throws {
        var scenario = Self.scenarios + "/two-apps-one-belt.yaml"
        if let device {
            let text = try String(contentsOfFile: scenario, encoding: .utf8)
            scenario = parent.appending(path: "\(name).yaml").path
            try text.replacing("../Bluetooth/heart-rate-belt.yaml", with: device)
                .write(toFile: scenario, atomically: true, encoding: .utf8)
        }
        folder = parent.appending(path: name).path
        var options = RunOptions(scenario: scenario, out: folder)
        options.backends = [BackendChoice(source: .bluetooth, word: backend)]
        options.capture = TraceFormat.allCases
        // Of a real radio: none has it.
        options.adapter = "00:00:00:00:00:00"
        try Run(options).execute()
        log = try RunLog(folder: folder)
    }

    func bytes(_ format: TraceFormat) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: "\(folder)/hci.\(format.rawValue)")))
    }

    /// What a reader of captures makes of it.
    func reading(_ format: TraceFormat) throws -> CaptureReading {
        let reading = CaptureReading()
        var source = CaptureBytes(try bytes(format), file: "capture")
        let detected = CaptureFormat.detect(&source)
        try reading.read(&source, try #require(detected))
        return reading
    }

    /// The packets of the Attribute Protocol in order, each after the flag of its direction; btsnoop's records are read by their layout.
    func attributePackets() throws -> [[UInt8]] {
        let file = try bytes(.btsnoop)
        var packets: [[UInt8]] = []
        var offset = 16
        while offset < file.count {
            let length = file[offset + 4..<offset + 8].reduce(0) { $0 << 8 | Int($1) }
            let record = Array(file[offset + 24..<offset + 24 + length])
            if record[0] == 2, record[7...8] == [4, 0] { packets.append([file[offset + 11]] + record[9...]) }
            offset += 24 + length
        }
        return packets
    }
}

@Suite("Runs whose radio is written down")
struct CaptureRunTests {
    private let parent: URL

    init() throws {
        parent = FileManager.default.temporaryDirectory.appending(path: "capture-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    }

    private func clean() { try? FileManager.default.removeItem(at: parent) }

    @Test("A capture has each value that the apps were notified of, once, in both formats")
    func values() throws {
        defer { clean() }
        let run = try CapturedRun(in: parent, "run")
        var told: [EventID: Int] = [:]
        for decision in run.log.decisions where decision.kind == "characteristic-notified" {
            told[decision.event, default: 0] += 1
        }
        #expect(told.count >= 4)
        // ATT's notification, from the belt.
        #expect(try run.attributePackets().count { $0[0] == 1 && $0[1] == 0x1b } == told.count)
        for format in TraceFormat.allCases {
            let reading = try run.reading(format)
            #expect(reading.skipped.isEmpty)
            let device = try #require(reading.devices.first)
            #expect(device.addressText == "F0:11:22:33:44:55")
            #expect(device.notifications == told.count)
        }
    }

    @Test("The same scenario and seed are written down the same, byte for byte")
    func repeated() throws {
        defer { clean() }
        let runs = try ["first", "second"].map { try CapturedRun(in: parent, $0) }
        for format in TraceFormat.allCases { #expect(try runs[0].bytes(format) == runs[1].bytes(format)) }
    }

    @Test("A capture that is made a device and captured again has the same packets of the Attribute Protocol")
    func again() throws {
        defer { clean() }
        let first = try CapturedRun(in: parent, "first")
        let reading = try first.reading(.btsnoop)
        let lift = PeripheralLift(try #require(reading.devices.first), start: try #require(reading.first))
        let file = parent.appending(path: "lifted.yaml").path
        try lift.peripheral.text().write(toFile: file, atomically: true, encoding: .utf8)
        let second = try CapturedRun(in: parent, "second", device: file)
        let (ones, others) = (try first.attributePackets(), try second.attributePackets())
        #expect(ones.count > 20)
        #expect(ones == others)
    }

    @Test("A real radio that is not there cannot be written down, and the run is refused before it begins")
    func real() throws {
        defer { clean() }
        let failure = #expect(throws: CommandFailure.self) {
            try CapturedRun(in: parent, "run", backend: "bluez")
        }
        #expect(failure?.code == .environment)
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == [])
    }

    @Test("What a run goes on with goes beside what it had written down before")
    func beside() throws {
        defer { clean() }
        let folder = RunFolder(of: parent.path)
        for name in ["hci.btsnoop", "hci-2.btsnoop"] {
            let capture = try RunCapture([.btsnoop], in: folder, start: 0)
            try capture.finish()
            #expect(capture.paths == ["\(parent.path)/\(name)"])
        }
    }
}
