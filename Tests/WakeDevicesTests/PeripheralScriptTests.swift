import Testing
import WakeModel

@testable import WakeDevices

private let session = """
    scenario: session
    devices: [{file: ../Bluetooth/glucose-meter.yaml, name: meter}, {file: ../Bluetooth/nordic-uart.yaml, name: uart}]
    apps:
      - scripted: com.example.diary
        name: diary
        uses:
          - device: meter
            characteristic: [2A18, 2A52]
            script:
              - {write: 2A52, value: "0101"}
              - {await: 2A52, count: 2, within: 10s}
              - {wait: 3s}
              - {read: 2A51}
          - device: uart
            script: [{write: 6E400002-B5A3-F393-E0A9-E50E24DCCA9E, value: "00", how: command}]
    steps: [{at: 0, launch: diary}]
    expect: [{app: diary, state: suspended}]
    """

private func parse(_ text: String) throws(FileError) -> Scenario {
    let file = packageFolder + "/Devices/Scenarios/session.yaml"
    return try Scenario.parse(Array(text.utf8), file: file, files: ScenarioFiles())
}

@Suite("What scripted apps do with a peripheral")
struct PeripheralScriptTests {
    @Test("A use has the steps of a central that need no link of their own")
    func reads() throws {
        guard case .scripted(let app) = try parse(session).apps[0].form else { return }
        #expect(
            app.uses[0].script.map(\.action) == [
                .write("2A52", [1, 1], .request), .awaitValues("2A52", count: 2, within: .seconds(10)),
                .wait(.seconds(3)), .read("2A51"),
            ]
        )
        #expect(app.uses[1].script.map(\.word) == ["write"])
    }

    @Test(
        "A step that the peripheral cannot follow is one line",
        arguments: [
            ("{write: 2A52, value", "{write: 2A18, value", "characteristic 2A18 of meter, which cannot be written"),
            ("{write: 2A52, value", "{write: 2A53, value", "unknown characteristic 2A53 of meter; expected '2A52'"),
            ("{read: 2A51}", "{read: 2A18}", "characteristic 2A18 of meter, which cannot be read"),
            ("{await: 2A52", "{await: 2A19", "'await' of 2A19, which is not subscribed to"),
            ("\"0101\"}", "\"0101\", how: command}", "which cannot be written without response"),
            ("\"0101\"}", "\"0101\", how: prepared}", "a long value is prepared by itself"),
            ("{wait: 3s}", "disconnect", "'disconnect' in a use; expected one of wait, read, write, await"),
            ("{wait: 3s}", "{connect: 1808}", "'connect' in a use"),
            ("{wait: 3s}", "{weit: 3s}", "unknown key 'weit' in a step; expected 'wait'"),
        ]
    )
    func wrong(what: String, with replacement: String, part: String) throws {
        let text = session.replacing(what, with: replacement, maxReplacements: 1)
        try #require(text != session)
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error.map { "\($0)" }?.contains(part) == true, "\(error as Any)")
    }

    @Test("An app that is a peripheral gives its values itself")
    func noAnswers() {
        let text = """
            scenario: own
            apps:
              - scripted: com.example.lamp
                name: lamp
                peripheral:
                  services:
                    - service: 1815
                      characteristics: [{uuid: 2A56, properties: [write], answers: []}]
            steps: [{at: 0, launch: lamp}]
            expect: [{app: lamp, state: suspended}]
            """
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error?.found == "answers in a service of an app")
    }
}

@Suite("Steps that have apps notify a value")
struct NotifyStepTests {
    private func verb(_ step: String) throws(FileError) -> Verb? {
        let text = """
            scenario: values
            devices: [{file: ../Bluetooth/heart-rate-belt.yaml, name: belt}, {phone: evening, name: hub}]
            apps:
              - scripted: com.example.strap
                name: strap
                count: 2
                peripheral:
                  services:
                    - service: 180D
                      characteristics: [{uuid: 2A37, properties: [notify]}, {uuid: 2A38, properties: [read]}]
              - {scripted: com.example.reader, name: reader}
              - {scripted: com.example.belt, name: belt}
            steps: [{at: 0, \(step)}]
            """
        return try parse(text).steps.first?.verb
    }

    @Test("The name of an app means the app, and one that a device has, too, means the device")
    func names() throws {
        let value: [UInt8] = [0x00, 0x49]
        #expect(
            try verb("notify: strap.2, characteristic: 2a37, value: \"0049\"")
                == .update(apps: [1], characteristic: "2A37", value: value)
        )
        #expect(
            try verb("notify: [strap.2, strap.1], characteristic: 2A37, value: \"0049\"")
                == .update(apps: [1, 0], characteristic: "2A37", value: value)
        )
        #expect(
            try verb("notify: belt, characteristic: 2A37, value: \"0049\"")
                == .notify(devices: [0], characteristic: "2A37", value: value)
        )
    }

    @Test(
        "What cannot notify is one line with the remedy",
        arguments: [
            ("notify: reader, characteristic: 2A37, value: \"00\"", "'reader'; expected a scripted app with"),
            ("notify: strap, characteristic: 2A38, value: \"00\"", "2A38 of strap.1, which does not notify"),
            ("notify: strap, characteristic: 2A39, value: \"00\"", "unknown characteristic 2A39 of strap.1"),
            ("notify: strap, value: \"00\"", "a step without 'characteristic'"),
            ("notify: strap, characteristic: 2A37", "a step without 'value'"),
            ("notify: [strap.1, hub], characteristic: 2A37, value: \"00\"", "unknown app 'hub'"),
            ("notify: bolt, characteristic: 2A37, value: \"00\"", "unknown device or app 'bolt'; expected 'belt'"),
            (
                "notify: nobody, characteristic: 2A37, value: \"00\"",
                "unknown device or app 'nobody'; expected one of belt, hub, strap"
            ),
            (
                "notify: hub, characteristic: 2A37, value: \"00\"",
                "'notify' of 'hub', which is a phone; expected an app of 'evening', told on that phone"
            ),
        ]
    )
    func refused(step: String, part: String) {
        let error = #expect(throws: FileError.self) { try verb(step) }
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
    }
}
