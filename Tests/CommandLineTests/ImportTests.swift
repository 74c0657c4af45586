import Foundation
import Testing

@Suite("Importing captures")
struct ImportTests {
    private static let captures = Program.repository.appending(path: "Tests/WakeCapturesTests/Captures")

    private static func capture(_ name: String) -> String { captures.appending(path: name).path }

    @Test("A device that is made of a capture gives an app the same verdicts as the one that was captured")
    func sameVerdicts() throws {
        let program = try Program()
        defer { program.clean() }
        let imported = try program.run("import", Self.capture("belt-central.btsnoop"), "-o", "taken.yaml")
        #expect(imported.code == 0 && imported.errors == "")
        #expect(imported.output.contains("taken.yaml: F0:11:22:33:44:55, 14 notifications"))
        try program.write("played.yaml", String(contentsOfFile: Self.capture("belt.yaml"), encoding: .utf8))
        for name in ["played", "taken"] {
            let scenario = """
                scenario: belt
                devices: [{file: \(name).yaml, name: belt}]
                apps:
                  - scripted: com.example.pulse
                    name: pulse
                    modes: [bluetooth-central]
                    uses: [{device: belt, characteristic: 2A37}]
                steps:
                  - {at: 0, launch: pulse}
                  - {at: 100ms, home: pulse}
                until: 30s
                """
            try program.write("\(name)-scenario.yaml", scenario)
            #expect(try program.run("run", "\(name)-scenario.yaml", "--out", "\(name)-run").code == 0)
        }
        let compared = try program.run("compare", "played-run", "taken-run")
        #expect(compared.code == 0)
        #expect(compared.output.hasPrefix("equal verdicts"))
        let values = try ["played", "taken"].map { name in
            try program.read("\(name)-run/decisions.ndjson").components(separatedBy: "characteristic-notified").count
        }
        #expect(values[0] == values[1] && values[0] > 1)
    }

    @Test("A file that is there is not replaced without --force")
    func force() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("device.yaml", "mine")
        let capture = Self.capture("belt.pcapng")
        let refused = try program.run("import", capture, "-o", "device.yaml")
        #expect(refused.code == 4)
        #expect(refused.complaints.count == 1)
        #expect(try program.read("device.yaml") == "mine")
        #expect(try program.run("import", capture, "-o", "device.yaml", "--force").code == 0)
        #expect(try program.read("device.yaml").contains("device: bluetooth-peripheral"))
    }

    @Test("Of a capture that breaks off what stands before is told, and of one without a record nothing is")
    func damaged() throws {
        let program = try Program()
        defer { program.clean() }
        let bytes = try Data(contentsOf: URL(filePath: Self.capture("belt-central.btsnoop")))
        try bytes.prefix(6000).write(to: program.folder.appending(path: "cut.btsnoop"))
        let cut = try program.run("import", "cut.btsnoop")
        #expect(cut.code == 0)
        #expect(cut.output.contains("cut.btsnoop: damaged at byte "))
        try bytes.prefix(20).write(to: program.folder.appending(path: "head.btsnoop"))
        let head = try program.run("import", "head.btsnoop")
        #expect(head.code == 11)
        #expect(head.output.isEmpty && head.complaints.count == 1)
        #expect(head.errors.contains("damaged at byte 16"))
    }

    @Test("What a capture says is printed escaped, and is one line of a device file")
    func escaped() throws {
        let program = try Program()
        defer { program.clean() }
        var bytes = try Data(contentsOf: URL(filePath: Self.capture("belt-central.btsnoop")))
        let name = Data("Belt & Co".utf8)
        let odd = Data("B\u{1b}[31m\nCo".utf8)
        #expect(odd.count == name.count)
        while let place = bytes.firstRange(of: name) { bytes.replaceSubrange(place, with: odd) }
        try bytes.write(to: program.folder.appending(path: "odd.btsnoop"))
        let imported = try program.run("import", "odd.btsnoop", "-o", "odd.yaml")
        #expect(imported.code == 0)
        #expect(imported.output.contains("B\\u{1B}[31m\\nCo"))
        #expect(!imported.output.contains("\u{1b}"))
        #expect(try program.read("odd.yaml").contains("name: \"B\\x1b[31m\\nCo\""))
    }

    @Test("A log of places becomes a track, and what was left out is counted")
    func places() throws {
        let program = try Program()
        defer { program.clean() }
        let log = Program.repository.appending(path: "Devices/Location/office-visit.nmea").path
        let text = try String(contentsOfFile: log, encoding: .utf8) + "$GPRMC,broken*00\r\n"
        try program.write("visit.log", text)
        let imported = try program.run("import", "visit.log", "-o", "visit.yaml", "--json")
        #expect(imported.code == 0)
        let page = try #require(
            try JSONSerialization.jsonObject(with: Data(imported.output.utf8)) as? [String: Any]
        )
        #expect((page["skipped"] as? [String: Int])?["damaged sentences"] == 1)
        #expect(page["written"] as? [String] == ["visit.yaml", "visit.nmea"])
        let refused = try program.run("import", "visit.log", "--address", "F0:11:22:33:44:55")
        #expect(refused.code == 2)
    }

    @Test("What is no capture, and what is no file, is refused in a line")
    func refused() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("note.txt", "no capture")
        for words in [["note.txt"], ["nowhere.btsnoop"], ["."]] {
            let refused = try program.run(Program.path, ["import"] + words)
            #expect(refused.code == 11, "\(words)")
            #expect(refused.complaints.count == 1, "\(refused.errors)")
        }
    }
}
