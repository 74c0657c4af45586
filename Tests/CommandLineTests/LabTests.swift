import Foundation
import Testing

/// What Scripts/lab says before it boots anything.
@Suite("The lab's command line")
struct LabTests {
    private static let lab = Program.repository.appending(path: "Scripts/lab").path

    private func refused(_ words: [String], named name: String = "") throws -> [String] {
        let program = try Program()
        defer { program.clean() }
        let settings = ["WAKEBENCH_LAB": program.folder.path, "WAKEBENCH_LAB_OUT": name]
        let outcome = try program.run(Self.lab, words, environment: settings)
        #expect(outcome.code == 2)
        #expect(program.contents.isEmpty, "nothing is begun")
        return outcome.complaints
    }

    @Test(
        "A device on the air answers as the simulated radio's does",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3")
    )
    func answers() throws {
        let program = try Program()
        defer { program.clean() }
        let vectors = Program.repository.appending(path: "Tests/WakeDevicesTests/Answers/vectors.json").path
        let settings = ["PYTHONPATH": Program.repository.appending(path: "Scripts/radio").path]
        let words = ["-B", "-m", "wakebench_radio.air.answers", vectors]
        let outcome = try program.run("/usr/bin/python3", words, environment: settings)
        #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains(", 0 otherwise"))
    }

    @Test("A job that is not there is named")
    func noJob() throws {
        #expect(try refused(["run", "/no/such.sh"]) == ["lab: no such job: /no/such.sh"])
    }

    @Test("A time that is none is named", arguments: ["0", "-1", "ten", "100000"])
    func noTime(_ seconds: String) throws {
        #expect(try refused(["run", Self.lab, seconds]).first?.contains("not '\(seconds)'") == true)
    }

    @Test("A folder for what the guest leaves cannot be outside the lab", arguments: ["../elsewhere", "/tmp", "a b"])
    func outside(_ name: String) throws {
        #expect(try refused(["run", Self.lab, "10"], named: name).first?.hasSuffix("not '\(name)'") == true)
    }
}
