import Foundation
import Testing

@Suite("wakebench device check")
struct DeviceVerbTests {
    private static let planted = """
        device: bluetooth-peripheral
        name: "Lamp; kitchen"
        address: "F0:11:22:33:44:55"
        advertising: {interval: 100ms, services: [180D], tx-power: 4}
        gatt:
          - {service: 180D, characteristics: [{uuid: 2A37, properties: [notify]}]}
          - {service: C2A9A400-8A2D-4B6E-9B43-5B0D6A8D0E11, characteristics: []}
          - service: 180A
            characteristics:
              - {uuid: 2A29, properties: [read], value: "4142434445464748494a4b4c4d4e4f505152535455565758595a4142"}
              - {uuid: 2A24, properties: [read], value: "42"}
              - {uuid: 2A26, properties: [read], value: "31"}
        """

    @Test("Five planted faults are five findings, each with its line and edition, and exit code 7")
    func planted() throws {
        let program = try Program()
        defer { program.clean() }
        try Self.planted.write(to: program.folder.appending(path: "lamp.yaml"), atomically: true, encoding: .utf8)
        let outcome = try program.run("device", "check", "lamp.yaml")
        #expect(outcome.code == 7)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let found = ["2: ADG-2", "4: ADG-3", "8: ADG-10", "8: GATT-1", "10: ADG-11"].map { "lamp.yaml:\($0): " }
        #expect(lines.count == 6 && zip(lines, found).allSatisfy { $0.hasPrefix($1) }, "\(outcome.output)")
        #expect(lines.last == "1 device, 5 findings")
        let data = Data(try program.run("device", "check", "--json", "lamp.yaml").output.utf8)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let findings = try #require(object["findings"] as? [[String: Any]])
        #expect(findings.compactMap { $0["line"] as? Int } == [2, 4, 8, 8, 10])
        #expect(findings.allSatisfy { ($0["edition"] as? String)?.isEmpty == false })
    }

    @Test("Nothing is found about the devices that come with the program, and those of new apps")
    func shipped() throws {
        let program = try Program()
        defer { program.clean() }
        let folder = Program.repository.appending(path: "Devices/Bluetooth").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            .filter { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8).contains("bluetooth-peripheral") }
        #expect(files.count >= 8)
        #expect(try program.run("app", "new", "Beat", "--language", "python").code == 0)
        let outcome = try program.run(
            Program.path,
            ["device", "check", "Beat/belt.yaml"] + files.map { "\(folder)/\($0)" }
        )
        #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    }

    private static let belt = Program.repository.appending(path: "Devices/Captures/belt.btsnoop").path

    @Test(
        "A capture's findings name its file, the frame and the time, what it does not show is told, and the exit code is 7"
    )
    func capture() throws {
        let program = try Program()
        defer { program.clean() }
        let outcome = try program.run("device", "check", Self.belt)
        #expect(outcome.code == 7)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 8)
        #expect(
            lines.first?.hasPrefix("\(Self.belt): frame 33 at 207ms: ADG-1: no TX power level is advertised; ") == true
        )
        #expect(lines[6] == "F0:11:22:33:44:55: not shown and not judged: connection parameters, data length")
        #expect(lines[7] == "1 device, 6 findings")
    }

    @Test("In JSON a place of a capture is a frame and its time, and one of a file is a line")
    func places() throws {
        let program = try Program()
        defer { program.clean() }
        try Self.planted.write(to: program.folder.appending(path: "lamp.yaml"), atomically: true, encoding: .utf8)
        let output = try program.run("device", "check", "--json", "lamp.yaml", Self.belt).output
        let object = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        #expect(object["schema"] as? String == "wake.device-check/1")
        let findings = try #require(object["findings"] as? [[String: Any]])
        #expect(findings.prefix(5).allSatisfy { $0["line"] is Int && $0["place"] == nil })
        let places = findings.dropFirst(5).compactMap { $0["place"] as? [String: Any] }
        #expect(places.compactMap { $0["frame"] as? Int } == [33, 35, 83, 83, 83, 137])
        #expect(places.first?["seconds"] as? Double == 0.207)
        let unjudged = try #require(object["unjudged"] as? [[String: Any]])
        #expect(unjudged.count == 1 && unjudged[0]["device"] as? String == "F0:11:22:33:44:55")
    }

    @Test("A device that a capture does not show is named by its address, and those that it shows")
    func notShown() throws {
        let program = try Program()
        defer { program.clean() }
        let outcome = try program.run("device", "check", Self.belt, "--address", "F0:00:00:00:00:01")
        #expect(outcome.code == 3)
        #expect(outcome.errors.contains("F0:11:22:33:44:55"))
    }

    @Test("Without bluetoothd a live device is refused with 12 and the remedy, and nothing is left behind")
    func withoutBluetooth() throws {
        let program = try Program()
        defer { program.clean() }
        let nowhere = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(program.folder.path)/no-bus"]
        for words in [["device", "check", "--live", "Belt"], ["device", "fuzz", "Belt", "-o", "fuzzed"]] {
            let outcome = try program.run(Program.path, words, environment: nowhere)
            #expect(outcome.code == 12)
            #expect(outcome.complaints.last?.contains("D-Bus") == true)
            #expect(program.contents.isEmpty)
        }
    }

    @Test(
        "Words that make no sense are refused with 2, before anything is looked for",
        arguments: [
            ["device", "check", "--live", "Belt", "lamp.yaml"], ["device", "check"], ["device", "fuzz"],
            ["device", "check", "lamp.yaml", "--address", "F0:11:22:33:44:55"],
            ["device", "fuzz", "Belt", "--for", "25h"],
            ["device", "fuzz", "Belt", "--for", "0"], ["device", "fuzz", "Belt", "--seed", "x"],
            ["device", "fuzz", "Belt", "--writes", "2A3"], ["device", "fuzz", "Belt", "--within", "soon"],
        ]
    )
    func refused(words: [String]) throws {
        let program = try Program()
        defer { program.clean() }
        try Self.planted.write(to: program.folder.appending(path: "lamp.yaml"), atomically: true, encoding: .utf8)
        let outcome = try program.run(Program.path, words)
        #expect(outcome.code == 2, "\(outcome.errors)")
        #expect(outcome.complaints.count == 1)
        #expect(program.contents == ["lamp.yaml"])
    }
}
