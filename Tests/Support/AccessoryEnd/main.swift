import Glibc
import WakeDevices
import WakeExternalAccessory
import WakeModel
import WakePorts
import WakeSystem

// The real ends of accessories by themselves, for the lab and for tests under umockdev: `AccessoryEnd udev|rfcomm
// DEVICE.yaml` does what lines on its standard input say, and says what happens, a line each.
//
//   open PROTOCOL    a session; `opened`, or `refused CODE MESSAGE`
//   write HEX        into the session
//   pour COUNT       so many bytes of the long pattern into the session, as fast as they go; `poured COUNT`
//   pause, resume    reading
//   count            what was read so far: `read COUNT`, and `as poured` when it is the long pattern
//   close            the session; `closed`
//
// What is read is said as `got HEX` up to 64 bytes at a time.

/// Writes a line at once: whoever waits for it reads it from a file or a pipe.
private func write(_ line: String, to descriptor: Int32) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
}

private func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// The app behind the port, with one session at most.
final class Holder {
    private let port: any AccessoryPort
    private let names: NameTable
    private let loop: EventLoop
    private var socket: Descriptor?
    private var watch: Watch?
    private var input: Watch?
    private var line: [UInt8] = []
    private var session: AccessorySession = 0
    private var connection: AccessoryConnection = 0
    private var isPaused = false
    private var toPour: Range<Int>?
    private var read = 0
    private var isAsPoured = true
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(_ port: any AccessoryPort, _ names: NameTable, _ loop: EventLoop) throws {
        self.port = port
        self.names = names
        self.loop = loop
        port.report = { [unowned self] in hear($0) }
        try port.start(at: .zero)
        say("started")
        port.connect(at: .zero)
        try loop.atTurnEnd { [unowned self] in self.port.look(at: .zero) }
        input = try loop.watch(STDIN_FILENO, for: .readable) { [unowned self] _ in readInput() }
    }

    private func say(_ line: String) { write(line, to: STDOUT_FILENO) }

    private func hear(_ report: SourceReport) {
        let event = report.event
        var outcome = event.failed ? " failed" : ""
        if case .accessoryFailure(let failure) = report.payload { outcome += " \(failure.code) \(failure.message)" }
        switch event.kind {
        case .accessoryConnected: connection = event.local
        case .accessorySessionOpened where !event.failed: opened()
        default: break
        }
        say("\(event.kind.word) \(names.text(event.subject)) \(event.local)\(outcome)")
    }

    private func opened() {
        guard let number = port.takeSession(session) else { return }
        socket = Descriptor(owning: number)
        watch = try? loop.watch(number, for: .readable) { [unowned self] in ready($0) }
    }

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { pour() }
        if !isPaused, !readiness.isDisjoint(with: [.readable, .hangup]) { readSocket() }
        if readiness.contains(.hangup), isPaused { watch?.disable() }
    }

    private func readSocket() {
        guard let count = try? socket?.read(into: &buffer) ?? nil else { return }
        if count == 0 {
            say("end of session")
            watch?.cancel()
            socket = nil
            return
        }
        for place in 0..<count where buffer[place] != Timetable.Pattern.byte(read + place) { isAsPoured = false }
        read += count
        if count <= 64 { say("got \(hex(buffer[..<count]))") }
    }

    private func pour() {
        while let range = toPour, !range.isEmpty {
            let piece = range.prefix(4_096)
            let count: Int?
            do { count = try socket?.write(piece.map { Timetable.Pattern.byte($0) }) } catch {
                say("pouring failed after \(range.lowerBound)")
                toPour = nil
                return adjust()
            }
            guard let count else { return }
            toPour = (range.lowerBound + count)..<range.upperBound
        }
        if let range = toPour { say("poured \(range.upperBound)") }
        toPour = nil
        adjust()
    }

    private func adjust() {
        var interests: Readiness = isPaused ? [] : .readable
        if toPour != nil { interests.insert(.writable) }
        if interests.isEmpty {
            watch?.disable()
        } else {
            watch?.setInterests(interests)
            watch?.enable()
        }
    }

    private func readInput() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else { return end() }
        for byte in bytes[..<count] {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            perform(String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init))
            line.removeAll()
        }
    }

    private func end() {
        port.stop()
        exit(0)
    }

    private func perform(_ words: [String]) {
        switch (words.first, words.dropFirst().first) {
        case ("open", let name?):
            session += 1
            (read, isAsPoured) = (0, true)
            port.perform(.open(session, accessory: connection, protocolName: names.intern(name)), at: .zero)
        case ("write", let digits?):
            let bytes = stride(from: 0, to: digits.utf8.count, by: 2).compactMap { place in
                UInt8(digits.dropFirst(place).prefix(2), radix: 16)
            }
            _ = try? socket?.write(bytes)
        case ("pour", let count?):
            toPour = 0..<(Int(count) ?? 0)
            adjust()
        case ("pause", _), ("resume", _):
            isPaused = words[0] == "pause"
            adjust()
        case ("count", _): say("read \(read)\(isAsPoured ? " as poured" : "")")
        case ("close", _):
            watch?.cancel()
            socket = nil
            port.perform(.close(session), at: .zero)
            say("closed")
        default: say("what? \(words)")
        }
    }
}

do {
    // Writing into a session that has ended is an error, and no signal.
    signal(SIGPIPE, SIG_IGN)
    let arguments = CommandLine.arguments
    guard arguments.count == 3, ["udev", "rfcomm"].contains(arguments[1]) else {
        throw SourceFailure(.unsupported, "usage: AccessoryEnd udev|rfcomm DEVICE.yaml")
    }
    let form = try DeviceFile.load(file: arguments[2])
    let device = ScenarioDevice(name: "accessory", group: "accessory", line: 1, form: form)
    let loop = try EventLoop()
    let names = NameTable()
    let port: any AccessoryPort =
        arguments[1] == "udev"
        ? try UdevAccessories(devices: [device], names: names, loop: loop)
        : try RFCOMMAccessories(devices: [device], names: names, loop: loop)
    let holder = try Holder(port, names, loop)
    try withExtendedLifetime(holder) { while true { try loop.runOnce(timeout: 3_600_000_000_000) } }
} catch let failure as SourceFailure {
    write(failure.message, to: STDERR_FILENO)
    exit(12)
} catch {
    write("AccessoryEnd: \(error)", to: STDERR_FILENO)
    exit(1)
}
