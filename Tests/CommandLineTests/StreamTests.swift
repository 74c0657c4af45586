import ChildProcess
import Foundation
import Glibc
import Testing

@Suite("Broken streams, signals and limits")
struct StreamTests {
    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    /// Runs a line of the shell in which `$W` is the program.
    private func shell(_ program: Program, _ line: String) throws -> Program.Outcome {
        try program.run("/bin/sh", ["-c", line], environment: ["W": Program.path])
    }

    @Test("A stderr that is full or closed changes no exit code", arguments: ["2>/dev/full", "2>&-", "0<&- 2>&-"])
    func brokenErrors(redirection: String) throws {
        try inFolder { program in
            #expect(try shell(program, "exec $W nonsense \(redirection)").code == 2)
            try program.write("small.yaml", Scenarios.small)
            #expect(try shell(program, "exec $W run small.yaml --out out \(redirection)").code == 0)
        }
    }

    @Test("A stderr that nobody reads any more changes no exit code")
    func deafErrors() throws {
        try inFolder { program in
            let pipe = Pipe()
            let process = ChildProcess(Program.path, ["nonsense"])
            process.folder = program.folder
            process.standardOutput = .null
            process.standardError = .pipe(pipe)
            try pipe.fileHandleForReading.close()
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 2)
            #expect(!process.endedBySignal)
        }
    }

    @Test("A stdout that is full or closed is exit code 12, with one line on stderr", arguments: [">/dev/full", ">&-"])
    func brokenOutput(redirection: String) throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            for command in ["rules", "--version", "run small.yaml --out out", "report out -f csv -O -", "log out"] {
                let outcome = try shell(program, "exec $W \(command) \(redirection)")
                #expect(outcome.code == 12, "\(command): \(outcome.errors)")
                #expect(outcome.complaints.count == 1, "\(outcome.errors)")
                #expect(outcome.errors.hasPrefix("wakebench: standard output: "), "\(outcome.errors)")
            }
            // What a run keeps open took no number of a stream.
            let decisions = try program.read("out/decisions.ndjson").split(separator: "\n")
            #expect(decisions.allSatisfy { $0.hasPrefix("{") })
        }
    }

    @Test("A page that finds no room is told with a remedy that its option has")
    func fullPage() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            #expect(try program.run("run", "small.yaml", "--out", "out", "-q").code == 0)
            for form in ["html", "csv", "trace"] {
                expectRefusal(
                    try program.run("report", "out", "-f", form, "-O", "/dev/full"),
                    code: 12,
                    says: "/dev/full: no space left; free some space there, or give another place"
                )
            }
        }
    }

    @Test("A file that may not grow (SIGXFSZ) is told as a full disk, by its name, with 12", arguments: [true, false])
    func fileSizeLimit(journal: Bool) throws {
        try inFolder { program in
            try program.write("belt.yaml", Self.belt)
            try program.write("busy.yaml", Self.busy(until: "10d"))
            // In blocks of 512 bytes: the first is too little for an empty journal.
            let line =
                journal ? "ulimit -f 60; exec $W run busy.yaml" : "ulimit -f 1500; exec $W run busy.yaml --no-journal"
            let outcome = try shell(program, line + " --out out")
            expectRefusal(
                outcome,
                code: 12,
                says: "no space left",
                journal ? "out/journal.sqlite" : "out/outcomes.ndjson"
            )
        }
    }

    @Test("Too few descriptors for a run are told as what they are", arguments: 5...14)
    func fewDescriptors(count: Int) throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            let outcome = try shell(program, "ulimit -n \(count); exec $W run small.yaml --out out")
            if outcome.code != 0 { expectRefusal(outcome, code: outcome.code, says: "Too many open files") }
        }
    }

    @Test("A signal ends a virtual run of scripted apps with its reports", arguments: [SIGINT, SIGTERM, SIGHUP])
    func signals(number: Int32) throws {
        try inFolder { program in
            try program.write("belt.yaml", Self.belt)
            try program.write("busy.yaml", Self.busy(until: "3000d"))
            let process = try program.start(
                Program.path,
                ["run", "busy.yaml", "--out", "out"],
                talk: program.folder
            )
            let log = program.folder.appending(path: "out/decisions.ndjson").path
            let end = Date().addingTimeInterval(60)
            while (try? FileManager.default.attributesOfItem(atPath: log))?[.size] as? Int ?? 0 < 4_096, Date() < end {
                // The first piece of the log after its head says that the run is under way.
                _ = poll(nil, 0, 5)
            }
            let sent = Date()
            process.send(number)
            process.waitUntilExit()
            // A second, and what a busy machine adds to it.
            #expect(Date().timeIntervalSince(sent) < 5)
            #expect(process.terminationStatus == 130)
            #expect(!process.endedBySignal)
            #expect(try program.read("errors").hasPrefix("wakebench: interrupted at T+"))
            #expect(program.exists("out/junit.xml"))
            let decisions = try program.read("out/decisions.ndjson")
            #expect(decisions.hasSuffix("\n"))
        }
    }

    /// A belt that never stops.
    static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - {uuid: 2A37, properties: [notify], repeat: true, notifications: [{after: 30s, values: ["0048"]}]}

        """

    /// Fifty apps with a belt each.
    static func busy(until end: String) -> String {
        let apps = (1...50).map { number in
            """
              - scripted: com.acme.heart\(number)
                name: heart\(number)
                modes: [bluetooth-central]
                restore-identifier: central
                uses: [{device: belt, characteristic: 2A37}]
                on: [{event: any, work: 1s, then: end}]
            """
        }
        let names = (1...50).map { "heart\($0)" }.joined(separator: ", ")
        return """
            scenario: busy
            devices: [{file: belt.yaml, name: belt}]
            apps:
            \(apps.joined(separator: "\n"))
            steps:
              - {at: 0, launch: [\(names)]}
              - {at: 5s, home: [\(names)]}
            until: \(end)

            """
    }
}
