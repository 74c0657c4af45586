import ChildProcess
import Foundation
import Testing

/// A daemon that a test runs, with phones of the test's own, and the verbs that speak to it.
final class ServedBench {
    let program: Program
    private(set) var daemon: ChildProcess

    /// Starts a daemon and waits until it serves.
    init() throws {
        program = try Program()
        daemon = try Self.serve(program)
    }

    deinit {
        daemon.send(SIGKILL)
        daemon.waitUntilExit()
        program.clean()
    }

    var socket: String { program.folder.appending(path: "state/control.sock").path }

    private static func serve(_ program: Program, largestFile: Int? = nil) throws -> ChildProcess {
        var words = [Program.path, "serve", "--state", "state", "--socket", "state/control.sock"]
        if let largestFile { words = ["/bin/bash", "-c", "ulimit -f \(largestFile); exec \"$@\"", "bash"] + words }
        let process = ChildProcess(words[0], Array(words.dropFirst()))
        process.folder = program.folder
        let output = Pipe()
        process.standardOutput = .pipe(output)
        try process.run()
        var said = ""
        while !said.contains("serving ") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CocoaError(.executableLoad, userInfo: [NSDebugDescriptionErrorKey: said]) }
            said += String(decoding: more, as: UTF8.self)
        }
        return process
    }

    /// Kills the daemon, and starts another in its place.
    ///
    /// - Parameter largestFile: the most KiB of a file that it may write: beyond, it is as if the disk were full.
    func killAndServeAgain(largestFile: Int? = nil) throws {
        daemon.send(SIGKILL)
        daemon.waitUntilExit()
        daemon = try Self.serve(program, largestFile: largestFile)
    }

    /// Stops the daemon, and starts another in its place.
    func stopAndServeAgain() throws {
        try #require(run(["daemon", "stop"]).code == 0)
        daemon.waitUntilExit()
        daemon = try Self.serve(program)
    }

    /// A scenario of one played app and a belt that says nothing by itself.
    func makePhone(_ name: String = "one", _ options: String...) throws {
        try program.write("belt.yaml", Self.belt)
        try program.write("phone.yaml", Self.scenario)
        try #require(run(["phone", "create", name, "--scenario", "phone.yaml"] + options).code == 0)
        try #require(run(["phone", "boot", name]).code == 0)
    }

    /// A scenario of one played app that is a peripheral, and a central that does nothing by itself.
    func makeStrap(_ options: String...) throws {
        try program.write("reader.yaml", Self.reader)
        try program.write("strap.yaml", Self.strap)
        try #require(run(["phone", "create", "one", "--scenario", "strap.yaml"] + options).code == 0)
        try #require(run(["phone", "boot", "one"]).code == 0)
    }

    func run(_ words: [String]) throws -> Program.Outcome {
        try program.run(Program.path, words, environment: ["WAKEBENCH_SOCKET": socket])
    }

    func callAsFunction(_ words: String...) throws -> Program.Outcome { try run(words) }

    /// What a verb answers as JSON.
    func json(_ words: String...) throws -> [String: Any] {
        let outcome = try run(words + ["--json"])
        try #require(outcome.code == 0, "\(outcome.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    /// The verdicts in an answer, in order.
    func verdicts(_ answer: [String: Any]) -> [String] {
        (answer["decisions"] as? [[String: Any]] ?? []).compactMap { $0["verdict"] as? String }
    }

    static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics: [{uuid: 2A37, properties: [notify]}]

        """

    static let reader = """
        device: bluetooth-central
        address: "F0:AA:00:00:00:01"
        script: []

        """

    static let strap = """
        scenario: strap
        devices: [{file: reader.yaml}]
        apps:
          - scripted: com.acme.strap
            name: strap
            modes: [bluetooth-peripheral]
            peripheral:
              name: Strap
              services:
                - {service: 180D, characteristics: [{uuid: 2A39, properties: [write, write-without-response]}]}
            on: [{event: any, then: end}]

        """

    static let scenario = """
        scenario: live
        devices: [{file: belt.yaml, name: belt}]
        apps:
          - scripted: com.acme.heart
            name: heart
            modes: [bluetooth-central]
            restore-identifier: heart
            uses: [{device: belt, characteristic: 2A37}]
            on: [{event: any, work: 1s, then: end}]

        """
}
