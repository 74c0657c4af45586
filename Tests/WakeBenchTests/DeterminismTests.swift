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

    @Test("SYS-3: the first record that is another is named, with the fields that are others")
    func changed() throws {
        let check = try check {
            $0.replacing("\"verdict\":\"resume\",\"reason\"", with: "\"verdict\":\"relaunch\",\"reason\"")
        }
        let difference = try #require(check.difference)
        #expect(difference.fields == [.init(path: "verdict", left: "\"relaunch\"", right: "\"resume\"")])
        let lines = check.text.split(separator: "\n")
        #expect(
            lines.first?.hasPrefix("determinism (SYS-3): record \(difference.number) of \(check.decisions) differs: d-")
                == true
        )
        #expect(lines.first?.contains(", com.acme.heart, characteristic-notified belt/2A37 (e-") == true)
        #expect(lines.last == "  verdict: the log has \"relaunch\", a fresh router gives \"resume\"")
    }

    @Test("SYS-3: one byte of a figure is found in the record and the field that have it")
    func oneByte() throws {
        let check = try check { text in
            var lines = text.split(separator: "\n").map(String.init)
            guard let place = lines.lastIndex(where: { $0.contains(",10000,0,10000,") }) else { return text }
            lines[place] = lines[place].replacing(",10000,0,10000,", with: ",10001,0,10000,")
            return lines.joined(separator: "\n") + "\n"
        }
        let difference = try #require(check.difference)
        #expect(difference.fields == [.init(path: "budget limit_ms", left: "10001", right: "10000")])
    }

    @Test("SYS-3: a record that the log lacks is named, and what stands in its place")
    func lost() throws {
        let check = try check { text in
            var lines = text.split(separator: "\n").map(String.init)
            let records = lines.indices.filter { !lines[$0].contains("\"schema\"") }
            lines.remove(at: records[records.count / 2])
            return lines.joined(separator: "\n") + "\n"
        }
        let difference = try #require(check.difference)
        let (lost, next) = (difference.number, difference.number + 1)
        #expect(check.text.contains("differs: d-00000\(lost) at T+"))
        #expect(check.text.hasSuffix("the log has \"d-00000\(next)\" in its place"))
    }

    @Test("SYS-3: a log that ends before the inputs do is another")
    func cut() throws {
        let check = try check { text in
            text.split(separator: "\n").dropLast().joined(separator: "\n") + "\n"
        }
        let difference = try #require(check.difference)
        #expect(difference.left == nil)
        #expect(difference.right != nil)
        #expect(check.text.hasSuffix("the log has no such record; a fresh router gives it"))
    }
}
