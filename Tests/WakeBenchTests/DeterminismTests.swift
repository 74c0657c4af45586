import Foundation
import Testing
import WakeBench

@Suite("Whether a run can be repeated")
struct DeterminismTests {
    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - uuid: 2A37
                properties: [notify]
                notifications: [{after: 2s, values: ["0048"]}, {after: 30s, counter: {count: 10, every: 30s, width: 1}}]

        """

    private static let scenario = """
        scenario: again
        devices: [{file: belt.yaml, name: belt}]
        apps:
          - scripted: com.acme.heart
            name: heart
            modes: [bluetooth-central]
            restore-identifier: central
            uses: [{device: belt, characteristic: 2A37}]
            on: [{event: any, work: 1s, then: end}]
        steps:
          - {at: 0, launch: heart}
          - {at: 3s, home: heart}
        until: 2m

        """

    /// The check of a run, after `change` has rewritten its log of decisions.
    private func check(after change: (String) -> String = { $0 }) throws -> DeterminismCheck {
        var made: DeterminismCheck?
        try ScenarioFolder.with(Self.scenario, belt: Self.belt) { options in
            var run: Run? = try Run(options)
            try run?.execute()
            try run?.finish()
            run = nil
            let folder = RunFolder(of: options.out)
            let text = try String(contentsOfFile: folder.decisions, encoding: .utf8)
            try change(text).write(toFile: folder.decisions, atomically: true, encoding: .utf8)
            made = try DeterminismCheck(run: folder, appFolders: [])
        }
        return try #require(made)
    }

    @Test("SYS-3: the inputs of a run through a fresh router give its decisions again")
    func same() throws {
        let check = try check()
        #expect(check.difference == nil)
        #expect(check.decisions > 5)
        #expect(check.inputs > check.decisions)
        #expect(check.text.hasSuffix("gave the same \(check.decisions) decisions, byte for byte (SYS-3)"))
    }

    @Test("SYS-3: the first record that is another is named, as it was and as it is")
    func changed() throws {
        let check = try check { $0.replacing("\"resume\"", with: "\"relaunch\"") }
        let difference = try #require(check.difference)
        #expect(difference.recorded?.contains("\"verdict\":\"relaunch\"") == true)
        #expect(difference.made?.contains("\"verdict\":\"resume\"") == true)
        #expect(check.text.hasPrefix("determinism: the log has {"))
    }

    @Test("SYS-3: a log that ends before the inputs do is another")
    func cut() throws {
        let check = try check { text in
            text.split(separator: "\n").dropLast().joined(separator: "\n") + "\n"
        }
        let difference = try #require(check.difference)
        #expect(difference.recorded == nil)
        #expect(difference.made != nil)
    }
}
