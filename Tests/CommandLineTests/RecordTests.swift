import ChildProcess
import Foundation
import Glibc
import Testing

/// A recording that goes on, in a folder of its own.
private final class Recording {
    let program: Program
    private let talk: URL
    private let process: ChildProcess
    private let changes: Int32

    init(_ program: Program, _ words: [String], verb: String = "record") throws {
        self.program = program
        talk = program.folder.appending(path: "talk")
        try FileManager.default.createDirectory(at: talk, withIntermediateDirectories: true)
        changes = inotify_init1(Int32(IN_CLOEXEC))
        for folder in [program.folder, talk] {
            let added = unsafe inotify_add_watch(changes, folder.path, UInt32(IN_MODIFY | IN_CREATE))
            try #require(added >= 0)
        }
        process = try program.start(Program.path, [verb] + words, talk: talk)
    }

    deinit {
        process.send(SIGKILL)
        process.waitUntilExit()
        close(changes)
    }

    /// Waits until a file has a text; it is looked at when something in the folder changed.
    func wait(for text: String, in name: String) throws {
        var events = [UInt8](repeating: 0, count: 4_096)
        while !has(text, name) {
            var waiting = pollfd(fd: changes, events: Int16(POLLIN), revents: 0)
            try #require(unsafe poll(&waiting, 1, 60_000) == 1, "\(name) has no \(text): \(errors)")
            _ = unsafe read(changes, &events, events.count)
        }
    }

    private func has(_ text: String, _ name: String) -> Bool {
        let found = try? Data(contentsOf: program.folder.appending(path: name))
        return found?.range(of: Data(text.utf8)) != nil
    }

    private var errors: String { (try? program.read("talk/errors")) ?? "" }

    /// Sends a signal, and waits for the end.
    func end(by signal: Int32? = SIGINT) throws -> Program.Outcome {
        if let signal { process.send(signal) }
        process.waitUntilExit()
        return Program.Outcome(
            code: process.terminationStatus,
            output: try program.read("talk/output"),
            errors: errors
        )
    }
}

/// The other end of a tty.
private final class Instrument {
    let path: String
    private var master: Int32

    init() throws {
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h.
        var (locked, number) = (0 as Int32, 0 as Int32)
        let isOpen = unsafe ioctl(master, 0x4004_5431, &locked) == 0 && ioctl(master, 0x8004_5430, &number) == 0
        try #require(isOpen)
        path = "/dev/pts/\(number)"
    }

    deinit { unplug() }

    func say(_ text: String) {
        let bytes = Array(text.utf8)
        let count = unsafe write(master, bytes, bytes.count)
        #expect(count == bytes.count)
    }

    /// What it is told, up to a text.
    func hear(_ text: String) {
        var heard: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 256)
        while !String(decoding: heard, as: UTF8.self).contains(text) {
            let count = unsafe read(master, &piece, piece.count)
            guard count > 0 else { return #expect(count > 0) }
            heard += piece[..<count]
        }
    }

    func unplug() {
        if master >= 0 { close(master) }
        master = -1
    }
}

@Suite("wakebench record")
struct RecordTests {
    private static let refused: [([String], Int32, [String])] = [
        (["ble"], 2, ["DEVICE.yaml is missing", "--out"]),
        (["ble", "-o", "a.yaml", "Belt", "Lamp"], 2, ["one ADDRESS|NAME expected, not 2"]),
        (["ble", "-o", "a.yaml", "--for", "soon"], 2, ["--for soon", "30s"]),
        (["ble", "-o", "a.yaml", "--for", "0s"], 2, ["not within 30 days"]),
        (["ble", "-o", "a.yaml", "--capture", "btsnoop,pcap"], 2, ["'pcap'", "pcapng"]),
        (["ble", "-o", "a.yaml", "--adapter", "hci0"], 2, ["'hci0'", "F0:11"]),
        (["ble", "-o", "a.btsnoop"], 2, ["a.btsnoop", "call it a.yaml"]),
        (["ble", "-o", "there.yaml"], 4, ["there.yaml is there already", "--force"]),
        (["location", "-o", "a.yaml", "ttyACM0"], 2, ["'ttyACM0'", "--receiver"]),
        (["location", "-o", "a.yaml", "--gpsd", ":0"], 2, ["--gpsd :0", "localhost:2947"]),
        (["location", "-o", "a.yaml", "--gpsd", ":1", "--receiver", "x"], 2, ["--receiver"]),
        (["location", "-o", "a.yaml", "--baud", "9601"], 2, ["--baud 9601", "9600"]),
        (["location", "-o", "a.yaml", "--receiver", "none"], 12, ["none", "plug in a receiver"]),
        (["location", "-o", "a.yaml", "--gpsd", ":1"], 12, ["no gpsd on localhost:1", "start gpsd"]),
        (["accessory", "-o", "a.yaml", "--protocol", "a b"], 2, ["'a b'"]),
        (["accessory", "-o", "a.yaml", "none"], 12, ["none"]),
        (["accessory", "-o", "a.yaml", "there.yaml"], 12, ["there.yaml"]),
        (["voip", "-o", "a.yaml"], 2, ["HOST:PORT is missing", "sip.example.com:5060"]),
        (["voip", "localhost", "-o", "a.yaml"], 2, ["localhost: no HOST:PORT"]),
        (["voip", "::1:5060", "-o", "a.yaml"], 2, ["::1:5060: no HOST:PORT", "[::1]:5060"]),
        (["voip", "localhost:5060", "-o", "a.yaml", "--listen", "0"], 2, ["--listen 0", "1 to 65535"]),
        (["voip", "localhost:5060", "-o", "a.pcapng"], 2, ["a.pcapng", "call it a.yaml"]),
    ]

    @Test("What cannot be recorded is one line, and leaves no file behind", arguments: refused)
    func refusal(words: [String], code: Int32, says: [String]) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("there.yaml", "mine")
        let outcome = try program.run(Program.path, ["record"] + words)
        expectRefusal(outcome, code: code)
        for word in says { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
        #expect(program.contents == ["there.yaml"])
        #expect(try program.read("there.yaml") == "mine")
    }

    private static func sentence(_ second: Int) -> String {
        let body = "GPRMC,12000\(second).00,A,5230.00\(second),N,01324.000,E,2.0,90.0,010624,,"
        let sum = body.utf8.reduce(0, ^)
        return "$\(body)*\(sum < 16 ? "0" : "")\(String(sum, radix: 16, uppercase: true))\r\n"
    }

    @Test("A receiver's sentences are in the log while it speaks, and are a track in the end")
    func receiver() throws {
        let program = try Program()
        defer { program.clean() }
        let receiver = try Instrument()
        let recording = try Recording(program, ["location", "--receiver", receiver.path, "-o", "walk.yaml"])
        try recording.wait(for: "recording", in: "talk/errors")
        for second in 0..<4 { receiver.say(Self.sentence(second)) }
        try recording.wait(for: "120003.00", in: "walk-received.nmea")
        #expect(!program.exists("walk.yaml"))
        let outcome = try recording.end()
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("walk.yaml: a track, with its places in walk.nmea"))
        #expect(outcome.output.contains("fixes 4"))
        try program.write("walk-scenario.yaml", Self.scenario("walk.yaml"))
        #expect(try program.run("scenario", "check", "walk-scenario.yaml").code == 0)
    }

    private static func scenario(_ device: String) -> String {
        """
        scenario: recorded
        devices: [{file: \(device), name: recorded}]
        apps: [{scripted: com.example.app, name: app, modes: [external-accessory]}]
        steps: [{at: 0, launch: app}]
        until: 1m
        """
    }

    fileprivate static func report(_ second: Int, device: String = "/dev/ttyACM0") -> String {
        #"{"class":"TPV","device":"\#(device)","mode":3,"time":"2025-05-06T07:32:0\#(second).000Z","#
            + #""lat":48.1,"lon":11.5,"eph":5.0,"speed":1.0,"track":90.0}"# + "\r\n"
    }

    @Test("A gpsd that goes before the time is over ends the recording with 12, and what came is a track")
    func gpsd() throws {
        let program = try Program()
        defer { program.clean() }
        let listener = try Listener()
        let words = ["location", "--gpsd", "127.0.0.1:\(listener.port)", "-o", "drive.yaml", "--for", "1h", "--json"]
        let recording = try Recording(program, words)
        let daemon = try listener.accept()
        daemon.say(#"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"# + "\r\n")
        #expect(daemon.hear() == "?WATCH={\"enable\":true,\"json\":true};\n")
        // It says each moment twice, and of a second receiver as well.
        for second in 0..<3 {
            daemon.say(Self.report(second) + Self.report(second) + Self.report(second, device: "/dev/ttyUSB0"))
        }
        try recording.wait(for: "07:32:02.000Z", in: "drive-received.json")
        daemon.close()
        let outcome = try recording.end(by: nil)
        #expect(outcome.code == 12)
        #expect(outcome.complaints.last?.contains("went away after") == true, "\(outcome.errors)")
        let page = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect(page["ok"] as? Bool == false && page["end"] as? String == "gone")
        #expect((page["counts"] as? [String: Int])?["fixes"] == 3)
        let track = try #require(page["import"] as? [String: Any])
        #expect(track["places"] as? Int == 3)
        #expect((track["skipped"] as? [String: Int]) == ["fixes of another receiver": 3])
        let note = "several receivers have fixes: /dev/ttyACM0 is followed, and /dev/ttyUSB0 left out"
        #expect(track["notes"] as? [String] == [note])
        #expect(try program.read("drive.yaml").contains("device: location-track"))
    }

    @Test("What an accessory says and is told through the recording's tty is a script, and a device that answers")
    func accessory() throws {
        let program = try Program()
        defer { program.clean() }
        let dock = try Instrument()
        let recording = try Recording(
            program,
            ["accessory", dock.path, "-o", "dock.yaml", "--through", "dock-tty", "--protocol", "com.example.dock"]
        )
        try recording.wait(for: "through dock-tty", in: "talk/errors")
        let link = program.folder.appending(path: "dock-tty").path
        let app = unsafe open(link, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(app >= 0)
        defer { close(app) }
        let question: [UInt8] = Array("hello ^\n".utf8)
        #expect(unsafe write(app, question, question.count) == question.count)
        dock.hear("hello ^\n")
        dock.say("world\r\n")
        var answer = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(app, &answer, answer.count)
        #expect(String(decoding: answer.prefix(max(0, count)), as: UTF8.self) == "world\r\n")
        try recording.wait(for: "world", in: "dock.script")
        let outcome = try recording.end(by: SIGTERM)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(!program.contents.contains("dock-tty"))
        let script = try program.read("dock.script")
        #expect(
            script.hasPrefix("d 0 \(dock.path)\nw ") && script.contains(" hello ^`^J\n")
                && script.contains(" world^M^J\n")
        )
        let device = try program.read("dock.yaml")
        #expect(device.contains("protocol: com.example.dock") && device.contains("hello ^\\n"))
    }

    /// Begins to record a server, and finds where apps are to connect.
    private func recordCalls(
        _ program: Program,
        of port: UInt16,
        _ more: [String] = []
    ) throws -> (recording: Recording, port: UInt16) {
        let recording = try Recording(program, ["voip", "127.0.0.1:\(port)", "-o", "server.yaml"] + more)
        try recording.wait(for: "apps find it at 127.0.0.1:", in: "talk/errors")
        let said = try program.read("talk/errors").split(separator: "\n")
        let place = try #require(said.first { $0.contains("apps find it at") }?.split(separator: ":").last)
        return (recording, try #require(UInt16(place)))
    }

    private static func message(_ first: String, _ count: Int) -> String {
        "\(first)\r\nVia: SIP/2.0/TCP 127.0.0.1\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\nCall-ID: c\r\n"
            + "CSeq: \(count) REGISTER\r\nContent-Length: 0\r\n\r\n"
    }

    @Test("What an app and a call server say passes both ways, and is a capture and a server that says the same")
    func calls() throws {
        let program = try Program()
        defer { program.clean() }
        let listener = try Listener()
        let (recording, port) = try recordCalls(program, of: listener.port)
        let app = try Listener.Peer(connectedTo: port)
        let server = try listener.accept()
        app.say(Self.message("REGISTER sip:b SIP/2.0", 1))
        #expect(server.hear() == Self.message("REGISTER sip:b SIP/2.0", 1))
        server.say(Self.message("SIP/2.0 200 OK", 1))
        #expect(app.hear() == Self.message("SIP/2.0 200 OK", 1))
        server.close()
        #expect(app.hear() == "", "the server's end is the app's, too")
        app.close()
        try recording.wait(for: "SIP/2.0 200 OK", in: "server.pcapng")
        let outcome = try recording.end()
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("bytes of apps 141, bytes of the server 133, connections 1"))
        let device = try program.read("server.yaml")
        #expect(device.contains("device: call-server") && device.contains("await: \"REGISTER\""))
        #expect(device.contains("SIP/2.0 200 OK") && device.contains("close"))
        let again = try program.run("import", "server.pcapng")
        #expect(again.output.contains("127.0.0.1:\(port), it was registered with"), "\(again.output)")
    }

    @Test("A server that takes no connection is named, and the app's connection is reset")
    func refusedCall() throws {
        let program = try Program()
        defer { program.clean() }
        let gone = try Listener().port
        let (recording, port) = try recordCalls(program, of: gone)
        let app = try Listener.Peer(connectedTo: port)
        #expect(app.hear() == "")
        let outcome = try recording.end()
        #expect(outcome.code == 130)
        #expect(
            outcome.complaints.last
                == "wakebench: nothing was said; 127.0.0.1:\(gone) did not take 1 of 1 connections; no file is written"
        )
        #expect(program.contents == ["talk"])
    }

    @Test("An interrupted recording that brought nothing ends with 130, and leaves no file behind")
    func nothing() throws {
        let program = try Program()
        defer { program.clean() }
        let dock = try Instrument()
        let recording = try Recording(program, ["accessory", dock.path, "-o", "dock.yaml"])
        try recording.wait(for: "recording", in: "talk/errors")
        let outcome = try recording.end()
        #expect(outcome.code == 130 && outcome.output == "")
        #expect(outcome.complaints.last == "wakebench: nothing was said; no file is written")
        #expect(program.contents == ["talk"])
    }

    @Test("On a terminal one line tells how far it is, and is gone in the end")
    func progress() throws {
        let program = try Program()
        defer { program.clean() }
        let pipe = program.folder.appending(path: "receiver").path
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let receiver = unsafe open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(receiver) }
        let words = Array((0..<3).map(Self.sentence).joined().utf8)
        try #require(unsafe write(receiver, words, words.count) == words.count)
        let terminal = try PseudoTerminal(columns: 120)
        let (code, lines) = try terminal.run(
            program,
            ["record", "location", "--receiver", pipe, "-o", "walk.yaml", "--for", "300ms"]
        )
        #expect(code == 0)
        let line = try #require(lines.first { $0.contains("recording: ") })
        #expect(line.contains("bytes, ") && line.contains("Ctrl-C ends it"), "\(lines)")
        #expect(lines.last?.contains("Ctrl-C") == false)
    }
}

@Suite("wakebench run with a gpsd")
struct GPSDRunTests {
    @Test("--gpsd takes a host, and of two receivers one is followed and the other named in the log")
    func receivers() throws {
        let program = try Program()
        defer { program.clean() }
        let scenario = """
            scenario: walk
            apps: [{scripted: com.example.walker, name: walker, modes: [location], location: {updates: true}}]
            steps: [{at: 0, launch: walker}]
            until: 2s
            """
        try program.write("walk.yaml", scenario)
        let listener = try Listener()
        let words = ["walk.yaml", "--backend", "location=gpsd", "--gpsd", "127.0.0.1:\(listener.port)", "--out", "out"]
        let run = try Recording(program, words, verb: "run")
        let daemon = try listener.accept()
        daemon.say(#"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"# + "\r\n")
        #expect(daemon.hear().hasPrefix("?WATCH={\"enable\":true"))
        daemon.say(RecordTests.report(0) + RecordTests.report(0, device: "/dev/ttyUSB0") + RecordTests.report(1))
        let outcome = try run.end(by: nil)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let note =
            "gpsd on 127.0.0.1:\(listener.port): several receivers have fixes: "
            + "/dev/ttyACM0 is followed, and /dev/ttyUSB0 left out"
        #expect(try program.read("out/outcomes.ndjson").replacing("\\/", with: "/").contains(note))
    }
}

/// What listens where a gpsd or a call server is looked for.
private final class Listener {
    final class Peer {
        private var number: Int32
        fileprivate init(_ number: Int32) { self.number = number }

        /// Connects to a port of this machine.
        init(connectedTo port: UInt16) throws {
            number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let number = number
            let code = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(code == 0)
        }

        deinit { close() }

        func say(_ text: String) {
            let bytes = Array(text.utf8)
            #expect(unsafe write(number, bytes, bytes.count) == bytes.count)
        }

        func hear() -> String {
            var piece = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(number, &piece, piece.count)
            return String(decoding: piece.prefix(max(0, count)), as: UTF8.self)
        }

        func close() {
            if number >= 0 { Glibc.close(number) }
            number = -1
        }
    }

    let port: UInt16
    private let number: Int32

    init() throws {
        number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = number
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(number, $0, size) + getsockname(number, $0, &size) + listen(number, 1)
            }
        }
        try #require(code == 0)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(number) }

    func accept() throws -> Peer {
        var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&waiting, 1, 60_000) == 1)
        return Peer(Glibc.accept(number, nil, nil))
    }
}
