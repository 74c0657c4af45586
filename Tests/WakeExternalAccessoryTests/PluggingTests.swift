import ChildProcess
import Foundation
import Glibc
import Testing

/// The real end in a world of umockdev's, with a recorded device that is plugged in and pulled.
private final class World {
    static let wrapper = "/usr/bin/umockdev-wrapper"
    static let python = "/usr/bin/python3"

    /// Whether the machine has umockdev and its bindings for Python.
    static let isThere: Bool = {
        guard access(wrapper) else { return false }
        let probe = ChildProcess(python, ["-c", "import gi; gi.require_version('UMockdev', '1.0')"])
        probe.standardError = .null
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()

    private static func access(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    private let process: ChildProcess
    private let input = Pipe()
    private let output = Pipe()
    private var heard: [UInt8] = []
    private(set) var lines: [String] = []

    init(_ recording: String, device: String) throws {
        let files = try #require(Bundle.module.url(forResource: "Plugging", withExtension: nil)).path
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let program = Bundle.module.bundleURL.deletingLastPathComponent().appending(path: "AccessoryEnd").path
        let plug = [Self.python, files + "/plug.py", "\(files)/\(recording).umockdev"]
        process = ChildProcess(
            Self.wrapper,
            plug + [program, "udev", root.appending(path: "Devices/Accessory/\(device).yaml").path]
        )
        process.standardInput = .pipe(input)
        process.standardOutput = .pipe(output)
        // umockdev complains of links that udev made for the device's first name.
        process.standardError = .null
        try process.run()
        try wait(for: "started")
    }

    func tell(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Reads on until a line is said. The deadline only limits how long a failure takes.
    func wait(for line: String) throws {
        let descriptor = output.fileHandleForReading.fileDescriptor
        while !lines.contains(line) {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            try #require(unsafe poll(&waited, 1, 30_000) > 0, "gave up waiting for '\(line)' after \(lines)")
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe read(descriptor, &buffer, buffer.count)
            try #require(count > 0, "the world ended before '\(line)', after \(lines)")
            heard += buffer[..<count]
            while let end = heard.firstIndex(of: UInt8(ascii: "\n")) {
                lines.append(String(decoding: heard[..<end], as: UTF8.self))
                heard.removeSubrange(...end)
            }
        }
    }
}

@Suite(
    "USB accessories under umockdev",
    .enabled(if: World.isThere, "umockdev or its Python bindings are missing: Scripts/install test")
)
struct PluggingTests {
    @Test("A recorded dock is there when it is plugged in, talks, and goes when it is pulled")
    func dock() throws {
        let world = try World("serial-dock", device: "serial-dock")
        try world.tell("plug ttyACM0")
        try world.wait(for: "accessory-connected accessory 1")
        try world.tell("open com.example.dock.log")
        try world.wait(for: "accessory-session-opened accessory/com.example.dock.log 1")
        try world.tell("write 4c4f470a")
        try world.tell("hear 4")
        try world.wait(for: "heard 4c4f470a")
        try world.tell("say 00ff0d0a")
        try world.wait(for: "got 00ff0d0a")
        try world.tell("pull")
        try world.wait(for: "end of session")
        try world.wait(for: "accessory-disconnected accessory 1")
        #expect(!world.lines.contains { $0.hasPrefix("accessory-session-ended") })
    }

    @Test("A dock that is pulled has gone, however late udev says so")
    func unsaid() throws {
        let world = try World("serial-dock", device: "serial-dock")
        try world.tell("plug ttyACM0")
        try world.wait(for: "accessory-connected accessory 1")
        try world.tell("open com.example.dock.log")
        try world.wait(for: "accessory-session-opened accessory/com.example.dock.log 1")
        try world.tell("vanish")
        try world.wait(for: "accessory-disconnected accessory 1")
        #expect(!world.lines.contains { $0.hasPrefix("accessory-session-ended") })
    }

    @Test("A dock that comes back under another name is the same accessory in a new connection")
    func anotherName() throws {
        let world = try World("serial-dock", device: "serial-dock")
        try world.tell("plug ttyACM0")
        try world.wait(for: "accessory-connected accessory 1")
        try world.tell("pull")
        try world.wait(for: "accessory-disconnected accessory 1")
        try world.tell("plug ttyACM1")
        try world.wait(for: "accessory-connected accessory 2")
        try world.tell("open com.example.dock.log")
        try world.wait(for: "accessory-session-opened accessory/com.example.dock.log 1")
        try world.tell("say 010203")
        try world.wait(for: "got 010203")
    }

    @Test("A dock that is pulled while it takes nothing ends the session that writes to it")
    func midWrite() throws {
        let world = try World("serial-dock", device: "serial-dock")
        try world.tell("plug ttyACM0")
        try world.wait(for: "accessory-connected accessory 1")
        try world.tell("open com.example.dock.log")
        try world.wait(for: "accessory-session-opened accessory/com.example.dock.log 1")
        try world.tell("pour 10000000")
        try world.tell("hear 1000")
        try world.tell("pull")
        try world.wait(for: "accessory-disconnected accessory 1")
        #expect(!world.lines.contains("poured 10000000"))
    }

    @Test("A recorded scanner's reports arrive without their number, and what is written becomes reports")
    func scanner() throws {
        let world = try World("hid-scanner", device: "hid-scanner")
        try world.tell("plug hidraw0")
        try world.wait(for: "accessory-connected accessory 1")
        try world.tell("open com.example.scanner.codes")
        try world.wait(for: "accessory-session-opened accessory/com.example.scanner.codes 1")
        try world.tell("say 01" + String(repeating: "31", count: 32))
        try world.wait(for: "got " + String(repeating: "31", count: 32))
        try world.tell("write 0506")
        try world.tell("hear 33")
        try world.wait(for: "heard 010506" + String(repeating: "00", count: 30))
        try world.tell("pull")
        try world.wait(for: "accessory-disconnected accessory 1")
    }

    @Test("A device with another serial number is another device")
    func other() throws {
        let world = try World("serial-dock", device: "hid-scanner")
        try world.tell("plug ttyACM0")
        try world.tell("open com.example.scanner.codes")
        try world.wait(
            for: "accessory-session-opened /com.example.scanner.codes 1 failed 19 The accessory is not connected."
        )
        #expect(!world.lines.contains { $0.hasPrefix("accessory-connected") })
    }
}
