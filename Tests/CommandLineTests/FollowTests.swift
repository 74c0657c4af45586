import ChildProcess
import Foundation
import Testing

@Suite("log --follow")
struct FollowTests {
    /// A belt that notifies thrice a second for ever, as long as the machine's clock goes.
    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - {uuid: 2A37, properties: [notify], repeat: true, notifications: [{after: 300ms, values: ["0048"]}]}

        """

    /// A program whose output is read line by line, each as soon as it comes.
    private final class Reader {
        let process: ChildProcess
        private let output = Pipe()
        private let errors = Pipe()
        private var bytes = Data()

        init(_ program: Program, _ words: [String]) throws {
            process = ChildProcess(Program.path, words)
            process.folder = program.folder
            process.standardOutput = .pipe(output)
            process.standardError = .pipe(errors)
            try process.run()
        }

        /// Nil at the end.
        func line() -> String? {
            while true {
                if let end = bytes.firstIndex(of: 0x0a) {
                    defer { bytes = Data(bytes[(end + 1)...]) }
                    return String(decoding: bytes[..<end], as: UTF8.self)
                }
                let more = output.fileHandleForReading.availableData
                if more.isEmpty { return nil }
                bytes += more
            }
        }

        /// The number of the next line's decision; nil at the end.
        func decision() throws -> Int? {
            guard let line = line() else { return nil }
            let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(record?["seq"] as? Int)
        }

        func complaints() -> String {
            String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
    }

    /// Plays the belt in real time until `body` ends the run, from its first decision on.
    private func whilePlaying(_ body: (Program, Reader) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("belt.yaml", Self.belt)
        try program.write("connecting.yaml", Scenarios.connecting(until: "2m"))
        let run = try Reader(program, ["run", "connecting.yaml", "--clock", "real", "--out", "out", "--follow"])
        defer {
            run.process.send(SIGKILL)
            run.process.waitUntilExit()
        }
        while let line = run.line(), !line.contains("peripheral-connected") {}
        try body(program, run)
    }

    /// The last decision that the log of the run has now.
    private func last(_ program: Program) throws -> Int {
        try program.run("log", "out").output.split(separator: "\n").count - 1
    }

    @Test("Each record comes as it is made, once and in order, and the end is that of the run")
    func follows() throws {
        try whilePlaying { program, run in
            let log = try Reader(program, ["log", "out", "--follow"])
            #expect(log.line()?.hasPrefix("{\"schema\":\"wake.log/2\",\"version\":") == true)
            let known = try last(program)
            var seen: [Int] = []
            while let number = try log.decision() {
                seen.append(number)
                // The run goes on until it has made more than its log had.
                if number == known + 2 { run.process.send(SIGINT) }
            }
            log.process.waitUntilExit()
            #expect(log.process.terminationStatus == 0)
            #expect(log.complaints() == "")
            #expect(seen == Array(1...max(1, try last(program))))
            #expect(seen.count >= known + 2)
        }
    }

    @Test("What came with an event is told with its decision, while the run goes on")
    func values() throws {
        try whilePlaying { program, run in
            let log = try Reader(program, ["log", "out", "--follow"])
            #expect(log.line() != nil)
            var seen = 0
            while let line = log.line() {
                guard line.contains("\"kind\":\"characteristic-notified\"") else { continue }
                #expect(line.hasSuffix(",\"value\":\"0048\"}"), "\(line)")
                seen += 1
                if seen == 3 { run.process.send(SIGINT) }
            }
            log.process.waitUntilExit()
            #expect(log.process.terminationStatus == 0)
            #expect(seen >= 3)
        }
    }

    @Test("With --cursor it goes on after a decision")
    func resumes() throws {
        try whilePlaying { program, run in
            let known = try last(program)
            let log = try Reader(program, ["log", "out", "-f", "--cursor", "\(known)", "--app", "heart"])
            #expect(log.line()?.hasPrefix("{\"schema\":\"wake.log/2\"") == true)
            #expect(try log.decision() == known + 1)
            run.process.send(SIGINT)
            while log.line() != nil {}
            log.process.waitUntilExit()
            #expect(log.process.terminationStatus == 0)
        }
    }

    @Test("A run that is killed is told from one that has ended")
    func killed() throws {
        try whilePlaying { program, run in
            let log = try Reader(program, ["log", "out", "--follow"])
            #expect(log.line() != nil)
            run.process.send(SIGKILL)
            while log.line() != nil {}
            log.process.waitUntilExit()
            #expect(log.process.terminationStatus == 4)
            let later = try program.run("log", "out", "--follow")
            #expect(later.code == 4)
            #expect(later.complaints.count == 1)
            #expect(later.errors.contains("the run broke off"), "\(later.errors)")
            #expect(later.output.hasPrefix("{\"schema\":\"wake.log/2\""))
        }
    }

    @Test("SIGINT ends it with 130, and not the run")
    func interrupted() throws {
        try whilePlaying { program, run in
            let log = try Reader(program, ["log", "out", "--follow"])
            #expect(log.line() != nil)
            log.process.send(SIGINT)
            log.process.waitUntilExit()
            #expect(log.process.terminationStatus == 130)
            #expect(!log.process.endedBySignal)
            #expect(log.complaints() == "")
            #expect(run.process.isRunning)
        }
    }

    @Test("Of a run that is over it prints all, and ends")
    func over() throws {
        let program = try Program()
        defer { program.clean() }
        try program.writeForceQuit()
        #expect(try program.run("run", "swiped.yaml", "--out", "out", "-q").code == 0)
        let all = try program.run("log", "out")
        let followed = try program.run("log", "out", "--follow")
        #expect(followed.code == 0)
        #expect(followed.output == all.output)
        expectRefusal(try program.run("log", "none", "--follow"), code: 3, says: "none/decisions.ndjson")
    }
}
