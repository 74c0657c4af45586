import Foundation
import Testing
import WakeModel

@testable import WakeDevices

private let plain = """
    device: external-accessory
    name: Dock
    manufacturer: Acme
    model: D1
    serial-number: "0001"
    firmware: "1.0"
    hardware: "A"
    usb: {vendor: "1d6b", product: "0104", serial-number: "0001"}
    presence: [{attach: 2s}, {detach: 1m}]
    protocols:
      - protocol: com.example.log
        tty: {interface: 2}
        send:
          - {after: 1s, text: ["a\\n", "b\\n"], every: 5s}
          - {after: 1s, pattern: {bytes: 2500, block: 1000}, every: 1ms}
        answers:
          - {text: "GO", send: [{values: ["06"]}]}
          - {hex: "1004", send: [{after: 1s, counter: {count: 2, every: 1s}}]}
      - protocol: com.example.keys
        hid: {interface: 3, report: 7, size: 8}
        echo: true
    faults:
      - {name: pulled, unplug-after-received: 100, back-after: 3s}
      - {name: stall, stall: 4s}
    """

private func parse(_ text: String) throws(FileError) -> ExternalAccessory {
    try ExternalAccessory.parse(Array(text.utf8), file: "dock.yaml")
}

@Suite("Device files of external accessories")
struct ExternalAccessoryTests {
    @Test("A device file is read whole")
    func reads() throws {
        let dock = try parse(plain)
        #expect(
            dock.accessory(3)
                == Accessory(
                    connection: 3,
                    name: "Dock",
                    manufacturer: "Acme",
                    model: "D1",
                    serialNumber: "0001",
                    firmwareRevision: "1.0",
                    hardwareRevision: "A",
                    protocols: ["com.example.log", "com.example.keys"]
                )
        )
        #expect(dock.transport == .usb(.init(vendor: 0x1d6b, product: 0x0104, serialNumber: "0001")))
        #expect(
            dock.protocols.map(\.link) == [
                .tty(interface: 2), .hid(.init(interface: 3, report: 7, size: 8)),
            ]
        )
        #expect(dock.protocols.map(\.link.canWait) == [true, false])
        #expect(dock.presence.map(\.attached) == [true, false])
        #expect(dock.protocols[0].script.answers.map(\.to) == [Array("GO".utf8), [0x10, 4]])
        #expect(dock.protocols[1].script.echo)
        #expect(
            dock.faults.map(\.effect) == [.unplugAfterReceived(100, backAfter: .seconds(3)), .stall(.seconds(4))]
        )
    }

    @Test("A pattern is cut into blocks, and each byte says its place")
    func pattern() throws {
        let timetable = try parse(plain).protocols[0].script.timetable
        var place = Timetable.Position()
        var values: [[UInt8]] = []
        while let value = timetable.take(&place) { values.append(value) }
        #expect(values.map(\.count) == [2, 2, 1000, 1000, 500])
        #expect(values[2...].flatMap { $0 } == (0..<2500).map { Timetable.Pattern.byte($0) })
        #expect(Timetable.Pattern.byte(0x0102) == 3)
    }

    @Test("A Bluetooth accessory is found by its address and offers RFCOMM")
    func bluetooth() throws {
        let printer = try parse(
            """
            device: external-accessory
            name: Printer
            bluetooth: {address: "F0:11:22:33:90:00"}
            protocols:
              - {protocol: com.example.raw, rfcomm: {channel: 3}}
            """
        )
        #expect(printer.addressText == "F0:11:22:33:90:00")
        #expect(printer.protocols.map(\.link) == [.rfcomm(service: "1101", channel: 3)])
        #expect(printer.presence.isEmpty)
    }

    @Test(
        "What makes no sense is refused with the line and what was expected",
        arguments: [
            ("tty: {interface: 2}", "rfcomm: {}", "rfcomm on USB"),
            ("vendor: \"1d6b\"", "vendor: 0x1d6b", "four hexadecimal digits"),
            ("com.example.keys", "com.example.log", "a second protocol"),
            ("{detach: 1m}", "{attach: 1m}", "'attach' twice"),
            ("stall: 4s}", "stall: 4s, back-after: 1s}", "'back-after' beside 'stall'"),
            ("every: 5s}", "}", "several values without 'every'"),
            ("name: stall,", "name: pulled,", "a second fault"),
            ("com.example.log", "log", "a reverse-DNS name"),
            ("name: Dock", "nam: Dock", "unknown key 'nam'"),
            ("size: 8", "size: 2000", "from 1 to 1024"),
        ]
    )
    func refused(part: String, instead: String, words: String) throws {
        let text = plain.replacing(part, with: instead, maxReplacements: 1)
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error.map { "\($0)".contains(words) } == true, "\(error.map { "\($0)" } ?? "nothing")")
    }

    @Test("Each of several accessories has a serial number of its own")
    func copies() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "accessories-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(plain.utf8).write(to: file.appending(path: "dock.yaml"))
        let text = """
            scenario: two
            apps: [{scripted: com.example.app}]
            devices: [{file: dock.yaml, count: 2}]
            """
        let scenario = try Scenario.parse(Array(text.utf8), file: file.path + "/two.yaml")
        #expect(scenario.devices.compactMap { $0.accessory?.serialNumber } == ["0001", "0001-2"])
    }

    @Test("A scrambled device file never crashes", arguments: 1...3)
    func scrambled(seed: UInt64) {
        let bytes = Array(plain.utf8)
        var random = Scrambler(seed: seed)
        for _ in 0..<1500 {
            damaged(random.scramble(bytes), of: "dock.yaml") { try ExternalAccessory.parse($0, file: $1) }
        }
    }

    @Test("Every shipped device file is read")
    func shipped() throws {
        let folder = packageFolder + "/Devices/Accessory"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }
        #expect(names.count >= 3)
        for name in names { _ = try DeviceFile.load(file: folder + "/" + name) }
    }
}
