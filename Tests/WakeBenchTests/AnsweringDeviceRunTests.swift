import Foundation
import Testing
import WakeBench
import WakeModel
import WakeReports

@Suite("Runs with devices that answer")
struct AnsweringDeviceRunTests {
    private let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    private let out = FileManager.default.temporaryDirectory.path + "/answers-\(UUID().uuidString)"

    private func decisions(_ rest: String) throws -> [DecisionRecord] {
        let file = out + ".yaml"
        let scenario = """
            scenario: answers
            devices: [{name: uart, file: \(root)/Devices/Bluetooth/nordic-uart.yaml}]
            apps:
              - scripted: com.example.terminal
                name: terminal
                modes: [bluetooth-central]
                uses:
                  - device: uart
                    characteristic: 6E400003-B5A3-F393-E0A9-E50E24DCCA9E
                    script:
                      - {wait: 1s}
                      - {write: 6E400002-B5A3-F393-E0A9-E50E24DCCA9E, value: "01"}
                      - {await: 6E400003-B5A3-F393-E0A9-E50E24DCCA9E, count: 2, within: 5s}
                      - {write: 6E400002-B5A3-F393-E0A9-E50E24DCCA9E, value: "02", how: command}
            \(rest)
            """
        try Data(scenario.utf8).write(to: URL(filePath: file))
        defer {
            try? FileManager.default.removeItem(atPath: file)
            try? FileManager.default.removeItem(atPath: out)
        }
        try Run(RunOptions(scenario: file, out: out)).execute()
        return try RunLog(folder: out).decisions
    }

    /// A command is answered by nothing but its echo.
    private let talk = ["value-written", "characteristic-notified", "characteristic-notified"]

    @Test("An app waits, writes and awaits in order, and goes on when what it awaits does not come")
    func order() throws {
        let all = try decisions("steps: [{at: 0, launch: terminal}]\nuntil: 20s")
        let heard = all.filter { talk.contains($0.kind) }
        #expect(heard.map(\.kind) == talk)
        // A second after it was subscribed, and five seconds more without a second echo.
        let subscribed = try #require(all.first { $0.kind == "notification-state-changed" }).at
        #expect(heard[0].at.since(subscribed) >= .seconds(1))
        #expect(heard[2].at.since(heard[0].at) >= .seconds(5))
    }

    @Test("The script begins anew with each connection, and what was left of it is given up with the link")
    func again() throws {
        let all = try decisions(
            "steps: [{at: 0, launch: terminal}, {at: 3s, disconnect: uart}]\nuntil: 30s"
        )
        let heard = all.filter { talk.contains($0.kind) }
        #expect(heard.map(\.kind) == talk.prefix(2) + talk)
        #expect(heard[4].at.since(heard[2].at) >= .seconds(5), "the wait before the loss does not end this one")
    }
}
