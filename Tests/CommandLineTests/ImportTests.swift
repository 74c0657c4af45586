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

    @Test(
        "On a full disk --force leaves the old file as it is, with exit code 12",
        .enabled(if: SmallDisk.canMount, "needs root and the right to mount a tmpfs")
    )
    func fullDisk() throws {
        let program = try Program()
        defer { program.clean() }
        let disk = try SmallDisk(program.folder.appending(path: "small").path)
        defer { disk.unmount() }
        try program.write("small/device.yaml", "mine")
        disk.fill()
        let words = ["import", Self.capture("belt.pcapng"), "-o", "small/device.yaml", "--force"]
        let refused = try program.run(Program.path, words)
        expectRefusal(refused, code: 12, says: "small/device.yaml: no space left; free some space there")
        #expect(try program.read("small/device.yaml") == "mine")
    }

    @Test("What a file does not show is told with its name, and of several with the first one's")
    func nothingInIt() throws {
        let program = try Program()
        defer { program.clean() }
        let (belt, call) = (Self.capture("belt-central.btsnoop"), Self.capture("call.pcapng"))
        // A head without records.
        let head = try Data(contentsOf: URL(filePath: belt)).prefix(16)
        for name in ["none.btsnoop", "again.btsnoop"] { try head.write(to: program.folder.appending(path: name)) }
        let one = try program.run("import", "none.btsnoop", "-o", "made.yaml")
        expectRefusal(one, code: 11, says: "wakebench: none.btsnoop: no Bluetooth device; see it without --out")
        let two = try program.run("import", "none.btsnoop", "again.btsnoop", "-o", "made.yaml")
        expectRefusal(two, code: 11, says: "wakebench: none.btsnoop and 1 more: no Bluetooth device")
        let other = try program.run("import", belt, "--address", "F0:00:00:00:00:01")
        expectRefusal(other, code: 3, says: "\(belt): no device with this address; shown are ")
        // Four bytes from one port of this machine to another, by UDP over Ethernet.
        let network: [UInt8] =
            [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]
            + [0, 0, 0, 0, 0, 0, 0, 0, 46, 0, 0, 0, 46, 0, 0, 0] + [UInt8](repeating: 0, count: 12) + [8, 0]
            + [0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]
            + [0x13, 0x88, 0x13, 0x89, 0, 12, 0, 0] + Array("data".utf8)
        try Data(network).write(to: program.folder.appending(path: "none.pcap"))
        let silent = try program.run("import", "none.pcap", "-o", "made.yaml")
        expectRefusal(silent, code: 11, says: "wakebench: none.pcap: no SIP; see it without --out")
        let nobody = try program.run("import", call, "--address", "192.0.2.1")
        expectRefusal(nobody, code: 3, says: "\(call): this address speaks no SIP; shown are ")
        #expect(!program.exists("made.yaml"))
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

    @Test("A capture of a kind that is not read is refused with what is read, and is not called damaged")
    func unread() throws {
        let program = try Program()
        defer { program.clean() }
        var bytes = try Data(contentsOf: URL(filePath: Self.capture("belt-central.pcap")))
        bytes[20] = 192
        try bytes.write(to: program.folder.appending(path: "ppi.pcap"))
        let says = "wakebench: ppi.pcap: link type 192 is not read; expected link type 187, 201, 251, 254, 256 or 272"
        for words in [["import"], ["device", "check"]] {
            expectRefusal(try program.run(Program.path, words + ["ppi.pcap"]), code: 11, says: says)
        }
        // Behind one that is read, too.
        let second = try program.run("import", Self.capture("belt-central.pcap"), "ppi.pcap", "-o", "made.yaml")
        expectRefusal(second, code: 11, says: says)
        #expect(!program.exists("made.yaml"))
    }

    @Test("A packed capture is read as it is, and one that is cut keeps what stands before the cut")
    func packed() throws {
        let program = try Program()
        defer { program.clean() }
        let imported = try program.run("import", Self.capture("belt-parts.pcap.gz"), "-o", "taken.yaml")
        #expect(imported.code == 0)
        #expect(imported.output.contains("belt-parts.pcap.gz: pcap, 289 records"))
        #expect(imported.output.contains("taken.yaml: F0:11:22:33:44:55, 14 notifications"))
        let bytes = try Data(contentsOf: URL(filePath: Self.capture("belt-parts.pcap.gz")))
        try bytes.dropLast(3).write(to: program.folder.appending(path: "cut.pcap.gz"))
        let cut = try program.run("import", "cut.pcap.gz")
        #expect(cut.code == 0)
        #expect(cut.output.contains("cut.pcap.gz: damaged at byte 11423: what cannot be unpacked: it is cut short"))
    }

    @Test("A packed file of which no capture can be read is refused with the reason: cut, damaged, or no capture in it")
    func packedInVain() throws {
        let program = try Program()
        defer { program.clean() }
        // <gpx version="1.1"/>
        let track = Data(base64Encoded: "H4sIAAAAAAACA7NJL6hQKEstKs7Mz7NVMtQzVNK34wIA1Mtb9xUAAAA=")
        let bytes = try Data(contentsOf: URL(filePath: Self.capture("belt-parts.pcap.gz")))
        let cases: [(content: Data, says: String)] = [
            (bytes.prefix(12), "what cannot be unpacked: it is cut short; nothing of it can be read"),
            // The head of gzip alone is good.
            (bytes.prefix(10) + Data(repeating: 0xff, count: 20), "what cannot be unpacked: it is damaged; nothing"),
            (try #require(track), "no capture in what gzip packed; places and recordings are read unpacked"),
        ]
        for (content, says) in cases {
            try content.write(to: program.folder.appending(path: "some.gz"))
            expectRefusal(try program.run("import", "some.gz"), code: 11, says: "wakebench: some.gz: \(says)")
        }
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

    @Test("What is assumed of places is said, and stands in the device file")
    func assumedPlaces() throws {
        let program = try Program()
        defer { program.clean() }
        let sentences = ["00", "01"].map { "$GNGNS,1015\($0).00,1030.00000,N,02015.00000,E,AAN,12,0.9,100.0,10.0,,\n" }
        try program.write("walk.log", #"{"class":"WATCH","enable":true,"nmea":true}"# + "\n" + sentences.joined())
        let imported = try program.run("import", "walk.log", "-o", "walk.yaml")
        #expect(imported.code == 0, "\(imported.errors)")
        let notes = [
            "2 sentences without a checksum are taken as they are", "no sentence says the date: 2000-01-01 is assumed",
        ]
        #expect(imported.output.contains("NMEA 0183, 2 places"))
        #expect(imported.output.contains(notes.map { "note: \($0)\n" }.joined()))
        #expect(try program.read("walk.yaml").contains(notes.map { "# \($0)\n" }.joined()))
        let page = try program.run("import", "walk.log", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(page.output.utf8)) as? [String: Any]
        #expect(object?["notes"] as? [String] == notes)
    }

    // MARK: umockdev

    private static let umockdev = "/usr/bin/umockdev-record"

    /// A dock behind a tty pair, and a program that talks to it while umockdev records.
    private static let session = """
        import os, pty, subprocess, sys, time, tty
        far, near = pty.openpty()
        tty.setraw(near)
        node = os.ttyname(near)
        if len(sys.argv) > 1:
            device = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
            os.write(device, b"LOG\\n")
            heard = b""
            while not heard.endswith(b"\\x00\\xff^\\n"):
                heard += os.read(device, 100)
            sys.exit()
        recorder = subprocess.Popen(
            ["umockdev-record", "-s", node + "=dock.script", "--", sys.executable, sys.argv[0], node]
        )
        while not os.read(far, 100).endswith(b"LOG\\n"):
            pass
        # The dock takes its time, which is what is recorded.
        time.sleep(0.2)
        os.write(far, b"WB-D1 1.2.0\\n" + b"\\x00\\xff^\\n")
        sys.exit(recorder.wait())
        """

    @Test(
        "A dock that umockdev recorded is played to an app",
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: umockdev),
            "umockdev is missing: Scripts/install test"
        )
    )
    func recordedDock() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("session.py", Self.session)
        let recorded = try program.run("/usr/bin/python3", ["session.py"])
        #expect(recorded.code == 0, "\(recorded.errors)")
        let dump = Program.repository.appending(path: "Tests/WakeExternalAccessoryTests/Plugging/serial-dock.umockdev")
        let words = ["-o", "dock.yaml", "--protocol", "com.example.dock.log", "--speed", "0.02"]
        let imported = try program.run(Program.path, ["import", dump.path, "dock.script"] + words)
        #expect(imported.code == 0, "\(imported.errors)")
        #expect(imported.output.contains("dock.yaml: Serial Dock"))
        let device = try program.read("dock.yaml")
        #expect(device.contains("- text: \"LOG\\n\""))
        #expect(device.contains("values: [\"57422d443120312e322e300a00ff5e0a\"]"))
        try program.write(
            "scenario.yaml",
            """
            scenario: dock
            devices: [{file: dock.yaml, name: dock}]
            apps:
              - scripted: com.example.logger
                name: logger
                modes: [external-accessory]
                accessory:
                  protocols: [com.example.dock.log]
                  sessions: [{protocol: com.example.dock.log, text: "LOG\\n"}]
            steps: [{at: 0, launch: logger}, {at: 1s, home: logger}]
            expect: [{app: logger, verdict: resume, kind: accessory-data, count: 1}]
            until: 5m
            """
        )
        let run = try program.run("run", "scenario.yaml", "--out", "run")
        #expect(run.code == 0, "\(run.output)\(run.errors)")
    }

    @Test("A script alone is an accessory, and what is assumed of it is told")
    func scriptAlone() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("port.script", "d 0 /dev/ttyS0\nw 0 AT^M\nr 5 OK^M\nnonsense\n")
        let imported = try program.run("import", "port.script", "--json")
        let page = try #require(
            try JSONSerialization.jsonObject(with: Data(imported.output.utf8)) as? [String: Any]
        )
        #expect(page["accessory"] as? String == "ttyS0")
        #expect((page["notes"] as? [String])?.count == 2)
        let file = try #require((page["files"] as? [[String: Any]])?.first)
        #expect(file["format"] as? String == "umockdev-script")
        #expect(file["skipped_from"] as? [String: Int] == ["lines that are none of a script's": 4])
    }

    @Test(
        "A recording of which nothing is read is refused in a line that says what is",
        arguments: ["@DEV /dev/bus/usb/001/002\nUSBDEVFS_CONNECTINFO 0 2 0\n", "# EVEMU 1.2\nN: Mouse\n"]
    )
    func otherRecordings(text: String) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("recording", text)
        let refused = try program.run("import", "recording", "-o", "taken.yaml")
        #expect(refused.code == 11)
        #expect(refused.complaints.count == 1 && refused.errors.contains("dumps and scripts of serial ports"))
        #expect(!program.exists("taken.yaml"))
    }

    // MARK: Calls

    @Test("A server that is made of SIPp's traffic gives a phone the same verdicts as the one that SIPp played")
    func sameCall() throws {
        let program = try Program()
        defer { program.clean() }
        let imported = try program.run("import", Self.capture("call.pcapng"), "-o", "taken.yaml")
        #expect(imported.code == 0 && imported.errors == "")
        #expect(imported.output.contains("taken.yaml: a plan of 11 steps, 1 answer"))
        let devices = Program.repository.appending(path: "Devices").path
        let scenario = try String(contentsOfFile: "\(devices)/Scenarios/voip-call-scripted.yaml", encoding: .utf8)
        for (name, device) in [("played", "\(devices)/VoIP/sip-server.yaml"), ("taken", "taken.yaml")] {
            try program.write("\(name)-scenario.yaml", scenario.replacing("../VoIP/sip-server.yaml", with: device))
            let run = try program.run("run", "\(name)-scenario.yaml", "--out", "\(name)-run")
            #expect(run.code == 0, "\(run.output)\(run.errors)")
        }
        let compared = try program.run("compare", "played-run", "taken-run")
        #expect(compared.code == 0)
        #expect(compared.output.hasPrefix("equal verdicts"))
    }

    @Test("What keeps a connection open is counted beside its messages")
    func keepAlives() throws {
        let program = try Program()
        defer { program.clean() }
        let imported = try program.run("import", Self.capture("sip-keep-alives.pcap"))
        #expect(imported.code == 0)
        #expect(imported.output.contains(": 4 messages, 6 keep-alives\n"))
        let json = try program.run("import", Self.capture("sip-keep-alives.pcap"), "--json")
        let page = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect((page["calls"] as? [[String: Any]])?.first?["keep_alives"] as? Int == 6)
    }

    @Test("The server of calls is whom the address names, and nobody else's is found")
    func callAddress() throws {
        let program = try Program()
        defer { program.clean() }
        let capture = Self.capture("call.pcapng")
        #expect(try program.run("import", capture, "--address", "127.0.0.1").output.contains("it was registered with"))
        let port = try #require(
            try program.run("import", capture).output.firstMatch(of: /server: 127\.0\.0\.1:(\d+),/)?.output.1
        )
        let named = try program.run("import", capture, "--address", "127.0.0.1:\(port)")
        #expect(named.output.contains("as --address says"))
        #expect(try program.run("import", capture, "--address", "192.0.2.1").code == 3)
        #expect(try program.run("import", capture, "--address", "phone").code == 2)
        #expect(try program.run("import", capture, "--loop").code == 2)
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
