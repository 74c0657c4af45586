import Foundation
import Testing
import WakeModel

@testable import WakeDevices

@Suite("Steps that have centrals do something")
struct CentralStepTests {
    private func verb(_ step: String) throws -> Verb? {
        let text = """
            scenario: centrals
            devices:
              - {file: ../Bluetooth/phone-reader.yaml, name: reader, count: 2}
              - {file: ../Bluetooth/heart-rate-belt.yaml, name: belt}
              - {file: ../Bluetooth/desk-beacon.yaml, name: desk}
              - {phone: evening}
            apps: [{scripted: com.acme.strap, name: strap}]
            steps: [{at: 1s, \(step)}]
            """
        let file = packageFolder + "/Devices/Scenarios/centrals.yaml"
        return try Scenario.parse(Array(text.utf8), file: file, files: ScenarioFiles()).steps.first?.verb
    }

    private func order(_ word: String, _ action: BluetoothCentral.Action, of devices: Int...) -> Verb {
        .order(devices.map { CentralOrder(device: $0, word: word, action: action) })
    }

    @Test("A connect looks for the service that it names, or for the first of the script")
    func connect() throws {
        let named = try verb("connect: reader.2, service: 180f")
        #expect(named == order("connect", .connect(service: "180F", within: nil), of: 1))
        let usual = try verb("connect: reader")
        #expect(usual == order("connect", .connect(service: "180D", within: nil), of: 0, 1))
    }

    @Test("A write is a request unless it says how")
    func write() throws {
        let usual = try verb("write: reader.1, characteristic: 2A39, value: \"01 02\"")
        #expect(usual == order("write", .write("2A39", [1, 2], .request), of: 0))
        let command = try verb("write: reader.1, characteristic: 2A39, value: \"01\", how: command")
        #expect(command == order("write", .write("2A39", [1], .command), of: 0))
    }

    @Test("A central reads and subscribes")
    func reads() throws {
        #expect(try verb("read: reader.1, characteristic: 2A38") == order("read", .read("2A38"), of: 0))
        let subscribed = try verb("subscribe: reader.1, characteristic: 2A37, indications: true")
        #expect(subscribed == order("subscribe", .subscribe("2A37", indications: true), of: 0))
    }

    @Test("A central is disconnected as a peripheral is")
    func disconnect() throws {
        #expect(try verb("disconnect: [reader.2, belt]") == .disconnect(devices: [1, 2]))
    }

    @Test(
        "What is no central, and what a step does not say, is one line with the remedy",
        arguments: [
            ("connect: belt", "'connect' of 'belt', which is a peripheral, and waits to be connected to"),
            ("connect: belt", "expected a central, or 'in-range', which lets what waits for the peripheral connect"),
            ("write: belt, characteristic: 2A39, value: \"01\"", "expected a central: apps read from a peripheral"),
            ("connect: evening", "'connect' of 'evening', which is a phone; expected a central; drive a phone through"),
            ("connect: desk", "'desk', which is no central; expected a device of kind bluetooth-central"),
            ("connect: reader, characteristic: 2A39", "'characteristic' beside 'connect'"),
            ("write: reader, value: \"01\"", "a step without 'characteristic'"),
            ("write: reader, characteristic: 2A39", "a step without 'value'"),
            ("write: reader, characteristic: 2A39, value: \"01\", how: fast", "unknown way to write 'fast'"),
            ("disconnect: desk", "'desk', which has no connections"),
        ]
    )
    func refused(step: String, part: String) {
        let error = #expect(throws: FileError.self) { try verb(step) }
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
    }

    @Test("A connect to nothing is refused for a central whose script has no connect")
    func nothing() throws {
        let central = "{device: bluetooth-central, address: \"F0:AA:00:00:00:01\", script: []}"
        let path = FileManager.default.temporaryDirectory.path + "/central-\(UUID().uuidString).yaml"
        try Data(central.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = "{scenario: a, devices: [{file: \(path), name: mute}], apps: [], steps: [{at: 0, connect: mute}]}"
        let error = #expect(throws: FileError.self) { try Scenario.parse(Array(text.utf8), file: "a.yaml") }
        #expect(error?.found == "'mute', whose script has no 'connect'")
    }
}
