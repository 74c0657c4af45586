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
