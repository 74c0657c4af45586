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
}
