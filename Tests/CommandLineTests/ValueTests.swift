import Foundation
import Testing

/// The bytes that came with events, for apps that a scenario plays: they have no process.
@Suite("The values of a played app")
struct ValueTests {
    private static let phone = """
        scenario: my-phone
        devices: [{file: belt.yaml, name: belt}]
        apps:
          - scripted: com.example.pulse
            name: pulse
            count: 2
            modes: [bluetooth-central]
            uses: [{device: belt, characteristic: 2A37}]
        steps:
          - {at: 0, launch: pulse.*}
          - {at: 5s, home: pulse.*}
          - {at: 1m, notify: belt, characteristic: 2A37, value: "0051"}
          - {at: 2m, notify: belt, characteristic: 2A37, value: "0052"}

        """

    /// Plays two apps whose belt notifies twice, into `out`.
    private func played(_ words: String..., body: (Program, Program.Outcome) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("belt.yaml", ServedBench.belt)
        try program.write("my-phone.yaml", Self.phone)
        let run = try program.run(Program.path, ["run", "my-phone.yaml", "--out", "out"] + words)
        #expect(run.code == 0, "\(run.errors)")
        try body(program, run)
    }

    /// The last word of each row about a notification.
    private func values(_ table: String) -> [String] {
        table.split(separator: "\n").filter { $0.contains("characteristic-notified belt/2A37") }
            .compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    @Test("They stand in the table of a run, and in its rows while it goes on", arguments: [[], ["--follow"]])
    func table(words: [String]) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("belt.yaml", ServedBench.belt)
        try program.write("my-phone.yaml", Self.phone)
        let run = try program.run(Program.path, ["run", "my-phone.yaml", "--out", "out"] + words)
        #expect(run.code == 0, "\(run.errors)")
        #expect(values(run.output) == ["0051", "0051", "0052", "0052"], "\(run.output)")
    }

    @Test("A value for two apps is kept once, and told with each of their decisions")
    func log() throws {
        try played("-q") { program, _ in
            let outcomes = try program.read("out/outcomes.ndjson").split(separator: "\n")
            let kept = outcomes.filter { $0.hasPrefix(#"{"schema":"wake.value/1","event":"e-"#) }
            #expect(kept.map { $0.suffix(15) } == [#""value":"0051"}"#, #""value":"0052"}"#])
            let records = try program.run("log", "out").output.split(separator: "\n")
            let told = records.filter { $0.contains(#""kind":"characteristic-notified""#) }
            let ends = told.map { String($0.suffix(15)) }
            #expect(ends == ["0051", "0051", "0052", "0052"].map { "\"value\":\"\($0)\"}" })
            // What the router decided is as it was without them.
            #expect(try !program.read("out/decisions.ndjson").contains(#""value":"0051""#))
            #expect(try program.run("log", "out", "--check-determinism").code == 0)
        }
    }

    @Test("why, the page and the table for Battery Historian tell them")
    func told() throws {
        try played("-q") { program, _ in
            let words = ["why", "pulse.1", "--run", "out", "--event", try event(program, "0052")]
            let why = try program.run(Program.path, words)
            #expect(why.output.contains("\n  value    0052\n"), "\(why.output)")
            let object = try program.run(Program.path, words + ["--json"])
            #expect(object.output.contains(#""value":"0052""#), "\(object.output)")
            #expect(try program.read("out/report.html").contains(#""values":{"count":4,"#))
            let table = try program.run("report", "out", "--format", "csv", "-O", "-").output
            let rows = table.split(separator: "\n").filter { $0.hasPrefix("Value,string,") }
            let cells = rows.map { $0.split(separator: ",").suffix(2).joined(separator: " ") }
            #expect(cells == ["0051 belt/2A37", "0052 belt/2A37"])
        }
    }

    /// The event that came with a value.
    private func event(_ program: Program, _ value: String) throws -> String {
        let lines = try program.read("out/outcomes.ndjson").split(separator: "\n")
        let line = lines.first { $0.hasSuffix("\"\(value)\"}") }
        let found = try #require(line?.firstMatch(of: /"event":"(e-\d+)"/))
        return String(found.output.1)
    }
}
