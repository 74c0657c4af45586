import Foundation
import Testing

/// What real apps do to a run in virtual time.
@Suite("Virtual time and processes", .serialized)
struct VirtualTimeTests {
    /// A run of MisbehavingApp, launched at once, and an hour of waiting.
    private func run(_ mode: String, values: Int, expect: [String], patience: String) throws -> BenchProgram {
        let program = try BenchProgram()
        let app = try BenchProgram.built("MisbehavingApp")
        try program.makeApp(
            "Rogue",
            "com.example.rogue",
            text: "#!/bin/sh\nWAKEBENCH_VALUES=\(values) exec '\(app)' \(mode)\n"
        )
        try program.write(Self.belt, to: "belt.yaml")
        try program.write(
            """
            scenario: rogue
            devices: [{file: belt.yaml, name: belt}]
            apps: [{bundle: Rogue.app, name: rogue}]
            steps:
              - {at: 0, launch: rogue}
              - {at: 1h, note: an hour later}
            expect:
            \(expect.map { "  - {app: rogue, \($0)}" }.joined(separator: "\n"))

            """,
            to: "scenario.yaml"
        )
        let words = ["run", "scenario.yaml", "--apps", "apps", "--out", "out", "--patience", patience]
        let (code, errors) = try program.run(words, as: ["/usr/bin/timeout", "--signal=KILL", "100"])
        let output = try program.lines(of: "stdout").joined(separator: "\n")
        #expect(code == 0, "\(errors)\(output)")
        return program
    }

    #if arch(arm64)
        private static let isArm = true
    #else
        private static let isArm = false
    #endif

    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - {uuid: 2A37, properties: [notify], notifications: [{after: 2s, values: ["0048"]}]}

        """

    @Test("An app that talks without end holds up virtual time no longer than the patience")
    func chatter() throws {
        let program = try run("chatter 0", values: 0, expect: ["exits: 0"], patience: "2")
        let output = try program.lines(of: "stdout").joined(separator: "\n")
        #expect(output.contains("not at rest within the patience of 2.0 s: com.example.rogue: "), "\(output)")
    }

    @Test("An app that talks now and then while it owes an answer does so in the run's time, and holds up nothing")
    func talk() throws {
        let program = try run("chatter 1000", values: 0, expect: ["exits: 0"], patience: "20")
        let output = try program.lines(of: "stdout").joined(separator: "\n")
        #expect(!output.contains("patience"), "\(output)")
    }

    @Test("A wait that virtual time does not hold is said once, with its system call")
    func unheld() throws {
        let program = try run("inherit", values: 0, expect: ["exits: 0"], patience: "1")
        let notes = try program.lines(of: "stdout").filter { $0.contains("which virtual time does not hold") }
        #expect(notes.count == 1)
        // The number of futex.
        let call = Self.isArm ? 98 : 202
        #expect(notes.first?.contains("com.example.rogue waits on wall time in system call \(call), which") == true)
    }

    @Test(
        "An app that crashes in a callback has ended before virtual time moves, also when its socket closed first",
        arguments: ["crash", "fade"]
    )
    func crash(mode: String) throws {
        for _ in 0..<4 {
            let program = try run(mode, values: 0, expect: ["exits: 1", "state: not-running"], patience: "20")
            let ends = try program.records(of: "out/outcomes.ndjson").filter {
                $0["schema"] as? String == "wake.exit/1"
            }
            #expect(ends.count == 1)
            #expect(ends.first?["t"] as? String == "T+00:00:00.000", "\(ends)")
        }
    }
}
