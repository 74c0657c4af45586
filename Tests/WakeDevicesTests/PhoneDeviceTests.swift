import Testing
import WakeModel

@testable import WakeDevices

@Suite("Other phones as devices of a scenario")
struct PhoneDeviceTests {
    private func parse(_ devices: String, uses: String = "", steps: String = "") throws -> Scenario {
        let text = """
            scenario: phones
            devices: [\(devices)]
            apps: [{scripted: com.acme.reader, name: reader, uses: [\(uses)]}]
            steps: [\(steps)]
            """
        return try Scenario.parse(Array(text.utf8), file: "phones.yaml")
    }

    @Test("A device is a phone of the bench, by the name that is given or its own")
    func names() throws {
        let scenario = try parse("{phone: evening, name: thermometer}, {phone: rack-2}")
        #expect(scenario.devices.map(\.name) == ["thermometer", "rack-2"])
        #expect(scenario.devices.map { $0.phone?.phone } == ["evening", "rack-2"])
        #expect(scenario.devices.map(\.kind) == ["phone", "phone"])
    }

    @Test("An app uses what it likes of a phone, and steps take its link and its range")
    func uses() throws {
        let scenario = try parse(
            "{phone: evening, name: oven}",
            uses:
                "{device: oven, characteristic: 2A1C, script: [{read: 2A1D}, {write: 2A21, value: \"01\"}, {await: 2A1C}]}",
            steps: "{at: 1s, disconnect: oven}, {at: 2s, out-of-range: oven}, {at: 3s, in-range: oven}"
        )
        #expect(
            scenario.steps.map(\.verb) == [
                .disconnect(devices: [0]), .range(devices: [0], inRange: false), .range(devices: [0], inRange: true),
            ]
        )
        guard case .scripted(let app) = scenario.apps[0].form else { throw CancellationError() }
        #expect(app.uses.first?.characteristics == ["2A1C"] && app.uses.first?.script.count == 3)
    }

    @Test(
        "What a phone cannot be is one line with its place",
        arguments: [
            ("{phone: evening, file: belt.yaml}", "", "'file' beside 'phone'"),
            ("{phone: evening, count: 2}", "", "'count' beside 'phone'"),
            ("{phone: \"a b\"}", "", "expected the name of a phone"),
            ("{phone: evening, name: a}, {phone: evening, name: b}", "", "a second device that is the phone 'evening'"),
            ("{phone: evening}", "{at: 0, arm: evening, fault: cut}", "a fault of 'evening', which is a phone"),
            ("{phone: evening}", "{at: 0, notify: evening, characteristic: 2A1C, value: \"00\"}", "'evening'"),
        ]
    )
    func refusals(devices: String, step: String, part: String) throws {
        let error = #expect(throws: FileError.self) { try parse(devices, steps: step) }
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
    }
}
